"""A browser of our own: a process with a throwaway profile, without our environment, ended with us.

The profile is a fresh folder each time, so nothing is kept between pages and two processes of ours
never meet in one. As root the browser is started as the user `nobody`: its sandbox does not work
for root, and a page is no place to do without it.
"""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inglenook.web.remote import MAX_MESSAGE_BYTES, PipeWire
from inglenook.web.tab import BrowserError

UNPRIVILEGED_USER = "nobody"
MAX_COMPLAINT_CHARS = 300


@dataclass(frozen=True, kw_only=True)
class Profile:
    folder: Path
    account: Mapping[str, Any]
    """Whose it is and who must run the browser, as `create_subprocess_exec` takes it; empty: us."""

    @property
    def complaints(self) -> Path:
        """What the browser prints."""
        return self.folder / "stderr.txt"

    def last_complaint(self) -> str:
        lines = self.complaints.read_text(encoding="utf-8", errors="replace").split("\n")
        serious = [line for line in lines if "FATAL" in line or "sandbox" in line] or lines
        return next((line for line in reversed(serious) if line.strip()), "it said nothing")[
            :MAX_COMPLAINT_CHARS
        ]


def installed(programs: Sequence[str], browser: str) -> str:
    """Where the first of these programs lies.

    Raises:
        BrowserError: There is none.
    """
    for name in programs:
        if program := shutil.which(name):
            return program
    raise BrowserError(
        f"no {browser} was found (looked for {', '.join(programs)}); install it, or start yours "
        "with `--remote-debugging-port=9222` and set `web.browser_port = 9222`."
    )


@contextmanager
def throwaway_profile() -> Generator[Profile]:
    """Raises:
    BrowserError: This system cannot have one.
    """
    if sys.platform == "win32":
        raise BrowserError(
            "on Windows no browser is started; start one yourself and set `web.browser_port`."
        )
    account = _unprivileged() if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="inglenook-browser-"))
    try:
        if account:
            os.chown(folder, account["user"], account["group"])
        yield Profile(folder=folder, account=account)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def start(program: str, arguments: Sequence[str], *, shell: str, profile: Profile) -> Process:
    """`shell` is what /bin/sh does with the program and its arguments (`"$0" "$@"`); its standard
    input and output are pipes to us, and it leads a process group of its own.

    Raises:
        BrowserError: It cannot be started.
    """
    environment = {"PATH": os.defpath, "HOME": str(profile.folder), "LANG": "C.UTF-8"}
    with profile.complaints.open("wb") as complaints:
        try:
            return await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                shell,
                program,
                *arguments,
                stdin=PIPE,
                stdout=PIPE,
                stderr=complaints,
                cwd=profile.folder,
                env=environment,
                start_new_session=True,
                limit=MAX_MESSAGE_BYTES,
                **profile.account,
            )
        except OSError as error:
            raise BrowserError(f"{program!r} cannot be started: {error}.") from error


def pipes_of(process: Process) -> PipeWire:
    assert process.stdout
    assert process.stdin
    return PipeWire(process.stdout, process.stdin)


async def end(process: Process) -> None:
    """All that it started goes with it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _unprivileged() -> dict[str, Any]:
    import pwd  # there is none on Windows

    try:
        account = pwd.getpwnam(UNPRIVILEGED_USER)
    except KeyError:
        raise BrowserError(
            f"this runs as root, and there is no user {UNPRIVILEGED_USER!r} to run a browser as; "
            "run it as an ordinary user."
        ) from None
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
