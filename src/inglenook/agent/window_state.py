"""WindowState: what a run has learned of its model's window; a part of `RunState`'s fold."""

from inglenook.context.window import calibrated
from inglenook.events import (
    ContextCompacted,
    ModelReplied,
    ModelRequested,
    PromptBuilt,
    WindowServed,
)

LOOP = "loop"
"""The purpose of the calls that make up the conversation."""
ANSWER = "answer"
"""The purpose of the call that makes a run's answer of what it has gathered."""
COMPACTION = "compact"
"""The purpose of the call that sums up what is oldest."""
MIN_DOUBT = 0.1


class WindowState:
    def __init__(self) -> None:
        self.tokens: int | None = None
        """What the server holds, or was asked for last; None: nobody knows."""
        self.largest: int | None = None
        """What it may grow to; None: the server was not asked."""
        self.was_asked = False
        self.ratio = 1.0
        """Tokens of this model for one of the estimate's."""
        self.is_rejected = False
        """The last prompt was not read whole, and nothing was done about it yet."""
        self.rejections = 0
        """Such prompts in a row."""
        self.read_tokens: int | None = None
        """How much of the last of them the server says it read."""
        self.doubt = 1.0
        """Read for estimated tokens of the last of them. The same again for a shorter prompt means
        that the estimate was wrong, and nothing was cut."""
        self.vain_compactions = 0
        """Compactions in a row that did not make room enough."""
        self.summary: str | None = None
        """A summary that has come and stands for nothing yet."""
        self._estimated = 0

    def begin(self, event: PromptBuilt) -> None:
        self.ratio = event.token_ratio
        self.tokens = event.window

    def served(self, event: WindowServed) -> None:
        self.was_asked = True
        self.largest = event.largest
        sizes = [size for size in (self.tokens, event.tokens) if size is not None]
        self.tokens = min(sizes, default=None)

    def requested(self, event: ModelRequested) -> None:
        if event.purpose == LOOP:
            self.tokens = event.window
            self._estimated = event.estimated_tokens or 0
            self.is_rejected = False

    def replied(self, event: ModelReplied) -> None:
        if event.purpose == COMPACTION:
            self.summary = event.message.text
        if event.purpose != LOOP:
            return
        read = event.usage.input_tokens if event.usage else 0
        if event.rejected:
            self.is_rejected = True
            self.rejections += 1
            self.read_tokens = read or None
            if event.window is not None:
                self.tokens = min(self.tokens or event.window, event.window)
                self.largest = min(self.largest or self.tokens, self.tokens)
            if read and self._estimated:
                self.doubt = min(1.0, max(MIN_DOUBT, read / self._estimated))
            return
        self.ratio = calibrated(self.ratio, estimated=self._estimated, reported=read)
        self.rejections, self.vain_compactions = 0, 0
        self.read_tokens, self.doubt = None, 1.0

    def compacted(self, event: ContextCompacted) -> None:
        self.summary = None
        self.is_rejected = False
        self.vain_compactions = 0 if event.was_enough else self.vain_compactions + 1
