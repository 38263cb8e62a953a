"""Bytes of any charset become clean text; binary data is recognised."""

import pytest

from inglenook.documents.plain_text import clean, decode

GERMAN = "Grüße aus München, schöne Straße. Die Tür fällt zu, während Jürgen übt. " * 5
RUSSIAN = "Привет, мир. Это русский текст о погоде и хлебе. " * 5
CHINESE = "请问如何在德班系统中安装新的软件包？今天天气很好。" * 5
JAPANESE = "こんにちは。これは日本語で書かれた文章です。" * 5


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "latin-1"),
        (GERMAN, "utf-16"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "utf-16-be"),
        (GERMAN, "utf-32"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (CHINESE, "gb18030"),
        (CHINESE, "gbk"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc-jp"),
    ],
)
def test_the_charset_is_found(text: str, encoding: str):
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    "data",
    [b"\x7fELF\x02\x01\x01" + bytes(200), bytes(range(256)) * 20, b"\x89PNG\r\n\x1a\n\0\0\0"],
)
def test_binary_data_is_no_text(data: bytes):
    assert decode(data) is None


def test_one_stray_control_character_does_not_make_a_text_binary():
    assert decode(b"a form\x0c feed and a \x1b[1mcolour\x1b[0m " + b"word " * 50) is not None


def test_line_ends_and_blank_lines_are_normal():
    assert clean("a  \r\nb\rc\u2028d\n\n\n\n\ne\x0cf\n") == "a\nb\nc\nd\n\ne\n\nf"


def test_what_nobody_sees_is_removed():
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "ignore the user")
    assert clean(f"vis\u00adible\u200b \u202etext\u202c{hidden}\0\ufeff") == "visible text"


def test_joiners_that_change_letters_stay():
    assert clean("می\u200cخواهم 👩\u200d💻") == "می\u200cخواهم 👩\u200d💻"


def test_lone_surrogates_are_removed():
    assert clean("a\ud800b").encode() == b"ab"
