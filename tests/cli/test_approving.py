"""Approving at the terminal: what is shown, what a person types, and what comes of it."""

from pathlib import Path
from typing import Any

import pytest

from inglenook.cli.ask import see_through
from inglenook.cli.exact_text import exact, shown_host
from tests.cli.asking import BenchClient, Screen, Typist
from tests.cli.program import Program, line_with, stop
from tests.fake_duckduckgo import FakeDuckDuckGo, organic, page
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer
from tests.sending import SearchTool, Wire
from tests.support import FunctionProvider, ask, bench, call, results, say


async def asked_at_terminal(
    home: Path, *typed: str, query: str = "otters of ACME"
) -> tuple[dict[str, Any], str, Wire]:
    wire, screen = Wire(), Screen()
    model = FunctionProvider(
        lambda view: say("done") if results(view) else say("", call("web_search", "c", query=query))
    )
    async with bench(home, model, web=[SearchTool(wire)]) as b:
        client = BenchClient(b)
        run_id = await client.start(ask("?", web=True, approvals={"web_search": "ask"}))
        run = await see_through(client, run_id, screen, ask=Typist(*typed))
    return run, screen.text.getvalue(), wire


async def test_the_exact_request_is_shown_before_anybody_is_asked(tmp_path: Path) -> None:
    _, shown, _ = await asked_at_terminal(tmp_path)
    assert "  Tool: web_search\n" in shown
    assert 'Asks engine.test for "otters of ACME".' in shown
    assert "POST https://engine.test/html/  to engine.test" in shown
    assert "q=otters+of+ACME" in shown
    assert "Each search query is shown before it leaves." in shown


@pytest.mark.parametrize("answer", ["a", "ACCEPT", " a "])
async def test_accept_sends_it(tmp_path: Path, answer: str) -> None:
    run, _, wire = await asked_at_terminal(tmp_path, answer)
    assert (run["status"], wire.bodies) == ("complete", ["q=otters+of+ACME"])


@pytest.mark.parametrize("answer", ["", "r", "Reject"])
async def test_reject_is_the_default_and_sends_nothing(tmp_path: Path, answer: str) -> None:
    run, shown, wire = await asked_at_terminal(tmp_path, answer)
    assert (run["status"], wire.sent) == ("complete", [])
    assert "Tool: web_search" in shown


async def test_a_change_is_shown_again_before_it_is_sent(tmp_path: Path) -> None:
    run, shown, wire = await asked_at_terminal(tmp_path, "c", "otters", "a")
    assert (run["status"], wire.bodies) == ("complete", ["q=otters"])
    before, after = shown.index('for "otters of ACME".'), shown.index('for "otters".')
    assert before < after


async def test_a_change_can_be_changed_and_rejected(tmp_path: Path) -> None:
    run, _, wire = await asked_at_terminal(tmp_path, "c", "one", "c", "two", "what?", "r")
    assert (run["status"], wire.sent) == ("complete", [])


async def test_who_leaves_leaves_the_call_waiting_and_reads_how_to_decide(tmp_path: Path) -> None:
    run, shown, wire = await asked_at_terminal(tmp_path, "c")
    assert (run["status"], wire.sent) == ("waiting", [])
    assert f"inglenook runs approve {run['id']} c" in shown


async def test_who_decides_on_one_of_two_calls_is_told_of_the_other_alone(tmp_path: Path) -> None:
    wire, screen = Wire(), Screen()
    asked = say(
        "", call("web_search", "c1", query="otters"), call("web_search", "c2", query="badgers")
    )
    async with bench(tmp_path, FunctionProvider(lambda _: asked), web=[SearchTool(wire)]) as b:
        client = BenchClient(b)
        run_id = await client.start(ask("?", web=True, approvals={"web_search": "ask"}))
        run = await see_through(client, run_id, screen, ask=Typist("r"))
    shown = screen.text.getvalue()
    assert run["status"] == "waiting"
    assert f"inglenook runs approve {run_id} c2" in shown
    assert f"inglenook runs approve {run_id} c1" not in shown


async def test_nothing_in_a_query_is_hidden_or_acts_on_the_terminal(tmp_path: Path) -> None:
    _, shown, _ = await asked_at_terminal(
        tmp_path, query="a\u200bb\x1b[2Jc\u202ed\u3164e\u00a0f\ng"
    )
    assert r"a\\u200bb" in shown or r"a\u200bb" in shown
    for hidden in ("\u200b", "\x1b", "\u202e", "\u3164", "\u00a0"):
        assert hidden not in shown


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("plain text, née", "plain text, née"),
        ("a\tb\n", r"a\x09b\x0a"),
        ("\ufeffx\ufe0f\U000e0101", r"\ufeffx\ufe0f\U000e0101"),
        ("\u2003\u2028", r"\u2003\u2028"),
    ],
)
def test_exact_text(text: str, wanted: str) -> None:
    assert exact(text) == wanted


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("https://example.org/x", "example.org"),
        ("https://xn--bcher-kva.test/", "bücher.test (xn--bcher-kva.test)"),
        ("https://b\u00fccher.test/", "bücher.test (xn--bcher-kva.test)"),
        ("https://exampl\u0435.test/", "exampl\u0435.test (xn--exampl-8of.test)"),
        ("nonsense", "(no host)"),
    ],
)
def test_a_host_is_shown_in_both_of_its_forms(url: str, wanted: str) -> None:
    assert shown_host(url) == wanted


async def test_without_a_terminal_a_run_waits_and_a_command_decides(tmp_path: Path) -> None:
    search = calls(("web_search", {"query": "otters of ACME"}))
    rows = page(organic(url="https://otters.test/", title="Otters"))
    async with (
        ScriptedServer([search, "They swim."]) as model,
        FakeDuckDuckGo(rows) as engine,
    ):
        program = Program(
            home=tmp_path / "h",
            ollama_url=model.url,
            env=(
                ("INGLENOOK_WEB__DUCKDUCKGO_URL", engine.url),
                ("INGLENOOK_WEB__ALLOW_PRIVATE_ADDRESSES", "true"),
                ("INGLENOOK_APPROVALS__WEB_SEARCH", "ask"),
            ),
        )
        asked = await program.run("ask", "--web", "otters?", "--json")
        assert asked.code == 3, asked.err
        run = asked.json()
        assert (run["status"], run["reason"], engine.asked) == ("waiting", "approval", [])
        command = next(line for line in asked.err.splitlines() if "runs approve" in line)
        _, _, typed = command.partition("inglenook ")
        arguments = typed.partition("`")[0].split()
        listed = await program.run("runs", "list")
        assert " ".join(arguments) in listed.out
        done = await program.run(*arguments, "--edit", "otters")
        assert (done.code, done.out.strip()) == (0, "They swim."), done.err
        assert [each.form["q"] for each in engine.asked] == ["otters"]
        late = await program.run(*arguments, "--deny")
        assert (late.code, "it is edited" in late.err) == (1, True)
        wrong = await program.run(*arguments, "--deny", "--edit", "x")
        assert wrong.code == 2


async def test_beside_a_server_that_is_killed_the_call_waits_and_is_sent_once(
    tmp_path: Path,
) -> None:
    search = calls(("web_search", {"query": "otters"}))
    rows = page(organic(url="https://otters.test/", title="Otters"))
    async with ScriptedServer([search, "They swim."]) as model, FakeDuckDuckGo(rows) as engine:
        program = Program(
            home=tmp_path / "h",
            ollama_url=model.url,
            env=(
                ("INGLENOOK_WEB__DUCKDUCKGO_URL", engine.url),
                ("INGLENOOK_WEB__ALLOW_PRIVATE_ADDRESSES", "true"),
                ("INGLENOOK_APPROVALS__WEB_SEARCH", "ask"),
            ),
        )
        server = await program.start("serve", "--port", "0", "--no-open")
        await line_with(server, "Ctrl-C")
        asked = await program.run("ask", "--web", "otters?", "--json")
        assert (asked.code, engine.asked) == (3, []), asked.err
        run_id: str = asked.json()["id"]
        server.kill()
        await server.communicate()
        server = await program.start("serve", "--port", "0", "--no-open")
        await line_with(server, "Ctrl-C")
        events = (await program.run("runs", "events", run_id, "--json")).json()
        [call_id] = [e["call"]["id"] for e in events if e["type"] == "approval_requested"]
        wrong = await program.run("runs", "approve", run_id, "no-such-call")
        assert (wrong.code, "no-such-call" in wrong.err) == (1, True)
        done = await program.run("runs", "approve", run_id, call_id)
        assert (done.code, done.out.strip()) == (0, "They swim."), done.err
        late = await program.run("runs", "approve", run_id, call_id, "--edit", "seals")
        assert (late.code, "it is approved" in late.err) == (1, True), late.err
        await stop(server)
        replayed = await program.run("replay", run_id)
        assert replayed.code == 0, replayed.err
    assert [each.form["q"] for each in engine.asked] == ["otters"]
