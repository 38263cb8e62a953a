"""B013: a number sent as text is taken as the number and the event says so; `three` is refused."""

from pathlib import Path

from inglenook.events import ToolFinished
from inglenook.tools.documents import SearchKnowledgeTool
from tests.knowledge.fakes import FakeRetriever, document
from tests.support import bench, call, replies, say


async def test_a_small_models_search_runs_and_its_mistakes_are_recorded(tmp_path: Path):
    retriever = FakeRetriever({document(f"{n}.md"): "x marks the spot" for n in range(9)})
    provider = replies(
        say("", call("search_knowledge_base", "c1", query="x", k="3")),
        say("", call("search_knowledge_base", "c2", query="x", k="three")),
        say("done"),
    )
    tools = [SearchKnowledgeTool(retriever)]
    async with bench(tmp_path, provider, tools=tools) as b:
        run = await b.run()
        taken, refused = [
            e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)
        ]
    assert (taken.is_error, taken.coerced) == (False, ("k: '3' taken as 3",))
    assert [source.n for source in taken.sources] == [1, 2, 3]
    assert refused.is_error
    assert "k: wanted an integer from 1 to 20, got 'three'" in refused.result
    assert provider.views[2][-1].text == refused.result, "the model reads it"
    assert run["answer"] == "done"
