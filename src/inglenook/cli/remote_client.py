"""RemoteClient: runs through the API of the server that holds the home."""

import json
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import quote

import aiohttp

from inglenook.errors import Conflict, CredentialNeeded, InvalidRequest, RuntimeFault
from inglenook.messages import Message
from inglenook.run_request import RunRequest
from inglenook.runs.approval_inbox import Verdict
from inglenook.store.base import ApprovalStatus

OPEN_WEBUI_KEY_HEADER = "X-Open-WebUI-Key"
"""As `inglenook.api.errors.OPEN_WEBUI_KEY`, whose module would load the web framework."""


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
