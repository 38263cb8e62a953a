"""N2: what does not fit is said before any call, with the numbers."""

import re
from dataclasses import replace
from pathlib import Path

from inglenook.messages import Message
from tests.agent.test_context_window import looking, page, running
from tests.agent.windowed_model import WindowedModel
from tests.support import MODEL, ask


async def test_both_numbers_are_in_the_explanation(tmp_path: Path):
    model = WindowedModel(looking(0))
    async with running(tmp_path, model, spec=replace(MODEL, context_tokens=2_048)) as b:
        long = (Message(role="user", text=page(20_000)),)
        run = await b.run(ask().model_copy(update={"messages": long}))
    assert (run["status"], run["reason"]) == ("incomplete", "context_too_small")
    numbers = [int(n) for n in re.findall(r"\d{4,}", run["explanation"])]
    assert 2_048 in numbers
    assert any(4_000 < n < 8_000 for n in numbers)
    assert model.seen == []
