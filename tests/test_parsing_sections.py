"""How a body becomes sections."""

from __future__ import annotations

import pytest

from memidx.ground.page import PageRules
from memidx.parsing.page import parse_page
from memidx.parsing.sections import cut


def sections(text: str, max_chars: int = 1500) -> list[tuple[tuple[str, ...], str, str, int, int]]:
    return [tuple(s) for s in parse_page("a.md", text.encode(), PageRules(max_chars=max_chars)).sections]


def test_the_title_is_not_repeated_in_heading_paths():
    assert sections("# T\n\nintro\n\n## A\n\na\n\n### B\n\nb\n\n## C\n\nc\n") == [
        ((), "t", "intro", 1, 3),
        (("A",), "a", "a", 5, 7),
        (("A", "B"), "b", "b", 9, 11),
        (("C",), "c", "c", 13, 15),
    ]


def test_a_top_heading_that_is_not_the_title_stays_in_the_path():
    text = "---\ntitle: Other\n---\n# T\n\n## A\n\na\n"
    assert sections(text) == [(("T", "A"), "a", "a", 6, 8)]


def test_a_heading_without_text_is_carried_by_its_children():
    assert [s[0] for s in sections("# T\n\n## A\n\n### B\n\nb\n\n## C\n")] == [("A", "B"), ("C",)]
    assert sections("# T\n\n## A\n\n## B\n\nb\n")[0] == (("A",), "a", "", 3, 3)


def test_all_headings_are_kept_also_those_without_a_section():
    page = parse_page("a.md", b"# T\n\n## A\n\n### B\n\nb\n")
    assert [(h.level, h.text, h.anchor, h.line) for h in page.headings] == [
        (1, "T", "t", 1),
        (2, "A", "a", 3),
        (3, "B", "b", 5),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [("", 1), ("\n\n", 1), ("---\ntitle: x\n---\n", 3), ("---\na: b\n---\n\n", 4), ("# T\n", 1), (" \t\n", 1)],
)
def test_a_page_without_text_still_has_one_section(text, line):
    [section] = sections(text)
    assert section[0] == ()
    assert section[2] == ""
    assert (section[3], section[4]) == (line, line)


def test_headings_of_skipped_levels_nest_by_order():
    assert [s[0] for s in sections("x\n\n### C\n\nc\n\n## B\n\nb\n\n#### D\n\nd\n")] == [(), ("C",), ("B",), ("B", "D")]


def test_comments_stay_in_the_text_and_the_source_stays_as_written():
    body = "<!-- hidden words -->\n\n- a\n    - **b** [[c]]\n\n```sh\n# x\n```"
    assert sections(f"# T\n{body}\n") == [((), "t", body, 1, 9)]


def test_long_sections_are_cut_at_paragraph_borders():
    text = "## A\n\n" + "\n\n".join(f"paragraph {i} " + "x" * 30 for i in range(4)) + "\n"
    assert [(s[0], s[3], s[4], s[2][:11]) for s in sections(text, 100)] == [
        ((), 1, 5, "paragraph 0"),
        ((), 7, 9, "paragraph 2"),
    ]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("aaaa\nbbbb\ncccc", ["aaaa\nbbbb", "cccc"]),
        ("Aaa. Bb cc dd", ["Aaa.", "Bb cc dd"]),
        ("aaaa bbbb cccc", ["aaaa bbbb", "cccc"]),
        ("漢字漢字。漢字漢字漢字", ["漢字漢字。", "漢字漢字漢字"]),
        ("x" * 25, ["x" * 10, "x" * 10, "x" * 5]),
        ("\n" * 50 + "a" + "\n" * 50, ["a"]),
        (" " * 50 + "a", ["a"]),
    ],
)
def test_a_giant_paragraph_is_cut_at_lines_then_sentences_then_words_then_anywhere(text, pieces):
    assert [piece.text.strip() for piece in cut(text, 1, 10)] == pieces


def test_cutting_ends_for_any_limit():
    assert [p.text for p in cut("ab\ncd", 7, 0)] == ["a", "b", "c", "d"]
    assert [(p.line, p.end_line) for p in cut("ab\ncd", 7, 0)] == [(7, 7), (7, 7), (8, 8), (8, 8)]


def test_a_toml_block_at_the_top_is_body_text():
    page = parse_page("a.md", b'```toml\n[advisory]\nid = "X-1"\n```\n\n# Bad thing\n\ntext\n')
    assert page.title == "Bad thing"
    assert [(s.heading, s.line) for s in page.sections] == [((), 1), ((), 6)]
    assert page.diagnostics == ()
