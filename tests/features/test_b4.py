"""B4: pages are asked for under a current browser's name, services that want ours get ours."""

import pytest

from inglenook.web.user_agents import BROWSER, OWN_NAME, user_agent_for


def test_the_browsers_name_is_a_current_firefox():
    assert "Firefox/148" in BROWSER


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("en.wikipedia.org", OWN_NAME),
        ("html.duckduckgo.com", OWN_NAME),
        ("news.example", BROWSER),
        ("wikipedia.org.evil.example", BROWSER),
    ],
)
def test_who_is_told_what(host: str, name: str):
    assert user_agent_for(host) == name
