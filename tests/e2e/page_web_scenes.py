"""Runs on the web for tests of the page: approvals, research with child runs, what left."""

from collections.abc import Mapping
from typing import Any

from tests.e2e.page_mock_web import TIMED_OUT
from tests.e2e.page_scenes import Json, Scene, call

LITE = "https://lite.duckduckgo.com/lite/"
QUERY = "statutory minimum leave 2026"
EDITED = "minimum annual leave law"
REASON = "Each search query is shown before it leaves."
PRIVATE = (
    "This run has read the confidential knowledge base 'contracts'; this may carry something of it "
    "out."
)
WEB_ANSWER = "The statutory minimum is **24 days** [1], and most contracts give more [2]."


def web_source(n: int, title: str, url: str, quote: str, **more: Any) -> Json:
    return {"n": n, "kind": "web", "title": title, "url": url, "quote": quote} | more


MINISTRY = web_source(
    1,
    "Paid leave: the law",
    "https://ministry.example.org/leave",
    "The statutory minimum is 24 working days in each calendar year.",
)
SURVEY = web_source(
    2,
    "How much leave do contracts give? A survey of 4,000 of them",
    "https://bücher.example/survey?year=2026",
    "Nine in ten contracts give 28 days or more.",
)
FORUM = web_source(
    3, "Leave question — forum", "https://forum.example.net/t/881", "I think it was 20 days?"
)


def search_request(query: str = QUERY) -> Json:
    body = "q=" + query.replace(" ", "+") + "&kl="
    return {"method": "POST", "url": LITE, "host": "lite.duckduckgo.com", "body": body}


def page_request(url: str) -> Json:
    return {"method": "GET", "url": url, "body": ""}


def searched(made: Json, n: int = 1) -> Scene:
    scene = Scene().call_starts(made, network=True)
    scene.leaves(n, "lite.duckduckgo.com", "/lite/", why="web_search", method="POST", bytes_out=43)
    sources = [MINISTRY, SURVEY, FORUM]
    return scene.call_ends(
        made, "[1] Paid leave: the law …", network=True, duration_ms=412, sources=sources
    )


def refused(made: Json, text: str) -> Scene:
    return Scene().call_ends(made, text, is_error=True, blocked=True, duration_ms=0)


def decisions(made: Json, n: int = 1) -> Mapping[str, Scene]:
    return {
        "approved": searched(made, n),
        "edited": searched(made, n),
        "denied": refused(made, "denied: a person refused this call."),
        "timed_out": refused(made, f"timed_out: {TIMED_OUT}"),
    }


def asking_scene(
    *,
    made: Json | None = None,
    requests: list[Json] | None = None,
    reason: str = REASON,
    **more: Any,
) -> Scene:
    """One search that waits for a person, then the answer."""
    made = made or call("s1", "web_search", query=QUERY)
    scene = Scene().start().step(1).reply(1, made)
    scene.approval(
        made,
        reason=reason,
        requests=requests or [search_request()],
        after=dict(decisions(made)),
        **more,
    )
    cited = [MINISTRY | {"cited": True, "supported": None}]
    answer = "The statutory minimum is 24 days [1]."
    scene.step(2).reply(2, text=answer)
    return scene.finish(answer, explanation="The model answered.", sources=cited)


def decided_scene(decision: str, *, edited_to: Json | None = None) -> Scene:
    """A run of the past whose one search was decided on."""
    return asking_scene(decided=decision, edited_to=edited_to)


def expired_scene() -> Scene:
    """Stopped before anybody had decided."""
    made = call("s1", "web_search", query=QUERY)
    scene = Scene().start().step(1).reply(1, made)
    asked: Json = {"call": made, "reason": REASON, "sha256": "a" * 64}
    asked |= {"expires_at": "2026-11-30T15:00:00Z", "requests": [search_request()], "preview": ""}
    scene.event("approval_requested", **asked).event("run_waiting", reason="approval")
    decided: Json = {"call": "s1", "decision": "expired", "arguments": None, "by": None}
    scene.event("approval_decided", **decided)
    return scene.finish(
        "", status="cancelled", reason="cancelled_by_user", explanation="You stopped the run."
    )


def reading_scene(*, asks: bool = False, place: str = "") -> Scene:
    """What a research child does: one search, two pages side by side, one that is refused."""
    search = call("c1", "web_search", query=QUERY)
    pages = [
        call("c2", "visit_webpage", url=str(MINISTRY["url"])),
        call("c3", "visit_webpage", url="https://bücher.example/survey?year=2026"),
    ]
    walled = call("c4", "visit_webpage", url="https://paywall.example.com/leave")
    inside = call("c5", "visit_webpage", url="http://169.254.169.254/latest/meta-data/")
    tools = ("web_search", "visit_webpage", "final_answer")
    scene = Scene().start(max_steps=15, tools=tools).step(1).reply(1, search)
    if asks:
        scene.approval(
            search, reason=REASON, requests=[search_request()], after=dict(decisions(search))
        )
    else:
        scene.frames += searched(search).frames
    scene.step(2).reply(2, *pages)
    for page in pages:
        scene.call_starts(page, network=True)
    if place:
        scene.place(place)
    scene.leaves(2, "ministry.example.org", "/leave", why="visit_webpage", bytes_in=48_113)
    scene.leaves(3, "xn--bcher-kva.example", "/survey?year=2026", why="visit_webpage")
    for page, source in zip(pages, (MINISTRY, SURVEY), strict=True):
        scene.call_ends(page, "…", network=True, duration_ms=690, sources=[source])
    scene.step(3).reply(3, walled, inside)
    scene.call_starts(walled, network=True)
    scene.leaves(
        4, "paywall.example.com", "/leave", why="visit_webpage", sent=False, status=None, bytes_in=0
    )
    scene.call_ends(walled, "paywall.example.com does not answer.", is_error=True)
    scene.call_ends(
        inside,
        "http://169.254.169.254/ is an address of this machine's network; it was not asked.",
        is_error=True,
        blocked=True,
        duration_ms=0,
    )
    scene.step(4).reply(4, text=WEB_ANSWER)
    return scene.finish(
        WEB_ANSWER,
        explanation="The model answered with two cited sources.",
        sources=[MINISTRY | {"cited": True}, SURVEY | {"cited": True}, FORUM],
    )


def research_scene(*, asks: bool = False, place: str = "", name: str = "child") -> Scene:
    """An answer by way of a child run, and a second child that failed.

    Place: `place`, while the first child reads its pages. `name`: its children are `child-1`, ….
    """
    first = call("r1", "web_research", query="How many days of leave does the law give?")
    second = call("r2", "web_research", query="Leave in collective agreements")
    tools = ("search_knowledge_base", "web_search", "visit_webpage", "web_research")
    scene = Scene().start(tools=tools).step(1).reply(1, first)
    scene.call_starts(first)
    reading = reading_scene(asks=asks, place=place)
    scene.child(f"{name}-1", "r1", reading, question="How many days of leave does the law give?")
    scene.call_ends(
        first,
        WEB_ANSWER,
        network=True,
        duration_ms=14_200,
        sources=[MINISTRY, SURVEY, FORUM],
        labels=["untrusted"],
    )
    scene.step(2).reply(2, second).call_starts(second)
    failed = Scene().start(max_steps=15, tools=tools).step(1)
    failed.finish(
        "", status="failed", reason="provider_error", explanation="The model's server went away."
    )
    scene.child(f"{name}-2", "r2", failed, question="Leave in collective agreements")
    scene.call_ends(second, "web_research ended failed.", is_error=True, duration_ms=2_100)
    scene.step(3).reply(3, text=WEB_ANSWER)
    return scene.finish(
        WEB_ANSWER,
        explanation="The model answered with two cited sources.",
        sources=[
            MINISTRY | {"cited": True, "supported": True},
            SURVEY | {"cited": True, "supported": None},
            FORUM,
        ],
    )


def no_web_scene(reason: str) -> Scene:
    """The web was asked for, and is not in the run."""
    system = f"You are a careful assistant.\n\nweb_search does not exist in this run: {reason}"
    scene = Scene().start(tools=("search_knowledge_base",), system=system)
    return scene.step(1).reply(1, text="From the documents alone: 31 days.").finish("31 days.")
