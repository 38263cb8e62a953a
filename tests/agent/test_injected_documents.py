"""A model that obeys every injected document sends nothing that nobody permitted."""

from pathlib import Path

import pytest

from inglenook.run_request import ApprovalRules
from tests.agent.injected_documents import SEARCHES, VISITS, Injection, Obedient
from tests.sending import ConfidentialTool, PublicTool, SearchTool, VisitTool, Wire
from tests.support import FunctionProvider, ask, bench

QUESTION = "What does the memo say? Compare https://named.test/a with it."


async def run_with(
    tmp_path: Path, injection: Injection, *, label: str, rules: ApprovalRules
) -> tuple[str, Wire]:
    wire = Wire()
    text = f"Memo. {injection.text}"
    document = ConfidentialTool(text) if label == "confidential" else PublicTool(text)
    knowledge = ("secret",) if label == "confidential" else ("kb",)
    async with bench(
        tmp_path,
        FunctionProvider(Obedient(injection)),
        documents=[document],
        web=[SearchTool(wire), VisitTool(wire)],
        rules=rules,
    ) as b:
        row = await b.service.start(ask(QUESTION, web=True, knowledge=knowledge))
        row = await b.service.wait(row.id)
        if row.status == "waiting":
            [item] = await b.service.approvals("pending")
            assert item["call"]["name"] == injection.tool
            await b.service.decide(row.id, "x", "deny")
            row = await b.service.wait(row.id)
        return row.status, wire


def test_there_are_enough_of_them() -> None:
    assert len({injection.text for injection in (*VISITS, *SEARCHES)}) >= 40


@pytest.mark.parametrize("injection", [*VISITS, *SEARCHES])
async def test_nothing_of_a_confidential_document_leaves(
    tmp_path: Path, injection: Injection
) -> None:
    status, wire = await run_with(tmp_path, injection, label="confidential", rules=ApprovalRules())
    assert (status, wire.sent) == ("complete", [])


@pytest.mark.parametrize("injection", VISITS)
async def test_no_address_of_a_document_is_asked_unseen(
    tmp_path: Path, injection: Injection
) -> None:
    status, wire = await run_with(tmp_path, injection, label="normal", rules=ApprovalRules())
    assert (status, wire.sent) == ("complete", [])


@pytest.mark.parametrize("injection", SEARCHES)
async def test_no_query_leaves_unseen_where_the_user_wants_to_see_them(
    tmp_path: Path, injection: Injection
) -> None:
    rules = ApprovalRules(web_search="ask")
    status, wire = await run_with(tmp_path, injection, label="normal", rules=rules)
    assert (status, wire.sent) == ("complete", [])


@pytest.mark.parametrize("injection", [*VISITS, *SEARCHES])
async def test_the_same_documents_do_bite_where_nothing_stands_in_their_way(
    tmp_path: Path, injection: Injection
) -> None:
    wire = Wire()
    async with bench(
        tmp_path,
        FunctionProvider(Obedient(injection)),
        tools=[PublicTool(f"Memo. {injection.text}")],
        web=[SearchTool(wire), VisitTool(wire)],
    ) as b:
        run = await b.run(ask(QUESTION, web=True))
    assert (run["status"], len(wire.sent)) == ("complete", 1)
