"""What the scripted server says of the web: the ledger, the approvals, the engines' health."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote_plus, urlsplit

from tests.e2e.page_scenes import Approval, Frame, Json

DECISIONS = {"approve": "approved", "edit": "edited", "deny": "denied"}
TIMED_OUT = "Nobody decided in time; the call was not made."


def iso(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def ledger_of(logs: Mapping[str, Sequence[Json]]) -> list[Json]:
    """`GET /api/runs/{id}/egress`: run by run, one item a request with its end."""
    items: list[Json] = []
    for run_id, log in logs.items():
        ends = {event["n"]: event for event in log if event["type"] == "egress_finished"}
        for event in log:
            if event["type"] != "egress_started":
                continue
            names = ("n", "method", "host", "path", "bytes_out", "why", "permission")
            item: Json = {"run_id": run_id} | {name: event[name] for name in names}
            end = ends.get(event["n"])
            item |= {name: end and end[name] for name in ("status", "bytes_in", "sent")}
            if item["sent"] is False:
                item["bytes_out"] = 0
            items.append(item)
    return items


def approval_item(run_id: str, root_id: str, asked: Approval) -> Json:
    """One item of `GET /api/approvals`."""
    now = datetime.now(UTC)
    return {
        "run_id": run_id,
        "root_id": root_id,
        "call": asked.call,
        "reason": asked.reason,
        "preview": preview_of(asked.call["arguments"], asked.requests),
        "requests": asked.requests,
        "sha256": "a" * 64,
        "status": "pending",
        "created_at": iso(now),
        "expires_at": iso(now + timedelta(seconds=asked.expires_in_s)),
        "decided_at": None,
        "by": None,
    }


def requested(item: Json) -> Json:
    """The event of that item."""
    names = ("call", "reason", "sha256", "expires_at", "requests", "preview")
    return {"type": "approval_requested"} | {name: item[name] for name in names}


def decided(item: Json) -> Json:
    given = item.get("arguments")
    instead = edited_requests(item, given) if given else []
    return {
        "type": "approval_decided",
        "call": item["call"]["id"],
        "decision": item["status"],
        "arguments": given,
        "by": item["by"],
        "requests": instead,
        "preview": preview_of(given, instead) if given else "",
    }


def edited_requests(item: Json, given: Json) -> list[Json]:
    """What would be sent with other arguments."""
    was, now = (quote_plus(str(of.get("query", ""))) for of in (item["call"]["arguments"], given))

    def changed(request: Json) -> Json:
        return request | {name: request[name].replace(was, now) for name in ("url", "body")}

    return [changed(request) for request in item["requests"]]


def preview_of(given: Json, requests: Sequence[Json]) -> str:
    host = urlsplit(str(requests[0]["url"])).hostname
    return f"Asks {host} for {json.dumps(next(iter(given.values())), ensure_ascii=False)}."


def after(asked: Approval, item: Json) -> Iterable[Frame]:
    """What comes after the decision; a call that was edited goes on with the edited arguments."""
    scene = asked.after.get(item["status"])
    for frame in scene.frames if scene else ():
        made: Any = frame.fields.get("call")
        if made and made["id"] == asked.call["id"] and item.get("arguments"):
            call = asked.call | {"arguments": item["arguments"]}
            yield Frame(frame.fields | {"call": call}, frame.delay_s)
        else:
            yield frame


def default_web() -> dict[str, Any]:
    now = datetime.now(UTC)
    return {
        "engines": [
            {
                "name": "duckduckgo",
                "host": "html.duckduckgo.com",
                "state": "blocked",
                "since": iso(now - timedelta(minutes=4)),
                "retry_at": iso(now + timedelta(minutes=6)),
                "detail": "It asked whether a person is searching.",
            },
            {
                "name": "searxng",
                "host": "search.example.org",
                "state": "ok",
                "since": iso(now - timedelta(hours=2)),
                "retry_at": None,
                "detail": None,
            },
            {
                "name": "brave",
                "host": "api.search.brave.com",
                "state": "unreachable",
                "since": iso(now - timedelta(minutes=1)),
                "retry_at": iso(now + timedelta(minutes=1)),
                "detail": "No connection came about.",
            },
        ],
        "approvals": {"web_search": "allow", "confidential": "ask"},
        "browser": "off",
        "cache": True,
    }
