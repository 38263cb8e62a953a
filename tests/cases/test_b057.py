"""B057: a PDF gives its text, or a clear error; its bytes never reach an event."""

from pathlib import Path

import pytest

from inglenook.events import encode
from tests.knowledge.fakes import pdf
from tests.web.site import Served, Visited, site, visit, visiting

REPORT = pdf("Thirty days of leave.", "And pay.")
BROKEN = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + bytes(range(256)) * 2_400


def logged(visited: Visited) -> str:
    return b"\n".join(map(encode, visited.events)).decode()


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("/page", "text/html; charset=utf-8"),
        ("/x.pdf", "application/pdf"),
        ("/x.pdf", "text/plain"),
        ("/download?id=1", "application/octet-stream"),
        ("/x.html", "image/png"),
    ],
)
async def test_its_text_is_read_whatever_it_is_called(
    tmp_path: Path, path: str, content_type: str
) -> None:
    async with site({path: Served(body=REPORT, content_type=content_type)}) as served:
        visited = await visit(tmp_path, served, visiting(served.url(path)))
    (result,) = visited.visits
    assert not result.is_error
    assert "Thirty days of leave." in result.result
    assert "And pay." in result.result
    assert "%PDF" not in logged(visited)


@pytest.mark.parametrize("path", ["/page", "/x.pdf"])
@pytest.mark.parametrize(
    "body",
    [BROKEN, REPORT[:200], b"\x00" * 2_000 + b"%PDF-", bytes(range(256)) * 40, b"\x89PNG\r\n" * 99],
    ids=["broken", "cut", "late", "binary", "png"],
)
async def test_what_cannot_be_read_is_an_error_without_its_bytes(
    tmp_path: Path, path: str, body: bytes
) -> None:
    async with site({path: Served(body=body)}) as served:
        visited = await visit(tmp_path, served, visiting(served.url(path)))
    (result,) = visited.visits
    assert result.is_error
    assert "cannot be read" in result.result
    assert len(result.result) < 500
    assert result.result.isprintable()
    assert visited.run["sources"] == []
    assert "%PDF" not in logged(visited)
