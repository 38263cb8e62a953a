"""The hand-written loop over the openai SDK, the client under all the peers: what is left of a
peer's cost when this is taken away is the peer's own."""

import asyncio
import sys

from kit import TASK, main
from raw_httpx import RawHttpx


class RawOpenAI(RawHttpx):
    name = "raw-openai"
    dists = ("openai", "httpx2")

    def load(self):
        from openai import AsyncOpenAI

        self.client = AsyncOpenAI(base_url=self.base_url + "/v1", api_key="none")

    async def run(self, agent):
        messages = [{"role": "user", "content": TASK}]
        while True:
            reply = await self.client.chat.completions.create(**agent, messages=messages)
            message = reply.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return message.content
            results = await asyncio.gather(
                *(self.call(call.function.__dict__) for call in message.tool_calls)
            )
            for call, result in zip(message.tool_calls, results):
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    async def stream(self, agent):
        messages = [{"role": "user", "content": TASK}]
        async for chunk in await self.client.chat.completions.create(
            **agent, messages=messages, stream=True
        ):
            for choice in chunk.choices:
                if choice.delta.content:
                    yield choice.delta.content


class RawOpenAIBypass(RawOpenAI):
    """With the messages as extra_body, which the SDK doesn't walk through type by type."""

    name = "raw-openai-bypass"

    async def run(self, agent):
        messages = [{"role": "user", "content": TASK}]
        while True:
            extra = {"messages": messages, "tools": agent["tools"]}
            reply = await self.client.chat.completions.create(
                model=agent["model"], messages=[], extra_body=extra
            )
            message = reply.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content
            results = await asyncio.gather(
                *(self.call(call.function.__dict__) for call in message.tool_calls)
            )
            for call, result in zip(message.tool_calls, results):
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


if __name__ == "__main__":
    bypass = "--bypass" in sys.argv
    if bypass:
        sys.argv.remove("--bypass")
    main(RawOpenAIBypass if bypass else RawOpenAI)
