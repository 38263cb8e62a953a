"""What a real Open WebUI's people do in the tests: sign up, make keys, bases and files, share.

Through its own HTTP API, as an administrator and users; what Inglenook asks of it is not here.
"""

import json
import mimetypes
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.open_webui import WordVectors, install, running

PASSWORD = "Passw0rd!of-a-test"


@dataclass(frozen=True, kw_only=True)
class User:
    id: str
    key: str
    """Their API key."""
    session: str
    """What their browser would hold; changes of an account need it."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    status: int
    content_type: str
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@contextmanager
def real_open_webui(folder: Path) -> Generator["RealOpenWebUI"]:
    """With an administrator and nothing else, and its own data in `folder`.

    Raises:
        CannotInstall: It is not installed and cannot be.
    """
    program, log = install(), folder / "open-webui.log"
    with (
        WordVectors().serving() as vectors,
        running(program, folder / "data", log, vectors) as url,
    ):
        server = RealOpenWebUI(url=url, log=log, vectors=vectors)
        server.sign_up()
        yield server


@dataclass(kw_only=True)
class RealOpenWebUI:
    url: str
    log: Path
    vectors: WordVectors
    admin: str = ""
    """The administrator's session."""
    _users: dict[str, User] = field(default_factory=dict[str, User])

    def user(self, name: str) -> User:
        """The ordinary user of this name, made at the first call."""
        if name not in self._users:
            account = {"name": name, "email": f"{name}@example.com", "password": PASSWORD}
            made = self.ask("POST", "auths/add", self.admin, {**account, "role": "user"})
            key = self.ask("POST", "auths/api_key", made["token"])["api_key"]
            self._users[name] = User(id=made["id"], key=key, session=made["token"])
        return self._users[name]

    def sign_up(self) -> None:
        """The first account of all, which is the administrator's."""
        account = {"name": "admin", "email": "admin@example.com", "password": PASSWORD}
        self.admin = self.ask("POST", "auths/signup", "", account)["token"]

    def new_key(self, user: User) -> str:
        """Another key for this user; the one they had is refused from now on."""
        return self.ask("POST", "auths/api_key", user.session)["api_key"]

    def allow_keys(self, allowed: bool, *, at: Sequence[str] = ()) -> None:
        """For everything, or for what lies below these addresses alone."""
        now = self.ask("GET", "auths/admin/config", self.admin)
        rules = {
            "ENABLE_API_KEYS": allowed,
            "ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS": bool(at),
            "API_KEYS_ALLOWED_ENDPOINTS": ",".join(at),
        }
        self.ask("POST", "auths/admin/config", self.admin, {**now, **rules})

    def search_hybrid(self, hybrid: bool) -> None:
        body = {"ENABLE_RAG_HYBRID_SEARCH": hybrid}
        self.ask("POST", "retrieval/config/update", self.admin, body)

    def base(self, user: User, name: str, files: Mapping[str, str | bytes] | None = None) -> str:
        """A new knowledge base's id; its files are read, cut and embedded when this returns."""
        made = self.ask("POST", "knowledge/create", user.key, {"name": name, "description": ""})
        for file, content in (files or {}).items():
            self.add_file(user, made["id"], file, content)
        return made["id"]

    def external_base(self, name: str, reader: User) -> str:
        """A base over a vector database that is not even asked for."""
        place = {"name": name, "provider": "qdrant", "endpoint": "http://127.0.0.1:9"}
        connection = self.ask("POST", "knowledge/external/connections", self.admin, place)
        body = {
            "name": name,
            "connection_id": connection["id"],
            "source": {"name": "c", "config": {"content_field": "payload.text"}},
            "access_grants": [_may_read(reader)],
        }
        return self.ask("POST", "knowledge/external/knowledge/create", self.admin, body)["id"]

    def add_file(
        self, user: User, base: str, name: str, content: str | bytes, folder: str | None = None
    ) -> str:
        data = content.encode() if isinstance(content, str) else content
        uploaded = self.ask(
            "POST", "files/?process=true&process_in_background=false", user.key, upload=(name, data)
        )
        body = {"file_id": uploaded["id"], "directory_id": folder}
        self.ask("POST", f"knowledge/{base}/file/add", user.key, body)
        return uploaded["id"]

    def remove_file(self, user: User, base: str, file: str) -> None:
        self.ask("POST", f"knowledge/{base}/file/remove", user.key, {"file_id": file})

    def folder(self, user: User, base: str, name: str, parent: str | None = None) -> str:
        body = {"name": name, "parent_id": parent}
        return self.ask("POST", f"knowledge/{base}/dirs/create", user.key, body)["id"]

    def share(self, base: str, *readers: User) -> None:
        """With exactly these."""
        grants = [_may_read(reader) for reader in readers]
        body = {"access_grants": grants}
        self.ask("POST", f"knowledge/{base}/access/update", self.admin, body)

    def ask(
        self,
        method: str,
        path: str,
        bearer: str,
        body: object = None,
        *,
        upload: tuple[str, bytes] | None = None,
    ) -> Any:
        """The answer's JSON; anything but success fails the test with what was said."""
        answered = self.request(method, f"/api/v1/{path}", bearer, body, upload=upload)
        assert answered.status == 200, (method, path, answered.status, answered.body[:500])
        return answered.json

    def request(
        self,
        method: str,
        path: str,
        bearer: str,
        body: object = None,
        *,
        upload: tuple[str, bytes] | None = None,
    ) -> Answered:
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        data = None
        if body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        elif upload is not None:
            data, headers["Content-Type"] = _multipart(*upload)
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request, timeout=60) as response:
                return _answered(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            with error:
                return _answered(error.code, error.headers, error.read())


def _answered(status: int, headers: Any, body: bytes) -> Answered:
    return Answered(status=status, content_type=headers.get_content_type(), body=body)


def _may_read(reader: User) -> dict[str, str]:
    return {"principal_type": "user", "principal_id": reader.id, "permission": "read"}


def _multipart(name: str, content: bytes) -> tuple[bytes, str]:
    """Body and content type of a form with one file, as a browser sends it."""
    edge = "----one-file-of-a-test"
    shown, kind = name.replace('"', "%22"), mimetypes.guess_type(name)[0] or "text/markdown"
    head = (
        f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{shown}"\r\n'
        f"Content-Type: {kind}\r\n\r\n"
    )
    body = head.encode() + content + f"\r\n--{edge}--\r\n".encode()
    return body, f"multipart/form-data; boundary={edge}"
