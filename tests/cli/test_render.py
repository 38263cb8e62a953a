"""What comes out on a terminal cannot act on it, whoever wrote it."""

import logging
from io import StringIO
from typing import get_args

import pytest

from inglenook.agent import strategies as agent_strategies
from inglenook.api.errors import OPEN_WEBUI_KEY
from inglenook.cli.arguments import STATUSES, STRATEGIES
from inglenook.cli.complaints import PlainLog, first_of, say
from inglenook.cli.remote_client import OPEN_WEBUI_KEY_HEADER
from inglenook.cli.render import Progress, plain, print_line
from inglenook.errors import ConfigError, InvalidRequest, StoreError
from inglenook.events import Status

EVIL = "a\x1b]0;x\x07\x9b2J\u202e"
SHOWN = "a\\x1b]0;x\\x07\\x9b2J\\u202e"


def test_a_line_holds_no_escape_but_its_own_colour():
    out = StringIO()
    Progress(out, colour=True).line(EVIL, "red")
    assert out.getvalue() == f"\x1b[31m{SHOWN}\x1b[0m\n"


def test_what_is_not_seen_is_written_as_python_writes_it():
    hidden = "\x1b\u200b\U000e0041"
    assert plain(f"a{hidden}b") == r"a\x1b\u200b\U000e0041b"


def test_a_result_and_a_fault_and_a_warning_hold_none(capsys: pytest.CaptureFixture[str]):
    print_line(EVIL)
    say(InvalidRequest(EVIL, hint=EVIL))
    captured = capsys.readouterr()
    assert captured.out == SHOWN + "\n"
    assert captured.err == f"inglenook: {SHOWN}\n  → {SHOWN}\n"
    record = logging.LogRecord("x", logging.WARNING, "", 1, "%s", (EVIL,), None)
    assert PlainLog().format(record) == SHOWN


def test_wrong_settings_exit_with_2_and_other_faults_with_1():
    assert say(ConfigError("x")) == 2
    assert say(StoreError("x")) == 1


def test_the_fault_inside_nested_groups_is_found():
    fault = StoreError("x")
    assert first_of(ExceptionGroup("", [ExceptionGroup("", [fault])])) is fault


def test_what_the_command_line_knows_by_heart_is_what_the_program_has():
    assert set(STATUSES) == set(get_args(Status))
    assert set(STRATEGIES) == set(agent_strategies.STRATEGIES)
    assert OPEN_WEBUI_KEY_HEADER == OPEN_WEBUI_KEY
