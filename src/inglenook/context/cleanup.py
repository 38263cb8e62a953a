"""A history that every provider takes, whoever made it: pure, and linear in its length.

Mends what clients post and other runtimes stored; events are never rewritten.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from inglenook.context.rendered_traces import without_traces
from inglenook.messages import Message, ToolCall
from inglenook.providers.calls import made_id, usable_id

NOT_RECORDED = (
    "[The result of this call was not recorded, so its outcome is unknown: it may have run or not.]"
)
OPENING = Message(role="user", text="Hello.")
"""Put before a history that begins with the assistant. Templates such as Mistral's and Gemma's
refuse those; what the assistant said is kept, as the next message may refer to it."""
NO_ANSWER = Message(role="assistant", text="(No answer was given.)")
"""Put where the user goes on after results that were never answered; Mistral's API and template
refuse a user's message there."""

_Slot = tuple[int, int]
"""A call: the number of its message, and its place in it."""


def valid_history(messages: Sequence[Message]) -> list[Message]:
    """`messages` as providers take them; the same objects where nothing is wrong with them.

    - A reply's calls have names and ids that are unique in the history; a nameless call goes, and
      its result with it.
    - A reply's results follow it at once, one a call, in the order of the calls. A call without one
      gets `NOT_RECORDED`; a result without a call goes, and so does a second one.
    - The user begins, and no two messages of the user or two answers stand side by side: strict
      templates (Mistral, Gemma) refuse that, so they are joined. Nor does the user's next message
      follow a result: `NO_ANSWER` comes between.
    - Replies without text and calls go, and traces that Open WebUI rendered into a text.
    - System messages stay where they are, except between a reply and its results.
    """
    sound = [_sound(message) for message in messages]
    results = _matched_results(sound)
    history: list[Message] = []
    taken: set[str] = set()
    has_begun = False
    for run in _runs(sound):
        message = _joined([sound[n] for n in run])
        if not has_begun and message.role != "system":
            has_begun = True
            if message.role == "assistant":
                history.append(OPENING)
        elif message.role == "user" and history[-1].role == "tool":
            history.append(NO_ANSWER)
        message = _with_unique_ids(message, history, taken)
        history.append(message)
        for place, call in zip(_named(sound[run[-1]]), message.tool_calls, strict=True):
            history.append(_result_of(call, results.get((run[-1], place))))
    return history


def _sound(message: Message) -> Message:
    """`message` without what its role does not have, and without rendered traces."""
    if message.role == "tool":
        return message
    text, calls, reasoning = message.text, message.tool_calls, message.reasoning
    if message.role == "assistant":
        text = without_traces(text)
    else:
        calls, reasoning = (), None
    if (
        text is message.text
        and calls == message.tool_calls
        and reasoning is message.reasoning
        and message.call_id is message.tool_name is None
    ):
        return message
    return Message(role=message.role, text=text, tool_calls=calls, reasoning=reasoning)


def _runs(messages: Sequence[Message]) -> Iterable[list[int]]:
    """The numbers of the messages that stay, those that become one message together.

    Only the last of them may hold calls: its results come next.
    """
    run: list[int] = []
    for n, message in enumerate(messages):
        is_empty = not message.text.strip() and not _named(message)
        if message.role == "tool" or (message.role == "assistant" and is_empty):
            continue
        last = messages[run[-1]] if run else None
        joins = last is not None and message.role == last.role != "system" and not _named(last)
        if run and not joins:
            yield run
            run = []
        run.append(n)
    if run:
        yield run


def _joined(run: Sequence[Message]) -> Message:
    last = run[-1]
    calls = tuple(last.tool_calls[place] for place in _named(last))
    if len(run) == 1 and len(calls) == len(last.tool_calls):
        return last
    reasoning = next((each.reasoning for each in reversed(run) if each.reasoning), None)
    text = "\n\n".join(each.text for each in run if each.text.strip())
    return replace(last, text=text, tool_calls=calls, reasoning=reasoning)


def _named(message: Message) -> list[int]:
    """The places of the calls that name their tool."""
    return [place for place, call in enumerate(message.tool_calls) if call.name.strip()]


def _with_unique_ids(message: Message, before: Sequence[Message], taken: set[str]) -> Message:
    calls: list[ToolCall] = []
    for place, call in enumerate(message.tool_calls):
        id_ = usable_id(call.id)
        if id_ is None or id_ in taken:
            id_ = made_id(before, place, call.name, taken)
        taken.add(id_)
        calls.append(call if id_ == call.id else replace(call, id=id_))
    if all(new is old for new, old in zip(calls, message.tool_calls, strict=True)):
        return message
    return replace(message, tool_calls=tuple(calls))


def _result_of(call: ToolCall, found: Message | None) -> Message:
    text = NOT_RECORDED if found is None else found.text
    result = Message(role="tool", text=text, call_id=call.id, tool_name=call.name)
    return result if found is None or found != result else found


def _matched_results(messages: Sequence[Message]) -> dict[_Slot, Message]:
    """Each call's result. Where ids repeat, a result belongs to the nearest call before it."""
    calls = _OpenCalls()
    early: list[Message] = []
    for n, message in enumerate(messages):
        if message.tool_calls:
            calls.add(n, message.tool_calls)
        elif message.role == "tool" and not calls.answer(message) and usable_id(message.call_id):
            early.append(message)
    for message in early:
        calls.answer(message)
    return calls.results


class _OpenCalls:
    """The calls seen so far, and the results that were found for them.

    A queue may begin with calls that were answered by way of another queue: they are passed over
    when it is looked into, so that all queues together cost one step a call.
    """

    def __init__(self) -> None:
        self.results: dict[_Slot, Message] = {}
        self._by_id: dict[str, list[deque[_Slot]]] = {}
        """For each id, the calls of each reply that has it."""
        self._latest: dict[str | None, deque[_Slot]] = {}
        """The calls of the latest reply by tool, and all of them under None."""

    def add(self, n: int, calls: Sequence[ToolCall]) -> None:
        self._latest = {None: deque((n, place) for place in range(len(calls)))}
        by_id: dict[str, deque[_Slot]] = {}
        for place, call in enumerate(calls):
            self._latest.setdefault(call.name, deque()).append((n, place))
            if id_ := usable_id(call.id):
                by_id.setdefault(id_, deque()).append((n, place))
        for id_, slots in by_id.items():
            self._by_id.setdefault(id_, []).append(slots)

    def answer(self, result: Message) -> bool:
        """Give `result` to its call; False where there is none.

        One without an id belongs to the latest reply, to its tool's call if it names one.
        """
        slot = None
        if id_ := usable_id(result.call_id):
            replies = self._by_id.get(id_, [])
            while replies and (slot := self._first(replies[-1])) is None:
                replies.pop()
        else:
            slot = self._first(self._latest.get(result.tool_name or None, deque()))
        if slot is None:
            return False
        self.results[slot] = result
        return True

    def _first(self, slots: deque[_Slot]) -> _Slot | None:
        while slots and slots[0] in self.results:
            slots.popleft()
        return slots[0] if slots else None
