"""What a model server's refusal means: its status and words turned into our typed errors.

Servers agree on little but the status, so the words decide where the status alone does not.
"""

import re
from typing import Any, cast

from inglenook.errors import (
    ContextTooLong,
    ModelMissing,
    ProviderBusy,
    ProviderError,
    SystemRefused,
    ToolsUnsupported,
)
from inglenook.providers import wire_json

MAX_DETAIL_CHARS = 400

_TOOLS_REFUSED = re.compile(
    r"not support (?:the use of )?(?:tool|function)"  # Ollama, LM Studio
    r"|support(?:s)? tool use"  # OpenRouter: "No endpoints found that support tool use"
    r"|tool choice requires|enable-auto-tool-choice"  # vLLM
    r"|(?:tools?|tool_choice) param(?:eter)? requires|requires --jinja"  # llama.cpp
    r"|(?:tool|function)[ _]call(?:ing|s)? (?:(?:is|are) )?not (?:supported|enabled|available)"
    r"|(?:tools|functions) (?:is|are) not (?:supported|available)"
    r"|(?:unrecognized|unknown|unsupported|unexpected|invalid) "
    r"(?:request )?(?:argument|parameter|field|key)s?(?: supplied)?:? "
    r"['\"`]?tools(?![\w.\[])"  # OpenAI's
    r"|tools['\"`]?:? extra (?:inputs|fields)|\"tools\"\],\"msg\":\"extra"  # pydantic's
)
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size"
    r"|maximum context length|max_model_len"
    r"|exceeds? (?:the |its |this model'?s? )?(?:available |maximum )?context"
    r"|(?:prompt|input|request) (?:is )?too (?:long|large|many)"
    r"|greater than the context length|context (?:window|length|size).{0,40}exceed"
    r"|when context (?:the )?overflows|context (?:window )?overflow"  # LM Studio
    r"|max_new_tokens` must be <="  # TGI
    r"|(?:too many|number of) (?:input |prompt )?tokens.{0,40}(?:exceed|maximum|limit)"
    r"|(?:prompt|input|conversation).{0,40}exceeds? .{0,30}(?:context|token limit|max)"
)
_WINDOW = re.compile(
    r"context (?:length|size|window)(?: of| is|:)?(?: only| at most)? ?\(?(?P<said>\d[\d,]*)"
    r"|> ?(?P<over>\d[\d,]*) (?:tokens? )?max|must be <= ?(?P<most>\d[\d,]*)"
    r"|max_model_len[ =:(of]{1,5}(?P<len>\d[\d,]*)"
)
MIN_WINDOW = 512
"""A smaller number in a refusal is no window: servers are not started with one."""
_MODEL_MISSING = re.compile(
    r"model_not_found|model .{0,200}(?:not found|does ?n[o']t exist|not exist)"
    r"|(?:no such|unknown|invalid) model|not a valid model"
)
_SYSTEM_REFUSED = re.compile(
    r"system (?:message|role|prompt)s? (?:(?:must|should|can) (?:only )?be|is only|(?:is|are) not)"
    r".{0,40}(?:beginning|first|start|support|allowed)"
    r"|system (?:message|role|prompt)s? not supported"
    r"|roles must alternate|unexpected role .{0,3}system"
)
_NO_THINKING = re.compile(r"not support thinking|thinking is not supported")
_BUSY_STATUS = frozenset({408, 409, 425, 429})


def error_for(
    *, address: str, model: str, status: int | None, detail: str, model_hint: str
) -> ProviderError:
    """
    `status` is None for an error inside a stream that had begun well. `detail` is the server's
    own text, without secrets. `model_hint` says how to get a missing model from this server.
    """
    words = detail.lower()
    said = f"HTTP {status}: {detail}" if status else detail
    if _TOO_LONG.search(words):
        return ContextTooLong(
            f"The conversation does not fit the window of model {model!r} at {address} ({said}). "
            "Shorten it, or raise the model's `context_tokens`.",
            status=status,
            window=_window_in(words),
        )
    if _TOOLS_REFUSED.search(words):
        return ToolsUnsupported(
            f"The model server at {address} takes no tools for model {model!r} ({said}). "
            "Choose a model that can call tools, for instance qwen3.",
            status=status,
        )
    if _MODEL_MISSING.search(words):
        return ModelMissing(
            f"The model server at {address} has no model {model!r} ({said}). {model_hint}",
            status=status,
        )
    if _SYSTEM_REFUSED.search(words):
        return SystemRefused(
            f"The template of model {model!r} at {address} takes no system message where one "
            f"stands ({said}). Choose another model or template.",
            status=status,
        )
    kind = ProviderBusy if _may_pass(status) else ProviderError
    advice = _advice(status, words, model)
    return kind(f"The model server at {address} failed ({said}). {advice}", status=status)


def _window_in(words: str) -> int | None:
    """The window that a refusal names; the smallest, where it names several numbers as one."""
    named = [number for found in _WINDOW.finditer(words) for number in found.groups() if number]
    sizes = [int(number.replace(",", "")[:9]) for number in named]
    return min((size for size in sizes if size >= MIN_WINDOW), default=None)


def _may_pass(status: int | None) -> bool:
    if status is None:
        return True  # a reply that broke off half-way: the next one may not
    return status in _BUSY_STATUS or (status >= 500 and status != 501)


def _advice(status: int | None, words: str, model: str) -> str:
    if _NO_THINKING.search(words):
        return f"Remove `thinking` from the configuration of model {model!r}."
    if status in (401, 403):
        return (
            "Check the key: OPENAI_API_KEY, or for a configured model the variable that its "
            "`api_key_env` names."
        )
    if status is not None and 300 <= status < 400:
        return "Redirects are not followed; set `base_url` to where the server really is."
    if status in (404, 405):
        return (
            "Check `base_url`: Ollama's is its root, an OpenAI-compatible server's ends in `/v1`."
        )
    if status == 429:
        return "It limits how often it may be asked; wait, or ask for a higher limit."
    if _may_pass(status):
        return "Try again; if it goes on, the server's own log says more."
    return "Correct the request or the model's configuration."


def detail_of(body: bytes) -> str:
    """The human part of an error body, on one line.

    Shape: {"error": str | {"message": str}}, {"message": str}, {"detail": …}, or plain text.
    """
    try:
        text = message_of(wire_json.decode(body))
    except ValueError:
        text = body.decode("utf-8", "replace")
        if text.lstrip()[:1] == "<":
            text = "an HTML page where JSON was expected"
    return one_line(text)


def one_line(text: str) -> str:
    text = " ".join(text[: 2 * MAX_DETAIL_CHARS].split())
    if len(text) > MAX_DETAIL_CHARS:
        return text[:MAX_DETAIL_CHARS] + "…"
    return text or "no explanation"


def message_of(error: Any) -> str:
    """The words in an error value of any shape, its code included: codes are what we look for."""
    if isinstance(error, str):
        return error
    if isinstance(error, dict):
        fields = cast("dict[str, Any]", error)
        for name in ("error", "message", "detail"):
            if fields.get(name):
                text = message_of(fields[name])
                if isinstance(fields.get("n_ctx"), int):  # llama.cpp
                    text += f" (context size {fields['n_ctx']})"
                code = fields.get("code") or fields.get("type")
                return f"{text} [{code}]" if isinstance(code, str) and code not in text else text
    return wire_json.encode(cast("object", error)).decode()
