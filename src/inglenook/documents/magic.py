"""What bytes are by how they begin, whatever their name or a header calls them."""

_HEAD_BYTES = 1024
"""`%PDF-` stands in these; some writers put something before it."""
_BINARY = (
    *(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\x00", b"MM\x00*", b"\x00\x00\x01\x00"),
    *(b"RIFF", b"OggS", b"ID3", b"\xff\xfb", b"\xff\xf3", b"fLaC", b"\x1aE\xdf\xa3", b"FLV\x01"),
    *(b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!"),
    *(b"\x28\xb5\x2f\xfd", b"\x7fELF", b"MZ", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\x00asm"),
    *(b"wOFF", b"wOF2", b"OTTO", b"\x00\x01\x00\x00", b"SQLite format 3", b"\xd0\xcf\x11\xe0"),
    *(b"%!PS-Adobe", b"\x93NUMPY", b"GGUF", b"PAR1", b"\x89HDF", b"!<arch>\n"),
)
"""Of images, sound, film, archives, programs, fonts and data."""
_TWO_BYTES = (b"BM", b"MZ")
"""They begin texts too, which hold no zero byte near the start."""


def is_pdf(data: bytes) -> bool:
    return b"%PDF-" in data[:_HEAD_BYTES]


def is_docx(data: bytes) -> bool:
    return data.startswith(b"PK") and b"word/" in data


def is_binary(data: bytes) -> bool:
    """The bytes begin as those of a format that holds no text do."""
    head = data[:_HEAD_BYTES]
    if not head.startswith(_BINARY) and head[4:8] != b"ftyp":
        return False
    return not head.startswith(_TWO_BYTES) or b"\x00" in head
