"""Small real things for tests of knowledge and tools: an embedder of words, a run, documents."""

import hashlib
import zipfile
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from inglenook.egress import Egress
from inglenook.errors import ProviderBusy, ToolError
from inglenook.events import RunEvent, TextDelta
from inglenook.knowledge.base import Document, Passage
from inglenook.knowledge.embedder import Vectors, embeddable, unit
from inglenook.knowledge.ingest import FileOutcome
from inglenook.knowledge.local import LocalKnowledge
from inglenook.run_context import Limits, RunContext


class WordEmbedder:
    """A text is the sum of its words, each a fixed direction: near if words are shared."""

    batch = 4

    def __init__(self, dimensions: int = 64, id: str = "fake:words") -> None:
        self.id = id
        self.dimensions = dimensions
        self.embedded: list[str] = []
        self.is_down = False

    async def embed_query(self, text: str, egress: Egress | None = None) -> Vectors:
        return (await self._embed([text]))[0]

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = await self._embed(texts)
        self.embedded += texts
        return vectors

    async def close(self) -> None: ...

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        if self.is_down:
            raise ProviderBusy("the embedding server is away")
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in embeddable(text).lower().split():
                digest = hashlib.sha256(word.encode()).digest()
                row[digest[0] % self.dimensions] += 1
                row[digest[1] % self.dimensions] -= 0.5
        return unit(rows)


@dataclass
class ListSink:
    events: list[RunEvent] = field(default_factory=list[RunEvent])

    def emit(self, event: RunEvent) -> None:
        self.events.append(event)

    async def settle(self, *, sync: bool = False) -> None: ...

    def publish(self, delta: TextDelta) -> None: ...


def run_context(sink: ListSink | None = None) -> RunContext:
    return RunContext(run_id="run", sink=sink or ListSink(), limits=Limits(max_steps=6))


@dataclass
class FakeRetriever:
    """Documents by hand; finds those that hold the query's words."""

    texts: dict[Document, str]
    read_ids: list[str] = field(default_factory=list[str])

    async def confidential(self) -> AbstractSet[str]:
        return frozenset()

    async def documents(self) -> Sequence[Document]:
        return list(self.texts)

    async def retrieve(self, query: str, k: int) -> Sequence[Passage]:
        found = [
            Passage(
                text=text,
                file_id=document.id,
                file_name=document.name,
                knowledge_id=document.knowledge_id,
                score=1.0,
                heading="Leave",
            )
            for document, text in self.texts.items()
            if set(query.lower().split()) & set(text.lower().split())
        ]
        return found[:k]

    async def read(self, document_id: str) -> str:
        self.read_ids.append(document_id)
        for document, text in self.texts.items():
            if document.id == document_id:
                return text
        raise ToolError("not in scope")


def document(name: str, id: str = "", base: str = "Handbook") -> Document:
    return Document(id=id or f"f-{name}", name=name, knowledge_id=base.lower(), knowledge_name=base)


async def add(knowledge: LocalKnowledge, knowledge_id: str, *paths: Path) -> dict[str, FileOutcome]:
    """Outcomes by file name."""
    outcomes: dict[str, FileOutcome] = {}
    await knowledge.add_paths(
        knowledge_id, paths, lambda outcome, done, total: outcomes.update({outcome.name: outcome})
    )
    return outcomes


def zipped(parts: dict[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = BytesIO()
    with zipfile.ZipFile(target, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue()


_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def docx(body: str, **parts: str) -> bytes:
    """`body` is the XML inside `w:body`; `styles=` and others are whole parts."""
    document = f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'
    return zipped(
        {
            "word/document.xml": document,
            "word/_rels/document.xml.rels": relationships(
                *((name, name, f"{name}.xml") for name in parts)
            ),
            **{
                f"word/{name}.xml": f'<w:{name} xmlns:w="{_WORD}">{content}</w:{name}>'
                for name, content in parts.items()
            },
        }
    )


def paragraph(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def relationships(*targets: tuple[str, str, str]) -> str:
    """Of (id, kind, target)."""
    links = "".join(
        f'<Relationship Id="{id}" Type="http://x/{kind}" Target="{target}"/>'
        for id, kind, target in targets
    )
    namespace = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{namespace}">{links}</Relationships>'


def pdf(*pages: str) -> bytes:
    """A PDF with one line of Latin text a page, written by hand."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", ""]
    kids: list[str] = []
    for text in pages:
        content = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET"
        page_number = len(objects) + 1
        kids.append(f"{page_number} 0 R")
        objects.append(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 200]/Contents "
            f"{page_number + 1} 0 R/Resources<</Font<</F1<</Type/Font/Subtype/Type1"
            "/BaseFont/Helvetica>>>>>>>>"
        )
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(kids)}]>>"
    out = "%PDF-1.4\n"
    offsets: list[int] = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj{content}endobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    out += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R>>\n"
    return (out + f"startxref\n{out.index('xref')}\n%%EOF").encode("latin-1")
