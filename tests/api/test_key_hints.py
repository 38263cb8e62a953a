"""Whoever lacks a key is told the header that this address reads."""

from pathlib import Path

from tests.api.serving import serve
from tests.support import bench, replies, say


async def test_listing_open_webuis_bases_without_a_key_names_the_header_that_is_read(
    tmp_path: Path,
):
    async with (
        bench(tmp_path, replies(say("x"))) as b,
        serve(b, knowledge_provider="open-webui") as client,
    ):
        answer = await client.get("/api/knowledge")
        assert (answer.status, answer.error["field"]) == (422, "X-Open-WebUI-Key")
        assert "X-Open-WebUI-Key" in answer.error["hint"]
        assert "Authorization" not in answer.error["hint"]
        given = await client.get("/api/knowledge", headers={"X-Open-WebUI-Key": "sk-1"})
        assert given.status == 200
