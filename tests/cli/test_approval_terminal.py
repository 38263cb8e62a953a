"""`ask` on a real terminal: the question stands there, one letter decides, Ctrl-C sends nothing."""

import asyncio
import os
import pty
import sys
from pathlib import Path

import pytest

from tests.fake_duckduckgo import FakeDuckDuckGo, organic, page
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer

PROMPT = "[R]eject? "


async def on_terminal(home: Path, typed: bytes) -> tuple[int, str, list[str]]:
    """Exit code, screen and queries of an `ask` in which somebody types at the prompt."""
    search = calls(("web_search", {"query": "otters of ACME"}))
    rows = page(organic(url="https://otters.test/", title="Otters"))
    async with ScriptedServer([search, "They swim."]) as model, FakeDuckDuckGo(rows) as engine:
        ours, theirs = pty.openpty()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "inglenook.cli.main", "ask", "--web", "otters?"),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=home,
            preexec_fn=os.setsid,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "TERM": "dumb",
                "INGLENOOK_HOME": str(home / "h"),
                "OLLAMA_HOST": model.url,
                "INGLENOOK_WEB__DUCKDUCKGO_URL": engine.url,
                "INGLENOOK_WEB__ALLOW_PRIVATE_ADDRESSES": "true",
                "INGLENOOK_APPROVALS__WEB_SEARCH": "ask",
            },
        )
        os.close(theirs)
        screen = await asyncio.to_thread(_seen, ours, typed, process.pid)
        code = await process.wait()
        os.close(ours)
        return code, screen, [asked.form["q"] for asked in engine.asked]


def _seen(terminal: int, typed: bytes, pid: int) -> str:
    """All that came, with `typed` typed at the prompt; SIGINT stands for Ctrl-C."""
    screen = b""
    while True:
        try:
            screen += os.read(terminal, 4096)
        except OSError:  # the other end is closed
            return screen.decode()
        if screen.endswith(PROMPT.encode()) and typed:
            if typed == b"\x03":
                os.kill(pid, 2)
            else:
                os.write(terminal, typed)
            typed = b""


@pytest.mark.parametrize(
    ("typed", "queries"), [(b"a\n", ["otters of ACME"]), (b"\n", []), (b"r\n", [])]
)
async def test_one_letter_decides(tmp_path: Path, typed: bytes, queries: list[str]) -> None:
    async with asyncio.timeout(60):
        code, screen, sent = await on_terminal(tmp_path, typed)
    assert (code, sent) == (0, queries), screen
    assert "Tool: web_search" in screen
    assert "They swim." in screen


async def test_ctrl_c_at_the_prompt_sends_nothing(tmp_path: Path) -> None:
    async with asyncio.timeout(60):
        code, screen, sent = await on_terminal(tmp_path, b"\x03")
    assert (code, sent) == (130, []), screen
    assert "Traceback" not in screen
