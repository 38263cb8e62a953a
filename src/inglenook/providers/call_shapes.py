"""What a parsed value must look like to be a call of one of the run's tools.

Pure. `call_text.py` finds the values in a model's text, this says which of them are calls.
"""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from inglenook.messages import ToolSchema
from inglenook.providers.calls import MALFORMED_ARGUMENTS, arguments_of
from inglenook.providers.wire_json import decode, dict_in

NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name", "action", "recipient_name")
ARGUMENT_KEYS = (
    "arguments",
    "parameters",
    "args",
    "input",
    "params",
    "action_input",
    "tool_input",
    "tool_args",
    "kwargs",
)
LIST_KEYS = ("tool_calls", "tool_uses", "function_calls", "calls")
_TOOL_NAME = re.compile(r"[A-Za-z_][\w.\-]{0,63}")
FIRST_KEYS = frozenset((*NAME_KEYS, *ARGUMENT_KEYS, *LIST_KEYS, "id", "type", "index", "thought"))
"""An object that begins with another key is no call, so that its text need not be held back."""


@dataclass(frozen=True, kw_only=True)
class FoundCall:
    name: str
    arguments: Mapping[str, Any]


OURS = {"web_search": "query", "search_knowledge_base": "query", "read_document": "name"}
"""Our own tools whose names nobody else's text begins with, and what a lone argument of theirs is.
Where a run does not have them, a call to one is still a call: the registry says why not."""


class ToolNames:
    """The tools that a call may name, found as the registry finds them."""

    def __init__(self, tools: Sequence[ToolSchema]) -> None:
        ours = {name: _stand_in(name, {parameter: {}}) for name, parameter in OURS.items()}
        self._own = {tool.name.lower() for tool in tools}
        self._by_lower = ours | {tool.name.lower(): tool for tool in tools}

    @property
    def lower(self) -> Iterable[str]:
        return self._by_lower.keys()

    def find(self, name: str) -> ToolSchema | None:
        return self._by_lower.get(_plain(name).lower())

    def is_tool(self, name: str) -> bool:
        """Whether the run itself has the tool."""
        return _plain(name).lower() in self._own

    def find_known(self, name: str) -> ToolSchema | None:
        """As `find`, where only a name that is known makes a call of what stands there."""
        return ToolNames.find(self, name)

    def calls_in(self, value: object) -> list[FoundCall] | None:
        """The calls that `value` consists of; None if it is anything else.

        Shapes: {"name": str, "arguments": {…} | JSON text}; the same under other keys, inside
        {"function": {…}} or {"tool_calls": […]}; {"<tool>": {…}}; lists of all these.
        """
        if isinstance(value, list):
            found: list[FoundCall] = []
            for entry in cast("list[object]", value):
                inner = self.calls_in(entry)
                if inner is None:
                    return None
                found += inner
            return found or None
        if not isinstance(value, dict):
            return None
        return self._calls_in_object(cast("dict[str, Any]", value))

    def _calls_in_object(self, value: dict[str, Any]) -> list[FoundCall] | None:
        for key in LIST_KEYS:
            if isinstance(value.get(key), list):
                return self.calls_in(value[key])
        if isinstance(value.get("function"), dict):
            return self.calls_in(value["function"])
        if "description" in value:
            return None  # a tool's own description, as when the user asked what there is
        for key in NAME_KEYS:
            if isinstance(name := value.get(key), str) and (tool := self.find(name)):
                return self._named(tool, value)
        if len(value) == 1:
            ((name, arguments),) = value.items()
            if tool := self.find_known(name):
                is_text = isinstance(arguments, str) and arguments_of(arguments) is None
                return None if is_text else self._with_arguments(tool, arguments)
            if name == "answer" and (tool := self.find_known("final_answer")):
                return self._with_arguments(tool, value)
        return None

    def _named(self, tool: ToolSchema, value: dict[str, Any]) -> list[FoundCall] | None:
        for key in ARGUMENT_KEYS:
            if key in value:
                return self._with_arguments(tool, value[key])
        return None if required(tool) else [FoundCall(name=tool.name, arguments={})]

    def _with_arguments(self, tool: ToolSchema, value: object) -> list[FoundCall] | None:
        arguments = arguments_of(value)
        if arguments is None and isinstance(value, str):
            return [FoundCall(name=tool.name, arguments={MALFORMED_ARGUMENTS: value})]
        if arguments is None or (_is_schema(arguments) and "type" not in properties(tool)):
            return None
        return [FoundCall(name=tool.name, arguments=arguments)]

    def python_calls(self, source: str) -> list[FoundCall] | None:
        """The calls in `f(x=1)` or `[f(x=1), g(y="a")]`, literals only; None if it is other code.

        A lone positional argument is taken where it can mean one thing only.
        """
        try:
            node = ast.parse(source.strip(), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None
        nodes = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
        found = [self._python_call(each) for each in nodes]
        return [call for call in found if call] if found and all(found) else None

    def code_calls(self, source: str) -> list[FoundCall] | None:
        """The calls in lines such as `hits = f(x=1)` and `print(hits)`; None if there is more."""
        try:
            tree = ast.parse(source.strip())
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None
        found: list[FoundCall] = []
        for line in tree.body:
            if not isinstance(line, (ast.Expr, ast.Assign)):
                return None
            value = line.value
            if _prints_names(value):
                continue
            call = self._python_call(value)
            if call is None:
                return None
            found.append(call)
        return found or None

    def _python_call(self, node: ast.expr) -> FoundCall | None:
        if not isinstance(node, ast.Call):
            return None
        if _called_name(node.func) == "print" and len(node.args) == 1 and not node.keywords:
            return self._python_call(node.args[0])  # Gemma prints what its code gives
        tool = self.find(_called_name(node.func))
        if tool is None:
            return None
        if repeats_a_python_key(node):
            return FoundCall(name=tool.name, arguments={MALFORMED_ARGUMENTS: ast.unparse(node)})
        try:
            arguments = {k.arg: ast.literal_eval(k.value) for k in node.keywords if k.arg}
            positional = [ast.literal_eval(each) for each in node.args]
        except (ValueError, MemoryError, RecursionError):
            return None
        if positional:
            name = only_parameter(tool)
            if len(positional) != 1 or name is None or name in arguments:
                return None
            arguments[name] = positional[0]
        if len(arguments) < len(node.keywords):
            return None  # `**something`
        return FoundCall(name=tool.name, arguments=arguments)


class AnyToolName(ToolNames):
    """Every name counts, for texts that are marked as calls."""

    def find(self, name: str) -> ToolSchema | None:
        known = super().find(name)
        plain = _plain(name)
        if known is not None or not _TOOL_NAME.fullmatch(plain):
            return known
        return _stand_in(plain, {})


def _stand_in(name: str, properties: dict[str, Any]) -> ToolSchema:
    parameters = {"type": "object", "properties": properties}
    return ToolSchema(name=name, description="", parameters=parameters)


def repeats_a_python_key(tree: ast.AST) -> bool:
    """Whether a dict display or a call in `tree` has a key twice; the last would win silently."""
    for node in ast.walk(tree):
        keys: list[object] = []
        if isinstance(node, ast.Dict):
            keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
        elif isinstance(node, ast.Call):
            keys = [keyword.arg for keyword in node.keywords if keyword.arg]
        if len(set(keys)) < len(keys):
            return True
    return False


def properties(tool: ToolSchema) -> dict[str, Any]:
    return dict_in(tool.parameters, "properties")


def required(tool: ToolSchema) -> list[str]:
    names: object = tool.parameters.get("required")
    return cast("list[str]", names) if isinstance(names, list) else []


def only_parameter(tool: ToolSchema) -> str | None:
    """The parameter that a lone value must be meant for."""
    names = required(tool) or list(properties(tool))
    return names[0] if len(names) == 1 else None


def from_text(tool: ToolSchema, name: str, text: str) -> object:
    """A value written as XML text: text where the tool wants text, else what its JSON says."""
    text = text.removeprefix("\n").removesuffix("\n")
    wanted = dict_in(properties(tool), name).get("type")
    if wanted == "string":
        return text
    if wanted == "boolean" and text in ("True", "False"):
        return text == "True"
    try:
        return decode(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return text


def _prints_names(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or _called_name(node.func) != "print":
        return False
    return all(isinstance(each, ast.Name) for each in node.args) and not node.keywords


def _plain(name: str) -> str:
    """A tool's name without the name space that models put before it."""
    return name.strip().removeprefix("functions.").removeprefix("default_api.")


def _called_name(function: ast.expr) -> str:
    """The name in `f(…)`, `functions.f(…)` and Llama's `f.call(…)`."""
    if isinstance(function, ast.Attribute) and function.attr == "call":
        function = function.value
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return f"{function.value.id}.{function.attr}"
    return function.id if isinstance(function, ast.Name) else ""


def _is_schema(arguments: Mapping[str, Any]) -> bool:
    return arguments.get("type") == "object" and "properties" in arguments
