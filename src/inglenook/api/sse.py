"""Server-sent events: a response that notices at once when its reader leaves, and run frames.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from inglenook.api.services import Services
from inglenook.api.withheld import HIDDEN, shown
from inglenook.errors import StoreError
from inglenook.events import ReasoningDelta, TextDelta

logger = logging.getLogger(__name__)

RETRY_MS = 1000
HEARTBEAT = b"event: heartbeat\ndata: {}\n\n"


class EventStream(Response):
    """Sends `frames` as they come; closing the connection closes the generator.

    `on_leave` runs if the reader left before the end. It does not when the server shuts down.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        frames: AsyncGenerator[bytes, None],
        *,
        on_leave: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._frames = frames
        self._on_leave = on_leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with asyncio.TaskGroup() as group:
            writer = group.create_task(self._write(send))
            watcher = group.create_task(until_left(receive))
            await asyncio.wait({writer, watcher}, return_when=asyncio.FIRST_COMPLETED)
            left = not writer.done()
            writer.cancel()
            watcher.cancel()
        if left and self._on_leave is not None:
            await self._on_leave()

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with aclosing(self._frames) as frames:
            async for frame in frames:
                await send({"type": "http.response.body", "body": frame, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def run_frames(services: Services, run_id: str, after: int) -> AsyncGenerator[bytes, None]:
    """A run's events after `after`, its live pieces, and heartbeats while nothing happens.

    Only what is in the log has an `id`: a browser resumes from the last one it saw.
    """
    yield f"retry: {RETRY_MS}\n\n".encode()
    sent_at = time.monotonic()
    try:
        async with aclosing(services.runs.follow(run_id, after=after)) as frames:
            async for frame in frames:
                if services.is_stopping():
                    return
                if frame is None:
                    if time.monotonic() - sent_at < services.heartbeat_s:
                        continue
                    yield HEARTBEAT
                elif isinstance(frame, TextDelta):
                    yield _live(frame, services.show_reasoning)
                else:
                    data = shown(frame, show_reasoning=services.show_reasoning)
                    yield b"id: %d\nevent: %b\ndata: %b\n\n" % (
                        frame.seq,
                        frame.type.encode(),
                        data,
                    )
                sent_at = time.monotonic()
    except StoreError as error:
        logger.warning("the stream of run %s ends early: %s", run_id, error)


def _live(delta: TextDelta, show_reasoning: bool) -> bytes:
    is_hidden = isinstance(delta, ReasoningDelta) and not show_reasoning
    data = json.dumps(HIDDEN if is_hidden else {"text": delta.text})
    return f"event: {delta.kind}\ndata: {data}\n\n".encode()


async def until_left(receive: Receive) -> None:
    """Return when the caller hung up; the request's body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass
