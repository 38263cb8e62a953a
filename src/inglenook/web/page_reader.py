"""WorkerPageReader: what an answer becomes. Its bytes are opened in a killable worker, not here."""

import re
from typing import Any
from urllib.parse import unquote, urlsplit

from inglenook.documents.magic import is_binary, is_docx, is_pdf
from inglenook.documents.worker_pool import WorkerLimits, WorkerLost, WorkerPool
from inglenook.web.base import PageError, PageText, WebResponse
from inglenook.web.urls import shown_url

LIMITS = WorkerLimits(cpu_s=4, wall_s=20.0)
"""A person waits for it; an ordinary page takes some 20 ms."""

_HTML_HEAD = re.compile(
    rb"(?:\s|\xef\xbb\xbf|<!--.*?-->|<\?xml[^>]*>)*<(?:!doctype\s+html|html|head|body|title|meta)\b",
    re.IGNORECASE | re.DOTALL,
)
_NO_TEXT_KINDS = ("image/", "audio/", "video/", "font/")


class WorkerPageReader:
    def __init__(self, pool: WorkerPool | None = None) -> None:
        self._pool = pool or WorkerPool("inglenook.web.page_worker", limits=LIMITS)

    async def read(self, response: WebResponse, url: str) -> PageText:
        content_type = response.headers.get("content-type", "")
        kind = _kind_of(response.body, content_type)
        if kind is None:
            raise _not_readable(url, f"it is no page but {_named(content_type)}")
        request: dict[str, object] = {"kind": kind, "url": url, "content_type": content_type}
        answer, body = await self._ask(request, response.body)
        if wall := answer.get("wall"):
            raise PageError(
                "blocked_by_site",
                f"{shown_url(url)} showed {wall} in place of the page, so nothing of it was read. "
                "Do not cite it; use another source, as asking again will not help.",
            )
        if reason := answer.get("unreadable"):
            raise _not_readable(url, str(reason))
        text = body.decode()
        if not text.strip():
            raise _not_readable(url, _why_empty(answer.get("needs_script") is True))
        return PageText(title=str(answer["title"]) or _name_in(url), text=text)

    async def close(self) -> None:
        await self._pool.close()

    async def _ask(self, request: dict[str, object], data: bytes) -> tuple[dict[str, Any], bytes]:
        """
        Raises:
            PageError: `not_readable`: the page took more than the worker's limits.
        """
        try:
            try:
                return await self._pool.ask(request, data)
            except WorkerLost:
                if request["kind"] != "html":
                    raise
                return await self._pool.ask({**request, "careful": True}, data)
        except WorkerLost as lost:
            raise _not_readable(str(request["url"]), lost.reason) from lost


def _kind_of(data: bytes, content_type: str) -> str | None:
    """The reader for it, by content first: servers and suffixes are wrong too often."""
    media = content_type.partition(";")[0].strip().lower()
    if is_pdf(data):
        return "pdf"
    if is_docx(data):
        return "docx"
    if is_binary(data) or media.startswith(_NO_TEXT_KINDS):
        return None
    if "html" in media or (media != "text/plain" and _HTML_HEAD.match(data[:4096])):
        return "html"
    return "text"


def _named(content_type: str) -> str:
    media = content_type.partition(";")[0].strip().lower()
    return f"a file of type {media[:60]!r}" if media.startswith(_NO_TEXT_KINDS) else "binary data"


def _why_empty(needs_script: bool) -> str:
    if not needs_script:
        return "it holds no text"
    return (
        "it shows no text without JavaScript (a browser can be turned on for such pages with "
        "web.browser in inglenook.toml)"
    )


def _not_readable(url: str, reason: str) -> PageError:
    return PageError(
        "not_readable", f"{shown_url(url)} cannot be read: {reason}. Use another source."
    )


def _name_in(url: str) -> str:
    """What stands for a title where there is none: the file's name, or the host."""
    parts = urlsplit(url)
    name = unquote(parts.path.rstrip("/").rpartition("/")[2])
    return "".join(c for c in name if c.isprintable())[:200] or parts.hostname or ""
