"""A scripted API server for tests of the page: the real page routes over made-up runs.

It answers the addresses of API sections 4 and 5 that the page uses, plays a run's frames with
their delays, and keeps every request for the tests to look at. What stands in `MockApi.held` waits
until the test lets it go, so that no test has to hit a moment.
"""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from inglenook.api.page import page_routes
from tests.e2e.page_mock_web import (
    DECISIONS,
    after,
    approval_item,
    decided,
    default_web,
    edited_requests,
    iso,
    ledger_of,
    preview_of,
    requested,
)
from tests.e2e.page_scenes import Approval, Child, Frame, Json, Scene

JSON = dict[str, Any]
EVENT_TAKES = timedelta(seconds=0.4)
"""Between the events of a run of the past."""


@dataclass
class PlayedRun:
    id: str
    scene: Scene
    body: JSON
    log: list[JSON] = field(default_factory=list[JSON])
    live: list[tuple[int, JSON]] = field(default_factory=list[tuple[int, JSON]])
    """Live frames, each with the length of the log when it came."""
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    task: asyncio.Task[None] | None = None
    parent: str | None = None
    rest: Iterator[Frame] | None = None
    """Of a run of the past that waits for a person: what comes after the decision."""

    @property
    def status(self) -> str:
        last = self.log[-1] if self.log else {}
        if last.get("type") == "run_finished":
            return str(last["status"])
        return "waiting" if last.get("type") == "run_waiting" else "running"

    def item(self) -> JSON:
        return {
            "id": self.id,
            "session": self.body.get("session"),
            "parent": self.parent,
            "title": self.body["messages"][-1]["content"][:80],
            "status": self.status,
            "reason": None,
            "explanation": "",
            "model": self.body["model"],
            "strategy": "assistant",
            "created_at": iso(self.created_at),
            "finished_at": None,
        }

    def begun_live(self) -> int:
        """Who joins in the middle of a reply gets its pieces from the first on, as from the server.

        Index in `live`.
        """
        replied = [event["seq"] for event in self.log if event["type"] == "model_replied"]
        last = replied[-1] if replied else -1
        return sum(behind <= last for behind, _ in self.live)

    def append(self, fields: Json, at: datetime | None = None) -> None:
        header = {"seq": len(self.log), "run_id": self.id, "at": iso(at or datetime.now(UTC))}
        event = {**header, **fields}
        if event["type"] == "run_started":
            messages = [
                {"role": each["role"], "text": each["content"]} for each in self.body["messages"]
            ]
            request = {**self.body, "messages": messages}
            event |= {"request": request, "model": self.body["model"]}
            event["parent"] = self.parent
        self.log.append(event)


class MockApi:
    """State of the scripted server; a test changes it, the page sees it."""

    def __init__(self, folder: Path, *, scene: Scene | None = None) -> None:
        self.runs: dict[str, PlayedRun] = {}
        self.scene = scene or Scene()
        """What the next started run plays."""
        self.requests: list[JSON] = []
        self.config: JSON = {
            "version": "0.1.0",
            "show_reasoning": False,
            "knowledge_provider": "local",
            "token_required": False,
            "example_question": "How many days of leave does every employee have?",
            "example_knowledge": ["kb-handbook"],
        }
        self.models: JSON = default_models()
        self.knowledge: list[JSON] = default_knowledge()
        self.files: dict[str, list[JSON]] = {"kb-handbook": [_file("handbook.md", 18_204)]}
        self.checks: list[JSON] = default_checks()
        self.web: JSON = default_web()
        self.approvals: dict[tuple[str, str], JSON] = {}
        """By run and call."""
        self.token = ""
        self.replay: JSON = {"identical": True, "difference": None}
        self.refuse_run: tuple[int, JSON] | None = None
        self.cut_streams_after: list[int] = []
        """The next streams end after so many frames, one entry a stream."""
        self.held: set[str] = set()
        """Requests, as `GET /path`, whose answers are on their way until the test lets them go, and
        places (`Scene.place`) where runs stand still."""
        self.app = Starlette(routes=[*self._routes(), *page_routes(folder)])

    def add_run(self, run_id: str, scene: Scene, *, question: str, **body: Any) -> PlayedRun:
        """A run of the past: its whole log is there."""
        messages = [{"role": "user", "content": question}]
        defaults: JSON = {"model": "qwen3:8b", "messages": messages, "knowledge": [], "web": False}
        run = PlayedRun(id=run_id, scene=scene, body=defaults | body)
        self.runs[run_id] = run
        self._record(run, iter(scene.frames))
        return run

    def _record(self, run: PlayedRun, frames: Iterator[Frame]) -> None:
        """Write a log of the past, up to where it waits for a person."""

        def append(fields: Json) -> None:
            run.append(fields, run.created_at + len(run.log) * EVENT_TAKES)

        for frame in frames:
            if frame.approval:
                item = self._asked(run, frame.approval, append)
                if frame.approval.decided is None:
                    append({"type": "run_waiting", "reason": "approval"})
                    run.rest = frames
                    return
                by = None if frame.approval.decided == "timed_out" else "page"
                item |= {"status": frame.approval.decided, "by": by}
                item |= {"arguments": frame.approval.edited_to}
                append(decided(item))
                self._record(run, iter(after(frame.approval, item)))
            elif frame.child:
                child = self._child(run, frame.child, append)
                self._record(child, iter(frame.child.scene.frames))
                if child.status == "waiting":
                    append({"type": "run_waiting", "reason": "approval"})
                    run.rest = frames
                    return
                append(_child_event("child_finished", frame.child) | {"status": child.status})
            elif not frame.live and not frame.place:
                append(frame.fields)

    def _asked(self, run: PlayedRun, asked: Approval, append: Callable[[Json], None]) -> JSON:
        item = approval_item(run.id, run.parent or run.id, asked)
        self.approvals[run.id, asked.call["id"]] = item
        append(requested(item))
        return item

    def _child(self, run: PlayedRun, child: Child, append: Callable[[Json], None]) -> PlayedRun:
        messages = [{"role": "user", "content": child.question}]
        body = run.body | {"messages": messages}
        started = PlayedRun(id=child.id, scene=child.scene, body=body, parent=run.id)
        self.runs[child.id] = started
        append(_child_event("child_started", child))
        return started

    def requests_to(self, path: str, method: str = "POST") -> list[JSON]:
        return [each for each in self.requests if (each["method"], each["path"]) == (method, path)]

    def _routes(self) -> list[Route]:
        def route(path: str, handler: Any, *methods: str) -> Route:
            async def endpoint(request: Request) -> Response:
                await self._note(request)
                if self.token and request.headers.get("authorization") != f"Bearer {self.token}":
                    response = _error(401, "The server wants a token.")
                else:
                    response = await handler(request)
                await self._until_let_go(f"{request.method} {request.url.path}")
                return response

            return Route(path, endpoint, methods=list(methods) or ["GET"])

        return [
            route("/api/config", self._config),
            route("/api/models", self._models),
            route("/api/doctor", self._doctor),
            route("/api/knowledge", self._knowledge, "GET", "POST"),
            route("/api/knowledge/{id}/files", self._files, "GET", "POST"),
            route("/api/runs", self._runs, "GET", "POST"),
            route("/api/runs/{id}/events", self._events),
            route("/api/runs/{id}/cancel", self._cancel, "POST"),
            route("/api/runs/{id}/replay", self._replay, "POST"),
            route("/api/runs/{id}/credential", self._credential, "POST"),
            route("/api/runs/{id}/export", self._export),
            route("/api/runs/{id}/egress", self._egress),
            route("/api/runs/{id}/approvals/{call}", self._decide, "POST"),
            route("/api/runs/{id}/approvals/{call}/preview", self._preview, "POST"),
            route("/api/approvals", self._approvals),
            route("/api/web", self._web),
        ]

    async def _note(self, request: Request) -> None:
        body = await request.body()
        self.requests.append(
            {
                "method": request.method,
                "path": request.url.path,
                "query": request.url.query,
                "headers": dict(request.headers),
                "body": body,
            }
        )

    async def _until_let_go(self, name: str) -> None:
        while name in self.held:
            await asyncio.sleep(0.005)

    async def _config(self, request: Request) -> Response:
        return JSONResponse(self.config)

    async def _models(self, request: Request) -> Response:
        return JSONResponse(self.models)

    async def _doctor(self, request: Request) -> Response:
        return JSONResponse({"checks": self.checks})

    async def _knowledge(self, request: Request) -> Response:
        if request.method == "POST":
            body = await request.json()
            base = _base(f"kb-{body['name']}", body["name"], label=body["label"])
            self.knowledge.append(base)
            return JSONResponse(base, 201)
        return JSONResponse(
            {"provider": self.config["knowledge_provider"], "items": self.knowledge}
        )

    async def _files(self, request: Request) -> Response:
        files = self.files.setdefault(request.path_params["id"], [])
        if request.method == "GET":
            return JSONResponse({"items": files})
        results: list[JSON] = []
        async with request.form() as form:
            for upload in form.getlist("file"):
                assert not isinstance(upload, str)
                name = upload.filename or ""
                failed = name.endswith(".broken.pdf")
                detail = "the file has no readable page" if failed else None
                outcome = "failed" if failed else "added"
                results.append({"name": name, "outcome": outcome, "detail": detail})
                if not failed:
                    files.append(_file(name, upload.size or 0))
        for base in self.knowledge:
            if base["id"] == request.path_params["id"]:
                base["files"] = len(files)
        return JSONResponse({"results": results})

    async def _runs(self, request: Request) -> Response:
        if request.method == "GET":
            items = [run.item() for run in self.runs.values()]
            items.sort(key=lambda item: item["created_at"], reverse=True)
            start = int(request.query_params.get("cursor", "0"))
            end = start + int(request.query_params.get("limit", "50"))
            following = str(end) if end < len(items) else None
            return JSONResponse({"items": items[start:end], "next": following})
        if self.refuse_run:
            return JSONResponse(self.refuse_run[1], self.refuse_run[0])
        body = await request.json()
        run = PlayedRun(id=f"run-{len(self.runs) + 1}", scene=self.scene, body=body)
        self.runs[run.id] = run
        frames = iter(self.scene.frames)
        for frame in islice(frames, 1):
            run.append(frame.fields)  # as in the server, a run's first event is there with the run
        run.task = asyncio.create_task(self._play(run, frames))
        return JSONResponse({"id": run.id, "status": "queued"}, 201)

    async def _play(self, run: PlayedRun, frames: Iterator[Frame]) -> None:
        for frame in frames:
            await asyncio.sleep(frame.delay_s)
            if frame.approval:
                item = self._asked(run, frame.approval, run.append)
                waiting = [run, *([self.runs[run.parent]] if run.parent else [])]
                for each in waiting:
                    each.append({"type": "run_waiting", "reason": "approval"})
                while item["status"] == "pending":
                    await asyncio.sleep(0.005)
                self._resume(waiting)
                run.append(decided(item))
                await self._play(run, iter(after(frame.approval, item)))
            elif frame.child:
                child = self._child(run, frame.child, run.append)
                await self._play(child, iter(frame.child.scene.frames))
                run.append(_child_event("child_finished", frame.child) | {"status": child.status})
            elif frame.place:
                await self._until_let_go(frame.place)
            elif frame.live:
                run.live.append((len(run.log), frame.fields))
            else:
                run.append(frame.fields)

    async def _events(self, request: Request) -> Response:
        run = self.runs.get(request.path_params["id"])
        if run is None:
            return _error(404, f"No run {request.path_params['id']!r}.")
        if "text/event-stream" not in request.headers.get("accept", ""):
            return JSONResponse(run.log)
        after = int(request.headers.get("last-event-id", "-1"))
        limit = self.cut_streams_after.pop(0) if self.cut_streams_after else None
        return StreamingResponse(_stream(run, after, limit), media_type="text/event-stream")

    def _resume(self, runs: Iterable[PlayedRun]) -> None:
        for run in runs:
            run.append({"type": "run_resumed", "by": "mock", "epoch": 2})

    async def _go_on(self, run: PlayedRun, item: JSON) -> None:
        """A run of the past, after the decision, and then the run above it."""
        asked = next(
            frame.approval
            for frame in run.scene.frames
            if frame.approval and frame.approval.call["id"] == item["call"]["id"]
        )
        above = self.runs[run.parent] if run.parent else None
        self._resume([run, above] if above else [run])
        run.append(decided(item))
        await self._play(run, chain(after(asked, item), run.rest or ()))
        if above:
            frame = next(each for each in above.scene.frames if each.child)
            assert frame.child
            above.append(_child_event("child_finished", frame.child) | {"status": run.status})
            await self._play(above, above.rest or iter(()))

    async def _approvals(self, request: Request) -> Response:
        items = [item for item in self.approvals.values() if item["status"] == "pending"]
        return JSONResponse({"items": items})

    async def _decide(self, request: Request) -> Response:
        run_id, call = request.path_params["id"], request.path_params["call"]
        item = self.approvals.get((run_id, call))
        if item is None:
            return _error(404, f"No approval of {call!r} in {run_id!r}.")
        if item["status"] != "pending":
            return _error(409, f"{item['call']['name']} was {item['status']} before; it stays so.")
        body = await request.json()
        item["status"] = DECISIONS[body["decision"]]
        item |= {"by": "page", "decided_at": iso(datetime.now(UTC))}
        item["arguments"] = body.get("arguments")
        run = self.runs[run_id]
        if run.rest is not None:
            run.task = asyncio.create_task(self._go_on(run, item))
        return JSONResponse({"id": run_id, "status": item["status"]})

    async def _preview(self, request: Request) -> Response:
        item = self.approvals[request.path_params["id"], request.path_params["call"]]
        given = (await request.json())["arguments"]
        if not given.get("query"):
            return _error(422, "query: it must have at least 1 character.")
        requests = edited_requests(item, given)
        return JSONResponse({"preview": preview_of(given, requests), "requests": requests})

    async def _egress(self, request: Request) -> Response:
        own = request.path_params["id"]
        runs = [run for run in self.runs.values() if own in (run.id, run.parent)]
        return JSONResponse({"items": ledger_of({run.id: run.log for run in runs})})

    async def _web(self, request: Request) -> Response:
        return JSONResponse(self.web)

    async def _cancel(self, request: Request) -> Response:
        run = self.runs[request.path_params["id"]]
        if run.task:
            run.task.cancel()
        run.append(
            {
                "type": "run_finished",
                "status": "cancelled",
                "reason": "cancelled_by_user",
                "explanation": "You stopped the run.",
                "answer": "",
                "sources": [],
                "unsupported": [],
            }
        )
        return JSONResponse({"id": run.id, "status": "cancelled"})

    async def _replay(self, request: Request) -> Response:
        return JSONResponse(self.replay)

    async def _credential(self, request: Request) -> Response:
        return JSONResponse({"id": request.path_params["id"], "status": "running"})

    async def _export(self, request: Request) -> Response:
        run = self.runs[request.path_params["id"]]
        lines = "".join(json.dumps(event) + "\n" for event in run.log)
        return Response(lines, media_type="application/x-ndjson")


async def _stream(run: PlayedRun, after: int, limit: int | None) -> AsyncIterator[bytes]:
    sent = 0
    next_seq, next_live = after + 1, run.begun_live()
    while limit is None or sent < limit:
        if next_live < len(run.live) and run.live[next_live][0] <= next_seq:
            fields = run.live[next_live][1]
            data = {key: value for key, value in fields.items() if key != "type"}
            yield f"event: {fields['type']}\ndata: {json.dumps(data)}\n\n".encode()
            next_live += 1
            sent += 1
        elif next_seq < len(run.log):
            event = run.log[next_seq]
            yield f"id: {next_seq}\nevent: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            next_seq += 1
            sent += 1
            if event["type"] == "run_finished":
                return
        else:
            await asyncio.sleep(0.005)


@contextmanager
def serve(mock: MockApi) -> Generator[str]:
    """Run the mock on a free loopback port in a thread; yields its base URL."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)  # now, so that nobody is refused before the thread is up
    config = uvicorn.Config(
        mock.app, log_level="warning", lifespan="off", ws="none", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def default_models() -> JSON:
    def model(id: str, *, tools: bool | None, **more: Any) -> JSON:
        abilities = {"tools": tools, "thinking": more.pop("thinking", None), "context_tokens": None}
        abilities["context_tokens"] = more.pop("context_tokens", None)
        fields: JSON = {"id": id, "provider": "ollama", "model": id, "note": None, "error": None}
        fields |= {
            "window": {"configured": None, "used": None, "served": None},
            "tool_mode": {"configured": "auto", "found": None, "because": None},
            "seconds_per_1000_tokens": {"read": None, "write": None},
        }
        return fields | {"abilities": abilities} | more

    return {
        "items": [
            model(
                "qwen3:8b",
                tools=True,
                thinking=True,
                context_tokens=40960,
                window={"configured": 40960, "used": 40960, "served": 8192},
                tool_mode={"configured": "auto", "found": "native", "because": "called"},
                seconds_per_1000_tokens={"read": 3.2, "write": 41.0},
            ),
            model(
                "gemma2:2b",
                tools=False,
                context_tokens=8192,
                window={"configured": None, "used": 8192, "served": None},
                tool_mode={"configured": "auto", "found": "envelope", "because": "said"},
            ),
            model("mistral-small", tools=True, context_tokens=131072, provider="openai"),
            model("old-server", tools=None, error="http://10.0.0.7:8000 does not answer."),
        ],
        "default": "qwen3:8b",
    }


def default_knowledge() -> list[JSON]:
    return [
        _base("kb-handbook", "handbook", files=3, chunks=214, embedded=214),
        _base(
            "kb-contracts", "contracts", label="confidential", files=12, chunks=1480, embedded=812
        ),
    ]


def default_checks() -> list[JSON]:
    return [
        {"name": "models", "state": "ok", "why": "2 models answer, tools work.", "fix": None},
        {
            "name": "embedder",
            "state": "warn",
            "why": "812 of 1,480 chunks of #contracts have their vector yet.",
            "fix": None,
        },
        {
            "name": "ollama",
            "state": "fail",
            "why": "http://127.0.0.1:11434 does not answer, so its models cannot be used.",
            "fix": "systemctl start ollama",
        },
    ]


def _base(id: str, name: str, **more: Any) -> JSON:
    empty: JSON = {"label": "normal", "files": 0, "chunks": 0, "embedded": 0}
    return {"id": id, "name": name} | empty | more


def _file(name: str, size_bytes: int) -> JSON:
    return {"id": f"file-{name}", "name": name, "size_bytes": size_bytes}


def _error(status: int, message: str) -> Response:
    return JSONResponse({"error": {"type": "error", "message": message}}, status)


def _child_event(type: str, child: Child) -> Json:
    return {"type": type, "call": child.call, "child_run_id": child.id}
