"""How a command reaches runs: through the running server's API, or on the home itself."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import aiohttp

from inglenook.bootstrap.runtime import Runtime, open_runtime
from inglenook.errors import Conflict, CredentialNeeded, InvalidRequest, RuntimeFault, StoreError
from inglenook.events import TextDelta
from inglenook.messages import Message
from inglenook.providers.weights_file import Report
from inglenook.run_request import RunRequest
from inglenook.runs.approval_inbox import Verdict
from inglenook.settings.load import Loaded
from inglenook.store.base import ApprovalStatus, StoredEvent
from inglenook.store.locks import SERVER_LOCK, FileLock, unusable

OPEN_WEBUI_KEY_HEADER = "X-Open-WebUI-Key"
"""As `inglenook.api.errors.OPEN_WEBUI_KEY`, whose module would load the web framework."""
SERVER_FILE = "server.json"
"""In the home, readable by its owner alone: where the running server answers, and its token."""


class RunClient(Protocol):
    async def start(self, request: RunRequest) -> str:
        """Start a run, with the user's key where it reads their knowledge bases; its id.

        Raises:
            InvalidRequest: What is wrong, and what to do.
        """
        ...

    def follow(self, run_id: str, *, after: int = -1) -> AsyncGenerator[dict[str, Any], None]:
        """Its events as the API shows them, live deltas among them, until it ends or waits."""
        ...

    async def get(self, run_id: str) -> dict[str, Any]: ...

    async def last_event(self, run_id: str) -> int:
        """The number of the run's last event so far."""
        ...

    async def cancel(self, run_id: str) -> None: ...

    async def approvals(self, status: ApprovalStatus | None = "pending") -> list[dict[str, Any]]:
        """What waits for a person, or has that status; oldest first (API section 4)."""
        ...

    async def preview_edit(
        self, run_id: str, call_id: str, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """What the call would send with these arguments.

        Raises:
            InvalidRequest: They do not fit, or would not be sent.
        """
        ...

    async def decide(
        self, run_id: str, call_id: str, verdict: Verdict, arguments: dict[str, Any] | None
    ) -> dict[str, Any]:
        """
        Raises:
            NotFound: Nobody asks for such a call.
            InvalidRequest: The arguments do not fit; the call still waits.
            Conflict: It was decided before, or its time ran out.
        """
        ...

    async def default_model(self) -> str: ...

    async def history(self, session: str | None) -> list[Message]:
        """What was said in a session so far; empty for a new one or none."""
        ...


class LocalClient:
    def __init__(self, runtime: Runtime, open_webui_key: str | None) -> None:
        self._runtime = runtime
        self._open_webui_key = open_webui_key

    async def start(self, request: RunRequest) -> str:
        key = key_for(request, self._open_webui_key)
        return (await self._runtime.runs.start(request, credential=key)).id

    async def follow(self, run_id: str, *, after: int = -1) -> AsyncGenerator[dict[str, Any], None]:
        async for frame in self._runtime.runs.follow(run_id, after=after):
            if isinstance(frame, StoredEvent):
                yield json.loads(frame.json())
                if frame.type == "run_waiting":
                    return
            elif isinstance(frame, TextDelta):
                yield {"type": frame.kind, "text": frame.text}

    async def get(self, run_id: str) -> dict[str, Any]:
        return await self._runtime.runs.get(run_id)

    async def last_event(self, run_id: str) -> int:
        return (await self._runtime.runs.stored_events(run_id))[-1].seq

    async def cancel(self, run_id: str) -> None:
        await self._runtime.runs.cancel(run_id)

    async def approvals(self, status: ApprovalStatus | None = "pending") -> list[dict[str, Any]]:
        return await self._runtime.runs.approvals(status)

    async def preview_edit(
        self, run_id: str, call_id: str, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        return await self._runtime.runs.preview_edit(run_id, call_id, arguments)

    async def decide(
        self, run_id: str, call_id: str, verdict: Verdict, arguments: dict[str, Any] | None
    ) -> dict[str, Any]:
        return await self._runtime.runs.decide(
            run_id, call_id, verdict, arguments=arguments, by="terminal"
        )

    async def default_model(self) -> str:
        return await self._runtime.models.default_id()

    async def history(self, session: str | None) -> list[Message]:
        if session is None:
            return []
        latest = await self._runtime.runs.list_runs(session=session, limit=1)
        return [
            message
            for item in latest["items"]
            for message in said_in(await self._runtime.runs.export(item["id"]))
        ]


class RemoteClient:
    def __init__(
        self, session: aiohttp.ClientSession, url: str, open_webui_key: str | None
    ) -> None:
        self._session = session
        self._url = url
        self._open_webui_key = open_webui_key

    async def start(self, request: RunRequest) -> str:
        key = key_for(request, self._open_webui_key)
        headers = {OPEN_WEBUI_KEY_HEADER: key} if key else {}
        body = body_of(request)
        return (await self._json("POST", "/api/runs", json=body, headers=headers))["id"]

    async def follow(self, run_id: str, *, after: int = -1) -> AsyncGenerator[dict[str, Any], None]:
        headers = {"Accept": "text/event-stream"} | (
            {"Last-Event-ID": str(after)} if after >= 0 else {}
        )
        url = f"{self._url}/api/runs/{run_id}/events"
        type = ""
        try:
            async with self._session.get(url, headers=headers) as reply:
                await _check(reply)
                async for line in _lines(reply):
                    name, _, value = line.partition(": ")
                    if name == "event":
                        type = value
                    elif name == "data" and type != "heartbeat":
                        yield {"type": type} | json.loads(value)
                        if type == "run_waiting":
                            return
        except aiohttp.ClientError as error:
            raise RuntimeFault(
                f"the server went away ({type_name(error)}); run {run_id} goes on at its next "
                f"start, see `inglenook runs show {run_id}`"
            ) from error

    async def get(self, run_id: str) -> dict[str, Any]:
        return await self._json("GET", f"/api/runs/{run_id}")

    async def last_event(self, run_id: str) -> int:
        return (await self._json("GET", f"/api/runs/{run_id}/events"))[-1]["seq"]

    async def cancel(self, run_id: str) -> None:
        await self._json("POST", f"/api/runs/{run_id}/cancel")

    async def approvals(self, status: ApprovalStatus | None = "pending") -> list[dict[str, Any]]:
        query = {"status": status} if status else {}
        return (await self._json("GET", "/api/approvals", params=query))["items"]

    async def preview_edit(
        self, run_id: str, call_id: str, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        path = f"{_approval_path(run_id, call_id)}/preview"
        return await self._json("POST", path, json={"arguments": arguments})

    async def decide(
        self, run_id: str, call_id: str, verdict: Verdict, arguments: dict[str, Any] | None
    ) -> dict[str, Any]:
        body = {"decision": verdict} | ({} if arguments is None else {"arguments": arguments})
        return await self._json("POST", _approval_path(run_id, call_id), json=body)

    async def default_model(self) -> str:
        default = (await self._json("GET", "/api/models"))["default"]
        if default is None:
            raise InvalidRequest("the running server has no model; see `inglenook doctor`")
        return default

    async def history(self, session: str | None) -> list[Message]:
        if session is None:
            return []
        query = {"session": session, "limit": "1"}
        latest = await self._json("GET", "/api/runs", params=query)
        messages: list[Message] = []
        for item in latest["items"]:
            url = f"{self._url}/api/runs/{item['id']}/export"
            async with self._session.get(url) as reply:
                await _check(reply)
                messages += said_in(await reply.read())
        return messages

    async def _json(self, method: str, path: str, **arguments: Any) -> Any:
        try:
            async with self._session.request(method, self._url + path, **arguments) as reply:
                await _check(reply)
                return await reply.json()
        except aiohttp.ClientError as error:
            raise RuntimeFault(
                f"the server at {self._url} went away ({type_name(error)}); start it again with "
                "`inglenook serve`, its runs go on"
            ) from error


def _approval_path(run_id: str, call_id: str) -> str:
    return f"/api/runs/{quote(run_id, safe='')}/approvals/{quote(call_id, safe='')}"


async def _lines(reply: aiohttp.ClientResponse) -> AsyncGenerator[str, None]:
    """The body's lines, however long."""
    rest = b""
    async for chunk in reply.content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode()


def key_for(request: RunRequest, open_webui_key: str | None) -> str | None:
    """The user's key for a run that reads knowledge bases, which may be theirs in Open WebUI.

    Raises:
        InvalidRequest: No header can hold the key; does not show it.
    """
    if not open_webui_key or not request.knowledge:
        return None
    if not (open_webui_key.isascii() and open_webui_key.isprintable()):
        raise InvalidRequest(
            "INGLENOOK_OPEN_WEBUI_KEY holds no key: there is a line break or a letter in it that "
            "no key has"
        )
    return open_webui_key


def type_name(error: Exception) -> str:
    return type(error).__name__


def said_in(export: bytes) -> list[Message]:
    """The conversation of an exported run: what was asked, and the answer where there is one."""
    events = [json.loads(line) for line in export.splitlines()]
    asked = events[0].get("request", {}).get("messages", [])
    messages = [Message(role=each["role"], text=each["text"]) for each in asked]
    if events[-1]["type"] == "run_finished" and events[-1].get("answer"):
        messages.append(Message(role="assistant", text=events[-1]["answer"]))
    return messages


def body_of(request: RunRequest) -> dict[str, Any]:
    """The body of `POST /api/runs` (API section 4) that asks for this run."""
    body = request.model_dump(mode="json", exclude={"messages", "user"}, exclude_defaults=True)
    body["messages"] = [
        {"role": message.role, "content": message.text} for message in request.messages
    ]
    return body


async def _check(reply: aiohttp.ClientResponse) -> None:
    if reply.status < 400:
        return
    try:
        error = (await reply.json())["error"]
    except (ValueError, KeyError, aiohttp.ContentTypeError):
        raise RuntimeFault(f"the running server answered {reply.status}") from None
    if error.get("type") == "credential_needed":  # its hint is for who speaks HTTP
        raise CredentialNeeded(error["message"])
    if reply.status == 409:
        raise Conflict(error["message"], field=error.get("field"), hint=error.get("hint"))
    raise InvalidRequest(
        error["message"], field=error.get("field"), hint=error.get("hint"), status=reply.status
    )


def running_server(home: Path) -> dict[str, str] | None:
    """Where the server of this home answers; None if none runs.

    Raises:
        StoreError: One runs, but does not say where.
    """
    if not (home / SERVER_LOCK).exists():
        return None
    lock = FileLock(home / SERVER_LOCK)
    try:
        if lock.acquire():
            lock.release()
            return None
    except OSError as error:
        raise StoreError(unusable(home, error)) from error
    try:
        return json.loads((home / SERVER_FILE).read_text())
    except (OSError, ValueError) as error:
        raise StoreError(
            f"a server holds the home {str(home)!r} but {SERVER_FILE} cannot be read ({error}); "
            "is it just starting? Try again in a moment"
        ) from error


@asynccontextmanager
async def connect(loaded: Loaded, report: Report | None = None) -> AsyncGenerator[RunClient, None]:
    """The server's API where one runs for this home, else a runtime of this process."""
    server = running_server(loaded.home)
    if server is None:
        async with open_runtime(loaded, report=report) as runtime:
            yield LocalClient(runtime, loaded.open_webui_key)
        return
    headers = {"Authorization": f"Bearer {server['token']}"} if server["token"] else {}
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=5)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        yield RemoteClient(session, server["url"], loaded.open_webui_key)
