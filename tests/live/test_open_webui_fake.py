"""The stand-in that all other tests use answers as the real Open WebUI does."""

import json
import re
from dataclasses import dataclass
from typing import Any, cast

import pytest

from tests.fake_open_webui import FakeBase, FakeFile, FakeOpenWebUI, client_session
from tests.live.real_open_webui import RealOpenWebUI

pytestmark = pytest.mark.live

FILES = {"leave.md": "thirty days of leave", "pay.md": "monthly pay"}
QUERY = "/api/v1/retrieval/query/collection"
Names = dict[str, str]
"""What `{own}`, `{key}` and so on stand for on one of the two servers."""

GETS = [
    "/api/v1/knowledge/",
    "/api/v1/knowledge/?page=0",
    "/api/v1/knowledge/?page=9",
    "/api/v1/knowledge?page=1",
    "/api/v1/knowledge/{own}",
    "/api/v1/knowledge/{foreign}",
    "/api/v1/knowledge/nothing",
    "/api/v1/knowledge/{own}/files?page=1",
    "/api/v1/knowledge/{own}/files?page=2",
    "/api/v1/knowledge/{foreign}/files",
    "/api/v1/knowledge/nothing/files",
    "/api/v1/files/{file}/data/content",
    "/api/v1/files/{foreign_file}/data/content",
    "/api/v1/files/nothing/data/content",
    "/api/v1/nothing",
    "/nothing",
    QUERY,
]
OWN_KEY = "{key}"
OTHER_KEYS = ["", "nonsense", f"sk-{'0' * 32}"]
BODIES = [
    {"collection_names": ["{own}"], "query": "days of leave", "k": 1},
    {"collection_names": ["{own}"], "query": "nothing of the kind", "k": 9},
    {"collection_names": ["{own}", "{empty}"], "query": "pool", "k": 1},
    {"collection_names": ["{own}"], "query": "leave"},
    {"collection_names": ["{own}"], "query": "", "k": 5},
    {"collection_names": ["{empty}"], "query": "leave", "k": 5},
    {"collection_names": ["{own}", "{foreign}"], "query": "leave", "k": 5},
    {"collection_names": ["nothing"], "query": "leave", "k": 5},
]


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int
    content_type: str
    value: Any
    """None where it is no JSON."""


@pytest.fixture(scope="module")
def names(open_webui: RealOpenWebUI) -> Names:
    """On the real one: of users who have these bases and no others."""
    own, other = open_webui.user("compared"), open_webui.user("compared-other")
    base, empty = open_webui.base(own, "Own"), open_webui.base(own, "Empty")
    ids = {name: open_webui.add_file(own, base, name, text) for name, text in FILES.items()}
    folder = open_webui.folder(own, base, "2026")
    open_webui.add_file(own, base, "summer.md", "the pool opens", folder)
    foreign = open_webui.base(other, "Foreign")
    return {
        "key": own.key,
        "own": base,
        "empty": empty,
        "foreign": foreign,
        "file": ids["leave.md"],
        "foreign_file": open_webui.add_file(other, foreign, "other.md", "the leave of others"),
    }


def stand_in() -> tuple[FakeOpenWebUI, Names]:
    """With the same content."""
    ids = {name: f"f-{name[0]}" for name in FILES}
    files = [FakeFile(id=ids[name], name=name, text=text) for name, text in FILES.items()]
    files.append(FakeFile(id="f-s", name="summer.md", text="the pool opens", folder="2026"))
    other = FakeFile(id="f-o", name="other.md", text="the leave of others")
    bases = [
        FakeBase(id="kb-own", name="Own", owner="sk-own", files=files),
        FakeBase(id="kb-empty", name="Empty", owner="sk-own"),
        FakeBase(id="kb-foreign", name="Foreign", owner="sk-other", files=[other]),
    ]
    return FakeOpenWebUI(bases=bases), {
        "key": "sk-own",
        "own": "kb-own",
        "empty": "kb-empty",
        "foreign": "kb-foreign",
        "file": ids["leave.md"],
        "foreign_file": other.id,
    }


async def ask(url: str, names: Names, method: str, path: str, key: str, body: Any) -> Answer:
    filled = json.loads(re.sub(r"\{(\w+)\}", lambda m: names[m[1]], json.dumps([path, key, body])))
    path, key, body = filled
    async with (
        client_session() as session,
        session.request(
            method, url + path, json=body, headers={"Authorization": f"Bearer {key}"} if key else {}
        ) as response,
    ):
        kind = response.content_type
        value = await response.json() if kind == "application/json" else None
        return Answer(status=response.status, content_type=kind, value=value)


def shape(value: Any) -> Any:
    """Its keys and types; of a list what kinds of entries it has."""
    if isinstance(value, dict):
        # of folders nothing is read but their names, which each file has
        fields = cast("dict[str, Any]", value).items()
        return {key: shape(part) for key, part in fields if key != "directories"}
    if isinstance(value, list):
        parts = [shape(part) for part in cast("list[Any]", value)]
        return sorted({json.dumps(part, sort_keys=True) for part in parts})
    return type(value).__name__


@pytest.mark.parametrize(
    ("method", "path", "key", "body"),
    [
        *(("GET", path, OWN_KEY, None) for path in GETS),
        *(("GET", "/api/v1/knowledge/", key, None) for key in OTHER_KEYS),
        *(("POST", QUERY, OWN_KEY, body) for body in BODIES),
        *(("POST", QUERY, key, BODIES[0]) for key in OTHER_KEYS),
        ("DELETE", QUERY, OWN_KEY, None),
        ("POST", "/api/v1/nothing", OWN_KEY, {}),
    ],
)
async def test_the_stand_in_answers_as_open_webui(
    open_webui: RealOpenWebUI, names: Names, method: str, path: str, key: str, body: Any
):
    real = await ask(open_webui.url, names, method, path, key, body)
    fake, own_names = stand_in()
    async with fake.serving():
        answer = await ask(fake.url, own_names, method, path, key, body)
    assert (answer.status, answer.content_type) == (real.status, real.content_type)
    assert shape(answer.value) == shape(real.value)
    for told in ("detail", "total"):
        if real.value is not None:
            assert answer.value.get(told) == real.value.get(told)
    if real.value is not None and "distances" in real.value:
        assert found(answer.value) == found(real.value)


def found(answer: Any) -> list[tuple[str, float]]:
    """Each chunk and its score; in no order, for chunks may score the same."""
    [scores], [texts] = answer["distances"], answer["documents"]
    assert scores == sorted(scores, reverse=True)
    return sorted((text, round(score, 4)) for text, score in zip(texts, scores, strict=True))
