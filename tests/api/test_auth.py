"""Who may call: hosts, origins, loopback and the token (SECURITY P32)."""

from pathlib import Path
from typing import Any

import pytest

from inglenook.api.app import create_app
from inglenook.api.auth import Guard, host_name, wants_token
from inglenook.settings.load import load
from tests.api.serving import open_routes, serve, services
from tests.support import bench, replies, say


async def nothing(*_: Any) -> None: ...


def scope(
    path: str = "/api/runs",
    method: str = "GET",
    client: tuple[str, int] | None = ("127.0.0.1", 5000),
    headers: dict[str, str] | None = None,
    hosts: tuple[str, ...] = ("127.0.0.1:8420",),
) -> dict[str, Any]:
    named = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    return {
        "type": "http",
        "path": path,
        "method": method,
        "client": client,
        "server": ("192.168.1.5", 8420),
        "headers": [*((b"host", host.encode()) for host in hosts), *named],
    }


def status(guard: Guard, **fields: Any) -> int | None:
    problem = guard.refusal(scope(**fields))
    return problem and problem.status


OPEN = Guard(nothing, token="", allowed_hosts=frozenset())
LOCKED = Guard(nothing, token="s3cret-ü", allowed_hosts=frozenset({"Box.example"}))


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("localhost:8420", "localhost"),
        ("LocalHost.", "localhost"),
        ("[::1]:8420", "::1"),
        ("[::1]", "::1"),
        ("::1", "::1"),
        ("127.0.0.1", "127.0.0.1"),
        ("localhost:80@evil.example", "localhost:80@evil.example"),
        ("", ""),
    ],
)
def test_a_host_header_names_its_host(host: str, name: str):
    assert host_name(host) == name


@pytest.mark.parametrize("host", ["localhost:8420", "[::1]:8420", "127.0.0.1", "192.168.1.5:8420"])
def test_loopback_names_and_the_address_that_was_called_are_ours(host: str):
    assert status(OPEN, hosts=(host,)) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8420",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "localhost:80@evil.example",
        "127.0.0.2",
        "10.0.0.1",
        "box.example",
        "http://localhost",
    ],
)
def test_any_other_host_is_refused_on_every_path(host: str):
    assert status(OPEN, hosts=(host,)) == 403
    assert status(OPEN, hosts=(host,), path="/health") == 403


def test_a_configured_host_is_ours_in_any_case():
    headers = {"authorization": "Bearer s3cret-ü"}
    assert status(LOCKED, hosts=("BOX.example:443",), headers=headers) is None


def test_a_configured_name_does_not_let_other_machines_in():
    guard = Guard(nothing, token="", allowed_hosts=frozenset({"box.example"}))
    assert status(guard, hosts=("box.example:8420",)) is None
    assert status(guard, hosts=("box.example:8420",), client=("192.168.1.9", 1)) == 403


def test_a_star_allows_every_name_but_no_caller_without_the_token():
    guard = Guard(nothing, token="s3cret", allowed_hosts=frozenset({"*"}))
    named = {"hosts": ("anything.example",)}
    assert status(guard, **named, headers={"authorization": "Bearer s3cret"}) is None
    assert status(guard, **named) == 401


def test_the_refusal_of_a_name_says_which_setting_allows_it():
    problem = OPEN.refusal(scope(hosts=("box.example",)))
    assert problem is not None
    assert "server.allowed_hosts" in problem.in_words
    loaded = load(environment={"INGLENOOK_SERVER__ALLOWED_HOSTS": '["box.example"]'})
    assert loaded.settings.server.allowed_hosts == ["box.example"]


@pytest.mark.parametrize("hosts", [(), ("localhost", "evil.example"), ("localhost", "localhost")])
def test_there_is_exactly_one_host_header(hosts: tuple[str, ...]):
    assert status(OPEN, hosts=hosts) == 400


@pytest.mark.parametrize(
    "client", [("192.168.1.9", 1), ("8.8.8.8", 1), ("::ffff:10.0.0.1", 1), ("nobody", 1), None]
)
def test_without_a_token_only_loopback_is_served(client: tuple[str, int] | None):
    assert status(OPEN, client=client) == 403
    assert status(OPEN, client=client, path="/health") == 403


@pytest.mark.parametrize("client", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_every_loopback_address_is_loopback(client: str):
    assert status(OPEN, client=(client, 1)) is None


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "x-real-ip"])
def test_a_proxy_on_this_machine_does_not_make_the_internet_local(header: str):
    assert status(OPEN, headers={header: "127.0.0.1"}) == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "QUERY"])
@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        "http://127.0.0.1:3000",
        "http://localhost:8420",
        "file://",
    ],
)
def test_another_sites_page_changes_nothing(method: str, origin: str):
    assert status(OPEN, method=method, headers={"origin": origin}) == 403


def test_our_own_page_and_programs_without_origin_are_served():
    assert status(OPEN, method="POST", headers={"origin": "http://127.0.0.1:8420"}) is None
    assert status(OPEN, method="POST", headers={"origin": "https://127.0.0.1:8420"}) is None
    assert status(OPEN, method="POST") is None


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_browser_that_says_cross_site_is_believed(site: str):
    assert status(OPEN, method="POST", headers={"sec-fetch-site": site}) == 403


def test_the_token_is_wanted_and_compared():
    assert status(LOCKED) == 401
    assert status(LOCKED, headers={"authorization": "Bearer wrong"}) == 401
    assert status(LOCKED, headers={"authorization": "Basic s3cret-ü"}) == 401
    assert status(LOCKED, headers={"authorization": "Bearer "}) == 401
    assert status(LOCKED, headers={"authorization": "Bearer s3cret-ü"}) is None
    assert status(LOCKED, headers={"x-inglenook-token": "s3cret-ü"}) is None
    assert status(LOCKED, client=("8.8.8.8", 1), headers={"x-inglenook-token": "s3cret-ü"}) is None


def test_on_agent_run_authorization_is_not_the_servers_token():
    path = {"path": "/agent/run", "method": "POST"}
    assert status(LOCKED, **path, headers={"authorization": "Bearer s3cret-ü"}) == 401
    assert status(LOCKED, **path, headers={"x-inglenook-token": "s3cret-ü"}) is None


@pytest.mark.parametrize("path", ["/health", "/", "/assets/app.js", "/runs/run_1"])
def test_health_and_the_pages_files_want_no_token(path: str):
    assert status(LOCKED, path=path) is None


@pytest.mark.parametrize("path", ["/", "/health", "/assets/app.js"])
def test_nothing_is_posted_without_the_token(path: str):
    assert status(LOCKED, path=path, method="POST") == 401


def test_a_mount_point_hides_no_private_path():
    assert wants_token({**scope("/base/api/runs"), "root_path": "/base"})


PAGE = {
    "/",
    "/runs",
    "/runs/{run_id}",
    "/approvals",
    "/knowledge",
    "/models",
    "/doctor",
    "/settings",
}
PUBLIC = {"/health", "/assets/{name}", *PAGE}


async def test_every_route_outside_the_public_list_wants_the_token(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b:
        app = create_app(services(b))
    routes = open_routes(app)
    assert {path for path, _ in routes} > PUBLIC
    for path, methods in routes:
        for method in methods:
            is_read_of_public = path in PUBLIC and method in ("GET", "HEAD")
            assert status(LOCKED, path=path, method=method) == (None if is_read_of_public else 401)


@pytest.mark.parametrize(
    "path", ["/new", "/new/{id}", "/runs/x/new", "/assets/x/y", "/health/new", "/healthy", "//", ""]
)
def test_a_path_that_nobody_thought_of_wants_the_token(path: str):
    assert status(LOCKED, path=path) == 401


async def test_over_http_a_foreign_host_is_refused_with_security_headers(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        answer = await client.get("/api/runs", headers={"Host": "evil.example"})
        assert answer.status == 403
        assert answer.error["type"] == "forbidden"
        assert "evil.example" in answer.error["message"]
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")


async def test_over_http_the_token_opens_the_api(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b, token="t0ken") as client:
        refused = await client.get("/api/runs")
        assert (refused.status, refused.error["type"]) == (401, "unauthorized")
        assert refused.headers["www-authenticate"] == "Bearer"
        let_in = await client.get("/api/runs", headers={"Authorization": "Bearer t0ken"})
        assert let_in.status == 200
        assert (await client.get("/health")).status == 200
        assert (await client.get("/")).status == 200
        assert (await client.get("/docs")).status == 401
        assert (await client.get("//api/runs")).status == 401
        assert (await client.get("/api/runs/")).status == 401
