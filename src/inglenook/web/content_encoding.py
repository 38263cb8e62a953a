"""Undo a body's compression, never past a limit: a few kilobytes may hold gigabytes."""

import zlib
from collections.abc import Callable, Sequence
from typing import Protocol

ACCEPTED = "gzip, deflate"
MAX_ENCODINGS = 2
"""One on top of another; more is never right."""
MAX_MEMBERS = 1_000
"""Of a gzip body; each costs a decompressor, however little it holds."""
PIECE_BYTES = 64 * 1024


class EncodingError(Exception):
    """The body is not compressed as its header says; the message is the end of a sentence."""


class TooLarge(Exception):
    """The limit was passed."""


class Decoder:
    """The body of one answer, piece by piece; no layer of it may exceed the limit."""

    def __init__(self, encodings: Sequence[str], limit_bytes: int) -> None:
        """`encodings` in the order of the header: the first was applied first.

        Raises:
            EncodingError: There are too many, or one that was not asked for.
        """
        if len(encodings) > MAX_ENCODINGS:
            raise EncodingError(
                f"is compressed {len(encodings)} times over, the limit is {MAX_ENCODINGS}"
            )
        for name in encodings:
            if name not in ("gzip", "deflate"):
                raise EncodingError(f"is compressed by {name[:40]!r}, asked for was {ACCEPTED}")
        self.body = bytearray()
        self._limit_bytes = limit_bytes
        self._layers: list[_Layer] = []
        self._feed: Callable[[bytes], None] = self._keep
        for name in encodings:
            layer = _Layer(name, limit_bytes, self._feed)
            self._layers.append(layer)
            self._feed = layer.feed

    def feed(self, data: bytes) -> None:
        """Raises:
        EncodingError: What came is not compressed as announced.
        TooLarge: A layer exceeds the limit.
        """
        self._feed(data)

    def finish(self) -> bytes:
        """The whole body.

        Raises:
            EncodingError: It ended too early.
        """
        if not all(layer.is_complete for layer in self._layers):
            raise EncodingError("ends in the middle of its compressed form")
        return bytes(self.body)

    def _keep(self, data: bytes) -> None:
        self.body += data
        if len(self.body) > self._limit_bytes:
            raise TooLarge


class _Inflate(Protocol):
    """zlib's decompressor, whose class has no public name."""

    @property
    def eof(self) -> bool: ...
    @property
    def unconsumed_tail(self) -> bytes: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Layer:
    def __init__(self, name: str, limit_bytes: int, give: Callable[[bytes], None]) -> None:
        self._name = name
        self._limit_bytes = limit_bytes
        self._give = give
        self._inflate: _Inflate | None = None
        self._head: bytes = b""
        self._members = 0
        self._size_bytes = 0
        self._has_ended = False

    @property
    def is_complete(self) -> bool:
        """Nothing at all is complete too: answers without a body name an encoding as well."""
        return self._has_ended or (self._inflate is None and not self._head)

    def feed(self, data: bytes) -> None:
        try:
            while data and not self._is_over(data):
                data = self._inflated(data)
        except zlib.error:
            raise EncodingError(f"is not {self._name}, as it says it is") from None

    def _is_over(self, data: bytes) -> bool:
        """What follows the end is another gzip member or is ignored, as browsers do."""
        if not self._has_ended:
            return False
        if self._name != "gzip" or data[:1] != b"\x1f":
            return True
        self._has_ended = False
        return False

    def _inflated(self, data: bytes) -> bytes:
        """Hand on what `data` holds; return what lies behind the end of this member."""
        if self._inflate is None:
            data = self._head + data
            if len(data) < 2:  # the form of `deflate` shows in two bytes
                self._head = data
                return b""
            self._inflate, self._head = self._opened(data), b""
        inflate = self._inflate
        while True:
            piece = inflate.decompress(data, PIECE_BYTES)
            data = inflate.unconsumed_tail
            self._size_bytes += len(piece)
            if self._size_bytes > self._limit_bytes:
                raise TooLarge
            self._give(piece)
            if inflate.eof:
                self._inflate, self._has_ended = None, True
                return inflate.unused_data
            if not data and len(piece) < PIECE_BYTES:
                return b""

    def _opened(self, data: bytes) -> _Inflate:
        self._members += 1
        if self._members > MAX_MEMBERS:
            raise EncodingError(f"consists of over {MAX_MEMBERS} compressed parts")
        if self._name == "gzip":
            return zlib.decompressobj(16 + zlib.MAX_WBITS)
        # Some servers mean zlib's form by `deflate`, as the standard does, others the bare one.
        is_zlib = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
