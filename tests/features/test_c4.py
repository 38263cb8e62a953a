"""C4: three Ollama models with boolean thinking, and DeepSeek thinking at its maximum effort."""

from typing import Any

import aiohttp

from inglenook.providers.base import ModelProvider, ModelSpec
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.openai_chat import OpenAIChatProvider
from tests.providers.streaming import QUESTION, streamed
from tests.scripted_server import ScriptedServer


def four_models(server: ScriptedServer) -> list[ModelSpec]:
    ollama: dict[str, Any] = {"provider": "ollama", "base_url": server.url}
    return [
        ModelSpec(id="luna", model="luna:8b", thinking=True, **ollama),
        ModelSpec(id="terra", model="terra:14b", thinking=False, context_tokens=16384, **ollama),
        ModelSpec(id="sol", model="sol:32b", thinking=True, context_tokens=32768, **ollama),
        ModelSpec(
            id="deepseek-v4-pro",
            provider="openai",
            model="deepseek-v4-pro",
            base_url=server.openai_url,
            thinking=True,
            reasoning_effort="max",
        ),
    ]


def provider_of(session: aiohttp.ClientSession, spec: ModelSpec) -> ModelProvider:
    kind = OllamaProvider if spec.provider == "ollama" else OpenAIChatProvider
    return kind(session, spec)


async def test_each_model_is_asked_in_its_own_terms(session: aiohttp.ClientSession) -> None:
    async with ScriptedServer(lambda _: "ok") as server:
        for spec in four_models(server):
            await streamed(provider_of(session, spec), QUESTION, tools=())
    luna, terra, sol, deepseek = (seen.body for seen in server.chats)
    assert [(body["model"], body["think"]) for body in (luna, terra, sol)] == [
        ("luna:8b", True),
        ("terra:14b", False),
        ("sol:32b", True),
    ]
    windows = [body["options"]["num_ctx"] for body in (luna, terra, sol)]
    assert windows == [8192, 16384, 32768]
    for body in (luna, terra, sol):
        assert "reasoning_effort" not in body
    assert deepseek["model"] == "deepseek-v4-pro"
    assert deepseek["thinking"] == {"type": "enabled"}
    assert deepseek["reasoning_effort"] == "max"
    assert [seen.path for seen in server.chats] == ["/api/chat"] * 3 + ["/v1/chat/completions"]
