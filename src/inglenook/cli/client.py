"""How a command reaches runs: through the running server's API, or on the home itself."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import aiohttp

from inglenook.bootstrap.runtime import Runtime, open_runtime
from inglenook.cli.remote_client import RemoteClient, key_for, said_in
from inglenook.errors import StoreError
from inglenook.events import TextDelta
from inglenook.messages import Message
from inglenook.providers.weights_file import Report
from inglenook.run_request import RunRequest
from inglenook.runs.approval_inbox import Verdict
from inglenook.settings.load import Loaded
from inglenook.store.base import ApprovalStatus, StoredEvent
from inglenook.store.locks import SERVER_LOCK, FileLock, unusable

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
