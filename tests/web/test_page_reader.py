"""An answer becomes a page's text, or says why not; whatever its bytes, the event loop goes on."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import pytest
import pytest_asyncio

from inglenook.documents.worker_pool import WorkerLimits, WorkerLost, WorkerPool
from inglenook.web.base import PageError, PageText, WebResponse
from inglenook.web.page_reader import WorkerPageReader
from tests.knowledge.fakes import docx, paragraph, pdf, zipped
from tests.web.test_main_text import ARTICLE, page
from tests.web.wall_pages import WALLS

URL = "https://site.test/docs/report%20one.pdf?token=secret"


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader() -> AsyncGenerator[WorkerPageReader]:
    reader = WorkerPageReader(WorkerPool("inglenook.web.page_worker", workers=1))
    yield reader
    await reader.close()


async def read(
    reader: WorkerPageReader, body: bytes | str, content_type: str | None = "text/html"
) -> PageText:
    headers = {} if content_type is None else {"content-type": content_type}
    data = body.encode() if isinstance(body, str) else body
    return await reader.read(WebResponse(status=200, headers=headers, body=data), URL)


async def fault(
    reader: WorkerPageReader, body: bytes | str, content_type: str | None = "text/html"
) -> PageError:
    with pytest.raises(PageError) as raised:
        await read(reader, body, content_type)
    assert "secret" not in str(raised.value)
    return raised.value


async def test_html_gives_its_title_and_main_text(reader: WorkerPageReader):
    found = await read(reader, page(ARTICLE))
    assert found.title == "t"
    assert "## Second part" in found.text


async def test_bytes_are_read_in_their_charset(reader: WorkerPageReader):
    found = await read(reader, "<meta charset=shift_jis><title>頁</title><p>日本語".encode("cp932"))
    assert (found.title, found.text) == ("頁", "日本語")


@pytest.mark.parametrize("content_type", ["text/html", "application/octet-stream", "image/png"])
async def test_a_pdf_is_known_by_its_bytes(reader: WorkerPageReader, content_type: str):
    found = await read(reader, b"\r\njunk\r\n" + pdf("Thirty days of leave."), content_type)
    assert "Thirty days of leave." in found.text
    assert found.title == "report one.pdf"


async def test_what_is_called_pdf_and_is_html_is_read_as_html(reader: WorkerPageReader):
    found = await read(reader, "<!doctype html><p>A viewer", "application/pdf")
    assert found.text == "A viewer"


async def test_a_word_document_is_read(reader: WorkerPageReader):
    found = await read(reader, docx(paragraph("Thirty days.")), "application/zip")
    assert found.text.strip() == "Thirty days."


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("# Head\n\n<b>as it is</b>", "text/plain"),
        ("# Head", "text/markdown"),
        ('{"a": [1, "ä"]}', "application/json"),
        ("name,value\nalpha,1", "text/csv"),
        ("<rss><item>x</item></rss>", "application/rss+xml"),
        ("no header at all", None),
    ],
)
async def test_texts_are_given_as_they_are(
    reader: WorkerPageReader, body: str, content_type: str | None
):
    assert (await read(reader, body, content_type)).text == body


async def test_html_without_a_header_is_known_by_its_beginning(reader: WorkerPageReader):
    assert (await read(reader, "\n<!-- x --><!DOCTYPE html><p>text", None)).text == "text"


@pytest.mark.parametrize(
    "body",
    [
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        b"GIF89a" + bytes(100),
        b"\x00\x00\x00\x18ftypmp42" + bytes(100),
        b"\x1f\x8b\x08" + bytes(range(256)),
        zipped({"a.txt": "text"}),
        bytes(range(256)) * 40,
        b"plain at first, " * 20 + bytes(range(32)) * 100,
    ],
    ids=["png", "gif", "mp4", "gzip", "zip", "random", "mixed"],
)
@pytest.mark.parametrize("content_type", ["text/html", "text/plain", None])
async def test_binary_data_is_not_read(
    reader: WorkerPageReader, body: bytes, content_type: str | None
):
    error = await fault(reader, body, content_type)
    assert error.fault == "not_readable"
    assert str(error).isprintable()


async def test_a_broken_pdf_says_so(reader: WorkerPageReader):
    error = await fault(reader, b"%PDF-1.7\n" + bytes(range(256)), "text/html")
    assert error.fault == "not_readable"
    assert "PDF" in str(error)
    assert str(error).isprintable()


@pytest.mark.parametrize(
    "html",
    [
        "<script src=app.js></script><div id=root></div>",
        "<noscript>You need to enable JavaScript to run this app.</noscript><script></script>",
        "<script></script><div id=root>Please enable JavaScript to use this site.</div>",
    ],
)
async def test_a_page_that_needs_script_says_what_can_be_done(reader: WorkerPageReader, html: str):
    error = await fault(reader, html)
    assert error.fault == "not_readable"
    assert "web.browser" in str(error)


async def test_an_empty_page_is_not_readable(reader: WorkerPageReader):
    assert "no text" in str(await fault(reader, ""))
    assert "no text" in str(await fault(reader, "<p hidden>x</p>"))


async def test_a_wall_is_named_and_gives_no_text(reader: WorkerPageReader):
    for sample in WALLS[:3]:
        error = await fault(reader, sample.html)
        assert error.fault == "blocked_by_site"
        assert "bot check" in str(error)
        assert "another source" in str(error)


async def test_a_page_too_hard_for_one_engine_is_read_by_the_other():
    """A worker that is killed at its first request, and reads at the second."""
    lost = _LosesFirst()
    reader = WorkerPageReader(lost)
    found = await read(reader, page(ARTICLE))
    await reader.close()
    assert "## Second part" in found.text
    assert lost.asked == [None, True]


class _LosesFirst(WorkerPool):
    def __init__(self) -> None:
        super().__init__("inglenook.web.page_worker", workers=1)
        self.asked: list[object] = []

    async def ask(self, request: Mapping[str, object], data: bytes) -> tuple[dict[str, Any], bytes]:
        self.asked.append(request.get("careful"))
        if len(self.asked) == 1:
            raise WorkerLost("reading took more than 4 s of processor time")
        return await super().ask(request, data)


async def test_endless_work_ends_in_an_error():
    pool = WorkerPool("inglenook.web.page_worker", workers=1, limits=WorkerLimits(cpu_s=0))
    reader = WorkerPageReader(pool)
    error = await fault(reader, b"<tr><td><table>" * 20_000)
    await reader.close()
    assert error.fault == "not_readable"


async def test_the_loop_never_waits_for_a_page(reader: WorkerPageReader):
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    await read(reader, "<p>start a worker")
    async with asyncio.TaskGroup() as group:
        turning = group.create_task(turn())
        before = turns
        await read(reader, page(ARTICLE * 60))
        assert turns - before > 100  # tens of thousands; a loop that waits makes few
        turning.cancel()


async def test_the_worker_can_open_no_socket_and_knows_no_secret(reader: WorkerPageReader):
    await read(reader, "<p>start a worker")
    (worker,) = reader._pool._idle  # pyright: ignore[reportPrivateUsage] the process to look at
    pid = worker._process.pid  # pyright: ignore[reportPrivateUsage]
    with open(f"/proc/{pid}/limits") as file:
        files = next(line for line in file if line.startswith("Max open files"))
    assert files.split()[3:5] == ["0", "0"]
    with open(f"/proc/{pid}/environ", "rb") as file:
        assert file.read() == b""
