"""The query syntax: any text is a valid query."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memidx.parsing.query import MAX_TERMS, parse_query


@pytest.mark.parametrize(
    "text", ["2026-03-31", "ADR-016", "BENCH-100821", "std::vector", "https://x.org/a?b=c", "--no-verify", "C++"]
)
def test_q1_q2_identifiers_are_one_term_without_a_hint(text):
    parsed = parse_query(text)
    assert parsed.terms == (text,)
    assert parsed.text == text
    assert (parsed.excluded, parsed.hints) == ((), ())


def test_q2_a_question_with_a_colon_is_words_without_a_hint():
    parsed = parse_query("what is foo: bar?")
    assert parsed.terms == ("what", "is", "foo:", "bar?")
    assert parsed.hints == ()


@pytest.mark.parametrize("text", ["localhost:8080", "12:30", r"C:\temp", "std::vector", "mailto://x"])
def test_q2_other_colons_are_no_fields(text):
    assert parse_query(text).hints == ()


def test_q2_an_unknown_field_is_words_and_is_said():
    parsed = parse_query("foo:bar baz")
    assert parsed.terms == ("foo:bar", "baz")
    assert parsed.hints == ("foo: is not a field and was searched as a word; fields are tag:, path: and kind:",)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("(unclosed", ("(unclosed",)),
        ('"unclosed words', ('"unclosed', "words")),
        ("AND", ("AND",)),
        ("tail AND", ("tail", "AND")),
        ("[1 TO", ("[1", "TO")),
        ("^2", ("^2",)),
        ("a b\\", ("a", "b\\")),
        ("y+(y+25)", ("y+(y+25)",)),
        ("a - b", ("a", "b")),
        ('5" pipe and 6" pipe', ('5"', "pipe", "and", '6"')),
    ],
)
def test_q3_half_typed_operators_are_words(text, terms):
    parsed = parse_query(text)
    assert parsed.terms == terms
    assert (parsed.phrases, parsed.excluded, parsed.hints) == ((), (), ())


@pytest.mark.parametrize("text", ["", "  \n", "*", "???", '""', "-", "“”"])
def test_q4_no_words_is_said(text):
    parsed = parse_query(text)
    assert not parsed.has_words
    assert parsed.hints == ("the query has no words to look for",)


def test_q4_only_exclusions_are_said():
    parsed = parse_query("-tail")
    assert not parsed.has_words
    assert parsed.excluded == ("tail",)
    assert parsed.hints == ("the query only says what must not occur; add a word to look for",)


def test_operators_are_taken_out_of_the_text():
    parsed = parse_query('say "hello world" -foo -"a b" tag:x Tag:"two words" PATH:docs/ kind:rule tag:#y')
    assert parsed.text == "say hello world"
    assert parsed.terms == ("say",)
    assert parsed.phrases == ("hello world",)
    assert parsed.excluded == ("foo", "a b")
    assert parsed.tags == ("x", "two words", "y")
    assert parsed.paths == ("docs/",)
    assert parsed.kinds == ("rule",)
    assert parsed.hints == ()


def test_curly_quotes_make_a_phrase_and_an_apostrophe_does_not():
    parsed = parse_query("“side by side” don’t 'quoted'")
    assert parsed.phrases == ("side by side",)
    assert parsed.terms == ("don’t", "'quoted'")


def test_a_filter_alone_is_a_query():
    parsed = parse_query("tag:x")
    assert parsed.has_filters
    assert not parsed.has_words
    assert parsed.hints == ()


def test_an_unclosed_quote_after_a_filter_still_filters():
    parsed = parse_query('path:"docs word')
    assert parsed.paths == ("docs",)
    assert parsed.terms == ("word",)


def test_a_filter_cannot_be_excluded_and_that_is_said():
    parsed = parse_query("-tag:x word")
    assert parsed.tags == ()
    assert parsed.excluded == ()
    assert parsed.hints == ("-tag: cannot be excluded; it was left out",)


def test_a_hyphen_inside_a_word_excludes_nothing():
    assert parse_query("a well-known word").excluded == ()
    assert parse_query("梅雨 -前線").excluded == ("前線",)


@pytest.mark.parametrize(
    "text", ["word " * 20_000, " ".join(map(str, range(20_000))), "梅雨前線" * 25_000, "a" * 100_000]
)
def test_a_very_long_query_is_bounded_and_that_is_said(text):
    parsed = parse_query(text)
    assert 1 <= len(parsed.terms) <= MAX_TERMS
    assert len(parsed.text) <= 20_000
    assert parsed.hints == (f"the query is long: its first {MAX_TERMS} words were used",)


def test_a_query_of_the_longest_length_is_not_cut():
    words = [f"w{i}" for i in range(MAX_TERMS)]
    parsed = parse_query(" ".join(words) + "  ")
    assert parsed.terms == tuple(words)
    assert parsed.hints == ()


@settings(deadline=None, max_examples=80)
@given(st.text(alphabet='ab"“”-:\\*?()[]{}^~#\t\n tagpthkind梅é\ud800', max_size=60) | st.text(max_size=60))
def test_q3_any_text_is_a_query(text):
    parsed = parse_query(text)
    assert all(any(map(str.isalnum, term)) for term in (*parsed.terms, *parsed.phrases, *parsed.excluded))
    assert parsed.has_words == bool(parsed.text)
    assert parsed.has_words or parsed.has_filters or parsed.hints


@settings(deadline=None, max_examples=60)
@given(st.lists(st.from_regex(r"[a-z]{1,8}\Z", fullmatch=True), min_size=1, max_size=10))
def test_plain_words_come_back_as_they_are(words):
    parsed = parse_query(" ".join(words))
    assert parsed.terms == tuple(dict.fromkeys(words))
    assert parsed.text == " ".join(words)
    assert parsed.hints == ()
