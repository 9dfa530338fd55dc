"""Encodings and line ends: F6, F7, F13."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memidx.parsing.page import parse_page

if TYPE_CHECKING:
    from memidx.ground.page import Page

PAGE = "---\ntitle: Tïtle\ntier: 9\ntags: [a, b]\n---\n\n# One\n\ntext [l](m.md)\n\nmore\n\n## Two\nend\n"


def shape(page: Page) -> tuple[object, ...]:
    return (
        page.title,
        page.fields,
        page.meta,
        page.sections,
        page.links,
        page.headings,
        page.body_line,
        page.diagnostics,
    )


def codes(page: Page) -> list[str]:
    return [note.code for note in page.diagnostics]


@pytest.mark.parametrize(
    "other",
    [
        PAGE.replace("\n", "\r\n"),
        PAGE.replace("\n", "\r"),
        PAGE.replace("---\n", "---\r\n").replace("tle\n", "tle\r").replace("end\n", "end\r"),
        PAGE.replace("---\n", "--- \t \n"),
    ],
    ids=["crlf", "cr", "mixed", "blanks after the fences"],
)
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_f6_f7_the_same_page_reads_the_same_with_any_line_end_and_a_bom(other, bom):
    assert shape(parse_page("a.md", (bom + other).encode())) == shape(parse_page("a.md", PAGE.encode()))


@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x1c"])
def test_only_line_feeds_and_carriage_returns_end_a_line(odd):
    page = parse_page("a.md", f"---\ntier: 9\n---\na{odd}b\n\n# Head\nz\n".encode())
    assert page.headings[0].line == 6
    assert page.sections[0].text == f"a{odd}b"


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\u2029"])
def test_characters_that_end_lines_in_yaml_do_not_shift_its_lines(odd):
    page = parse_page("a.md", f"---\na: x{odd}y # {odd} z\ntier: 9\n---\n".encode())
    assert [(f.key, f.value, f.line) for f in page.fields] == [("a", "x y", 2), ("tier", "9", 3)]
    assert [n.line for n in page.diagnostics] == [3]


def test_f13_utf16_is_decoded_and_said():
    for codec in ("utf-16-le", "utf-16-be", "utf-32-le"):
        page = parse_page("a.md", ("\ufeff" + PAGE).encode(codec))
        assert page.title == "Tïtle"
        assert not page.degraded
        assert codes(page) == ["utf-16", "bad-tier"]


def test_f13_a_latin_1_byte_is_guessed_and_flagged_with_its_place():
    page = parse_page("a.md", "# Ünder\r\n\r\nein café da\r\n".encode().replace("é".encode(), b"\xe9"))
    assert page.degraded
    assert page.title == "Ünder"
    assert page.sections[0].text == "ein café da"
    [note] = page.diagnostics
    assert (note.code, note.line, note.col, note.severity) == ("encoding", 3, 8, "warning")


def test_f13_nul_bytes_are_replaced_and_flagged():
    page = parse_page("a.md", b"---\ntitle: a\0b\n---\nx\0y\n")
    assert page.degraded
    assert page.title == "a\ufffdb"
    assert page.sections[0].text == "x\ufffdy"
    assert [(n.code, n.line, n.col) for n in page.diagnostics] == [("encoding", 2, 9)]


def test_a_name_that_is_not_utf_8_gives_a_title_that_can_be_printed():
    path = b"notes/caf\xe9.md".decode("utf-8", "surrogateescape")
    page = parse_page(path, b"text\n")
    assert page.path == path
    assert page.title.encode("utf-8").decode("utf-8") == "caf\ufffd"


def test_n2_a_name_in_nfd_is_kept_as_it_is():
    assert parse_page("cafe\u0301.md", b"").title == "cafe\u0301"
