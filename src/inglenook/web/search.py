"""One search over several engines: in the configured order, the next one where one fails.

An engine that answered is believed, also where it found nothing: the query is not carried to
further services for more. A failed engine rests (`health.py`) and is not asked meanwhile.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from inglenook.egress import Egress, OutgoingRequest
from inglenook.errors import NotApproved
from inglenook.web.base import Outcome, Recency, SearchEngine, SearchOutcome
from inglenook.web.health import EngineHealth, Health

ADVICE: dict[Outcome, str] = {
    "blocked": "Rephrasing the query will not help. Do not search again in this run; answer "
    "without the web and say that the search was blocked.",
    "markup_changed": "Rephrasing the query will not help. Do not search again in this run; answer "
    "without the web and say that the search engine's answer could not be read.",
    "unreachable": "Rephrasing the query will not help. Answer without the web and say that the "
    "search engine was not reached.",
}
"""For the model, after a search in which all failed: by the first of these that happened."""

NO_ENGINE = "Nothing was sent: no search engine is configured. Answer without the web and say so."


@dataclass(frozen=True, kw_only=True)
class EngineStatus:
    name: str
    host: str
    health: EngineHealth


@dataclass(frozen=True, kw_only=True)
class WebState:
    """What the operator set of the web, and its engines as they are now; words of the settings."""

    engines: Sequence[EngineStatus]
    web_search: str
    confidential: str
    browser: str
    cache: bool

    @property
    def can_search(self) -> bool:
        """Runs that may use the web can search it."""
        return bool(self.engines) and self.web_search != "block"


class SearchService:
    """A `Searcher` over engines."""

    def __init__(self, engines: Sequence[SearchEngine], health: Health) -> None:
        self._engines = engines
        self._health = health

    def requests(self, query: str, *, recency: Recency | None) -> Sequence[OutgoingRequest]:
        """One an engine, those that rest now included: a person may decide after their rest."""
        return [engine.request(query, recency=recency) for engine in self._engines]

    async def search(
        self, query: str, *, recency: Recency | None, limit: int, egress: Egress
    ) -> SearchOutcome:
        """`detail` tells what became of each engine that was asked, in one sentence each.

        Raises:
            NotApproved: `egress` refused the first request; nothing was sent.
        """
        if not self._engines:
            return SearchOutcome(outcome="unreachable", engine="", detail=NO_ENGINE)
        failed: list[SearchOutcome] = []
        for engine in self._engines:
            if self._health.is_resting(engine.name):
                continue
            try:
                found = await engine.search(query, recency=recency, limit=limit, egress=egress)
            except NotApproved:
                if not failed:
                    raise
                return self._failure(
                    failed, f"{engine.name} was not asked in its place: nobody approved that."
                )
            self._health.record(found)
            if found.outcome in ("ok", "no_results"):
                return replace(found, detail=_sentences(failed, found.detail))
            failed.append(found)
        return self._failure(failed)

    def statuses(self) -> Sequence[EngineStatus]:
        """Every engine in order, as it is now. Sends nothing."""
        return [
            EngineStatus(
                name=engine.name,
                host=engine.request("", recency=None).host,
                health=self._health.of(engine.name),
            )
            for engine in self._engines
        ]

    def _failure(self, failed: Sequence[SearchOutcome], why_no_more: str = "") -> SearchOutcome:
        """Nobody answered. Where `failed` is empty all engines rest, and nothing was sent."""
        if not failed:
            why_no_more = "Every search engine rests after a failure, and nothing was sent."
        told = [*failed, *self._earlier_failures({found.engine for found in failed})]
        gravest = min(told, key=lambda found: list(ADVICE).index(found.outcome))
        detail = _sentences(told, why_no_more, self._next_try(), ADVICE[gravest.outcome])
        return replace(gravest, detail=detail)

    def _earlier_failures(self, asked: Set[str]) -> Sequence[SearchOutcome]:
        return [
            SearchOutcome(outcome=health.state, engine=name, detail=f"Earlier: {health.detail}")
            for name, health in ((each.name, each.health) for each in self.statuses())
            if name not in asked and health.state != "ok"
        ]

    def _next_try(self) -> str:
        """When the next search is sent, where it is not sent at once."""
        times = [each.health.retry_at for each in self.statuses()]
        resting = [retry_at for retry_at in times if retry_at is not None]
        if len(resting) < len(times):
            return ""
        return f"The next search is sent from {min(resting):%Y-%m-%d %H:%M:%S} UTC on."


def _sentences(failed: Sequence[SearchOutcome], *more: str) -> str:
    return " ".join(filter(None, [*(found.detail for found in failed), *more]))
