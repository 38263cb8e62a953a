"""Lines and server-sent events out of bytes that may be cut anywhere.

Works on bytes throughout: a cut inside a character is healed when its line is complete, before
anything decodes it.
"""

from inglenook.errors import ProviderError

MAX_LINE_BYTES = 16 * 1024 * 1024
"""A whole reply may come as one line; more than this is a server gone wrong."""


class LineSplitter:
    """Complete lines, without their `\\n`; the rest waits for more bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._waiting_bytes = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """
        Raises:
            ProviderError: A line is longer than `MAX_LINE_BYTES`.
        """
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if lines and self._parts:
            lines[0] = b"".join((*self._parts, lines[0]))
            self._parts.clear()
            self._waiting_bytes = 0
        if rest:
            self._parts.append(rest)
            self._waiting_bytes += len(rest)
            if self._waiting_bytes > MAX_LINE_BYTES:
                raise ProviderError(
                    f"The model server sent a line of more than {MAX_LINE_BYTES} bytes; "
                    "the reply was given up."
                )
        return lines

    def close(self) -> bytes:
        """What is left when the stream ends: a last line without its end, or nothing."""
        rest = b"".join(self._parts)
        self._parts.clear()
        return rest


class EventSplitter:
    """The data of each complete server-sent event; fields other than `data` are ignored.

    Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
    """

    def __init__(self) -> None:
        self._lines = LineSplitter()
        self._data: list[bytes] = []
        self._first_line = True
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """
        Raises:
            ProviderError: As `LineSplitter.feed`.
        """
        if self._after_cr or b"\r" in chunk:
            chunk = self._with_plain_ends(chunk)
        events: list[bytes] = []
        for line in self._lines.feed(chunk):
            self._take(line, events)
        return events

    def close(self) -> list[bytes]:
        """The last event, where the server left out the empty line after it."""
        events: list[bytes] = []
        self._take(self._lines.close(), events)
        self._take(b"", events)
        return events

    def _take(self, line: bytes, events: list[bytes]) -> None:
        if self._first_line:
            line = line.removeprefix(b"\xef\xbb\xbf")
            self._first_line = False
        if line[:5] == b"data:":
            self._data.append(line[6:] if line[5:6] == b" " else line[5:])
        elif line == b"data":
            self._data.append(b"")
        elif not line and self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            self._data.clear()
            if data:
                events.append(data)

    def _with_plain_ends(self, chunk: bytes) -> bytes:
        """A line may end in CR, LF or both, and a chunk may end between the two."""
        if not chunk:
            return chunk
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


class DocumentSplitter:
    """The whole body as one document, for servers that answer a wish for a stream without one."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        self._parts.append(chunk)
        return []

    def close(self) -> list[bytes]:
        return [b"".join(self._parts)]
