"""What of a stored event readers see: hidden thinking stays hidden unless the operator opted in.

Everything else goes out as the bytes that lie in the log.
"""

import json

from inglenook.store.base import StoredEvent

HIDDEN = {"hidden": True}


def shown(event: StoredEvent, *, show_reasoning: bool) -> bytes:
    """The event as JSON."""
    data = event.json()
    if show_reasoning or event.type != "model_replied":
        return data
    fields = json.loads(data)
    if fields.get("reasoning") is None:
        return data
    return json.dumps(fields | {"reasoning": HIDDEN}, separators=(",", ":")).encode()
