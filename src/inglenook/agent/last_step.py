"""How a run is brought to its answer: what the model is told of its steps, and what counts at last.

Pure, and of the run's own `prompt_built` alone, so that a replay decides alike.
"""

from inglenook.events import PromptBuilt
from inglenook.providers.written_calls import WrittenCalls
from inglenook.tools.registry import plain_name

MUST_ANSWER_AT = 2
"""Steps left."""
NOT_RESEARCHED = (
    "[Not researched: no search result and no page stands behind this text; it is what the model "
    "says by itself.]"
)
LAST_STEP_NOTICE = (
    "\n\n[Runtime notice: one step is left. Answer now with what you have; "
    "a further tool call will not be seen.]"
)


def budget_notice(prompt: PromptBuilt, used: int) -> str:
    """What stands behind the results of the step that was the run's `used`th."""
    left = prompt.max_steps - used
    if not prompt.tells_budget:
        return LAST_STEP_NOTICE if left == 1 else ""
    notice = f"used {used} of {prompt.max_steps} steps, {left} left."
    if left <= MUST_ANSWER_AT:
        notice += f" You must answer now: call {' or '.join(prompt.last_step_tools or ())}."
    return f"\n\n[Runtime notice: {notice}]"


def concluded(text: str, prompt: PromptBuilt) -> str:
    """The answer in a reply to the request for it, which offered no tools.

    Models that were about to call `final_answer` write that as text: its argument is the answer.
    A call of anything else is none; the text is empty then.
    """
    last = [each for each in prompt.schemas if each.name in (prompt.last_step_tools or ())]
    written = WrittenCalls(last).in_answer(text)
    if written is None:
        return text
    answers = [
        str(value)
        for call in written.calls
        if plain_name(call.name) in prompt.ends_run
        for value in call.arguments.values()
    ]
    return answers[0] if len(answers) == 1 else ""
