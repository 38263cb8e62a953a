"""Wheels come through pip where there is one; pip itself is a stand-in script here."""

import sys
from pathlib import Path

import aiohttp
import pytest

from inglenook.errors import ProviderError
from inglenook.providers.wheel_index import PipIndex, SimpleIndex
from tests.providers.fake_weights_source import FakeWeightsSource


def fake_python(folder: Path, body: str) -> str:
    """An executable that takes pip's command line."""
    path = folder / "python-with-pip"
    path.write_text(f"#!{sys.executable}\nimport sys, pathlib\nargs = sys.argv[1:]\n{body}\n")
    path.chmod(0o755)
    return str(path)


async def test_pip_downloads_one_exact_wheel_and_leaves_nothing(tmp_path: Path) -> None:
    python = fake_python(
        tmp_path,
        "assert args[:3] == ['-m', 'pip', 'download'] and '--no-deps' in args, args\n"
        "folder = pathlib.Path(args[args.index('-d') + 1])\n"
        "(folder / 'x-1-py3-none-any.whl').write_text(args[-1])",
    )
    cache = tmp_path / "cache"
    cache.mkdir()
    assert await PipIndex(python, cache).wheel("x", "1", max_bytes=10) == b"x==1"
    assert list(cache.iterdir()) == []


async def test_pips_own_words_are_reported(tmp_path: Path) -> None:
    python = fake_python(
        tmp_path,
        "print('WARNING: slow'); print('ERROR: no such thing'); print('bye'); sys.exit(1)",
    )
    with pytest.raises(ProviderError, match="x==1: ERROR: no such thing"):
        await PipIndex(python, tmp_path).wheel("x", "1", max_bytes=10)


async def test_wheel_over_the_limit_is_refused(tmp_path: Path) -> None:
    python = fake_python(
        tmp_path,
        "folder = pathlib.Path(args[args.index('-d') + 1])\n"
        "(folder / 'x-1-py3-none-any.whl').write_text('12345678901')",
    )
    with pytest.raises(ProviderError, match="11 bytes; expected at most 10"):
        await PipIndex(python, tmp_path).wheel("x", "1", max_bytes=10)


@pytest.mark.parametrize("package", ["demo-part1", "nothing"])
async def test_no_error_shows_the_password_of_the_index(package: str) -> None:
    async with FakeWeightsSource() as source, aiohttp.ClientSession() as session:
        url = source.index_url.replace("//", "//anna:geheim@")
        with pytest.raises(ProviderError, match="127.0.0.1") as caught:
            await SimpleIndex(session, url).wheel(package, "9.9", max_bytes=10)
    assert "geheim" not in str(caught.value)
