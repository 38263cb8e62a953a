"""RuntimeStore: durable facts about runs. The event log is the run; a row is its index card.

One small Protocol a concern, for who needs no more; `RuntimeStore` is all of them.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from inglenook.errors import Conflict, Reason
from inglenook.events import RunEvent, RunStarted, Status
from inglenook.messages import Label

InboxKind = Literal["cancel"]
ApprovalStatus = Literal["pending", "approved", "edited", "denied", "timed_out", "expired"]
"""`timed_out`: nobody decided in time. `expired`: the run ended before anybody decided."""


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
    labels: tuple[Label, ...] = ()
    """What the run has read so far."""


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
class ApprovalRow:
    """A call that waits for a person, or what became of it."""

    run_id: str
    call_id: str
    root_id: str
    """The top-level run: who may see it may decide, and it goes on then."""
    request: dict[str, object]
    """What a person is shown, as JSON; empty once erased."""
    sha256: str
    """Of what would be sent; empty once erased."""
    created_at: datetime
    expires_at: datetime
    status: ApprovalStatus = "pending"
    decided_at: datetime | None = None
    arguments: dict[str, object] | None = None
    """What a person made of the call's arguments."""
    by: str | None = None


class AlreadyDecided(Conflict):
    """`row` is the approval as it stands: decided, or pending after its time."""

    def __init__(self, row: ApprovalRow) -> None:
        what = (
            f"ran out at {row.expires_at.isoformat(timespec='seconds')}"
            if row.status == "pending"
            else f"is {row.status} already"
        )
        super().__init__(
            f"the approval of call {row.call_id!r} of run {row.run_id!r} {what}", field="decision"
        )
        self.row = row


@dataclass(frozen=True, kw_only=True)
class CacheEntry:
    value: bytes
    fetched_at: datetime
    labels: tuple[Label, ...] = ()
    """What the run had read that fetched it."""


@dataclass(frozen=True, kw_only=True)
class FamilyEntry(CacheEntry):
    key: bytes
    """Digest of the key that it was stored under."""


@dataclass(frozen=True, kw_only=True)
class CacheVector:
    """What an embedder made of a cache entry's text."""

    key: bytes
    text_hash: bytes
    """SHA-256 of the text; the vector is worth nothing once the entry has another."""
    vector: bytes
    """float32, of this machine's byte order."""


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


class RunStore(Protocol):
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

    async def session_labels(self, session: str, *, user: str | None = None) -> tuple[Label, ...]:
        """What the runs of a conversation have read so far, of this user (None: of anybody)."""
        ...


class EventLog(Protocol):
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


class Inbox(Protocol):
    async def post(self, run_id: str, kind: InboxKind, payload: dict[str, object]) -> None:
        """Write to a run's inbox; anybody may. A run that has ended has none any more."""
        ...

    async def take(self, run_ids: Sequence[str]) -> list[InboxItem]:
        """Remove and return what lies in the inboxes of these runs."""
        ...


class ApprovalStore(Protocol):
    """What is pending when its run ends, or its root, is `expired` in the same transaction."""

    async def ask_approval(self, row: ApprovalRow) -> ApprovalRow:
        """Store a question, on the disk itself; one that was asked before comes back as it stands.
        Of a run that has ended it is `expired` from the start."""
        ...

    async def get_approval(self, run_id: str, call_id: str) -> ApprovalRow | None: ...

    async def list_approvals(
        self,
        status: ApprovalStatus | None = None,
        *,
        root_id: str | None = None,
        user: str | None = None,
    ) -> list[ApprovalRow]:
        """Oldest first; `user` is the one of the top-level run, None everybody."""
        ...

    async def decide_approval(
        self,
        run_id: str,
        call_id: str,
        *,
        status: ApprovalStatus,
        arguments: dict[str, object] | None = None,
        by: str | None = None,
        now: datetime,
    ) -> ApprovalRow:
        """Decide what is pending, once, on the disk itself. Of many who try one succeeds.

        Args:
            now: At or after `expires_at` only `timed_out` and `expired` are taken.

        Raises:
            AlreadyDecided: It was decided before, or its time has run out.
            NotFound: Nobody asked for it.
        """
        ...

    async def due_approvals(self, now: datetime) -> list[ApprovalRow]:
        """Pending ones whose time has run out."""
        ...


class Cache(Protocol):
    async def cache_get(self, kind: str, key: str, *, since: datetime) -> CacheEntry | None:
        """What was fetched at `since` or later; reading it does not make it younger."""
        ...

    async def cache_put(
        self,
        kind: str,
        key: str,
        value: bytes,
        *,
        fetched_at: datetime,
        labels: Sequence[Label],
        max_bytes: int,
        since: datetime,
        family: str | None = None,
    ) -> None:
        """Store an entry in place of the one before.

        `family`: what else it can be found by, together with others.

        What was fetched before `since` goes, then the oldest until all values together take
        `max_bytes` at most.
        """
        ...

    async def cache_family(
        self, kind: str, family: str, *, since: datetime, limit: int
    ) -> list[FamilyEntry]:
        """As `cache_get`, all that were put with this family, newest first."""
        ...

    async def cache_unembedded(
        self, kind: str, model: str, limit: int
    ) -> list[tuple[bytes, bytes]]:
        """Keys (digests) and values of entries of a family without a vector, newest first."""
        ...

    async def cache_put_vectors(
        self, kind: str, model: str, vectors: Sequence[CacheVector]
    ) -> None: ...

    async def cache_vectors(
        self, kind: str, model: str, keys: Sequence[bytes]
    ) -> list[CacheVector]:
        """Of those keys that have one of this model."""
        ...


class RuntimeStore(RunStore, EventLog, Inbox, ApprovalStore, Cache, Protocol):
    async def erase(self, run_id: str) -> int:
        """Remove what was said in a run and its children; how many events lost their payload.

        Their headers stay, and the rows of its approvals without what was to be sent. What the web
        cache took in while it went on goes.
        """
        ...

    async def verify(self, run_id: str | None = None) -> ChainReport: ...

    async def close(self) -> None: ...
