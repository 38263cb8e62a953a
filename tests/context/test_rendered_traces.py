"""Traces that Open WebUI rendered into an answer go; everything else of the answer stays."""

import html
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inglenook.context.rendered_traces import without_traces

ARGUMENTS = html.escape(json.dumps({"query": 'a < "b" > c'}))
TOOL_CALL = (
    f'<details type="tool_calls" done="true" id="c1" name="web_search" arguments="{ARGUMENTS}" '
    'result="&quot;found&quot;" files="">\n<summary>Tool Executed</summary>\n</details>'
)
THINKING = (
    '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>'
    "\n> First <details> of it.</details>\n> Then.\n</details>"
)
OWN = "<details>\n<summary>More</summary>\nThe list.\n</details>"


@pytest.mark.parametrize("trace", [TOOL_CALL, THINKING])
def test_a_trace_goes_and_the_text_around_it_stays(trace: str):
    assert without_traces(f"Let me look.\n{trace}\n\nIt is 4.") == "Let me look.\n\nIt is 4."
    assert without_traces(f"{trace}\nIt is 4.") == "It is 4."
    assert without_traces(trace * 3) == ""


@pytest.mark.parametrize(
    "text",
    [
        OWN,
        "plain",
        "</details>",
        '<details type="table">x</details>',
        '<details data-type="reasoning">x</details>',
        "it begins with `<details type=` and ends",
    ],
)
def test_other_text_is_left_alone(text: str):
    assert without_traces(text) is text


def test_of_a_trace_that_is_not_closed_the_tag_goes():
    assert without_traces('<details type="tool_calls" id="1">\nIt is 4.') == "It is 4."


def test_details_of_the_answer_itself_stay_around_a_trace():
    text = f"<details>\n{THINKING}\nkept\n</details>"
    assert without_traces(text) == "<details>\n\nkept\n</details>"


PIECES = [
    TOOL_CALL,
    THINKING,
    '<details type="reasoning">',
    "<details>",
    "</details>",
    "<details ",
    ' type="reasoning">',
    "text",
    "\n",
    " ",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_once_is_enough(text: str):
    once = without_traces(text)
    assert without_traces(once) is once
    assert '<details type="' not in once
