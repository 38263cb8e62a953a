"""A model server with a window, as servers really are: it counts, it cuts in silence or refuses."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass

from inglenook.context.compaction import SUMMARY_REQUEST
from inglenook.context.tokens import message_estimate, tools_estimate
from inglenook.egress import Egress
from inglenook.errors import ContextTooLong
from inglenook.events import TextDelta
from inglenook.messages import Message, ToolSchema, Usage
from inglenook.providers.base import ModelAbilities, ModelReply, Part, StreamOptions
from tests.support import Script, say


@dataclass
class Seen:
    messages: list[Message]
    tokens: int
    window: int | None
    is_summary: bool


def ollamas_cut(tokens: int, window: int) -> int:
    """What Ollama keeps of a prompt that is too long."""
    return tokens if tokens <= window else window // 2 + 2


class WindowedModel:
    def __init__(
        self,
        script: Script,
        *,
        serves: int | None = None,
        abilities: ModelAbilities | None = None,
        tokens_per_estimate: float = 1.0,
        cut: Callable[[int, int], int] | None = ollamas_cut,
        names_window: bool = False,
        summary: str | Script = "The parts looked at so far held nothing of use.",
    ) -> None:
        """
        `serves`: the window it was started with; None: what each request asks for.
        `cut`: what it reads of too long a prompt; None: it refuses one, and says what it holds
        if it `names_window`.
        """
        self._script = script
        self._serves = serves
        self._abilities = abilities or ModelAbilities()
        self._ratio = tokens_per_estimate
        self._cut = cut
        self._names_window = names_window
        self._summary = summary
        self.seen: list[Seen] = []

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        estimate = tools_estimate(tools) + sum(map(message_estimate, messages))
        tokens = round(estimate * self._ratio)
        is_summary = messages[0].text == SUMMARY_REQUEST
        self.seen.append(Seen(list(messages), tokens, options.window, is_summary))
        window = self._serves or options.window
        if window is not None and tokens > window:
            if self._cut is None:
                raise ContextTooLong(
                    f"{tokens} tokens do not fit {window}",
                    window=window if self._names_window else None,
                )
            tokens = self._cut(tokens, window)
            message = say("I do not know what you want.")
        else:
            message = self._summed_up(messages) if is_summary else self._script(messages)
        if message.text:
            yield TextDelta(message.text)
        yield ModelReply(message=message, usage=Usage(input_tokens=tokens, output_tokens=9))

    def _summed_up(self, messages: Sequence[Message]) -> Message:
        return say(self._summary) if isinstance(self._summary, str) else self._summary(messages)

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return self._abilities

    @property
    def asked(self) -> list[Seen]:
        """The conversation's own requests."""
        return [seen for seen in self.seen if not seen.is_summary]
