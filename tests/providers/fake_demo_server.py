"""Speaks the demo server's protocol without a model; ends with its stdin, as that one does."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

if "fail" in sys.argv:
    sys.stderr.write("loading\nerror: not enough memory\n")
    sys.exit(1)


class Health(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


order = json.loads(sys.stdin.readline())
assert order["alias"] == "demo", order
assert len(order["api_key"]) > 20, order
server = HTTPServer(("127.0.0.1", order["port"]), Health)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}), flush=True)
sys.stdin.read()
