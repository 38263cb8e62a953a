"""A25: private material is kept out of queries: the model is told so wherever it can search, and
what it would send after reading confidential documents is shown to its user first."""

from pathlib import Path

from inglenook.knowledge.local import LocalKnowledge
from inglenook.messages import ToolCall
from inglenook.tools.documents import ReadDocumentTool, SearchKnowledgeTool
from tests.sending import ConfidentialTool, SearchTool, Wire
from tests.support import bench, call, replies, say
from tests.web.searching import search_tool

RULE = "never put names, figures or text from the user's documents"


async def test_rule_is_in_the_prompt_and_in_the_tools_description(tmp_path: Path) -> None:
    provider = replies(say("hello"))
    tool = search_tool("http://127.0.0.1:1234")
    async with bench(tmp_path, provider, web=[tool]) as b:
        await b.run(web=True)
    assert RULE in provider.views[0][0].text
    schema = provider.tools[0][0]
    assert (schema.name, RULE in schema.description) == ("web_search", True)


async def test_run_without_web_has_neither_tool_nor_rule(tmp_path: Path) -> None:
    provider = replies(say("hello"))
    tool = search_tool("http://127.0.0.1:1234")
    async with bench(tmp_path, provider, web=[tool]) as b:
        await b.run()
    assert RULE not in provider.views[0][0].text
    assert provider.tools[0] == []


async def test_after_a_confidential_document_its_user_sees_the_query_first(tmp_path: Path) -> None:
    wire = Wire()
    reads = ToolCall(id="r", name="read_document", arguments={"name": "salaries.md"})
    provider = replies(say("", reads), say("", call("web_search", "c", query="4711")), say("ok"))
    async with bench(
        tmp_path, provider, documents=[ConfidentialTool()], web=[SearchTool(wire)]
    ) as b:
        run = await b.run(web=True, knowledge=("secret",))
        [item] = await b.service.approvals("pending")
    assert (run["status"], run["reason"], wire.sent) == ("waiting", "approval", [])
    assert "salaries.md" in item["reason"]


async def test_names_of_confidential_documents_are_not_in_the_prompt_beside_the_web(
    tmp_path: Path,
) -> None:
    knowledge = LocalKnowledge(tmp_path / "kb", embedder=None)
    board = await knowledge.create("Board", "confidential")
    open_base = await knowledge.create("Handbook")
    await knowledge.add_bytes(board.id, "merger-with-acme.md", b"# Merger\n\nAt 41.50.\n")
    await knowledge.add_bytes(open_base.id, "leave.md", b"# Leave\n\nTake some.\n")
    provider = replies(say("hello"))
    scope = (board.id, open_base.id)
    retriever = await knowledge.open(scope)
    documents = [SearchKnowledgeTool(retriever), ReadDocumentTool(retriever)]
    async with bench(
        tmp_path / "h",
        provider,
        documents=documents,
        web=[SearchTool(Wire())],
        knowledge=knowledge,
    ) as b:
        await b.run(web=True, knowledge=scope)
        await b.run(knowledge=scope)
    await knowledge.close()
    beside, alone = provider.views[0][0].text, provider.views[1][0].text
    assert ("leave.md" in beside, "merger" in beside) == (True, False)
    assert "1 document is of confidential knowledge bases" in beside
    assert "waits until the user approves it" in beside
    assert "merger-with-acme.md" in alone
