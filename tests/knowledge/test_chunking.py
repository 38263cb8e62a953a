"""Chunks cover the document, stay within their size and know their headings."""

from hypothesis import given, settings
from hypothesis import strategies as st

from inglenook.knowledge.chunking import (
    MAX_HEADING_CHARS,
    OVERLAP_CHARS,
    TARGET_CHARS,
    TARGET_CJK_CHARS,
    Heading,
    chunk,
    markdown_headings,
)

_WORDS = st.sampled_from(
    [
        "leave",
        "policy.",
        "Straße",
        "été,",
        "软件包",
        "。",
        "日本語です",
        "\n",
        "\n\n",
        " ",
        "a" * 300,
    ]
    + ["# Title\n", "## Part\n", "```\n", "สวัสดี", "🙂", "e\u0301", "x" * 1500]
)
_TEXTS = st.one_of(
    st.lists(_WORDS, max_size=400).map(" ".join), st.text(max_size=3000), st.just("")
)


@settings(max_examples=200, deadline=None)
@given(_TEXTS)
def test_chunks_cover_the_whole_text_without_a_gap(text: str):
    chunks = chunk(text, markdown_headings(text))
    if not chunks:
        assert not text.strip()
        return
    assert chunks[0].start == 0
    assert chunks[-1].end == len(text)
    rebuilt, position = "", 0
    for one in chunks:
        assert one.start <= position < one.end
        rebuilt += text[position : one.end]
        position = one.end
    assert rebuilt == text


@settings(max_examples=200, deadline=None)
@given(_TEXTS)
def test_chunks_are_bounded_and_overlap_little(text: str):
    chunks = chunk(text, markdown_headings(text))
    for one in chunks:
        assert one.end - one.start <= TARGET_CHARS
        assert len(one.heading) <= MAX_HEADING_CHARS + 1
    for before, after in zip(chunks, chunks[1:], strict=False):
        assert before.end - after.start <= OVERLAP_CHARS
        assert after.start > before.start


def test_ideographs_make_smaller_chunks():
    text = "请问如何在德班系统中安装新的软件包？" * 200
    assert max(one.end - one.start for one in chunk(text)) <= TARGET_CJK_CHARS


def test_cuts_fall_between_sentences_of_chinese():
    text = "请问如何在德班系统中安装新的软件包？" * 100
    assert all(text[one.end - 1] == "？" for one in chunk(text))


def test_cuts_prefer_paragraphs():
    paragraph = "Everybody has thirty days of leave. " * 12
    text = "\n\n".join([paragraph.strip()] * 6)
    assert all(text[one.start :].startswith("Everybody") for one in chunk(text))
    assert all(text[: one.end].rstrip().endswith("leave.") for one in chunk(text))


def test_an_overlap_starts_at_a_sentence():
    text = " ".join(f"Sentence number {n} stands here." for n in range(200))
    chunks = chunk(text)
    assert len(chunks) > 3
    for before, after in zip(chunks, chunks[1:], strict=False):
        assert after.start < before.end
        assert text[after.start :].startswith("Sentence number")


def test_sections_are_not_mixed_and_carry_their_path():
    filler = "This section says a thing or two about its subject. " * 8
    heads = ("# Handbook", "## Leave", "### Sick", "## Pay")
    text = "\n\n".join(f"{head}\n\n{filler}" for head in heads)
    chunks = chunk(text, markdown_headings(text))
    assert [one.heading for one in chunks] == [
        "Handbook",
        "Handbook › Leave",
        "Handbook › Leave › Sick",
        "Handbook › Pay",
    ]
    assert text[chunks[3].start :].startswith("## Pay")


def test_a_section_too_short_to_stand_alone_joins_the_next():
    text = "# Handbook\n\n## Leave\n\n" + "Thirty days. " * 30
    (one,) = chunk(text, markdown_headings(text))
    assert (one.start, one.end) == (0, len(text))
    assert one.heading == "Handbook › Leave"


def test_hash_lines_in_code_fences_are_no_headings():
    text = "# Real\n```sh\n# comment\n```\n~~~\n# also\n~~~\n## Second ##\n#not\n"
    assert [(h.level, h.title) for h in markdown_headings(text)] == [(1, "Real"), (2, "Second")]


def test_an_endless_heading_is_cut_to_its_end():
    text = "x" * 500
    (one,) = chunk(text, [Heading(start=0, level=1, title="long " * 100 + "end")])
    assert len(one.heading) <= MAX_HEADING_CHARS + 1
    assert one.heading.endswith("end")
