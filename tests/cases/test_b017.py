"""B017: a model that takes no tools is found out once, and works through JSON envelopes."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from inglenook.bootstrap.runtime import Runtime, open_runtime
from inglenook.events import ModelReplied, ToolFinished
from inglenook.messages import Message
from inglenook.run_request import RunRequest
from inglenook.settings.load import load
from tests.scripted_replies import Answer, Failure
from tests.scripted_server import ScriptedServer

CALL = '{"name": "calculate", "arguments": {"expression": "17*23"}}'
ANSWER = '{"answer": "17*23 is 391."}'
REFUSALS = {
    "Ollama": Failure(
        status=400,
        body={"error": "registry.ollama.ai/library/gemma2:2b does not support tools"},
    ),
    "llama.cpp": Failure(
        status=500,
        body={
            "error": {
                "code": 500,
                "message": "tools param requires --jinja flag",
                "type": "server_error",
            }
        },
    ),
    "llama.cpp, older": Failure(
        status=400, body={"error": {"message": "Unsupported param: tools requires --jinja"}}
    ),
    "vLLM": Failure(
        status=400,
        body={
            "object": "error",
            "message": '"auto" tool choice requires --enable-auto-tool-choice and '
            "--tool-call-parser to be set",
            "type": "BadRequestError",
            "code": 400,
        },
    ),
    "OpenRouter": Failure(
        status=404,
        body={
            "error": {
                "message": "No endpoints found that support tool use. To learn more about provider "
                "routing, visit: https://openrouter.ai/docs/provider-routing",
                "code": 404,
            }
        },
    ),
}


def toolless(refusal: Failure) -> Any:
    """Answers nothing that carries tools, or messages that only a tool template knows."""

    def answer(body: dict[str, Any]) -> Answer:
        messages = body["messages"]
        if "tools" in body or any(m["role"] == "tool" or "tool_calls" in m for m in messages):
            return refusal
        return ANSWER if messages[-1]["content"].startswith("Result of calculate: 391") else CALL

    return answer


@asynccontextmanager
async def runtime(home: Path, kind: str, server: ScriptedServer) -> AsyncGenerator[Runtime]:
    place = (
        {"OLLAMA_HOST": server.url}
        if kind == "Ollama"
        else {"OPENAI_BASE_URL": server.openai_url, "OLLAMA_HOST": "http://127.0.0.1:9"}
    )
    environment = {"INGLENOOK_HOME": str(home), "INGLENOOK_KNOWLEDGE__EMBEDDER": "none"}
    async with open_runtime(load(environment=environment | place)) as opened:
        yield opened


async def asked(opened: Runtime) -> tuple[dict[str, Any], list[ModelReplied], list[ToolFinished]]:
    question = (Message(role="user", text="What is 17*23?"),)
    row = await opened.runs.start(RunRequest(model="scripted", messages=question))
    await opened.runs.wait(row.id)
    events = await opened.runs.events(row.id)
    return (
        await opened.runs.get(row.id),
        [event for event in events if isinstance(event, ModelReplied)],
        [event for event in events if isinstance(event, ToolFinished)],
    )


@pytest.mark.parametrize("kind", REFUSALS)
async def test_found_once_a_model_and_remembered_after_a_restart(tmp_path: Path, kind: str) -> None:
    models = {"scripted": {"capabilities": ["completion"]}}
    async with ScriptedServer(toolless(REFUSALS[kind]), models=models) as server:
        for _ in range(2):
            async with runtime(tmp_path / "home", kind, server) as opened:
                for _ in range(2):
                    run, replies, results = await asked(opened)
                    assert (run["status"], run["answer"]) == ("complete", "17*23 is 391.")
                    assert [result.result for result in results] == ["391"]
                    assert [reply.tool_mode for reply in replies] == ["envelope"] * 2
                    assert [reply.repairs for reply in replies] == [(), ()]
                [report] = await opened.models.reports()
            assert (report.known.tool_mode, report.known.because) == ("envelope", "refused")
    refused = ["tools" in seen.body for seen in server.chats]
    assert refused == [True] + [False] * 8, "one request was refused, and none after it"


async def test_the_servers_word_is_enough_where_it_was_asked_anyway(tmp_path: Path) -> None:
    models = {"scripted": {"capabilities": ["completion"]}}
    async with (
        ScriptedServer(toolless(REFUSALS["Ollama"]), models=models) as server,
        runtime(tmp_path / "home", "Ollama", server) as opened,
    ):
        [report] = await opened.models.reports()
        assert report.abilities.tools is False
        run, _, _ = await asked(opened)
        assert run["status"] == "complete"
    assert not any("tools" in seen.body for seen in server.chats)


async def test_a_model_that_takes_tools_is_asked_with_them_alone(tmp_path: Path) -> None:
    async with (
        ScriptedServer(["Hello."]) as server,
        runtime(tmp_path / "home", "Ollama", server) as opened,
    ):
        run, [reply], _ = await asked(opened)
    assert (run["answer"], reply.tool_mode) == ("Hello.", "native")
    assert [seen.path for seen in server.requests if seen.path != "/api/tags"] == ["/api/chat"]


async def test_schema_refused_as_well_leaves_the_instructions(tmp_path: Path) -> None:
    plain = toolless(REFUSALS["vLLM"])

    def answer(body: dict[str, Any]) -> Answer:
        if "response_format" in body:
            return Failure(status=400, body={"error": {"message": "guided decoding is off"}})
        told = plain(body)
        return f"```json\n{told}\n```" if isinstance(told, str) else told

    async with ScriptedServer(answer) as server:
        for _ in range(2):
            async with runtime(tmp_path / "home", "vLLM", server) as opened:
                run, replies, _ = await asked(opened)
                assert (run["status"], run["answer"]) == ("complete", "17*23 is 391.")
                assert {reply.tool_mode for reply in replies} == {"envelope"}
    forms = ["tools" in seen.body or "response_format" in seen.body for seen in server.chats]
    assert forms == [True, True, False, False, False, False]
