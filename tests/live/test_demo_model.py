"""The real demo model over the real sample documents, through the command line and its service.

Prints every answer and the figure that the README gives: right answers whose sources hold the
right document, of ten.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REQUIRED = 7
COMMAND = (sys.executable, "-m", "inglenook.cli.main")
SAMPLE = Path(__file__).parents[2] / "src" / "inglenook" / "sample"
QUESTIONS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("questions.json").read_text(encoding="utf-8")
)
OLLAMAS_PORT = 11434
START_TIMEOUT_S = 1800
"""The first start fetches 1.1 GB."""
ANSWER_TIMEOUT_S = 300

pytestmark = pytest.mark.live


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """No model server is named, or the demo model would not be offered."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", OLLAMAS_PORT)) == 0:
            pytest.skip("an Ollama answers here, and its models come before the demo model")
    return {**os.environ, "INGLENOOK_HOME": str(tmp_path / "home"), "NO_COLOR": "1"}


@contextmanager
def service(environment: Mapping[str, str], log: Path) -> Generator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*COMMAND, "serve", "--no-open", "--port", "0"], env=environment, stderr=out
        )
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not re.search(r"at http://\S+", log.read_text(encoding="utf-8")):
            assert process.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    is_right: bool
    is_cited: bool
    seconds: float
    answer: str


def ask(question: Mapping[str, Any], environment: Mapping[str, str]) -> Verdict:
    began = time.monotonic()
    done = subprocess.run(
        [*COMMAND, "ask", "--json", "--kb", "Sample", question["question"]],
        env=environment,
        stdout=subprocess.PIPE,
        timeout=ANSWER_TIMEOUT_S,
        check=False,
    )
    run = json.loads(done.stdout)
    answer = " ".join(run["answer"].split())
    return Verdict(
        is_right=run["status"] == "complete" and holds_any(answer, question["expected"]),
        is_cited=any(
            source["cited"] and Path(source["title"]).name == question["file"]
            for source in run["sources"]
        ),
        seconds=time.monotonic() - began,
        answer=answer,
    )


def holds_any(answer: str, expected: list[str]) -> bool:
    """Whole words and numbers: 27 is not found in 270, nor 42 in 2.42."""
    return any(
        re.search(rf"(?<![\w.,]){re.escape(words)}(?![\w]|[.,]\d)", answer, re.IGNORECASE)
        for words in expected
    )


def test_seven_of_ten_questions_are_answered_right_with_the_right_document(
    environment: dict[str, str], tmp_path: Path
) -> None:
    subprocess.run([*COMMAND, "kb", "add", "Sample", str(SAMPLE)], env=environment, check=True)
    verdicts: list[Verdict] = []
    with service(environment, tmp_path / "serve.log"):
        for question in QUESTIONS:
            verdict = ask(question, environment)
            verdicts.append(verdict)
            mark = "right" if verdict.is_right else "WRONG"
            source = "cited" if verdict.is_cited else "NOT CITED"
            print(
                f"\n{question['question']}\n  {mark}, {question['file']} {source}, "
                f"{verdict.seconds:.0f} s: {verdict.answer[:200]}"
            )
    good = sum(verdict.is_right and verdict.is_cited for verdict in verdicts)
    print(f"\ndemo model: {good} of {len(QUESTIONS)} right with the right document")
    assert good >= REQUIRED
