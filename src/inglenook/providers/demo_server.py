"""The demo model's server: `python -m inglenook.providers.demo_server`, started by `DemoModel`.

A process of its own, so that a crash or the memory of the model is not the runtime's. It takes
one JSON line on stdin, prints one, and lives until stdin closes, that is, until its parent ends
in whatever way.

    in   {"weights": path, "alias": str, "api_key": str, "context_tokens": int, "port": int,
          "prefixes": folder}
    out  {"url": "http://127.0.0.1:43113"}
"""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from inglenook.providers.gguf import chat_template

# An extension module without stubs: imported by name, so that it is `Any` in one place.
xllamacpp: Any = importlib.import_module("xllamacpp")

MAX_REPLY_TOKENS = 1024
"""A small model that loops would otherwise write until its window is full."""


def patched(template: str) -> str:
    """`template` with a call tag that this model writes.

    Qwen2.5-Coder never prints its own `<tool_call>` token but bare JSON, which the server's tool
    parser cannot see; the same word in brackets it prints every time.
    """
    return template.replace("<tool_call>", "[tool_call]").replace("</tool_call>", "[/tool_call]")


def threads(cores: int) -> int:
    """Half of the cores: llama.cpp's threads wait for each other, and on busy cores forever.

    Two threads on two busy cores fell from 26 to 2 tokens a second.
    """
    return max(1, cores // 2)


def start(order: dict[str, Any]) -> Any:
    params: Any = xllamacpp.CommonParams()
    params.model.path = order["weights"]
    params.model_alias = {order["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = order["port"]
    params.api_keys = [order["api_key"]]
    params.use_jinja = True
    params.chat_template = patched(chat_template(Path(order["weights"])))
    params.n_ctx = order["context_tokens"]
    params.n_parallel = 1
    params.n_predict = MAX_REPLY_TOKENS
    params.sampling.temp = 0.0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads(os.cpu_count() or 1)
    params.slot_save_path = order["prefixes"].rstrip("/") + "/"
    params.ui = False
    params.warmup = False
    params.verbosity = 1
    return xllamacpp.Server(params)


def main() -> None:
    server = start(json.loads(sys.stdin.readline()))
    sys.stdout.write(json.dumps({"url": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # the server's own threads would keep the interpreter waiting


if __name__ == "__main__":
    main()
