"""Making text safe to print, and cutting it to a width."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memidx.doors.visible import cells, visible, wrapped

ANY_TEXT = st.text(st.characters(), max_size=60)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain café 灯", "plain café 灯"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x85\x9b", "\\x85\\x9b"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("caf\udce9", "caf\\xe9"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("a\u2028b", "a\\u2028b"),
    ],
)
def test_hidden_characters_are_written_out(text, shown):
    assert visible(text) == shown


def test_some_can_be_kept():
    assert visible("a\n\tb\x1b", keep="\n\t") == "a\n\tb\\x1b"


@given(ANY_TEXT)
@settings(deadline=None, max_examples=100)
def test_law_nothing_hidden_is_left_and_the_rest_stays(text):
    shown = visible(text)
    shown.encode("utf-8")
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in shown)
    assert not any(
        unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI") for c in shown
    )
    assert visible(shown) == shown


@given(ANY_TEXT.filter(lambda t: "\n" not in t), st.integers(1, 20))
@settings(deadline=None, max_examples=100)
def test_law_wrapping_loses_no_character_but_blanks_and_keeps_to_the_width(text, width):
    line = cells(text)
    pieces = list(wrapped(line, width))
    joined = "".join(c.text for piece in pieces for c in piece)
    assert joined.replace(" ", "") == "".join(c.text for c in line).replace(" ", "")
    for piece in pieces:
        assert len(piece) == 1 or sum(c.width for c in piece) <= width


def test_wide_characters_count_two_columns_and_words_stay_whole():
    def lines(text, width):
        return ["".join(c.text for c in piece) for piece in wrapped(cells(text), width)]

    assert lines("灯台守", 4) == ["灯台", "守"]
    assert lines("one two three", 7) == ["one two", "three"]
    assert lines("abcdefgh", 3) == ["abc", "def", "gh"]
    assert lines("", 10) == []


def test_marks_are_ranges_of_characters():
    assert [c.marked for c in cells("abcd", [(1, 3)])] == [False, True, True, False]
    assert [c.marked for c in cells("ab", [(1, 9)])] == [False, True]
