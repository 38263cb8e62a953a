"""B3: prompts are Python functions over plain values; no YAML, no template engine."""

import subprocess
import sys

from inglenook.agent.strategies import PromptParts
from inglenook.messages import ToolSchema
from inglenook.research.instructions import research_prompt

BUILD_ONE = """
import sys
from inglenook.agent.strategies import PromptParts
from inglenook.research.instructions import research_prompt
research_prompt(PromptParts(today="2026-03-01", tools=[], absent={}, documents=None, max_steps=3))
print(*sorted({"yaml", "jinja2", "gettext"} & sys.modules.keys()))
"""


def test_building_a_prompt_loads_no_yaml_and_no_template_engine():
    done = subprocess.run(
        [sys.executable, "-c", BUILD_ONE], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == ""


def test_braces_and_percent_signs_in_a_description_stay_as_they_are():
    tool = ToolSchema(name="t", description="{task} {{x}} %s {% if %}", parameters={})
    prompt = research_prompt(
        PromptParts(today="2026-03-01", tools=[tool], absent={}, documents=None, max_steps=3)
    )
    assert "- t: {task} {{x}} %s {% if %}" in prompt
    assert "Today is Sunday, 2026-03-01." in prompt
