"""Reading: what a run has read, and which web addresses it knows from where, as a fold.

It grows where a step closes, never between two calls of one reply: what a call may do depends on
what the model had read when it wrote the call, not on which of its neighbours ended first.
"""

import re
from collections.abc import Iterable
from typing import Literal
from urllib.parse import urlsplit

from inglenook.events import RunStarted, ToolFinished
from inglenook.messages import Label
from inglenook.tools.registry import plain_name

Origin = Literal["user", "search", "page", "unknown"]
"""Where a run has an address from. `unknown`: the model made it up, or a document holds it."""
SEARCH = "web_search"
VISIT = "visit_webpage"
_URL = re.compile(r"https?://[^\s<>\"'`|\\^{}\[\]]+", re.IGNORECASE)
_BARE = re.compile(r"(?<![\w@/.:-])(?:[\w-]+\.)+[^\W\d_]{2,}(?::\d+)?(?:/[^\s<>\"'`|\\^{}\[\]]*)?")
"""An address as people write it: `example.org/news`."""
_TRAILING = ".,;:!?*_"
MAX_TITLES = 3


class Reading:
    def __init__(self) -> None:
        self.labels: set[Label] = set()
        """One set for the whole run, so that who holds it sees it grow."""
        self.pages = 0
        """How many were read."""
        self._private: dict[str, None] = {}
        """Titles of the private things that were read, in order."""
        self._origins: dict[str, Origin] = {}

    def begin(self, started: RunStarted) -> None:
        self.labels.update(started.labels)
        if started.parent is None:  # a child's task is written by a model
            for message in started.request.messages:
                if message.role == "user":
                    self._know(urls_by_people(message.text), "user")

    def note(self, result: ToolFinished) -> None:
        """A call's result has come before the model."""
        self.labels.update(result.labels)
        if "private" in result.labels:
            titles = [source.title for source in result.sources if source.kind == "document"]
            self._private.update(dict.fromkeys(titles or [result.call.name]))
        if "untrusted" in result.labels:
            tool = plain_name(result.call.name)
            found = [source.url for source in result.sources if source.url]
            self._know(found, "search" if tool == SEARCH else "page")
            # of a page alone: other texts may repeat what the model wrote, an address among it
            if tool == VISIT and not result.is_error:
                self.pages += 1
                self._know(urls_in(result.result), "page")

    @property
    def is_private(self) -> bool:
        return "private" in self.labels

    @property
    def why_private(self) -> str:
        """A clause for people."""
        titles = list(self._private)
        if not titles:
            return "this conversation has read confidential documents"
        named = ", ".join(repr(title)[:100] for title in titles[:MAX_TITLES])
        more = f" and {len(titles) - MAX_TITLES} more" if len(titles) > MAX_TITLES else ""
        return f"this run has read what is confidential ({named}{more})"

    def origin_of(self, urls: Iterable[str]) -> Origin:
        """`urls`: one address in the forms that it has under way; any known one tells."""
        for url in urls:
            if origin := self._origins.get(same(url)):
                return origin
        return "unknown"

    def _know(self, urls: Iterable[str], origin: Origin) -> None:
        for url in urls:
            self._origins.setdefault(same(url), origin)


def urls_in(text: str) -> list[str]:
    """The addresses in a text or in Markdown, without the punctuation behind them."""
    return [_trimmed(match[0]) for match in _URL.finditer(text)]


def urls_by_people(text: str) -> list[str]:
    """As `urls_in`, those without a scheme too."""
    whole = urls_in(text)
    bare = [_trimmed(match[0]) for match in _BARE.finditer(_URL.sub(" ", text))]
    return whole + [f"{scheme}://{url}" for url in bare for scheme in ("https", "http")]


def same(url: str) -> str:
    """Equal for addresses that ask the same of the same host; what follows `#` is never sent."""
    url = url.strip()
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return url
    host = (parts.hostname or "").rstrip(".")
    is_default = port is None or (parts.scheme, port) in (("http", 80), ("https", 443))
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    place = host if is_default else f"{host}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{user}{place}{parts.path or '/'}{query}"


def _trimmed(url: str) -> str:
    """A bracket at the end is the address's own where it was opened in it."""
    while url and (url[-1] in _TRAILING or (url[-1] == ")" and url.count("(") < url.count(")"))):
        url = url[:-1]
    return url
