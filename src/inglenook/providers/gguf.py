"""Reads the chat template out of a GGUF weights file, without loading the model.

Layout: magic, version, tensor count, key count, then keys with typed values.
Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from pathlib import Path
from typing import BinaryIO

from inglenook.errors import ProviderError

TEMPLATE_KEY = b"tokenizer.chat_template"
MAX_TEXT_BYTES = 1 << 20
STRING, ARRAY = 8, 9
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of each type of number, by its code."""


def chat_template(path: Path) -> str:
    """The Jinja template that the weights' publisher put into them.

    Raises:
        ProviderError: The file is no GGUF file or holds no template.
    """
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise ProviderError(f"{path} is no GGUF file")
            _number(file, "<I")
            _number(file, "<Q")
            for _ in range(_number(file, "<Q")):
                key, kind = _text(file), _number(file, "<I")
                if key == TEMPLATE_KEY and kind == STRING:
                    return _text(file).decode("utf-8")
                _skip(file, kind)
    except (OSError, struct.error, KeyError, UnicodeDecodeError) as error:
        raise ProviderError(f"{path} cannot be read as GGUF: {error!r}") from error
    raise ProviderError(f"{path} holds no chat template")


def _number(file: BinaryIO, form: str) -> int:
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]


def _text(file: BinaryIO) -> bytes:
    size = _number(file, "<Q")
    if size > MAX_TEXT_BYTES:
        raise struct.error(f"a text of {size} bytes; at most {MAX_TEXT_BYTES} are read")
    return file.read(size)


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == STRING:
        file.seek(_number(file, "<Q"), 1)
    elif kind == ARRAY:
        inner, count = _number(file, "<I"), _number(file, "<Q")
        if inner in (STRING, ARRAY):
            for _ in range(count):
                _skip(file, inner)
        else:
            file.seek(SIZES[inner] * count, 1)
    else:
        file.seek(SIZES[kind], 1)
