"""The reply of envelope mode: whatever a model writes, however it is cut, read to one outcome."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inglenook.providers.envelope_reply import EnvelopeReader, Read

TOOLS = ("calculate", "search_knowledge_base")


def read(pieces: list[str], *, is_cut: bool = False) -> tuple[str, Read]:
    """What was shown while the pieces came and at their end, and what the reply was."""
    reader = EnvelopeReader()
    shown = "".join([reader.feed(piece) for piece in pieces])
    outcome = reader.end(TOOLS, is_cut=is_cut)
    return shown + outcome.due, outcome


def pieces_of(text: str, cuts: list[int]) -> list[str]:
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [text[start:end] for start, end in zip(edges, edges[1:], strict=False)]


ANSWERS = {
    "plain": ('{"answer": "It is 4."}', "It is 4."),
    "compact": ('{"answer":"It is 4."}', "It is 4."),
    "lines and quotes": (r'{"answer": "a\n\"b\"\t\\ \/ c"}', 'a\n"b"\t\\ / c'),
    "two halves of a character": ('{"answer": "\\ud83d\\ude00!"}', "😀!"),
    "half a character": ('{"answer": "\\ud83d!"}', "\ud83d!"),
    "half a character at the end": ('{"answer": "x\\ud83d"}', "x\ud83d"),
    "what ends an object in it": ('{"answer": "see {\\"a\\": 1}, then"}', 'see {"a": 1}, then'),
    "a line break that should be escaped": ('{"answer": "a\nb"}', "a\nb"),
    "surrounded by space": ('\n {"answer": "ok"} \n', "ok"),
}
MENDED_ANSWERS = {
    "beside an empty name": ('{"name": null, "answer": "391"}', "391"),
    "in an envelope of its own": ('{"answer": {"answer": "391"}}', "391"),
    "none at all": ("{}", ""),
    "fenced": ('```json\n{"answer": "ok"}\n```', "ok"),
    "introduced": ('Here you are:\n{"answer": "It is 4."}', "Here you are:\nIt is 4."),
    "introduced and fenced": ('So:\n```json\n{"answer": "4"}\n```', "So:\n4"),
    "followed": ('{"answer": "ok"}\nUser: and now?', "ok"),
    "another key": ('{"final_answer": "ok"}', "ok"),
    "with thoughts": ('{"thought": "so {it} is, \\"x\\"", "answer": "ok"}', "ok"),
    "unescaped quotes": ('{"answer": "He said "no" to me."}', 'He said "no" to me.'),
    "unknown escape": ('{"answer": "\\(x\\)"}', "\\(x\\)"),
    "a number": ('{"answer": 42}', "42"),
    "a list": ('{"answer": ["a", "b"]}', '["a","b"]'),
    "as a call": ('{"name": "answer", "arguments": {"text": "ok"}}', "ok"),
    "no JSON": ("It is 4.", "It is 4."),
    "JSON of its own": ('{"total": 4}', '{"total": 4}'),
    "an example": ('Write {"name": "Ann"} there.', 'Write {"name": "Ann"} there.'),
    "a fenced example": (
        'So:\n```json\n{"name": "Ann"}\n```\nDone.',
        'So:\n```json\n{"name": "Ann"}\n```\nDone.',
    ),
    "code": ("Use `x = {}` and `{y}`.", "Use `x = {}` and `{y}`."),
    "unclosed": ('{"answer": "It is', "It is"),
}
CALL = ("calculate", {"expression": "2+2"})
CALLS = {
    "plain": '{"name": "calculate", "arguments": {"expression": "2+2"}}',
    "compact": '{"name":"calculate","arguments":{"expression":"2+2"}}',
}
MENDED_CALLS = {
    "fenced": '```\n{"name": "calculate", "arguments": {"expression": "2+2"}}\n```',
    "parameters": '{"name": "calculate", "parameters": {"expression": "2+2"}}',
    "tool": '{"tool": "calculate", "args": {"expression": "2+2"}}',
    "nested": '{"function": {"name": "calculate", "arguments": {"expression": "2+2"}}}',
    "flat": '{"name": "calculate", "expression": "2+2"}',
    "last bracket missing": '{"name": "calculate", "arguments": {"expression": "2+2"}',
    "with thoughts": '{"thought": "hm", "name": "calculate", "arguments": {"expression": "2+2"}}',
    "answered as well": (
        '{"name": "calculate", "arguments": {"expression": "2+2"}, "answer": "I guess 5"}'
    ),
    "followed": '{"name": "calculate", "arguments": {"expression": "2+2"}}{"answer": "4"}',
    "empty answer": '{"answer": "", "name": "calculate", "arguments": {"expression": "2+2"}}',
}
BROKEN = {
    "cut in the arguments": ('{"name": "calculate", "arguments": {"expression": "2+', True),
    "cut before the name": ('{"na', True),
    "cut in the name": ('{"name": "calcu', True),
    "broken": ('{"name": "calculate", "arguments": {expression: 2+2}}', False),
    "a key twice": ('{"name": "calculate", "name": "calculate", "arguments": {}}', False),
}
every_length = pytest.mark.parametrize("length", [1, 2, 3, 7, 1000])


def in_pieces(text: str, length: int) -> list[str]:
    return [text[start : start + length] for start in range(0, len(text), length)]


@every_length
@pytest.mark.parametrize("name", ANSWERS)
def test_answer_is_shown_decoded(name: str, length: int) -> None:
    text, answer = ANSWERS[name]
    shown, outcome = read(in_pieces(text, length))
    assert (shown, outcome.text) == (answer, answer)
    assert outcome == Read(text=answer), "nothing was held back, nothing was mended"


@every_length
@pytest.mark.parametrize("name", MENDED_ANSWERS)
def test_answer_around_which_something_is_wrong_is_read(name: str, length: int) -> None:
    text, answer = MENDED_ANSWERS[name]
    shown, outcome = read(in_pieces(text, length))
    assert (shown, outcome.text) == (answer, answer)
    assert outcome.is_mended
    assert outcome.call is None


@every_length
@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS.keys())
def test_call_is_read_and_never_shown(text: str, length: int) -> None:
    shown, outcome = read(in_pieces(text, length))
    assert shown == outcome.text == ""
    assert outcome.call is not None
    assert (outcome.call.name, outcome.call.arguments) == CALL
    assert not outcome.is_mended


@every_length
@pytest.mark.parametrize("text", MENDED_CALLS.values(), ids=MENDED_CALLS.keys())
def test_call_around_which_something_is_wrong_is_read(text: str, length: int) -> None:
    shown, outcome = read(in_pieces(text, length))
    assert shown == outcome.text == ""
    assert outcome.call is not None
    assert (outcome.call.name, outcome.call.arguments) == CALL
    assert outcome.is_mended


@every_length
@pytest.mark.parametrize("name", BROKEN)
def test_broken_call_is_named_and_not_shown(name: str, length: int) -> None:
    text, is_cut = BROKEN[name]
    shown, outcome = read(in_pieces(text, length), is_cut=is_cut)
    assert shown == outcome.text == ""
    assert outcome.call is None
    assert outcome.broken is not None
    assert ("cut off" in outcome.broken) is is_cut


def test_arguments_with_a_key_twice_are_handed_on_as_text() -> None:
    text = '{"name": "calculate", "arguments": {"expression": "1", "expression": "2"}}'
    _, outcome = read([text])
    assert outcome.call is not None
    assert outcome.call.arguments == '{"expression": "1", "expression": "2"}'


def test_unknown_tool_is_called_so_that_the_model_hears_of_it() -> None:
    _, outcome = read(['{"name": "fly", "arguments": {}}'])
    assert outcome.call is not None
    assert outcome.call.name == "fly"


def test_empty_answer_is_empty() -> None:
    assert read(['{"answer": ""}']) == ("", Read(text=""))
    assert read([""]) == ("", Read(text=""))


texts = st.text(st.characters(blacklist_categories=()), max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
answers = st.fixed_dictionaries({"answer": texts})
calls = st.fixed_dictionaries(
    {"name": st.just("calculate"), "arguments": st.dictionaries(texts, values, max_size=3)}
)


@settings(max_examples=300)
@given(answers | calls, st.lists(st.integers(0, 1000), max_size=8), st.booleans())
def test_any_split_of_an_envelope_gives_what_json_gives(
    envelope: dict[str, object], cuts: list[int], is_ascii: bool
) -> None:
    text = json.dumps(envelope, ensure_ascii=is_ascii)
    shown, outcome = read(pieces_of(text, cuts))
    meant = json.loads(text)
    assert not outcome.is_mended
    if "answer" in meant:
        assert shown == outcome.text == meant["answer"]
        assert outcome.call is None
    else:
        assert shown == outcome.text == ""
        assert outcome.call is not None
        assert outcome.call.arguments == meant["arguments"]


pieces = st.sampled_from(
    ['{"answer": "', '{"name": "calculate"', ', "arguments": {', "}", '"', "\\", "\\u00", "d8", "é"]
    + ["```json\n", "`", "{", "\n", " ", "word", ":", ",", "answer", '"answer":', "\\ud83d", "[1]"]
)


@settings(max_examples=500)
@given(
    st.lists(pieces, max_size=12),
    st.lists(st.integers(0, 1000), max_size=8),
    st.booleans(),
)
def test_any_split_of_any_text_has_one_outcome(
    parts: list[str], cuts: list[int], is_cut: bool
) -> None:
    text = "".join(parts)
    shown, outcome = read(pieces_of(text, cuts), is_cut=is_cut)
    whole_shown, whole = read([text], is_cut=is_cut)
    assert shown == whole_shown
    assert (outcome.text, outcome.call, outcome.broken, outcome.is_mended) == (
        whole.text,
        whole.call,
        whole.broken,
        whole.is_mended,
    )
    if outcome.call is None and outcome.broken is None:
        assert shown == outcome.text
    else:
        assert shown.strip() == outcome.text
