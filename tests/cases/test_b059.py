"""B059: a page is read in the charset that it declares for itself."""

from pathlib import Path

import pytest

from tests.web.site import Served, site, visit, visiting
from tests.web.test_charset import PAGES, html


@pytest.mark.parametrize("head", ['<meta charset="{}">', "<!-- {0} --><meta charset={0} name=x>"])
@pytest.mark.parametrize(
    ("label", "text", "charset"),
    [each for each in PAGES if each[0] in ("Shift_JIS", "gbk", "koi8-r")],
)
async def test_the_meta_in_the_first_kilobyte_counts(
    tmp_path: Path, label: str, text: str, charset: str, head: str
) -> None:
    body = html(text, head.format(label)).encode(charset)
    async with site({"/": Served(body=body, content_type="text/html")}) as served:
        visited = await visit(tmp_path, served, visiting(served.url()))
    (result,) = visited.visits
    assert text in result.result
    assert "\ufffd" not in result.result
