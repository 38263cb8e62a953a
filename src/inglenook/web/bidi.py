"""One tab of Firefox over WebDriver BiDi, in a user context of its own.

Source: https://www.w3.org/TR/webdriver-bidi/#module-network
"""

import base64
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from inglenook.web.base import WebResponse
from inglenook.web.remote import CommandError, Message, Remote
from inglenook.web.settling import Settling
from inglenook.web.tab import Answer, BrowserCookie, BrowserError, Kind, TabRequest
from inglenook.web.visible_html import VISIBLE_HTML

EVENTS = ("network.beforeRequestSent", "browsingContext.load")
MAX_BODY_BYTES = 10 << 20
"""Of a request that a page makes."""


async def open_bidi_tab(remote: Remote, proxy: str) -> "BidiTab":
    """`proxy` is the host and port to which the context sends what is not intercepted.

    Raises:
        BrowserError: The browser gives none.
    """
    await remote.call(
        "session.new",
        capabilities={"alwaysMatch": {"unhandledPromptBehavior": {"default": "dismiss"}}},
    )
    user = await remote.call(
        "browser.createUserContext",
        proxy={"proxyType": "manual", "httpProxy": proxy, "sslProxy": proxy, "noProxy": []},
    )
    made = await remote.call(
        "browsingContext.create", type="tab", background=True, userContext=user["userContext"]
    )
    return BidiTab(remote, context=made["context"], user_context=user["userContext"])


class BidiTab:
    def __init__(self, remote: Remote, *, context: str, user_context: str) -> None:
        self._remote = remote
        self._context = context
        self._user_context = user_context
        self._settling = Settling()

    async def close(self) -> None:
        """The tab and all that its context kept; the browser stays.

        Raises:
            BrowserError: It did not do it.
        """
        await self._remote.call("browser.removeUserContext", userContext=self._user_context)
        await self._remote.call("session.end")

    async def read(self, url: str, *, cookies: Sequence[BrowserCookie], answer: Answer) -> str:
        self._answer = answer
        self._remote.on_event = self._on_event
        await self._prepare(cookies)
        await self._call("browsingContext.navigate", url=url, wait="none")
        await self._settling.settled()
        return await self._html()

    async def _prepare(self, cookies: Sequence[BrowserCookie]) -> None:
        contexts = [self._context]
        await self._remote.call("session.subscribe", events=EVENTS, contexts=contexts)
        await self._remote.call(
            "network.addIntercept", phases=["beforeRequestSent"], contexts=contexts
        )
        await self._remote.call(
            "network.addDataCollector",
            dataTypes=["request"],
            maxEncodedDataSize=MAX_BODY_BYTES,
            contexts=contexts,
        )
        partition = {"type": "storageKey", "userContext": self._user_context}
        for cookie in cookies:
            await self._remote.call(
                "storage.setCookie", cookie=_cookie(cookie), partition=partition
            )

    async def _html(self) -> str:
        found = await self._remote.call(
            "script.evaluate",
            expression=VISIBLE_HTML,
            target={"context": self._context, "sandbox": "inglenook"},
            awaitPromise=False,
        )
        html = found.get("result", {}).get("value")
        if not isinstance(html, str):
            raise BrowserError("the browser could not give the page's HTML.")
        return html

    def _on_event(self, event: Message) -> None:
        params: Message = event["params"]
        if event["method"] == "network.beforeRequestSent" and params["isBlocked"]:
            self._remote.go(self._paused(params))
        elif event["method"] == "browsingContext.load" and params["context"] == self._context:
            self._settling.loaded()

    async def _paused(self, params: Message) -> None:
        with self._settling.request():
            request = await self._request(params)
            response = await self._answer(request) if request else None
            with suppress(CommandError):  # the page may have given the request up meanwhile
                await self._resolve(params["request"]["request"], response)

    async def _request(self, params: Message) -> TabRequest | None:
        """None: its body cannot be had, so it cannot be sent as it is."""
        request: Message = params["request"]
        body = b""
        if request["bodySize"]:
            try:
                body = await self._body(request["request"])
            except CommandError:
                return None
        return TabRequest(
            kind=self._kind(params),
            method=request["method"],
            url=request["url"].partition("#")[0],
            headers={each["name"]: _text(each["value"]) for each in request["headers"]},
            body=body,
        )

    async def _body(self, request_id: str) -> bytes:
        data = await self._remote.call("network.getData", dataType="request", request=request_id)
        return _bytes(data["bytes"])

    def _kind(self, params: Message) -> Kind:
        """WebSockets, beacons and what is loaded ahead have neither destination nor initiator."""
        if params["navigation"] is not None:
            return "page" if params["context"] == self._context else "other"
        request: Message = params["request"]
        if request["initiatorType"] in ("fetch", "xmlhttprequest"):
            return "data"
        return {"script": "script", "style": "style"}.get(request["destination"], "other")  # pyright: ignore[reportReturnType]

    async def _resolve(self, request_id: str, response: WebResponse | None) -> None:
        if response is None:
            await self._remote.call("network.failRequest", request=request_id)
            return
        await self._remote.call(
            "network.provideResponse",
            request=request_id,
            statusCode=response.status,
            reasonPhrase="",
            headers=[
                {"name": name, "value": {"type": "string", "value": value}}
                for name, value in response.headers.items()
            ],
            body={"type": "base64", "value": base64.b64encode(response.body).decode()},
        )

    async def _call(self, method: str, **params: Any) -> Message:
        return await self._remote.call(method, context=self._context, **params)


def _bytes(value: Message) -> bytes:
    text: str = value["value"]
    return base64.b64decode(text) if value["type"] == "base64" else text.encode()


def _text(value: Message) -> str:
    return _bytes(value).decode("latin-1") if value["type"] == "base64" else value["value"]


def _cookie(cookie: BrowserCookie) -> Message:
    """Without its expiry: what ends with the browser is not written to the disk."""
    made: Message = {
        "name": cookie.name,
        "value": {"type": "string", "value": cookie.value},
        "domain": cookie.domain,
        "path": cookie.path,
        "secure": cookie.is_secure,
        "httpOnly": cookie.is_http_only,
    }
    if cookie.same_site:
        made["sameSite"] = cookie.same_site
    return made
