"""/api/knowledge: bases, files and search, here and where they live in Open WebUI."""

import io
import tempfile
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from inglenook.egress import Egress
from inglenook.errors import Conflict, InvalidRequest, NotFound, ToolError
from inglenook.knowledge.base import Document, KnowledgeBase, Label, Passage, Retriever
from inglenook.knowledge.local import LocalKnowledge
from tests.api.serving import Answer, Client, serve
from tests.support import bench, replies, say


@dataclass(frozen=True, kw_only=True)
class Taken:
    name: str
    status: str
    reason: str | None = None


@dataclass
class ShelfRetriever:
    files: dict[str, bytes]

    async def confidential(self) -> AbstractSet[str]:
        return frozenset()

    async def documents(self) -> Sequence[Document]:
        return [
            Document(
                id=name, name=name, knowledge_id="kb", knowledge_name="K", size_bytes=len(data)
            )
            for name, data in self.files.items()
        ]

    async def retrieve(self, query: str, k: int) -> Sequence[Passage]:
        if query == "boom":
            raise ToolError("the knowledge service is gone")
        return [
            Passage(
                text=f"{query} {n}", file_id="f", file_name="a.md", knowledge_id="kb", score=1.0
            )
            for n in range(k)
        ]

    async def read(self, document_id: str) -> str:
        return ""


@dataclass
class Shelf:
    """A library of one knowledge base, and the view that reads it."""

    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    bases: dict[str, KnowledgeBase] = field(default_factory=dict[str, KnowledgeBase])
    credentials: list[str | None] = field(default_factory=list[str | None])

    async def create(self, name: str, label: Label = "normal") -> KnowledgeBase:
        if name in {base.name for base in self.bases.values()}:
            raise Conflict(f"there is a knowledge base {name!r} already", field="name")
        self.bases["kb"] = KnowledgeBase(id="kb", name=name, label=label)
        return self.bases["kb"]

    async def add_bytes(self, knowledge_id: str, filename: str, data: bytes) -> Taken:
        self._known(knowledge_id)
        if filename == "broken.pdf":
            raise InvalidRequest("broken.pdf: not a PDF", status=422)
        if filename == "odd.txt":
            return Taken(name=filename, status="failed", reason="it is empty")
        self.files[filename] = data
        return Taken(name=filename, status="added")

    async def remove(self, knowledge_id: str) -> None:
        del self.bases[self._known(knowledge_id)]

    async def list(self, credential: str | None = None) -> Sequence[KnowledgeBase]:
        self.credentials.append(credential)
        return list(self.bases.values())

    async def open(
        self,
        knowledge_ids: Sequence[str],
        credential: str | None = None,
        egress: Egress | None = None,
    ) -> Retriever:
        self.credentials.append(credential)
        for id in knowledge_ids:
            self._known(id)
        return ShelfRetriever(self.files)

    def _known(self, id: str) -> str:
        if id not in self.bases:
            raise NotFound(f"there is no knowledge base {id!r}", field="knowledge")
        return id


def form(*files: tuple[str, bytes], field: str = "file") -> aiohttp.FormData:
    data = aiohttp.FormData()
    for name, content in files:
        data.add_field(field, io.BytesIO(content), filename=name)
    return data


async def upload(client: Client, *files: tuple[str, bytes], field: str = "file") -> Answer:
    return await client.post("/api/knowledge/kb/files", data=form(*files, field=field))


async def test_a_base_is_made_filled_searched_and_removed(tmp_path: Path):
    shelf = Shelf()
    async with (
        bench(tmp_path, replies(say("x")), knowledge=shelf) as b,
        serve(b, library=shelf) as client,
    ):
        made = await client.post("/api/knowledge", {"name": "Board", "label": "confidential"})
        assert made.status == 201
        assert made.json == {
            "id": "kb", "name": "Board", "label": "confidential",
            "files": 0, "chunks": 0, "embedded": 0,
        }  # fmt: skip
        assert (await client.get("/api/knowledge")).json == {
            "provider": "local",
            "items": [made.json],
        }
        added = await upload(client, ("a.md", b"# A"), ("b.txt", b"\x00\xff" * 10))
        assert added.json == {
            "results": [
                {"name": "a.md", "outcome": "added", "detail": None},
                {"name": "b.txt", "outcome": "added", "detail": None},
            ]
        }
        assert shelf.files == {"a.md": b"# A", "b.txt": b"\x00\xff" * 10}
        assert (await client.get("/api/knowledge/kb/files")).json["items"] == [
            {"id": "a.md", "name": "a.md", "size_bytes": 3},
            {"id": "b.txt", "name": "b.txt", "size_bytes": 20},
        ]
        found = (await client.get("/api/knowledge/kb/search", params={"q": "leave", "k": "2"})).json
        assert [item["text"] for item in found["items"]] == ["leave 0", "leave 1"]
        assert found["items"][0]["file_name"] == "a.md"
        gone = await client.ask("DELETE", "/api/knowledge/kb")
        assert gone.json == {"id": "kb", "removed": True}
        assert (await client.get("/api/knowledge")).json["items"] == []


async def test_one_bad_file_of_many_is_a_line_in_the_answer(tmp_path: Path):
    shelf = Shelf()
    await shelf.create("K")
    files = [("a.md", b"1"), ("broken.pdf", b"2"), ("odd.txt", b"3"), ("z.md", b"4")]
    async with (
        bench(tmp_path, replies(say("x")), knowledge=shelf) as b,
        serve(b, library=shelf) as client,
    ):
        results = (await upload(client, *files)).json["results"]
    assert [(r["name"], r["outcome"], r["detail"]) for r in results] == [
        ("a.md", "added", None),
        ("broken.pdf", "failed", "broken.pdf: not a PDF"),
        ("odd.txt", "failed", "it is empty"),
        ("z.md", "added", None),
    ]


async def test_a_large_upload_makes_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def forbidden(*_: Any, **__: Any) -> Any:
        raise OSError("no temporary files")

    monkeypatch.setattr(tempfile, "TemporaryFile", forbidden)
    shelf = Shelf()
    await shelf.create("K")
    async with (
        bench(tmp_path, replies(say("x")), knowledge=shelf) as b,
        serve(b, library=shelf) as client,
    ):
        answer = await upload(client, ("big.txt", bytes(5 << 20)))
        assert answer.status == 200
    assert len(shelf.files["big.txt"]) == 5 << 20


async def test_wrong_uploads_say_what_is_wrong(tmp_path: Path):
    shelf = Shelf()
    await shelf.create("K")
    async with (
        bench(tmp_path, replies(say("x")), knowledge=shelf) as b,
        serve(b, library=shelf) as client,
    ):
        path = "/api/knowledge/kb/files"
        as_json = await client.post(path, {"file": "x"})
        assert (as_json.status, as_json.error["type"]) == (415, "unsupported_media_type")
        other_field = await upload(client, ("a.md", b"1"), field="files")
        assert (other_field.status, other_field.error["field"]) == (400, "files")
        text_field = aiohttp.FormData({"file": "not a file"}, default_to_multipart=True)
        assert (await client.post(path, data=text_field)).status == 400
        empty = await client.post(
            path, data=b"--x--\r\n", headers={"Content-Type": "multipart/form-data; boundary=x"}
        )
        assert (empty.status, empty.error["field"]) == (400, "file")
        torn = await client.post(
            path, data=b"garbage", headers={"Content-Type": "multipart/form-data; boundary=x"}
        )
        assert (torn.status, torn.error["type"]) == (400, "invalid_request")
        unbounded = await client.post(
            path, data=b"x", headers={"Content-Type": "multipart/form-data"}
        )
        assert unbounded.status == 400
        unknown = await client.post("/api/knowledge/no/files", data=form(("a.md", b"1")))
        assert (unknown.status, unknown.error["type"]) == (404, "not_found")
    assert shelf.files == {}


async def test_an_upload_over_the_limit_is_413_with_the_number(tmp_path: Path):
    shelf = Shelf()
    await shelf.create("K")
    async with (
        bench(tmp_path, replies(say("x")), knowledge=shelf) as b,
        serve(b, library=shelf) as client,
    ):
        answer = await client.post(
            "/api/knowledge/kb/files",
            headers={"Content-Length": str((100 << 20) + 1), "Content-Type": "multipart/form-data"},
            data=None,
            skip_auto_headers=["Content-Length"],
        )
        assert (answer.status, answer.error["type"]) == (413, "too_large")
        assert "100 MiB" in answer.error["message"]


async def test_wrong_questions_are_refused(tmp_path: Path):
    shelf = Shelf()
    await shelf.create("K")
    async with (
        bench(tmp_path, replies(say("x")), knowledge=shelf) as b,
        serve(b, library=shelf) as client,
    ):
        twice = await client.post("/api/knowledge", {"name": "K"})
        assert (twice.status, twice.error["field"]) == (409, "name")
        label = await client.post("/api/knowledge", {"name": "L", "label": "secret"})
        assert (label.status, label.error["field"]) == (400, "label")
        assert "'normal' or 'confidential'" in label.error["message"]
        for query, field in (("", "q"), ("q=", "q"), ("q=x&k=0", "k"), ("q=x&k=51", "k")):
            answer = await client.get(f"/api/knowledge/kb/search?{query}")
            assert (answer.status, answer.error["field"]) == (400, field)
        unknown = await client.get("/api/knowledge/no/search?q=x")
        assert unknown.status == 404
        failing = await client.get("/api/knowledge/kb/search?q=boom")
        assert (failing.status, failing.error["type"]) == (503, "knowledge_unavailable")


async def test_with_open_webui_the_users_key_goes_along_and_nothing_is_changed_here(tmp_path: Path):
    shelf = Shelf()
    await shelf.create("K")
    async with (
        bench(tmp_path, replies(say("x")), knowledge=shelf) as b,
        serve(b, library=None, knowledge_provider="open-webui") as client,
    ):
        headers = {"X-Open-WebUI-Key": "sk-1"}
        listed = await client.get("/api/knowledge", headers=headers)
        assert listed.json["provider"] == "open-webui"
        await client.get("/api/knowledge/kb/files", headers=headers)
        await client.get("/api/knowledge/kb/search?q=x", headers=headers)
        assert shelf.credentials == ["sk-1"] * 3
        for method, path, options in (
            ("POST", "/api/knowledge", {"json": {"name": "N"}}),
            ("POST", "/api/knowledge/kb/files", {"data": form(("a.md", b"1"))}),
            ("DELETE", "/api/knowledge/kb", {}),
        ):
            answer = await client.ask(method, path, **options)
            assert answer.status == 422
            assert "Open WebUI" in answer.error["message"]


async def test_the_real_local_library_fits(tmp_path: Path):
    local = LocalKnowledge(tmp_path / "home", embedder=None)
    try:
        async with (
            bench(tmp_path, replies(say("x")), knowledge=local) as b,
            serve(b, library=local) as client,
        ):
            made = (await client.post("/api/knowledge", {"name": "Handbook"})).json
            path = f"/api/knowledge/{made['id']}"
            text = b"# Leave\n\nEvery employee has 31 days of leave a year."
            added = await client.post(
                f"{path}/files", data=form(("leave.md", text), ("x.exe", b"MZ"))
            )
            assert [r["outcome"] for r in added.json["results"]] == ["added", "failed"]
            found = (await client.get(f"{path}/search?q=days of leave")).json["items"]
            assert "31 days" in found[0]["text"]
            assert [f["name"] for f in (await client.get(f"{path}/files")).json["items"]] == [
                "leave.md"
            ]
            assert (await client.ask("DELETE", path)).status == 200
            assert (await client.get(f"{path}/files")).status == 404
    finally:
        await local.close()
