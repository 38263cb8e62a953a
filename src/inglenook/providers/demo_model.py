"""DemoModel: a small model that runs here when there is no other, so that the first run works.

Owns the server process and the worked examples that make the model reliable; the weights are
`demo_weights.py`'s, the choice between this and a real model is `catalogue.py`'s.
"""

import asyncio
import json
import secrets
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import aiohttp

from inglenook.errors import ProviderError
from inglenook.providers.base import ModelProvider, ModelSpec
from inglenook.providers.demo_examples import DEMO_EXAMPLES
from inglenook.providers.demo_prefix import PrefixKeeper, prune
from inglenook.providers.demo_weights import DemoWeights
from inglenook.providers.weights_file import Progress, Report

DEMO_ID = "demo"
CONTEXT_TOKENS = 8192
"""Their cache takes 230 MB; at this model's reading speed a longer context is no use."""
SERVER_COMMAND = (sys.executable, "-m", "inglenook.providers.demo_server")
START_TIMEOUT_S = 180
STOP_TIMEOUT_S = 5
HEALTH_TIMEOUT_S = 10
"""It answers at once, even while the model works."""
NOTE = (
    "This is a small demo model (Qwen2.5-Coder 1.5B on the CPU): it shows how Inglenook works "
    "and is often wrong. For real use install Ollama and run `ollama pull qwen3`."
)


class DemoModel:
    def __init__(
        self, weights: DemoWeights, log: Path, *, command: Sequence[str] = SERVER_COMMAND
    ) -> None:
        """`log` takes what the model's server says and is emptied at each start; what
        `PrefixKeeper` keeps lies beside it."""
        self._weights = weights
        self._log = log
        self._prefixes = log.with_name("demo-prefixes")
        self._command = command
        self._api_key = secrets.token_urlsafe(24)
        self._process: asyncio.subprocess.Process | None = None
        self._url = ""
        self._starting = asyncio.Lock()
        self._starts = 0

    @property
    def spec(self) -> ModelSpec:
        """The model as it will be when it runs; where it answers is not known before."""
        return ModelSpec(
            id=DEMO_ID,
            provider="openai",
            model=DEMO_ID,
            base_url="",
            api_key=self._api_key,
            place="here",
            context_tokens=CONTEXT_TOKENS,
            tool_mode="native",
            examples=DEMO_EXAMPLES,
            note=NOTE,
        )

    def is_cached(self) -> bool:
        """Starting takes seconds and no network."""
        return self._weights.is_cached()

    async def pull(self, report: Report) -> Path:
        """Fetch the weights and start nothing.

        Raises:
            ProviderError: As `DemoWeights.ensure`.
        """
        return await self._weights.ensure(report)

    async def ensure(self, report: Report) -> ModelSpec:
        """The running model; fetched and started where it is not.

        A server that died is started again at its old address, so that the spec stays true.

        Raises:
            ProviderError: It could not be fetched or does not start; says why and what to do.
        """
        async with self._starting:
            if not await self._answers():
                await self.stop()
                weights = await self._weights.ensure(report)
                report(Progress(stage="start"))
                await self._start(weights)
        return replace(self.spec, base_url=f"{self._url}/v1")

    def serves(self, spec: ModelSpec) -> bool:
        """A configured model may have the same id."""
        return spec.api_key == self._api_key

    def kept(
        self, provider: ModelProvider, spec: ModelSpec, session: aiohttp.ClientSession
    ) -> ModelProvider:
        """`provider`, a plain one for `spec`, with a server that is started again when it died."""
        return PrefixKeeper(provider, spec, session, self._prefixes, self._ready)

    async def _ready(self) -> int:
        await self.ensure(_ignore)
        return self._starts

    async def stop(self) -> None:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _start(self, weights: Path) -> None:
        order = {
            "weights": str(weights),
            "alias": DEMO_ID,
            "api_key": self._api_key,
            "context_tokens": CONTEXT_TOKENS,
            "port": int(self._url.rpartition(":")[2] or 0),
            "prefixes": str(self._prefixes),
        }
        self._starts += 1
        self._prefixes.mkdir(mode=0o700, parents=True, exist_ok=True)
        prune(self._prefixes)
        with self._log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                self._url = await self._hand_over(self._process, order)
                await self._check_health()
        except (TimeoutError, ValueError, OSError, aiohttp.ClientError) as error:
            await self.stop()
            raise ProviderError(
                f"the demo model's server did not start ({error or type(error).__name__}); "
                f"it said: {self._last_words()}"
            ) from error
        except BaseException:
            await self.stop()
            raise

    async def _hand_over(self, process: asyncio.subprocess.Process, order: object) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(order).encode() + b"\n")
        await process.stdin.drain()
        line = await process.stdout.readline()
        return str(json.loads(line)["url"])

    async def _answers(self) -> bool:
        if self._process is None:
            return False
        try:
            async with asyncio.timeout(HEALTH_TIMEOUT_S):
                await self._check_health()
        except (TimeoutError, aiohttp.ClientError):
            return False
        return True

    async def _check_health(self) -> None:
        url = f"{self._url}/health"
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            response.raise_for_status()

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"nothing (see {self._log})"


def _ignore(_: Progress) -> None: ...
