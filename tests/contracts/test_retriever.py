"""What every Retriever and Knowledge promises: over local bases, and over Open WebUI's API.

With `-m live` the same is asked of a real Open WebUI (see `tests/live/real_open_webui.py`).
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from inglenook.errors import NotFound, ToolError
from inglenook.knowledge.base import Knowledge, Retriever
from inglenook.knowledge.local import LocalKnowledge
from inglenook.knowledge.open_webui import OpenWebUIKnowledge
from tests.fake_open_webui import FakeBase, FakeFile, FakeOpenWebUI, client_session
from tests.knowledge.fakes import WordEmbedder
from tests.live.real_open_webui import RealOpenWebUI

KEY = "sk-owner"
DOCUMENTS = {
    "Handbook": {"leave.md": "thirty days of leave", "pay.md": "monthly pay"},
    "Notes": {"notes.txt": "leave early on fridays"},
    "Empty": {},
    "Other": {"other.md": "the leave of others"},
}
MANY = "Handbook", "Notes", "Empty"


@dataclass(frozen=True, kw_only=True)
class Subject:
    knowledge: Knowledge
    ids: dict[str, str]
    """By name."""
    key: str = KEY

    async def open(self, *names: str) -> Retriever:
        return await self.knowledge.open([self.ids[name] for name in names], self.key)


async def local(tmp_path: Path, stack: AsyncExitStack, *, is_embedded: bool) -> Subject:
    knowledge = LocalKnowledge(tmp_path, embedder=WordEmbedder() if is_embedded else None)
    stack.push_async_callback(knowledge.close)
    ids: dict[str, str] = {}
    for name, files in DOCUMENTS.items():
        ids[name] = (await knowledge.create(name)).id
        for file, text in files.items():
            await knowledge.add_bytes(ids[name], file, text.encode())
    await knowledge.embed_pending()
    return Subject(knowledge=knowledge, ids=ids)


async def full_text(tmp_path: Path, stack: AsyncExitStack) -> Subject:
    return await local(tmp_path, stack, is_embedded=False)


async def hybrid(tmp_path: Path, stack: AsyncExitStack) -> Subject:
    return await local(tmp_path, stack, is_embedded=True)


async def fake_open_webui(tmp_path: Path, stack: AsyncExitStack) -> Subject:
    bases = [
        FakeBase(
            id=f"kb-{name}",
            name=name,
            owner=KEY,
            files=[FakeFile(id=f"f-{f[:3]}", name=f, text=text) for f, text in files.items()],
        )
        for name, files in DOCUMENTS.items()
    ]
    fake = await stack.enter_async_context(FakeOpenWebUI(bases=bases).serving())
    session = await stack.enter_async_context(client_session())
    return Subject(
        knowledge=OpenWebUIKnowledge(session, fake.url),
        ids={base.name: base.id for base in bases},
    )


async def really_open_webui(server: RealOpenWebUI, stack: AsyncExitStack) -> Subject:
    user = server.user("contract")
    session = await stack.enter_async_context(client_session())
    knowledge = OpenWebUIKnowledge(session, server.url)
    ids = {base.name: base.id for base in await knowledge.list(user.key)}
    if not ids:
        ids = {name: server.base(user, name, files) for name, files in DOCUMENTS.items()}
    return Subject(knowledge=knowledge, ids=ids, key=user.key)


Maker = Callable[[Path, AsyncExitStack], Awaitable[Subject]]


@pytest.fixture(
    params=[
        full_text,
        hybrid,
        fake_open_webui,
        pytest.param("really_open_webui", marks=pytest.mark.live),
    ],
    ids=lambda maker: getattr(maker, "__name__", str(maker)),
)
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Subject]:
    make: Maker | str = request.param
    async with AsyncExitStack() as stack:
        if isinstance(make, str):
            yield await really_open_webui(request.getfixturevalue("open_webui"), stack)
        else:
            yield await make(tmp_path, stack)


async def test_all_bases_are_listed(subject: Subject):
    listed = await subject.knowledge.list(subject.key)
    assert {base.name: base.id for base in listed} == subject.ids
    assert {base.name: base.files for base in listed} == {
        name: len(files) for name, files in DOCUMENTS.items()
    }


async def test_the_scope_lists_its_documents(subject: Subject):
    documents = await (await subject.open(*MANY)).documents()
    assert {(d.name, d.knowledge_name) for d in documents} == {
        ("leave.md", "Handbook"),
        ("pay.md", "Handbook"),
        ("notes.txt", "Notes"),
    }
    assert all(d.knowledge_id == subject.ids[d.knowledge_name] for d in documents)
    assert len({document.id for document in documents}) == 3


async def test_passages_come_best_first_from_the_scope_alone(subject: Subject):
    retriever = await subject.open(*MANY)
    passages = await retriever.retrieve("thirty days leave", 9)
    assert passages[0].file_name == "leave.md"
    assert passages[0].text == "thirty days of leave"
    assert passages[0].knowledge_id == subject.ids["Handbook"]
    assert "other.md" not in {passage.file_name for passage in passages}
    scores = [passage.score for passage in passages]
    assert scores == sorted(scores, reverse=True)
    known = {document.id for document in await retriever.documents()}
    assert {passage.file_id for passage in passages} <= known


async def test_at_most_k_passages_come(subject: Subject):
    retriever = await subject.open(*MANY)
    assert len(await retriever.retrieve("leave", 1)) == 1


@pytest.mark.parametrize("query", ["", "   ", "\n"])
async def test_a_blank_query_finds_nothing(subject: Subject, query: str):
    assert list(await (await subject.open(*MANY)).retrieve(query, 5)) == []


@pytest.mark.parametrize("query", ['"', "NEAR(", "a OR", "*", "\0", "\ud800", "x" * 9000, "%s';--"])
async def test_no_query_is_an_error(subject: Subject, query: str):
    await (await subject.open(*MANY)).retrieve(query, 5)


async def test_a_document_is_read_whole(subject: Subject):
    retriever = await subject.open(*MANY)
    by_name = {document.name: document.id for document in await retriever.documents()}
    assert await retriever.read(by_name["pay.md"]) == "monthly pay"


@pytest.mark.parametrize("id", ["", "f-nothing", "../f-1", "*", "a\0b"])
async def test_an_unknown_document_is_an_error_for_the_model(subject: Subject, id: str):
    with pytest.raises(ToolError):
        await (await subject.open(*MANY)).read(id)


async def test_a_document_out_of_scope_is_an_error_for_the_model(subject: Subject):
    (other,) = await (await subject.open("Other")).documents()
    with pytest.raises(ToolError):
        await (await subject.open(*MANY)).read(other.id)


async def test_an_empty_base_is_an_empty_scope(subject: Subject):
    retriever = await subject.open("Empty")
    assert list(await retriever.documents()) == []
    assert list(await retriever.retrieve("leave", 5)) == []


async def test_one_unknown_id_opens_nothing(subject: Subject):
    with pytest.raises(NotFound):
        await subject.knowledge.open([*subject.ids.values(), "kb-unknown"], subject.key)
