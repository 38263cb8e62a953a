"""A run's requests to other machines, whoever sends them: in its log before they leave."""

from collections.abc import Awaitable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from inglenook.egress import OutgoingRequest
from inglenook.errors import NotApproved
from inglenook.events import EgressFinished, EgressStarted, EventSink, RunEvent, TextDelta
from inglenook.messages import Label
from inglenook.run_context import RunContext


@dataclass(frozen=True, kw_only=True)
class RecordedEgress:
    """Writes what a run's tools, model and knowledge ask of others into the run's log, numbered.

    Where a call was approved, that holds for the requests that were shown, once each.
    """

    run: RunContext
    why: str
    """The tool that asks; `model` or `knowledge` where it is not one."""
    permission: str
    _used: set[str] = field(default_factory=set[str])
    """Digests of what this call has sent under an approval."""

    @property
    def labels(self) -> AbstractSet[Label]:
        return self.run.labels

    async def started(self, request: OutgoingRequest) -> int:
        self._check_approval(request)
        n = self.run.egress.next()
        self.run.sink.emit(
            EgressStarted(
                n=n,
                method=request.method,
                host=request.host,
                path=request.path,
                bytes_out=request.size_bytes,
                why=self.why,
                permission=self.permission,
                call=self.run.call_id,
            )
        )
        await self.run.sink.settle(sync=True)
        return n

    def _check_approval(self, request: OutgoingRequest) -> None:
        """
        Raises:
            NotApproved: A person approved this call's requests, and this is none of them.
        """
        approved = self.run.approved
        if approved is None:
            return
        if request.sha256 not in approved or request.sha256 in self._used:
            raise NotApproved(
                f"not sent: {request.method} {request.url:.500} is not what the user approved for "
                f"this {self.why} call. Make it a call of its own, which the user is asked about, "
                "or go on without it."
            )
        self._used.add(request.sha256)

    def finished(self, n: int, *, status: int | None, bytes_in: int, sent: bool) -> None:
        self.run.sink.emit(EgressFinished(n=n, status=status, bytes_in=bytes_in, sent=sent))


class CallSink:
    """The sink of one call of an open-world tool, which notes what became of its requests."""

    def __init__(self, sink: EventSink, *, records_all: bool) -> None:
        """`records_all`: the tool records each of its requests; another one's call is taken to have
        left this machine if it recorded nothing."""
        self._sink = sink
        self._records_all = records_all
        self._requests = 0
        self._unsent = 0

    @property
    def has_left(self) -> bool:
        if self._requests == 0:
            return not self._records_all
        return self._unsent < self._requests

    def emit(self, event: RunEvent) -> None:
        if isinstance(event, EgressStarted):
            self._requests += 1
        elif isinstance(event, EgressFinished) and not event.sent:
            self._unsent += 1
        self._sink.emit(event)

    def settle(self, *, sync: bool = False) -> Awaitable[None]:
        return self._sink.settle(sync=sync)

    def publish(self, delta: TextDelta) -> None:
        self._sink.publish(delta)
