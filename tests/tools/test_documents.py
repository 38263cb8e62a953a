"""The document tools: numbered passages, whole texts page by page, names inside the scope only."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inglenook.errors import ToolError
from inglenook.messages import ToolCall
from inglenook.tools.documents import (
    MAX_PAGE_CHARS,
    ReadDocumentTool,
    SearchKnowledgeTool,
    page_end,
)
from inglenook.tools.registry import schema_of, validated
from tests.knowledge.fakes import FakeRetriever, document, run_context

HANDBOOK = document("handbook.md", "f-1")
NOTES = document("notes.txt", "f-2")


async def read(retriever: FakeRetriever, name: str, offset: int = 0) -> str:
    tool = ReadDocumentTool(retriever)
    arguments = tool.spec.arguments(name=name, offset=offset)
    return (await tool.run(arguments, run_context())).text


async def test_passages_are_numbered_as_the_runs_sources():
    retriever = FakeRetriever({HANDBOOK: "thirty days of leave", NOTES: "leave early"})
    tool = SearchKnowledgeTool(retriever)
    run = run_context()
    output = await tool.run(tool.spec.arguments(query="leave"), run)
    assert output.text == (
        "[1] handbook.md § Leave (file id f-1)\nthirty days of leave\n\n"
        "[2] notes.txt § Leave (file id f-2)\nleave early"
    )
    assert [(s.n, s.kind, s.title, s.file_id, s.quote) for s in output.sources] == [
        (1, "document", "handbook.md", "f-1", "thirty days of leave"),
        (2, "document", "notes.txt", "f-2", "leave early"),
    ]
    again = await tool.run(tool.spec.arguments(query="early"), run)
    assert again.text.startswith("[2] notes.txt")
    assert run.sources.all() == list(output.sources)


async def test_no_hit_is_said_in_a_sentence():
    tool = SearchKnowledgeTool(FakeRetriever({HANDBOOK: "thirty days"}))
    output = await tool.run(tool.spec.arguments(query="quantum"), run_context())
    assert output.text.startswith("No passage in the 1 selected documents matches 'quantum'.")
    assert output.sources == ()


async def test_an_empty_scope_is_said_in_a_sentence():
    tool = SearchKnowledgeTool(FakeRetriever({}))
    output = await tool.run(tool.spec.arguments(query="leave"), run_context())
    assert output.text.startswith("The selected knowledge bases hold no documents")


@pytest.mark.parametrize("k", [0, 21, -1, "three", "1e9", True])
def test_k_out_of_range_is_refused_by_name(k: object):
    call = ToolCall(id="c", name="search_knowledge_base", arguments={"query": "x", "k": k})
    with pytest.raises(ToolError, match="k: "):
        validated(SearchKnowledgeTool.spec, call)


def test_the_schemas_are_what_models_are_told():
    assert schema_of(SearchKnowledgeTool.spec).parameters == {
        "properties": {
            "query": {
                "description": "What to look for, in words",
                "maxLength": 2000,
                "minLength": 1,
                "type": "string",
            },
            "k": {
                "default": 5,
                "description": "How many passages",
                "maximum": 20,
                "minimum": 1,
                "type": "integer",
            },
        },
        "required": ["query"],
        "type": "object",
        "additionalProperties": False,
    }
    assert schema_of(ReadDocumentTool.spec).parameters["required"] == ["name"]


async def test_a_short_document_is_one_page():
    text = await read(FakeRetriever({HANDBOOK: "thirty days"}), "handbook.md")
    assert text == (
        "[1] handbook.md (file id f-1)\nthirty days\n[characters 0-11 of 11; end of the document]"
    )


async def test_a_long_document_says_how_to_go_on():
    whole = "x" * (MAX_PAGE_CHARS + 5)
    text = await read(FakeRetriever({HANDBOOK: whole}), "handbook.md")
    assert text.endswith(
        f"[characters 0-{MAX_PAGE_CHARS} of {len(whole)}; continue with offset={MAX_PAGE_CHARS}]"
    )
    rest = await read(FakeRetriever({HANDBOOK: whole}), "handbook.md", MAX_PAGE_CHARS)
    assert "\nxxxxx\n[characters" in rest
    assert rest.endswith("end of the document]")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["word ", "\n", "x" * 5000, "软件"]), max_size=40).map("".join))
def test_paging_loses_nothing(text: str):
    rebuilt, offset = "", 0
    while offset < len(text):
        end = page_end(text, offset)
        assert offset < end <= offset + MAX_PAGE_CHARS
        rebuilt += text[offset:end]
        offset = end
    assert rebuilt == text


async def test_a_page_ends_at_a_line():
    whole = "a line of text\n" * 2000
    assert whole[: page_end(whole, 0)].endswith("\n")


async def test_an_offset_past_the_end_is_said_with_both_numbers():
    with pytest.raises(ToolError, match="offset 11 is past the end of 'handbook.md', .* 11 char"):
        await read(FakeRetriever({HANDBOOK: "thirty days"}), "handbook.md", 11)


async def test_a_document_without_text_is_no_error():
    text = await read(FakeRetriever({HANDBOOK: ""}), "handbook.md")
    assert text.endswith("[characters 0-0 of 0; end of the document]")


async def test_a_close_name_is_read_and_named():
    text = await read(FakeRetriever({HANDBOOK: "thirty days", NOTES: "x"}), "Handbok")
    assert text.startswith(
        "[1] handbook.md (file id f-1), the closest in scope to 'Handbok'\nthirty days"
    )


async def test_a_document_read_twice_is_one_source():
    tool = ReadDocumentTool(FakeRetriever({HANDBOOK: "thirty days"}))
    run = run_context()
    for name in ("handbook.md", "f-1"):
        await tool.run(tool.spec.arguments(name=name), run)
    assert [source.n for source in run.sources.all()] == [1]


async def test_the_loop_goes_on_while_a_name_is_looked_for_among_thousands():
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.005)
            beats += 1

    many = {
        document(f"Report of department {n} for finance.pdf", f"f-{n}"): "" for n in range(3000)
    }
    async with asyncio.TaskGroup() as group:
        pulse = group.create_task(beat())
        await asyncio.sleep(0)
        with pytest.raises(ToolError, match="scope of 3000 documents"):
            await read(FakeRetriever(many), "an overview of all that happened in logistics")
        pulse.cancel()
    assert beats >= 5
