"""The parts of an Office Open XML file by zipfile and lxml, with size limits.

Source: ECMA-376, https://ecma-international.org/publications-and-standards/standards/ecma-376/
"""

import posixpath
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from io import BytesIO
from typing import Any

from inglenook.documents.text_builder import Unreadable

etree: Any = import_module("lxml.etree")  # ships without type information

MAX_ENTRIES = 10_000
MAX_PART_BYTES = 64 * 1024 * 1024
MAX_TOTAL_BYTES = 256 * 1024 * 1024
"""Unpacked, of all parts that are read."""
MAX_RATIO = 200
"""Unpacked to packed, for parts over 1 MiB; XML of real documents stays under 60."""

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"

_STRICT_NAMESPACES = tuple(
    (f"http://purl.oclc.org/ooxml/{strict}".encode(), namespace[1:-1].encode())
    for strict, namespace in (
        ("wordprocessingml/main", W),
        ("drawingml/main", A),
        ("presentationml/main", P),
        ("spreadsheetml/main", S),
        ("officeDocument/math", M),
        ("officeDocument/relationships", R),
    )
)
"""Files saved as "Strict Open XML" name their elements differently."""
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


class Package:
    """The parts of one Office file; everything read from it counts against the limits."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        if len(archive.infolist()) > MAX_ENTRIES:
            raise Unreadable(
                f"an archive of {len(archive.infolist())} entries; the limit is {MAX_ENTRIES}"
            )
        self._archive = archive
        self._left = MAX_TOTAL_BYTES

    def __contains__(self, name: str) -> bool:
        return name in self._archive.NameToInfo

    def read(self, name: str) -> bytes:
        """
        Raises:
            KeyError: No such part.
            Unreadable: A limit is exceeded, whatever the archive's own sizes say.
        """
        info = self._archive.getinfo(name)
        limit = min(MAX_PART_BYTES, self._left)
        with self._archive.open(info) as part:
            data = part.read(limit + 1)
        if len(data) > limit:
            raise Unreadable(f"its part {name} unpacks to more than {limit:,} bytes")
        if len(data) > 1024 * 1024 and len(data) > MAX_RATIO * max(1, info.compress_size):
            raise Unreadable(f"its part {name} is packed more than {MAX_RATIO} times smaller")
        self._left -= len(data)
        return data

    def _xml_bytes(self, name: str) -> bytes:
        data = self.read(name)
        if b"purl.oclc.org/ooxml" in data[:4096]:
            for strict, transitional in _STRICT_NAMESPACES:
                data = data.replace(strict, transitional)
        return data

    def xml(self, name: str) -> Any:
        return etree.fromstring(self._xml_bytes(name), _parser())

    def rows(self, name: str, tag: str) -> Iterator[Any]:
        """Elements `tag` of a part one by one, each freed after its turn."""
        source = BytesIO(self._xml_bytes(name))
        for _, element in etree.iterparse(
            source, tag=tag, resolve_entities=False, no_network=True, huge_tree=False
        ):
            yield element
            element.clear(keep_tail=False)
            while element.getprevious() is not None:
                del element.getparent()[0]

    def main(self, usual: str) -> str:
        """The part that holds the document; some programs do not use the usual name."""
        if "_rels/.rels" in self:
            for rel in self.xml("_rels/.rels"):
                if str(rel.get("Type")).endswith("/officeDocument"):
                    return str(rel.get("Target")).lstrip("/")
        return usual

    def targets(self, name: str) -> dict[str, tuple[str, str]]:
        """Relationship id to (kind, part name) of the part `name`."""
        folder, base = posixpath.split(name)
        rels = f"{folder}/_rels/{base}.rels"
        if rels not in self:
            return {}
        return {
            str(rel.get("Id")): (
                posixpath.basename(str(rel.get("Type"))),
                posixpath.normpath(posixpath.join("/", folder, str(rel.get("Target"))))[1:],
            )
            for rel in self.xml(rels)
            if rel.get("TargetMode") != "External"
        }


@contextmanager
def open_package(data: bytes, what: str) -> Generator[Package]:
    """
    Raises:
        Unreadable: No Office file of this kind; also raised for what goes wrong in the block.
    """
    if data.startswith(_OLE):
        raise Unreadable(f"not a readable {what} (an old Office format, or password protected)")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            yield Package(archive)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        KeyError,
        ValueError,
        IndexError,
        NotImplementedError,
        RuntimeError,
        etree.LxmlError,
    ) as error:
        reason = "a part is missing" if isinstance(error, KeyError) else str(error)
        raise Unreadable(f"not a readable {what} ({reason[:200]})") from error


def _parser() -> Any:
    return etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False, remove_pis=True
    )
