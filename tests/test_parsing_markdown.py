"""Headings, anchors and links: Q13, Q14."""

from __future__ import annotations

import pytest

from memidx.parsing.markdown import read_outline
from memidx.parsing.page import parse_page


def headings(body: str) -> list[tuple[int, str, str, int]]:
    return [tuple(mark.heading) for mark in read_outline(body, 1).marks]


def links(body: str) -> list[tuple[str, str, str, str, int, int]]:
    return [tuple(link) for link in read_outline(body, 1).links]


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```\n",
        "~~~ sh\n# no\n~~~\n",
        "````\n```\n# no\n````\n",
        "para\n\n    # no\n",
        "<!--\n# no\n-->\n",
        "<!-- # no -->\n",
        "> # no\n",
        "#no\n",
        "\\# no\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n---\n",
        "$$\nx\n=\ny\n$$\n",
        "$$\nx\n=\ny\n=\nz\n\n-\n$$\n",
        "- a\n---\n",
    ],
)
def test_q14_what_only_looks_like_a_heading_is_none(text):
    assert headings(text) == []
    assert [h[1] for h in headings(text + "\n# yes\n")] == ["yes"]


def test_q14_setext_and_atx_headings_count_with_their_lines():
    assert headings("Top\n===\n\nTwo\nlines\n---\n\n### `code` *em* [l](x.md) ###\n- # item\n") == [
        (1, "Top", "top", 1),
        (2, "Two lines", "two-lines", 4),
        (3, "code em l", "code-em-l", 8),
        (1, "item", "item", 9),
    ]


def test_a_sum_of_money_in_a_heading_is_no_formula():
    assert [h[1] for h in headings("# a $$ b\n\nc\n===\n")] == ["a $$ b", "c"]
    assert [h[1] for h in headings("$$ never closed\n===\n\nd\n---\n")] == ["$$ never closed", "d"]


def test_q14_equal_headings_get_distinct_anchors():
    text = "# A\n# A\n# A-1\n# A\n# ?\n# !\n"
    assert [h[2] for h in headings(text)] == ["a", "a-1", "a-1-1", "a-2", "section", "section-1"]


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("Hello, World! It's 100%", "hello-world-its-100"),
        ("snake_case & kebab-case", "snake_case--kebab-case"),
        ("Größe 概要 ภาษาไทย", "größe-概要-ภาษาไทย"),
        ("हिन्दी", "हिन्दी"),
        ("cafe\u0301", "caf\u00e9"),
        ("Emoji 🎉 here", "emoji--here"),
    ],
)
def test_anchors_are_made_as_github_makes_them(text, anchor):
    assert headings(f"# {text}\n")[0][2] == anchor


def test_wiki_links_in_all_their_forms():
    assert links("é [[p]] [[p#h|lab el]]\n[[#here]] ![[pic]] [[a b]]\n") == [
        ("wiki", "p", "", "", 1, 3),
        ("wiki", "p", "h", "lab el", 1, 9),
        ("wiki", "", "here", "", 2, 1),
        ("wiki", "pic", "", "", 2, 11),
        ("wiki", "a b", "", "", 2, 20),
    ]


def test_a_wiki_link_in_a_table_has_its_bar_escaped():
    assert links("| a | b |\n|---|---|\n| [[p\\|q]] | [[r]] |\n") == [
        ("wiki", "p", "", "q", 3, 3),
        ("wiki", "r", "", "", 3, 14),
    ]


def test_relative_links_are_decoded_and_placed():
    text = "x [a *b*](sub/c%20d.md#e%21f) [g](<h i.md>)\n[j][k] [![alt](z.png)](l.md?plain=1) [m](#n)\n\n[k]: ../o.md\n"
    assert links(text) == [
        ("relative", "sub/c d.md", "e!f", "a b", 1, 3),
        ("relative", "h i.md", "", "g", 1, 31),
        ("relative", "../o.md", "", "j", 2, 1),
        ("relative", "l.md", "", "alt", 2, 8),
        ("relative", "", "n", "m", 2, 38),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "`[[p]]`",
        "```\n[[p]] [a](b.md)\n```",
        "    [[p]]",
        "<!-- [[p]] -->",
        "![alt](pic.png)",
        "[a](https://x.org/b.md)",
        "[a](mailto:x@y.org)",
        "[a](//host/b.md)",
        "[a](/etc/passwd)",
        "[a](C:\\x.md)",
        "[[https://x.org]]",
        "<https://x.org>",
        "\\[[p]]",
        "text[^1]\n\n[^1]: a note",
        "[a]()",
    ],
)
def test_code_images_urls_and_absolute_paths_are_no_links(text):
    assert links(text + "\n") == []


def test_a_path_from_the_root_counts_when_it_names_a_page():
    assert links("[a](/docs/b.md#c)\n") == [("relative", "/docs/b.md", "c", "a", 1, 1)]


def test_a_link_in_the_second_line_of_a_heading_does_not_move_its_line():
    assert headings("x\n\na\n[[b]]\n===\n") == [(1, "a b", "a-b", 3)]


def test_a_link_in_a_heading_is_both():
    page = parse_page("a.md", b"# See [[p|the page]]\n")
    assert page.title == "See the page"
    assert page.links[0].label == "the page"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_q13_lines_are_absolute_in_the_file(end, bom):
    text = "---\ntitle: T\n---\n\nintro\n\n# Head\n\n[[link]]\n\n## Sub\nend\n".replace("\n", end)
    page = parse_page("a.md", (bom + text).encode())
    assert [(s.heading, s.line, s.end_line) for s in page.sections] == [
        ((), 5, 5),
        (("Head",), 7, 9),
        (("Head", "Sub"), 11, 12),
    ]
    assert (page.links[0].line, page.links[0].col) == (9, 1)
    assert page.body_line == 4


class Panicking:
    """Stands in for the Rust parser at the moment it panics: pyo3 raises a class of this name, not an Exception."""

    def events_with_range(self, text: str, *, merge_text: bool) -> None:
        raise type("PanicException", (BaseException,), {})


def test_a_panic_of_the_parser_costs_the_structure_not_the_page(monkeypatch):
    monkeypatch.setattr("memidx.parsing.markdown._MARKDOWN", Panicking())
    page = parse_page("a.md", b"---\nid: 7\n---\n# Head\n\ntext\n")
    assert page.degraded
    assert page.meta.id == "7"
    assert [s.text for s in page.sections] == ["# Head\n\ntext"]
    assert [n.code for n in page.diagnostics] == ["markdown-unread"]
