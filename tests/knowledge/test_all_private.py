"""AllPrivate: every base counts as confidential, whatever it says of itself."""

from pathlib import Path

from inglenook.knowledge.all_private import AllPrivate
from inglenook.knowledge.local import LocalKnowledge
from inglenook.tools.documents import (
    ReadArguments,
    ReadDocumentTool,
    SearchArguments,
    SearchKnowledgeTool,
)
from tests.knowledge.fakes import run_context


async def test_what_is_read_of_a_normal_base_is_private(tmp_path: Path):
    local = LocalKnowledge(tmp_path, embedder=None)
    base = await local.create("Handbook")
    await local.add_bytes(base.id, "leave.md", b"# Leave\n\nTake some.\n")
    knowledge = AllPrivate(local)
    for opened, labels in (
        (await local.open([base.id]), ()),
        (await knowledge.open([base.id]), ("private",)),
    ):
        found = await SearchKnowledgeTool(opened).run(SearchArguments(query="leave"), run_context())
        read = await ReadDocumentTool(opened).run(ReadArguments(name="leave.md"), run_context())
        assert (found.labels, read.labels) == (labels, labels)
        assert "Take some." in found.text
    [listed] = await knowledge.list()
    assert listed.label == "normal"
    await local.close()


async def test_an_error_that_names_confidential_documents_is_private_too(tmp_path: Path):
    local = LocalKnowledge(tmp_path, embedder=None)
    board = await local.create("Board", "confidential")
    await local.add_bytes(board.id, "merger.md", b"# Merger\n\nAt 41.50.\n")
    tool = ReadDocumentTool(await local.open([board.id]))
    for arguments in (ReadArguments(name="zzz"), ReadArguments(name="merger", offset=10_000)):
        failed = await tool.run(arguments, run_context())
        assert "merger.md" in failed.text
        assert (failed.is_error, failed.labels) == (True, ("private",))
    nothing = SearchKnowledgeTool(await local.open([board.id]))
    empty = await nothing.run(SearchArguments(query="xyzzy"), run_context())
    assert empty.labels == ("private",), "that a word is not there is known of them, too"
    await local.close()
