"""A line that shows the demo model being fetched: redrawn on a terminal, rare lines in a pipe."""

import sys
import time

from inglenook.cli.render import Progress
from inglenook.providers.weights_file import Progress as Fetched

WORDS = {
    "wait": "waiting for another process that fetches the demo model",
    "fetch": "fetching the demo model",
    "check": "checking its SHA-256",
    "start": "starting the demo model (a small one, for a first try; it is often wrong)",
}
REDRAW_S = 0.2
PIPE_LINE_S = 10.0
BAR_CHARS = 24


class DownloadLine:
    """Call it with each `Progress` of the download."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stage = ""
        self._shown_at = 0.0
        self._is_terminal = sys.stderr.isatty()

    def __call__(self, fetched: Fetched) -> None:
        now = time.monotonic()
        wait = REDRAW_S if self._is_terminal else PIPE_LINE_S
        is_new = fetched.stage != self._stage
        is_full = fetched.total > 0 and fetched.done >= fetched.total
        if not is_new and not is_full and now - self._shown_at < wait:
            return
        self._shown_at = now
        text = WORDS[fetched.stage] + (f" from {fetched.detail}" if fetched.detail else "")
        if fetched.total:
            share = fetched.done / fetched.total
            bar = "█" * round(share * BAR_CHARS)
            text += (
                f" {bar:░<{BAR_CHARS}} {fetched.done / 1e6:,.0f} of {fetched.total / 1e6:,.0f} MB"
            )
        if self._is_terminal and not is_new:
            sys.stderr.write("\x1b[1A\x1b[2K")
        self._stage = fetched.stage
        self._progress.line(text, "dim")
