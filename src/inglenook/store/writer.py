"""One thread that owns the writing connection and commits in groups.

Whatever is handed over while a commit is under way shares the next one, so that many runs cost
few commits. Knows no tables: a job is a function of the connection.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from inglenook.errors import RuntimeFault, StoreError

logger = logging.getLogger(__name__)

Outcome = Any
Done: TypeAlias = tuple[Outcome, Exception | None]
"""A job's result, or why there is none."""


@dataclass(frozen=True, slots=True)
class Job:
    run: Callable[[sqlite3.Connection], Outcome]
    """Runs inside the shared transaction, and again if that was rolled back; raises a RuntimeFault
    only before it wrote anything."""
    done: Callable[[Outcome, Exception | None], None]
    """Called in the event loop after the commit, with the result or the error."""
    sync: bool = False
    """The commit and all before it must be on the disk itself, not only safe from a killed
    process; a job that writes nothing asks for those before it."""
    failed: Callable[[], None] = lambda: None
    """Called in the writer's thread when the job will not come again: it is lost."""
    is_one_statement: bool = False
    """`run` executes one statement, so that alone it needs no transaction around it."""


class GroupWriter:
    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        sync_commits: Callable[[], None],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """`sync_commits` puts all that was committed so far on the disk; raises OSError."""
        self._connect = connect
        self._sync_commits = sync_commits
        self._loop = loop
        self._jobs: queue.SimpleQueue[Sequence[Job] | None] = queue.SimpleQueue()
        self._is_synced = False
        """All commits are on the disk; a process before may have left some that are not."""
        self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, jobs: Sequence[Job]) -> None:
        self._jobs.put(jobs)

    async def call(self, run: Callable[[sqlite3.Connection], Any], *, sync: bool = True) -> Any:
        """Run one job and return its result.

        Raises:
            StoreError: The database cannot be written.
            RuntimeFault: What `run` itself raised.
        """
        future: asyncio.Future[Any] = self._loop.create_future()

        def done(result: Outcome, error: Exception | None) -> None:
            if not future.cancelled():
                future.set_exception(error) if error else future.set_result(result)

        self.submit([Job(run, done, sync)])
        return await future

    async def close(self) -> None:
        """Commit what was handed over and end the thread."""
        self._jobs.put(None)
        await self._loop.run_in_executor(None, self._thread.join)

    def _work(self) -> None:
        db = self._connect()
        synchronous = ""
        open_ = True
        while open_:
            jobs, open_ = self._drain()
            if not jobs:
                continue
            wanted = "FULL" if any(job.sync for job in jobs) else "NORMAL"
            if wanted != synchronous:
                db.execute(f"PRAGMA synchronous = {wanted}")
                synchronous = wanted
            before = db.total_changes
            outcomes = _commit(db, jobs)
            if db.total_changes > before:  # a synced commit takes those before it along
                self._is_synced = wanted == "FULL" and not any(error for _, error in outcomes)
            if wanted == "FULL" and not self._is_synced:
                outcomes = self._sync(jobs, outcomes)
            self._loop.call_soon_threadsafe(_deliver, jobs, outcomes)
        db.close()

    def _sync(self, jobs: Sequence[Job], outcomes: list[Done]) -> list[Done]:
        """Put the commits so far on the disk; where that fails, so do the jobs that wanted it."""
        try:
            self._sync_commits()
        except OSError as error:
            fault = StoreError(
                f"the home's database cannot be synced to the disk ({error.strerror or error}); "
                "check the disk and start again: unfinished runs go on from their last stored event"
            )
            fault.__cause__ = error
            pairs = zip(jobs, outcomes, strict=True)
            return [(None, fault) if job.sync else outcome for job, outcome in pairs]
        self._is_synced = True
        return outcomes

    def _drain(self) -> tuple[list[Job], bool]:
        """Everything handed over so far (at least one batch), and whether more may come."""
        jobs: list[Job] = []
        batch = self._jobs.get()
        while batch is not None:
            jobs += batch
            if self._jobs.empty():
                return jobs, True
            batch = self._jobs.get()
        return jobs, False


def _commit(db: sqlite3.Connection, jobs: Sequence[Job]) -> list[Done]:
    """One transaction for all; if it fails, one for each, so that a bad job fails alone."""
    try:
        return _transaction(db, jobs)
    except Exception as error:  # noqa: BLE001 (whatever a job does, the writer goes on)
        if db.in_transaction:
            db.execute("ROLLBACK")
        if len(jobs) > 1:
            return [outcome for job in jobs for outcome in _commit(db, [job])]
        jobs[0].failed()
        return [(None, _fault(error))]


def _transaction(db: sqlite3.Connection, jobs: Sequence[Job]) -> list[Done]:
    if len(jobs) == 1 and jobs[0].is_one_statement:
        return [_outcome(db, jobs[0])]
    db.execute("BEGIN IMMEDIATE")
    outcomes = [_outcome(db, job) for job in jobs]
    db.execute("COMMIT")
    return outcomes


def _outcome(db: sqlite3.Connection, job: Job) -> Done:
    try:
        return job.run(db), None
    except RuntimeFault as error:
        return None, error


def _fault(error: Exception) -> StoreError:
    if isinstance(error, sqlite3.Error):
        fault = StoreError(explain(error))
    else:
        logger.error("a write failed", exc_info=error)
        fault = StoreError(f"this cannot be stored: {type(error).__name__}: {error}")
    fault.__cause__ = error
    return fault


def _deliver(jobs: Sequence[Job], outcomes: list[Done]) -> None:
    for job, (result, error) in zip(jobs, outcomes, strict=True):
        job.done(result, error)


def explain(error: sqlite3.Error) -> str:
    """What happened to the database, and what to do."""
    text = str(error)
    if "disk is full" in text or "disk I/O" in text:
        return (
            f"the home's disk cannot take more ({text}); free some space and start again: "
            "unfinished runs go on from their last stored event"
        )
    if "locked" in text or "busy" in text:
        return (
            f"the home's database is held by another program ({text}); close what has it open "
            "(a database browser, a backup) and try again"
        )
    if "readonly" in text or "unable to open" in text:
        return f"the home's database cannot be written ({text}); check the folder's owner and mode"
    if "malformed" in text or "not a database" in text:
        return (
            f"the home's database inglenook.db is damaged ({text}); keep a copy of it, then put a "
            "backup in its place, or save what can be read with `sqlite3 inglenook.db .recover`"
        )
    return f"the home's database failed: {text}; `inglenook doctor` checks it"
