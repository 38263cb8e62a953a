"""Nothing is written outside the home and, for weights, the cache folder."""

from pathlib import Path

from tests.cli.program import Program
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer


async def test_a_users_folder_holds_nothing_but_the_home(tmp_path: Path):
    user = tmp_path / "user"
    user.mkdir()
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "a.md").write_text("# Leave\n\n31 days.\n")
    script = [calls(("search_knowledge_base", {"query": "leave"})), "31 days [1].", "One."]
    async with ScriptedServer(script) as model:
        program = Program(
            home=user / "home",
            ollama_url=model.url,
            env=(("INGLENOOK_KNOWLEDGE__EMBEDDER", "builtin"), ("TMPDIR", str(tmp_path / "tmp"))),
        )
        (tmp_path / "tmp").mkdir()
        assert (await program.run("kb", "add", "Office", str(documents))).code == 0
        assert (await program.run("ask", "leave?", "--kb", "Office")).code == 0
        assert (await program.run("doctor")).code == 0
    assert {path.name for path in user.iterdir()} == {"home"}
    assert {path.name for path in documents.iterdir()} == {"a.md"}
    assert list((tmp_path / "tmp").iterdir()) == []
    secret = (user / "home" / "key").stat().st_mode & 0o777
    assert (secret, (user / "home").stat().st_mode & 0o777) == (0o600, 0o700)


async def test_a_home_that_cannot_be_made_is_named_with_the_way_out(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    done = await Program(home=tmp_path / "file" / "home", cwd=tmp_path).run("runs", "list")
    assert done.code == 1
    assert "set INGLENOOK_HOME" in done.err
    assert "Traceback" not in done.err
