"""Lines and events come out the same however the bytes are cut."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inglenook.errors import ProviderError
from inglenook.providers import stream_lines
from inglenook.providers.stream_lines import DocumentSplitter, EventSplitter, LineSplitter

TEXT = st.text(alphabet=st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))


@st.composite
def cut(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """`data` in pieces, some of them empty."""
    places = draw(st.lists(st.integers(0, len(data)), max_size=12))
    edges = [0, *sorted(places), len(data)]
    return [data[start:end] for start, end in zip(edges, edges[1:], strict=False)]


def lines_of(pieces: list[bytes]) -> list[bytes]:
    splitter = LineSplitter()
    lines = [line for piece in pieces for line in splitter.feed(piece)]
    return [*lines, splitter.close()]


def events_of(pieces: list[bytes]) -> list[bytes]:
    splitter = EventSplitter()
    events = [event for piece in pieces for event in splitter.feed(piece)]
    return [*events, *splitter.close()]


@given(st.data())
def test_any_cut_gives_the_same_lines(data: st.DataObject) -> None:
    lines = [json.dumps(text, ensure_ascii=False) for text in data.draw(st.lists(TEXT))]
    raw = "\n".join(lines).encode()
    assert lines_of(data.draw(cut(raw))) == raw.split(b"\n")


@given(st.data())
def test_any_cut_gives_the_same_events(data: st.DataObject) -> None:
    """With every line ending, comments, other fields, several data lines and a byte order mark."""
    raw = b"\xef\xbb\xbf" if data.draw(st.booleans()) else b""
    expected: list[bytes] = []
    for payloads in data.draw(st.lists(st.lists(TEXT.filter(bool), min_size=1, max_size=3))):
        end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
        space = data.draw(st.sampled_from(["", " "]))
        if space == "" and any(payload.startswith(" ") for payload in payloads):
            space = " "
        noise = data.draw(st.sampled_from(["", f": ping{end}", f"event: x{end}id: 7{end}"]))
        block = noise + "".join(f"data:{space}{payload}{end}" for payload in payloads) + end
        raw += block.encode()
        expected.append("\n".join(payloads).encode())
    assert events_of(data.draw(cut(raw))) == expected
    assert events_of([raw[i : i + 1] for i in range(len(raw))]) == expected


def test_last_event_is_kept_where_the_empty_line_after_it_is_missing() -> None:
    assert events_of([b'data: {"a":1}\n\ndata: [DONE]']) == [b'{"a":1}', b"[DONE]"]


def test_an_event_is_out_as_soon_as_its_empty_line_is_there() -> None:
    splitter = EventSplitter()
    assert splitter.feed(b"data: 1\r\n\r") == [b"1"]
    assert splitter.feed(b"\ndata: 2\r\n\r\n") == [b"2"]


def test_a_field_without_colon_or_value_is_no_event() -> None:
    assert events_of([b"data\n\ndata:\n\nevent\n\n"]) == []


def test_a_line_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_lines, "MAX_LINE_BYTES", 100)
    splitter = LineSplitter()
    splitter.feed(b"x" * 60)
    with pytest.raises(ProviderError, match="100 bytes"):
        splitter.feed(b"x" * 60)


def test_a_document_is_one_whatever_its_lines() -> None:
    splitter = DocumentSplitter()
    assert splitter.feed(b'{\n "a":') == []
    assert splitter.feed(b" 1\n}\n") == []
    assert splitter.close() == [b'{\n "a": 1\n}\n']
