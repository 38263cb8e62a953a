"""RuntimeStore: durable facts about runs. The event log is the run; a row is its index card."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from inglenook.errors import Reason
from inglenook.events import RunEvent, RunStarted, Status

InboxKind = Literal["cancel"]


@dataclass(frozen=True, kw_only=True)
class RunRow:
    id: str
    session: str | None
    parent: str | None
    user: str | None
    title: str
    model: str
    strategy: str
    status: Status
    reason: Reason | None
    explanation: str | None
    created_at: datetime
    finished_at: datetime | None
    owner: str | None
    """The process that holds the lease; None: nobody."""
    epoch: int
    """Grows with every lease; an append with an older one fails."""
    lease_until: datetime | None


class StoredEvent(NamedTuple):
    """One row of the log as it lies there. `payload` is None once erased; its digest stays."""

    run_id: str
    seq: int
    at: str
    type: str
    payload: bytes | None

    def json(self) -> bytes:
        """The event as the API shows it: header and payload in one object."""
        header = f'{{"seq":{self.seq},"run_id":"{self.run_id}","at":"{self.at}"'.encode()
        if self.payload is None:
            return header + f',"type":"{self.type}","erased":true}}'.encode()
        return header + b"," + self.payload[1:]


@dataclass(frozen=True, kw_only=True)
class InboxItem:
    id: int
    run_id: str
    kind: InboxKind
    payload: dict[str, object]


@dataclass(frozen=True, kw_only=True)
class ChainReport:
    """What `runs verify` found. `problems` is empty for an untouched log."""

    runs: int
    events: int
    erased: int
    problems: tuple[str, ...]


Committed = Callable[[StoredEvent], None]


class RunLog(Protocol):
    """One run's end of the log, held under one lease."""

    @property
    def epoch(self) -> int: ...

    def append(self, event: RunEvent) -> None:
        """Put an event in line; order of calls is order in the log.

        Raises:
            LeaseLost, StoreError: An earlier append failed; nothing more is accepted.
        """
        ...

    def settle(self, *, sync: bool = False) -> Awaitable[None]:
        """Wait until everything appended is committed; with `sync`, until all of the run is on the
        disk itself, whoever appended it and whenever.

        Raises:
            LeaseLost, StoreError: As `append`.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A run that was taken up: its row before, what its log holds, and the end to write to."""

    row: RunRow
    events: Sequence[StoredEvent]
    log: RunLog


class RuntimeStore(Protocol):
    async def create_run(
        self, row: RunRow, started: RunStarted, *, idempotency_key: str | None = None
    ) -> RunRow:
        """Store a queued run with its first event; a known key returns the first run instead."""
        ...

    async def get_run(self, run_id: str) -> RunRow | None: ...

    async def list_runs(
        self,
        *,
        status: Status | None = None,
        session: str | None = None,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[list[RunRow], str | None]:
        """Newest first, top-level runs only, and the cursor of the next page."""
        ...

    async def unfinished_runs(self) -> list[RunRow]:
        """Queued and running runs, oldest first."""
        ...

    async def claim(
        self, run_id: str, owner: str, committed: Committed, *, epoch: int | None = None
    ) -> Claim | None:
        """Take the lease of a run; None where there is no such run or it has ended.

        Args:
            committed: Sees each event once it is stored.
            epoch: The one that must still be current; None: whichever is.

        Raises:
            LeaseLost: Somebody else took it since that epoch.
        """
        ...

    async def release(self, run_id: str, epoch: int, explanation: str) -> None:
        """Give up the lease of this epoch and leave the run unfinished, for whoever takes it up.

        Args:
            explanation: Why nobody works on it now; gone with the next claim.
        """
        ...

    async def renew(self, owner: str) -> None:
        """Push back the end of all of this owner's leases."""
        ...

    async def read(
        self, run_id: str, *, after: int = -1, limit: int | None = None
    ) -> list[StoredEvent]:
        """Events with a larger `seq` than `after`, in order."""
        ...

    async def post(self, run_id: str, kind: InboxKind, payload: dict[str, object]) -> None:
        """Write to a run's inbox; anybody may. A run that has ended has none any more."""
        ...

    async def take(self, run_ids: Sequence[str]) -> list[InboxItem]:
        """Remove and return what lies in the inboxes of these runs."""
        ...

    async def erase(self, run_id: str) -> int:
        """Remove the payloads of a run's events, keep their headers; how many were removed."""
        ...

    async def verify(self, run_id: str | None = None) -> ChainReport: ...

    async def close(self) -> None: ...
