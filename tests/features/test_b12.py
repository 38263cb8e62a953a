"""B12: `Tool: web_search` and a sentence that says what will be asked stand there before the wait;
a rejection leaves them, a change adds a second sentence for the changed query."""

from pathlib import Path

import pytest

from tests.cli.test_approving import asked_at_terminal

FIRST, SECOND = 'Asks engine.test for "otters of ACME".', 'Asks engine.test for "otters".'


@pytest.mark.parametrize("typed", [(), ("r",), ("a",)])
async def test_line_and_sentence_stand_whatever_is_decided(
    tmp_path: Path, typed: tuple[str, ...]
) -> None:
    _, shown, _ = await asked_at_terminal(tmp_path, *typed)
    assert shown.index("Tool: web_search") < shown.index(FIRST)
    assert SECOND not in shown


async def test_a_change_adds_a_second_sentence(tmp_path: Path) -> None:
    _, shown, wire = await asked_at_terminal(tmp_path, "change", "otters", "accept")
    assert shown.index(FIRST) < shown.index(SECOND)
    assert wire.bodies == ["q=otters"]
