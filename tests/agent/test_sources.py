"""Which sources an answer names, and how a child's numbers become its parent's."""

import pytest

from inglenook.agent.sources import cited_sources, renumbered
from inglenook.messages import Source
from inglenook.run_context import Sources

SHOWN = [
    Source(n=1, kind="document", title="employee-handbook.md", file_id="a", quote="x"),
    Source(n=2, kind="document", title="travel_policy.html", file_id="b", quote="y"),
    Source(n=3, kind="web", title="A", url="https://a.test/", quote="z"),
]


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("27 days [1].", [1]),
        ("27 days [1, 2].", [1, 2]),
        ("27 [2] and [1]", [1, 2]),
        ("The employee handbook gives 27.", [1]),
        ("Employee-Handbook.md says so", [1]),
        ("See travel_policy.", [2]),
        ("The employee handbook says so, and the travel policy too [2].", [2]),
        ("The employee handbook says so [9].", [1]),
        ("the employee handbooks", []),
        ("[7] [x] [] [1234]", []),
        ("A cat.", [3]),
        ("nothing", []),
    ],
)
def test_named_sources_are_cited_and_come_first(answer: str, cited: list[int]):
    sources = cited_sources(answer, SHOWN + SHOWN)
    assert [s.n for s in sources if s.cited] == cited
    assert sorted(s.n for s in sources) == [1, 2, 3], "each once"
    assert [s.cited for s in sources] == sorted((s.cited for s in sources), reverse=True)


def test_a_childs_markers_become_the_parents():
    register = Sources([Source(n=1, kind="web", title="P", url="https://p.test/")])
    child = cited_sources("One [1], two [2], both [1,2], none [9].", SHOWN[:2])
    text, sources = renumbered("One [1], two [2], both [1,2], none [9].", child, register)
    assert text == "One [2], two [3], both [2, 3], none ."
    assert [s.n for s in sources] == [2, 3]
