"""Whether a tag in a model's text is shown to the reader, in code or in quotes, or meant.

Pure. `think_tags.py` and `written_calls.py` ask it before they take a tag for markup.
"""

FENCES = ("```", "~~~")
QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»", "(": ")"}


def is_quoted(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` stands in a fence, in inline code or directly between quotes.

    Both sides have to be there: a backtick that is never closed quotes nothing.
    """
    if QUOTES.get(text[start - 1 : start]) == text[end : end + 1] != "":
        return True
    for fence in FENCES:
        if text.count(fence, 0, start) % 2 and text.find(fence, end) >= 0:
            return True
    before = text.count("`", text.rfind("\n", 0, start) + 1, start)
    line_end = text.find("\n", end)
    return before % 2 == 1 and text.find("`", end, line_end if line_end >= 0 else len(text)) >= 0


def is_quoted_line(text: str, start: int) -> bool:
    """Whether `start` is in a line of Markdown's block quotes or indented code."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line.lstrip(" ").startswith(">") or line.startswith(("    ", "\t"))
