"""B4: web tools of our own; engines and services that want it get our name, pages a browser's."""

import pytest

from inglenook.web.user_agents import BROWSER, OWN_NAME, user_agent_for
from tests.web.kinds import Kind, every_kind
from tests.web.searching import ask


@every_kind
async def test_search_engines_are_asked_under_our_own_name(kind: Kind) -> None:
    async with kind.serve([("A", "https://a.test/", "")]) as server:
        assert (await ask(kind.engine(server.url))).outcome == "ok"
    name = server.asked[0].headers["user-agent"]
    assert name.startswith("Inglenook/")
    assert "Mozilla" not in name


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("en.wikipedia.org", OWN_NAME),
        ("html.duckduckgo.com", OWN_NAME),
        ("news.example", BROWSER),
        ("wikipedia.org.evil.example", BROWSER),
    ],
)
def test_pages_are_asked_for_as_a_current_firefox_except_where_ours_is_wanted(host: str, name: str):
    assert user_agent_for(host) == name
    assert "Firefox/148" in BROWSER
