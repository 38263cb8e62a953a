"""The list of what a real Open WebUI is installed from fits the script that installs it."""

import re

from scripts.open_webui import LEFT_OUT, REQUIREMENTS, VERSION, WordVectors
from tests.fake_open_webui import similarity


def test_the_list_is_of_this_version_without_what_is_left_out():
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    pinned = dict(re.findall(r"^([a-z0-9-]+)==([^\s;]+)", "\n".join(lines), re.MULTILINE))
    assert pinned["open-webui"] == VERSION
    assert pinned.keys().isdisjoint(LEFT_OUT)
    assert len(pinned) > 150, "all that it needs is in the list, for nothing else is installed"
    assert not any("://" in line for line in lines), "and no package index is named"


def test_texts_are_near_each_other_that_share_words():
    leave = "Thirty days of leave"
    near, far = similarity("days of leave", leave), similarity("monthly pay", leave)
    assert 0.9 < near < 1.0
    assert far < 0.6
    assert similarity(leave, leave.upper()) > 0.999


def test_several_texts_are_answered_in_their_order():
    vectors = WordVectors()
    answer = vectors.answer(["pay", "leave"])
    assert [item["embedding"] for item in answer["data"]] == [
        vectors.vector("pay"),
        vectors.vector("leave"),
    ]
