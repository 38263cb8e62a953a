"""The event stream: ids, live pieces, hidden thinking, resuming, heartbeats."""

import json
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest

from inglenook.api.withheld import shown
from inglenook.events import ModelReplied, encode
from inglenook.messages import Message, Reasoning
from inglenook.providers.scripted import ScriptedProvider
from inglenook.store.base import StoredEvent
from tests.api.serving import Client, Frame, serve
from tests.support import EchoTool, FunctionProvider, HeldProvider, bench, call, replies, say

QUESTION = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
THOUGHT = Message(
    role="assistant",
    text="It is four.",
    reasoning=Reasoning(text="secret thought", field="thinking"),
)


async def live_frames(client: Client, model: HeldProvider | None = None) -> list[Frame]:
    """All frames of a run, whose model speaks once this reader follows it."""
    id = (await client.post("/api/runs", QUESTION)).json["id"]
    seen: list[Frame] = []
    async with client.stream(f"/api/runs/{id}/events") as frames:
        async for frame in frames:
            seen.append(frame)
            if model is not None and frame.event == "model_requested":
                model.go.set()
    return seen


def thinking_model() -> HeldProvider:
    return HeldProvider(ScriptedProvider([THOUGHT], piece_chars=4))


async def test_the_stream_is_not_cached_or_buffered_and_says_when_to_retry(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        id = (await client.post("/api/runs", QUESTION)).json["id"]
        async with client.stream(f"/api/runs/{id}/events") as frames:
            headers = frames.response.headers
            assert headers["Content-Type"].startswith("text/event-stream")
            assert headers["Cache-Control"] == "no-store"
            assert headers["X-Accel-Buffering"] == "no"
            assert await frames.response.content.readline() == b"retry: 1000\n"


async def test_text_comes_live_in_pieces_without_id(tmp_path: Path):
    model = thinking_model()
    async with bench(tmp_path, model) as b, serve(b) as client:
        frames = await live_frames(client, model)
    pieces = [frame for frame in frames if frame.event == "text_delta"]
    assert [frame.json for frame in pieces] == [{"text": "It i"}, {"text": "s fo"}, {"text": "ur."}]
    assert {frame.id for frame in pieces} == {None}
    order = [frame.event for frame in frames]
    assert order.index("model_requested") < order.index("text_delta")
    assert order.index("text_delta") < order.index("model_replied")


async def test_hidden_thinking_is_a_state_without_text(tmp_path: Path):
    model = thinking_model()
    async with bench(tmp_path, model) as b, serve(b) as client:
        frames = await live_frames(client, model)
        id = frames[-1].json["run_id"]
        listed = await client.get(f"/api/runs/{id}/events")
        exported = await client.get(f"/api/runs/{id}/export")
        whole = await client.get(f"/api/runs/{id}")
    assert {frame.data for frame in frames if frame.event == "reasoning_delta"} == {
        '{"hidden": true}'
    }
    [replied] = [frame.json for frame in frames if frame.event == "model_replied"]
    assert replied["reasoning"] == {"hidden": True}
    assert replied["message"]["text"] == "It is four."
    assert "secret thought" not in "".join(frame.data for frame in frames)
    assert b"secret thought" not in listed.body + whole.body
    assert b"secret thought" in exported.body, "a replay needs it"


async def test_thinking_is_shown_where_the_operator_opted_in(tmp_path: Path):
    model = thinking_model()
    async with bench(tmp_path, model) as b, serve(b, show_reasoning=True) as client:
        frames = await live_frames(client, model)
    said = "".join(frame.json["text"] for frame in frames if frame.event == "reasoning_delta")
    assert said == "secret thought"
    [replied] = [frame.json for frame in frames if frame.event == "model_replied"]
    assert replied["reasoning"]["text"] == "secret thought"


async def test_a_reader_resumes_behind_the_last_id_it_saw(tmp_path: Path):
    provider = replies(say("", call("echo", text="a")), say("b"))
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b, serve(b) as client:
        logged = [frame for frame in await live_frames(client) if frame.id]
        path = f"/api/runs/{logged[0].json['run_id']}/events"
        for seen in (0, 3, len(logged) - 2):
            rest = await client.frames(path, headers={"Last-Event-ID": str(seen)})
            assert rest == logged[seen + 1 :]


async def test_who_saw_the_end_is_told_to_stop_asking(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        last = (await live_frames(client))[-1]
        path = f"/api/runs/{last.json['run_id']}/events"
        headers = {"Accept": "text/event-stream", "Last-Event-ID": last.id}
        assert (await client.get(path, headers=headers)).status == 204


@pytest.mark.parametrize("id", ["abc", "-1", "1.5", ""])
async def test_a_last_event_id_of_somebody_else_is_refused(tmp_path: Path, id: str):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        last = (await live_frames(client))[-1]
        path = f"/api/runs/{last.json['run_id']}/events"
        answer = await client.get(path, headers={"Last-Event-ID": id})
        assert (answer.status, answer.error["field"]) == (400, "Last-Event-ID")


async def test_a_reader_that_leaves_does_not_stop_the_run(tmp_path: Path):
    model = HeldProvider(replies(say("done")))
    async with bench(tmp_path, model) as b, serve(b) as client:
        id = (await client.post("/api/runs", QUESTION)).json["id"]
        async with client.stream(f"/api/runs/{id}/events") as frames:
            await frames.until("model_requested")
        model.go.set()
        assert (await b.service.wait(id)).status == "complete"


async def test_readers_of_one_run_see_the_same(tmp_path: Path):
    model = HeldProvider(replies(say("done")))
    async with bench(tmp_path, model) as b, serve(b) as client, AsyncExitStack() as stack:
        path = f"/api/runs/{(await client.post('/api/runs', QUESTION)).json['id']}/events"
        readers = [await stack.enter_async_context(client.stream(path)) for _ in range(3)]
        for reader in readers:
            await reader.until("model_requested")
        model.go.set()
        first, *others = [[frame async for frame in reader] for reader in readers]
        assert [frame.event for frame in first] == ["text_delta", "model_replied", "run_finished"]
        assert others == [first, first]


async def test_a_server_that_stops_ends_its_streams_and_leaves_the_run(tmp_path: Path):
    provider = FunctionProvider(lambda _: say("late"), delay_s=60)
    async with bench(tmp_path, provider) as b, aiohttp.ClientSession() as session:
        async with serve(b) as client:
            id = (await client.post("/api/runs", QUESTION)).json["id"]
            reader = Client(url=client.url, session=session).stream(f"/api/runs/{id}/events")
            frames = await reader.__aenter__()
            await frames.until("model_requested")
        assert [frame async for frame in frames] == [], "the stream ended as a whole"
        await reader.__aexit__(None, None, None)
        assert (await b.service.row(id)).status == "running", "it goes on at the next start"
        await b.service.cancel(id)


def stored(reasoning: Reasoning | None, text: str = "x") -> StoredEvent:
    event = ModelReplied(
        step=1, ordinal=0, message=Message(role="assistant", text=text), reasoning=reasoning
    )
    return StoredEvent(run_id="r", seq=4, at="T", type="model_replied", payload=encode(event))


def test_an_event_without_thinking_goes_out_as_it_lies_in_the_log():
    event = stored(None, text='"reasoning":{"text":"no"}')
    assert json.loads(shown(event, show_reasoning=False)) == json.loads(event.json())
    assert shown(stored(None), show_reasoning=False) == stored(None).json()


def test_thinking_with_odd_characters_is_hidden_too():
    event = stored(Reasoning(text="a\ud800"), text="b\ud800")
    fields = json.loads(shown(event, show_reasoning=False))
    assert fields["reasoning"] == {"hidden": True}
    assert fields["message"]["text"] == "b\ud800"
    assert fields["seq"] == 4
