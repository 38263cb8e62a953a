"""Whether a text that begins like this may still turn out to be a call.

Asked of a reply's first characters, so that a call is never shown and an answer is not held back.
"""

import re
from collections.abc import Iterable

from inglenook.providers.call_marks import NAMESPACE, TAGS, TOKEN, TOKEN_BEGINS
from inglenook.providers.call_shapes import FIRST_KEYS, ToolNames
from inglenook.providers.lead_ins import THOUGHT_WORDS

MAX_HEAD_CHARS = 400
"""A text that may be a call after this many characters is one, or is held back as one."""
FENCE_LANGUAGES = ("json", "python", "py", "tool_code", "tool_call", "xml", "text", "")

_CALL_TOKEN = re.compile(r"tool|python|action|recipient|channel\|>commentary", re.IGNORECASE)
_FIRST_KEY = re.compile(r"\{\{?\s*(?:$|[\"'](\w*)($|[\"']))")
_FIRST_NAME = re.compile(
    r"\{\{?\s*[\"'](?:name|tool|tool_name|action)[\"']\s*:\s*[\"']([^\"']*)[\"']"
)
_TAG_NAMES = [name for tag in TAGS.split("|") for name in {tag.replace("?", ""), tag[:-2]}]
_STARTS = (
    *(f"<{name}" for name in dict.fromkeys(_TAG_NAMES) if name.isidentifier()),
    *("<function=", "<function ", "<invoke ", "<parameter", "<｜dsml｜", "<name>"),
    *("[tool_call", "[function_call", "functools[", "function<", "call:"),
    *("calling tool", "tool call:", "tool calls:"),
    *("to=", "commentary to=", "assistantcommentary to=", "analysis to="),
)
_NAMESPACED = re.compile(rf"<(?:[a-z]{{0,12}}$|{NAMESPACE}(?:{TAGS}|invoke|function)\b)")
_ACTION = re.compile(
    r"\*{0,2}action\s*:\*{0,2}\s*(?:$|[{\[`<]|([\w.\-]+)\s*(?:$|\n\s*(\*{0,2}[a-z ]{0,13})(:?)))"
)
_THOUGHT_BEGINS = tuple(f"{bold}{word}:" for word in THOUGHT_WORDS for bold in ("", "**"))
_WORDS = (*_THOUGHT_BEGINS, "action:", "**action:")
_ARROWS = re.compile(r">{0,3}$|>>>(?:[\w.\-]+(?:$|\n))")
_NOT_ARGUMENTS = re.compile(r"(?::\d+)?(?:\w|\s*[^\s({\[<`\"':*a.])")
"""What cannot stand between a tool's name and its arguments (`a` for `Action Input:`)."""


class CallHeads:
    def __init__(self, names: ToolNames) -> None:
        self._names = names
        lower = tuple(names.lower)
        spaced = [
            f"{space}{name}" for name in lower for space in ("", "functions.", "default_api.")
        ]
        self._starts = _by_first(
            [
                *_STARTS,
                *(start for name in lower for start in (f"<{name}>", f"[{name}(")),
                *(f"print({name}(" for name in spaced),
            ]
        )
        self._called = _by_first(spaced)

    def may_begin(self, head: str) -> bool:
        head = head.lstrip()
        while token := TOKEN.match(head):
            if _CALL_TOKEN.search(token[0]):
                return True
            head = head[token.end() :].lstrip()
        first = head[:1]
        if first == "{":
            return self._may_begin_object(head)
        if first == "[":
            rest = head[1:].lstrip()
            return not rest or self._may_begin_object(rest) or self._may_begin_word(head)
        if first == "`":
            return self._may_begin_fence(head)
        if first == ">":
            return bool(_ARROWS.match(head))
        return bool(TOKEN_BEGINS.fullmatch(head)) or self._may_begin_word(head)

    def _may_begin_object(self, head: str) -> bool:
        key = _FIRST_KEY.match(head)
        if key is None:
            return False
        if key[2] and key[1] not in FIRST_KEYS:
            meant = "final_answer" if key[1] == "answer" else key[1]
            return self._names.find(meant) is not None
        name = _FIRST_NAME.match(head)
        return name is None or self._names.find(name[1]) is not None

    def _may_begin_fence(self, head: str) -> bool:
        if len(head) < 3:
            return "```".startswith(head)
        info, newline, rest = head[3:].partition("\n")
        language = info.strip().lower()
        if not newline:
            return head.startswith("```") and any(
                known.startswith(language) for known in FENCE_LANGUAGES
            )
        return language == "tool_code" or (language in FENCE_LANGUAGES and self.may_begin(rest))

    def _may_begin_word(self, head: str) -> bool:
        low = head.lower()
        first = low[:1]
        if not first or (first == "<" and _NAMESPACED.match(low)):
            return True
        if any(start.startswith(low[: len(start)]) for start in self._starts.get(first, ())):
            return True
        if any(low.startswith(start) for start in _THOUGHT_BEGINS):
            return len(head) < MAX_HEAD_CHARS or "\naction" in low or "\n**action" in low
        if any(start.startswith(low) for start in _WORDS):
            return True
        if action := _ACTION.match(low):
            name, words = action[1], (action[2] or "").strip(" *")
            return name is None or "action input".startswith(words)
        return self._may_begin_name(low)

    def _may_begin_name(self, low: str) -> bool:
        for start in self._called.get(low[:1], ()):
            if start.startswith(low):
                return True
            if low.startswith(start) and not _NOT_ARGUMENTS.match(low, len(start)):
                return True
        return False


def _by_first(words: Iterable[str]) -> dict[str, list[str]]:
    """`words` by their first character: most texts begin with one that no call begins with."""
    found: dict[str, list[str]] = {}
    for word in dict.fromkeys(words):
        found.setdefault(word[:1], []).append(word)
    return found
