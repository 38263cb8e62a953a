"""Bodies: one meaning each, and what is wrong is named with its place."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inglenook.api.strict_json import encoded, strict_json
from inglenook.errors import InvalidRequest

any_text = st.text(st.characters(), max_size=20)  # lone surrogates included
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(any_json)
def test_any_value_survives_the_way_out_and_in(value: object):
    assert strict_json(encoded(value)) == value
    assert strict_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"a": 1 "b": 2}', "line 1, column 9"),
        (b"{\n 'a': 1}", "line 2, column 2"),
        (b"", "line 1, column 1"),
        (b'{"a": 1} x', "line 1, column 10"),
        (b'{"web": false, "web": true}', "'web' stands twice"),
        (b'[{"x": {"deep": 1, "deep": 1}}]', "'deep' stands twice"),
        (b'{"a": NaN}', "NaN"),
        (b"[-Infinity]", "-Infinity"),
        (b'{"a": "\xff"}', "byte 7"),
        (b"[" * 100_000, "too deeply"),
        (b"9" * 5000, "number"),
        (b'\xef\xbb\xbf{"a": 1}', "BOM"),
    ],
)
def test_a_body_that_is_no_strict_json_is_refused_with_its_place(body: bytes, words: str):
    with pytest.raises(InvalidRequest, match=words) as refused:
        strict_json(body)
    assert refused.value.status == 400


def test_a_doubled_key_names_its_field():
    with pytest.raises(InvalidRequest) as refused:
        strict_json(b'{"model": "a", "model": "b"}')
    assert refused.value.field == "model"


def test_a_doubled_key_among_many_is_found_at_once():
    keys = ",".join(f'"{n}":1' for n in range(100_000))
    began = time.process_time()
    with pytest.raises(InvalidRequest, match="'99999' stands twice"):
        strict_json(f'{{{keys},"99999":1}}'.encode())
    assert (
        time.process_time() - began < 10
    )  # one look at each key; looking at all for each: minutes
