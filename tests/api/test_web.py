"""/api/web: the engines as they are, what is set of the web, and nothing sent for it."""

from pathlib import Path

from inglenook.web.duckduckgo import DuckDuckGo
from inglenook.web.duckduckgo_lite import DuckDuckGoLite
from inglenook.web.search import WebState
from tests.api.serving import serve
from tests.fake_duckduckgo import BOT_CHECK, FakeDuckDuckGo
from tests.support import bench, replies, say
from tests.web.searching import ask, loopback, service


async def test_engines_are_told_as_they_were_when_last_asked(tmp_path: Path) -> None:
    async with FakeDuckDuckGo(BOT_CHECK) as server, bench(tmp_path, replies(say("hi"))) as b:
        search = service(
            DuckDuckGo(loopback(), url=server.url), DuckDuckGoLite(loopback(), url=server.url)
        )

        def state() -> WebState:
            return WebState(
                engines=search.statuses(),
                web_search="ask",
                confidential="block",
                browser="off",
                cache=True,
            )

        async with serve(b, web=state) as client:
            before = (await client.get("/api/web")).json
            assert server.asked == []
            server.body = "<table><tr><td>No more results.</td></tr></table>"
            await ask(search)
            server.body = BOT_CHECK
            await ask(search)
            after = (await client.get("/api/web")).json
    assert before == {
        "engines": [
            {
                "name": name,
                "host": "127.0.0.1",
                "state": "ok",
                "since": None,
                "retry_at": None,
                "detail": None,
            }
            for name in ("duckduckgo", "duckduckgo-lite")
        ],
        "approvals": {"web_search": "ask", "confidential": "block"},
        "browser": "off",
        "cache": True,
    }
    first = after["engines"][0]
    assert (first["state"], first["host"]) == ("blocked", "127.0.0.1")
    assert first["since"].endswith("Z")
    assert first["since"] < first["retry_at"]
    assert "robot" in first["detail"]
