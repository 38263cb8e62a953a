"""The blocks in which Open WebUI shows tool calls and thinking inside an answer's text.

A client that posts such an answer back posts the blocks with it; a model that reads them begins to
write its calls the same way.
"""

import re

TRACE_TYPES = ("tool_calls", "reasoning", "code_interpreter")
_TAG = re.compile(r"<details(?P<attributes>[ \t][^<>\n]*)?>|</details>")
_TYPE = re.compile(rf"""\stype=["']?(?:{"|".join(TRACE_TYPES)})["'\s]""")


def without_traces(text: str) -> str:
    """`text` without its rendered traces; itself where it holds none.

    Shape: <details type="tool_calls" done="true" id="…" name="…" arguments="…" result="…">
    <summary>…</summary>…</details>, with HTML-escaped attributes; blocks may be nested. Of one that
    is not closed only the tag goes: nobody knows where it ends.
    """
    if "<details" not in text:
        return text
    pieces: list[str] = []
    position = 0
    for start, end in _traces(text):
        pieces.append(text[position:start])
        position = end
    if not position:
        return text
    pieces.append(text[position:])
    return "\n\n".join(piece.strip() for piece in pieces if piece.strip())


def _traces(text: str) -> list[tuple[int, int]]:
    """Where the outermost traces begin and end, in order."""
    open_tags: list[re.Match[str]] = []
    traces: list[tuple[int, int]] = []
    for tag in _TAG.finditer(text):
        if tag[0] != "</details>":
            open_tags.append(tag)
        elif open_tags:
            opened = open_tags.pop()
            if _is_trace(opened):
                while traces and traces[-1][0] > opened.start():
                    traces.pop()  # inside the one that ends here
                traces.append((opened.start(), tag.end()))
    cut_off = [tag.span() for tag in open_tags if _is_trace(tag)]
    return sorted(traces + cut_off)


def _is_trace(tag: re.Match[str]) -> bool:
    return _TYPE.search(tag["attributes"] or "") is not None
