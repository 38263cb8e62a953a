"""C5: keys stay on the server: in the header to the model's server and nowhere else."""

import json
import logging
from pathlib import Path

import aiohttp
import pytest

from inglenook.errors import ProviderError
from inglenook.events import encode
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.retry import RetryingProvider
from inglenook.tools.calculator import CalculatorTool
from tests.providers.streaming import openai_spec, streamed
from tests.scripted_replies import Failure, calls
from tests.scripted_server import ScriptedServer
from tests.support import bench

KEY = "sk-canary-5d1e77"


def with_key(session: aiohttp.ClientSession, url: str) -> RecoveringProvider:
    inner = OpenAIChatProvider(session, openai_spec(url, api_key=KEY))
    return RecoveringProvider(RetryingProvider(inner, first_wait_s=0))


async def test_key_is_in_the_header_of_each_request_and_in_nothing_else(
    tmp_path: Path, session: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    script = [calls(("calculate", {"expression": "2+2"})), "It is 4."]
    async with ScriptedServer(script, api_key=KEY) as server:
        provider = with_key(session, server.openai_url)
        async with bench(tmp_path, provider, tools=[CalculatorTool()]) as b:
            run = await b.run()
            events = await b.service.events(run["id"])
    assert run["status"] == "complete"
    for seen in server.requests:
        assert seen.headers["authorization"] == f"Bearer {KEY}"
        rest = {name: value for name, value in seen.headers.items() if name != "authorization"}
        assert KEY not in json.dumps(rest) + seen.path
        assert KEY.encode() not in seen.raw
    assert KEY not in json.dumps(run, default=str) + caplog.text
    assert all(KEY.encode() not in encode(event) for event in events)
    assert all(
        KEY.encode() not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )


async def test_key_is_not_in_errors_or_logs_even_where_the_server_repeats_it(
    session: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = {"error": {"message": f"no quota left for {KEY}"}}
    script = [Failure(status=429, body=echo)] * 2 + [Failure(status=401, body=echo)]
    async with ScriptedServer(script) as server:
        with pytest.raises(ProviderError) as caught:
            await streamed(with_key(session, server.openai_url))
    chain = [caught.value, caught.value.__cause__, caught.value.__context__]
    assert KEY not in "".join(f"{error} {error!r}" for error in chain) + caplog.text


def test_key_is_not_in_the_description_of_a_model() -> None:
    spec = openai_spec("http://127.0.0.1:1/v1", api_key=KEY)
    assert KEY not in repr(spec) + str(spec)
