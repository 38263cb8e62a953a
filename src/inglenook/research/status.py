"""What a research run is doing, in a word and an argument: for terminals, chats and pages."""

from collections.abc import Mapping
from urllib.parse import urlsplit


def status_text(tool: str, arguments: Mapping[str, object]) -> str | None:
    """`Search: <query>` or `Read: <domain>`; None for other calls. Not made safe to print."""
    match tool:
        case "web_search":
            return f"Search: {arguments.get('query', '')}"
        case "visit_webpage":
            url = str(arguments.get("url", ""))
            try:
                return f"Read: {urlsplit(url).hostname or url}"
            except ValueError:  # such as `http://[`
                return f"Read: {url}"
        case _:
            return None
