"""`/docs`: the API's description as one plain page, without scripts and without a CDN."""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from starlette.responses import HTMLResponse

from inglenook.api.headers import RESPONSE_HEADERS

STYLE = """
:root { color-scheme: light dark; }
body { font: 14px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
details { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
summary { cursor: pointer; padding: .5rem 0; }
table { border-collapse: collapse; margin: 0 0 1rem; }
td { padding: .125rem 1rem .125rem 0; vertical-align: top; }
"""
CODE = re.compile(r"`([^`]*)`")
AS_CODE = r"<code>\1</code>"
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
_POLICY = f"{RESPONSE_HEADERS['Content-Security-Policy']}; style-src 'sha256-{_STYLE_HASH}'"


def docs_page(spec: Mapping[str, Any]) -> HTMLResponse:
    """`spec` is the OpenAPI document that `/openapi.json` serves."""
    title = escape(f"{spec['info']['title']} {spec['info']['version']}")
    html = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style>'
        f"<h1>{title}</h1><p>{escape(spec['info'].get('description', ''))}</p>"
        '<p>For machines: <a href="/openapi.json">/openapi.json</a></p>'
        f"{''.join(_operations(spec))}</html>"
    )
    return HTMLResponse(html, headers={"Content-Security-Policy": _POLICY})


def _operations(spec: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            yield (
                f"<details><summary><code>{method.upper()} {escape(path)}</code></summary>"
                f"{_text(operation.get('description', ''))}<table>"
                f"{''.join(_parameters(operation))}{''.join(_body(operation, spec))}"
                "</table></details>"
            )


def _text(description: str) -> str:
    """Paragraphs; what stands between backticks is code."""
    paragraphs = escape(description).split("\n\n")
    return "".join(f"<p>{CODE.sub(AS_CODE, text)}</p>" for text in paragraphs)


def _parameters(operation: Mapping[str, Any]) -> Iterator[str]:
    for parameter in operation.get("parameters", ()):
        where = parameter["in"] + (", required" if parameter.get("required") else "")
        yield _row(parameter["name"], where, parameter.get("schema", {}))


def _body(operation: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterator[str]:
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = _resolved(content["schema"], spec)
        needed = schema.get("required", ())
        place = "body" if kind == "application/json" else kind
        for name, field in schema.get("properties", {}).items():
            where = f"{place}{', required' if name in needed else ''}"
            yield _row(name, where, _resolved(field, spec))


def _row(name: str, where: str, schema: Mapping[str, Any]) -> str:
    cells = (f"<code>{escape(name)}</code>", escape(where), escape(_type(schema)))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _type(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _resolved(schema: Mapping[str, Any], spec: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    if reference is None:
        return schema
    return spec["components"]["schemas"][reference.rpartition("/")[2]]
