"""Unresolved merge conflicts: F14."""

from __future__ import annotations

import pytest

from memidx.parsing.conflicts import conflict_markers
from memidx.parsing.page import parse_page

CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch\n"


def found(text: str) -> list[tuple[str, int, str]]:
    page = parse_page("a.md", text.encode())
    return [(note.code, note.line, note.severity) for note in page.diagnostics]


def test_f14_a_conflict_in_the_body_is_an_error_that_names_its_lines():
    text = f"# T\n\n{CONFLICT}"
    assert found(text) == [("conflict-marker", 3, "error")]
    [note] = parse_page("a.md", text.encode()).diagnostics
    assert "line 7" in note.message
    assert "line 5" in note.message


def test_f14_a_conflict_in_the_front_matter_is_one_finding_not_two():
    text = f"---\na: 1\n{CONFLICT.replace('ours', 'b: 1').replace('theirs', 'b: 2')}---\nbody\n"
    assert found(text) == [("conflict-marker", 3, "error")]
    assert parse_page("a.md", text.encode()).degraded


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_f14_line_ends_do_not_hide_a_conflict(end):
    assert found(f"x\n{CONFLICT}".replace("\n", end)) == [("conflict-marker", 2, "error")]


def test_f14_the_base_version_of_diff3_is_part_of_the_conflict():
    text = "<<<<<<< a\n1\n||||||| base\n0\n=======\n2\n>>>>>>> b\n"
    assert found(text * 2) == [("conflict-marker", 1, "error"), ("conflict-marker", 8, "error")]


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{CONFLICT}```\n",
        f"~~~~ diff\n~~~\n{CONFLICT}~~~~\n",
        f"- item\n\n  ```\n{CONFLICT}  ```\n",
        "A title\n=======\n\ntext\n",
        "text <<<<<<< HEAD\n=======\ntext >>>>>>> x\n",
        "<<<<<<< HEAD\nno end\n",
        ">>>>>>> quoted\n\n<<<<<<< HEAD\n=======\n",
        "<<<<<<<< eight\n=======\n>>>>>>>> eight\n",
    ],
)
def test_f14_examples_and_underlines_are_not_flagged(text):
    assert found(text) == []


def test_f14_a_conflict_after_a_closed_fence_counts():
    lines = f"```\ncode\n```\n{CONFLICT}".split("\n")
    assert [note.line for note in conflict_markers(lines)] == [4]


def test_f14_fences_inside_a_conflict_do_not_hide_its_end():
    text = "<<<<<<< a\n```\n1\n=======\n```\n2\n>>>>>>> b\n```\n"
    assert found(text) == [("conflict-marker", 1, "error")]
