"""Look-up in one knowledge base: by words (FTS5) and by meaning (exact, over all vectors)."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inglenook.knowledge.base import Passage
from inglenook.knowledge.embedder import Vectors
from inglenook.knowledge.index_db import IndexDatabase, read_meta
from inglenook.knowledge.ranking import POOL, Candidate
from inglenook.knowledge.terms import any_of, query_terms
from inglenook.knowledge.vectors import VectorFile

MAX_POSTINGS = 5000
"""Chunks that one query may have to score: some 4 ms."""
_COUNT_OF_TERM = "SELECT doc FROM term_counts WHERE term = ?"


@dataclass(frozen=True, kw_only=True)
class _RowMap:
    """Which chunk each row of the vector file belongs to, as of one state of the database."""

    data_version: int
    embedder: str
    rows: npt.NDArray[np.int64]
    """Ascending."""
    chunk_ids: npt.NDArray[np.int64]
    """Aligned with `rows`."""
    position_of: Mapping[int, int]
    """Chunk id to its position in `rows`."""


class IndexSearch:
    def __init__(self, knowledge_id: str, database: IndexDatabase, vectors: VectorFile) -> None:
        self._id = knowledge_id
        self._db = database
        self._vectors = vectors
        self._row_map: _RowMap | None = None

    def candidates(
        self, query: str, vector: Vectors | None, embedder_id: str | None
    ) -> list[Candidate]:
        """The best by words and the best by meaning, each with what is known of both."""
        words = self._by_words(query)
        meaning = self._by_meaning(vector, embedder_id, words)
        return [
            Candidate(
                chunk_id=chunk_id,
                knowledge_id=self._id,
                cosine=meaning.get(chunk_id),
                bm25=words.get(chunk_id, 0.0),
            )
            for chunk_id in {**words, **meaning}
        ]

    def passages(self, scores: Mapping[int, float]) -> list[Passage]:
        """The chunks of these ids, each with its score; those that are gone are left out."""
        found: list[Passage] = []
        with self._db.reading() as reader:
            for chunk_id, score in scores.items():
                row = reader.execute(
                    "SELECT chunks.text, heading, files.id, name FROM chunks"
                    " JOIN files ON files.id = file_id WHERE chunks.id = ?",
                    (chunk_id,),
                ).fetchone()
                if row is not None:
                    text, heading, file_id, name = row
                    found.append(
                        Passage(
                            text=text.strip(),
                            file_id=file_id,
                            file_name=name,
                            knowledge_id=self._id,
                            score=score,
                            heading=heading or None,
                        )
                    )
        return found

    def _by_words(self, query: str) -> dict[int, float]:
        """Chunk id to BM25, scaled by the share of the query that the best of them holds.

        BM25 depends on how rare a word is in its own base; the share makes two bases comparable.
        """
        asked = query_terms(query)
        if not asked:
            return {}
        with self._db.reading() as reader:
            telling = _telling(reader, asked)
            if not telling:
                return {}
            rows = reader.execute(
                "SELECT rowid, -rank FROM chunk_terms WHERE chunk_terms MATCH ?"
                " ORDER BY rank LIMIT ?",
                (any_of(telling), POOL),
            ).fetchall()
            (best,) = reader.execute(
                "SELECT terms FROM chunk_terms WHERE rowid = ?", (rows[0][0],)
            ).fetchone()
        share = len(set(asked).intersection(best.split(" "))) / len(asked)
        top = rows[0][1] or 1.0
        return {chunk_id: share * bm25 / top for chunk_id, bm25 in rows}

    def _by_meaning(
        self, vector: Vectors | None, embedder_id: str | None, words: Iterable[int]
    ) -> dict[int, float]:
        """Chunk id to cosine: of the nearest, and of the chunks in `words` that have a vector."""
        if vector is None:
            return {}
        with self._db.reading() as reader:
            row_map = self._fresh_row_map(reader)
        if row_map.embedder != embedder_id or not len(row_map.rows):
            return {}
        row_count = int(row_map.rows[-1]) + 1
        if not self._vectors.holds(row_count, len(vector)):
            return {}
        cosines = self._vectors.scores(vector, row_map.rows, row_count)
        nearest = np.argpartition(-cosines, min(POOL, len(cosines)) - 1)[:POOL]
        known = [row_map.position_of[c] for c in words if c in row_map.position_of]
        return {int(row_map.chunk_ids[p]): float(cosines[p]) for p in {*map(int, nearest), *known}}

    def _fresh_row_map(self, reader: sqlite3.Connection) -> _RowMap:
        (version,) = reader.execute("PRAGMA data_version").fetchone()
        cached = self._row_map
        if cached is None or cached.data_version != version:
            pairs = reader.execute(
                "SELECT row, id FROM chunks WHERE row IS NOT NULL ORDER BY row"
            ).fetchall()
            table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
            cached = self._row_map = _RowMap(
                data_version=version,
                embedder=read_meta(reader).get("embedder", ""),
                rows=table[:, 0],
                chunk_ids=table[:, 1],
                position_of={chunk_id: at for at, (_, chunk_id) in enumerate(pairs)},
            )
        return cached


def _telling(reader: sqlite3.Connection, asked: Sequence[str]) -> Sequence[str]:
    """The terms that decide, rarest first: without those of more than half of the chunks, which
    BM25 weighs as nothing (1e-6), and within `MAX_POSTINGS`. Common words take all of the time.
    """
    (chunks,) = reader.execute("SELECT count(*) FROM chunks").fetchone()
    counts = {
        term: (reader.execute(_COUNT_OF_TERM, (term,)).fetchone() or (0,))[0] for term in asked
    }
    present = sorted((term for term in asked if counts[term]), key=counts.__getitem__)
    telling = present[:1]
    left = MAX_POSTINGS
    for term in present[1:]:
        left -= counts[term]
        if 2 * counts[term] > chunks or left < 0:
            break
        telling.append(term)
    return telling
