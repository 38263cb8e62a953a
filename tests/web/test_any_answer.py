"""Whatever a service answers, its engine gives a typed outcome, and results that can be stored."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from hypothesis import example, given
from hypothesis import strategies as st

from inglenook.egress import Egress, OutgoingRequest
from inglenook.web.base import SearchEngine, WebResponse
from inglenook.web.brave import Brave
from inglenook.web.duckduckgo import DuckDuckGo
from inglenook.web.duckduckgo_lite import DuckDuckGoLite
from inglenook.web.search_engine import MAX_SNIPPET_CHARS, MAX_TITLE_CHARS
from inglenook.web.searxng import SearXNG
from tests import fake_duckduckgo, fake_duckduckgo_lite
from tests.web.searching import ask

HOSTILE_HREFS = ["http://[", "//[", "/l/?uddg=", "/l/?uddg=http://[&uddg=2", "https://a.test/\x00"]
PAGES = [
    fake_duckduckgo.page(
        fake_duckduckgo.organic(url="https://a.test/", title="A <b>b</b>", snippet="s"),
        *(fake_duckduckgo.organic(url=url, title="A", wrapped=False) for url in HOSTILE_HREFS),
        fake_duckduckgo.ad(1),
    ),
    fake_duckduckgo_lite.page(
        fake_duckduckgo_lite.organic(url="https://a.test/", title="A <b>b</b>", snippet="s"),
        *(fake_duckduckgo_lite.organic(url=url, title="A", wrapped=False) for url in HOSTILE_HREFS),
        fake_duckduckgo_lite.ad(1),
    ),
]
ROW = {"title": "A", "url": "https://a.test/", "content": "s", "description": "s"}
ANSWERS = [
    json.dumps({"results": [ROW], "unresponsive_engines": [["a", "b"]]}),
    json.dumps({"query": {}, "web": {"results": [ROW]}}),
    json.dumps({"error": {"code": "X"}, "errors": [{"code": "Y"}]}),
]


@dataclass(frozen=True, kw_only=True)
class GivenAnswer:
    """A `WebTransport` that has one answer."""

    response: WebResponse

    async def send(
        self,
        request: OutgoingRequest,
        *,
        headers: Mapping[str, str],
        egress: Egress,
        timeout_s: float,
        max_bytes: int,
    ) -> WebResponse:
        return self.response


@st.composite
def spliced(draw: st.DrawFn) -> bytes:
    """Pieces of real answers, cut and put together anywhere, with bytes between them."""
    pieces: list[bytes] = []
    for _ in range(draw(st.integers(1, 4))):
        source = draw(st.sampled_from([*PAGES, *ANSWERS])).encode()
        start = draw(st.integers(0, len(source)))
        pieces.append(source[start : start + draw(st.integers(0, len(source)))])
        pieces.append(draw(st.binary(max_size=8)))
    return b"".join(pieces)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*ROW, "results", "web", "query", "error"]), inner)
    ),
    max_leaves=12,
)
bodies = (
    st.binary(max_size=64)
    | spliced()
    | st.dictionaries(
        st.sampled_from(["results", "web", "query", "unresponsive_engines", "error", "errors"]),
        json_values,
    ).map(lambda value: json.dumps(value).encode())
)


@given(status=st.sampled_from([200, 200, 200, 202, 204, 302, 403, 422, 429, 503]), body=bodies)
@example(status=200, body=b"[" * 100_000)
@example(status=200, body=b"9" * 5_000)
@example(status=422, body=b'{"error": {"code": "\\ud800"}}')
@example(status=200, body=b"<table><tr><td><a class=result-link href=x>" * 2_000)
async def test_any_bytes_give_a_typed_outcome(status: int, body: bytes) -> None:
    response = WebResponse(status=status, headers={"x-ratelimit-reset": ",,"}, body=body)
    answer = GivenAnswer(response=response)
    engines: list[SearchEngine] = [
        DuckDuckGo(answer),
        DuckDuckGoLite(answer),
        SearXNG(answer, url="https://searx.test"),
        Brave(answer, key="k"),
    ]
    for engine in engines:
        found = await ask(engine, limit=5)
        assert found.engine == engine.name
        assert (found.outcome == "ok") == bool(found.results)
        assert len(found.results) <= 5
        found.detail.encode()
        for result in found.results:
            assert result.url.startswith(("http://", "https://"))
            assert "\n" not in f"{result.title}{result.url}{result.snippet}"
            assert 0 < len(result.title) <= MAX_TITLE_CHARS
            f"{result.title}{result.url}{result.snippet}".encode()
            assert len(result.snippet) <= MAX_SNIPPET_CHARS


@given(query=st.text(max_size=400))
def test_any_query_makes_one_request_in_one_form(query: str) -> None:
    answer = GivenAnswer(response=WebResponse(status=200, headers={}, body=b""))
    engines: list[SearchEngine] = [
        DuckDuckGo(answer),
        DuckDuckGoLite(answer),
        SearXNG(answer, url="https://searx.test"),
        Brave(answer, key="k"),
    ]
    for engine in engines:
        first = engine.request(query, recency="day")
        assert first == engine.request(query, recency="day")
        assert first.url.isascii()
        assert first.url.isprintable()
