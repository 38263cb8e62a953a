"""raw_httpx.py over Ollama's own API (NDJSON streams, arguments as objects)."""

import asyncio
import json

from kit import TASK, main
from raw_httpx import RawHttpx


class RawOllama(RawHttpx):
    name = "raw-ollama"

    def load(self):
        super().load()
        self.url = self.base_url + "/api/chat"

    async def run(self, agent):
        messages = [{"role": "user", "content": TASK}]
        while True:
            message = (await self.post({**agent, "messages": messages, "stream": False}))["message"]
            messages.append(message)
            calls = message.get("tool_calls")
            if not calls:
                return message["content"]
            results = await asyncio.gather(*(self.call(call["function"]) for call in calls))
            for call, result in zip(calls, results):
                messages.append(
                    {"role": "tool", "tool_name": call["function"]["name"], "content": result}
                )

    async def call(self, function):
        if asyncio.iscoroutinefunction(self.tool):
            return await self.tool(**function["arguments"])
        return await asyncio.to_thread(self.tool, **function["arguments"])

    async def stream(self, agent):
        messages = [{"role": "user", "content": TASK}]
        async for line in self.lines({**agent, "messages": messages}):
            if text := json.loads(line)["message"]["content"]:
                yield text


if __name__ == "__main__":
    main(RawOllama)
