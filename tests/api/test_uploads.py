"""Several files in one request: each under its own name, none lost without a word."""

import io
from pathlib import Path

import aiohttp

from inglenook.knowledge.local import LocalKnowledge
from tests.api.serving import serve
from tests.api.test_knowledge import Shelf
from tests.support import bench, replies, say


def as_browsers_send(*files: tuple[str, bytes]) -> aiohttp.FormData:
    """A slash in a name stays one; aiohttp's default would quote it."""
    data = aiohttp.FormData(quote_fields=False)
    for name, content in files:
        data.add_field("file", io.BytesIO(content), filename=name)
    return data


async def test_files_of_one_base_name_are_told_apart_or_refused(tmp_path: Path):
    shelf = Shelf()
    await shelf.create("K")
    files = [("a/b.txt", b"1"), ("b.txt", b"2"), ("b.txt", b"3"), ("./a/b.txt", b"4")]
    async with (
        bench(tmp_path, replies(say("x")), knowledge=shelf) as b,
        serve(b, library=shelf) as client,
    ):
        answer = await client.post("/api/knowledge/kb/files", data=as_browsers_send(*files))
    results = answer.json["results"]
    assert [result["outcome"] for result in results] == ["added", "added", "failed", "failed"]
    assert "'b.txt' came twice in this request" in results[2]["detail"]
    assert "'a/b.txt' came twice in this request" in results[3]["detail"]
    assert shelf.files == {"a/b.txt": b"1", "b.txt": b"2"}


async def test_a_relative_path_stays_in_the_name(tmp_path: Path):
    knowledge = LocalKnowledge(tmp_path / "home", embedder=None)
    base = await knowledge.create("K")
    files = [("a/b.txt", b"one"), ("b.txt", b"two")]
    try:
        async with (
            bench(tmp_path, replies(say("x")), knowledge=knowledge) as b,
            serve(b, library=knowledge) as client,
        ):
            await client.post(f"/api/knowledge/{base.id}/files", data=as_browsers_send(*files))
            listed = (await client.get(f"/api/knowledge/{base.id}/files")).json["items"]
    finally:
        await knowledge.close()
    assert [item["name"] for item in listed] == ["a/b.txt", "b.txt"]
