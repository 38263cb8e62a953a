"""A name finds its document exactly, or clearly, or not at all; never one out of scope."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inglenook.errors import ToolError
from inglenook.knowledge.base import Document
from inglenook.tools.document_names import find_document
from tests.knowledge.fakes import document

SCOPE = [
    document("Employee_Handbook.pdf", "f-1"),
    document("guide/install.md", "f-2"),
    document("report-2023.xlsx", "f-3"),
    document("Übersicht.txt", "f-4"),
]


@pytest.mark.parametrize(
    ("name", "file_id"),
    [
        ("Employee_Handbook.pdf", "f-1"),
        ("employee handbook", "f-1"),
        ("EMPLOYEE_HANDBOOK.PDF", "f-1"),
        ("handbook", "f-1"),
        ("employe handbok.pdf", "f-1"),
        ("f-1", "f-1"),
        (" f-3 ", "f-3"),
        ("guide/install.md", "f-2"),
        ("Guide/Install.md", "f-2"),
        ("install.md", "f-2"),
        ("install.html", "f-2"),
        ("report 2023", "f-3"),
        ("ubersicht", "f-4"),
        ("u\u0308bersicht.txt", "f-4"),
    ],
)
def test_a_name_finds_its_document(name: str, file_id: str):
    assert find_document(name, SCOPE).id == file_id


@pytest.mark.parametrize(
    "name",
    [
        "salaries.xlsx",
        "sаlaries.xlsx",
        "ｓａｌａｒｉｅｓ.xlsx",
        "salaries.xlsx\0",
        "report-2023.xlsx\0.txt",
        "../report-2023.xlsx",
        "..\\report-2023.xlsx",
        "/etc/passwd",
        "other-base/install.md",
        "report-2024.xlsx",
        "report 20",
        "f-9",
        "*",
        "%",
        "a",
        "",
        " ",
    ],
)
def test_what_is_not_in_scope_is_an_error_with_names_that_are(name: str):
    with pytest.raises(ToolError) as caught:
        find_document(name, SCOPE)
    text = str(caught.value)
    assert "no document" in text
    for each in SCOPE:
        assert each.name in text


@given(st.text(max_size=40))
def test_any_name_gives_a_document_in_scope_or_an_error(name: str):
    try:
        found = find_document(name, SCOPE)
    except ToolError:
        return
    assert found in SCOPE


def test_two_of_one_name_are_listed_with_base_and_id():
    twins = [document("report.md", "f-1", "Sales"), document("report.md", "f-2", "Legal")]
    for name in ("report.md", "Report", "reprt.md"):
        with pytest.raises(ToolError) as caught:
            find_document(name, twins)
        assert "'Sales' (sales): file id f-1" in str(caught.value)
        assert "'Legal' (legal): file id f-2" in str(caught.value)
    assert find_document("f-2", twins) is twins[1]


def test_two_of_one_name_in_two_folders_are_told_apart_by_path():
    twins = [document("a/report.md", "f-1"), document("b/report.md", "f-2")]
    assert find_document("b/report.md", twins).id == "f-2"
    with pytest.raises(ToolError, match="may mean 2 documents"):
        find_document("report.md", twins)


def test_two_nearly_alike_are_not_guessed_between():
    twins = [document("handbook-a.md", "f-1"), document("handbook-b.md", "f-2")]
    with pytest.raises(ToolError, match="may mean 2 documents"):
        find_document("handbook-c.md", twins)


def test_long_lists_are_bounded():
    many: list[Document] = [document(f"report part {chr(97 + n)}.md") for n in range(26)]
    with pytest.raises(ToolError, match=r"\(and 16 more\)"):
        find_document("report", many)
    with pytest.raises(ToolError) as caught:
        find_document("zzz", many)
    assert len(str(caught.value).splitlines()) == 11


def test_an_empty_scope_is_said():
    with pytest.raises(ToolError, match="hold no documents"):
        find_document("a.md", [])
