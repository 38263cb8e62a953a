"""Record what a real model server sends: `tests/cassettes/<server>-<case>.sse` or `.ndjson`.

    python scripts/record_cassettes.py llamacpp openai http://127.0.0.1:8080/v1 demo [KEY]
    python scripts/record_cassettes.py ollama ollama http://127.0.0.1:11434 qwen3:4b

The bodies are those of our own providers. Look at the difference before you commit it: a cassette
that changes shows how a server's stream has changed.
"""

import asyncio
import sys
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import aiohttp
from aiohttp import web

from inglenook.messages import Message, ToolCall, ToolSchema
from inglenook.providers.base import ModelSpec, StreamOptions
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.transport import open_session

FOLDER = Path(__file__).parent.parent / "tests" / "cassettes"
KEPT_HEADERS = ("Content-Type", "Authorization", "Accept-Encoding")
CALCULATE = ToolSchema(
    name="calculate",
    description="Work out an arithmetic expression.",
    parameters={
        "type": "object",
        "properties": {"expression": {"type": "string"}},
        "required": ["expression"],
    },
)
ASK = (
    Message(role="system", text="Use the tool for arithmetic. Answer in one short sentence."),
    Message(role="user", text="What is 17*23?"),
)
CALL = ToolCall(id="call_1", name="calculate", arguments={"expression": "17*23"})
ANSWERED = (
    *ASK,
    Message(role="assistant", tool_calls=(CALL,)),
    Message(role="tool", text="391", call_id="call_1", tool_name="calculate"),
)
GREETING = (Message(role="user", text="Grüße mich auf Deutsch mit einem Emoji 🙂."),)

CASES: dict[str, tuple[tuple[Message, ...], tuple[ToolSchema, ...], StreamOptions]] = {
    "call": (ASK, (CALCULATE,), StreamOptions(max_output_tokens=200)),
    "after-result": (ANSWERED, (CALCULATE,), StreamOptions(max_output_tokens=200)),
    "text": (GREETING, (), StreamOptions(max_output_tokens=60)),
    "length": (GREETING, (), StreamOptions(max_output_tokens=3)),
}


class Recorder:
    """A proxy on loopback that keeps the body of the last reply."""

    def __init__(self, session: aiohttp.ClientSession, upstream: str) -> None:
        self._session = session
        self._upstream = upstream.rstrip("/")
        self.recorded = bytearray()

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        self.recorded.clear()
        headers = {name: request.headers[name] for name in KEPT_HEADERS if name in request.headers}
        url = f"{self._upstream}/{request.match_info['path']}"
        body = await request.read()
        async with self._session.post(url, data=body, headers=headers) as upstream:
            reply = web.StreamResponse(
                status=upstream.status, headers={"Content-Type": upstream.content_type}
            )
            await reply.prepare(request)
            async for chunk in upstream.content.iter_any():
                self.recorded += chunk
                await reply.write(chunk)
        return reply


async def record(server: str, spec: ModelSpec) -> None:
    app = web.Application()
    runner = web.AppRunner(app, access_log=None)
    async with open_session() as session:
        recorder = Recorder(session, spec.base_url)
        app.router.add_post("/{path:.*}", recorder)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        proxied = replace(spec, base_url=f"http://127.0.0.1:{runner.addresses[0][1]}")
        kind = OllamaProvider if spec.provider == "ollama" else OpenAIChatProvider
        provider = kind(session, proxied)
        for case, (messages, tools, options) in CASES.items():
            async with aclosing(provider.stream(messages, tools, options)) as parts:
                async for _ in parts:
                    pass
            suffix = "ndjson" if spec.provider == "ollama" else "sse"
            path = FOLDER / f"{server}-{case}.{suffix}"
            path.write_bytes(recorder.recorded)
            print(path.name, len(recorder.recorded), "bytes")
        await runner.cleanup()


def main() -> None:
    server, kind, base_url, model, *key = sys.argv[1:]
    spec = ModelSpec(
        id=model,
        provider="ollama" if kind == "ollama" else "openai",
        model=model,
        base_url=base_url,
        api_key=key[0] if key else None,
    )
    asyncio.run(record(server, spec))


if __name__ == "__main__":
    main()
