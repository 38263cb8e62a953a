"""A25: the model is told, wherever it can search, to keep private material out of the query."""

from pathlib import Path

from tests.support import bench, replies, say
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
