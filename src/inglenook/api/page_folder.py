"""Where the built page lies; a module of its own, so that knowing it loads no web framework."""

from pathlib import Path

PAGE_FOLDER = Path(__file__).parent / "page"
