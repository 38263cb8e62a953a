"""A RunClient over a bench, and a person who types prepared answers."""

import io
import json
from collections.abc import AsyncGenerator
from typing import Any

from inglenook.cli.render import Progress
from inglenook.messages import Message
from inglenook.run_request import RunRequest
from inglenook.runs.approval_inbox import Verdict
from inglenook.store.base import ApprovalStatus, StoredEvent
from tests.support import Bench


class BenchClient:
    def __init__(self, bench: Bench) -> None:
        self._runs = bench.service

    async def start(self, request: RunRequest) -> str:
        return (await self._runs.start(request)).id

    async def follow(self, run_id: str, *, after: int = -1) -> AsyncGenerator[dict[str, Any], None]:
        async for frame in self._runs.follow(run_id, after=after):
            if isinstance(frame, StoredEvent):
                yield json.loads(frame.json())
                if frame.type == "run_waiting":
                    return

    async def get(self, run_id: str) -> dict[str, Any]:
        return await self._runs.get(run_id)

    async def last_event(self, run_id: str) -> int:
        return (await self._runs.stored_events(run_id))[-1].seq

    async def cancel(self, run_id: str) -> None:
        await self._runs.cancel(run_id)

    async def approvals(self, status: ApprovalStatus | None = "pending") -> list[dict[str, Any]]:
        return await self._runs.approvals(status)

    async def preview_edit(
        self, run_id: str, call_id: str, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        return await self._runs.preview_edit(run_id, call_id, arguments)

    async def decide(
        self, run_id: str, call_id: str, verdict: Verdict, arguments: dict[str, Any] | None
    ) -> dict[str, Any]:
        return await self._runs.decide(run_id, call_id, verdict, arguments=arguments)

    async def default_model(self) -> str:
        return "m"

    async def history(self, session: str | None) -> list[Message]:
        return []


class Typist:
    """Answers each prompt in turn, then leaves."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if not self._answers:
            raise EOFError
        return self._answers.pop(0)


class Screen(Progress):
    def __init__(self) -> None:
        self.text = io.StringIO()
        super().__init__(self.text, colour=False)
