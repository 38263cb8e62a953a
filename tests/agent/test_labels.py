"""What a run has read, and where it has its addresses from."""

import pytest

from inglenook.agent.labels import Reading, same, urls_by_people, urls_in
from inglenook.agent.state import RunState
from inglenook.events import (
    ModelReplied,
    PromptBuilt,
    RunEvent,
    RunStarted,
    ToolFinished,
    Versions,
)
from inglenook.messages import Label, Message, Source, ToolCall
from inglenook.run_request import RunPermissions, RunRequest


def started(
    *messages: Message, labels: tuple[Label, ...] = (), parent: str | None = None
) -> RunStarted:
    return RunStarted(
        request=RunRequest(model="m", messages=messages or (Message(role="user", text="hi"),)),
        model="m",
        versions=Versions(strategy="", scheduler="", context=""),
        permissions=RunPermissions(),
        today="2026-01-01",
        labels=labels,
        parent=parent,
    )


def finished(
    id: str,
    name: str = "read_document",
    *,
    result: str = "",
    url: str | None = None,
    labels: tuple[Label, ...] = (),
    is_error: bool = False,
) -> ToolFinished:
    return ToolFinished(
        call=ToolCall(id=id, name=name, arguments={}),
        result=result,
        sources=(Source(n=1, kind="web", title="t", url=url),) if url else (),
        labels=labels,
        is_error=is_error,
    )


def begun(*messages: Message, **fields: object) -> Reading:
    reading = Reading()
    reading.begin(started(*messages, **fields))  # pyright: ignore[reportArgumentType]
    return reading


def state(*events: RunEvent) -> RunState:
    return RunState([started(), PromptBuilt(system="", tools=(), max_steps=5), *events])


def reply(*ids: str) -> ModelReplied:
    calls = tuple(ToolCall(id=id, name="read_document", arguments={}) for id in ids)
    return ModelReplied(step=1, ordinal=0, message=Message(role="assistant", tool_calls=calls))


def test_labels_grow_when_the_step_closes_and_never_between_its_calls() -> None:
    half = state(reply("1", "2"), finished("1", labels=("private",)))
    assert half.reading.labels == set()
    half.apply(finished("2", labels=("untrusted",)))
    assert half.reading.labels == {"private", "untrusted"}


def test_labels_never_shrink() -> None:
    run = state(reply("1"), finished("1", labels=("private",)), reply("2"), finished("2"))
    assert run.reading.is_private


def test_a_run_begins_with_what_its_conversation_or_parent_has_read() -> None:
    reading = begun(labels=("private",))
    assert reading.is_private
    assert "conversation" in reading.why_private


def test_a_users_addresses_are_known_and_a_models_are_not() -> None:
    reading = begun(
        Message(role="system", text="https://system.test/"),
        Message(role="user", text="See https://a.test/x, please; and lwn.net/Articles/1."),
        Message(role="assistant", text="I found https://evil.test/?d=1"),
    )
    assert reading.origin_of(["https://a.test/x"]) == "user"
    assert reading.origin_of(["https://lwn.net/Articles/1"]) == "user"
    assert reading.origin_of(["https://a.test/x?d=secret"]) == "unknown"
    assert reading.origin_of(["https://evil.test/?d=1"]) == "unknown"
    assert reading.origin_of(["https://system.test/"]) == "unknown"


def test_a_childs_task_is_a_models_text() -> None:
    reading = begun(Message(role="user", text="read https://a.test/"), parent="run_1")
    assert reading.origin_of(["https://a.test/"]) == "unknown"


def test_results_of_a_search_and_links_of_a_page_are_told_apart() -> None:
    reading = begun()
    reading.note(finished("1", "web_search", url="https://s.test/", labels=("untrusted",)))
    reading.note(
        finished("2", "visit_webpage", result="[next](https://p.test/2)", labels=("untrusted",))
    )
    assert reading.origin_of(["https://s.test/"]) == "search"
    assert reading.origin_of(["https://p.test/2"]) == "page"


def test_a_text_that_may_repeat_the_models_words_makes_no_address_known() -> None:
    told = "nothing found for https://evil.test/?d=secret"
    reading = begun()
    reading.note(finished("1", "web_search", result=told, labels=("untrusted",)))
    reading.note(finished("2", "web_research", result=told, labels=("untrusted",)))
    reading.note(finished("3", "visit_webpage", result=told, labels=("untrusted",), is_error=True))
    reading.note(finished("4", "read_document", result=told, labels=("private",)))
    assert reading.origin_of(["https://evil.test/?d=secret"]) == "unknown"


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("[a](https://x.test/a), [b](https://x.test/b).", ["https://x.test/a", "https://x.test/b"]),
        ('<https://x.test/a> "https://x.test/b"', ["https://x.test/a", "https://x.test/b"]),
        ("https://en.test/wiki/A_(b)!", ["https://en.test/wiki/A_(b)"]),
        ("(https://x.test/a?b=c;d)", ["https://x.test/a?b=c;d"]),
        ("HTTPS://X.test/ and ftp://x.test/", ["HTTPS://X.test/"]),
        ("https://bücher.test/ü。", ["https://bücher.test/ü。"]),
        ("no address", []),
    ],
)
def test_addresses_in_text(text: str, urls: list[str]) -> None:
    assert urls_in(text) == urls


def test_people_leave_the_scheme_out() -> None:
    assert urls_by_people("ask example.org/a, not me@example.org") == [
        "https://example.org/a",
        "http://example.org/a",
    ]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("https://a.test", "https://a.test/", True),
        ("https://A.TEST/x", "https://a.test/x", True),
        ("https://a.test:443/x#part", "https://a.test/x", True),
        ("https://a.test/X", "https://a.test/x", False),
        ("https://a.test/x?d=1", "https://a.test/x", False),
        ("http://a.test/", "https://a.test/", False),
        ("https://u@a.test/", "https://a.test/", False),
        ("https://a.test:8443/", "https://a.test/", False),
        ("https://d.a.test/", "https://a.test/", False),
        ("https://[bad/", "https://a.test/", False),
    ],
)
def test_addresses_are_the_same_only_if_they_ask_the_same(
    one: str, other: str, is_same: bool
) -> None:
    assert (same(one) == same(other)) is is_same
