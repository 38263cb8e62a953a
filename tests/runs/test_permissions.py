"""What a request may not have: the web beside confidential documents, or against its own word."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from inglenook.events import PromptBuilt, ToolFinished
from tests.support import EchoTool, ask, bench, call, replies, say


async def tools_of(tmp_path: Path, **fields: object) -> tuple[tuple[str, ...], list[str]]:
    web = EchoTool("web_search", open_world=True)
    provider = replies(say("", call("web_search", text="x")), say("ok"))
    async with bench(tmp_path, provider, web=[web]) as b:
        run = await b.run(ask("?", **fields))
        events = await b.service.events(run["id"])
        [prompt] = [e for e in events if isinstance(e, PromptBuilt)]
        [finished] = [e for e in events if isinstance(e, ToolFinished)]
        assert finished.blocked is (web.calls == [])
        return prompt.tools, web.calls


async def test_a_confidential_base_takes_the_web_away(tmp_path: Path):
    assert await tools_of(tmp_path, web=True, knowledge=("kb", "secret")) == ((), [])


async def test_other_bases_leave_it(tmp_path: Path):
    assert await tools_of(tmp_path, web=True, knowledge=("kb",)) == (
        ("web_search", "web_research", "read_result"),
        ["x"],
    )


async def test_a_request_that_blocks_the_web_has_none(tmp_path: Path):
    assert await tools_of(tmp_path, web=True, approvals={"web_search": "block"}) == ((), [])


def test_an_approval_of_something_unknown_is_refused():
    with pytest.raises(ValidationError):
        ask("?", approvals={"nope": "allow"})
