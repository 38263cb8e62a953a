"""The chat template is read out of a GGUF header with every type of value before it."""

import struct
from pathlib import Path

import pytest

from inglenook.errors import ProviderError
from inglenook.providers.gguf import chat_template


def text(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


def header(*pairs: bytes) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs)


def pair(key: bytes, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


TEMPLATE = pair(b"tokenizer.chat_template", 8, text("{{ 'ü' }}".encode()))
OTHERS = (
    pair(b"general.name", 8, text(b"demo")),
    pair(b"a.bool", 7, b"\1"),
    pair(b"a.double", 12, struct.pack("<d", 1.5)),
    pair(b"some.numbers", 9, struct.pack("<IQ", 4, 3) + b"\0" * 12),
    pair(b"some.texts", 9, struct.pack("<IQ", 8, 2) + text(b"one") + text(b"")),
)


def test_template_is_found_behind_other_keys(tmp_path: Path) -> None:
    path = tmp_path / "demo.gguf"
    path.write_bytes(header(*OTHERS, TEMPLATE))
    assert chat_template(path) == "{{ 'ü' }}"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\3\4", "is no GGUF file"),
        (header(*OTHERS), "holds no chat template"),
        (header(TEMPLATE)[:40], "cannot be read as GGUF"),
        (header(pair(b"x", 99, b"")), "cannot be read as GGUF"),
        (header(struct.pack("<Q", 1 << 62)), "cannot be read as GGUF"),
    ],
)
def test_other_files_are_refused_with_a_reason(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "demo.gguf"
    path.write_bytes(content)
    with pytest.raises(ProviderError, match=words):
        chat_template(path)
