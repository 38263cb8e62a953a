"""A model's window: how large it is, what must stay free, and how the estimate is corrected."""

from dataclasses import dataclass

from inglenook.providers.base import DEFAULT_CONTEXT_TOKENS, ModelAbilities, ModelSpec

MAX_GROWN_TOKENS = 32_768
"""How far a window that nobody configured may grow: some GB of memory for a model of 8B."""
MAX_ANSWER_TOKENS = 1_024
"""Room that is kept free for the reply."""
MIN_REPORT = 256
"""Servers and proxies that make up their counts report less for any real prompt of ours."""
RATIO_LIMITS = (0.4, 2.5)
"""How far a model's tokens may be from the estimate before a report is not believed."""


@dataclass(frozen=True, kw_only=True)
class Window:
    tokens: int | None = None
    """What the server is asked for, or holds; None: nobody knows."""
    largest: int | None = None
    """What it may grow to."""


def window_of(spec: ModelSpec, abilities: ModelAbilities) -> Window:
    """
    Ollama serves what each request asks for, up to the model's own limit. Other servers were
    started with a window; where that is smaller than the configured one, it is what counts.
    """
    said = abilities.context_tokens
    asked = spec.context_tokens
    if spec.provider == "ollama":
        tokens = asked or DEFAULT_CONTEXT_TOKENS
        if said is not None:
            tokens = min(tokens, said)
        largest = tokens if asked else max(tokens, min(said or tokens, MAX_GROWN_TOKENS))
        return Window(tokens=tokens, largest=largest)
    known = [size for size in (asked, said) if size is not None]
    tokens = min(known) if known else None
    return Window(tokens=tokens, largest=tokens)


def answer_room(window: int, max_output_tokens: int | None) -> int:
    """Tokens of the window that the prompt must leave free."""
    return min(MAX_ANSWER_TOKENS, max_output_tokens or MAX_ANSWER_TOKENS, window // 4)


def grown(tokens: int, largest: int | None, need: int) -> int:
    """The window for `need` tokens, by doubling, so that a server seldom loads its model again."""
    while largest is not None and tokens < need and tokens < largest:
        tokens = min(2 * tokens, largest)
    return tokens


def calibrated(ratio: float, *, estimated: int, reported: int) -> float:
    """The tokens of this model for one of the estimate's, after a prompt that it has counted."""
    if reported < MIN_REPORT or estimated <= 0:
        return ratio
    return believed_ratio(ratio * reported / estimated, ratio)


def believed_ratio(learned: float | None, otherwise: float = 1.0) -> float:
    """`learned`, where it can be true."""
    low, high = RATIO_LIMITS
    return learned if learned is not None and low <= learned <= high else otherwise
