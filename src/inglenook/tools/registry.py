"""ToolRegistry: the tools that exist in one run, their schemas and the dispatch of calls.

The registry is the permission: a tool that the run may not use is not in it, so that no model
output can reach a handler. What is forbidden gets a clear error and touches nothing.
"""

import logging
import time
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

from pydantic import BaseModel, ValidationError

from inglenook.errors import (
    ApprovalNeeded,
    CredentialNeeded,
    Refused,
    RunEnded,
    StoreError,
    ToolError,
)
from inglenook.events import Effect, ToolFinished, ToolStarted
from inglenook.messages import ToolCall, ToolOutput, ToolSchema
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.run_context import RunContext
from inglenook.tools.base import OpenWorldTool, Tool, ToolSpec
from inglenook.tools.coercion import coerced
from inglenook.tools.egress import CallSink
from inglenook.tools.schema import shown

logger = logging.getLogger(__name__)

MAX_SHOWN_NAME_CHARS = 100
MAX_KEPT_CHARS = 5_000_000
"""Of one tool result in the log: some 1,000 pages."""


class Dispatcher(Protocol):
    """What the loop needs of tools: the real registry, or recorded results in a replay."""

    @property
    def schemas(self) -> Sequence[ToolSchema]:
        """Always the same objects in the same order: their encoding is made once."""
        ...

    def effect_of(self, name: str) -> Effect: ...

    def is_volatile(self, name: str) -> bool: ...

    def dispatch(self, call: ToolCall, run: RunContext) -> Coroutine[Any, Any, None]:
        """Run one call and emit its `tool_started` and `tool_finished`.

        A failed tool is a result. Cancellation passes through, and so do LeaseLost, StoreError,
        RunEnded, and ApprovalNeeded and CredentialNeeded: the call waits for a person, and has no
        result yet.
        """
        ...


class ToolRegistry:
    def __init__(self, tools: Iterable[Tool], absent: Mapping[str, str] | None = None) -> None:
        """`absent` says of tools that exist elsewhere why they do not in this run."""
        self._tools = {tool.spec.name: tool for tool in tools}
        self._by_lower_name = {name.lower(): name for name in self._tools}
        self._absent = dict(absent or {})
        self.specs = tuple(tool.spec for tool in self._tools.values())
        self.schemas = tuple(map(schema_of, self.specs))

    def effect_of(self, name: str) -> Effect:
        tool = self.find(name)
        return "write" if tool is None else tool.spec.effect

    def has_effect(self, name: str) -> bool:
        """A call changes something or leaves this machine; so may one of an unknown tool."""
        tool = self.find(name)
        return tool is None or _has_effect(tool.spec)

    def is_volatile(self, name: str) -> bool:
        tool = self.find(name)
        return tool is not None and (tool.spec.volatile or tool.spec.ends_run)

    def ends_run(self, name: str) -> bool:
        tool = self.find(name)
        return tool is not None and tool.spec.ends_run

    def find(self, name: str) -> Tool | None:
        return self._tools.get(self._by_lower_name.get(plain_name(name), ""))

    async def dispatch(
        self,
        call: ToolCall,
        run: RunContext,
        *,
        parsed: "Parsed | None" = None,
        notice: str = "",
    ) -> None:
        """
        Args:
            parsed: The call's arguments as they were judged, so that just they are executed.
            notice: Stands before the result.
        """
        tool = self.find(call.name)
        if tool is None:
            result = self._refusal(call.name)
            run.sink.emit(ToolFinished(call=call, result=result, is_error=True, blocked=True))
            return
        run.sink.emit(ToolStarted(call=call, effect=tool.spec.effect, network=tool.spec.open_world))
        has_effect = _has_effect(tool.spec)
        if has_effect:
            await run.sink.settle(sync=True)  # the intent outlives the machine before its effect
        run.sink.emit(await _run(tool, call, run, parsed, notice))
        if has_effect:
            await run.sink.settle(sync=True)

    def _refusal(self, name: str) -> str:
        if not name.strip():
            return "The call has no tool name. Name the tool, or answer in text."
        if reason := self._absent.get(plain_name(name)):
            return f"{name!r} does not exist in this run: {reason} Nothing was sent."
        allowed = ", ".join(self._tools) or "none"
        return (
            f"There is no tool {name[:MAX_SHOWN_NAME_CHARS]!r}. The tools of this run: {allowed}."
        )


def _has_effect(spec: ToolSpec) -> bool:
    return spec.effect == "write" or spec.open_world


@lru_cache(maxsize=512)
def plain_name(name: str) -> str:
    """A tool's name as models write it: in any case, with or without `functions.`, and with a
    token of their template after it (`calculate<|channel|>commentary`)."""
    return name.partition("<|")[0].strip().lower().removeprefix("functions.")


async def _run(
    tool: Tool, call: ToolCall, run: RunContext, parsed: "Parsed | None", notice: str
) -> ToolFinished:
    spec = tool.spec
    began = time.monotonic()
    changes: tuple[str, ...] = ()
    output, is_error, is_refused, has_begun = ToolOutput(text=""), True, False, False
    departures = None
    if spec.open_world:
        departures = CallSink(run.sink, records_all=isinstance(tool, OpenWorldTool))
    try:
        arguments, changes = parsed or validated(spec, call)
        has_begun = True
        output = await tool.run(arguments, run.for_call(call.id, departures or run.sink))
        is_error = output.is_error
    except ToolError as error:
        output, is_refused = ToolOutput(text=str(error)), isinstance(error, Refused)
    except (StoreError, RunEnded, ApprovalNeeded, CredentialNeeded):
        raise
    except Exception:
        logger.exception("tool %s crashed in run %s", spec.name, run.run_id)
        output = ToolOutput(
            text=f"{spec.name} failed by a fault of its own (logged); try something else."
        )
    has_left = (departures is not None and has_begun and departures.has_left) or output.network
    text, limit = kept(notice + output.text), run.limits.max_result_chars
    return ToolFinished(
        call=call,
        result=text,
        is_error=is_error,
        blocked=is_refused and not has_left,
        network=has_left,
        duration_ms=round((time.monotonic() - began) * 1000),
        truncated_to=limit if len(text) > limit else None,
        coerced=changes,
        sources=output.sources,
        labels=output.labels,
    )


Parsed: TypeAlias = tuple[BaseModel, tuple[str, ...]]
"""A call's arguments as its tool takes them, and what was changed to get there."""


def validated(spec: ToolSpec, call: ToolCall) -> Parsed:
    """The call's arguments as the tool wants them, and what was changed to get there.

    Raises:
        ToolError: They do not fit; names each field, what was sent and what is wanted.
    """
    if MALFORMED_ARGUMENTS in call.arguments:
        raise ToolError(
            f"{spec.name} was not run, its arguments are no JSON object: "
            f"{call.arguments[MALFORMED_ARGUMENTS]!r:.200}. Send one JSON object."
        )
    if (arguments := _as_sent(spec, call)) is not None:
        return arguments, ()
    try:
        fitting, changes = coerced(
            call.arguments, schema_of(spec).parameters, may_guess=not _has_effect(spec)
        )
        return spec.arguments.model_validate(fitting), changes
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}"
            + ("" if each["type"] == "missing" else f", got {shown(each['input'])}")
            for each in error.errors()
        )
    except ToolError as error:
        problems = str(error)
    raise ToolError(f"{spec.name} was not run, its arguments are wrong: {problems}.")


def _as_sent(spec: ToolSpec, call: ToolCall) -> BaseModel | None:
    """The arguments of a call that fits to the letter, as nearly all do; None where it does not."""
    if not call.arguments.keys() <= spec.arguments.__pydantic_fields__.keys():
        return None
    try:
        return spec.arguments.model_validate(call.arguments, strict=True)
    except ValidationError:
        return None


@lru_cache(maxsize=512)
def schema_of(spec: ToolSpec) -> ToolSchema:
    """The tool's schema as models read it: without titles and nesting that say nothing."""
    parameters = spec.arguments.model_json_schema()
    parameters.pop("title", None)
    parameters.pop("description", None)
    for field in parameters.get("properties", {}).values():
        field.pop("title", None)
    parameters.setdefault("properties", {})
    parameters["additionalProperties"] = False
    return ToolSchema(name=spec.name, description=spec.description, parameters=parameters)


def kept(text: str) -> str:
    """`text` as it is stored: whole, unless it is of a size that no store should hold."""
    if len(text) <= MAX_KEPT_CHARS:
        return text
    note = (
        f"\n\n[Cut here: the result had {len(text):,} characters, of which {MAX_KEPT_CHARS:,} "
        "are kept. Ask for a smaller part.]"
    )
    return text[:MAX_KEPT_CHARS] + note
