"""B065: a wall in place of a page is `blocked_by_site`: no source, not cited, nothing kept."""

from pathlib import Path

import pytest

from tests.web.site import Served, site, visit, visiting
from tests.web.wall_pages import CHALLENGE, PROSE, REAL, WALLS, Sample, page

AT = 128_000
SIZE = 275_000


def big_challenge(title: str) -> str:
    """As it was met: 200 OK, 275 kB, its only sign in the middle."""
    before = page("", title)[: -len("</body></html>")] + f"<p>{PROSE}</p>"
    filled = before + "<style>" + "a" * (AT - len(before) - len("<style></style>")) + "</style>"
    return filled + CHALLENGE + "<script>" + "b" * (SIZE - len(filled)) + "</script></body></html>"


@pytest.mark.parametrize("title", ["Just a moment…", "Just a moment...", "site.test", ""])
async def test_a_big_challenge_page_is_not_read_as_an_article(tmp_path: Path, title: str) -> None:
    html = big_challenge(title)
    assert AT < html.index("/cdn-cgi/challenge-platform/") < AT + 200
    async with site({"/": html}) as served:
        visited = await visit(tmp_path, served, visiting(served.url()))
    (result,) = visited.visits
    assert result.is_error
    assert "bot check" in result.result
    assert "harbour" not in result.result
    assert result.sources == ()
    assert visited.run["sources"] == []


@pytest.mark.parametrize(
    "sample",
    [each for each in WALLS if "consent" in each.name or each.name == "login"],
    ids=lambda sample: sample.name,
)
async def test_consent_and_login_walls_likewise(tmp_path: Path, sample: Sample) -> None:
    async with site({"/": sample.html}) as served:
        visited = await visit(tmp_path, served, visiting(served.url()))
    (result,) = visited.visits
    assert result.is_error
    assert "Do not cite it" in result.result
    assert visited.run["sources"] == []


async def test_pages_about_walls_and_beside_banners_are_read(tmp_path: Path) -> None:
    pages = {f"/{sample.name}": sample.html for sample in REAL}
    async with site(pages) as served:
        visited = await visit(tmp_path, served, [visiting(served.url(p), id=p) for p in pages])
    assert {each.call.id: each.is_error for each in visited.visits} == dict.fromkeys(pages, False)


async def test_a_wall_with_another_status_is_an_error_too(tmp_path: Path) -> None:
    wall = Served(body=big_challenge("Just a moment...").encode(), status="403 Forbidden")
    async with site({"/": wall}) as served:
        visited = await visit(tmp_path, served, visiting(served.url()))
    (result,) = visited.visits
    assert result.is_error
    assert visited.run["sources"] == []
