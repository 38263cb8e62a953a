"""What a request gets of what it asks for, and that it loosens nothing of the operator's."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from inglenook.events import PromptBuilt, ToolFinished
from inglenook.run_request import ApprovalMode, ApprovalRules, permissions_of
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


@pytest.mark.parametrize("knowledge", [("kb",), ("kb", "secret")])
async def test_knowledge_bases_leave_the_web_until_one_is_read(
    tmp_path: Path, knowledge: tuple[str, ...]
):
    assert await tools_of(tmp_path, web=True, knowledge=knowledge) == (
        ("web_search", "web_research", "read_result"),
        ["x"],
    )


async def test_a_request_that_blocks_the_web_has_none(tmp_path: Path):
    assert await tools_of(tmp_path, web=True, approvals={"web_search": "block"}) == ((), [])


def test_an_approval_of_something_unknown_is_refused():
    with pytest.raises(ValidationError):
        ask("?", approvals={"nope": "allow"})


MODES: tuple[ApprovalMode, ...] = ("allow", "ask", "block")


@pytest.mark.parametrize("operator", MODES)
@pytest.mark.parametrize("asked", [*MODES, None])
def test_a_request_tightens_and_never_loosens(operator: ApprovalMode, asked: ApprovalMode | None):
    rules = ApprovalRules(web_search=operator, confidential=operator)
    approvals = {"web_search": asked, "confidential": asked} if asked else {}
    got = permissions_of(ask("?", web=True, approvals=approvals), rules)
    wanted = max(operator, asked or "allow", key=MODES.index)
    assert (got.web_search, got.confidential) == (wanted, wanted)
    assert got.web is (wanted != "block")
    child = got.of_child()
    assert (child.web_search, child.confidential, child.web) == (wanted, wanted, got.web)


def test_a_request_may_forbid_writing():
    assert permissions_of(ask("?"), ApprovalRules()).writes
    assert not permissions_of(ask("?", approvals={"write": "block"}), ApprovalRules()).writes
