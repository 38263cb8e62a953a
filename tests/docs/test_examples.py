"""The documentation is about this program: its commands parse, its links and files are there."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.exceptions import TyperException
from typer.main import get_command

from inglenook.cli.main import app
from inglenook.settings.load import load

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
GUIDE = ROOT / "docs" / "guide.md"
DOCUMENTS = [README, *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
SOURCE_PATH = re.compile(r"`((?:bench|docs|scripts|src|tests)/[\w./-]+)`")
ASSIGNMENT = re.compile(r"[A-Z_]+=")
OPERATORS = {"|", "||", "&", "&&", ";", "<", ">", ">>"}


def blocks(document: Path, language: str) -> list[str]:
    text = document.read_text(encoding="utf-8")
    return [body for name, body in FENCE.findall(text) if name == language]


def prose(document: Path) -> str:
    return FENCE.sub("", document.read_text(encoding="utf-8"))


def arguments_of(line: str) -> list[str] | None:
    """What `inglenook` is given in a line of a shell; None where the line calls something else."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words = list(lexer)
    while words and ASSIGNMENT.match(words[0]):
        del words[0]
    if not words or words[0].rpartition("/")[2] != "inglenook":
        return None
    end = next((n for n, word in enumerate(words) if word in OPERATORS), len(words))
    return words[1:end]


def examples() -> list[tuple[str, str]]:
    """Every `$ inglenook …` of the console blocks, with the document that holds it."""
    return [
        (document.name, line.removeprefix("$ "))
        for document in DOCUMENTS
        for block in blocks(document, "console")
        for line in block.replace("\\\n", " ").splitlines()
        if line.startswith("$ ") and arguments_of(line.removeprefix("$ ")) is not None
    ]


def parse(arguments: list[str]) -> None:
    """Read a command line as the program does, and do nothing.

    Raises:
        TyperException: The program would end with a usage error.
    """
    program = get_command(app)  # built anew by each call, so it may be emptied
    for _, command in commands_in(program):
        command.callback = None
    program.main(args=arguments, standalone_mode=False)


def commands_in(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """A command and all below it, each with its words; their types are not public."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands_in(inner, f"{path} {name}".strip())


def leaves() -> list[str]:
    return [path for path, each in commands_in(get_command(app)) if not hasattr(each, "commands")]


def anchors(document: Path) -> set[str]:
    """As GitHub makes them."""
    headings = HEADING.findall(prose(document))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(("document", "line"), examples())
def test_an_example_is_a_command_line_of_this_program(document: str, line: str):
    arguments = arguments_of(line)
    assert arguments is not None
    parse(arguments)


@pytest.mark.parametrize(
    "line",
    [
        "inglenook ask --wbe question",
        "inglenook asks question",
        "inglenook ask one two",
        "inglenook kb add Name",
        "inglenook serve --port many",
        "inglenook kb search Name query -k 0",
    ],
)
def test_a_wrong_command_line_would_be_found(line: str):
    arguments = arguments_of(line)
    assert arguments is not None
    with pytest.raises(TyperException):
        parse(arguments)


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("inglenook ask 'a | b' > answer.txt", ["ask", "a | b"]),
        ("A=1 B='2 3' .venv/bin/inglenook kb list # all", ["kb", "list"]),
        ("make run", None),
    ],
)
def test_a_line_of_a_shell_is_read_up_to_its_first_operator(line: str, arguments: list[str] | None):
    assert arguments_of(line) == arguments


def test_the_guide_shows_every_command():
    text = GUIDE.read_text(encoding="utf-8")
    missing = [path for path in leaves() if f"inglenook {path}" not in text]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_and_images_lead_somewhere(document: Path):
    dead: list[str] = []
    for target in LINK.findall(prose(document)):
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        file = (document.parent / path).resolve() if path else document
        if not file.exists() or (anchor and anchor not in anchors(file)):
            dead.append(target)
    assert dead == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_that_are_named_as_proof_exist(document: Path):
    named = SOURCE_PATH.findall(prose(document))
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_shown_configuration_is_accepted(document: Path, tmp_path: Path):
    for number, block in enumerate(blocks(document, "toml")):
        file = tmp_path / f"{number}.toml"
        file.write_text(block, encoding="utf-8")
        load(config=file, environment={})
