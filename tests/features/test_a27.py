"""A27: all traffic of the local tools stays on 127.0.0.1, and local knowledge makes none."""

import sys
from pathlib import Path
from typing import Any

from inglenook.knowledge.local import LocalKnowledge
from inglenook.knowledge.open_webui import OpenWebUIKnowledge
from inglenook.messages import ToolCall
from inglenook.tools.base import Tool
from inglenook.tools.calculator import CalculatorTool
from inglenook.tools.clock import ClockTool
from inglenook.tools.documents import ReadDocumentTool, SearchKnowledgeTool
from inglenook.tools.registry import ToolRegistry
from tests.fake_open_webui import FakeBase, FakeFile, FakeOpenWebUI, client_session
from tests.knowledge.fakes import ListSink, WordEmbedder, run_context

KEY = "sk-owner"
_connected: list[Any] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        _connected.append(arguments if event == "socket.getaddrinfo" else arguments[1])


sys.addaudithook(_audit)


async def call_all(*tools: Tool) -> None:
    sink = ListSink()
    calls: list[tuple[str, dict[str, object]]] = [
        ("calculate", {"expression": "17*23"}),
        ("get_current_datetime", {}),
        ("search_knowledge_base", {"query": "leave"}),
        ("read_document", {"name": "leave.md"}),
        ("read_document", {"name": "http://example.com/leave.md"}),
    ]
    registry = ToolRegistry([CalculatorTool(), ClockTool(), *tools])
    for n, (name, arguments) in enumerate(calls):
        call = ToolCall(id=f"c{n}", name=name, arguments=arguments)
        await registry.dispatch(call, run_context(sink))
    dumped = [event.model_dump() for event in sink.events]
    errors = [event["is_error"] for event in dumped if "is_error" in event]
    assert errors == [False, False, False, False, True]
    assert not any(event.get("network") for event in dumped)


async def test_with_open_webui_on_this_machine_every_connection_is_loopback():
    files = [FakeFile(id="f-1", name="leave.md", text="thirty days of leave")]
    fake = FakeOpenWebUI(bases=[FakeBase(id="kb-1", name="Handbook", owner=KEY, files=files)])
    async with fake.serving(), client_session() as session:
        _connected.clear()
        retriever = await OpenWebUIKnowledge(session, fake.url).open(["kb-1"], KEY)
        await call_all(SearchKnowledgeTool(retriever), ReadDocumentTool(retriever))
    assert {str(address[0]) for address in _connected} == {"127.0.0.1"}


async def test_local_knowledge_connects_to_nothing(tmp_path: Path):
    _connected.clear()
    knowledge = LocalKnowledge(tmp_path, embedder=WordEmbedder())
    base = await knowledge.create("Handbook")
    await knowledge.add_bytes(base.id, "leave.md", b"thirty days of leave")
    await knowledge.embed_pending()
    retriever = await knowledge.open([base.id])
    await call_all(SearchKnowledgeTool(retriever), ReadDocumentTool(retriever))
    await knowledge.close()
    assert _connected == []
