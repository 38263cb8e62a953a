"""One tab of Chromium over the Chrome DevTools Protocol, in a browser context of its own.

Source: https://chromedevtools.github.io/devtools-protocol/tot/Fetch/
"""

import base64
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from inglenook.web.base import WebResponse
from inglenook.web.closed_proxy import BYPASS_NOTHING
from inglenook.web.remote import CommandError, Message, Remote
from inglenook.web.settling import Settling
from inglenook.web.tab import Answer, BrowserCookie, BrowserError, Kind, TabRequest
from inglenook.web.visible_html import VISIBLE_HTML

KINDS: dict[str, Kind] = {"Script": "script", "Stylesheet": "style", "XHR": "data", "Fetch": "data"}
NO_CALLS = "delete window.RTCPeerConnection; delete window.webkitRTCPeerConnection;"
"""Connections between browsers go past every proxy, but for a browser that we started."""
WEB = ({"urlPattern": "http://*"}, {"urlPattern": "https://*"})


async def open_cdp_tab(remote: Remote, proxy: str) -> "CdpTab":
    """A tab whose context ends with the connection. `proxy` is the host and port to which the
    context sends everything.

    Raises:
        BrowserError: The browser gives none.
    """
    context = await remote.call(
        "Target.createBrowserContext",
        disposeOnDetach=True,
        proxyServer=f"http://{proxy}",
        proxyBypassList=BYPASS_NOTHING,
    )
    context_id: str = context["browserContextId"]
    await remote.call("Browser.setDownloadBehavior", behavior="deny", browserContextId=context_id)
    target = await remote.call(
        "Target.createTarget", url="about:blank", browserContextId=context_id
    )
    frame: str = target["targetId"]
    attached = await remote.call("Target.attachToTarget", targetId=frame, flatten=True)
    return CdpTab(remote, context=context_id, session=attached["sessionId"], frame=frame)


class CdpTab:
    def __init__(self, remote: Remote, *, context: str, session: str, frame: str) -> None:
        self._remote = remote
        self._context = context
        self._session = session
        self._frame = frame
        """Of the tab itself; its id is the target's."""
        self._settling = Settling()

    async def read(self, url: str, *, cookies: Sequence[BrowserCookie], answer: Answer) -> str:
        self._answer = answer
        self._remote.on_event = self._on_event
        await self._prepare(cookies)
        shown = await self._call("Page.navigate", url=url)
        if complaint := shown.get("errorText"):
            raise BrowserError(f"the browser did not open the page: {complaint}.")
        await self._settling.settled()
        return await self._html()

    async def _prepare(self, cookies: Sequence[BrowserCookie]) -> None:
        version = await self._remote.call("Browser.getVersion")
        # Without a screen it names itself differently, which many sites take for a robot.
        agent = str(version["userAgent"]).replace("HeadlessChrome/", "Chrome/")
        await self._call("Emulation.setUserAgentOverride", userAgent=agent)
        await self._call("Page.enable")
        await self._call("Network.enable")
        await self._call("Network.setBypassServiceWorker", bypass=True)
        await self._call("Page.addScriptToEvaluateOnNewDocument", source=NO_CALLS)
        await self._call("Fetch.enable", patterns=WEB)
        if cookies:
            await self._remote.call(
                "Storage.setCookies",
                browserContextId=self._context,
                cookies=[_cookie(cookie) for cookie in cookies],
            )

    async def _html(self) -> str:
        world = await self._call("Page.createIsolatedWorld", frameId=self._frame)
        found = await self._call(
            "Runtime.evaluate",
            expression=VISIBLE_HTML,
            contextId=world["executionContextId"],
            returnByValue=True,
        )
        html = found["result"].get("value")
        if not isinstance(html, str):
            raise BrowserError("the browser could not give the page's HTML.")
        return html

    def _on_event(self, event: Message) -> None:
        if event.get("sessionId") != self._session:
            return
        if event["method"] == "Fetch.requestPaused":
            self._remote.go(self._paused(event["params"]))
        elif event["method"] == "Page.loadEventFired":
            self._settling.loaded()
        elif event["method"] == "Page.javascriptDialogOpening":
            self._remote.go(self._dismiss())

    async def _paused(self, params: Message) -> None:
        request = self._request(params)
        with self._settling.request():
            response = await self._answer(request) if request else None
            with suppress(CommandError):  # the page may have given the request up meanwhile
                await self._resolve(params["requestId"], response)

    def _request(self, params: Message) -> TabRequest | None:
        """None: its body cannot be had, so it cannot be sent as it is."""
        request = params["request"]
        entries = request.get("postDataEntries", [])
        if request.get("hasPostData") and not entries:
            return None
        return TabRequest(
            kind=self._kind(params),
            method=request["method"],
            url=request["url"],
            headers=request["headers"],
            body=b"".join(base64.b64decode(each.get("bytes", "")) for each in entries),
        )

    def _kind(self, params: Message) -> Kind:
        if params["resourceType"] == "Document":
            return "page" if params["frameId"] == self._frame else "other"
        headers = {name.lower() for name in params["request"]["headers"]}
        is_ahead = "sec-purpose" in headers or "purpose" in headers
        return "other" if is_ahead else KINDS.get(params["resourceType"], "other")

    async def _resolve(self, request_id: str, response: WebResponse | None) -> None:
        if response is None:
            await self._call(
                "Fetch.failRequest", requestId=request_id, errorReason="BlockedByClient"
            )
            return
        await self._call(
            "Fetch.fulfillRequest",
            requestId=request_id,
            responseCode=response.status,
            responseHeaders=[
                {"name": name, "value": value} for name, value in response.headers.items()
            ],
            body=base64.b64encode(response.body).decode(),
        )

    async def _dismiss(self) -> None:
        with suppress(CommandError):  # it may be gone by itself
            await self._call("Page.handleJavaScriptDialog", accept=False)

    async def _call(self, method: str, **params: Any) -> Message:
        return await self._remote.call(method, self._session, **params)


def _cookie(cookie: BrowserCookie) -> Message:
    """Without its expiry: what ends with the browser is not written to the disk."""
    made: Message = {
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "secure": cookie.is_secure,
        "httpOnly": cookie.is_http_only,
    }
    if cookie.same_site:
        made["sameSite"] = cookie.same_site.capitalize()
    if not cookie.domain.startswith("."):
        # Without a domain but with a URL it becomes the host's own.
        scheme = "https" if cookie.is_secure else "http"
        del made["domain"]
        made["url"] = f"{scheme}://{cookie.domain}{cookie.path}"
    return made
