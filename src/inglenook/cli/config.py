"""`inglenook config …`: a commented file to start from, and where each value came from."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inglenook.cli.render import Progress, print_line
from inglenook.errors import ConfigError, shown_address
from inglenook.settings.display import flatten, origin_of
from inglenook.settings.load import FILE_NAME, Loaded

TEMPLATE = """\
# Inglenook's configuration. Lines with a # show defaults and examples; take the # away to use one.
# INGLENOOK_<SECTION>__<KEY> in the environment stands above this file.

[server]
# host = "127.0.0.1"
# port = 8420
# token = ""                 # empty: only callers on this machine are served
# show_reasoning = false     # true shows a model's thinking to users
# allowed_hosts = []         # names that callers may use besides host and localhost: ["box.lan"]

[store]
# url = "sqlite"             # nothing else in this version

[engine]
# kind = "in-process"        # nothing else in this version

[knowledge]
# provider = "local"         # or "open-webui": its collections, with each user's own key
# embedder = "builtin"       # "ollama:<model>", "openai:<model>" or "none" (full text alone)
# private = "confidential"   # "any": a run that reads any document is private; see [approvals]

[web]
# Used only by runs whose user turned the web on.
# engines = ["duckduckgo"]   # also "duckduckgo-lite", "searxng", "brave"; asked in this order
# duckduckgo_url = "https://html.duckduckgo.com"
# duckduckgo_lite_url = "https://lite.duckduckgo.com"
# searxng_url = ""           # your SearXNG, which must serve JSON
# brave_url = "https://api.search.brave.com"
# brave_api_key_env = "BRAVE_API_KEY"   # the variable with the key; without it Brave is left out
# proxy = "http://127.0.0.1:3128"   # for searches and pages; without it there is no proxy
# allow_private_addresses = false   # true: pages of this machine and your network may be read
# browser = "off"            # "chromium" or "firefox", for pages that need JavaScript
# browser_port = 9222        # attach to one that runs; without it one is started
# cookies = "off"            # "firefox" or "chrome": your own, for the sites below and no others
# cookie_sites = []          # ["lwn.net"]

[research]
# timeout_s = 120
# steps = 15                 # model calls of the agent that searches and reads, 1 to 50
# The rest waits for deep research, which is not in this version:
# breadth = 4                # 1 to 10
# max_rounds = 3             # 0 to 6
# depth = 2                  # 1 to 4
# concurrency = 2            # 1 to 5
# max_sub_queries = 14       # 1 to 40
# quality_threshold = 7      # 1 to 10
# sub_agent_steps = 0        # to 50; 0: half as many again as steps

[cache]
# enabled = false            # true keeps what was found and read on the web, for later runs
# max_mb = 50                # to 500; 0 keeps nothing; the oldest goes first
# validity_days = 30         # 1 to 30, from when it was fetched
# How near an earlier question must be to get its report; what both say must be equal in any case:
# embedding_percent = 75     # 0 to 100
# jaccard_percent = 60       # 0 to 100
# min_overlap = 8            # 0 to 50

[approvals]
# web_search = "allow"       # "ask": a person decides on each query; "block": no run has it
# confidential = "ask"       # what leaves once a run is private; "block", "allow"
# timeout_s = 3600           # nobody decided by then: it is not sent

[limits]
# steps = 12                 # model calls a run
# seconds = 600              # no limit without it
# output_tokens = 4096       # in one reply; the server decides without it
# tool_result_tokens = 2000  # of one tool result shown at once; without it a quarter of the window

# Without [[models]] every model of a reachable Ollama (OLLAMA_HOST) and of OPENAI_BASE_URL is
# offered. qwen3 is known to call tools well.
# [[models]]
# id = "qwen3"
# provider = "ollama"
# model = "qwen3:8b"
# context_tokens = 16384     # asked for with every call
# thinking = true
# tool_mode = "auto"         # "native" or "envelope" (JSON in its text); auto finds it out

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
# strategy = "assistant"     # or "research", in runs that may use the web
# model = "qwen3"            # without it the parent's
# tools = "read"             # nothing else in this version
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
        key: {"value": value, "origin": origin_of(key, loaded.origins)}
        for key, value in [*flatten(loaded.settings), *_outside(loaded)]
    }
    if as_json:
        sys.stdout.write(json.dumps(values, indent=2) + "\n")
        return 0
    for key, entry in values.items():
        print_line(f"{key} = {json.dumps(entry['value'])}    # {entry['origin']}")
    return 0


def _outside(loaded: Loaded) -> Iterator[tuple[str, Any]]:
    """What the environment alone sets; of the keys only whether they are there."""
    yield "home", str(loaded.home)
    yield "cache", str(loaded.cache)
    yield "ollama_url", shown_address(loaded.ollama_url)
    yield "openai_url", loaded.openai_url and shown_address(loaded.openai_url)
    yield "openai_key", loaded.openai_key and "********"
    yield "open_webui_key", loaded.open_webui_key and "********"
    yield "brave_key", loaded.brave_key and "********"
    yield "index_url", shown_address(loaded.index_url)
