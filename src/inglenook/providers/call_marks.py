"""What marks a call in a model's text: tags, control tokens, words, and the noise around them.

Pure. `call_text.py` reads what stands between the marks, `written_calls.py` decides whether a mark
is meant.
"""

import re

TAGS = (
    "tool_calls?|function_calls?|longcat_tool_call|toolcall|tool_code|tool_use|tools?|functions"
    "|invocation|calls?|action|tool_calls?_begin|tool_calls?_end|tool_sep"
)
NAMESPACE = r"(?:(?:[a-z]{2,12}:|｜DSML｜))?"
"""In front of a tag's name: `minimax:`, `seed:`, DeepSeek's `｜DSML｜`."""

_SPEAKERS = ("im_start", "start", "start_header_id", "start_of_role", "from")
_ROLE, _CHANNELS = "assistant", ("final", "commentary", "analysis")
_TOKEN = (
    rf"<\|(?:{'|'.join(_SPEAKERS)})\|>(?:{_ROLE})?|<\|channel\|>(?:{'|'.join(_CHANNELS)})?"
    r"|<\|/?[\w▁]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>"
    r"|<(?:start|end)_(?:of_turn|function_call|function_response)>"
)
TOKEN = re.compile(_TOKEN)
"""A control token of a chat template, with the speaker or channel that it names; none belongs in a
reply."""
TOKEN_RUN = re.compile(rf"(?:{_TOKEN})+")
_WORD_BEGINS = "|".join(
    word[:length] for word in (_ROLE, *_CHANNELS) for length in range(len(word), 0, -1)
)
TOKEN_BEGINS = re.compile(
    rf"(?:(?:{_TOKEN})(?:{_WORD_BEGINS})?)*"
    r"(?:<(?:[|｜][\w▁/ ]{0,40}[|｜]?|(?:s|st|sta|star|start|e|en|end)(?:_[a-z_]{0,18})?)?)?"
)
"""Tokens, and one that has only begun."""

NOISE = re.compile(
    rf"\s+|[,;]|</?{NAMESPACE}(?:{TAGS})>|\[/?(?:tool_calls?|function_calls?)\]|\[ARGS\]"
    rf"|\[CALL_ID\]\w+|{_TOKEN}|```[a-z_]*|</s>|<end_code>|functools(?=\s*\[)|>>>(?=[a-z_])"
    r"|function(?=<｜tool▁sep｜>|<tool_sep>)|(?:json|code)(?=\s*[{<])"
    r"|(?:assistant)?(?:commentary|analysis)?\s*to=(?=[a-z_])"
    r"|\*{0,2}(?:calling tools?|tool calls?|action(?: input)?|arguments|observation)\s*:\*{0,2}"
    r"|\*{0,2}thought\s*:[^\n]*\n",
    re.IGNORECASE,
)
UNSAID = re.compile(rf"(?:\s|</?{NAMESPACE}(?:{TAGS})>|{_TOKEN})*", re.IGNORECASE)
"""What may stand before a call without being said to anybody."""

_TAG_MARKS = (
    "tool_call tool_calls function_call function_calls longcat_tool_call minimax:tool_call "
    "seed:tool_call toolcall tool_use tool_calls_begin tool_call_begin start_function_call"
)
_CONTROL_MARKS = (
    "python_tag python_start tool_call tool_call_start tool_call_begin tool_calls_begin "
    "tool_calls_section_begin tools_prefix start_action action_start"
)
MARK_LITERALS = (
    *(f"<{name}>" for name in _TAG_MARKS.split()),
    *(f"<|{name}|>" for name in _CONTROL_MARKS.split()),
    *("[tool_call]", "[tool_calls]", "<function=", "<invoke ", '<tool name="', "<｜dsml｜"),
    *("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<|channel|>commentary to="),
)
"""What only a call begins with, in lower case."""
MARK = re.compile(
    rf"(?=[<\[>])(?:{'|'.join(map(re.escape, MARK_LITERALS))}|>>>(?!all\b)(?=[a-z_][\w.\-]*\n))",
    re.IGNORECASE,
)
WORDED_MARK = re.compile(
    r"\*{0,2}action\s*:\*{0,2}\s*[\w.\-]+[ \t]*\n\s*\*{0,2}action input\s*:"
    r"|\*{0,2}action\s*:\*{0,2}\s*(?:```(?:json)?\s*)?(?=\[\s*\{|\{)"
    r"|calling tools?\s*:\s*(?=[\[{])|functools(?=\s*\[)",
    re.IGNORECASE,
)
"""Words that mark a call at the beginning of a line."""

_MARK_BEGINS = frozenset(
    literal[:length] for literal in (*MARK_LITERALS, ">>>") for length in range(1, len(literal) + 1)
)
_MARK_SIGNS = re.compile(r"[<\[>]")
_LONGEST_MARK = max(map(len, MARK_LITERALS))


def after_noise(text: str, position: int) -> int:
    """The position after tags, fences and lead-ins that stand at `position`."""
    while noise := NOISE.match(text, position):
        position = noise.end()
    return position


def begins_mark(text: str) -> int:
    """Where `text` ends in the beginning of a mark; its length if it does not."""
    tail = text[-_LONGEST_MARK:].lower()
    for sign in _MARK_SIGNS.finditer(tail):
        if tail[sign.start() :] in _MARK_BEGINS:
            return len(text) - len(tail) + sign.start()
    return len(text)
