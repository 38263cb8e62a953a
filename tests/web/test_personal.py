from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from inglenook.egress import Egress, OutgoingRequest
from inglenook.web.base import Page
from inglenook.web.cookies import UserCookies
from inglenook.web.firefox_cookies import FirefoxCookies
from inglenook.web.personal import PersonalFetcher
from tests.web.test_cookies import firefox_home
from tests.web.wire import Ledger


@dataclass
class Reading:
    fetched: list[str] = field(default_factory=list[str])

    def request(self, url: str) -> OutgoingRequest:
        return OutgoingRequest(method="GET", url=url)

    async def fetch(self, url: str, *, egress: Egress) -> Page:
        self.fetched.append(url)
        return Page(url=url, title="", text="", fetched_at=datetime.now(UTC))


@pytest.mark.parametrize(
    ("url", "is_personal"),
    [
        ("https://lwn.net/my", True),
        ("https://www.lwn.net/", True),
        ("https://evillwn.net/", False),
        ("https://lwn.net.evil.test/", False),
        ("not an address", False),
    ],
)
async def test_only_listed_sites_are_read_with_cookies_and_what_they_show_is_private(
    tmp_path: Path, url: str, is_personal: bool
) -> None:
    firefox_home(tmp_path)
    anybody, personal = Reading(), Reading()
    cookies = UserCookies(FirefoxCookies(tmp_path), ["lwn.net"])
    page = await PersonalFetcher(anybody, personal, cookies).fetch(url, egress=Ledger())
    assert (personal.fetched, anybody.fetched) == (([url], []) if is_personal else ([], [url]))
    assert page.labels == (("private",) if is_personal else ())
