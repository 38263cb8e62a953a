"""C3: a run records its model, versions, every event, failures and how it ended."""

from pathlib import Path

from inglenook.errors import ProviderError
from inglenook.events import RunFinished, RunStarted
from inglenook.messages import Message
from tests.support import EchoTool, FunctionProvider, bench, call, replies, say


async def test_a_run_names_its_model_and_versions(tmp_path: Path):
    async with bench(tmp_path, replies(say("ok"))) as b:
        run = await b.run()
        [started] = [e for e in await b.service.events(run["id"]) if isinstance(e, RunStarted)]
        assert started.model == "m"
        assert run["versions"] == {
            "strategy": "assistant@1",
            "scheduler": "scheduler@1",
            "context": "compacting@2",
        }
        assert run["usage"] == {
            "input_tokens": 10,
            "output_tokens": 5,
            "steps": 1,
            "tool_calls": 0,
        }


async def test_a_failed_run_is_recorded_as_failed_with_the_reason(tmp_path: Path):
    def fail(_: object) -> Message:
        raise ProviderError("http://127.0.0.1:1 does not answer; is the model server running?")

    async with bench(tmp_path, FunctionProvider(fail)) as b:
        run = await b.run()
        assert (run["status"], run["reason"]) == ("failed", "provider_error")
        assert "is the model server running?" in run["explanation"]


async def test_a_fault_of_our_own_ends_the_run_in_one_sentence(tmp_path: Path):
    def fail(_: object) -> Message:
        raise KeyError("secret detail")

    async with bench(tmp_path, FunctionProvider(fail)) as b:
        run = await b.run()
        assert (run["status"], run["reason"]) == ("failed", "internal_error")
        assert "secret detail" not in run["explanation"]


async def test_the_end_is_an_event_like_every_other(tmp_path: Path):
    provider = replies(say("", call("echo", text="x")), say("ok"))
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        run = await b.run()
        last = (await b.service.events(run["id"]))[-1]
        assert isinstance(last, RunFinished)
        assert (last.status, last.answer) == (run["status"], run["answer"])
