"""Templates that refuse a system message in the middle get the same words where they take them."""

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inglenook.errors import SystemRefused
from inglenook.messages import Message, Role
from inglenook.providers.base import ModelSpec
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.retry import RetryingProvider
from inglenook.providers.server_errors import error_for
from inglenook.providers.system_place import SystemPlace, placed
from tests.providers.streaming import streamed
from tests.scripted_replies import Failure
from tests.scripted_server import ScriptedServer

CONVERSATION = [
    Message(role="system", text="rules"),
    Message(role="user", text="question"),
    Message(role="assistant", text=""),
    Message(role="system", text="notice"),
]
TEXTS = st.lists(
    st.tuples(st.sampled_from(["system", "user", "assistant"]), st.text(min_size=1)), max_size=8
)


@pytest.mark.parametrize(
    "words",
    [
        "System message must be at the beginning.",
        "System role not supported",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "After the optional system message, conversation roles must alternate user/assistant",
        'messages: Unexpected role "system". The Messages API accepts a top-level parameter',
        "System messages are only allowed ... system message should be first",
    ],
)
def test_servers_words_for_it_are_known(words: str) -> None:
    error = error_for(address="a", model="m", status=500, detail=words, model_hint="")
    assert isinstance(error, SystemRefused)


@given(TEXTS)
def test_nothing_said_is_lost_and_the_order_stays(said: list[tuple[Role, str]]) -> None:
    messages = [Message(role=role, text=text) for role, text in said]
    for place in SystemPlace:
        got = placed(messages, place)
        others = [m for m in got if m.role == "assistant"]
        assert others == [m for m in messages if m.role == "assistant"]
        text = "\0".join(m.text for m in got)
        assert all(message.text in text for message in messages)
    assert all(m.role != "system" for m in placed(messages, SystemPlace.IN_QUESTION))
    assert [m.role for m in placed(messages, SystemPlace.FIRST)[1:]].count("system") == 0


async def test_a_refused_notice_moves_to_the_start_and_stays_there(
    session: aiohttp.ClientSession,
) -> None:
    words = "System message must be at the beginning."
    refusal = Failure(status=500, body={"error": {"message": words}})
    async with ScriptedServer([refusal, "hi", "again"]) as scripted:
        spec = ModelSpec(id="m", provider="openai", model="m", base_url=f"{scripted.url}/v1")
        provider = RetryingProvider(OpenAIChatProvider(session, spec))
        for _ in range(2):
            await streamed(provider, CONVERSATION, ())
        roles = [[m["role"] for m in seen.body["messages"]] for seen in scripted.requests]
    assert roles[0] == ["system", "user", "assistant", "system"]
    assert roles[1] == roles[2] == ["system", "user", "assistant"]
