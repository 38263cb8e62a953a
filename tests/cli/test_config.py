"""Settings: precedence, origins, wrong keys; and commands that need no runtime."""

import json
import re
from pathlib import Path

import pytest

from inglenook.agent.strategies import STRATEGIES
from inglenook.cli.config import TEMPLATE, show
from inglenook.errors import ConfigError, shown_address
from inglenook.settings.display import flatten, origin_of
from inglenook.settings.load import load, ollama_url
from inglenook.settings.sections import ChildAgent, Limits, Model, Section, Settings
from tests.cli.program import Program


def test_flag_over_environment_over_file_over_default(tmp_path: Path):
    file = tmp_path / "c.toml"
    file.write_text("[server]\nport = 1111\nhost = '127.0.0.2'\n")
    only_file = load(config=file, environment={})
    assert only_file.settings.server.port == 1111
    env = {"INGLENOOK_SERVER__PORT": "2222"}
    loaded = load(config=file, environment=env)
    assert loaded.settings.server.port == 2222
    assert loaded.origins["server.port"] == "environment INGLENOOK_SERVER__PORT"
    assert loaded.origins["server.host"] == str(file)
    flagged = load(config=file, environment=env, flags={"server.port": 3333})
    assert (flagged.settings.server.port, flagged.origins["server.port"]) == (3333, "flag")


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        ("['*']", "needs server.token"),
        ("['http://box.lan']", "'http://box.lan' is no host name"),
        ("['box.lan:8420']", "'box.lan:8420' is no host name"),
        ("['*.lan']", "'*.lan' is no host name"),
        ("['']", "'' is no host name"),
        ("'box.lan'", "server.allowed_hosts = 'box.lan'"),
    ],
)
def test_what_is_no_allowed_host_is_refused_by_name(tmp_path: Path, hosts: str, words: str):
    file = tmp_path / "c.toml"
    file.write_text(f"[server]\nallowed_hosts = {hosts}")
    with pytest.raises(ConfigError) as error:
        load(config=file, environment={})
    assert words in str(error.value)
    assert "server.allowed_hosts" in str(error.value)


@pytest.mark.parametrize(
    "lines",
    ["allowed_hosts = ['box.lan', '10.0.0.7', '[fe80::1]']", "token = 't'\nallowed_hosts = ['*']"],
)
def test_names_addresses_and_with_a_token_the_star_are_allowed(tmp_path: Path, lines: str):
    file = tmp_path / "c.toml"
    file.write_text(f"[server]\n{lines}")
    assert load(config=file, environment={}).settings.server.allowed_hosts


def test_the_cache_folder_is_not_the_cache_section(tmp_path: Path):
    loaded = load(environment={"INGLENOOK_CACHE": str(tmp_path)})
    assert loaded.cache == tmp_path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[server]\nprot = 1", "did you mean 'server.port'"),
        ("[server]\nport = 'x'", "server.port = 'x'"),
        ("[server]\nport = 99999", "server.port = 99999"),
        ("[workspace]\nprovider = 'auto'", "does not serve it yet"),
        ("[server\n", "c.toml"),
    ],
)
def test_a_wrong_file_names_the_key_and_the_place(tmp_path: Path, text: str, words: str):
    file = tmp_path / "c.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        load(config=file, environment={})
    assert words in str(error.value)
    assert "c.toml" in str(error.value)


@pytest.mark.parametrize(
    ("ids", "words"),
    [(("a", "b", "a"), "two models have the id 'a'"), (("a", " "), "models.1.id")],
)
def test_a_model_has_an_id_of_its_own(tmp_path: Path, ids: tuple[str, ...], words: str):
    file = tmp_path / "c.toml"
    file.write_text(
        "".join(f"[[models]]\nid = '{id}'\nprovider = 'ollama'\nmodel = 'm'\n" for id in ids)
    )
    with pytest.raises(ConfigError) as error:
        load(config=file, environment={})
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("server = 5", "SERVER__PORT"),
        ("[[models]]\nid = 'a'\nprovider = 'ollama'\nmodel = 'm'", "MODELS__X"),
        ("[server]\nport = 1", "SERVER__PORT__X"),
    ],
)
def test_a_key_below_what_is_no_table_is_refused_with_both_places(
    tmp_path: Path, text: str, name: str
):
    file = tmp_path / "c.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match="is no table") as error:
        load(config=file, environment={f"INGLENOOK_{name}": "1"})
    assert f"INGLENOOK_{name}" in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "[server]\ntoken = 314159265",
        "[server]\ntoken = ['canary']",
        "server = [{token = 'canary'}]",
        "[open_webui]\nurl = ['http://u:canary@host']",
        "[web]\nproxy = ['u:canary@host']",
        "[[models]]\nid = 'a'\nbase_url = 'http://u:canary@host'",
    ],
)
def test_no_error_holds_a_token_or_password(tmp_path: Path, text: str):
    file = tmp_path / "c.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        load(config=file, environment={})
    assert "canary" not in str(error.value)
    assert "314159265" not in str(error.value)


def test_neither_repr_nor_listing_holds_a_token_or_password(tmp_path: Path):
    file = tmp_path / "c.toml"
    file.write_text(
        "[server]\ntoken = 'canary'\n[web]\nproxy = 'http://u:canary@proxy:1/'\n"
        "searxng_url = 'http://u:canary@s/'\nbrave_url = 'http://u:canary@b/'\n"
        "duckduckgo_lite_url = 'http://u:canary@d/'\nbrave_api_key_env = 'BRAVE_KEY'\n"
        "[open_webui]\nurl = 'http://u:canary@host/path'\n[[models]]\nid = 'a'\n"
        "provider = 'openai'\nmodel = 'm'\nbase_url = 'https://u:c@n@ry@host/v1'\n"
    )
    env = {
        "OPENAI_BASE_URL": "http://u:canary@host/v1",
        "OPENAI_API_KEY": "canary",
        "BRAVE_KEY": "canary",
        "OLLAMA_HOST": "http://u:canary@host",
        "PIP_INDEX_URL": "http://u:canary@host/simple",
    }
    loaded = load(config=file, environment=env)
    assert loaded.settings.server.token == "canary"
    shown = dict(flatten(loaded.settings))
    for text in (repr(loaded), repr(shown)):
        assert "canary" not in text
        assert "c@n" not in text
    assert shown["server.token"] == "********"
    assert shown["web.proxy"] == "http://proxy:1/"
    assert shown["web.brave_url"] == "http://b"
    assert shown["open_webui.url"] == "http://host/path"
    assert shown["models"][0]["base_url"] == "https://host/v1"


@pytest.mark.parametrize(
    "text",
    [
        "[web]\nbrave_api_key_env = 'sk-canary'",
        "[web]\nbrave_api_key_env = ['sk-canary']",
        "[web]\nbrave_api_key = 'canary'\nengines = 5",
        "[web]\nbrave_url = 'u:canary@host'",
        "[web]\nsearxng_url = 'u:canary@host/?key=canary'",
        "[[models]]\nid = 'a'\napi_key = 'canary'",
        "[[models]]\nid = 'a'\nprovider = 'ollama'\nmodel = 'm'\napi_key_env = 'sk-canary'",
    ],
)
def test_a_key_in_the_wrong_place_is_refused_without_repeating_it(tmp_path: Path, text: str):
    file = tmp_path / "c.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        load(config=file, environment={})
    assert "canary" not in str(error.value)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("engines = ['bing']", "web.engines"),
        ("engines = ['brave', 'brave']", "'brave' stands there twice"),
        ("searxng_url = 'box:8080'", "begins with http:// or https://"),
        ("cookies = 'chrome'", "web.cookies = 'chrome' needs the sites"),
        ("cookies = 'off'\ncookie_sites = ['https://lwn.net']", "'https://lwn.net' is no site"),
        ("cookies = 'chrome'\ncookie_sites = ['*']", "'*' is no site"),
        ("browser = 'edge'", "web.browser = 'edge'"),
        ("browser_port = 0", "web.browser_port = 0"),
    ],
)
def test_a_wrong_web_setting_says_what_is_allowed(tmp_path: Path, lines: str, words: str):
    file = tmp_path / "c.toml"
    file.write_text(f"[web]\n{lines}")
    with pytest.raises(ConfigError) as error:
        load(config=file, environment={})
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("https://s.example", "https://s.example"),
        ("https://s.example/", "https://s.example"),
        ("http://box:8080/search?q=<query>", "http://box:8080"),
        ("http://box:8080/search", "http://box:8080"),
        ("http://box/searx/search?q=<query>&language=all", "http://box/searx"),
        ("http://box/research", "http://box/research"),
    ],
)
def test_the_usual_names_of_searxng_give_its_root(text: str, root: str):
    for name in ("SEARXNG_URL", "SEARXNG_QUERY_URL"):
        loaded = load(environment={name: text})
        assert loaded.settings.web.searxng_url == root
        assert loaded.origins["web.searxng_url"] == f"environment {name}"
    ours = load(environment={"SEARXNG_URL": text, "INGLENOOK_WEB__SEARXNG_URL": "http://ours"})
    assert ours.settings.web.searxng_url == "http://ours"


@pytest.mark.parametrize(
    ("variables", "missing"),
    [
        ({}, {"searxng": "SEARXNG_URL", "brave": "web.brave_api_key_env"}),
        (
            {"SEARXNG_URL": "http://s", "INGLENOOK_WEB__BRAVE_API_KEY_ENV": "BRAVE_KEY"},
            {"brave": "BRAVE_KEY"},
        ),
        (
            {
                "SEARXNG_URL": "http://s",
                "INGLENOOK_WEB__BRAVE_API_KEY_ENV": "BRAVE_KEY",
                "BRAVE_KEY": "canary",
            },
            {},
        ),
    ],
)
def test_an_engine_without_what_it_needs_is_left_out_with_the_setting_to_make(
    variables: dict[str, str], missing: dict[str, str]
):
    engines = {"INGLENOOK_WEB__ENGINES": '["duckduckgo", "searxng", "brave"]'}
    loaded = load(environment={**engines, **variables})
    unusable = dict(loaded.unusable_engines)
    assert unusable.keys() == missing.keys()
    for engine, words in missing.items():
        assert words in unusable[engine]  # pyright: ignore[reportArgumentType]
    assert "canary" not in repr(loaded)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0:11434", "http://127.0.0.1:11434"),
        (":5000", "http://127.0.0.1:5000"),
        ("box", "http://box:11434"),
        ("https://box", "https://box:443"),
        ("http://box:1/path/", "http://box:1/path"),
        ("[::1]:7", "http://[::1]:7"),
        ("u:p@box", "http://u:p@box:11434"),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it(host: str, url: str):
    assert ollama_url(host) == url


def test_the_template_is_valid_with_every_line_taken_in(tmp_path: Path):
    lines = [
        line.removeprefix("# ") if "=" in line or line.startswith("# [") else line
        for line in TEMPLATE.splitlines()
        if line.startswith("[") or line.startswith("# [") or " = " in line
    ]
    file = tmp_path / "c.toml"
    file.write_text("\n".join(lines))
    loaded = load(config=file, environment={})
    assert [model.id for model in loaded.settings.models][1:] == [
        "Luna",
        "Terra",
        "Sol",
        "DeepSeek V4 Pro",
    ]


def test_the_template_shows_every_key_and_none_besides(tmp_path: Path):
    names: dict[str, type[Section]] = {"models": Model, "agents.reader": ChildAgent}
    for name, section in Settings.model_fields.items():
        if isinstance(section.annotation, type) and issubclass(section.annotation, Section):
            names[name] = section.annotation
    shown: dict[str, set[str]] = {}
    section = ""
    for line in TEMPLATE.splitlines():
        if header := re.fullmatch(r"(?:# )?\[+([\w.]+)\]+", line):
            section = header[1]
            shown.setdefault(section, set())
        elif key := re.match(r"# (\w+) = ", line):
            shown[section].add(key[1])
    assert shown == {name: set(section.model_fields) for name, section in names.items()}


def test_what_the_template_calls_a_default_is_one(tmp_path: Path):
    """All but the lines that say what holds without them."""
    lines = [line for line in TEMPLATE.splitlines() if "without it" not in line]
    text = "\n".join(lines[: next(n for n, line in enumerate(lines) if "Without" in line)])
    file = tmp_path / "c.toml"
    file.write_text(re.sub(r"^# (?=\w+ = )", "", text, flags=re.MULTILINE))
    given = load(config=file, environment={}).settings
    assert given.limits.steps == STRATEGIES["assistant"].max_steps
    assert given.model_copy(update={"limits": Limits()}) == Settings()


def test_a_value_deep_in_a_table_keeps_its_origin(tmp_path: Path):
    file = tmp_path / "c.toml"
    file.write_text("[server]\n[agents.reader]\ndescription = 'reads'\nsteps = 3\n")
    loaded = load(config=file, environment={"INGLENOOK_AGENTS__READER__STEPS": "4"})
    values = dict(flatten(loaded.settings))
    origins = {key: origin_of(key, loaded.origins) for key in values}
    assert (values["agents.reader.description"], values["agents.reader.steps"]) == ("reads", 4)
    assert origins["agents.reader.description"] == str(file)
    assert origins["agents.reader.steps"] == "environment INGLENOOK_AGENTS__READER__STEPS"
    assert origins["agents.reader.strategy"] == "default"
    assert origins["server.port"] == "default", "an empty section gives no value"
    whole = {"INGLENOOK_AGENTS__READER": '{"description": "reads all"}'}
    loaded = load(config=file, environment=whole)
    for key in ("agents.reader.description", "agents.reader.steps"):
        assert origin_of(key, loaded.origins) == "environment INGLENOOK_AGENTS__READER"


@pytest.mark.parametrize(
    ("variable", "key", "value"),
    [
        ("INGLENOOK_HOME", "home", "/x/home"),
        ("INGLENOOK_CACHE", "cache", "/x/cache"),
        ("OLLAMA_HOST", "ollama_url", "http://box:1"),
        ("OLLAMA_BASE_URL", "ollama_url", "http://box:1"),
        ("OPENAI_BASE_URL", "openai_url", "http://box:1"),
        ("OPENAI_API_BASE_URL", "openai_url", "http://box:1"),
        ("OPENAI_API_KEY", "openai_key", "********"),
        ("INGLENOOK_OPEN_WEBUI_KEY", "open_webui_key", "********"),
        ("PIP_INDEX_URL", "index_url", "http://box:1"),
    ],
)
async def test_show_names_the_variable_that_set_a_value(
    capsys: pytest.CaptureFixture[str], variable: str, key: str, value: str
):
    given = {variable: "canary" if value == "********" else value}
    for environment, origin in ((given, f"environment {variable}"), ({}, "default")):
        await show(load(environment=environment), as_json=True)
        shown = json.loads(capsys.readouterr().out)[key]
        assert shown["origin"] == origin
        assert (shown["value"] == value) is bool(environment)
        assert shown["value"] != "canary"


async def test_init_writes_once_and_show_names_origins(tmp_path: Path):
    program = Program(home=tmp_path / "h", cwd=tmp_path)
    assert (await program.run("config", "init")).code == 0
    again = await program.run("config", "init")
    assert again.code == 1 or again.code == 2
    assert "left as it is" in again.err
    shown = (await program.run("config", "show", "--json")).json()
    assert shown["knowledge.embedder"]["origin"] == "environment INGLENOOK_KNOWLEDGE__EMBEDDER"
    assert shown["server.port"] == {"value": 8420, "origin": "default"}


async def test_a_wrong_configuration_exits_with_2(tmp_path: Path):
    (tmp_path / "inglenook.toml").write_text("[nope]\nx = 1\n")
    done = await Program(home=tmp_path / "h", cwd=tmp_path).run("runs", "list")
    assert done.code == 2
    assert "unknown key 'nope'" in done.err


async def test_version_and_help_need_nothing(tmp_path: Path):
    program = Program(home=tmp_path / "h")
    assert (await program.run("--version")).out.strip() == "0.1.0"
    help = await program.run("--help")
    for command in ("serve", "ask", "kb", "runs", "replay", "doctor", "models", "config"):
        assert command in help.out
    assert not (tmp_path / "h").exists()


async def test_doctor_names_what_is_missing_with_the_fix(tmp_path: Path):
    done = await Program(home=tmp_path / "h").run("doctor", "--json")
    checks = {check["name"]: check for check in done.json()["checks"]}
    assert done.code == 1
    assert checks["store"]["state"] == "ok"
    assert checks["models"]["why"].count("named by OLLAMA_HOST, does not answer") == 1
    assert "ollama pull qwen3" in checks["models"]["fix"]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://u:p@host:1/v1", "http://host:1/v1"),
        ("http://host/a@b", "http://host/a@b"),
        ("u:p@host", "host"),
        ("host:1", "host:1"),
        (" https://u:p@[::1]:8/?q=a@b ", "https://[::1]:8/?…"),
        ("https://host/v1?api_key=s3cret", "https://host/v1?…"),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_its_user_and_query(url: str, shown: str):
    assert shown_address(url) == shown
