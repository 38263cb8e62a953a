"""A tool as the model, the scheduler and the registry see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from inglenook.egress import OutgoingRequest
from inglenook.events import Effect
from inglenook.messages import ToolOutput
from inglenook.run_context import RunContext


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    name: str
    description: str
    """One sentence for the model."""
    arguments: type[BaseModel]
    """Validates the call; its JSON Schema is what the model sees."""
    effect: Effect
    open_world: bool = False
    """Its calls may leave this machine; what does is recorded (`tools/egress.py`)."""
    needs_web: bool = False
    """It exists only where the run may use the web, though its own calls send nothing."""
    may_be_long: bool = True
    """A result may exceed what a model is shown at once, and is then read on with `read_result`."""
    volatile: bool = False
    """Asking again is reasonable (a clock): the repetition guard lets it."""
    ends_run: bool = False
    """Its result is the run's answer, where the call came alone. Beside other calls, another such
    one included, it is refused: an answer given before their results were seen is not final."""


class Tool(Protocol):
    @property
    def spec(self) -> ToolSpec: ...

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        """Do the work; `arguments` is an instance of `spec.arguments`.

        Cancellation stops the work. Blocking work runs in threads, see `tools/function.py`.

        Raises:
            ToolError: The model should read why it failed.
        """
        ...


@runtime_checkable
class OpenWorldTool(Tool, Protocol):
    """A tool that can tell what a call would send, so that a person can approve just that.

    An open-world tool without this runs only where nobody has to be asked.
    """

    def outgoing(self, arguments: Any) -> Sequence[OutgoingRequest]:
        """All that `run` may send for these arguments, in the order in which it would.

        What else comes up under way, such as a redirect, is refused in an approved call.

        Raises:
            ToolError: It would send nothing, as this machine refuses it (scheme, address); says so.
        """
        ...
