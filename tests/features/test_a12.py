"""A12: `search_knowledge_base` asks Open WebUI for exactly the run's bases; k is the model's."""

import pytest

from inglenook.knowledge.open_webui import OpenWebUIKnowledge
from inglenook.messages import ToolCall
from inglenook.tools.documents import SearchKnowledgeTool
from inglenook.tools.registry import ToolRegistry
from tests.fake_open_webui import FakeBase, FakeFile, FakeOpenWebUI, client_session
from tests.knowledge.fakes import ListSink, run_context

KEY = "sk-owner"


@pytest.mark.parametrize(("k", "sent"), [(None, 5), (1, 1), (20, 20), ("3", 3)])
async def test_the_body_has_the_runs_ids_the_query_and_k(k: object, sent: int):
    bases = [
        FakeBase(
            id=f"kb-{n}",
            name=f"Base {n}",
            owner=KEY,
            files=[FakeFile(id=f"f-{n}", name=f"{n}.md", text="thirty days of leave")],
        )
        for n in range(3)
    ]
    fake = FakeOpenWebUI(bases=bases)
    arguments = {"query": "leave days", **({} if k is None else {"k": k})}
    async with fake.serving(), client_session() as session:
        retriever = await OpenWebUIKnowledge(session, fake.url).open(["kb-2", "kb-0"], KEY)
        sink = ListSink()
        await ToolRegistry([SearchKnowledgeTool(retriever)]).dispatch(
            ToolCall(id="c", name="search_knowledge_base", arguments=arguments), run_context(sink)
        )
    (request,) = [r for r in fake.seen if r.path == "/api/v1/retrieval/query/collection"]
    assert request.method == "POST"
    assert request.authorization == KEY
    assert request.body == {"collection_names": ["kb-2", "kb-0"], "query": "leave days", "k": sent}
