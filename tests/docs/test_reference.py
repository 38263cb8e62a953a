"""The reference pages name every address and every setting, and nothing that does not exist."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic_core import PydanticUndefined, to_jsonable_python

from inglenook.api.app import ROUTERS
from inglenook.settings.sections import ChildAgent, Model, Settings

DOCS = Path(__file__).parents[2] / "docs"
ADDRESS = re.compile(r"^\| `((?:GET|POST|DELETE|PUT|PATCH) /[^`]*)` \|", re.MULTILINE)
SECTION = re.compile(r"^## \[+([\w.]+)\]+\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
KEY = re.compile(r"^\| `(\w+)` \| (?:`([^`]+)`)? ?\|", re.MULTILINE)
TABLES: Mapping[str, type[BaseModel]] = {"models": Model, "agents.NAME": ChildAgent}
"""Sections that are written several times, each of one shape."""


def test_the_api_page_lists_the_addresses_that_there_are():
    served = {
        f"{method} {route.path_format}"
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in (route.methods or set()) - {"HEAD"}
    }
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    assert set(ADDRESS.findall(text)) == served


def test_the_configuration_page_lists_every_key_with_its_default():
    text = (DOCS / "configuration.md").read_text(encoding="utf-8")
    shown = {
        section: {
            key: json.loads(default) if default else None for key, default in KEY.findall(body)
        }
        for section, body in SECTION.findall(text)
    }
    assert shown == {name: defaults(model) for name, model in sections().items()}


def sections() -> dict[str, type[BaseModel]]:
    found: dict[str, type[BaseModel]] = {}
    for name, field in Settings.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found[name] = kind
    return {**found, **TABLES}


def defaults(model: type[BaseModel]) -> dict[str, object]:
    """JSON values; None for a key that must be given, and for one whose default is none."""
    return {
        name: None if field.default is PydanticUndefined else to_jsonable_python(field.default)
        for name, field in model.model_fields.items()
    }
