"""B067: a void tag in the body hides nothing, and hidden tags in each other leak nothing."""

from pathlib import Path

import pytest

from tests.web.site import site, visit, visiting


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<p>before</p><meta itemprop=x><p>after</p>", "before after"),
        ("<p>before</p><link rel=stylesheet href=x><p>after</p>", "before after"),
        ("<p>before</p><base href=/><source><track><wbr><p>after</p>", "before after"),
        ("<noscript><style>x</style>HIDDEN</noscript>ok", "ok"),
        ("<body><noscript><style>x</style>HIDDEN</noscript>ok", "ok"),
        (
            "<noscript><noscript>HIDDEN</noscript>HIDDEN</noscript>ok".replace("</noscript>H", "H"),
            "ok",
        ),
        ("<template><template>HIDDEN</template>HIDDEN</template>ok", "ok"),
        ("<div hidden><script>x</script><div>HIDDEN</div>HIDDEN</div>ok", "ok"),
        ("<div style='display:none'><style>x</style><meta>HIDDEN</div>ok", "ok"),
        ("<script>document.write('<p>HIDDEN</p>')</script>ok", "ok"),
    ],
)
async def test_just_what_is_seen_is_read(tmp_path: Path, html: str, shown: str) -> None:
    async with site({"/": html}) as served:
        visited = await visit(tmp_path, served, visiting(served.url()))
    (result,) = visited.visits
    text = result.result.split("\n\n", 1)[1].rpartition("\n\n[")[0]
    assert text.split() == shown.split()
