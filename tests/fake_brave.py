"""Brave's search API on loopback, as its reference describes it.

Source: https://api-dashboard.search.brave.com/api-reference/web/search/get for parameters, limits
and the answer; https://api.search.brave.com/app/documentation/web-search/response-headers for the
limits' headers. That a key it does not know gets 422 with a code of its own is not in it, but is
what it does: https://github.com/nearai/ironclaw/issues/2780.
"""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.fake_web import Asked, FakeWeb

KEY = "BSA-canary-key"


def result(*, url: str, title: str, description: str = "") -> dict[str, Any]:
    """`title` and `description` are HTML: the API marks words and escapes the rest."""
    return {
        "title": title,
        "url": url,
        "description": description,
        "is_source_local": False,
        "is_source_both": False,
        "family_friendly": True,
        "type": "search_result",
        "subtype": "generic",
        "language": "en",
    }


@dataclass(kw_only=True)
class FakeBrave(FakeWeb):
    results: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    left: tuple[int, int] = (1, 1500)
    """Of this second's and this month's requests."""
    status: int = 200
    body: bytes | None = None
    """In place of an answer."""

    async def answer(self, asked: Asked) -> web.Response:
        if asked.path != "/res/v1/web/search" or asked.method != "GET":
            return web.Response(status=404)
        if self.status != 200 or self.body is not None:
            body = self.body or b'{"type": "ErrorResponse"}'
            return web.Response(status=self.status, body=body, content_type="application/json")
        if asked.headers.get("x-subscription-token") != KEY:
            return _error(422, "SUBSCRIPTION_TOKEN_INVALID")
        if 0 in self.left:
            limits = {
                "X-RateLimit-Limit": "1, 2000",
                "X-RateLimit-Remaining": f"{self.left[0]}, {self.left[1]}",
                "X-RateLimit-Reset": "1, 1419704",
            }
            return _error(429, "RATE_LIMITED", limits)
        query = asked.query.get("q", "")
        if not 0 < len(query) <= 400 or len(query.split()) > 50:
            return _error(422, "VALIDATION")
        if asked.query.get("freshness", "pd") not in ("pd", "pw", "pm", "py"):
            return _error(422, "VALIDATION")
        if not 1 <= int(asked.query.get("count", "20")) <= 20:
            return _error(422, "VALIDATION")
        about = {"original": query, "more_results_available": bool(self.results)}
        answer: dict[str, Any] = {"type": "search", "query": about}
        if self.results:
            answer["web"] = {"type": "search", "results": self.results, "family_friendly": True}
        return web.json_response(answer)


def _error(status: int, code: str, headers: dict[str, str] | None = None) -> web.Response:
    error: dict[str, Any] = {
        "id": "5d83",
        "status": status,
        "code": code,
        "detail": "…",
        "meta": {},
    }
    body: dict[str, Any] = {"type": "ErrorResponse", "error": error, "time": 1754364294}
    return web.json_response(body, status=status, headers=headers)
