"""Hostile files end in a typed error within the limits; the event loop never waits for them.

A fast sample of SECURITY P15.
"""

import asyncio
import contextlib
import struct
import zipfile
import zlib
from collections.abc import AsyncGenerator, Callable
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inglenook.documents.ooxml import MAX_ENTRIES
from inglenook.documents.worker_pool import WorkerLimits
from inglenook.knowledge.extract import (
    MAX_FILE_BYTES,
    Extractor,
    UnreadableDocument,
)
from tests.knowledge.fakes import docx, paragraph, pdf, zipped

LIMITS = WorkerLimits(cpu_s=1, wall_s=20.0, memory_bytes=256 * 1024 * 1024)


@pytest.fixture
async def extractor() -> AsyncGenerator[Extractor]:
    extractor = Extractor(workers=1, limits=LIMITS)
    yield extractor
    await extractor.close()


def _word_bomb() -> bytes:
    head = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    return zipped({"word/document.xml": head + b" " * (80 * 1024 * 1024)})


def _lying_bomb() -> bytes:
    """The directory says 10 bytes; the data unpacks to 80 MiB."""
    data = bytearray(_word_bomb())
    directory = data.rindex(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = struct.pack("<I", 10)
    return bytes(data)


def _many_entries() -> bytes:
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for number in range(MAX_ENTRIES + 1):
            archive.writestr(f"{number}", b"")
    return target.getvalue()


def _encrypted() -> bytes:
    data = bytearray(docx(paragraph("x")))
    for mark, flag in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + flag] |= 1
    return bytes(data)


def _pdf_bomb() -> bytes:
    """Flate within flate: 300 MiB of spaces in a page's content, 1 kB in the file."""
    inner = zlib.compressobj(1)
    spaces = b" " * (1 << 20)
    packed = b"".join(inner.compress(spaces) for _ in range(300)) + inner.flush()
    stream = zlib.compress(packed, 9)
    plain = b"<</Length 32>>stream\n"
    assert plain in pdf("x")
    content = b"<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n" % len(stream)
    return pdf("x").replace(plain, content + stream)


def _endless_kids() -> bytes:
    return pdf("x").replace(b"/Kids[3 0 R]", b"/Kids[2 0 R]")


_LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(97 + n)} "{f"&{chr(96 + n)};" * 20}">' for n in range(1, 10))
    + "]>"
)
_XXE = '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def _word_with(prolog: str, entity: str) -> bytes:
    return zipped(
        {
            "word/document.xml": f'{prolog}<w:document xmlns:w="{_W}"><w:body><w:p><w:r><w:t>seen '
            f"&{entity};</w:t></w:r></w:p></w:body></w:document>"
        }
    )


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("bomb.docx", _word_bomb),
        ("lying.docx", _lying_bomb),
        ("entries.docx", _many_entries),
        ("locked.docx", _encrypted),
        ("nested.docx", lambda: docx("<w:sdt>" * 100_000)),
        ("laughs.docx", lambda: _word_with(_LAUGHS, "j")),
        ("cut.xlsx", lambda: zipped({"xl/workbook.xml": "<a"})[:-30]),
        ("bomb.pdf", _pdf_bomb),
        ("loop.pdf", _endless_kids),
        ("huge.txt", lambda: b"a" * (MAX_FILE_BYTES + 1)),
    ],
)
async def test_it_is_refused_with_a_reason_and_the_pool_goes_on(
    extractor: Extractor, name: str, make: Callable[[], bytes]
):
    with pytest.raises(UnreadableDocument, match=name):
        await extractor.extract(name, make())
    assert (await extractor.extract("good.txt", b"still here")).text == "still here"


async def test_a_page_count_is_not_believed(extractor: Extractor):
    document = await extractor.extract("a.pdf", pdf("x").replace(b"/Count 1", b"/Count 99999999"))
    assert document.text == "## Page 1\n\nx\n\n"


async def test_the_size_limit_is_named(extractor: Extractor):
    with pytest.raises(UnreadableDocument, match=f"the limit is {MAX_FILE_BYTES:,}"):
        await extractor.extract("huge.txt", b"a" * (MAX_FILE_BYTES + 1))


@pytest.mark.parametrize(
    "data",
    [
        b"<div>" * 100_000 + b"deep",
        b"<p " + b" ".join(b"a%d=1" % n for n in range(100_000)) + b">deep",
        b"<a href=x>deep</a>" * 50_000,
        b"<table>" * 50_000 + b"<tr><td>deep",
        b"&" * 1_000_000 + b"deep",
        b"<!--" * 500_000 + b"--><p>deep",
        b"\xff\xfe" + "deep \ud800".encode("utf-16-le", "surrogatepass"),
    ],
    ids=["nesting", "attributes", "links", "tables", "entities", "comments", "surrogate"],
)
async def test_hostile_html_is_read_within_the_limits(extractor: Extractor, data: bytes):
    assert "deep" in (await extractor.extract("a.html", data)).text


async def test_external_entities_are_not_read(extractor: Extractor):
    document = await extractor.extract("a.docx", _word_with(_XXE, "x"))
    assert document.text.strip() == "seen"


async def test_endless_work_ends_at_the_processor_limit():
    extractor = Extractor(workers=1, limits=WorkerLimits(cpu_s=0, wall_s=20.0))
    cell = b"<tr><td><table>"
    try:
        with pytest.raises(UnreadableDocument, match="0 s of processor time"):
            await extractor.extract("a.html", cell * 30_000)
    finally:
        await extractor.close()


async def test_a_slow_reader_ends_at_the_deadline():
    extractor = Extractor(workers=1, limits=WorkerLimits(cpu_s=10, wall_s=0.01))
    try:
        with pytest.raises(UnreadableDocument, match=r"longer than 0.01 s"):
            await extractor.extract("a.txt", b"text")
    finally:
        await extractor.close()


async def test_a_cancelled_reading_ends_its_worker(extractor: Extractor):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await extractor.extract("a.html", b"<tr><td><table>" * 30_000)
    assert (await extractor.extract("good.txt", b"still here")).text == "still here"


async def test_the_loop_never_waits_for_a_document(extractor: Extractor):
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        turning = group.create_task(turn())
        for name, data in (
            ("bomb.docx", _word_bomb()),
            ("a.html", b"<tr><td><table>" * 30_000),
            ("a.txt", b"word " * 200_000),
        ):
            before = turns
            with contextlib.suppress(UnreadableDocument):
                await extractor.extract(name, data)
            assert turns - before > 100, name  # tens of thousands; a loop that waits makes few
        turning.cancel()


async def test_a_worker_cannot_open_files_or_sockets(extractor: Extractor):
    """The limit that the kernel holds it to, native parsers included."""
    await extractor.extract("a.txt", b"start a worker")
    (worker,) = extractor._pool._idle  # pyright: ignore[reportPrivateUsage] the process to look at
    limits = f"/proc/{worker._process.pid}/limits"  # pyright: ignore[reportPrivateUsage]
    with open(limits) as file:
        rows = {line[:26].strip(): line[26:].split()[:2] for line in file}
    assert rows["Max open files"] == ["0", "0"]  # 3 would let it close stdin and open a file
    assert rows["Max file size"] == ["0", "0"]
    assert rows["Max core file size"] == ["0", "0"]
    assert int(rows["Max address space"][0]) < 2 * 1024**3
    with open(f"/proc/{worker._process.pid}/environ", "rb") as file:  # pyright: ignore[reportPrivateUsage]
        assert file.read() == b""


_SEEDS = [
    ("a.docx", docx(paragraph("Leave", "h") + paragraph("Thirty days."))),
    ("a.pdf", pdf("Thirty days of leave.")),
    ("a.html", b"<!doctype html><title>t</title><h1>h</h1><p style='x'>Thirty<table><tr><td>x"),
    ("a.xlsx", zipped({"xl/workbook.xml": "<workbook/>", "xl/styles.xml": "<a/>"})),
]


async def test_mutations_never_crash_a_reader(extractor: Extractor):
    cases: list[tuple[str, bytes]] = []

    @settings(max_examples=150, deadline=None)
    @given(st.sampled_from(_SEEDS), st.integers(0, 10_000), st.binary(max_size=8))
    def mutate(seed: tuple[str, bytes], at: int, junk: bytes) -> None:
        name, data = seed
        at %= len(data)
        cases.append((name, data[:at] + junk + data[at + len(junk) :]))

    mutate()
    reasons: list[str] = []
    for name, data in cases:
        try:
            await extractor.extract(name, data)
        except UnreadableDocument as error:
            reasons.append(error.reason)
    assert len(cases) > 100
    assert reasons
    assert not [reason for reason in reasons if "crashed" in reason]
