"""Puts the built web page into a wheel; an editable install (`uv sync`) is left alone."""

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageBuildHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        spec = importlib.util.spec_from_file_location("build_page", root / "scripts/build_page.py")
        assert spec is not None
        assert spec.loader is not None
        build_page = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(build_page)
        self.app.display_info(build_page.build_page(root))
