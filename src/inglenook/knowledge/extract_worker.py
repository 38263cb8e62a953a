"""The process that opens users' documents: one of `documents/worker_process.py`.

Request {"kind"} and the file's bytes; answer {"chunks": [[start, end, heading]]} and the text in
UTF-8, or {"error": reason}. To see what a file gives:
`python -m inglenook.knowledge.extract_worker KIND < FILE`.
"""

import sys
from typing import Any

from inglenook.documents.text_builder import MAX_TEXT_CHARS, Unreadable
from inglenook.documents.worker_process import OUT_OF_MEMORY, Answer, serve
from inglenook.knowledge.chunking import chunk
from inglenook.knowledge.readers import read

_SAMPLES = (
    ("html", b"<meta charset=gbk><body><p style='x:y'>\xd6\xd0</p><table><tr><td>a</table>"),
    ("text", b"\xd6\xd0\xce\xc4"),
    (
        "pdf",
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1"
        b"/Kids[3 0 R]>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\n"
        b"trailer<</Root 1 0 R>>\n",
    ),
    ("docx", b"PK"),
)


def main() -> None:
    if len(sys.argv) == 2:
        header, body = _answer({"kind": sys.argv[1]}, sys.stdin.buffer.read())
        sys.stdout.write(str(header.get("error") or body.decode()))
        return
    serve(_answer, [({"kind": kind}, sample) for kind, sample in _SAMPLES])


def _answer(request: dict[str, Any], data: bytes) -> Answer:
    try:
        text, headings = read(str(request["kind"]), data)
        if len(text) > MAX_TEXT_CHARS:
            raise Unreadable(f"it holds more than {MAX_TEXT_CHARS:,} characters of text")
        chunks = [[c.start, c.end, c.heading] for c in chunk(text, headings)]
    except Unreadable as error:
        return {"error": str(error)}, b""
    except (MemoryError, RecursionError):
        return {"error": OUT_OF_MEMORY}, b""
    return {"chunks": chunks}, text.encode("utf-8", "replace")


if __name__ == "__main__":
    main()
