"""The one judgement on what leaves this machine: may this call go, must a person see it first?

Pure. The registry has judged before it whether the tool exists, the tool itself the address; what
is left are the run's permissions and what the run has read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from inglenook.agent.labels import SEARCH, VISIT, Reading
from inglenook.egress import OutgoingRequest
from inglenook.messages import ToolCall
from inglenook.run_request import RunPermissions
from inglenook.tools.registry import plain_name

SENDS: Mapping[str, Literal["query", "page"]] = {SEARCH: "query", VISIT: "page"}
"""What each open-world tool sends; one that is not here sends nothing."""
NOTHING_SENT = "Nothing was sent."


@dataclass(frozen=True)
class Allow: ...


@dataclass(frozen=True)
class Ask:
    reason: str
    """One sentence for the person who is asked."""


@dataclass(frozen=True)
class Deny:
    reason: str
    """For the model and for people."""


Decision = Allow | Ask | Deny


def decide(
    call: ToolCall,
    arguments: BaseModel,
    requests: Sequence[OutgoingRequest] | None,
    reading: Reading,
    permissions: RunPermissions,
) -> Decision:
    """
    Args:
        arguments: Those of the call as its tool takes them; just they are executed.
        requests: What the call would send; None where its tool cannot tell.
        reading: As of the reply that the call came in.
    """
    sends = SENDS.get(plain_name(call.name))
    if sends is None:
        return Deny(f"no rule of this program allows {call.name!r} to send anything.")
    if not permissions.web:
        return Deny("web access is off; only the user can turn it on, for one run at a time.")
    if reading.is_private and permissions.confidential == "block":
        return Deny(
            f"{reading.why_private}, and the settings keep whatever comes after that on this "
            "machine."
        )
    if sends == "query" and permissions.web_search == "block":
        return Deny("web search is blocked in this run.")
    if requests is not None and not requests:
        return Allow()  # it sends nothing, and is held to that
    if reason := _reason_to_ask(sends, arguments, requests or (), reading, permissions):
        return Ask(reason) if requests else Deny(f"{reason} What it would send cannot be shown.")
    return Allow()


def _reason_to_ask(
    sends: Literal["query", "page"],
    arguments: BaseModel,
    requests: Sequence[OutgoingRequest],
    reading: Reading,
    permissions: RunPermissions,
) -> str:
    if reading.is_private and permissions.confidential == "ask":
        return f"{sentence(reading.why_private)}; this may carry something of it out."
    if sends == "query":
        asks = permissions.web_search == "ask"
        return "Each search query is shown before it leaves." if asks else ""
    url = str(getattr(arguments, "url", ""))
    if reading.origin_of([url, *(request.url for request in requests)]) != "unknown":
        return ""
    strange = "This address comes neither from you nor from a search result or a page"
    if permissions.knowledge:
        return f"{strange}; it may carry text of your documents."
    if permissions.web_search == "ask":
        return f"{strange}; it may stand for a search query."
    return ""


def sentence(clause: str) -> str:
    """A clause with the capital that begins a sentence."""
    return clause[:1].upper() + clause[1:]
