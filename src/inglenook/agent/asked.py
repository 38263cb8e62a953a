"""AskedCalls: the calls that a person was asked about, and what became of them, as a fold."""

from dataclasses import dataclass

from inglenook.events import ApprovalDecided, ApprovalRequested, EgressStarted
from inglenook.messages import ToolCall


@dataclass(kw_only=True)
class AskedCall:
    requested: ApprovalRequested
    decided: ApprovalDecided | None = None
    was_sent: bool = False
    """A request of it has left, or was about to: its approval is used up."""


class AskedCalls:
    def __init__(self) -> None:
        self._by_id: dict[str, AskedCall] = {}

    def apply(self, event: ApprovalRequested | ApprovalDecided | EgressStarted) -> None:
        if isinstance(event, ApprovalRequested):
            self._by_id[event.call.id] = AskedCall(requested=event)
        elif asked := self._by_id.get(event.call):
            if isinstance(event, ApprovalDecided):
                asked.decided = event
            else:
                asked.was_sent = True

    def get(self, call: ToolCall) -> AskedCall | None:
        return self._by_id.get(call.id)

    def was_denied(self, call: ToolCall) -> bool:
        """The user has refused an equal call."""
        return any(
            asked.decided is not None
            and asked.decided.decision == "denied"
            and asked.requested.call.key == call.key
            for asked in self._by_id.values()
        )

    def open(self) -> list[ApprovalRequested]:
        """Those that nobody has decided."""
        return [asked.requested for asked in self._by_id.values() if asked.decided is None]
