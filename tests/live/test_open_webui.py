"""Knowledge bases in a real Open WebUI, read with the keys of its ordinary users."""

from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace

import aiohttp
import pytest

from inglenook.errors import InvalidRequest, NotFound, ToolError
from inglenook.knowledge.open_webui import OpenWebUIKnowledge
from tests.knowledge.fakes import pdf
from tests.live.real_open_webui import RealOpenWebUI, User

pytestmark = pytest.mark.live

LIST = "/api/v1/knowledge/"
QUERY = "/api/v1/retrieval/query/collection"
HANDBOOK = {"leave.md": "thirty days of leave", "pay.md": "monthly pay on fridays"}


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Our client, and the paths it has asked Open WebUI for."""

    knowledge: OpenWebUIKnowledge
    asked: list[str] = field(default_factory=list[str])


@pytest.fixture
async def reader(open_webui: RealOpenWebUI) -> AsyncGenerator[Reader]:
    asked: list[str] = []

    async def note(
        _: aiohttp.ClientSession, __: SimpleNamespace, request: aiohttp.TraceRequestStartParams
    ) -> None:
        asked.append(request.url.path)

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(note)
    jar = aiohttp.DummyCookieJar()
    async with aiohttp.ClientSession(cookie_jar=jar, trace_configs=[trace]) as session:
        yield Reader(knowledge=OpenWebUIKnowledge(session, open_webui.url), asked=asked)


@pytest.fixture
def ann(open_webui: RealOpenWebUI) -> User:
    return open_webui.user("ann")


@pytest.fixture
def ben(open_webui: RealOpenWebUI) -> User:
    return open_webui.user("ben")


async def test_all_that_a_user_may_read_is_listed_and_no_more(
    open_webui: RealOpenWebUI, reader: Reader, ben: User
):
    lister = open_webui.user("lister")
    own = {open_webui.base(lister, f"Base {n:02}"): 0 for n in range(31)}
    shared = open_webui.base(ben, "Shared", HANDBOOK)
    open_webui.share(shared, lister)
    open_webui.base(ben, "Private", {"private.md": "of ben alone"})
    open_webui.external_base("External", lister)
    listed = await reader.knowledge.list(lister.key)
    assert {base.id: base.files for base in listed} == own | {shared: 2}
    assert next(base.name for base in listed if base.id == shared) == "Shared"
    assert reader.asked == [LIST, LIST], "a page holds 30"


async def test_the_files_of_all_pages_and_folders_are_listed(
    open_webui: RealOpenWebUI, reader: Reader, ann: User
):
    base = open_webui.base(ann, "Archive")
    year = open_webui.folder(ann, base, "2026")
    summer = open_webui.folder(ann, base, "été", parent=year)
    names = {f"file {n:02}.md": None for n in range(31)}
    ids = {open_webui.add_file(ann, base, name, f"number {name}"): name for name in names}
    nested = open_webui.add_file(ann, base, "file 00.md", "the swimming pool opens", summer)
    scope = await reader.knowledge.open([base], ann.key)
    documents = await scope.documents()
    assert {document.id: document.name for document in documents} == ids | {
        nested: "2026/été/file 00.md"
    }
    assert {(d.knowledge_id, d.knowledge_name) for d in documents} == {(base, "Archive")}
    assert {d.size_bytes for d in documents if d.id == nested} == {len("the swimming pool opens")}
    assert reader.asked.count(f"/api/v1/knowledge/{base}/files") == 2
    [passage] = await scope.retrieve("swimming pool opens", 1)
    assert (passage.file_id, passage.file_name) == (nested, "2026/été/file 00.md")


@pytest.mark.parametrize("hybrid", [False, True])
async def test_passages_come_best_first_with_their_scores_and_files(
    open_webui: RealOpenWebUI, reader: Reader, ann: User, hybrid: bool
):
    handbook = open_webui.base(ann, "Handbook")
    ids = {open_webui.add_file(ann, handbook, name, text): name for name, text in HANDBOOK.items()}
    notes = open_webui.base(ann, "Notes", {"notes.txt": "leave early on fridays"})
    open_webui.base(ann, "Out of scope", {"other.md": "thirty more days of leave"})
    scope = await reader.knowledge.open([handbook, notes], ann.key)
    open_webui.search_hybrid(hybrid)
    try:
        passages = await scope.retrieve("thirty days of leave", 9)
        two = await scope.retrieve("fridays", 2)
    finally:
        open_webui.search_hybrid(False)
    assert {passage.file_name for passage in passages} == {*HANDBOOK, "notes.txt"}
    best = passages[0]
    assert (best.text, ids[best.file_id]) == ("thirty days of leave", "leave.md")
    assert best.knowledge_id == handbook
    assert best.score == pytest.approx(1.0, abs=1e-5)
    scores = [passage.score for passage in passages]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] < 0.8
    assert {passage.file_name for passage in two} == {"notes.txt", "pay.md"}
    assert scope.dropped == 0


async def test_the_same_words_in_two_bases_come_once(
    open_webui: RealOpenWebUI, reader: Reader, ann: User
):
    file = {"notice.md": "two weeks of notice"}
    ids = [open_webui.base(ann, name, file) for name in ("Old contract", "New contract")]
    scope = await reader.knowledge.open(ids, ann.key)
    assert len(await scope.documents()) == 2
    [passage] = await scope.retrieve("notice", 5)
    assert passage.knowledge_id in ids


async def test_a_pdf_is_found_and_read(open_webui: RealOpenWebUI, reader: Reader, ann: User):
    content = pdf("The kitchen closes at nine", "The cellar opens at ten")
    base = open_webui.base(ann, "Scans", {"house rules.pdf": content})
    scope = await reader.knowledge.open([base], ann.key)
    [passage] = await scope.retrieve("cellar opens", 1)
    assert "The cellar opens at ten" in passage.text
    assert passage.file_name == "house rules.pdf"
    text = await scope.read(passage.file_id)
    assert "The kitchen closes at nine" in text
    assert "The cellar opens at ten" in text


async def test_a_base_of_another_user_is_not_opened_and_nothing_is_asked_of_it(
    open_webui: RealOpenWebUI, reader: Reader, ann: User, ben: User
):
    own, foreign = open_webui.base(ann, "Own"), open_webui.base(ben, "Foreign", HANDBOOK)
    for ids in ([foreign], [own, foreign], ["unknown"]):
        with pytest.raises(NotFound, match="shows you no knowledge base"):
            await reader.knowledge.open(ids, ann.key)
    assert set(reader.asked) == {LIST}


async def test_a_base_outside_of_open_webui_is_refused_with_the_reason(
    open_webui: RealOpenWebUI, reader: Reader, ann: User
):
    with pytest.raises(InvalidRequest, match="outside of Open WebUI") as caught:
        await reader.knowledge.open([open_webui.external_base("Elsewhere", ann)], ann.key)
    assert (caught.value.status, caught.value.field) == (422, "knowledge")
    assert set(reader.asked) == {LIST}


async def test_a_base_taken_back_during_a_run_is_said_to_the_model(
    open_webui: RealOpenWebUI, reader: Reader, ann: User, ben: User
):
    base = open_webui.base(ben, "Lent", HANDBOOK)
    open_webui.share(base, ann)
    early = await reader.knowledge.open([base], ann.key)
    late = await reader.knowledge.open([base], ann.key)
    document = (await early.documents())[0]
    assert await early.read(document.id) == HANDBOOK[document.name]
    open_webui.share(base)
    with pytest.raises(ToolError, match=r"HTTP 400 .*not yours any more"):
        await late.documents()
    with pytest.raises(ToolError, match=r"HTTP 403 .*not yours any more"):
        await early.retrieve("leave", 5)
    with pytest.raises(ToolError, match=f"no longer gives '{document.name}'"):
        await early.read(document.id)


async def test_a_file_removed_during_a_run_is_neither_found_nor_read(
    open_webui: RealOpenWebUI, reader: Reader, ann: User
):
    base = open_webui.base(ann, "Shrinking", HANDBOOK)
    scope = await reader.knowledge.open([base], ann.key)
    ids = {document.name: document.id for document in await scope.documents()}
    open_webui.remove_file(ann, base, ids["leave.md"])
    assert [p.file_name for p in await scope.retrieve("thirty days", 5)] == ["pay.md"]
    with pytest.raises(ToolError, match=r"no longer gives 'leave\.md'"):
        await scope.read(ids["leave.md"])


@pytest.fixture
def rules(open_webui: RealOpenWebUI) -> Iterator[RealOpenWebUI]:
    """For changing what API keys may do; undone at the end."""
    yield open_webui
    open_webui.allow_keys(True)


async def test_keys_that_the_administrator_turned_off_are_said_to_be(
    rules: RealOpenWebUI, reader: Reader, ann: User
):
    rules.allow_keys(False)
    with pytest.raises(InvalidRequest, match="API keys may be off") as caught:
        await reader.knowledge.list(ann.key)
    assert (caught.value.status, caught.value.field) == (403, "authorization")


async def test_three_addresses_are_all_that_a_key_must_be_good_for(
    rules: RealOpenWebUI, reader: Reader, ann: User
):
    base = rules.base(ann, "Restricted", HANDBOOK)
    addresses = ["/api/v1/knowledge", "/api/v1/retrieval", "/api/v1/files"]
    rules.allow_keys(True, at=addresses)
    scope = await reader.knowledge.open([base], ann.key)
    [passage] = await scope.retrieve("thirty days", 1)
    assert await scope.read(passage.file_id) == "thirty days of leave"
    rules.allow_keys(True, at=addresses[:1])
    with pytest.raises(ToolError, match=r"HTTP 403 .*barred from this address"):
        await scope.retrieve("thirty days", 1)


async def test_a_key_that_is_none_or_none_any_more_is_refused(
    open_webui: RealOpenWebUI, reader: Reader
):
    user = open_webui.user("with-a-new-key")
    base = open_webui.base(user, "Mine", HANDBOOK)
    scope = await reader.knowledge.open([base], user.key)
    new_key = open_webui.new_key(user)
    for key in (user.key, f"sk-{'0' * 32}", "nonsense"):
        for ask in (reader.knowledge.list(key), reader.knowledge.open([base], key)):
            with pytest.raises(InvalidRequest, match="HTTP 401") as caught:
                await ask
            assert (caught.value.status, caught.value.field) == (401, "authorization")
            assert key not in str(caught.value)
    with pytest.raises(ToolError, match="HTTP 401"):
        await scope.retrieve("leave", 5)
    assert [base.name for base in await reader.knowledge.list(new_key)] == ["Mine"]


async def test_a_search_that_fails_there_is_said_to_the_model(
    open_webui: RealOpenWebUI, reader: Reader, ann: User
):
    scope = await reader.knowledge.open([open_webui.base(ann, "Down", HANDBOOK)], ann.key)
    open_webui.vectors.is_down = True
    try:
        with pytest.raises(ToolError, match=r"HTTP 400 .*embedding server may be away"):
            await scope.retrieve("leave", 5)
    finally:
        open_webui.vectors.is_down = False
    assert len(await scope.retrieve("leave", 5)) == 2, "and it goes on when it is back"
