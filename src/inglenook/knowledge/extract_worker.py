"""The process that opens hostile documents: bytes in on stdin, text and chunks out on stdout.

Started by `extract.py`. Once its parsers are loaded it gives up, by resource limits that also bind
native code, what they do not need: new file descriptors (so no file and no socket can be opened),
memory over a bound, and more than some seconds of CPU a document. To see what a file gives:
`python -m inglenook.knowledge.extract_worker KIND < FILE`.

Frames, both ways: 4 bytes big-endian length of a JSON header, the header, then its `bytes` bytes.
Request {"kind", "bytes"}; reply {"bytes", "chunks": [[start, end, heading]]} and the text in UTF-8,
or {"bytes": 0, "error": reason}.
"""

import codecs
import json
import struct
import sys
from typing import BinaryIO

from inglenook.knowledge.chunking import chunk
from inglenook.knowledge.page_text import MAX_TEXT_CHARS, Unreadable
from inglenook.knowledge.readers import read

try:
    import resource
except ImportError:  # Windows has none; there the parent's deadline is the only limit
    resource = None

_CODECS = (
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "ascii", "latin-1"),
    *("cp437", "cp866", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("cp1257", "cp1258", "cp874", "koi8-r", "koi8-u", "iso8859-2", "iso8859-5", "iso8859-7"),
    *("iso8859-15", "mac-roman", "mac-cyrillic", "gb18030", "gbk", "big5", "big5hkscs"),
    *("shift_jis", "euc-jp", "iso2022_jp", "euc-kr"),
)
"""Loaded before file descriptors run out, as Python imports each at its first use."""
_SAMPLES = (
    ("html", b"<meta charset=gbk><body><p style='x:y'>\xd6\xd0</p><table><tr><td>a</table>"),
    ("text", b"\xd6\xd0\xce\xc4"),
    (
        "pdf",
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1"
        b"/Kids[3 0 R]>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\n"
        b"trailer<</Root 1 0 R>>\n",
    ),
    ("docx", b"PK"),
)
"""Read once at the start, so that every parser has loaded what it loads lazily."""


def main() -> None:
    for name in _CODECS:
        codecs.lookup(name)
    for kind, sample in _SAMPLES:
        _answer(kind, sample)
    if len(sys.argv) == 2:
        header, body = _answer(sys.argv[1], sys.stdin.buffer.read())
        sys.stdout.write(str(header.get("error") or body.decode()))
        return
    cpu_s, memory_bytes = int(sys.argv[1]), int(sys.argv[2])
    _drop_privileges(memory_bytes)
    while request := _read_frame(sys.stdin.buffer):
        header, data = request
        _allow_cpu(cpu_s)
        _write_frame(sys.stdout.buffer, *_answer(str(header["kind"]), data))


def _answer(kind: str, data: bytes) -> tuple[dict[str, object], bytes]:
    try:
        text, headings = read(kind, data)
        if len(text) > MAX_TEXT_CHARS:
            raise Unreadable(f"it holds more than {MAX_TEXT_CHARS:,} characters of text")
        chunks = [[c.start, c.end, c.heading] for c in chunk(text, headings)]
    except Unreadable as error:
        return {"error": str(error)}, b""
    except (MemoryError, RecursionError):
        return {"error": "it needs more memory to read than is allowed"}, b""
    return {"chunks": chunks}, text.encode("utf-8", "replace")


def _read_frame(source: BinaryIO) -> tuple[dict[str, object], bytes] | None:
    prefix = source.read(4)
    if len(prefix) < 4:
        return None
    header = json.loads(source.read(struct.unpack(">I", prefix)[0]))
    return header, source.read(header["bytes"])


def _write_frame(target: BinaryIO, header: dict[str, object], body: bytes) -> None:
    encoded = json.dumps({**header, "bytes": len(body)}).encode()
    target.write(struct.pack(">I", len(encoded)) + encoded + body)
    target.flush()


def _drop_privileges(memory_bytes: int) -> None:
    if resource is None:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    in_use = _address_space_bytes()
    if in_use is not None:
        limit = in_use + memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    # not 3: code that closes one of the three could open a file in its place
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def _address_space_bytes() -> int | None:
    """Only Linux tells; elsewhere RLIMIT_AS is not enforced either."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            pages = int(statm.read().split()[0])
    except OSError:
        return None
    assert resource is not None
    return pages * resource.getpagesize()


def _allow_cpu(seconds: int) -> None:
    """The kernel ends the process (SIGXCPU) once it has used `seconds` more than by now."""
    if resource is None:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = usage.ru_utime + usage.ru_stime
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + 1 + seconds, hard))


if __name__ == "__main__":
    main()
