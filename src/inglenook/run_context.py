"""What one run carries with it: identity, permissions, event sink, limits, sources."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from inglenook.errors import RunEnded
from inglenook.events import EventSink
from inglenook.messages import Label, Source, SourceKind
from inglenook.run_request import RunPermissions


@dataclass(frozen=True, kw_only=True)
class Limits:
    max_steps: int
    max_seconds: float | None = None
    """Wall time since this process took the run up."""
    max_output_tokens: int | None = None
    """Per model call."""
    max_result_chars: int = 60_000
    """Of a tool result that is shown at once; about 15,000 tokens where the window says no less."""

    def check_step(self, steps_used: int) -> None:
        """
        Raises:
            RunEnded: `step_limit`: the step would be one too many.
        """
        if steps_used >= self.max_steps:
            raise RunEnded(
                "step_limit", f"The run used all of its {self.max_steps} steps without an answer."
            )


class Sources:
    """Numbers what the run's tools show, to be cited as `[n]`; equal things share a number."""

    def __init__(self, known: Iterable[Source] = ()) -> None:
        self._by_key: dict[tuple[object, ...], Source] = {}
        for source in known:
            self._by_key.setdefault(_key(source), source)

    def add(
        self,
        *,
        kind: SourceKind,
        title: str,
        url: str | None = None,
        file_id: str | None = None,
        quote: str | None = None,
    ) -> Source:
        source = Source(
            n=len(self._by_key) + 1, kind=kind, title=title, url=url, file_id=file_id, quote=quote
        )
        return self._by_key.setdefault(_key(source), source)

    def all(self) -> list[Source]:
        return list(self._by_key.values())


def _key(source: Source) -> tuple[object, ...]:
    return (source.kind, source.url, source.file_id, source.quote)


class EgressNumbers:
    """Numbers the run's requests to other machines, from 1, over all of its processes."""

    def __init__(self, used: int = 0) -> None:
        self._last = used

    def next(self) -> int:
        self._last += 1
        return self._last


@dataclass(frozen=True, kw_only=True)
class RunContext:
    run_id: str
    root_id: str = ""
    """The run at the top of its family; of a run that nobody started, itself."""
    call_id: str = ""
    """The tool call that is being served; set by the registry."""
    sink: EventSink
    limits: Limits
    permissions: RunPermissions = RunPermissions()
    today: str = ""
    sources: Sources = field(default_factory=Sources)
    egress: EgressNumbers = field(default_factory=EgressNumbers)
    results: Mapping[str, str] = field(default_factory=dict[str, str])
    """Whole tool results of which the model was shown a part, by id."""
    credential: str | None = field(default=None, repr=False)
    """The user's own key for their knowledge service; in memory only."""
    labels: AbstractSet[Label] = frozenset()
    """What the run had read when the model wrote its last reply; a child begins with them."""
    approved: frozenset[str] | None = None
    """Digests of the only requests that the call may send; None: no person was to be asked."""

    def for_call(self, call_id: str, sink: EventSink) -> "RunContext":
        """This run as one of its calls sees it; `dataclasses.replace`, made once a tool call, would
        look at each field by its name."""
        served = object.__new__(RunContext)
        served.__dict__.update(self.__dict__, call_id=call_id, sink=sink)
        return served
