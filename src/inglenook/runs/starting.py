"""What a run begins with: its row and its first event, for top-level runs and children alike."""

import secrets
import time
from datetime import UTC, datetime

from inglenook.agent.scheduler import VERSION as SCHEDULER_VERSION
from inglenook.agent.strategies import STRATEGIES
from inglenook.events import RunStarted, Versions
from inglenook.messages import Label
from inglenook.run_request import RunPermissions, RunRequest
from inglenook.store.base import RunRow

TITLE_CHARS = 80


def new_run_id() -> str:
    """Sorts by time of creation; the random part cannot be guessed."""
    return f"run_{time.time_ns() // 1_000_000:011x}{secrets.token_hex(8)}"


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
