"""Pages in any charset read right, whichever way they declare it, and none makes a crash."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inglenook.web.charset import decode_page

JAPANESE = "日本語のページです。文字化けしてはいけません。これは長い文章の試験です。"
CHINESE = "软件包管理器是一个用于安装和更新软件的工具，它在系统中非常重要。"
TAIWANESE = "這是一個繁體中文網頁的測試，裡面的文字應該正確顯示出來，沒有亂碼。"
KOREAN = "한국어 페이지의 글자가 올바르게 보여야 합니다. 똠방각하도 마찬가지입니다."
RUSSIAN = "Русский текст на странице, который должен читаться правильно."
POLISH = "Zażółć gęślą jaźń, mówi wieść o źdźble i świerszczu."
GREEK = "Ελληνικό κείμενο που πρέπει να διαβάζεται σωστά στη σελίδα."

PAGES = [  # label on the page, its text, Python's name of the charset
    ("utf-8", JAPANESE, "utf-8"),
    ("Shift_JIS", JAPANESE, "cp932"),
    ("x-sjis", JAPANESE + "①", "cp932"),
    ("euc-jp", JAPANESE, "euc-jp"),
    ("iso-2022-jp", JAPANESE, "iso2022_jp"),
    ("gb2312", CHINESE + "镕", "gbk"),
    ("gbk", CHINESE, "gbk"),
    ("gb18030", CHINESE, "gb18030"),
    ("big5", TAIWANESE, "big5"),
    ("euc-kr", KOREAN, "cp949"),
    ("ks_c_5601-1987", KOREAN, "cp949"),
    ("windows-1251", RUSSIAN, "cp1251"),
    ("koi8-r", RUSSIAN, "koi8-r"),
    ("iso-8859-5", RUSSIAN, "iso8859-5"),
    ("ibm866", RUSSIAN, "cp866"),
    ("latin1", "Größe: 5 € – “naïve” façade", "cp1252"),
    ("iso-8859-2", POLISH, "iso8859-2"),
    ("windows-1250", POLISH, "cp1250"),
    ("iso-8859-7", GREEK, "iso8859-7"),
    ("windows-1254", "Türkçe metin: ığüşöç İĞÜŞÖÇ", "cp1254"),
    ("windows-1255", "טקסט בעברית שצריך להיקרא נכון בדף", "cp1255"),
    ("windows-1256", "نص عربي يجب أن يقرأ بشكل صحيح في الصفحة", "cp1256"),
    ("tis-620", "ข้อความภาษาไทยที่ต้องอ่านได้ถูกต้อง", "cp874"),
    ("macintosh", "Größe und Maß", "mac-roman"),
]
WAYS = {
    "meta": '<meta charset="{}">',
    "bare": "<META CharSet={}>",
    "http-equiv": '<meta http-equiv="Content-Type" content="text/html; charset={}">',
    "late": "<script>" + "x" * 3_000 + "</script><meta charset='{}'>",
    "after-a-comment": "<!-- <meta charset=utf-8> --><meta charset={}>",
}


def html(text: str, head: str = "") -> str:
    return f"<!doctype html><html><head>{head}<title>t</title></head><body><p>{text}</p></body>"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("label", "text", "charset"), PAGES)
def test_a_page_says_its_charset_itself(label: str, text: str, charset: str, way: str):
    data = html(text, WAYS[way].format(label)).encode(charset)
    assert f"<p>{text}</p>" in decode_page(data, "text/html")


@pytest.mark.parametrize(("label", "text", "charset"), PAGES)
def test_a_header_says_it(label: str, text: str, charset: str):
    data = html(text).encode(charset)
    assert f"<p>{text}</p>" in decode_page(data, f'text/html; Charset="{label}"')


@pytest.mark.parametrize(("label", "text", "charset"), PAGES)
def test_an_unknown_label_falls_on_to_the_next(label: str, text: str, charset: str):
    data = html(text, f"<meta charset={label}>").encode(charset)
    assert f"<p>{text}</p>" in decode_page(data, "text/html; charset=no-such-thing")


@pytest.mark.parametrize(("label", "text", "charset"), PAGES)
def test_a_header_of_utf8_that_is_not_true_is_not_believed(label: str, text: str, charset: str):
    data = html(text, f"<meta charset={label}>").encode(charset)
    assert f"<p>{text}</p>" in decode_page(data, "text/html; charset=utf-8")


def test_of_two_charsets_that_read_the_bytes_letters_decide():
    data = html(RUSSIAN, "<meta charset=koi8-r>").encode("koi8-r")
    assert RUSSIAN in decode_page(data, "text/html; charset=iso-8859-1")
    data = html(RUSSIAN, "<meta charset=koi8-r>").encode("cp1251")
    assert RUSSIAN in decode_page(data, "text/html; charset=windows-1251")


def test_with_too_few_letters_the_header_decides():
    data = html("é", "<meta charset=windows-1251>").encode("latin-1")
    assert "<p>é</p>" in decode_page(data, "text/html; charset=iso-8859-1")


def test_bytes_that_are_utf8_are_utf8_whatever_is_declared():
    data = html(RUSSIAN, "<meta charset=windows-1251>").encode()
    assert RUSSIAN in decode_page(data, "text/html; charset=iso-8859-1")


@pytest.mark.parametrize("charset", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_outdoes_every_declaration(charset: str):
    data = html(GREEK, "<meta charset=koi8-r>").encode(charset)
    text = decode_page(data, "text/html; charset=big5")
    assert text.startswith("<!doctype")
    assert GREEK in text


def test_utf16_without_a_mark_is_declared_by_the_header():
    assert GREEK in decode_page(html(GREEK).encode("utf-16-le"), "text/html; charset=utf-16le")


def test_a_page_that_calls_itself_utf16_in_ascii_is_utf8():
    data = html("plain", "<meta charset=utf-16>").encode() + b"\xff"
    assert "<p>plain</p>" in decode_page(data)


def test_an_xml_declaration_counts():
    data = f'<?xml version="1.0" encoding="windows-1251"?><html><p>{RUSSIAN}</p>'.encode("cp1251")
    assert RUSSIAN in decode_page(data, "application/xhtml+xml")


def test_without_any_declaration_letters_decide():
    assert RUSSIAN in decode_page(html(RUSSIAN * 3).encode("cp1251"))
    assert JAPANESE in decode_page(html(JAPANESE * 3).encode("euc-jp"))


def test_one_broken_byte_is_replaced_and_the_rest_is_read():
    data = html(JAPANESE, "<meta charset=utf-8>").encode().replace(b"<p>", b"<p>\xff")
    assert f"<p>\ufffd{JAPANESE}</p>" in decode_page(data)


def test_a_description_that_speaks_of_charsets_declares_none():
    head = "<meta name=description content='charset=koi8-r'><meta charset=windows-1251>"
    assert RUSSIAN in decode_page(html(RUSSIAN, head).encode("cp1251"))


@given(st.binary(max_size=300), st.text(max_size=30), st.text(max_size=30))
def test_no_bytes_and_no_label_make_a_crash(data: bytes, header: str, label: str):
    meta = f"<meta charset='{label}'>".encode("utf-8", "replace")
    assert isinstance(decode_page(meta + data, f"text/html; charset={header}"), str)
