"""SearXNG: the user's own search service over others, asked for JSON.

Source: https://docs.searxng.org/dev/search_api.html. A format that its settings do not name is
answered with 403, a caller that is too fast with 429.
"""

from base64 import b64encode
from urllib.parse import parse_qsl, unquote, urlsplit

from inglenook.egress import Egress, OutgoingRequest
from inglenook.errors import ConfigError, shown_address
from inglenook.web.base import Recency, SearchOutcome, SearchResult, WebResponse, WebTransport
from inglenook.web.json_answer import fields, items, json_object, shown_text, string
from inglenook.web.search_engine import Service, form_encoded, one_line, search_result, service_url

PATH = "/search"
SETTING = "web.searxng_url"
SERVICE = Service(
    "searxng",
    "SearXNG",
    {
        403: "does not answer in JSON (HTTP 403): its operator has to set `search.formats: "
        "[html, json]` in its settings.yml.",
        429: "was asked too often (HTTP 429): its operator may set `server.limiter: false`.",
    },
)
MAX_TOLD_ENGINES, MAX_TOLD_CHARS = 5, 60
"""Of its engines that did not answer; nearly every answer names one or two."""


class SearXNG:
    name = SERVICE.name

    def __init__(self, transport: WebTransport, *, url: str) -> None:
        """`url`: its root, its `/search`, or that with a query such as
        `/search?q=<query>&language=de`, of which all but the query, format and time is kept.

        Raises:
            ConfigError: No address that can be asked.
        """
        self._transport = transport
        self._url, self._kept, self._headers = _parts(url)

    def request(self, query: str, *, recency: Recency | None) -> OutgoingRequest:
        asked = {"q": query, "format": "json", **({"time_range": recency} if recency else {})}
        return OutgoingRequest(method="GET", url=f"{self._url}?{form_encoded(self._kept | asked)}")

    async def search(
        self, query: str, *, recency: Recency | None, limit: int, egress: Egress
    ) -> SearchOutcome:
        return await SERVICE.ask(
            self._transport,
            self.request(query, recency=recency),
            headers=self._headers,
            egress=egress,
            read=lambda response: _read(response, limit),
        )


def _parts(url: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """The address of searches, the parameters that the operator set, and the headers.

    A user and password in `url` become a header: what is approved and recorded holds no secret.
    """
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        raise ConfigError(f"{SETTING} is {shown_address(url)!r}, which is no address") from None
    user, at, host = parts.netloc.rpartition("@")
    root = f"{parts.scheme}://{host}{parts.path.rstrip('/').removesuffix(PATH)}"
    kept = {
        name: value
        for name, value in parse_qsl(parts.query)
        if name not in ("q", "format", "time_range")
    }
    headers = {"Accept": "application/json"}
    if at:
        headers["Authorization"] = "Basic " + b64encode(unquote(user).encode()).decode()
    return service_url(root, PATH, setting=SETTING), kept, headers


def _read(response: WebResponse, limit: int) -> SearchOutcome:
    """
    Shape: {"results": [{"url": str, "title": str, "content": str}],
        "unresponsive_engines": [[name, reason]]}
    """
    if fault := SERVICE.status_fault(response):
        return fault
    answer = json_object(response.body)
    if answer is None or not isinstance(answer.get("results"), list):
        return SERVICE.unread(
            "it is no SearXNG answer in JSON; a browser check may stand before it, or "
            "`web.searxng_url` names another server"
        )
    rows, silent = items(answer["results"]), _silent_engines(answer)
    if not rows and silent:
        return SERVICE.failed(
            "unreachable",
            f"got no answer from some of its engines and nothing from the others ({silent}). This "
            "says nothing about whether there are results.",
        )
    told = f"{SERVICE.title} got no answer from some of its engines ({silent})." if silent else ""
    results = [result for row in rows if (result := _result(row))]
    if rows and not results:
        return SERVICE.unread("none of its results has a title and a web address")
    return SERVICE.found(results, limit, told)


def _result(row: object) -> SearchResult | None:
    found = fields(row)
    return search_result(
        title=shown_text(found.get("title")),
        url=string(found.get("url")),
        snippet=shown_text(found.get("content")),
    )


def _silent_engines(answer: object) -> str:
    pairs = [items(each) for each in items(fields(answer).get("unresponsive_engines"))]
    told = [
        one_line(": ".join(map(string, pair[:2])), MAX_TOLD_CHARS)
        for pair in pairs[:MAX_TOLD_ENGINES]
    ]
    more = len(pairs) - len(told)
    return ", ".join(told) + (f" and {more} more" if more else "")
