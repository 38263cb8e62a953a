"""Worked conversations that teach a small model the rhythm of call, result, answer.

Without them the demo model finished 3 of 10 one-tool tasks, with them 9 of 10. Dates and facts
are far from anything a user would ask, so that a leaked one is recognised; results look as the real
tools' do, so that the model learns to cite them.
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


# The nearest example weighs most: with a cited answer as the last one, 8 of 9 answers cite, with
# the greeting there, 6 did.
_CONVERSATIONS: tuple[tuple[str, Sequence[_Turn], str], ...] = (
    ("Hi there!", [], "Hello! How can I help you?"),
    ("What is (6+7)*2?", [("calculate", {"expression": "(6+7)*2"}, "26")], "(6+7)*2 is 26."),
    (
        "The shop closes at 18:00. Is it still open?",
        [("get_current_datetime", {}, "1999-05-05T19:00:00+02:00 (Wednesday)")],
        "No, it is 19:00, so the shop has closed.",
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
        "Look up the monthly rent in the lease and calculate the rent for 2 months.",
        [
            (
                "search_knowledge_base",
                {"query": "monthly rent lease"},
                "[1] lease.pdf § 2. Rent (file id f-example)\nThe rent is 700 crowns a month.\n\n"
                "[2] lease.pdf § 7. Keys (file id f-example)\nThe tenant gets two keys.",
            ),
            ("calculate", {"expression": "700*2"}, "1400"),
        ],
        "The rent for 2 months is 1400 crowns [1].",
    ),
    (
        "Who feeds the ship's cat?",
        [
            (
                "search_knowledge_base",
                {"query": "feeding the ship's cat"},
                "[1] crew.md § Watches (file id f-example)\nThe night watch begins at ten.\n\n"
                "[2] crew.md § Animals (file id f-example)\nThe cook feeds the ship's cat.",
            )
        ],
        "The cook feeds the ship's cat [2].",
    ),
)

DEMO_EXAMPLES: tuple[Message, ...] = tuple(
    message
    for number, (question, turns, answer) in enumerate(_CONVERSATIONS, start=1)
    for message in _conversation(number, question, turns, answer)
)
