"""B047: two files of one name are an ambiguity that lists both; the id reads exactly one."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from inglenook.errors import ToolError
from inglenook.knowledge.base import Retriever
from inglenook.knowledge.local import LocalKnowledge
from inglenook.tools.documents import ReadDocumentTool, SearchKnowledgeTool
from tests.knowledge.fakes import run_context


@pytest.fixture
async def retriever(tmp_path: Path) -> AsyncGenerator[Retriever]:
    knowledge = LocalKnowledge(tmp_path, embedder=None)
    ids: list[str] = []
    for name in ("Sales", "Legal"):
        base = await knowledge.create(name)
        await knowledge.add_bytes(base.id, "report.md", f"the {name} report".encode())
        ids.append(base.id)
    yield await knowledge.open(ids)
    await knowledge.close()


async def test_the_name_is_ambiguous_and_the_id_is_not(retriever: Retriever):
    tool = ReadDocumentTool(retriever)
    with pytest.raises(ToolError) as caught:
        await tool.run(tool.spec.arguments(name="report.md"), run_context())
    for document in await retriever.documents():
        assert f"{document.knowledge_name!r} ({document.knowledge_id})" in str(caught.value)
        assert f"file id {document.id}" in str(caught.value)
        output = await tool.run(tool.spec.arguments(name=document.id), run_context())
        assert f"the {document.knowledge_name} report" in output.text
        assert output.text.count("report\n[characters") == 1


async def test_search_hits_carry_the_file_id(retriever: Retriever):
    tool = SearchKnowledgeTool(retriever)
    output = await tool.run(tool.spec.arguments(query="report"), run_context())
    ids = {document.id for document in await retriever.documents()}
    assert {source.file_id for source in output.sources} == ids
    assert all(f"(file id {file_id})" in output.text for file_id in ids)
