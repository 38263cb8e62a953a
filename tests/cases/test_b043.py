"""B043: both shapes of Open WebUI's knowledge API give all names; `files: null` is not none."""

from typing import Any

import pytest

from inglenook.knowledge.open_webui import OpenWebUIKnowledge
from tests.fake_open_webui import FakeBase, FakeFile, FakeOpenWebUI, client_session

KEY = "sk-owner"


@pytest.mark.parametrize("shape", ["new", "old"])
async def test_45_bases_and_70_files_are_all_named(shape: Any):
    bases = [FakeBase(id=f"kb-{n}", name=f"Base {n}", owner=KEY) for n in range(45)]
    bases[44].files = [FakeFile(id=f"f-{n}", name=f"file {n}.md", text="x") for n in range(70)]
    fake = FakeOpenWebUI(bases=bases, shape=shape)
    async with fake.serving(), client_session() as session:
        knowledge = OpenWebUIKnowledge(session, fake.url)
        listed = await knowledge.list(KEY)
        assert len(listed) == 45
        counts = {f"Base {n}": 70 if n == 44 else 0 for n in range(45)}
        assert {base.name: base.files for base in listed} == counts
        documents = await (await knowledge.open(["kb-44"], KEY)).documents()
        assert {document.name for document in documents} == {f"file {n}.md" for n in range(70)}
        assert len(documents) == 70
    pages = [request.path for request in fake.seen if request.path.endswith("/files")]
    assert len(pages) == (3 if shape == "new" else 0)
