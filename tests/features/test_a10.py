"""A10: six steps and no more; over it the last content comes back with `truncated: true`."""

from pathlib import Path

from tests.api.serving import serve
from tests.support import EchoTool, FunctionProvider, bench, call, replies, results, say

BODY = {"model": "m", "messages": [{"role": "user", "content": "count"}]}


async def test_a_model_that_never_answers_is_stopped_after_six_steps(tmp_path: Path):
    provider = FunctionProvider(
        lambda view: say(
            f"I have counted to {results(view)}.", call("calculate", text=str(results(view)))
        )
    )
    calculate = EchoTool("calculate")
    async with bench(tmp_path, provider, tools=[calculate]) as b, serve(b) as client:
        answer = await client.post("/agent/run", BODY)
    assert answer.status == 200
    got = answer.json
    assert got["truncated"] is True
    assert (got["status"], got["reason"]) == ("incomplete", "step_limit")
    assert got["answer"] == "I have counted to 5."
    assert len(provider.views) == 6
    assert [entry["step"] for entry in got["trace"]] == [1, 2, 3, 4, 5, 6]
    assert calculate.calls == ["0", "1", "2", "3", "4", "5"]


async def test_an_answer_at_the_sixth_step_is_whole(tmp_path: Path):
    provider = FunctionProvider(
        lambda view: (
            say("Done: 5.")
            if results(view) == 5
            else say("", call("calculate", text=str(results(view))))
        )
    )
    async with (
        bench(tmp_path, provider, tools=[EchoTool("calculate")]) as b,
        serve(b) as client,
    ):
        got = (await client.post("/agent/run", BODY)).json
    assert (got["truncated"], got["status"], got["answer"]) == (False, "complete", "Done: 5.")
    assert len(provider.views) == 6


async def test_another_incomplete_end_is_not_called_truncated(tmp_path: Path):
    async with bench(tmp_path, replies(say(""))) as b, serve(b) as client:
        got = (await client.post("/agent/run", BODY)).json
    assert (got["truncated"], got["reason"]) == (False, "empty_model_reply")
    assert got["answer"] == ""
