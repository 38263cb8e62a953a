"""What may leave, what a person must see first: the whole table."""

from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

import pytest
from pydantic import BaseModel

from inglenook.agent.labels import Origin, Reading
from inglenook.agent.policy import Allow, Ask, Decision, Deny, decide
from inglenook.egress import OutgoingRequest
from inglenook.events import RunStarted, ToolFinished, Versions
from inglenook.messages import Label, Message, Source, ToolCall
from inglenook.run_request import ApprovalMode, RunPermissions, RunRequest

URL = "https://a.test/page"


class Query(BaseModel):
    query: str = "otters"


class Address(BaseModel):
    url: str = URL


def reading(origin: Origin = "unknown", labels: tuple[Label, ...] = ()) -> Reading:
    read = Reading()
    text = f"look at {URL}" if origin == "user" else "look"
    read.begin(
        RunStarted(
            request=RunRequest(model="m", messages=(Message(role="user", text=text),)),
            model="m",
            versions=Versions(strategy="", scheduler="", context=""),
            permissions=RunPermissions(),
            today="2026-01-01",
            labels=labels,
        )
    )
    tool = {"search": "web_search", "page": "visit_webpage"}.get(origin)
    if tool:
        read.note(
            ToolFinished(
                call=ToolCall(id="1", name=tool, arguments={}),
                result=f"[a link]({URL})",
                sources=(Source(n=1, kind="web", title="t", url=URL),) if tool[0] == "w" else (),
                labels=("untrusted",),
            )
        )
    return read


def judge(tool: str, read: Reading, *, can_tell: bool = True, **permissions: object) -> Decision:
    arguments = Query() if tool == "web_search" else Address()
    request = OutgoingRequest(method="GET", url=URL)
    return decide(
        ToolCall(id="c", name=tool, arguments=arguments.model_dump()),
        arguments,
        (request,) if can_tell else None,
        read,
        RunPermissions(**({"web": True} | permissions)),  # pyright: ignore[reportArgumentType]
    )


Kind = Literal["query", "page"]
MODES: tuple[ApprovalMode, ...] = get_args(ApprovalMode)
ORIGINS: tuple[Origin, ...] = get_args(Origin)


@dataclass(frozen=True)
class Row:
    kind: Kind
    origin: Origin
    private: bool
    knowledge: bool
    web_search: ApprovalMode
    confidential: ApprovalMode


TABLE = [
    Row(*values)
    for values in product(get_args(Kind), ORIGINS, (False, True), (False, True), MODES, MODES)
]


def wanted(row: Row) -> type[Decision]:
    """The rules of the data boundary, written down once more in other words."""
    if row.private and row.confidential == "block":
        return Deny
    if row.kind == "query" and row.web_search == "block":
        return Deny
    if row.private and row.confidential == "ask":
        return Ask
    if row.kind == "query":
        return Ask if row.web_search == "ask" else Allow
    is_strange = row.origin == "unknown"
    return Ask if is_strange and (row.knowledge or row.web_search == "ask") else Allow


def test_every_row_of_the_table_is_judged_by_the_rules() -> None:
    assert len(TABLE) == 2 * 4 * 2 * 2 * 3 * 3
    for row in TABLE:
        decision = judge(
            "web_search" if row.kind == "query" else "visit_webpage",
            reading(row.origin, ("private",) if row.private else ()),
            knowledge=("kb",) if row.knowledge else (),
            web_search=row.web_search,
            confidential=row.confidential,
        )
        assert isinstance(decision, wanted(row)), row


@pytest.mark.parametrize("row", TABLE)
def test_web_off_denies_all(row: Row) -> None:
    tool = "web_search" if row.kind == "query" else "visit_webpage"
    assert isinstance(judge(tool, reading(row.origin), web=False), Deny)


@pytest.mark.parametrize("name", ["fetch", "web_searches", "", "mcp_mail_send", "visit webpage"])
def test_a_tool_without_a_rule_sends_nothing(name: str) -> None:
    assert isinstance(judge(name, reading("user")), Deny)


@pytest.mark.parametrize("name", ["Web_Search", "functions.web_search", "WEB_SEARCH<|channel|>x"])
def test_a_tool_is_judged_by_the_name_it_is_found_by(name: str) -> None:
    assert isinstance(judge(name, reading(), web_search="ask"), Ask)


def test_what_cannot_be_shown_is_not_asked_for_but_denied() -> None:
    assert isinstance(judge("web_search", reading(), web_search="ask", can_tell=False), Deny)
    assert isinstance(judge("web_search", reading(), can_tell=False), Allow)


def test_a_call_that_sends_nothing_needs_nobody() -> None:
    private = reading(labels=("private",))
    call = ToolCall(id="c", name="visit_webpage", arguments={"url": URL})
    assert isinstance(decide(call, Address(), (), private, RunPermissions(web=True)), Allow)
    blocked = RunPermissions(web=True, confidential="block")
    assert isinstance(decide(call, Address(), (), private, blocked), Deny)


def test_the_reason_names_what_was_read() -> None:
    read = reading()
    read.note(
        ToolFinished(
            call=ToolCall(id="1", name="read_document", arguments={}),
            result="text",
            sources=(Source(n=1, kind="document", title="salaries.pdf"),),
            labels=("private",),
        )
    )
    decision = judge("web_search", read)
    assert isinstance(decision, Ask)
    assert "salaries.pdf" in decision.reason


def test_untrusted_text_alone_asks_nobody() -> None:
    assert isinstance(judge("web_search", reading(labels=("untrusted",))), Allow)
