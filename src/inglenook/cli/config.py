"""`inglenook config …`: a commented file to start from, and where each value came from."""

import json
import sys
from pathlib import Path

from inglenook.cli.render import Progress, print_line
from inglenook.errors import ConfigError
from inglenook.settings import FILE_NAME, Loaded, flatten

TEMPLATE = """\
# Inglenook's configuration. Lines with a # show defaults and examples; take the # away to use one.
# INGLENOOK_<SECTION>__<KEY> in the environment stands above this file.

[server]
# host = "127.0.0.1"
# port = 8420
# token = ""                 # empty: only callers on this machine are served
# show_reasoning = false     # true shows a model's thinking to users
# allowed_hosts = []         # names that callers may use besides host and localhost: ["box.lan"]

[knowledge]
# provider = "local"         # or "open-webui": its collections, with each user's own key
# embedder = "builtin"       # "ollama:<model>", "openai:<model>" or "none" (full text alone)

[web]
# engines = ["duckduckgo"]   # used only by runs whose user turned the web on

[approvals]
# web_search = "allow"       # "block": no run has it

[limits]
# steps = 12                 # model calls a run
# seconds = 600              # no limit without it

# Without [[models]] every model of a reachable Ollama (OLLAMA_HOST) and of OPENAI_BASE_URL is
# offered. qwen3 is known to call tools well.
# [[models]]
# id = "qwen3"
# provider = "ollama"
# model = "qwen3:8b"
# context_tokens = 16384     # asked for with every call
# thinking = true

# The four models of a larger installation:
# [[models]]
# id = "Luna"
# provider = "ollama"
# model = "luna"
# thinking = true
# [[models]]
# id = "Terra"
# provider = "ollama"
# model = "terra"
# thinking = true
# [[models]]
# id = "Sol"
# provider = "ollama"
# model = "sol"
# thinking = true
# [[models]]
# id = "DeepSeek V4 Pro"
# provider = "openai"
# model = "deepseek-v4-pro"
# base_url = "https://api.deepseek.com/v1"
# api_key_env = "DEEPSEEK_API_KEY"
# thinking = true
# reasoning_effort = "max"

# [open_webui]
# url = "http://127.0.0.1:3000"

# Specialists that the `delegate` tool may call: read-only, one level deep.
# [agents.reader]
# description = "reads long documents and reports what they say about one question"
# steps = 8
"""


def init() -> int:
    """Write the template into this folder.

    Raises:
        ConfigError: There is a file already; it is left as it is.
    """
    path = Path(FILE_NAME)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(TEMPLATE)
    except FileExistsError:
        raise ConfigError(f"{path.resolve()} exists; it was left as it is") from None
    except OSError as error:
        raise ConfigError(f"cannot write {path.resolve()}: {error}") from error
    Progress().line(f"wrote {path.resolve()}")
    return 0


async def show(loaded: Loaded, *, as_json: bool) -> int:
    values = {
        key: {"value": value, "origin": loaded.origins.get(key, "default")}
        for key, value in flatten(loaded.settings)
    }
    values["home"] = {"value": str(loaded.home), "origin": "INGLENOOK_HOME or the platform"}
    values["cache"] = {"value": str(loaded.cache), "origin": "INGLENOOK_CACHE or the platform"}
    if as_json:
        sys.stdout.write(json.dumps(values, indent=2) + "\n")
        return 0
    for key, entry in values.items():
        print_line(f"{key} = {json.dumps(entry['value'])}    # {entry['origin']}")
    return 0
