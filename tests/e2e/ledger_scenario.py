"""A run that searches, reads and researches, in a network that counts what comes out of it.

    unshare --user --map-root-user --net python -m tests.e2e.ledger_scenario HOME

prints {"run", "ledger", "asked", "seen", "exits"}: the run and its ledger as the command line shows
them, what the world was asked (method, host, path), what came through the cable, and which of it
may.
"""

import asyncio
import json
import os
import sys
from asyncio import StreamWriter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.e2e.sealed_network import SealedNetwork, sealed_network
from tests.fake_duckduckgo import organic, page
from tests.scripted_replies import ScriptEntry, calls
from tests.scripted_server import ScriptedServer
from tests.web.wire import RawServer, answer

ARTICLE = (
    "<html><head><title>Otters</title></head><body><article><h1>Otters</h1>"
    + "<p>Otters hold hands while they sleep, so that none of them drifts away.</p>" * 20
    + "</article></body></html>"
).encode()
PAGES = {
    "http://duck.example/html/": answer(
        "200 OK",
        page(
            organic(url="http://site.example/old", title="Otters", snippet="All of them")
        ).encode(),
        "Content-Type: text/html",
    ),
    "http://site.example/old": answer("301 Moved", b"", "Location: http://site.example/new?page=1"),
    "http://site.example/new?page=1": answer("200 OK", ARTICLE, "Content-Type: text/html"),
    "http://broken.example/": b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nbroken",
}


class CountingProxy(RawServer):
    """An HTTP proxy that has the whole web in `PAGES` and takes no tunnel."""

    def __init__(self, host: str) -> None:
        self.asked: list[tuple[str, str, str]] = []

        async def serve(head: bytes, writer: StreamWriter) -> None:
            method, target, _ = head.decode().split(" ", 2)
            if method == "CONNECT":
                self.asked.append((method, target.partition(":")[0], ""))
                writer.write(answer("403 Forbidden"))
                return
            url = urlsplit(target)
            path = url.path + (f"?{url.query}" if url.query else "")
            self.asked.append((method, url.hostname or "", path))
            writer.write(PAGES.get(target, answer("404 Not Found", b"nothing here")))

        super().__init__(serve, host=host)


def script(own_server: str) -> list[ScriptEntry]:
    """What the models say: the main run's, within it the researcher's."""
    return [
        calls(("web_search", {"query": "otters", "recency": "week"})),
        calls(("visit_webpage", {"url": "http://site.example/old#top"})),
        calls(
            ("visit_webpage", {"url": "https://tunnel.example/x"}),
            ("visit_webpage", {"url": "http://gone.example/"}),
            ("visit_webpage", {"url": "http://broken.example/"}),
            ("visit_webpage", {"url": own_server}),
            ("visit_webpage", {"url": "http://169.254.169.254/latest/meta-data/"}),
            ("visit_webpage", {"url": "http://localhost:8420/"}),
            ("visit_webpage", {"url": "file:///etc/hostname"}),
        ),
        calls(("web_research", {"query": "how otters sleep"})),
        calls(("web_search", {"query": "otters asleep"})),
        calls(("visit_webpage", {"url": "http://site.example/new?page=1"})),
        calls(("final_answer", {"answer": "They hold hands [1]."})),
        "Otters hold hands while they sleep.",
    ]


async def act(home: Path) -> dict[str, Any]:
    async with sealed_network() as network:
        model = ScriptedServer(host=network.outside)
        async with model, CountingProxy(network.outside) as proxy:
            model.add(*script(f"{model.url}/api/tags"))
            proxy_url = f"http://{network.outside}:{proxy.port}"
            config = write_config(home, model_url=model.url, proxy_url=proxy_url)
            before = len(model.requests)
            run = await inglenook(network, home, config, "ask", "How do otters sleep?", "--web")
            to_model = [(seen.method, network.outside, seen.path) for seen in model.requests]
            ledger = await inglenook(network, home, config, "runs", "egress", run["id"])
    return {
        "run": run,
        "ledger": ledger,
        "asked": proxy.asked + to_model[before:],
        "seen": sorted(network.seen),
        "exits": sorted(f"tcp {network.outside}:{port}" for port in (model.port, proxy.port)),
    }


def write_config(home: Path, *, model_url: str, proxy_url: str) -> Path:
    file = home.parent / "inglenook.toml"
    file.write_text(
        f"""
[[models]]
id = "m"
provider = "ollama"
model = "scripted"
base_url = "{model_url}"

[web]
duckduckgo_url = "http://duck.example"
proxy = "{proxy_url}"

[knowledge]
embedder = "none"
"""
    )
    return file


async def inglenook(network: SealedNetwork, home: Path, config: Path, *words: str) -> Any:
    code, out, errors = await network.run_inside(
        [sys.executable, "-m", "inglenook.cli.main", "--config", str(config), "--json", *words],
        {
            "PATH": os.environ["PATH"],
            "HOME": str(home.parent),
            "INGLENOOK_HOME": str(home),
            "INGLENOOK_CACHE": str(home.parent / "cache"),
            # Nobody listens there; the configured model is the only one.
            "OLLAMA_HOST": "http://127.0.0.1:9",
        },
    )
    assert code == 0, f"{words}: exit {code}\n{out}\n{errors}"
    return json.loads(out)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(act(Path(sys.argv[1])))))
