"""What a server's word for the end of a reply means for the people who read the run.

Pure. The words are OpenAI's, Ollama's and those of the gateways in front of other vendors.
Source: https://platform.openai.com/docs/api-reference/chat/object
"""

CUT_OFF = frozenset(("length", "max_tokens", "model_length"))
WITHHELD = frozenset(("content_filter", "safety"))
CUT_OFF_NOTE = "The answer was cut off at the model's output limit."
WITHHELD_NOTE = "The server's content filter ended the answer before it was complete."


def is_cut_off(finish_reason: str | None) -> bool:
    """Whether the model stopped because its output tokens or its context were used up."""
    return (finish_reason or "").lower() in CUT_OFF


def caveat(finish_reason: str | None) -> str | None:
    """One sentence on what an accepted answer lacks; None if it is whole."""
    return WITHHELD_NOTE if (finish_reason or "").lower() in WITHHELD else None


def why_empty(finish_reason: str | None) -> str:
    """One sentence on a reply that holds nothing, with what to do where something helps."""
    if is_cut_off(finish_reason):
        return (
            "The model used up its output tokens or its context before it said anything; "
            "raise the run's output tokens or the model's context, or ask for less."
        )
    if (finish_reason or "").lower() in WITHHELD:
        return "The server's content filter withheld the reply; ask in other words."
    return "The model answered with nothing, also after being asked again."
