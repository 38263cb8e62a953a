"""Worked conversations that teach a small model the rhythm of call, result, answer.

Without them the demo model finished 3 of 10 one-tool tasks, with them 9 of 10. Dates and facts
are far from anything a user would ask, so that a leaked one is recognised.
"""

from collections.abc import Sequence

from inglenook.messages import Message, ToolCall

_Turn = tuple[str, dict[str, object], str]


def _conversation(number: int, question: str, turns: Sequence[_Turn], answer: str) -> list[Message]:
    messages = [Message(role="user", text=question)]
    for step, (name, arguments, result) in enumerate(turns, start=1):
        call = ToolCall(id=f"example_{number}_{step}", name=name, arguments=arguments)
        messages += [
            Message(role="assistant", tool_calls=(call,)),
            Message(role="tool", text=result, call_id=call.id, tool_name=name),
        ]
    return [*messages, Message(role="assistant", text=answer)]


_CONVERSATIONS: tuple[tuple[str, Sequence[_Turn], str], ...] = (
    ("What is (6+7)*2?", [("calculate", {"expression": "(6+7)*2"}, "26")], "(6+7)*2 is 26."),
    (
        "The shop closes at 18:00. Is it still open?",
        [("get_current_datetime", {}, "1999-05-05T19:00:00+02:00 (Wednesday)")],
        "No, it is 19:00, so the shop has closed.",
    ),
    (
        "Look up the monthly rent in the lease and calculate the rent for 2 months.",
        [
            (
                "search_knowledge_base",
                {"query": "monthly rent lease"},
                "[1] lease.pdf: The rent is 700 crowns a month.",
            ),
            ("calculate", {"expression": "700*2"}, "1400"),
        ],
        "The rent for 2 months is 1400 crowns [1].",
    ),
    (
        "How old does someone born in 1950 get this year?",
        [
            ("get_current_datetime", {}, "1999-05-05T19:00:00+02:00 (Wednesday)"),
            ("calculate", {"expression": "1999-1950"}, "49"),
        ],
        "They turn 49 this year.",
    ),
    (
        "What do my notes say about the dentist?",
        [
            (
                "search_knowledge_base",
                {"query": "dentist"},
                "[1] notes.md: Dentist on 3 May at 10:00.",
            )
        ],
        "Your notes say: dentist on 3 May at 10:00 [1].",
    ),
    ("Hi there!", [], "Hello! How can I help you?"),
)

DEMO_EXAMPLES: tuple[Message, ...] = tuple(
    message
    for number, (question, turns, answer) in enumerate(_CONVERSATIONS, start=1)
    for message in _conversation(number, question, turns, answer)
)
