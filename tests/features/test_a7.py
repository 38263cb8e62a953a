"""A7: a reply without tool calls is the final answer; with calls it never is."""

from pathlib import Path

from tests.support import EchoTool, bench, call, replies, say


async def test_text_beside_a_call_is_not_the_answer(tmp_path: Path):
    provider = replies(say("Let me look.", call("echo", text="x")), say("It is x."))
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        run = await b.run()
        assert (run["answer"], len(provider.views)) == ("It is x.", 2)
