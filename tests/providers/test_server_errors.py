"""The words of real servers' refusals lead to the right kind of error."""

import pytest

from inglenook.errors import (
    ContextTooLong,
    ModelMissing,
    ProviderBusy,
    ProviderError,
    ToolsUnsupported,
)
from inglenook.providers.server_errors import MAX_DETAIL_CHARS, detail_of, error_for

OLLAMA_NO_TOOLS = b'{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}'
OLLAMA_MISSING = b'{"error":"model \\"qwen9\\" not found, try pulling it first"}'
LLAMA_CPP_FULL = (
    b'{"error":{"code":400,"message":"the request exceeds the available context size. try '
    b'increasing the context size or enable context shift","type":"exceed_context_size_error",'
    b'"n_prompt_tokens":9000,"n_ctx":4096}}'
)
VLLM_FULL = (
    b'{"object":"error","message":"This model\'s maximum context length is 8192 tokens. However, '
    b'you requested 9001 tokens.","type":"BadRequestError","code":400}'
)
OPENAI_FULL = b'{"error":{"message":"Please reduce the length","code":"context_length_exceeded"}}'
VLLM_NO_TOOLS = (
    b'{"error":{"message":"\\"auto\\" tool choice requires --enable-auto-tool-choice and '
    b'--tool-call-parser to be set"}}'
)
ROUTER_NO_TOOLS = b'{"error":{"message":"No endpoints found that support tool use.","code":404}}'
OPENAI_MISSING = b'{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}'


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, OLLAMA_NO_TOOLS, ToolsUnsupported),
        (400, VLLM_NO_TOOLS, ToolsUnsupported),
        (404, ROUTER_NO_TOOLS, ToolsUnsupported),
        (404, OLLAMA_MISSING, ModelMissing),
        (404, OPENAI_MISSING, ModelMissing),
        (400, LLAMA_CPP_FULL, ContextTooLong),
        (400, VLLM_FULL, ContextTooLong),
        (400, OPENAI_FULL, ContextTooLong),
        (503, b'{"error":{"message":"Loading model","type":"unavailable_error"}}', ProviderBusy),
        (429, b"slow down", ProviderBusy),
        (500, b'{"error":"llama runner process has terminated"}', ProviderBusy),
        (None, b'{"error":"an error was encountered while running the model"}', ProviderBusy),
        (401, b'{"error":{"message":"Incorrect API key provided"}}', ProviderError),
        (404, b"404 page not found", ProviderError),
        (400, b'{"error":"\\"m\\" does not support thinking"}', ProviderError),
        (501, b"", ProviderError),
        (307, b"", ProviderError),
    ],
)
def test_refusal_becomes_its_kind(status: int | None, body: bytes, kind: type) -> None:
    error = error_for(
        address="http://127.0.0.1:1",
        model="m",
        status=status,
        detail=detail_of(body),
        model_hint="Fetch it.",
    )
    assert type(error) is kind
    assert error.status == status
    assert "http://127.0.0.1:1" in str(error)


@pytest.mark.parametrize(
    ("status", "body", "action"),
    [
        (401, b"no", "api_key_env"),
        (404, b"404 page not found", "base_url"),
        (404, OLLAMA_MISSING, "Fetch it."),
        (400, b'{"error":"does not support thinking"}', "Remove `thinking`"),
        (503, b"", "Try again"),
        (302, b"", "base_url"),
        (400, OLLAMA_NO_TOOLS, "qwen3"),
        (400, VLLM_FULL, "context_tokens"),
    ],
)
def test_message_names_the_next_action(status: int, body: bytes, action: str) -> None:
    error = error_for(
        address="a", model="m", status=status, detail=detail_of(body), model_hint="Fetch it."
    )
    assert action in str(error)
    assert str(status) in str(error)


def test_detail_is_one_bounded_line() -> None:
    assert detail_of(b"") == "no explanation"
    assert detail_of(b"<html><body>nginx</body></html>") == "an HTML page where JSON was expected"
    assert detail_of(b"a\n\n b") == "a b"
    assert len(detail_of(b"x" * 10_000)) == MAX_DETAIL_CHARS + 1
    assert detail_of(b'{"message":"m","code":"c"}') == "m [c]"
    assert detail_of(b'{"error":{"weird":[1]}}') == '{"weird":[1]}'


LM_STUDIO_FULL = (
    b'{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the '
    b'model is loaded with context length of only 4096 tokens, which is not enough."}'
)
TGI_FULL = (
    b'{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: '
    b'9000 `inputs` tokens and 512 `max_new_tokens`","error_type":"validation"}'
)
ANTHROPIC_FULL = b'{"error":{"message":"prompt is too long: 213,462 tokens > 200,000 maximum"}}'
MISTRAL_FULL = (
    b'{"message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 '
    b'maximum context length"}'
)
EXCEEDED_BY = b'{"error":{"message":"the context length is exceeded by 900 tokens"}}'


@pytest.mark.parametrize(
    ("body", "window"),
    [
        (LLAMA_CPP_FULL, 4_096),
        (VLLM_FULL, 8_192),
        (OPENAI_FULL, None),
        (LM_STUDIO_FULL, 4_096),
        (TGI_FULL, 4_096),
        (ANTHROPIC_FULL, 200_000),
        (MISTRAL_FULL, None),
        (EXCEEDED_BY, None),
    ],
)
def test_a_refused_length_names_the_window_where_the_server_does(
    body: bytes, window: int | None
) -> None:
    error = error_for(
        address="http://127.0.0.1:1", model="m", status=400, detail=detail_of(body), model_hint=""
    )
    assert isinstance(error, ContextTooLong)
    assert error.window == window


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":{"message":"Unrecognized request argument supplied: tools"}}',
        b'{"error":{"message":"Unknown parameter: \'tools\'.","code":"unknown_parameter"}}',
        b'{"detail":[{"loc":["body","tools"],"msg":"extra fields not permitted","type":"x"}]}',
        b'{"message":"tools: Extra inputs are not permitted"}',
        b'{"error":"tool_calls are not supported"}',
        b'{"error":"Function calling not available"}',
        b'{"error":{"message":"Tool calling is not supported for this model"}}',
    ],
)
def test_a_server_that_does_not_know_tools_takes_none(body: bytes) -> None:
    error = error_for(
        address="http://127.0.0.1:1", model="m", status=400, detail=detail_of(body), model_hint=""
    )
    assert isinstance(error, ToolsUnsupported)


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":{"message":"Invalid parameter: messages with role \'tool\' must follow calls"}}',
        b'{"error":{"message":"tools.0.function.name: string does not match pattern"}}',
        b'{"error":{"message":"Unknown parameter: \'tools[0].strict\'."}}',
    ],
)
def test_a_fault_in_one_tool_says_nothing_of_tools(body: bytes) -> None:
    error = error_for(
        address="http://127.0.0.1:1", model="m", status=400, detail=detail_of(body), model_hint=""
    )
    assert not isinstance(error, ToolsUnsupported)
