"""Each kind of document gives its text, headings included, and nothing that nobody sees."""

from collections.abc import AsyncGenerator

import pytest

from inglenook.knowledge.extract import Extracted, Extractor, UnreadableDocument
from tests.knowledge.fakes import docx, paragraph, pdf, relationships, zipped


@pytest.fixture
async def extractor() -> AsyncGenerator[Extractor]:
    extractor = Extractor(workers=1)
    yield extractor
    await extractor.close()


def headings(document: Extracted) -> list[str]:
    return [chunk.heading for chunk in document.chunks]


async def test_plain_text_is_decoded(extractor: Extractor):
    document = await extractor.extract("a.txt", "Dreißig Tage Urlaub für alle.".encode("cp1252"))
    assert document.text == "Dreißig Tage Urlaub für alle."
    assert headings(document) == [""]


async def test_markdown_keeps_its_headings(extractor: Extractor):
    document = await extractor.extract("a.MD", b"# Handbook\n\n## Leave\n\nThirty days.")
    assert document.text == "# Handbook\n\n## Leave\n\nThirty days."
    assert headings(document) == ["Handbook › Leave"]


async def test_html_gives_main_text_with_headings_and_tables(extractor: Extractor):
    page = """<html><head><title>Handbook</title><style>p{color:red}</style></head><body>
      <nav>Home | About</nav><script>alert(1)</script><noscript>Turn it on</noscript>
      <h2>Leave</h2><p>Thirty&nbsp;days, <a href="http://x/">see here</a>.</p>
      <ul><li>one<li>two</ul>
      <table><tr><th>Name<th>Days<tr><td colspan=2>all <b>30</b></table>
      <p hidden>secret 1</p><p style="display: none">secret 2</p>
      <div style="FONT-SIZE:0;color:red">secret 3</div><p style="opacity:0.9">shown</p>
      <!-- secret 4 --><template>secret 5</template></body></html>"""
    document = await extractor.extract("a.html", page.encode())
    assert document.text == (
        "# Handbook\n\n## Leave\n\nThirty days, see here.\n\n- one\n- two\n\n"
        "Name | Days\nall 30\n\nshown"
    )
    assert headings(document) == ["Handbook › Leave"]


async def test_html_declares_its_charset(extractor: Extractor):
    page = b"<meta charset=gbk><p>" + "软件包".encode("gbk")
    assert (await extractor.extract("a.htm", page)).text == "软件包"


async def test_pdf_gives_its_pages(extractor: Extractor):
    document = await extractor.extract("a.pdf", pdf("Thirty days of leave.", "And pay."))
    assert document.text.split("\n\n") == [
        *("## Page 1", "Thirty days of leave.", "## Page 2", "And pay."),
        "",
    ]


async def test_word_gives_headings_lists_and_tables(extractor: Extractor):
    body = (
        paragraph("Handbuch", "Titel")
        + paragraph("Urlaub", "berschrift1")
        + "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>Dreißig</w:t><w:tab/><w:t>Tage</w:t></w:r></w:p>"
        + "<w:tbl><w:tr><w:tc>"
        + paragraph("Name")
        + "</w:tc><w:tc>"
        + paragraph("Tage")
        + paragraph("im Jahr")
        + "</w:tc></w:tr></w:tbl>"
        + "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        + "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
        + "<w:ins><w:r><w:t>added</w:t></w:r></w:ins></w:p>"
        + "<w:sdt><w:sdtContent>"
        + paragraph("in a control")
        + "</w:sdtContent></w:sdt>"
    )
    styles = (
        '<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>'
        '<w:style w:styleId="berschrift1"><w:basedOn w:val="H"/></w:style>'
        '<w:style w:styleId="H"><w:name w:val="heading 1"/></w:style>'
    )
    document = await extractor.extract("a.docx", docx(body, styles=styles))
    assert document.text.strip().split("\n\n") == [
        "# Handbuch",
        "# Urlaub",
        "- Dreißig\tTage",
        "Name | Tage im Jahr",
        "added",
        "in a control",
    ]
    assert headings(document) == ["Handbuch › Urlaub"]


async def test_word_gives_footnotes(extractor: Extractor):
    notes = f"<w:footnote>{paragraph('a note')}</w:footnote>"
    document = await extractor.extract("a.docx", docx(paragraph("text"), footnotes=notes))
    assert document.text.strip().split("\n\n") == ["text", "a note"]


_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def _shape(text: str, kind: str = "") -> str:
    holder = f'<p:ph type="{kind}"/>' if kind else ""
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return (
        f"<p:sp><p:nvSpPr><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:txBody>{lines}</p:txBody></p:sp>"
    )


def _slide(shapes: str, tag: str = "sld") -> str:
    return f'<p:{tag} xmlns:p="{_P}" xmlns:a="{_A}"><p:cSld>{shapes}</p:cSld></p:{tag}>'


async def test_slides_come_in_order_with_titles_tables_and_notes(extractor: Extractor):
    cells = "".join(f"<a:tc><a:p><a:r><a:t>{t}</a:t></a:r></a:p></a:tc>" for t in ("a", "b"))
    data = zipped(
        {
            "ppt/presentation.xml": f'<p:presentation xmlns:p="{_P}" xmlns:r="{_R}"><p:sldIdLst>'
            '<p:sldId r:id="r2"/><p:sldId r:id="r1"/></p:sldIdLst></p:presentation>',
            "ppt/_rels/presentation.xml.rels": relationships(
                ("r1", "slide", "slides/slide1.xml"), ("r2", "slide", "/ppt/slides/slide2.xml")
            ),
            "ppt/slides/slide1.xml": _slide(
                f"<a:tbl><a:tr>{cells}</a:tr></a:tbl>" + _shape("Last", "title")
            ),
            "ppt/slides/slide2.xml": _slide(_shape("Leave", "ctrTitle") + _shape("30\ndays")),
            "ppt/slides/_rels/slide2.xml.rels": relationships(
                ("n", "notesSlide", "../notesSlides/n.xml")
            ),
            "ppt/notesSlides/n.xml": _slide(_shape("say it slowly", "body"), "notes"),
        }
    )
    document = await extractor.extract("a.pptx", data)
    assert document.text.strip().split("\n\n") == [
        *("## Slide 1: Leave", "30\ndays", "Notes: say it slowly"),
        *("## Slide 2: Last", "a | b"),
    ]


async def test_sheets_give_rows_dates_and_shared_strings(extractor: Extractor):
    rows = (
        '<row><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
        '<row><c r="B2" s="1"><v>45961</v></c><c r="C2" t="b"><v>1</v></c></row>'
        '<row><c r="A3" s="2"><v>45961.75</v></c>'
        '<c r="D3" t="inlineStr"><is><t>x</t></is></c></row>'
        '<row><c r="A4"><f>1+1</f><v>2</v></c></row>'
    )
    data = zipped(
        {
            "xl/workbook.xml": f'<workbook xmlns="{_S}" xmlns:r="{_R}"><sheets>'
            '<sheet name="Days" r:id="r1"/><sheet name="No" state="hidden" r:id="r2"/>'
            "</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relationships(
                *(("r1", "worksheet", "worksheets/a.xml"), ("r2", "worksheet", "worksheets/b.xml")),
                *(("s", "sharedStrings", "sharedStrings.xml"), ("t", "styles", "styles.xml")),
            ),
            "xl/sharedStrings.xml": f'<sst xmlns="{_S}"><si><t>Na</t><rPh><t>kana</t></rPh></si>'
            "<si><r><t>From</t></r><r><t> day</t></r></si></sst>",
            "xl/styles.xml": f'<styleSheet xmlns="{_S}"><numFmts><numFmt numFmtId="170" '
            'formatCode="[Red]yyyy\\-mm &quot;d&quot;"/></numFmts><cellXfs><xf numFmtId="0"/>'
            '<xf numFmtId="14"/><xf numFmtId="170"/></cellXfs></styleSheet>',
            "xl/worksheets/a.xml": f'<worksheet xmlns="{_S}"><sheetData>{rows}</sheetData>'
            "</worksheet>",
            "xl/worksheets/b.xml": f'<worksheet xmlns="{_S}"><sheetData><row><c><v>secret</v></c>'
            "</row></sheetData></worksheet>",
        }
    )
    document = await extractor.extract("a.xlsx", data)
    assert document.text.strip() == (
        "## Days\n\nNa | From day\n | 2025-10-31 | TRUE\n2025-10-31 18:00:00 |  |  | x\n2"
    )
    assert headings(document) == ["Days: Na | From day"]


async def test_a_table_of_text_has_its_first_row_as_heading(extractor: Extractor):
    table = "name;days\n" + "\n".join(f"person {n};{n}" for n in range(300))
    document = await extractor.extract("a.csv", table.encode())
    assert document.text == table
    assert len(document.chunks) > 2
    assert set(headings(document)) == {"name;days"}


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.exe", b"MZ", "not a kind that is read here (txt, md, html, pdf, docx"),
        ("noname", b"x", "not a kind"),
        ("a.txt", b"", "empty"),
        ("a.txt", b"  \n ", "no text in it"),
        ("a.txt", bytes(range(256)) * 4, "binary data"),
        ("a.pdf", b"hello", "not a readable PDF"),
        ("a.pdf", b"%PDF-1.4 and then nonsense", "not a readable PDF (damaged"),
        ("a.pdf", pdf(""), "no text in it (a scan needs text recognition first)"),
        ("a.docx", b"PK\x03\x04 nonsense", "not a readable Word document"),
        ("a.docx", zipped({"x": "y"}), "not a readable Word document (a part is missing)"),
        ("a.docx", docx("<w:p>"), "not a readable Word document"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "password protected"),
        ("a.pptx", docx(paragraph("x")), "not a readable PowerPoint presentation"),
        ("a.html", b"<script>x</script>", "no text in it"),
    ],
)
async def test_what_cannot_be_read_is_said_for_people(
    extractor: Extractor, name: str, data: bytes, reason: str
):
    with pytest.raises(UnreadableDocument) as caught:
        await extractor.extract(name, data)
    assert str(caught.value).startswith(f"{name}: ")
    assert reason in str(caught.value)
    assert caught.value.status == 422
