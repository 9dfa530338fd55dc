"""Preparing text for the index's tokenizer: scripts, identifiers, and the agreement of the two."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tantivy import TextAnalyzerBuilder, Tokenizer

from memidx.parsing import scripts, tokens

LAW = settings(deadline=None, max_examples=60)
SIMPLE = TextAnalyzerBuilder(Tokenizer.simple()).build()


def exact(text):
    return tokens.prepare(text).exact.split()


def parts(text):
    return tokens.prepare(text).parts.split()


def test_plain_ascii_is_left_as_it_is():
    text = "A plain sentence, nothing special. Another one!"
    assert tokens.prepare(text) == ((text,), "", "", "")


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("set max_retry_count here", "max_retry_count"),
        ("released v1.2.3, then", "v1.2.3"),
        ("see (ADR-016).", "adr-016"),
        ("in `C++` code", "c++"),
        ("C# too", "c#"),
        ("on .NET today", ".net"),
        ("std::vector<int>", "std::vector"),
        ("git commit --no-verify", "--no-verify"),
        ("on 2026-03-31:", "2026-03-31"),
        ("**BENCH-100821**", "bench-100821"),
        ("Zürich", "zürich"),
        ("cafe\u0301", "café"),
    ],
)
def test_q5_identifiers_and_accented_words_are_kept_whole(text, whole):
    assert whole in exact(text)


@pytest.mark.parametrize("text", ["self-hosted", "and/or", "docs/adr/adr-001.md", "https://x.org/a?b=c", "end.", "DNA"])
def test_prose_and_paths_are_no_identifiers(text):
    assert exact(text) == []


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("getUserName", ["get", "User", "Name"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("(parseXMLFile)", ["parse", "XML", "File"]),
        ("sha256", ["sha", "256"]),
        ("v1 k3s 3D", []),
        ("a3" * 32, []),
        ("word DNA Word", []),
    ],
)
def test_q5_camel_case_and_letter_digit_words_give_their_parts(text, inner):
    assert parts(text) == inner


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("梅雨前線", ["梅雨", "雨前", "前線"]),
        ("雨", ["雨"]),
        ("iPhone用の", ["iPhone", "用の"]),
        ("2016年", ["2016", "年"]),
        ("한국어 문서", ["한국", "국어", "문서"]),
        ("ﾊﾝｶｸ", ["ハン", "ンカ", "カク"]),
        ("ＦＵＬＬ", ["FULL"]),
        ("ภาษาไทย", ["ภาษ", "าษา", "ษาไ", "าไท", "ไทย"]),
        ("ที่", ["ที"]),
        ("が", ["が"]),
        ("か\u3099い", ["がい"]),
    ],
)
def test_q6_runs_without_spaces_become_n_grams(text, words):
    assert tokens.fold(text).split() == words


def test_q6_the_ends_of_runs_are_kept_for_shorter_queries():
    assert tokens.prepare("梅雨 ภาษาไทย").tails.split() == ["雨", "ย", "ทย"]
    assert tokens.is_short_run("雨")
    assert tokens.is_short_run("ทย")
    assert not tokens.is_short_run("梅雨")
    assert not tokens.is_short_run("ไทย")
    assert not tokens.is_short_run("a")


@pytest.mark.parametrize(
    "word", ["हिन्दी", "العَرَبِيَّة", "cafe\u0301", "co\u00adoperate", "a\u0301\u0323b", "ёлка", "бойкий", "İstanbul"]
)
def test_marks_do_not_break_a_word(word):
    assert len(SIMPLE.analyze(tokens.fold(word))) == 1


@pytest.mark.skipif(
    unicodedata.unidata_version != "14.0.0", reason="scripts.py holds the marks of Unicode 14, which Python 3.11 knows"
)
def test_marks_that_would_break_a_word_are_all_known():
    """Derives the class that scripts.py writes out. A mark of a Unicode version that Tantivy does not know may be absent."""
    known = set(scripts.members(scripts.DROPPED)) | {"\u200b"}  # the zero-width space does separate words
    missing = [
        hex(code)
        for code in range(0x80, 0x10000)
        if unicodedata.category(chr(code)) in ("Mn", "Mc", "Me", "Cf")
        and len(SIMPLE.analyze(f"a{chr(code)}b")) > 1
        and chr(code) not in known
    ]
    assert missing == []


def test_footnote_marks_and_trade_marks_are_not_glued_on():
    assert SIMPLE.analyze(tokens.fold("Foo™ bar")) == ["Foo", "bar"]


def test_q8_a_long_word_is_not_dropped():
    word = "donau" * 200
    assert SIMPLE.analyze(tokens.prepare(f"x {word} y").words[0]) == ["x", word, "y"]


def test_a_lone_surrogate_becomes_something_that_can_be_stored():
    ready = tokens.prepare("a\ud800b 梅\udfff")
    assert [text.encode() for text in (*ready.words, ready.exact)]


@LAW
@given(st.text(max_size=200))
def test_preparing_never_raises_and_can_always_be_stored(text):
    ready = tokens.prepare(text)
    for value in (*ready.words, ready.parts, ready.tails, ready.exact):
        value.encode()


@LAW
@given(st.text(alphabet="梅雨前線のｶﾅがภาษาไ่한글aZ9 -_.é\u0301", max_size=40))
def test_composed_and_decomposed_text_are_prepared_alike(text):
    assert tokens.prepare(unicodedata.normalize("NFD", text)) == tokens.prepare(unicodedata.normalize("NFC", text))


@LAW
@given(st.text(alphabet="梅雨前線次年", min_size=2, max_size=12), st.data())
def test_q6_every_piece_of_a_run_is_found_by_its_n_grams(run, data):
    start = data.draw(st.integers(0, len(run) - 2))
    end = data.draw(st.integers(start + 2, len(run)))
    whole, piece = tokens.fold(run).split(), tokens.fold(run[start:end]).split()
    assert any(whole[i : i + len(piece)] == piece for i in range(len(whole)))


@LAW
@given(
    st.lists(st.sampled_from(["word", "getUserName", "max_retry", "C++", "Zürich", "梅雨", "a.b", ".NET"]), max_size=8)
)
def test_an_identifier_is_found_wherever_it_stands(words):
    """The scan skips to rare characters; what it finds must not depend on the neighbours."""
    together = tokens.prepare(" ".join(words))
    apart = [tokens.prepare(word) for word in words]
    assert sorted(together.exact.split()) == sorted(w for ready in apart for w in ready.exact.split())
    assert together.parts.split() == [w for ready in apart for w in ready.parts.split()]
