"""SearXNG on loopback, as its JSON interface answers.

Source: https://docs.searxng.org/dev/search_api.html; what it does with a format that it does not
serve, with a parameter that it does not know and with silent engines is that of its source
(searx/webapp.py, searx/webadapter.py, searx/webutils.py).
"""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.fake_web import Asked, FakeWeb


def result(*, url: str, title: str, content: str = "") -> dict[str, Any]:
    return {
        "url": url,
        "title": title,
        "content": content,
        "engine": "mojeek",
        "engines": ["mojeek", "brave"],
        "positions": [1, 2],
        "score": 1.5,
        "category": "general",
        "template": "default.html",
        "parsed_url": ["https", "a.test", "/", "", "", ""],
        "publishedDate": None,
    }


@dataclass(kw_only=True)
class FakeSearXNG(FakeWeb):
    results: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    unresponsive: list[list[str]] = field(default_factory=list[list[str]])
    formats: tuple[str, ...] = ("html", "json")
    status: int = 200
    body: bytes | None = None
    """In place of an answer."""
    headers: dict[str, str] = field(default_factory=dict[str, str])

    async def answer(self, asked: Asked) -> web.Response:
        if self.body is not None or self.status != 200:
            return web.Response(
                body=self.body or b"<!doctype html>",
                status=self.status,
                content_type="text/html",
                headers=self.headers,
            )
        if asked.path.removesuffix("/") not in ("/search", "/searxng/search"):
            return web.Response(status=404, text="Not Found")
        if asked.query.get("format", "html") not in self.formats:
            return web.Response(status=403, text="<h1>Forbidden</h1>", content_type="text/html")
        if asked.query.get("time_range", "") not in ("", "day", "week", "month", "year"):
            return web.json_response({"error": "Invalid value"}, status=400)
        if not asked.query.get("q"):
            return web.json_response({"error": "No query"}, status=400)
        return web.json_response(
            {
                "query": asked.query["q"],
                "number_of_results": 0,
                "results": self.results,
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": [],
                "unresponsive_engines": self.unresponsive,
            }
        )
