"""Who may call: loopback alone, or whoever has the token; and by no browser page but our own.

Decides on `scope["path"]` and the raw headers. `request.url` is built from what the caller says
(CVE-2026-48710), so nothing here looks at it.
"""

import hmac
import ipaddress

from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from inglenook.api.errors import Problem
from inglenook.api.page import PAGE_PATHS

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
ANY_NAME = "*"
"""As an allowed host: every name is. Only for a server with a token."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
FORWARDING_HEADERS = frozenset({b"forwarded", b"x-forwarded-for", b"x-real-ip"})
TOKEN_HEADER = b"x-inglenook-token"
PUBLIC_PATHS = ("/health", *PAGE_PATHS)
"""Read without the token. Everything else wants it, and so does whatever is added."""
_PUBLIC = tuple(compile_path(path)[0] for path in PUBLIC_PATHS)


class Guard:
    """Pure ASGI; refuses before anything of the request's body is read."""

    def __init__(self, app: ASGIApp, *, token: str, allowed_hosts: frozenset[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = LOOPBACK_NAMES | {host_name(host) for host in allowed_hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "http" and (problem := self.refusal(scope)):
            await problem.response(scope["path"])(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def refusal(self, scope: Scope) -> Problem | None:
        """Why this request is not served; None: it is."""
        return self._host(scope) or self._origin(scope) or self._caller(scope)

    def _host(self, scope: Scope) -> Problem | None:
        """A name that is not ours: some web page made a browser call us (DNS rebinding)."""
        hosts = _values(scope, b"host")
        if len(hosts) != 1:
            return Problem(status=400, message="the request needs exactly one Host header")
        name = host_name(hosts[0])
        if not self._hosts.isdisjoint({name, ANY_NAME}):
            return None
        if name == (scope.get("server") or ("",))[0]:
            return None
        return Problem(
            status=403,
            message=f"this server is not called {name!r:.100}",
            hint="Call it by 127.0.0.1 or localhost, or add the name to server.allowed_hosts "
            "in inglenook.toml.",
        )

    def _origin(self, scope: Scope) -> Problem | None:
        """Another site's page may not change anything here, whatever the browser sends along."""
        if scope["method"] in SAFE_METHODS:
            return None
        for origin in _values(scope, b"origin"):
            if origin.partition("://")[2].lower() != _values(scope, b"host")[0].lower():
                return Problem(
                    status=403,
                    message=f"requests from the web page {origin!r:.100} are not served",
                    hint="A proxy in front must pass the Host header on unchanged.",
                )
        for site in _values(scope, b"sec-fetch-site"):
            if site not in {"same-origin", "none"}:
                return Problem(status=403, message="requests from other web pages are not served")
        return None

    def _caller(self, scope: Scope) -> Problem | None:
        if not self._token:
            return None if is_on_loopback(scope) else _NOT_ON_LOOPBACK
        if not wants_token(scope) or self._has_token(scope):
            return None
        return _NO_TOKEN_ON_AGENT_RUN if scope["path"].startswith("/agent/") else _NO_TOKEN

    def _has_token(self, scope: Scope) -> bool:
        given = [value.encode("latin-1") for value in _values(scope, TOKEN_HEADER)]
        if not scope["path"].startswith("/agent/"):  # there it carries the user's Open WebUI key
            for value in _values(scope, b"authorization"):
                scheme, _, token = value.partition(" ")
                if scheme.lower() == "bearer":
                    given.append(token.strip().encode("latin-1"))
        return any(hmac.compare_digest(token, self._token) for token in given)


def wants_token(scope: Scope) -> bool:
    """False only for reading what is public."""
    path: str = scope["path"].removeprefix(scope.get("root_path", "").rstrip("/"))
    is_public = any(pattern.fullmatch(path) for pattern in _PUBLIC)
    return not is_public or scope["method"] not in ("GET", "HEAD")


def is_on_loopback(scope: Scope) -> bool:
    """The caller itself, not a proxy on this machine that speaks for somebody else."""
    client = scope.get("client")
    if not client or any(name in FORWARDING_HEADERS for name, _ in scope["headers"]):
        return False
    try:
        address = ipaddress.ip_address(client[0].split("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def host_name(host: str) -> str:
    """A Host header's name: in lower case, without port and brackets."""
    name, colon, port = host.rpartition(":")
    if not colon or not port.isdecimal() or (":" in name and not name.endswith("]")):
        name = host
    return name.strip("[]").rstrip(".").lower()


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


_NOT_ON_LOOPBACK = Problem(
    status=403,
    message="this server serves only callers on its own machine",
    hint="Set [server] token in inglenook.toml (or INGLENOOK_SERVER__TOKEN), restart, "
    "and send it as Authorization: Bearer <token>.",
)
_NO_TOKEN = Problem(
    status=401,
    message="this server wants its token",
    hint="Send Authorization: Bearer <the server's token>.",
    headers={"WWW-Authenticate": "Bearer"},
)
_NO_TOKEN_ON_AGENT_RUN = Problem(
    status=401,
    message="this server wants its token.",
    hint="Send it as X-Inglenook-Token; Authorization carries your Open WebUI key here.",
)
