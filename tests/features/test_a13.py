"""A13: `read_document` gives the full extracted text of one file, found fuzzily in scope only."""

import pytest

from inglenook.errors import ToolError
from inglenook.knowledge.open_webui import OpenWebUIKnowledge
from inglenook.tools.documents import ReadDocumentTool
from tests.fake_open_webui import FakeBase, FakeFile, FakeOpenWebUI, client_session
from tests.knowledge.fakes import run_context

KEY = "sk-owner"
TEXT = "".join(f"Line {n} of the handbook.\n" for n in range(2000))


def fake() -> FakeOpenWebUI:
    inside = [FakeFile(id="f-1", name="Employee Handbook.pdf", text=TEXT)]
    outside = [FakeFile(id="f-2", name="salaries.xlsx", text="the secret")]
    return FakeOpenWebUI(
        bases=[
            FakeBase(id="kb-1", name="Handbook", owner=KEY, files=inside),
            FakeBase(id="kb-2", name="Payroll", owner=KEY, files=outside),
        ]
    )


async def test_the_pages_of_a_fuzzily_named_file_make_its_whole_text():
    async with fake().serving() as server, client_session() as session:
        tool = ReadDocumentTool(await OpenWebUIKnowledge(session, server.url).open(["kb-1"], KEY))
        rebuilt, offset = "", 0
        while offset < len(TEXT):
            arguments = tool.spec.arguments(name="employe handbook", offset=offset)
            output = await tool.run(arguments, run_context())
            head, _, rest = output.text.partition("\n")
            page, _, foot = rest.rpartition("\n[characters ")
            assert head.startswith("[1] Employee Handbook.pdf (file id f-1)")
            rebuilt += page
            offset = int(foot.split("-")[1].split(" ")[0])
        assert rebuilt == TEXT
    assert {r.path for r in server.seen if "/files/" in r.path} == {
        "/api/v1/files/f-1/data/content"
    }


@pytest.mark.parametrize("name", ["salaries.xlsx", "salaries", "f-2", "../salaries.xlsx"])
async def test_a_file_out_of_scope_is_not_asked_for(name: str):
    async with fake().serving() as server, client_session() as session:
        tool = ReadDocumentTool(await OpenWebUIKnowledge(session, server.url).open(["kb-1"], KEY))
        with pytest.raises(ToolError) as caught:
            await tool.run(tool.spec.arguments(name=name), run_context())
    assert "Employee Handbook.pdf" in str(caught.value)
    assert not [r for r in server.seen if "content" in r.path]
