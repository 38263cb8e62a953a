"""PersonalFetcher: pages of the sites that get the user's cookies are the user's own.

They are read anew each time and are never kept for others, and a run that read one has read
something private. All other pages are read by a fetcher that has no cookies.
"""

from dataclasses import replace

from inglenook.egress import Egress, OutgoingRequest
from inglenook.web.base import Fetcher, Page
from inglenook.web.cookies import UserCookies


class PersonalFetcher:
    def __init__(self, anybody: Fetcher, personal: Fetcher, cookies: UserCookies) -> None:
        """`personal` sends the cookies and keeps nothing; `anybody` has none, and may keep."""
        self._anybody = anybody
        self._personal = personal
        self._cookies = cookies

    def request(self, url: str) -> OutgoingRequest:
        return self._anybody.request(url)

    async def fetch(self, url: str, *, egress: Egress) -> Page:
        if not self._cookies.are_for(url):
            return await self._anybody.fetch(url, egress=egress)
        page = await self._personal.fetch(url, egress=egress)
        return replace(page, labels=("private",))
