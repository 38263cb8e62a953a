"""Runs for tests of the page, as frames: events without their header, live pieces, delays."""

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class Frame:
    fields: Json
    delay_s: float = 0.0
    live: bool = False
    place: str = ""
    """Not an event: the run stands still here while the test holds this name."""
    approval: "Approval | None" = None
    """Not an event: the run asks, waits for a person, and goes on as they decide."""
    child: "Child | None" = None
    """Not an event: the call's child run is played to its end."""


@dataclass
class Approval:
    call: Json
    reason: str
    requests: list[Json]
    after: dict[str, "Scene"]
    """What comes then, by decision: approved, edited, denied, timed_out."""
    expires_in_s: float = 3_600.0
    decided: str | None = None
    """In a run of the past: how it was decided."""
    edited_to: Json | None = None


@dataclass
class Child:
    id: str
    call: str
    scene: "Scene"
    question: str


@dataclass
class Scene:
    frames: list[Frame] = field(default_factory=list[Frame])

    def event(self, type: str, delay_s: float = 0.0, **fields: Any) -> "Scene":
        self.frames.append(Frame({"type": type, **fields}, delay_s))
        return self

    def live(self, type: str, delay_s: float = 0.0, **fields: Any) -> "Scene":
        self.frames.append(Frame({"type": type, **fields}, delay_s, live=True))
        return self

    def place(self, name: str) -> "Scene":
        """A place where the test can hold the run (`MockApi.held`)."""
        self.frames.append(Frame({}, place=name))
        return self

    def approval(self, call: Json, *, reason: str, requests: list[Json], **more: Any) -> "Scene":
        self.frames.append(
            Frame({}, approval=Approval(call=call, reason=reason, requests=requests, **more))
        )
        return self

    def child(self, id: str, call: str, scene: "Scene", *, question: str) -> "Scene":
        child = Child(id=id, call=call, scene=scene, question=question)
        self.frames.append(Frame({}, child=child))
        return self

    def start(
        self,
        *,
        max_steps: int = 12,
        tools: tuple[str, ...] = (
            "search_knowledge_base",
            "read_document",
            "calculate",
            "get_current_datetime",
            "web_search",
        ),
        system: str = "…",
        parent: str | None = None,
    ) -> "Scene":
        self.event(
            "run_started",
            versions={"strategy": "assistant@1", "scheduler": "1", "context": "1"},
            permissions={"knowledge": [], "web": False},
            parent=parent,
            today="2026-11-30",
        )
        return self.event(
            "prompt_built", system=system, examples=[], tools=list(tools), max_steps=max_steps
        )

    def leaves(
        self,
        n: int,
        host: str,
        path: str,
        *,
        why: str,
        method: str = "GET",
        bytes_out: int | None = None,
        bytes_in: int = 18_211,
        status: int | None = 200,
        sent: bool = True,
        delay_s: float = 0.0,
    ) -> "Scene":
        """One request and its end."""
        self.event(
            "egress_started",
            n=n,
            method=method,
            host=host,
            path=path,
            bytes_out=len(path) if bytes_out is None else bytes_out,
            why=why,
            permission="web",
        )
        return self.event(
            "egress_finished", delay_s, n=n, status=status, bytes_in=bytes_in, sent=sent
        )

    def step(self, n: int, delay_s: float = 0.0) -> "Scene":
        self.event("step_started", delay_s, step=n, remaining=12 - n)
        return self.event(
            "model_requested",
            step=n,
            purpose="loop",
            ordinal=n - 1,
            view_digest="0" * 64,
            tools_digest="1" * 64,
            window=40960,
        )

    def reply(
        self, n: int, *calls: Json, text: str = "", delay_s: float = 0.0, **more: Any
    ) -> "Scene":
        message = {"role": "assistant", "text": text, "tool_calls": list(calls)}
        fields: Json = {
            "purpose": "loop",
            "ordinal": n - 1,
            "message": message,
            "reasoning": None,
            "usage": {"input_tokens": 820, "output_tokens": 96},
            "finish_reason": "tool_calls" if calls else "stop",
            "recovered_from": None,
            "tool_mode": "native",
            "repairs": [],
        }
        return self.event("model_replied", delay_s, step=n, **(fields | more))

    def call_starts(self, made: Json, *, network: bool = False, delay_s: float = 0.0) -> "Scene":
        return self.event("tool_started", delay_s, call=made, effect="read", network=network)

    def call_ends(self, made: Json, result: str, *, delay_s: float = 0.0, **more: Any) -> "Scene":
        fields: Json = {
            "is_error": False,
            "blocked": False,
            "network": False,
            "duration_ms": 12,
            "truncated_to": None,
            "coerced": [],
            "sources": [],
            "from_memory": False,
        }
        return self.event("tool_finished", delay_s, call=made, result=result, **(fields | more))

    def finish(self, answer: str, *, delay_s: float = 0.0, **more: Any) -> "Scene":
        fields: Json = {
            "status": "complete",
            "reason": None,
            "explanation": "",
            "sources": [],
            "unsupported": [],
        }
        return self.event("run_finished", delay_s, answer=answer, **(fields | more))


def call(id: str, name: str, /, **arguments: Any) -> Json:
    return {"id": id, "name": name, "arguments": arguments}


def document(n: int, title: str, quote: str, **more: Any) -> Json:
    return {"n": n, "kind": "document", "title": title, "file_id": f"f{n}", "quote": quote} | more


LEAVE = "Every employee has 31 days of paid leave in each calendar year."
CARRY = "Up to five days may be carried over until the end of March."
POLICY_ANSWER = (
    "Every employee has **31 days** of paid leave a year [1]. Up to five of them may be carried "
    "over until the end of March [2].\n\n"
    "| Kind | Days |\n|---|---:|\n| Paid leave | 31 |\n| Carried over, at most | 5 |\n\n"
    "The statutory minimum is lower; see [the ministry's page](https://example.org/leave)."
)


def policy_scene(*, pace_s: float = 0.0) -> Scene:
    """Two reads side by side, a web search that leaves, a blocked call, an answer with sources.

    Places: `begun`, before its first step; `answer`, before its last.
    """
    search = call("c1", "search_knowledge_base", query="paid leave days per year")
    clock = call("c2", "get_current_datetime")
    web = call("c3", "web_search", query="statutory leave 2026")
    shell = call("c4", "run_command", command="curl https://example.org")
    sources = [
        document(1, "handbook.md · Leave", LEAVE),
        document(2, "handbook.md · Carrying leave over", CARRY),
    ]
    page = {
        "n": 3,
        "kind": "web",
        "title": "Statutory leave 2026",
        "url": "https://example.org/leave",
        "quote": "The statutory minimum is 24 days.",
    }
    scene = Scene().start().place("begun").step(1, pace_s)
    for _ in range(4):
        scene.live("reasoning_delta", pace_s)
    scene.reply(1, search, clock, delay_s=pace_s, reasoning={"hidden": True})
    scene.call_starts(search, delay_s=pace_s).call_starts(clock)
    scene.call_ends(clock, "2026-11-30T14:05:00+01:00", duration_ms=1, delay_s=pace_s)
    scene.call_ends(
        search,
        f"[1] handbook.md · Leave\n{LEAVE}\n\n[2] handbook.md · Carrying leave over\n{CARRY}",
        sources=sources,
        coerced=["k: '5' became 5."],
        delay_s=pace_s,
    )
    scene.step(2, pace_s).reply(2, web, shell, delay_s=pace_s)
    scene.call_starts(web, network=True)
    scene.leaves(
        1,
        "html.duckduckgo.com",
        "/html/?q=statutory+leave+2026",
        why="web_search",
        bytes_out=64,
        delay_s=pace_s,
    )
    scene.call_ends(web, "3 results", network=True, duration_ms=412, sources=[page])
    scene.call_ends(
        shell,
        "run_command does not exist in this run. Use one of: search_knowledge_base, …",
        is_error=True,
        blocked=True,
        duration_ms=0,
    )
    scene.place("answer").step(3, pace_s)
    for word in POLICY_ANSWER.split(" "):
        scene.live("text_delta", pace_s / 10, text=word + " ")
    scene.reply(3, text=POLICY_ANSWER, delay_s=pace_s)
    cited = [source | {"cited": True, "supported": True} for source in sources]
    return scene.finish(
        POLICY_ANSWER,
        explanation="The model answered with two cited sources.",
        sources=[*cited, page | {"cited": False, "supported": None}],
    )


def plain_scene(answer: str = "391") -> Scene:
    sum_ = call("c1", "calculate", expression="17*23")
    scene = Scene().start().step(1).reply(1, sum_).call_starts(sum_).call_ends(sum_, "391")
    return scene.step(2).reply(2, text=answer).finish(answer, explanation="The model answered.")


def endless_scene() -> Scene:
    """Thinks and writes until it is stopped. Place: `thinking`, before the first word."""
    scene = Scene().start().step(1)
    for _ in range(40):
        scene.live("reasoning_delta", 0.02)
    scene.place("thinking")
    for at in range(5_000):
        scene.live("text_delta", 0.02, text=f"word{at} ")
    return scene


def long_scene(events: int) -> Scene:
    """A finished run of about `events` events."""
    scene = Scene().start(max_steps=events)
    for n in range(1, (events - 3) // 5 + 1):
        made = call(f"c{n}", "read_document", name=f"part-{n}.md", offset=n * 100)
        scene.step(n).reply(n, made).call_starts(made)
        scene.call_ends(made, f"Part {n}: " + "lorem ipsum dolor sit amet " * 6)
    return scene.finish("All parts were read.", explanation="The model answered.")
