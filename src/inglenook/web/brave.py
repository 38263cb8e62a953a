"""Brave Search: a search API with a key, which is in a header and nowhere else.

Source: https://api-dashboard.search.brave.com/api-reference/web/search/get. A key that it does not
know is answered with 422, and so is a request that it does not take; the body's code tells which.
"""

from collections.abc import Mapping

from inglenook.egress import Egress, OutgoingRequest
from inglenook.errors import ConfigError
from inglenook.web.base import Recency, SearchOutcome, SearchResult, WebResponse, WebTransport
from inglenook.web.json_answer import fields, items, json_object, shown_text, string
from inglenook.web.search_engine import Service, form_encoded, search_result, seconds, service_url

DEFAULT_URL = "https://api.search.brave.com"
PATH = "/res/v1/web/search"
FRESHNESS: dict[Recency, str] = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
MAX_RESULTS = 20
MAX_QUERY_WORDS = 50
"""Of a query, says the API's reference; what follows is not sent."""
BAD_KEY = "refuses the key in the variable that `web.brave_api_key_env` names (HTTP {})."
SERVICE = Service(
    "brave",
    "Brave Search",
    {
        401: BAD_KEY.format(401),
        403: BAD_KEY.format(403),
        429: "was asked more often than its plan allows (HTTP 429).",
    },
)


class Brave:
    name = SERVICE.name

    def __init__(self, transport: WebTransport, *, key: str, url: str = DEFAULT_URL) -> None:
        """`url` is the service's root.

        Raises:
            ConfigError: `key` cannot be a header, or `url` is no address that can be asked.
        """
        if not key.strip().isascii() or not key.strip().isprintable() or not key.strip():
            raise ConfigError(
                "the variable that `web.brave_api_key_env` names holds no key: it is empty or has "
                "characters that no key has; copy it again from the dashboard of Brave Search"
            )
        self._transport = transport
        self._key = key.strip()
        self._url = service_url(url, PATH, setting="web.brave_url")

    def request(self, query: str, *, recency: Recency | None) -> OutgoingRequest:
        asked = {"q": " ".join(query.split()[:MAX_QUERY_WORDS]), "count": str(MAX_RESULTS)}
        if recency:
            asked["freshness"] = FRESHNESS[recency]
        return OutgoingRequest(method="GET", url=f"{self._url}?{form_encoded(asked)}")

    async def search(
        self, query: str, *, recency: Recency | None, limit: int, egress: Egress
    ) -> SearchOutcome:
        return await SERVICE.ask(
            self._transport,
            self.request(query, recency=recency),
            # its cache is passed by: without this header some plans answer 422
            headers={
                "Accept": "application/json",
                "Cache-Control": "no-cache",
                "X-Subscription-Token": self._key,
            },
            egress=egress,
            read=lambda response: _read(response, limit),
        )


def _read(response: WebResponse, limit: int) -> SearchOutcome:
    """
    Shape: {"query": {…}, "web"?: {"results": [{"title": html, "url": str, "description": html}]}}
    """
    answer = json_object(response.body)
    if response.status == 422:
        if any(code.startswith("SUBSCRIPTION_TOKEN") for code in _error_codes(answer)):
            return SERVICE.failed("blocked", BAD_KEY.format(422))
        return SERVICE.unread("it does not take the request (HTTP 422)")
    if fault := SERVICE.status_fault(response, retry_after_s=_reset_s(response)):
        return fault
    if answer is None or not ("web" in answer or "query" in answer):
        return SERVICE.unread("it is no answer of the Brave Search API; check `web.brave_url`")
    rows = items(fields(answer.get("web")).get("results"))
    results = [result for row in rows if (result := _result(row))]
    if rows and not results:
        return SERVICE.unread("none of its results has a title and a web address")
    return SERVICE.found(results, limit)


def _result(row: object) -> SearchResult | None:
    found = fields(row)
    return search_result(
        title=shown_text(found.get("title")),
        url=string(found.get("url")),
        snippet=shown_text(found.get("description")),
    )


def _error_codes(answer: Mapping[str, object] | None) -> list[str]:
    """Shape: {"error": {"code": str}}, or {"errors": [{"code": str}]} as the reference has it."""
    errors = [fields(answer).get("error"), *items(fields(answer).get("errors"))]
    return [string(fields(error).get("code")) for error in errors]


def _reset_s(response: WebResponse) -> float | None:
    """When the used-up one of its limits begins anew: one figure a limit, such as `0, 1500` left
    of a second's and a month's, and `1, 1419704` seconds."""
    left = response.headers.get("x-ratelimit-remaining", "").split(",")
    resets = response.headers.get("x-ratelimit-reset", "").split(",")
    used_up = [reset for one, reset in zip(left, resets, strict=False) if one.strip() == "0"]
    return max((known for reset in used_up if (known := seconds(reset))), default=None)
