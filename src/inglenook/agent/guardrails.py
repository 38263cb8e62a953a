"""OutputGuardrail: may this answer end the run? And the loop's own two guards."""

from collections.abc import Sequence
from typing import Protocol

from inglenook.agent.repeats import Repeats
from inglenook.agent.state import RunState
from inglenook.errors import RunEnded
from inglenook.events import ToolFinished
from inglenook.messages import ToolCall
from inglenook.providers.finish_reasons import CUT_OFF_NOTE, is_cut_off, why_empty

REPEATS_ANSWERED_FROM_MEMORY = 3
REPEATS_THAT_END_THE_RUN = 5


class OutputGuardrail(Protocol):
    @property
    def name(self) -> str: ...

    def review(self, state: RunState) -> str | None:
        """None to accept the last reply as the answer, or the objection the model must meet.

        Raises:
            RunEnded: No further try is worth it.
        """
        ...


class UnreadableCallGuardrail:
    """One request to write the call again, then the run ends: a broken call is never an answer."""

    name = "unreadable_call"

    def review(self, state: RunState) -> str | None:
        if state.malformed_call is None:
            return None
        is_cut = is_cut_off(state.last_finish_reason)
        if state.malformed_calls == 1:
            return (
                f"Your last reply was meant as a tool call, but {state.malformed_call}. Nothing "
                'was run. Send the whole call again as {"name": …, "arguments": {…}} and nothing '
                f"else{', with shorter arguments' if is_cut else ''}, or answer in text."
            )
        remedy = (
            "raise the run's output tokens or the model's context, or ask for less"
            if is_cut
            else "ask again, or choose another model"
        )
        raise RunEnded(
            "empty_model_reply",
            f"The model tried to call a tool and could not, also after being asked again: "
            f"{state.malformed_call}. No tool was run for it; {remedy}.",
        )


class EmptyReplyGuardrail:
    """One nudge, then the run ends: an empty reply is never an answer."""

    name = "empty_reply"

    def review(self, state: RunState) -> str | None:
        if state.empty_replies == 0:
            return None
        if state.empty_replies == 1:
            return (
                "Your last reply was empty. Answer the user's question in text, "
                "or call one of your tools."
            )
        raise RunEnded("empty_model_reply", why_empty(state.last_finish_reason))


class WholeAnswerGuardrail:
    """An answer that the model's limit cut off is kept and shown, but is no success."""

    name = "whole_answer"

    def review(self, state: RunState) -> str | None:
        if is_cut_off(state.last_finish_reason):
            raise RunEnded(
                "context_truncated",
                f"{CUT_OFF_NOTE} Raise the run's output tokens or the model's context, or ask for "
                "less.",
            )
        return None


class SourcesGuardrail:
    """An answer that had to be found and was not gets one request to look, then ends the run."""

    name = "sources"

    def review(self, state: RunState) -> str | None:
        if not state.needs_sources:
            return None
        has_looked, may_look = state.lookups > 0, not state.is_concluded
        if may_look and not has_looked and self.name not in state.objections:
            return (
                "You have not searched yet, so nothing stands behind this answer. Search the web "
                "for the question first, read what you find, then answer from it."
            )
        because = (
            "no search gave a result and no page could be read"
            if has_looked
            else "the model answered without searching, also after being asked to"
        )
        raise RunEnded(
            "no_evidence",
            f"Nothing was researched: {because}. The answer is the model's own; check it, ask "
            "again later, or choose another model (`inglenook doctor` checks the search).",
        )


def standard_guardrails() -> Sequence[OutputGuardrail]:
    """Those of every run, in order; a replay needs the same ones."""
    return (
        UnreadableCallGuardrail(),
        EmptyReplyGuardrail(),
        WholeAnswerGuardrail(),
        SourcesGuardrail(),
    )


def repeated_call(call: ToolCall, repeats: Repeats, *, is_volatile: bool) -> ToolFinished | None:
    """The answer to a call that was already made often enough; None to run it.

    Args:
        is_volatile: A result from memory would be wrong; only calls in a row are too many.

    Raises:
        RunEnded: `repetition`: the model makes the same call again and again.
    """
    if is_volatile:
        if (nth := repeats.in_a_row(call) + 1) >= REPEATS_THAT_END_THE_RUN:
            raise RunEnded(
                "repetition",
                f"The model called {call.name!r} {nth} times in a row with the same arguments.",
            )
        return None
    seen = repeats.of(call)
    if seen is None:
        return None
    nth = seen.times + 1
    if nth < REPEATS_ANSWERED_FROM_MEMORY:
        return None
    if nth >= REPEATS_THAT_END_THE_RUN:
        raise RunEnded(
            "repetition",
            f"The model called {call.name!r} {nth} times with the same arguments "
            "and got the same result each time.",
        )
    notice = (
        f"\n\n[Runtime notice: this is the {_ordinal(nth)} identical call; the result was not "
        "computed again. Use it, or do something else.]"
    )
    return ToolFinished(
        call=call,
        result=seen.result + notice,
        is_error=seen.is_error,
        blocked=seen.blocked,
        from_memory=True,
    )


def _ordinal(n: int) -> str:
    return {3: "3rd"}.get(n, f"{n}th")
