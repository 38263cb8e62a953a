"""What the server says of itself; headers on everything; docs that load nothing from elsewhere."""

import re
from collections.abc import Sequence
from pathlib import Path

from inglenook.errors import StoreError
from inglenook.runs.doctor import Check
from tests.api.serving import serve
from tests.support import bench, replies, say


async def checks() -> Sequence[Check]:
    return [
        Check(name="store", state="ok", why="it answers"),
        Check(name="models", state="fail", why="none", fix="ollama pull qwen3"),
    ]


async def test_health_version_config_and_doctor(tmp_path: Path):
    async with (
        bench(tmp_path, replies(say("x"))) as b,
        serve(
            b,
            token="t0ken-canary",
            doctor=checks,
            example_question="How many days?",
            example_knowledge=("kb",),
        ) as client,
    ):
        assert (await client.get("/health")).json == {"status": "ok", "version": "1.2.3"}
        headers = {"Authorization": "Bearer t0ken-canary"}
        assert (await client.get("/api/version", headers=headers)).json == {"version": "1.2.3"}
        assert (await client.get("/ready", headers=headers)).json == {"status": "ready"}
        config = await client.get("/api/config", headers=headers)
        assert config.json == {
            "version": "1.2.3",
            "show_reasoning": False,
            "knowledge_provider": "local",
            "token_required": True,
            "example_question": "How many days?",
            "example_knowledge": ["kb"],
        }
        assert b"canary" not in config.body
        assert (await client.get("/api/doctor", headers=headers)).json == {
            "checks": [
                {"name": "store", "state": "ok", "why": "it answers", "fix": None},
                {"name": "models", "state": "fail", "why": "none", "fix": "ollama pull qwen3"},
            ]
        }


async def test_a_store_that_fails_is_not_ready(tmp_path: Path):
    async def broken() -> Sequence[Check]:
        raise StoreError("the home's disk cannot take more; free some space")

    async with bench(tmp_path, replies(say("x"))) as b, serve(b, doctor=broken) as client:
        answer = await client.get("/api/doctor")
        assert (answer.status, answer.error["type"]) == (503, "store_unavailable")
        assert "free some space" in answer.error["message"]


async def test_a_fault_of_our_own_is_500_in_our_form_with_headers(tmp_path: Path):
    async def faulty() -> Sequence[Check]:
        raise RuntimeError("password=hunter2")

    async with bench(tmp_path, replies(say("x"))) as b, serve(b, doctor=faulty) as client:
        answer = await client.get("/api/doctor")
        assert (answer.status, answer.error["type"]) == (500, "internal_error")
        assert b"hunter2" not in answer.body
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")


async def test_every_answer_carries_the_security_headers(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        for path in (
            "/",
            "/health",
            "/api/runs",
            "/docs",
            "/openapi.json",
            "/nowhere",
            "/v1/models",
        ):
            headers = (await client.get(path)).headers
            assert headers["content-security-policy"].startswith("default-src 'none'"), path
            assert headers["x-content-type-options"] == "nosniff", path
            assert headers["referrer-policy"] == "no-referrer", path
            assert headers["cross-origin-resource-policy"] == "same-origin", path
            assert "access-control-allow-origin" not in headers, path
        assert (await client.get("/api/runs")).headers["cache-control"] == "no-store"


async def test_the_docs_list_every_operation_and_load_nothing(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        spec = (await client.get("/openapi.json")).json
        docs = await client.get("/docs")
    html = docs.body.decode()
    for path, methods in spec["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in html
    assert "allowWeb" in html
    assert "<script" not in html
    assert re.findall(r'(?:src|href)="([^"]*)"', html) == ["/openapi.json"]
    assert "unsafe-inline" not in docs.headers["content-security-policy"]
    assert "style-src 'sha256-" in docs.headers["content-security-policy"]


async def test_a_page_that_was_not_built_says_how_to_get_it(tmp_path: Path):
    async with (
        bench(tmp_path, replies(say("x"))) as b,
        serve(b, page_folder=tmp_path / "none") as client,
    ):
        page = await client.get("/")
        assert page.status == 200
        assert b"npm" in page.body


async def test_a_home_that_takes_no_writes_is_not_ready(tmp_path: Path):
    async def full() -> None:
        raise StoreError("the home takes no writes; free some space")

    async with bench(tmp_path, replies(say("x"))) as b, serve(b, check_writable=full) as client:
        answer = await client.get("/ready")
        assert (answer.status, answer.error["type"]) == (503, "store_unavailable")
        assert "free some space" in answer.error["message"]
        assert (await client.get("/health")).status == 200


async def test_health_answers_head(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        answer = await client.ask("HEAD", "/health")
        assert (answer.status, answer.body) == (200, b"")
