"""What a step costs, without noise: user-space instructions beside a hand-written aiohttp loop's.

Counted by valgrind, so that a busy machine changes nothing. `python -m bench` measures time.
"""

import os
import shutil
import sys
import time

import pytest

from bench.figures import BASE, INSTRUCTION_RATIO, OURS
from bench.runtime.run_all import HERE, instructions_per_step, scripted_server

MORE_TRIES = 2
"""What disturbs a count (a module that is compiled, commits that a slow machine tears apart) lies
in one measurement, and seldom in three."""


@pytest.mark.skipif(
    shutil.which("valgrind") is None and os.environ.get("CI") != "true",
    reason="valgrind is missing, which counts instructions: apt-get install valgrind",
)
def test_a_step_costs_little_more_than_a_hand_written_loop():
    drivers = HERE / "drivers"
    began = time.monotonic()
    with scripted_server(sys.executable) as base_url:

        def measured(script: str) -> float:
            return instructions_per_step([sys.executable, str(drivers / script)], base_url)

        base, ours = measured("raw_aiohttp.py"), measured("inglenook_driver.py")
        for _ in range(MORE_TRIES):
            if 0 < ours <= base * INSTRUCTION_RATIO:
                break
            ours = measured("inglenook_driver.py")
    took_s = time.monotonic() - began
    print(f"\n{OURS}: {ours:.2f} million a step, {BASE}: {base:.2f}, in {took_s:.0f} s")
    assert 0.5 < base < 5, "the measurement itself is broken"
    assert ours > 0.5, "the measurement itself is broken"
    assert ours / base <= INSTRUCTION_RATIO, (
        f"a step takes {ours:.2f} million instructions, {ours / base:.2f} × {BASE}'s {base:.2f}; "
        f"the limit is {INSTRUCTION_RATIO}. Make it cheaper, or say in the commit why it is worth "
        "more and raise INSTRUCTION_RATIO in bench/figures.py."
    )
