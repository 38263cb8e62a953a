"""B045: ids that the model supplies reach nobody's data: the body to Open WebUI has the run's."""

from inglenook.events import ToolFinished
from inglenook.knowledge.open_webui import OpenWebUIKnowledge
from inglenook.messages import ToolCall
from inglenook.tools.documents import SearchKnowledgeTool
from inglenook.tools.registry import ToolRegistry
from tests.fake_open_webui import FakeBase, FakeFile, FakeOpenWebUI, client_session
from tests.knowledge.fakes import ListSink, run_context

KEY = "sk-owner"


async def test_collection_names_and_kb_ids_of_the_model_are_dropped_and_traced():
    own = FakeBase(
        id="kb-own", name="Own", owner=KEY, files=[FakeFile(id="f-1", name="a.md", text="x marks")]
    )
    other = FakeBase(
        id="other-kb",
        name="Other",
        owner=KEY,  # even a base of the same user is out of this run's scope
        files=[FakeFile(id="f-2", name="b.md", text="x secret")],
    )
    fake = FakeOpenWebUI(bases=[own, other])
    async with fake.serving(), client_session() as session:
        retriever = await OpenWebUIKnowledge(session, fake.url).open(["kb-own"], KEY)
        sink = ListSink()
        await ToolRegistry([SearchKnowledgeTool(retriever)]).dispatch(
            ToolCall(
                id="c1",
                name="search_knowledge_base",
                arguments={"query": "x", "collection_names": ["other-kb"], "kbIds": ["other-kb"]},
            ),
            run_context(sink),
        )
    assert fake.bodies("/api/v1/retrieval/query/collection") == [
        {"collection_names": ["kb-own"], "query": "x", "k": 5}
    ]
    finished = sink.events[-1]
    assert isinstance(finished, ToolFinished)
    assert finished.result.startswith("[1] a.md")
    assert "secret" not in finished.result
    assert finished.coerced == (
        "dropped unknown argument 'collection_names'",
        "dropped unknown argument 'kbIds'",
    )
