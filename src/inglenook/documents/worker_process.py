"""The worker's end of the pipe: requests in on stdin, answers out on stdout, within limits.

Started by `worker_pool.py`. Once its parsers are loaded the process gives up, by resource limits
that also bind native code, what they do not need: new file descriptors (so no file and no socket
can be opened), memory over a bound, and more than some seconds of CPU a request.

Frames, both ways: 4 bytes big-endian length of a JSON header, the header, then its `bytes` bytes.
"""

import codecs
import json
import struct
import sys
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

try:
    import resource
except ImportError:  # Windows has none; there the parent's deadline is the only limit
    resource = None

Answer = tuple[dict[str, object], bytes]

OUT_OF_MEMORY = "it needs more memory to read than is allowed"

_CODECS = (
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "ascii", "latin-1"),
    *("cp437", "cp866", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("cp1257", "cp1258", "cp874", "koi8-r", "koi8-u", "iso8859-2", "iso8859-5", "iso8859-7"),
    *("iso8859-15", "mac-roman", "mac-cyrillic", "gb18030", "gbk", "big5", "big5hkscs"),
    *("shift_jis", "euc-jp", "iso2022_jp", "euc-kr"),
)
"""Loaded before file descriptors run out, as Python imports each at its first use."""


def serve(
    answer: Callable[[dict[str, Any], bytes], Answer],
    samples: Iterable[tuple[dict[str, Any], bytes]],
) -> None:
    """Answer requests until stdin ends; arguments are the limits, CPU seconds and bytes.

    `samples` are answered first, so that every parser has loaded what it loads lazily.
    """
    for name in _CODECS:
        codecs.lookup(name)
    for header, data in samples:
        answer(header, data)
    cpu_s, memory_bytes = int(sys.argv[1]), int(sys.argv[2])
    _drop_privileges(memory_bytes)
    while request := _read_frame(sys.stdin.buffer):
        _allow_cpu(cpu_s)
        _write_frame(sys.stdout.buffer, *answer(*request))


def _read_frame(source: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
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
