"""`inglenook research` from end to end: what it looks for as it does, the report on stdout."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program
from tests.fake_duckduckgo import FakeDuckDuckGo, organic, page
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer

SEARCH = calls(("web_search", {"query": "tower height"}))
ANSWER = calls(("final_answer", {"answer": "It is 321 m high [1]."}))
FOUND = page(organic(url="https://site.test/tower", title="The tower", snippet="321 m"))


async def researched(
    tmp_path: Path, *options: str, script: tuple[Any, ...] = (SEARCH, ANSWER), body: str = FOUND
) -> tuple[Any, ScriptedServer, FakeDuckDuckGo]:
    async with ScriptedServer(list(script)) as model, FakeDuckDuckGo(body) as engine:
        env = (
            ("INGLENOOK_WEB__DUCKDUCKGO_URL", engine.url),
            ("INGLENOOK_WEB__ENGINES", '["duckduckgo"]'),
            ("INGLENOOK_WEB__ALLOW_PRIVATE_ADDRESSES", "true"),
        )
        program = Program(home=tmp_path / "h", ollama_url=model.url, env=env)
        done = await program.run("research", "How high is the tower?", *options)
    return done, model, engine


async def test_the_report_alone_is_on_stdout_and_the_search_is_told_as_it_happens(tmp_path: Path):
    done, _, engine = await researched(tmp_path)
    assert (done.code, done.out) == (0, "It is 321 m high [1].\n"), done.err
    assert "Search: tower height" in done.err
    assert "https://site.test/tower" in done.err
    assert [asked.form["q"] for asked in engine.asked] == ["tower height"]


@pytest.mark.parametrize(
    ("name", "heading"), [("r.md", "# How high"), ("r.txt", "How high"), ("r.MD", "# How high")]
)
async def test_the_report_is_written_with_its_sources(tmp_path: Path, name: str, heading: str):
    done, _, _ = await researched(tmp_path, "--out", str(tmp_path / name))
    assert done.code == 0, done.err
    report = (tmp_path / name).read_text()
    assert report.startswith(heading)
    assert "It is 321 m high [1]." in report
    assert "[1] The tower https://site.test/tower" in report


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--deep",), "deep research is not in this version"),
        (("--out", "r.docx"), "this version writes .md and .txt files"),
        (("--out", "r.pdf"), "this version writes .md and .txt files"),
        (("--out", "nowhere/r.md"), "there is no such folder"),
        (("--recency", "decade"), "choose from day, week, month, year"),
        (("--max-tokens", "0"), "greater than or equal to 1"),
    ],
)
async def test_what_cannot_be_done_is_said_before_anything_starts(
    tmp_path: Path, options: tuple[str, ...], complaint: str
):
    done, model, engine = await researched(tmp_path, *options)
    assert done.code == 2
    assert complaint in " ".join(done.err.replace("│", " ").split())
    assert (model.chats, engine.asked) == ([], [])


async def test_a_wish_for_recent_results_reaches_the_model(tmp_path: Path):
    _, model, _ = await researched(tmp_path, "--recency", "week", "--max-tokens", "700")
    first = model.chats[0].body
    assert 'recency = "week"' in first["messages"][0]["content"]
    assert first["options"]["num_predict"] == 700


async def test_an_answer_without_research_says_so_and_exits_with_3(tmp_path: Path):
    done, _, engine = await researched(tmp_path, script=("Some 300 m.", "Some 300 m."))
    assert done.code == 3
    assert done.out.startswith("[Not researched:")
    assert "no_evidence" in done.err
    assert engine.asked == []


async def test_json_is_the_run(tmp_path: Path):
    done, _, _ = await researched(tmp_path, "--json")
    run = json.loads(done.out)
    assert (run["strategy"], run["status"]) == ("research@1", "complete")
    assert [source["url"] for source in run["sources"]] == ["https://site.test/tower"]


async def test_where_nobody_can_be_asked_a_query_waits_and_it_is_said_how_to_decide(tmp_path: Path):
    done, _, engine = await researched(tmp_path, "--ask", "--out", str(tmp_path / "r.md"))
    assert done.code == 3
    assert "tower+height" in done.err
    assert "runs approve run_" in done.err
    assert engine.asked == []
    assert not (tmp_path / "r.md").exists()
