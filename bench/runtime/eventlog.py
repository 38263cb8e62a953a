"""What it costs to append one event durably: the floor under a runtime that keeps an event log.

    python eventlog.py [--folder DIR]     (a real disk, not tmpfs)

CPU is this process's; what the disk does meanwhile shows in the wall time.
"""

import argparse
import json
import os
import sqlite3
import statistics
import tempfile
import time

EVENT = {
    "run": "01J9Z3",
    "seq": 0,
    "type": "tool_result",
    "step": 7,
    "tool": "search",
    "content": "x" * 2000,
}


class Lines:
    """JSON lines, one write per event."""

    sync = False

    def __init__(self, folder):
        self.file = os.open(
            f"{folder}/{type(self).__name__}", os.O_CREAT | os.O_APPEND | os.O_WRONLY
        )

    def append(self, events):
        os.write(self.file, b"".join(json.dumps(e).encode() + b"\n" for e in events))
        if self.sync:
            os.fdatasync(self.file)


class LinesSync(Lines):
    """JSON lines, fdatasync per append."""

    sync = True


class SqliteWal:
    """SQLite, WAL, synchronous=NORMAL (no loss at a crash of the process), one commit per append."""

    level = "normal"

    def __init__(self, folder):
        self.db = sqlite3.connect(f"{folder}/{type(self).__name__}", isolation_level=None)
        self.db.execute("pragma journal_mode=wal")
        self.db.execute(f"pragma synchronous={self.level}")
        self.db.execute(
            "create table e(run text, seq integer, data text, primary key(run, seq)) without rowid"
        )

    def append(self, events):
        self.db.execute("begin")
        self.db.executemany(
            "insert into e values (?, ?, ?)", ((e["run"], e["seq"], json.dumps(e)) for e in events)
        )
        self.db.execute("commit")


class SqliteFull(SqliteWal):
    """SQLite, WAL, synchronous=FULL (no loss at a power cut)."""

    level = "full"


class SqliteDelete(SqliteWal):
    """SQLite as it comes: rollback journal, FULL."""

    def __init__(self, folder):
        self.level = "full"
        super().__init__(folder)
        self.db.execute("pragma journal_mode=delete")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", default=None)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        logs = [log(folder) for log in (Lines, LinesSync, SqliteWal, SqliteFull, SqliteDelete)]
        times = {(log, batch): [] for log in logs for batch in (1, 32)}
        seq = 0
        for _ in range(60):
            for log, batch in times:
                events = [{**EVENT, "seq": (seq := seq + 1)} for _ in range(batch)]
                start = time.process_time_ns(), time.perf_counter_ns()
                log.append(events)
                cpu, wall = time.process_time_ns() - start[0], time.perf_counter_ns() - start[1]
                times[log, batch].append((cpu / 1e3 / batch, wall / 1e3 / batch))
    print(
        "| append of a 2 kB event | CPU us | wall us | CPU us, 32 at a time | wall us |\n|---|---:|---:|---:|---:|"
    )
    for log in logs:
        cells = [
            f"{statistics.median(t[i] for t in times[log, batch]):.3g}"
            for batch in (1, 32)
            for i in (0, 1)
        ]
        print(f"| {log.__doc__} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
