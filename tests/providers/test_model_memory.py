"""What is remembered of a model: kept over processes, forgotten in time, never in the way."""

import json
import logging
import multiprocessing
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from inglenook.providers.base import ModelAbilities, ModelSpec
from inglenook.providers.model_memory import MAX_MODELS, MODE_KEPT_S, Known, ModelMemory

SPEC = ModelSpec(
    id="m",
    provider="ollama",
    model="qwen",
    base_url="http://anna:geheim@box:11434/?key=geheim",
    api_key="sk-geheim",
)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_found_mode_is_there_in_the_next_process(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    ModelMemory(file).found(SPEC, "envelope", "refused")
    known = ModelMemory(file).of(SPEC)
    assert (known.tool_mode, known.because) == ("envelope", "refused")
    assert ModelMemory(file).of(replace(SPEC, model="other")) == Known()
    assert ModelMemory(file).of(replace(SPEC, id="renamed")).tool_mode == "envelope"


def test_only_its_owner_reads_it_and_no_secret_is_in_it(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    memory = ModelMemory(file)
    memory.found(SPEC, "native", "called")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "geheim" not in file.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["models.json"]


def test_a_mode_is_found_out_again_after_a_week_and_the_rest_stays(tmp_path: Path) -> None:
    clock = Clock()
    memory = ModelMemory(tmp_path / "models.json", clock=clock)
    memory.found(SPEC, "envelope", "refused")
    memory.refused_schema(SPEC)
    memory.learned(SPEC, token_ratio=1.25)
    clock.now += MODE_KEPT_S - 1
    assert memory.of(SPEC).tool_mode == "envelope"
    assert memory.of(SPEC).refuses_schema
    clock.now += 2
    known = memory.of(SPEC)
    assert (known.tool_mode, known.refuses_schema, known.token_ratio) == (None, False, 1.25)


def test_the_servers_word_replaces_a_refusal_but_not_what_calls_have_shown() -> None:
    memory = ModelMemory()
    memory.said(SPEC, ModelAbilities(tools=None))
    assert memory.of(SPEC).tool_mode is None, "not to know is not to lack"
    memory.said(SPEC, ModelAbilities(tools=False))
    assert memory.of(SPEC).tool_mode == "envelope"
    memory.said(SPEC, ModelAbilities(tools=True))
    assert memory.of(SPEC).tool_mode == "native"
    memory.found(SPEC, "envelope", "dropped")
    memory.said(SPEC, ModelAbilities(tools=True))
    assert memory.of(SPEC).tool_mode == "envelope"
    memory.found(SPEC, "native", "called")
    memory.said(SPEC, ModelAbilities(tools=False))
    assert memory.of(SPEC).tool_mode == "native"


def test_only_ollamas_word_replaces_a_refusal() -> None:
    memory = ModelMemory()
    elsewhere = replace(SPEC, provider="openai")
    for spec in (SPEC, elsewhere):
        memory.found(spec, "envelope", "refused")
        memory.said(spec, ModelAbilities(tools=True))
    assert memory.of(SPEC).tool_mode == "native"
    assert memory.of(elsewhere).tool_mode == "envelope"


def test_speeds_are_smoothed_and_the_window_is_the_last_one() -> None:
    memory = ModelMemory()
    memory.measured(SPEC, read_s=10.0, write_s=100.0)
    memory.measured(SPEC, read_s=20.0)
    memory.said(SPEC, ModelAbilities(served_tokens=8192))
    memory.said(SPEC, ModelAbilities())
    known = memory.of(SPEC)
    assert known.read_s is not None
    assert 10 < known.read_s < 20
    assert (known.write_s, known.window) == (100.0, 8192)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]{}", b'[{"provider": 1}]', b"\xff\xfe", b'{"a": 1}']
)
def test_a_broken_file_is_ignored_and_replaced(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "models.json"
    file.write_bytes(content)
    memory = ModelMemory(file)
    assert memory.of(SPEC) == Known()
    assert "models.json" in caplog.text
    memory.found(SPEC, "native", "called")
    assert ModelMemory(file).of(SPEC).tool_mode == "native"


def test_a_home_that_cannot_be_written_costs_a_log_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = ModelMemory(tmp_path / "gone" / "models.json")
    with caplog.at_level(logging.WARNING):
        memory.found(SPEC, "native", "called")
    assert memory.of(SPEC).tool_mode == "native"
    assert "not kept" in caplog.text


def test_small_changes_wait_for_the_end(tmp_path: Path) -> None:
    clock, file = Clock(), tmp_path / "models.json"
    memory = ModelMemory(file, clock=clock)
    memory.measured(SPEC, write_s=50.0)
    assert not file.exists()
    clock.now += 60
    memory.measured(SPEC, write_s=60.0)
    assert file.exists()
    memory.learned(SPEC, token_ratio=0.9)
    memory.save()
    assert ModelMemory(file).of(SPEC).token_ratio == 0.9


def test_the_file_is_bounded_and_the_newest_stay(tmp_path: Path) -> None:
    clock, file = Clock(), tmp_path / "models.json"
    memory = ModelMemory(file, clock=clock)
    for n in range(MAX_MODELS + 20):
        clock.now += 1
        memory.measured(replace(SPEC, model=f"m{n}"), write_s=1.0)
    memory.save()
    entries = json.loads(file.read_text())
    assert len(entries) == MAX_MODELS
    assert entries[0]["model"] == f"m{MAX_MODELS + 19}"


def test_an_address_that_changes_is_known_by_its_place(tmp_path: Path) -> None:
    memory = ModelMemory()
    memory.measured(replace(SPEC, place="here", base_url="http://127.0.0.1:1/v1"), write_s=5.0)
    later = replace(SPEC, place="here", base_url="http://127.0.0.1:2/v1")
    assert memory.of(later).write_s == 5.0


def learn(file: Path, model: str) -> None:
    for n in range(30):
        memory = ModelMemory(file)
        memory.found(replace(SPEC, model=f"{model}-{n}"), "native", "called")


def test_writers_at_the_same_time_leave_a_whole_file(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=learn, args=(file, name)) for name in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    assert json.loads(file.read_text())
    assert any(
        ModelMemory(file).of(replace(SPEC, model=f"{name}-29")).tool_mode == "native"
        for name in "abc"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["models.json"]
