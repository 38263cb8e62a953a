"""What a run begins with: a request that can be served, its row and its first event; the latter two
for top-level runs and children alike."""

import secrets
import time
from datetime import UTC, datetime

from inglenook.agent.scheduler import VERSION as SCHEDULER_VERSION
from inglenook.agent.strategies import STRATEGIES
from inglenook.errors import InvalidRequest
from inglenook.events import RunStarted, Versions
from inglenook.messages import Label
from inglenook.run_request import RunPermissions, RunRequest
from inglenook.store.base import RunRow

TITLE_CHARS = 80


def new_run_id() -> str:
    """Sorts by time of creation; the random part cannot be guessed."""
    return f"run_{time.time_ns() // 1_000_000:011x}{secrets.token_hex(8)}"


def check_request(request: RunRequest) -> None:
    """
    Raises:
        InvalidRequest: This version does not do what it asks for; names the field.
    """
    if request.strategy not in STRATEGIES:
        raise InvalidRequest(
            f"unknown strategy {request.strategy!r}; this version has "
            f"{', '.join(sorted(STRATEGIES))}",
            field="strategy",
            status=422,
        )
    if STRATEGIES[request.strategy].needs_web and not request.web:
        raise InvalidRequest(
            f"strategy {request.strategy!r} works on the web, and web access is off in this run",
            field="web",
            hint='allow it for this run ("web": true, or --web), or choose another strategy',
            status=422,
        )
    if request.workspace or request.artifact:
        raise InvalidRequest(
            "workspaces are not in this version; leave the field out",
            field="workspace" if request.workspace else "artifact",
            status=422,
        )
    if request.approvals.get("write") == "ask":
        raise InvalidRequest(
            "approvals.write = 'ask' is not in this version, which has no tools that write; "
            "leave it out",
            field="approvals.write",
            status=422,
        )


def queued_row(request: RunRequest, *, run_id: str, parent: str | None = None) -> RunRow:
    return RunRow(
        id=run_id,
        session=request.session,
        parent=parent,
        user=request.user,
        title=_title(request),
        model=request.model,
        strategy=STRATEGIES[request.strategy].id,
        status="queued",
        reason=None,
        explanation=None,
        created_at=datetime.now(UTC),
        finished_at=None,
        owner=None,
        epoch=0,
        lease_until=None,
    )


def run_started(
    request: RunRequest,
    permissions: RunPermissions,
    *,
    context_version: str,
    parent: str | None = None,
    labels: tuple[Label, ...] = (),
) -> RunStarted:
    return RunStarted(
        request=request,
        model=request.model,
        versions=Versions(
            strategy=STRATEGIES[request.strategy].id,
            scheduler=SCHEDULER_VERSION,
            context=context_version,
        ),
        permissions=permissions,
        parent=parent,
        today=datetime.now().astimezone().date().isoformat(),
        labels=labels,
    )


def _title(request: RunRequest) -> str:
    asked = [message.text for message in request.messages if message.role == "user"]
    line = " ".join(asked[-1].split()) if asked else "(no question)"
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1] + "…"
