"""CPU that the command line takes: `inglenook --help`, and `ask` until its first model request.

    python -m bench.startup [--runs 7]

The model server is this process; when the first request reaches it, it looks up in /proc what the
client has used so far. So it runs on Linux only.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMAND = (sys.executable, "-m", "inglenook.cli.main")
HELP_LIMIT_S, ASK_LIMIT_S = 0.3, 0.8
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
ANSWER = b"".join(
    b"data: " + event + b"\n\n"
    for event in (
        b'{"choices": [{"index": 0, "delta": {"content": "Yes."}, "finish_reason": null}]}',
        b'{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}',
        b"[DONE]",
    )
)


class ModelServer(ThreadingHTTPServer):
    """Answers every question with `Yes.` and notes the asker's CPU at the first one."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.client: subprocess.Popen[bytes] | None = None
        self.cpu_s: float | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: ModelServer  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send("application/json", b'{"data": [{"id": "yes"}]}')

    def do_POST(self) -> None:
        if self.server.cpu_s is None and self.server.client is not None:
            self.server.cpu_s = cpu_of(self.server.client.pid)
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send("text/event-stream", ANSWER)

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


def cpu_of(pid: int) -> float:
    """Seconds of user and system time of a process, all of its threads and ended children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(int(ticks) for ticks in fields[11:15]) / TICKS_A_SECOND


def help_cpu_s() -> float:
    before = os.times()
    subprocess.run([*COMMAND, "--help"], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def ask_cpu_s() -> float:
    with tempfile.TemporaryDirectory() as home, ModelServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "INGLENOOK_HOME": f"{home}/inglenook",
            "OPENAI_BASE_URL": server.address,
        }
        server.client = subprocess.Popen(
            [*COMMAND, "ask", "Does it start fast?"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = server.client.communicate(timeout=60)
        server.shutdown()
        if server.cpu_s is None or out.strip() != b"Yes.":
            raise RuntimeError(f"`inglenook ask` did not ask: {err.decode()[-500:]}")
        return server.cpu_s


def median_of(measure: Callable[[], float], runs: int) -> float:
    measure()  # the first one compiles and fills the disk's cache
    return statistics.median(measure() for _ in range(runs))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    helped, asked = median_of(help_cpu_s, runs), median_of(ask_cpu_s, runs)
    print(f"inglenook --help: {helped:.3f} s of CPU (limit {HELP_LIMIT_S})")
    print(f"inglenook ask, to its first model request: {asked:.3f} s (limit {ASK_LIMIT_S})")
    return 0 if helped < HELP_LIMIT_S and asked < ASK_LIMIT_S else 1


if __name__ == "__main__":
    sys.exit(main())
