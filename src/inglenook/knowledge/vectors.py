"""The matrix of one knowledge base: float32 rows in a file, mapped into memory, searched whole."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from inglenook.errors import StoreError
from inglenook.knowledge.embedder import Vectors


class VectorFile:
    """Rows are written before the database names them, so that no crash leaves a row unwritten."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mapped: Vectors | None = None

    def write(self, rows: Sequence[int], vectors: Vectors) -> None:
        """Store `vectors[i]` as row `rows[i]`, on the disk when this returns.

        Raises:
            StoreError: The disk is full, or the file is not ours to write.
        """
        row_bytes = vectors.shape[1] * 4
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        with self._translated(), os.fdopen(os.open(self._path, flags, 0o600), "r+b") as file:
            for row, vector in zip(rows, vectors, strict=True):
                file.seek(row * row_bytes)
                file.write(np.ascontiguousarray(vector, dtype=np.float32).tobytes())
            file.flush()
            os.fsync(file.fileno())

    def erase(self, rows: Sequence[int], dimensions: int) -> None:
        if rows and self._path.exists():
            self.write(rows, np.zeros((len(rows), dimensions), dtype=np.float32))

    def close(self) -> None:
        self._mapped = None

    def remove(self) -> None:
        self.close()
        with self._translated():
            self._path.unlink(missing_ok=True)

    def holds(self, row_count: int, dimensions: int) -> bool:
        try:
            return self._path.stat().st_size >= row_count * dimensions * 4
        except FileNotFoundError:
            return row_count == 0

    def scores(
        self, query: Vectors, rows: npt.NDArray[np.int64], row_count: int
    ) -> npt.NDArray[np.float32]:
        """Cosine of `query` with each of `rows`, all of them below `row_count`."""
        shape = (row_count, len(query))
        matrix = self._mapped
        if matrix is None or matrix.shape != shape:
            # kept: at each new mapping the kernel has to look up all of its pages again
            matrix = np.asarray(np.memmap(self._path, dtype=np.float32, mode="r", shape=shape))
            self._mapped = matrix
        # a BLAS product starts a thread a core, and then waits for a busy core
        every = np.vecdot(matrix, query)
        return every if len(rows) == row_count else every[rows]

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"vectors cannot be written to {self._path}: {error.strerror}. Free some disk "
                "space, or check that the folder belongs to you; full text goes on working."
            ) from error
