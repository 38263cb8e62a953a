"""A30: what the tests do not show is said where people read about them."""

from pathlib import Path


def test_the_readme_says_what_the_tests_do_not_cover():
    text = (Path(__file__).parents[2] / "README.md").read_text()
    section = text.split("## What the tests do not cover")[1].split("\n## ")[0]
    for limit in ("Ollama", "Open WebUI", "Windows", "retrieval"):
        assert limit in section, limit
