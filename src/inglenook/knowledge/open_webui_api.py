"""The six requests to Open WebUI that are needed here, and the shapes of their answers.

The key is sent to the configured address alone, redirects are not followed, and no error text
holds it. Every field is checked: what does not fit is left out, never guessed.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote

import aiohttp

from inglenook.egress import Egress
from inglenook.errors import shown_address
from inglenook.knowledge.base import Document, KnowledgeBase
from inglenook.knowledge.file_names import printable_name
from inglenook.knowledge.http_json import Answer, Unreachable, ask

MAX_PAGES = 400
"""Of 30 entries, which is what one page of Open WebUI holds."""
NOT_AN_ANSWER = 502
"""The status of a refusal that stands for 200 with something else than an answer in it."""
MAX_SENT_NAME_CHARS = 4000
"""Of a longer name both ends are looked at."""
MAX_DETAIL_CHARS = 200
_SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Refused(Exception):
    """Open WebUI did not answer as asked; the message is for people and models.

    `status` None: it could not be reached.
    """

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, kw_only=True)
class OwnBase:
    description: KnowledgeBase
    inline_files: list[Document] | None
    """None: they are to be asked for; which is what `files: null` means."""
    is_external: bool = False
    """Its texts lie in a vector database that Open WebUI searches in its own chats alone."""


class OpenWebUIApi:
    def __init__(
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        credential: str | None,
        egress: Egress | None = None,
    ) -> None:
        """`credential` None: for what Open WebUI tells anybody. `egress` is told of each question
        where Open WebUI is on another machine."""
        self._session = session
        self._base_url = base_url
        self._address = shown_address(base_url)
        self._credential = credential
        self._egress = egress

    async def version(self) -> str:
        """`GET /api/config`, which needs no key. Shape: {"status": bool, "name", "version": str}"""
        version = _line(_text(await self._object("GET", "/api/config"), "version"))
        if not version:
            raise self._not_understood()
        return version

    async def knowledge_bases(self) -> list[OwnBase]:
        """`GET /api/v1/knowledge/?page=`

        Shape: {"items": [{"id", "name", "file_count": int, "meta": {"source": "external"} | null}],
        "total": int}, or before 0.6.42 [{"id", "name", "files": [{"id", "meta": {"name"}}]}]
        """
        found: dict[str, OwnBase] = {}
        for item in await self._pages("/api/v1/knowledge/"):
            base = _own_base(item)
            if base is not None:
                found.setdefault(base.description.id, base)
        return list(found.values())

    async def files(self, base: KnowledgeBase) -> list[Document]:
        """`GET /api/v1/knowledge/{id}/files?page=`: those of all its folders.

        Shape: {"items": [{"id", "filename", "directory_path", "meta": {"name", "size"}}], "total"}
        """
        path = f"/api/v1/knowledge/{quote(base.id, safe='')}"
        try:
            items = await self._pages(f"{path}/files")
        except Refused as refused:
            if refused.status not in (404, 405, NOT_AN_ANSWER):
                raise
            # before 0.6.42 the files were in the knowledge base itself, and an address that it
            # does not know is answered with its page
            inline = (await self._object("GET", path)).get("files")
            if not isinstance(inline, list):
                raise
            items = _list(cast("object", inline))
        documents = (_document(item, base) for item in items)
        return [document for document in documents if document is not None]

    async def query(
        self, knowledge_ids: Sequence[str], query: str, k: int
    ) -> list[tuple[str, str, float]]:
        """`POST /api/v1/retrieval/query/collection`: (text, file id, score), best first.

        Shape: {"documents": [[str]], "metadatas": [[{"file_id"}]], "distances": [[float]]}, where
        the distances are similarities. A chunk that names no file has the file id "".
        """
        body = {"collection_names": list(knowledge_ids), "query": query, "k": k}
        answer = await self._object("POST", "/api/v1/retrieval/query/collection", body)
        chunks: list[tuple[str, str, float]] = []
        scores_of = [_list(scores) for scores in _list(answer.get("distances"))]
        for group, (texts, metas) in enumerate(
            zip(_list(answer.get("documents")), _list(answer.get("metadatas")), strict=False)
        ):
            scores = scores_of[group] if group < len(scores_of) else []
            for at, (text, meta) in enumerate(zip(_list(texts), _list(metas), strict=False)):
                if isinstance(text, str):
                    score = _number(scores[at]) if at < len(scores) else 0.0
                    chunks.append((text, _text(meta, "file_id"), score))
        return chunks

    async def content(self, file_id: str) -> str:
        """`GET /api/v1/files/{id}/data/content`. Shape: {"content": str}"""
        path = f"/api/v1/files/{quote(file_id, safe='')}/data/content"
        content = (await self._object("GET", path)).get("content")
        if not isinstance(content, str):
            raise self._not_understood()
        return content

    async def _pages(self, path: str) -> list[Any]:
        """All entries of a paged list, or of a plain one, which is what old versions send."""
        items: list[Any] = []
        for page in range(1, MAX_PAGES + 1):
            value = await self._json("GET", f"{path}?page={page}")
            if isinstance(value, list):
                return _list(cast("object", value))
            if not isinstance(value, dict):
                raise self._not_understood()
            answer = cast("dict[str, Any]", value)
            more = _list(answer.get("items"))
            items += more
            total = answer.get("total")
            if not more or not isinstance(total, int) or len(items) >= total:
                break
        return items

    async def _object(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        value = await self._json(method, path, body)
        if not isinstance(value, dict):
            raise self._not_understood()
        return cast("dict[str, Any]", value)

    async def _json(self, method: str, path: str, body: object = None) -> Any:
        try:
            answer = await ask(
                self._session,
                method,
                self._base_url + path,
                bearer=self._credential,
                body=body,
                egress=self._egress,
            )
        except Unreachable as error:
            raise Refused(
                f"Open WebUI at {self._address} cannot be reached ({error}). Start it, or correct "
                "`[open_webui] url`.",
                None,
            ) from None
        if answer.status != 200:
            raise self._refused(answer)
        if not answer.is_json:
            raise self._not_understood()
        return answer.value

    def _refused(self, answer: Answer) -> Refused:
        status = answer.status
        said = f"Open WebUI at {self._address} answered HTTP {status}"
        if detail := self._detail(answer):
            said += f" ({detail})"
        if 300 <= status < 400:
            advice = "The redirect was not followed; set `[open_webui] url` to where it really is."
        elif status == 401:
            advice = "The key is wrong or has expired, or this is not yours; send a valid key."
        elif status == 403:
            advice = (
                "API keys may be off there or barred from this address, or a knowledge base is not "
                "yours any more."
            )
        elif status == 400:
            advice = (
                "A knowledge base is not yours any more, or its own search failed: its embedding "
                "server may be away, and its log says more."
            )
        elif status in (404, 405):
            advice = "It is not there any more, or `[open_webui] url` is not Open WebUI's address."
        else:
            advice = "Try again; if it goes on, Open WebUI's own log says more."
        return Refused(f"{said}. {advice}", status)

    def _detail(self, answer: Answer) -> str:
        value = answer.value
        detail = cast("dict[str, Any]", value).get("detail") if isinstance(value, dict) else None
        if not isinstance(detail, str):
            return ""
        if self._credential:
            detail = detail.replace(self._credential, "…")
        text = " ".join(detail.split())
        return text[:MAX_DETAIL_CHARS]

    def _not_understood(self) -> Refused:
        return Refused(
            f"Open WebUI at {self._address} did not answer as Open WebUI does (a page or other "
            "JSON). Check `[open_webui] url`, and that nothing stands between that asks for a "
            "login.",
            NOT_AN_ANSWER,
        )


def _own_base(item: Any) -> OwnBase | None:
    knowledge_id, name = _text(item, "id"), _text(item, "name")
    if not _SAFE_ID.fullmatch(knowledge_id):
        return None
    fields = cast("dict[str, Any]", item)
    count = fields.get("file_count")
    base = KnowledgeBase(
        id=knowledge_id,
        name=_line(name) or knowledge_id,
        files=count if isinstance(count, int) else len(_list(fields.get("files"))),
    )
    inline: list[Document] | None = None
    if isinstance(fields.get("files"), list):
        documents = (_document(file, base) for file in _list(fields["files"]))
        inline = [document for document in documents if document is not None]
    return OwnBase(
        description=base,
        inline_files=inline,
        is_external=_text(cast("object", fields.get("meta")), "source") == "external",
    )


def _document(item: Any, base: KnowledgeBase) -> Document | None:
    file_id = _text(item, "id")
    if not _SAFE_ID.fullmatch(file_id):
        return None
    fields = cast("dict[str, Any]", item)
    meta: object = fields.get("meta")
    size = cast("dict[str, Any]", meta).get("size") if isinstance(meta, dict) else None
    name = _text(fields, "filename") or _text(cast("object", meta), "name") or file_id
    folder = _text(fields, "directory_path")
    return Document(
        id=file_id,
        name=_line(f"{folder}/{name}" if folder else name) or file_id,
        knowledge_id=base.id,
        knowledge_name=base.name,
        size_bytes=size if isinstance(size, int) else None,
    )


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _text(fields: object, name: str) -> str:
    value = cast("dict[str, Any]", fields).get(name) if isinstance(fields, dict) else None
    return value if isinstance(value, str) else ""


def _line(text: str) -> str:
    """As the names of local files are: one printable line of bounded length; may be empty."""
    if len(text) > MAX_SENT_NAME_CHARS:
        half = MAX_SENT_NAME_CHARS // 2
        text = text[:half] + text[-half:]
    whole = text.encode("utf-8", "replace").decode()  # JSON may hold half a character
    line = printable_name(whole)
    return line if line.strip("\N{REPLACEMENT CHARACTER} ") else ""


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    try:
        number = float(value)
    except OverflowError:
        return 0.0
    return number if math.isfinite(number) else 0.0
