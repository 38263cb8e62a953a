"""`<id>:research` in `/v1`: a model id that is a permission, and a report that comes whole."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inglenook.agent.last_step import NOT_RESEARCHED
from inglenook.web.health import EngineHealth
from inglenook.web.search import EngineStatus
from tests.api.serving import Client, no_web, serve
from tests.research.web_fakes import FakeSearch
from tests.support import bench, call, replies, say

SEARCH = say("I will look.", call("web_search", query="tower height"))
ANSWER = say("", call("final_answer", answer="It is 321 m high [1]."))
BODY: dict[str, Any] = {
    "model": "m:research",
    "messages": [{"role": "user", "content": "How high is the tower?"}],
}


async def chunks_of(client: Client) -> list[Any]:
    frames = await client.frames("/v1/chat/completions", json=BODY | {"stream": True})
    return [frame.json for frame in frames if frame.data != "[DONE]"]


def content_of(chunks: list[Any]) -> str:
    return "".join(
        choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"]
    )


async def test_it_researches_and_answers_under_its_own_name(tmp_path: Path):
    search = FakeSearch()
    async with bench(tmp_path, replies(SEARCH, ANSWER), web=[search]) as b, serve(b) as client:
        answer = await client.post("/v1/chat/completions", BODY)
        [run] = (await client.get("/api/runs")).json["items"]
    assert answer.status == 200, answer.json
    assert answer.json["choices"][0]["message"]["content"] == "It is 321 m high [1]."
    assert answer.json["model"] == "m:research"
    assert (run["model"], run["strategy"]) == ("m", "research@1")
    assert search.queries == ["tower height"]


async def test_the_stream_tells_what_is_looked_for_and_then_the_report_alone(tmp_path: Path):
    provider = replies(SEARCH, ANSWER)
    async with bench(tmp_path, provider, web=[FakeSearch()]) as b, serve(b) as client:
        chunks = await chunks_of(client)
    assert content_of(chunks) == "It is 321 m high [1]."
    told = [
        chunk["event"]["data"]["description"]
        for chunk in chunks
        if chunk.get("event", {}).get("type") == "status"
    ]
    assert "Search: tower height" in told
    assert not any("tool_calls" in c["delta"] for chunk in chunks for c in chunk["choices"])


async def test_a_streamed_answer_without_research_begins_with_its_label(tmp_path: Path):
    provider = replies(say("Some 300 m."))
    async with bench(tmp_path, provider, web=[FakeSearch()]) as b, serve(b) as client:
        chunks = await chunks_of(client)
    assert content_of(chunks) == f"{NOT_RESEARCHED}\n\nSome 300 m."


@pytest.mark.parametrize(
    ("runtime", "field"),
    [({"web": False}, "runtime.web"), ({"strategy": "assistant"}, "runtime.strategy")],
)
async def test_what_the_body_says_in_so_many_words_counts_for_more(
    tmp_path: Path, runtime: dict[str, Any], field: str
):
    provider = replies(say("never"))
    async with bench(tmp_path, provider, web=[FakeSearch()]) as b, serve(b) as client:
        answer = await client.post("/v1/chat/completions", BODY | {"runtime": runtime})
        assert (await client.get("/api/runs")).json["items"] == []
    assert answer.status == 422
    assert "m:research" in answer.error["message"]
    assert answer.error["param"] == field
    assert provider.views == []


async def test_an_unknown_model_is_not_known_as_a_research_agent_either(tmp_path: Path):
    async with bench(tmp_path, replies(say("x")), web=[FakeSearch()]) as b, serve(b) as client:
        answer = await client.post("/v1/chat/completions", BODY | {"model": "ghost:research"})
    assert answer.status == 404


async def test_plain_ids_grant_nothing(tmp_path: Path):
    search = FakeSearch()
    async with bench(tmp_path, replies(SEARCH, say("x")), web=[search]) as b, serve(b) as client:
        await client.post("/v1/chat/completions", BODY | {"model": "m"})
    assert search.queries == []


@pytest.mark.parametrize(
    ("engines", "web_search", "ids"),
    [
        (1, "allow", ["m", "m:research"]),
        (1, "ask", ["m", "m:research"]),
        (1, "block", ["m"]),
        (0, "allow", ["m"]),
    ],
)
async def test_it_is_listed_where_the_web_can_be_searched(
    tmp_path: Path, engines: int, web_search: str, ids: list[str]
):
    health = EngineHealth()
    engine = EngineStatus(name="duckduckgo", host="html.duckduckgo.com", health=health)
    state = replace(no_web(), engines=[engine] * engines, web_search=web_search)
    async with (
        bench(tmp_path, replies(say("x"))) as b,
        serve(b, web=lambda: state) as client,
    ):
        listed = (await client.get("/v1/models")).json["data"]
    assert [model["id"] for model in listed] == ids


async def test_a_title_for_a_chat_is_not_researched(tmp_path: Path):
    """Open WebUI asks the chat's own model for it, with what was said in the chat."""
    search = FakeSearch()
    task = "### Task:\nGenerate a concise title.\n### Chat History:\nuser: my diagnosis"
    body = BODY | {"messages": [{"role": "user", "content": task}]}
    provider = replies(say('{"title": "Health"}'))
    async with bench(tmp_path, provider, web=[search]) as b, serve(b) as client:
        answer = await client.post("/v1/chat/completions", body)
        [run] = (await client.get("/api/runs")).json["items"]
        egress = (await client.get(f"/api/runs/{run['id']}/egress")).json["items"]
    assert answer.json["choices"][0]["message"]["content"] == '{"title": "Health"}'
    assert run["strategy"].startswith("assistant@")
    assert (search.queries, egress) == ([], [])
    assert "web_search" not in {schema.name for schema in provider.tools[0]}
