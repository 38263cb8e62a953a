"""What is known of a model, in words for `doctor` and `models list`."""

from inglenook.context.window import window_of
from inglenook.providers.catalogue import ModelReport
from inglenook.providers.model_memory import Because

NOT_MEASURED = "not measured yet"
_BECAUSE: dict[Because | None, str] = {
    "said": "as its server says",
    "refused": "as its server refused tools",
    "dropped": "as its server dropped the tools without a word",
    "called": "as it has made such a call",
    None: "",
}


def yes_or_no(is_so: bool | None) -> str:
    return {True: "yes", False: "no", None: "not said"}[is_so]


def mode_in_words(report: ModelReport) -> str:
    """How its calls travel, and how that is known."""
    configured, known = report.spec.tool_mode, report.known
    if configured != "auto":
        return configured
    if known.tool_mode is None:
        return "auto, nothing found yet"
    return f"{known.tool_mode}, {_BECAUSE[known.because]}"


def window_in_words(report: ModelReport) -> str:
    """What runs are served with, before what is configured and what the model could hold."""
    asked, said = report.spec.context_tokens, report.abilities.context_tokens
    window = window_of(report.spec, report.abilities)
    if window.tokens is None:
        return "not said"
    words = [f"{window.tokens:,}"]
    if window.largest is not None and window.largest > window.tokens:
        words.append(f"up to {window.largest:,} where a run needs it")
    if asked is not None and asked != window.tokens:
        words.append(f"{asked:,} asked for")
    if said is not None and said != window.tokens:
        words.append(f"the model has {said:,}")
    served = served_window(report)
    if served is not None and served != window.tokens:
        words.append(f"{served:,} served when last seen")
    return ", ".join(words)


def served_window(report: ModelReport) -> int | None:
    return report.abilities.served_tokens or report.known.window


def speed_in_words(report: ModelReport) -> str:
    """How long 1,000 tokens take."""
    read_s, write_s = report.known.read_s, report.known.write_s
    parts = [
        f"{_seconds(seconds)} to {what}"
        for seconds, what in ((read_s, "read"), (write_s, "write"))
        if seconds is not None
    ]
    return f"1,000 tokens: {', '.join(parts) or NOT_MEASURED}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
