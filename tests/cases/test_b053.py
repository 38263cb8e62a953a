"""B053: markup inside a title or snippet adds and takes no space, and http stays http."""

import pytest

from tests.web.kinds import Kind, every_kind
from tests.web.searching import ask


@every_kind
@pytest.mark.parametrize("tag", ["b", "strong"])
async def test_text_reads_as_on_the_page(kind: Kind, tag: str) -> None:
    row = (
        f"The <{tag}>Python</{tag}> 3 &amp; 4 guide",
        "http://insecure.test/a?b=1&c=%2520",
        f"Learn <{tag}>Python</{tag}>fast and <{tag}>well</{tag}>.",
    )
    async with kind.serve([row]) as server:
        [result] = (await ask(kind.engine(server.url))).results
    assert result.title == "The Python 3 & 4 guide"
    assert result.snippet == "Learn Pythonfast and well."
    assert result.url == "http://insecure.test/a?b=1&c=%2520"


@every_kind
async def test_entities_are_decoded_once(kind: Kind) -> None:
    async with kind.serve(
        [("What &amp;amp; means", "https://a.test/", "&amp;lt;b&amp;gt;")]
    ) as server:
        [result] = (await ask(kind.engine(server.url))).results
    assert (result.title, result.snippet) == ("What &amp; means", "&lt;b&gt;")


@every_kind
async def test_text_about_markup_is_kept(kind: Kind) -> None:
    row = ("The &lt;strong&gt; element", "https://a.test/", "2 &lt; 3, and &lt;b&gt; is older")
    async with kind.serve([row]) as server:
        [result] = (await ask(kind.engine(server.url))).results
    assert (result.title, result.snippet) == ("The <strong> element", "2 < 3, and <b> is older")
