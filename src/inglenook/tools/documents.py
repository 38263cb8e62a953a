"""`search_knowledge_base` and `read_document` over the run's retriever.

The retriever is the scope: neither tool has an argument that could widen it, and every name in an
answer or an error is of a document in scope.
"""

import asyncio
from collections.abc import Set as AbstractSet
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from inglenook.errors import ToolError
from inglenook.knowledge.base import Passage, Retriever
from inglenook.messages import Label, Source, ToolOutput
from inglenook.run_context import RunContext
from inglenook.tools.base import ToolSpec
from inglenook.tools.document_names import find_document

MAX_PAGE_CHARS = 12_000
"""About 3,000 tokens: a page of a document that still leaves a small model room to think."""
NOTE_CHARS = 800
"""For the lines before and after a page, which hold the document's name."""
_LINE_SEARCH_CHARS = 400
"""A page ends at a line's end if there is one in its last characters."""


class SearchArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=2000, description="What to look for, in words")
    k: int = Field(default=5, ge=1, le=20, description="How many passages")


class ReadArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=500, description="The document's name or file id")
    offset: int = Field(default=0, ge=0, description="Character to read on from")


class SearchKnowledgeTool:
    spec = ToolSpec(
        name="search_knowledge_base",
        description="Search the selected documents; returns numbered passages to cite as [n].",
        arguments=SearchArguments,
        effect="read",
    )

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        passages = await self._retriever.retrieve(arguments.query, arguments.k)
        confidential = await self._retriever.confidential()
        if not passages:
            documents = await self._retriever.documents()
            return ToolOutput(
                text=_nothing_found(arguments.query, len(documents)), labels=_labels(confidential)
            )
        sources = [
            run.sources.add(
                kind="document",
                title=passage.file_name,
                file_id=passage.file_id,
                quote=passage.text,
            )
            for passage in passages
        ]
        parts = [_shown(s, p) for s, p in zip(sources, passages, strict=True)]
        read = {passage.knowledge_id for passage in passages}
        return ToolOutput(
            text="\n\n".join(parts), sources=tuple(sources), labels=_labels(read & confidential)
        )


class ReadDocumentTool:
    spec = ToolSpec(
        name="read_document",
        description="Read the full text of one of the selected documents, page by page.",
        arguments=ReadArguments,
        effect="read",
    )

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        documents = await self._retriever.documents()
        confidential = await self._retriever.confidential()
        try:
            document = await asyncio.to_thread(find_document, arguments.name, documents)
        except ToolError as error:
            return _failed(str(error), _labels(confidential))
        labels = _labels(confidential & {document.knowledge_id})
        text = await self._retriever.read(document.id)
        start: int = arguments.offset
        if start >= len(text) and start > 0:
            return _failed(
                f"offset {start} is past the end of {document.name!r}, which has {len(text)} "
                f"characters; the last one is {max(0, len(text) - 1)}.",
                labels,
            )
        end = page_end(text, start, min(MAX_PAGE_CHARS, run.limits.max_result_chars - NOTE_CHARS))
        source = run.sources.add(kind="document", title=document.name, file_id=document.id)
        rest = f"continue with offset={end}" if end < len(text) else "end of the document"
        asked = arguments.name.strip()
        is_exact = asked in (document.id, document.name)
        note = "" if is_exact else f", the closest in scope to {asked[:200]!r}"
        return ToolOutput(
            text=f"[{source.n}] {document.name} (file id {document.id}){note}\n"
            f"{text[start:end]}\n"
            f"[characters {start}-{end} of {len(text)}; {rest}]",
            sources=(source,),
            labels=labels,
        )


def page_end(text: str, start: int, size: int = MAX_PAGE_CHARS) -> int:
    """Where the page that begins at `start` ends; the next one begins there."""
    end = min(len(text), start + max(1, size))
    if end == len(text):
        return end
    line_end = text.rfind("\n", max(start, end - _LINE_SEARCH_CHARS), end)
    return line_end + 1 if line_end >= 0 else end


def _failed(text: str, labels: tuple[Label, ...]) -> ToolOutput:
    """An error that names documents.

    Raises:
        ToolError: None of them is confidential.
    """
    if not labels:
        raise ToolError(text)
    return ToolOutput(text=text, is_error=True, labels=labels)


def _labels(confidential: AbstractSet[str]) -> tuple[Label, ...]:
    """`confidential`: the knowledge bases among those that an answer tells of."""
    return ("private",) if confidential else ()


def _shown(source: Source, passage: Passage) -> str:
    section = f" § {passage.heading}" if passage.heading else ""
    return f"[{source.n}] {passage.file_name}{section} (file id {passage.file_id})\n{passage.text}"


def _nothing_found(query: str, count: int) -> str:
    if count == 0:
        return "The selected knowledge bases hold no documents, so there is nothing to search."
    return (
        f"No passage in the {count} selected documents matches {query[:200]!r}. Try other words, "
        "or read a document by its name."
    )
