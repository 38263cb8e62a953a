"""Knowledge bases that live in Open WebUI, read over its REST API with the user's own key.

Nothing is indexed, embedded or kept here. Open WebUI is not trusted with the scope: which files
belong to a knowledge base is asked at the start of a run, and chunks of any other are dropped.
Two shapes are understood: since 0.6.42 paged `{items, total}` with the files at their own address,
before that a plain list with the files in it.

Source: Open WebUI 0.12.4, its routers/knowledge.py, files.py and retrieval.py;
`tests/live/test_open_webui.py` runs against it.
"""

import asyncio
import logging
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import aiohttp

from inglenook.egress import Egress
from inglenook.errors import (
    ConfigError,
    CredentialNeeded,
    InvalidRequest,
    NotFound,
    ProviderBusy,
    ToolError,
    shown_address,
)
from inglenook.knowledge.base import Document, KnowledgeBase, Passage
from inglenook.knowledge.open_webui_api import OpenWebUIApi, OwnBase, Refused

logger = logging.getLogger(__name__)

MAX_PASSAGE_CHARS = 4000
MAX_CREDENTIAL_CHARS = 8192


class OpenWebUIKnowledge:
    def __init__(self, session: aiohttp.ClientSession, base_url: str) -> None:
        """
        Raises:
            ConfigError: The address is none, or the session would carry one user's cookies into
                another's requests.
        """
        if not base_url.startswith(("http://", "https://")):
            raise ConfigError(
                f"`[open_webui] url` is {shown_address(base_url)!r}; it begins with http(s)://."
            )
        if not isinstance(session.cookie_jar, aiohttp.DummyCookieJar):
            raise ConfigError("Open WebUI needs a session with aiohttp.DummyCookieJar().")
        self._session = session
        self._base_url = base_url.rstrip("/")

    async def version(self) -> str:
        """Of Open WebUI, asked without a key.

        Raises:
            ProviderBusy: It cannot be reached or does not answer now.
            InvalidRequest: What answers there is not Open WebUI, or wants a login before it.
        """
        try:
            return await OpenWebUIApi(self._session, self._base_url, None).version()
        except Refused as refused:
            if refused.status in (401, 403):
                raise InvalidRequest(
                    f"What answers at {shown_address(self._base_url)} wants a login for what Open "
                    f"WebUI tells anybody (HTTP {refused.status}). Set `[open_webui] url` to an "
                    "address at which it answers itself.",
                    field="open_webui.url",
                    status=422,
                ) from None
            raise _invalid(refused) from None

    async def list(self, credential: str | None = None) -> Sequence[KnowledgeBase]:
        if credential is None:
            raise InvalidRequest(
                "Open WebUI wants your own API key to list your knowledge bases.",
                field="authorization",
                hint="Send it as `Authorization: Bearer <key>`.",
                status=401,
            )
        try:
            bases = await self._api(credential).knowledge_bases()
        except Refused as refused:
            raise _invalid(refused) from None
        return [base.description for base in bases if not base.is_external]

    async def open(
        self,
        knowledge_ids: Sequence[str],
        credential: str | None = None,
        egress: Egress | None = None,
    ) -> "OpenWebUIRetriever":
        """Checks that every id is the user's own before anything is asked of the documents."""
        wanted = list(dict.fromkeys(knowledge_ids))
        if credential is None:
            raise CredentialNeeded("Open WebUI wants your own API key for your knowledge bases.")
        api = self._api(credential, egress)
        try:
            own = {base.description.id: base for base in await api.knowledge_bases()}
        except Refused as refused:
            raise _invalid(refused) from None
        for knowledge_id in wanted:
            if knowledge_id not in own:
                raise NotFound(
                    f"Open WebUI shows you no knowledge base {knowledge_id[:100]!r}",
                    field="knowledge",
                    hint="`GET /api/knowledge` lists yours.",
                )
            if own[knowledge_id].is_external:
                raise InvalidRequest(
                    f"knowledge base {knowledge_id!r} lies in a database outside of Open WebUI, "
                    "which searches it in its own chats alone",
                    field="knowledge",
                    hint="`GET /api/knowledge` lists those that can be used here.",
                    status=422,
                )
        return OpenWebUIRetriever(api, [own[knowledge_id] for knowledge_id in wanted])

    def _api(self, credential: str, egress: Egress | None = None) -> OpenWebUIApi:
        # a line break in it would be another header, and aiohttp's refusal would print the key
        if (
            not 1 <= len(credential) <= MAX_CREDENTIAL_CHARS
            or not credential.isascii()
            or not all("!" <= letter <= "~" for letter in credential)
        ):
            raise InvalidRequest(
                "The Open WebUI key cannot be one: it is empty, too long or holds blanks.",
                field="authorization",
                status=401,
            )
        return OpenWebUIApi(self._session, self._base_url, credential, egress)


class OpenWebUIRetriever:
    """One run's scope; the list of its files is fetched once."""

    def __init__(self, api: OpenWebUIApi, bases: Sequence[OwnBase]) -> None:
        self._api = api
        self._bases = tuple(bases)
        self._documents: dict[str, Document] | None = None
        self._fetching = asyncio.Lock()
        self.dropped = 0
        """Chunks that Open WebUI sent and that belong to no file in scope."""

    async def confidential(self) -> AbstractSet[str]:
        return frozenset()  # Open WebUI has no such label

    async def documents(self) -> Sequence[Document]:
        return list((await self._members()).values())

    async def retrieve(self, query: str, k: int) -> Sequence[Passage]:
        if not self._bases or not query.strip():
            return []
        members = await self._members()
        try:
            chunks = await self._api.query([b.description.id for b in self._bases], query, k)
        except Refused as refused:
            raise ToolError(str(refused)) from None
        passages: list[Passage] = []
        dropped = 0
        for text, file_id, score in chunks:
            document = members.get(file_id)
            if document is None:
                dropped += 1
            else:
                passages.append(
                    Passage(
                        text=text[:MAX_PASSAGE_CHARS],
                        file_id=document.id,
                        file_name=document.name,
                        knowledge_id=document.knowledge_id,
                        score=score,
                    )
                )
        if dropped:
            self.dropped += dropped
            logger.warning("dropped %d chunks of files outside the run's knowledge bases", dropped)
        return passages[:k]

    async def read(self, document_id: str) -> str:
        document = (await self._members()).get(document_id)
        if document is None:
            raise ToolError(
                f"there is no document {document_id[:100]!r} in this run's knowledge bases"
            )
        try:
            return await self._api.content(document.id)
        except Refused as refused:
            if refused.status in (401, 404):
                raise ToolError(
                    f"Open WebUI no longer gives {document.name!r} (HTTP {refused.status}): it was "
                    "removed, or access to it was taken back."
                ) from None
            raise ToolError(str(refused)) from None

    async def _members(self) -> dict[str, Document]:
        async with self._fetching:
            if self._documents is None:
                found: dict[str, Document] = {}
                for base in self._bases:
                    for document in await self._files(base):
                        found.setdefault(document.id, document)
                self._documents = found
            return self._documents

    async def _files(self, base: OwnBase) -> Sequence[Document]:
        if base.inline_files is not None:
            return base.inline_files
        try:
            return await self._api.files(base.description)
        except Refused as refused:
            raise ToolError(str(refused)) from None


def _invalid(refused: Refused) -> Exception:
    if refused.status in (401, 403):
        return InvalidRequest(str(refused), field="authorization", status=refused.status)
    if refused.status is None or refused.status == 429 or refused.status in (500, 503, 504):
        return ProviderBusy(str(refused))
    return InvalidRequest(str(refused), field="open_webui.url", status=422)
