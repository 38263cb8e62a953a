"""Research that asks the report cache first, and keeps there what it found out.

A wrapper with an agent's one method. What answers from the cache is an event like all else, so that
a resumed or replayed run stands where it stood.
"""

import hashlib
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime

from inglenook.agent.base import Agent
from inglenook.agent.sources import cited_sources
from inglenook.agent.state import RunState
from inglenook.agent.strategies import Strategy
from inglenook.errors import StoreError
from inglenook.events import ReportReused
from inglenook.providers.finish_reasons import caveat
from inglenook.research.asked_question import Question
from inglenook.research.instructions import split_task
from inglenook.research.report_cache import Hit, Report, ReportCache
from inglenook.run_context import RunContext

logger = logging.getLogger(__name__)

ANY_TIME = "recency:any"
"""A research run takes no other; a strategy that does says it here."""
SHOWN_QUESTION_CHARS = 200
BRACKETS = str.maketrans("[]", "()")
"""A number in brackets would be taken for a source's."""


class CachedResearch:
    def __init__(
        self,
        agent: Agent,
        cache: ReportCache,
        strategy: Strategy,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._agent = agent
        self._cache = cache
        self._strategy = strategy
        self._now = now

    async def run(self, state: RunState, run: RunContext) -> str:
        question = self._question(state, run)
        if question is None:
            return await self._agent.run(state, run)
        if state.prompt is None and state.reused is None:
            await self._look_up(question, run)
        if state.reused is not None:
            return state.last_text
        answer = await self._agent.run(state, run)
        if _is_good(answer, state):
            await self._keep(question, answer, state)
        return answer

    async def _look_up(self, question: Question, run: RunContext) -> None:
        try:
            hit = await self._cache.find(question)
        except StoreError as error:
            logger.debug("the report cache is passed by: %s", error)
            return
        if hit is None:
            return
        origin = told(hit, self._now())
        run.sink.emit(
            ReportReused(
                match=hit.match,
                percent=hit.percent,
                key=hit.terms,
                fetched_at=hit.fetched_at,
                explanation=origin,
                answer=f"{origin}\n\n{hit.report.answer}",
                sources=hit.report.sources,
                labels=hit.report.labels,
            )
        )

    async def _keep(self, question: Question, answer: str, state: RunState) -> None:
        report = Report(
            answer=answer,
            sources=cited_sources(answer, state.sources),
            labels=tuple(sorted(state.reading.labels)),
        )
        try:
            await self._cache.keep(question, report)
        except StoreError as error:
            logger.debug("a report is not kept: %s", error)

    def _question(self, state: RunState, run: RunContext) -> Question | None:
        """None for a run that has nothing to do with the cache."""
        started = state.started
        assert started is not None, "run_started is every run's first event"
        if not run.permissions.web or state.reading.is_private:
            return None
        *before, asked = started.request.messages
        if asked.role != "user":
            return None
        history, text = split_task(asked.text)
        said = [[message.role, message.text] for message in before]
        tools = run.permissions.tools
        return Question(
            text=text,
            mode=self._strategy.name,
            version=self._strategy.id,
            circumstances=(
                "web:on",
                ANY_TIME,
                f"user:{started.request.user or ''}",
                f"tools:{'all' if tools is None else ' '.join(sorted(tools))}",
                hashlib.sha256(json.dumps([said, history]).encode()).hexdigest(),
            ),
        )


def told(hit: Hit, now: datetime) -> str:
    """Where an answer out of the cache comes from, in one line."""
    days = max(0, (now - hit.fetched_at).days)
    match hit.match:
        case "exact":
            how = f"match {hit.percent} %"
        case "embedding":
            how = f"match {hit.percent} % (embedding)"
        case "words":
            how = f"match {hit.percent} % (words)"
    asked = " ".join(hit.asked.split()).translate(BRACKETS)
    if len(asked) > SHOWN_QUESTION_CHARS:
        asked = asked[: SHOWN_QUESTION_CHARS - 1] + "…"
    age = f"{days} day{'' if days == 1 else 's'} old"
    return f"From the report cache, {age}, {how}, asked as: {asked}"


def _is_good(answer: str, state: RunState) -> bool:
    """A whole answer that the run gave by itself, on a page that it read or a result it cites."""
    if not answer.strip() or state.is_concluded or caveat(state.last_finish_reason):
        return False
    if state.needs_sources or state.reading.is_private:
        return False
    return state.reading.pages > 0 or any(
        source.cited for source in cited_sources(answer, state.sources)
    )
