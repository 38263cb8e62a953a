"""N10: every request that left is in the run's ledger, with host, bytes, why and by whose leave."""

from pathlib import Path

from inglenook.bootstrap.runtime import open_runtime
from inglenook.messages import Message
from inglenook.run_request import RunRequest
from tests.bootstrap.test_web import OtterPage, settings
from tests.fake_duckduckgo import FakeDuckDuckGo, organic, page
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer


async def test_the_ledger_tells_what_left_to_whom_and_why(tmp_path: Path) -> None:
    async with (
        OtterPage() as otters,
        FakeDuckDuckGo(page(organic(url=f"{otters.url}/o", title="Otters"))) as engine,
        ScriptedServer(
            [
                calls(("web_search", {"query": "where do otters live"})),
                calls(("visit_webpage", {"url": f"{otters.url}/o"})),
                "In rivers [1].",
            ]
        ) as model,
    ):
        loaded = settings(
            tmp_path, model.url, duckduckgo_url=engine.url, allow_private_addresses="true"
        )
        async with open_runtime(loaded) as runtime:
            row = await runtime.runs.start(
                RunRequest(
                    model="scripted",
                    messages=(Message(role="user", text="Where do otters live?"),),
                    web=True,
                )
            )
            await runtime.runs.wait(row.id)
            ledger = await runtime.runs.egress(row.id)
            run = await runtime.runs.get(row.id)
            export = await runtime.runs.export(row.id)
    told = [(e["method"], e["host"], e["path"], e["why"], e["permission"]) for e in ledger]
    assert told == [
        ("POST", "127.0.0.1", "/html/", "web_search", "web"),
        ("GET", "127.0.0.1", "/o", "visit_webpage", "web"),
    ]
    assert [entry["status"] for entry in ledger] == [200, 200]
    assert ledger[0]["bytes_out"] == engine.asked[0].size_bytes
    assert len(otters.asked) == 1
    assert run["egress"] == {
        "requests": 2,
        "bytes_out": sum(entry["bytes_out"] for entry in ledger),
        "bytes_in": sum(entry["bytes_in"] for entry in ledger),
    }
    assert export.count(b'"type":"egress_started"') == 2
