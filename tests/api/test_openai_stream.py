"""Events -> Chat Completions chunks: pure, so every rule of the rendering is one small test."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from inline_snapshot import snapshot

from inglenook.api.openai_stream import ChatStream, completion, has_answer
from inglenook.events import (
    ModelReplied,
    ModelRequested,
    ReasoningDelta,
    RunEvent,
    RunFinished,
    RunWaiting,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from inglenook.messages import Message, Reasoning, Source, ToolCall, Usage
from inglenook.store.base import RunRow

ROW = RunRow(
    id="run_1", session=None, parent=None, user=None, title="t", model="m", strategy="assistant@1",
    status="running", reason=None, explanation=None, created_at=datetime(2026, 11, 30, tzinfo=UTC),
    finished_at=None, owner=None, epoch=0, lease_until=None,
)  # fmt: skip
CALL = ToolCall(id="c1", name="search_knowledge_base", arguments={"query": "leave"})
FINISHED = RunFinished(
    status="complete", explanation="Answered after 1 step.", answer="31 days [1]."
)


def step(n: int) -> list[RunEvent]:
    return [
        StepStarted(step=n, remaining=9),
        ModelRequested(step=n, ordinal=n - 1, view_digest="v", tools_digest="t"),
    ]


def replied(text: str, *calls: ToolCall) -> ModelReplied:
    return ModelReplied(
        step=1,
        ordinal=0,
        message=Message(role="assistant", text=text, tool_calls=calls),
        usage=Usage(input_tokens=3, output_tokens=2),
    )


def tool_finished(call: ToolCall, *sources: Source, **fields: Any) -> ToolFinished:
    return ToolFinished(call=call, result="Every employee has 31 days.", sources=sources, **fields)


def document(n: int, title: str = "handbook.md") -> Source:
    return Source(n=n, kind="document", title=title, file_id=f"f{n}", quote=f"passage {n}")


def chunks(
    *frames: RunEvent | TextDelta, show_reasoning: bool = False, include_usage: bool = False
) -> list[dict[str, Any]]:
    stream = ChatStream(ROW, show_reasoning=show_reasoning, include_usage=include_usage)
    return stream.opening() + [chunk for frame in frames for chunk in stream.of(frame)]


def told(chunk: dict[str, Any]) -> dict[str, Any]:
    """A chunk without its head and without an empty delta."""
    fields = {
        name: chunk[name] for name in chunk if name not in ("id", "object", "created", "model")
    }
    if fields.get("choices") == [{"index": 0, "delta": {}, "finish_reason": None}]:
        del fields["choices"]
    return fields


def sources_of(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    events = [chunk["event"] for chunk in chunks if "event" in chunk]
    return [event["data"] for event in events if event["type"] == "source"]


def text_of(told_chunks: list[dict[str, Any]]) -> str:
    deltas = [choice["delta"] for chunk in told_chunks for choice in chunk.get("choices", [])]
    return "".join(delta.get("content", "") for delta in deltas)


WHOLE: list[RunEvent | TextDelta] = [
    *step(1),
    ReasoningDelta("I should look."),
    TextDelta("Let me look."),
    replied("Let me look.", CALL),
    ToolStarted(call=CALL, effect="read", network=False),
    tool_finished(CALL, document(1)),
    *step(2),
    TextDelta("31 days"),
    TextDelta(" [1]."),
    replied("31 days [1]."),
    FINISHED,
]


def test_a_whole_run_chunk_by_chunk():
    got = chunks(*WHOLE, include_usage=True)
    assert {(c["id"], c["object"], c["created"], c["model"]) for c in got} == {
        ("chatcmpl-run_1", "chat.completion.chunk", 1795996800, "m")
    }
    assert [told(chunk) for chunk in got] == snapshot(
        [
            {
                "choices": [
                    {
                        "index": 0,
                        "delta": {"role": "assistant", "content": ""},
                        "finish_reason": None,
                    }
                ]
            },
            {
                "event": {
                    "type": "status",
                    "data": {
                        "action": "model",
                        "description": "Step 1: the model works",
                        "done": False,
                    },
                }
            },
            {
                "choices": [
                    {"index": 0, "delta": {"content": "Let me look."}, "finish_reason": None}
                ]
            },
            {
                "type": "response.output_item.added",
                "item": {
                    "type": "function_call",
                    "id": "fc_c1",
                    "call_id": "c1",
                    "name": "search_knowledge_base",
                    "arguments": '{"query": "leave"}',
                    "status": "in_progress",
                },
            },
            {
                "type": "response.output_item.added",
                "item": {
                    "type": "function_call",
                    "id": "fc_c1",
                    "call_id": "c1",
                    "name": "search_knowledge_base",
                    "arguments": '{"query": "leave"}',
                    "status": "completed",
                },
            },
            {
                "type": "response.output_item.added",
                "item": {
                    "type": "function_call_output",
                    "id": "fco_c1",
                    "call_id": "c1",
                    "output": [{"type": "input_text", "text": "Every employee has 31 days."}],
                    "status": "completed",
                },
            },
            {
                "event": {
                    "type": "source",
                    "data": {
                        "source": {"id": "source-1", "name": "handbook.md"},
                        "document": ["passage 1"],
                        "metadata": [
                            {"source": "source-1", "name": "handbook.md", "file_id": "f1"}
                        ],
                    },
                }
            },
            {
                "event": {
                    "type": "status",
                    "data": {
                        "action": "model",
                        "description": "Step 2: the model works",
                        "done": False,
                    },
                }
            },
            {
                "choices": [
                    {
                        "index": 0,
                        "delta": {
                            "content": """\


31 days\
"""
                        },
                        "finish_reason": None,
                    }
                ]
            },
            {"choices": [{"index": 0, "delta": {"content": " [1]."}, "finish_reason": None}]},
            {
                "event": {
                    "type": "status",
                    "data": {
                        "action": "run",
                        "description": "Answered after 1 step.",
                        "done": True,
                    },
                }
            },
            {
                "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                "runtime": {
                    "run_id": "run_1",
                    "status": "complete",
                    "reason": None,
                    "explanation": "Answered after 1 step.",
                },
            },
            {
                "choices": [],
                "usage": {"prompt_tokens": 6, "completion_tokens": 4, "total_tokens": 10},
            },
        ]
    )


def test_thinking_is_streamed_only_where_it_may_be_shown():
    hidden, shown = chunks(*WHOLE), chunks(*WHOLE, show_reasoning=True)
    assert "I should look." not in json.dumps(hidden)
    [delta] = [
        choice["delta"]
        for chunk in shown
        for choice in chunk.get("choices", [])
        if "reasoning_content" in choice["delta"]
    ]
    assert delta == {"reasoning_content": "I should look."}


def test_no_chunk_ever_asks_the_client_to_run_a_tool():
    got = chunks(*WHOLE)
    assert "tool_calls" not in json.dumps(got)
    reasons = [choice["finish_reason"] for chunk in got for choice in chunk.get("choices", [])]
    assert [reason for reason in reasons if reason] == ["stop"]


def test_every_call_has_its_output_also_when_the_run_was_cut():
    other = ToolCall(id="c2", name="calculate", arguments={})
    cut = RunFinished(
        status="cancelled", reason="cancelled_by_user", explanation="Stopped.", answer="so far"
    )
    got = chunks(
        *step(1),
        replied("so far", CALL, other),
        ToolStarted(call=CALL, effect="read", network=False),
        ToolStarted(call=other, effect="read", network=False),
        tool_finished(other),
        cut,
    )
    items = [chunk["item"] for chunk in got if "item" in chunk]
    called = {item["call_id"] for item in items if item["type"] == "function_call"}
    answered = [item["call_id"] for item in items if item["type"] == "function_call_output"]
    assert called == {"c1", "c2"}
    assert answered == ["c2", "c1"]
    assert items[-1]["output"][0]["text"].startswith("The run ended before")


def test_a_blocked_call_is_shown_with_its_refusal():
    refused = ToolFinished(call=CALL, result="does not exist", is_error=True, blocked=True)
    items = [
        chunk["item"] for chunk in chunks(*step(1), replied("", CALL), refused) if "item" in chunk
    ]
    assert [item["type"] for item in items] == ["function_call", "function_call_output"]


def test_citations_come_in_the_order_of_their_numbers():
    other = ToolCall(id="c2", name="search_knowledge_base", arguments={})
    got = chunks(
        *step(1),
        replied("", CALL, other),
        tool_finished(other, document(3), document(4, "faq.md")),
        tool_finished(CALL, document(1), document(2)),
    )
    sources = [
        chunk["event"]["data"] for chunk in got if chunk.get("event", {}).get("type") == "source"
    ]
    assert [source["document"] for source in sources] == [[f"passage {n}"] for n in (1, 2, 3, 4)]
    ids = [source["metadata"][0]["source"] for source in sources]
    names = [source["metadata"][0]["name"] for source in sources]
    assert len(set(ids)) == len(set(names)) == 4, "equal ones are merged and shift the numbers"
    assert names[0] == "handbook.md"


def test_a_web_source_carries_its_address():
    page = Source(n=1, kind="web", title="Leave", url="https://a.test/1")
    [chunk] = [
        c for c in chunks(tool_finished(CALL, page)) if c.get("event", {}).get("type") == "source"
    ]
    assert chunk["event"]["data"]["source"]["url"] == "https://a.test/1"


@pytest.mark.parametrize(
    ("live", "text", "shown"),
    [
        (["Hel", "lo"], "Hello", "Hello"),
        ([], "Hello", "Hello"),
        (["Hel"], "Hello", "Hello"),
        ([" Hello "], "Hello", " Hello "),
        (["llo"], "Hello", "llo\n\nHello"),
        (['<tool_call>{"name": "x"}'], "", '<tool_call>{"name": "x"}'),
    ],
)
def test_text_that_was_missed_live_comes_with_the_reply(live: list[str], text: str, shown: str):
    got = chunks(*step(1), *map(TextDelta, live), replied(text))
    assert text_of(got) == shown


def test_texts_of_two_steps_are_two_paragraphs():
    assert text_of(chunks(*WHOLE)) == "Let me look.\n\n31 days [1]."


GONE = RunFinished(status="failed", reason="provider_error", explanation="It is gone.", answer="x")
MUTE = RunFinished(status="incomplete", reason="empty_model_reply", explanation="It said nothing.")


@pytest.mark.parametrize("finished", [GONE, MUTE])
def test_a_run_without_an_answer_ends_in_an_error(finished: RunFinished):
    errors = [chunk["error"] for chunk in chunks(*step(1), finished) if "error" in chunk]
    assert errors == [
        {
            "message": finished.explanation,
            "type": "server_error",
            "param": None,
            "code": finished.reason,
        }
    ]


def test_an_incomplete_answer_is_kept_and_says_why_it_ended():
    cut = RunFinished(
        status="incomplete",
        reason="step_limit",
        explanation="It used all 6 steps.",
        answer="so far",
    )
    got = [told(chunk) for chunk in chunks(*step(1), TextDelta("so far"), replied("so far"), cut)]
    assert not [chunk for chunk in got if "error" in chunk]
    assert got[-2]["event"]["data"] == {
        "action": "run",
        "description": "It used all 6 steps.",
        "done": True,
    }
    assert got[-1]["runtime"]["reason"] == "step_limit"


def test_a_run_that_waits_says_so():
    [chunk] = chunks(RunWaiting(reason="needs_credential"))[1:]
    assert chunk["event"]["data"]["description"] == "Waiting: needs_credential"


def events_of(frames: list[RunEvent | TextDelta]) -> list[RunEvent]:
    return [frame for frame in frames if not isinstance(frame, TextDelta)]


def test_a_whole_run_as_one_completion():
    assert completion(ROW, events_of(WHOLE), show_reasoning=False) == snapshot(
        {
            "id": "chatcmpl-run_1",
            "object": "chat.completion",
            "created": 1795996800,
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": "31 days [1]."},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 6, "completion_tokens": 4, "total_tokens": 10},
            "runtime": {
                "run_id": "run_1",
                "status": "complete",
                "reason": None,
                "explanation": "Answered after 1 step.",
            },
        }
    )


def test_thinking_in_a_completion_only_where_it_may_be_shown():
    thought = replied("x").model_copy(update={"reasoning": Reasoning(text="hmm")})
    hidden = completion(ROW, [thought, FINISHED], show_reasoning=False)
    shown = completion(ROW, [thought, FINISHED], show_reasoning=True)
    assert "hmm" not in json.dumps(hidden)
    assert shown["choices"][0]["message"]["reasoning_content"] == "hmm"


def test_a_run_that_waits_has_no_answer():
    assert has_answer([FINISHED])
    assert not has_answer([RunWaiting(reason="needs_credential")])
