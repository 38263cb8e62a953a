"""B28: a visit takes 20 seconds and 40 000 characters at most, and tells what it left out."""

from pathlib import Path

from inglenook.tools.web_page import MAX_VISIT_CHARS
from inglenook.web.fetch import TIMEOUT_S
from inglenook.web.user_agents import user_agent_for
from tests.knowledge.fakes import pdf
from tests.web.site import Served, site, visit, visiting


def test_the_limits() -> None:
    assert (TIMEOUT_S, MAX_VISIT_CHARS) == (20, 40_000)


async def test_a_long_page_is_cut_with_a_note_and_read_on(tmp_path: Path) -> None:
    text = "\n\n".join(f"Line {n} of a long page." for n in range(4_000))
    async with site({"/": Served(body=text.encode(), content_type="text/plain")}) as served:
        visited = await visit(
            tmp_path,
            served,
            visiting(served.url(), "first"),
            visiting(served.url(), "second", offset=39_983),
        )
    first, second = visited.visits
    assert len(first.result) < MAX_VISIT_CHARS + 1_000
    assert f"of {len(text)}; read on with offset=" in first.result
    assert "[characters 39983-" in second.result
    assert served.asked == ["/"]


async def test_pdfs_are_read_and_binaries_refused_by_their_bytes(tmp_path: Path) -> None:
    pages = {
        "/a.pdf": Served(body=pdf("Text of a report."), content_type="text/html"),
        "/b.html": Served(body=bytes(range(256)) * 16),
    }
    async with site(pages) as served:
        visited = await visit(tmp_path, served, *(visiting(served.url(p), p) for p in pages))
    report, binary = visited.visits
    assert "Text of a report." in report.result
    assert binary.is_error
    assert "binary data" in binary.result


def test_services_that_ask_for_an_honest_name_get_one() -> None:
    assert "inglenook" in user_agent_for("en.wikipedia.org").lower()
    assert "inglenook" in user_agent_for("html.duckduckgo.com").lower()
    assert "mozilla" in user_agent_for("site.test").lower()


async def test_the_model_is_warned_of_sites_that_turn_readers_away(tmp_path: Path) -> None:
    async with site({"/": "<p>Text."}) as served:
        visited = await visit(tmp_path, served, visiting(served.url()))
    assert "yelp.com" in str(visited.events)
