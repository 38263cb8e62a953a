"""B4: web tools of our own, without a search library; services are asked under an honest name."""

from tests.web.kinds import Kind, every_kind
from tests.web.searching import ask


@every_kind
async def test_search_engines_are_asked_under_our_own_name(kind: Kind) -> None:
    async with kind.serve([("A", "https://a.test/", "")]) as server:
        assert (await ask(kind.engine(server.url))).outcome == "ok"
    name = server.asked[0].headers["user-agent"]
    assert name.startswith("Inglenook/")
    assert "Mozilla" not in name
