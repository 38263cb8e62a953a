"""RunView: a run as the API and the command line show it, folded from its row and events."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from inglenook.agent.state import RunState
from inglenook.context.window import window_of
from inglenook.events import EgressFinished, EgressStarted, RunEvent
from inglenook.messages import Source
from inglenook.providers.catalogue import ModelReport
from inglenook.runs.model_words import served_window
from inglenook.store.base import RunRow


def run_view(
    row: RunRow, events: Sequence[RunEvent], children: Mapping[str, Sequence[RunEvent]]
) -> dict[str, Any]:
    """Shape: API section 4, `GET /api/runs/{id}`. `egress` counts the children's requests too."""
    state = RunState(events)
    is_erased = not events
    versions = state.started.versions.model_dump() if state.started else {}
    finished = state.finished
    return {
        **run_item(row),
        "answer": finished.answer if finished else None,
        "sources": [source_view(source) for source in finished.sources] if finished else [],
        "unsupported": list(finished.unsupported) if finished else [],
        "usage": {
            "input_tokens": state.usage.input_tokens,
            "output_tokens": state.usage.output_tokens,
            "steps": state.steps,
            "tool_calls": state.tool_calls,
        },
        "egress": egress_totals([events, *children.values()]),
        "erased": is_erased,
        "evidence": {"required": False, "satisfied": False, "missing": []},
        "versions": versions,
    }


def run_item(row: RunRow) -> dict[str, Any]:
    """A run in a list: what its index card holds."""
    return {
        "id": row.id,
        "session": row.session,
        "parent": row.parent,
        "title": row.title,
        "status": row.status,
        "reason": row.reason,
        "explanation": row.explanation,
        "model": row.model,
        "strategy": row.strategy,
        "created_at": shown_time(row.created_at),
        "finished_at": row.finished_at and shown_time(row.finished_at),
    }


def shown_time(at: datetime) -> str:
    """A time in UTC, as the API writes it."""
    return at.isoformat().replace("+00:00", "Z")


def source_view(source: Source) -> dict[str, Any]:
    view: dict[str, Any] = {
        "n": source.n,
        "kind": source.kind,
        "title": source.title,
        "cited": source.cited,
        "supported": source.supported,
    }
    for name in ("url", "file_id", "quote"):
        if (value := getattr(source, name)) is not None:
            view[name] = value
    return view


def egress_totals(runs: Iterable[Sequence[RunEvent]]) -> dict[str, int]:
    """What left in a run and its children; a request whose end is not known is taken to have."""
    entries = [entry for events in runs for entry in _requests(events)]
    return {
        "requests": sum(entry["sent"] is not False for entry in entries),
        "bytes_out": sum(entry["bytes_out"] for entry in entries),
        "bytes_in": sum(entry["bytes_in"] or 0 for entry in entries),
    }


def egress_ledger(runs: Mapping[str, Sequence[RunEvent]]) -> list[dict[str, Any]]:
    """One entry a request, run by run in order, with its end where it has one.

    `sent` False: it was about to leave and did not; its `bytes_out` is 0. None: the end is missing.
    """
    return [
        {"run_id": run_id} | entry for run_id, events in runs.items() for entry in _requests(events)
    ]


def _requests(events: Sequence[RunEvent]) -> list[dict[str, Any]]:
    ends = {event.n: event for event in events if isinstance(event, EgressFinished)}
    entries: list[dict[str, Any]] = []
    for event in events:
        if isinstance(event, EgressStarted):
            entry = event.model_dump(exclude={"type"})
            entry |= {"status": None, "bytes_in": None, "sent": None}
            if end := ends.get(event.n):
                entry |= {"status": end.status, "bytes_in": end.bytes_in, "sent": end.sent}
                if not end.sent:
                    entry["bytes_out"] = 0
            entries.append(entry)
    return entries


def trace_view(events: Sequence[RunEvent]) -> list[dict[str, Any]]:
    """Seed A's trace (API section 3): every call with its result, in the model's order."""
    state = RunState()
    trace: list[dict[str, Any]] = []
    for event in events:
        state.apply(event)
        if event.type == "tool_finished":
            trace.append(
                {
                    "step": state.steps,
                    "tool": event.call.name,
                    "arguments": dict(event.call.arguments),
                    "result": event.result,
                    "error": event.is_error,
                    "blocked": event.blocked,
                    "network": event.network,
                    "durationMs": event.duration_ms,
                    "order": event.call.id,
                }
            )
    order = {
        call.id: n
        for n, call in enumerate(
            call
            for event in events
            if event.type == "model_replied"
            for call in event.message.tool_calls
        )
    }
    trace.sort(key=lambda entry: order.get(entry["order"], len(order)))
    for entry in trace:
        del entry["order"]
    return trace


def report_view(report: ModelReport) -> dict[str, Any]:
    """A model on offer: one item of `GET /api/models`."""
    return {
        "id": report.spec.id,
        "provider": report.spec.provider,
        "model": report.spec.model,
        "abilities": {
            "tools": report.abilities.tools,
            "thinking": report.abilities.thinking,
            "context_tokens": report.spec.context_tokens or report.abilities.context_tokens,
        },
        "window": {
            "configured": report.spec.context_tokens,
            "used": window_of(report.spec, report.abilities).tokens,
            "served": served_window(report),
        },
        "tool_mode": {
            "configured": report.spec.tool_mode,
            "found": report.known.tool_mode,
            "because": report.known.because,
        },
        "seconds_per_1000_tokens": {
            "read": report.known.read_s,
            "write": report.known.write_s,
        },
        "note": report.spec.note or None,
        "error": report.error,
    }
