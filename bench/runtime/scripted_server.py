"""A scripted model server: OpenAI and Ollama wire formats, no model, deterministic, fast.

The script is the model's name; the state of a conversation is found in the request itself,
so the server keeps no sessions and every client that round-trips its tool results works:

    steps-20                 20 replies with one tool call each, then a final answer
    parallel-8               one reply with 8 tool calls (each sleeps 100 ms), then a final answer
    tokens-2000              a final answer of 2000 tokens
    steps-20,size=2000,...   options after commas (see OPTIONS)

The one tool is work(step, size, sleep_ms). Its result must hold the marker '#r000017#' (here for
step 17): the highest marker in a request says how far the conversation is, a missing one is an
error (HTTP 400), and a request too short to hold all earlier results is counted as `trimmed`.

Other paths: /v1/models, /api/tags, /api/show, /api/version, /stats (?reset=1), all on loopback.
"""

import argparse
import asyncio
import functools
import json
import re
import time
from collections import Counter

try:
    import orjson
    import uvloop
except ImportError:  # to count instructions the server may be slow; to measure time it may not
    orjson = uvloop = None


def dumps(value) -> bytes:
    if orjson:
        return orjson.dumps(value)
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


loads = orjson.loads if orjson else json.loads

OPTIONS = dict(
    steps=0,  # replies with tool calls before the final answer
    par=1,  # tool calls per such reply
    size=16,  # bytes of each tool result beyond its marker
    sleep=0,  # ms each tool call sleeps
    tokens=8,  # tokens of the final answer
    think=0,  # tokens of reasoning before every reply
    delay=0.0,  # ms before each reply
    gap=0.0,  # ms between streamed chunks (0: all at once)
)
WORD = "tokén "  # one token of text; not pure ASCII on purpose
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
JSON, SSE, NDJSON = b"application/json", b"text/event-stream", b"application/x-ndjson"


@functools.cache
def parse_script(model: str) -> dict:
    name, *options = model.rsplit("/", 1)[-1].split(",")
    kind, _, n = name.rpartition("-")
    script = dict(OPTIONS)
    if kind == "steps":
        script["steps"] = int(n)
    elif kind == "parallel":
        script.update(steps=1, par=int(n), sleep=100)
    elif kind == "tokens":
        script["tokens"] = int(n)
    else:
        raise ValueError(f"unknown script {model!r}")
    for option in options:
        key, value = option.split("=")
        script[key] = type(OPTIONS[key])(value)
    return script


def find_step(body: bytes, script: dict) -> int:
    """How many replies with tool calls this conversation has had and answered."""
    at = body.rfind(b"#r0")
    if at < 0:
        return 0
    par = script["par"]
    step = (int(body[at + 2 : at + 8]) + par - 1) // par
    if any(b"#r%06d#" % n not in body for n in range((step - 1) * par + 1, step * par + 1)):
        raise ValueError(f"tool result missing in step {step}")
    return step


def frame(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def head(status: str, kind: bytes, length: int | None) -> bytes:
    size = b"content-length: %d" % length if length is not None else b"transfer-encoding: chunked"
    return b"HTTP/1.1 %b\r\ncontent-type: %b\r\n%b\r\n\r\n" % (status.encode(), kind, size)


@functools.lru_cache(4096)
def reply(api: str, model: str, step: int, stream: bool, final_tool: bool) -> tuple[bytes, ...]:
    """The reply as the pieces to write: the HTTP head first, then one piece per streamed chunk."""
    s = parse_script(model)
    think = [WORD] * s["think"]
    text, calls = [], []
    if step < s["steps"]:
        for n in range(step * s["par"] + 1, (step + 1) * s["par"] + 1):
            calls.append(
                (f"call_{n}", "work", {"step": n, "size": s["size"], "sleep_ms": s["sleep"]})
            )
    else:
        text = [WORD] * s["tokens"]
        if final_tool:  # smolagents ends a run with a call, not with text
            calls.append((f"call_final_{step}", "final_answer", {"answer": "done"}))
    build = openai_reply if api == "openai" else ollama_reply
    pieces = build(model, think, text, calls, stream)
    if not stream:
        return (head("200 OK", JSON, len(pieces[0])) + pieces[0],)
    kind = SSE if api == "openai" else NDJSON
    return (head("200 OK", kind, None), *map(frame, pieces[:-1]), frame(pieces[-1]) + frame(b""))


def openai_reply(model, think, text, calls, stream) -> list[bytes]:
    base = {"id": "chatcmpl-0", "created": 1700000000, "model": model}
    reason = "tool_calls" if calls else "stop"
    tool_calls = [
        {
            "index": i,
            "id": id,
            "type": "function",
            "function": {"name": name, "arguments": dumps(args).decode()},
        }
        for i, (id, name, args) in enumerate(calls)
    ]
    if not stream:
        message = {"role": "assistant", "content": "".join(text) or None}
        if think:
            message["reasoning_content"] = "".join(think)
        if calls:
            message["tool_calls"] = tool_calls
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return [
            dumps({**base, "object": "chat.completion", "choices": [choice], "usage": USAGE})
        ]

    def event(delta, finish_reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return {**base, "object": "chat.completion.chunk", "choices": [choice]}

    events = [event({"role": "assistant", "content": ""})]
    events += [event({"reasoning_content": t}) for t in think]
    events += [event({"content": t}) for t in text]
    for call in tool_calls:  # as vLLM does: the name first, then the arguments in parts
        arguments = call["function"]["arguments"]
        first = {**call, "function": {"name": call["function"]["name"], "arguments": ""}}
        events.append(event({"tool_calls": [first]}))
        for part in (arguments[:12], arguments[12:]):
            events.append(
                event({"tool_calls": [{"index": call["index"], "function": {"arguments": part}}]})
            )
    events.append(event({}, reason))
    events.append({**base, "object": "chat.completion.chunk", "choices": [], "usage": USAGE})
    return [b"data: %b\n\n" % dumps(e) for e in events] + [b"data: [DONE]\n\n"]


def ollama_reply(model, think, text, calls, stream) -> list[bytes]:
    base = {"model": model, "created_at": "2026-01-01T00:00:00.000000Z"}
    end = {"done": True, "done_reason": "stop", "total_duration": 1, "load_duration": 1, "prompt_eval_count": 100,
           "prompt_eval_duration": 1, "eval_count": 10, "eval_duration": 1}  # fmt: skip
    tool_calls = [
        {"id": id, "function": {"name": name, "arguments": args}} for id, name, args in calls
    ]

    def message(content="", **more):
        return {**base, "message": {"role": "assistant", "content": content, **more}}

    if not stream:
        more = {"thinking": "".join(think)} if think else {}
        if calls:
            more["tool_calls"] = tool_calls
        return [dumps({**message("".join(text), **more), **end})]
    events = [message(thinking=t) for t in think] + [message(t) for t in text]
    events += [message(tool_calls=[call]) for call in tool_calls]
    return [dumps({**e, "done": False}) + b"\n" for e in events] + [
        dumps({**message(), **end}) + b"\n"
    ]


class Server(asyncio.Protocol):
    stats = Counter()
    started = {"cpu": 0.0}

    def connection_made(self, transport):
        self.transport, self.buffer, self.need, self.used = transport, bytearray(), 0, False

    def connection_lost(self, error):
        self.transport = None

    def data_received(self, data):
        self.stats["bytes_in"] += len(data)
        self.buffer += data
        while len(self.buffer) > self.need:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            request = bytes(self.buffer[:end])
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", request)
            self.need = end + 3 + (int(length[1]) if length else 0)
            if len(self.buffer) <= self.need:
                return
            body = bytes(self.buffer[end + 4 : self.need + 1])
            del self.buffer[: self.need + 1]
            self.need = 0
            try:
                self.handle(request.split(b" ", 2)[1].decode(), body)
            except Exception as error:
                self.stats["errors"] += 1
                print(f"scripted_server: {error!r}", flush=True)
                self.send("400 Bad Request", {"error": {"message": repr(error)}})

    def send(self, status: str, value) -> None:
        data = dumps(value)
        self.write(head(status, JSON, len(data)) + data)

    def write(self, data: bytes) -> None:
        if self.transport is not None:
            self.stats["bytes_out"] += len(data)
            self.transport.write(data)

    def handle(self, path: str, body: bytes) -> None:
        path, _, query = path.partition("?")
        if path == "/v1/chat/completions":
            self.chat("openai", body, stream_default=False)
        elif path == "/api/chat":
            self.chat("ollama", body, stream_default=True)
        elif path == "/stats":
            cpu = time.process_time()
            self.send("200 OK", {**self.stats, "cpu_s": cpu - self.started["cpu"]})
            if "reset=1" in query:
                self.stats.clear()
                self.started["cpu"] = cpu
        elif path == "/v1/models":
            self.send(
                "200 OK",
                {
                    "object": "list",
                    "data": [{"id": "steps-20", "object": "model", "owned_by": "bench"}],
                },
            )
        elif path == "/api/tags":
            self.send("200 OK", {"models": [{"name": "steps-20", "model": "steps-20", "size": 1, "digest": "0" * 64,
                                             "details": {"family": "scripted", "parameter_size": "0B"}}]})  # fmt: skip
        elif path == "/api/show":
            self.send("200 OK", {"capabilities": ["completion", "tools", "thinking"], "details": {"family": "scripted"},
                                 "model_info": {"general.architecture": "scripted", "scripted.context_length": 131072}})  # fmt: skip
        elif path == "/api/version":
            self.send("200 OK", {"version": "0.0.0"})
        else:
            self.send("404 Not Found", {"error": path})

    def chat(self, api: str, body: bytes, stream_default: bool) -> None:
        start = time.perf_counter()
        request = loads(body)
        model = request["model"]
        script = parse_script(model)
        step = find_step(body, script)
        tools = request.get("tools") or ()
        final_tool = any(t["function"]["name"] == "final_answer" for t in tools)
        pieces = reply(api, model, step, bool(request.get("stream", stream_default)), final_tool)
        self.stats["requests"] += 1
        self.stats[
            "connections"
        ] += not self.used  # new ones that carry chat (/stats is not counted)
        self.used = True
        self.stats["trimmed"] += len(body) < step * script["par"] * script["size"]
        if script["delay"] or (script["gap"] and len(pieces) > 1):
            asyncio.get_running_loop().create_task(self.paced(start, pieces, script))
        else:
            self.write(b"".join(pieces))
            self.stats["busy_us"] += (time.perf_counter() - start) * 1e6

    async def paced(self, start: float, pieces: tuple[bytes, ...], script: dict) -> None:
        due = start + script["delay"] / 1e3
        for piece in pieces:
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            self.write(piece)
            due += script["gap"] / 1e3
        self.stats["busy_us"] += (time.perf_counter() - start) * 1e6


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--port", type=int, default=0, help="0 (the default) takes a free one; it is printed first"
    )
    server = await asyncio.get_running_loop().create_server(
        Server, "127.0.0.1", parser.parse_args().port, backlog=1024
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        (uvloop or asyncio).run(main())
    except KeyboardInterrupt:
        pass
