"""Whether a tag in a model's text is shown to the reader, in code or in quotes, or meant.

Pure. `think_tags.py` and `call_marks.py` ask it before they take a tag for markup.
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
        if text.count(fence, 0, start) % 2 and fence in text[end:]:
            return True
    before = text[text.rfind("\n", 0, start) + 1 : start]
    after = text[end:].partition("\n")[0]
    return before.count("`") % 2 == 1 and "`" in after
