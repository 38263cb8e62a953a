"""Replay an exported run in a child process: whatever it does, it has no sockets of ours."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from inglenook.errors import InvalidRequest

TIMEOUT_S = 120.0
"""A run of 1,000 steps replays in a few seconds."""


@dataclass(frozen=True, kw_only=True)
class ReplayOutcome:
    identical: bool
    difference: str | None


async def replay_in_child(export: bytes, command: Sequence[str]) -> ReplayOutcome:
    """What `command` says of the export on its standard input.

    Shape of its standard output: {"identical": bool, "difference": str | null}

    Raises:
        InvalidRequest: The run cannot be replayed (erased, stopped before its first step), in
            the command's words; or it took longer than `TIMEOUT_S`.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            output, complaint = await process.communicate(export)
    except TimeoutError as error:
        raise InvalidRequest(
            f"the replay took longer than {TIMEOUT_S:g} s; run `inglenook replay` on an export",
            status=422,
        ) from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    try:
        said = json.loads(output)
        return ReplayOutcome(identical=said["identical"], difference=said["difference"])
    except (ValueError, KeyError, TypeError):
        reason = complaint.decode(errors="replace").strip().splitlines()[-1:]
        raise InvalidRequest(
            f"the run cannot be replayed: {''.join(reason) or 'the replay said nothing'}",
            status=422,
        ) from None
