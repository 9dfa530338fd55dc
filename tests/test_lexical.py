"""The lexical store on real Tantivy indexes."""

from __future__ import annotations

import json
import math
import os
import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memidx.ground.errors import BrokenSnapshotError, ConfigError
from memidx.ground.languages import LANGUAGES
from memidx.ground.pageset import PageSet
from memidx.parsing import tokens
from memidx.parsing.query import parse_query
from memidx.stores.lexical import Analyzer, LexicalIndex, LexicalRow, stats, update_index, write_index
from memidx.stores.lexical.files import _LOCKS


def rows_of(*texts, title="", first=0):
    """One page a text, one section a page."""
    return [LexicalRow(first + i, first + i, title, (), text) for i, text in enumerate(texts)]


def build(folder, *texts, language="english"):
    write_index(folder, rows_of(*texts), language)
    return LexicalIndex.open(folder)


def found(index, query, limit=10, pages=None):
    return [hit.section for hit in index.search(parse_query(query), limit, pages)]


def sorted_found(index, query):
    return sorted(found(index, query))


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def many(count, seed=1):
    """Sections of random words, three a page."""
    chance = random.Random(seed)
    words = [f"word{i}" for i in range(300)]
    return [
        LexicalRow(i, i // 3, f"Page {i // 3}", (f"Part {i % 3}",), " ".join(chance.choices(words, k=40)))
        for i in range(count)
    ]


# ------------------------------------------------------------------------------------------------- queries


@pytest.mark.parametrize(
    ("query", "page"),
    [("2026-03-31", 0), ("ADR-016", 1), ("BENCH-100821", 2)],
)
def test_q1_the_exact_page_comes_first(tmp_path, query, page):
    index = build(
        tmp_path / "i",
        "Notes of 2026-03-31 and nothing else",
        "Superseded by ADR-016 in the end",
        "Run BENCH-100821 again",
        "31 days, 03 and 2026, 2026, 03, 31, 03, 31",
        "adr adr adr, number 016 of 016",
        "bench bench 100821x",
    )
    assert found(index, query)[0] == page


@pytest.mark.parametrize(
    "query",
    [
        "what is foo: bar?",
        "(unclosed",
        '"unclosed',
        "AND",
        "tail AND",
        "[1 TO",
        "^2",
        "a b\\",
        "y+(y+25)",
        "don't",
        "std::vector",
    ],
)
def test_q2_q3_any_text_gives_best_effort_hits(tmp_path, query):
    text = "foo bar unclosed and tail 1 2 a b y 25 don't std::vector"
    assert found(build(tmp_path / "i", text, "other"), query) == [0]


@pytest.mark.parametrize("query", ["-tail", "*", "???", "", "zxqunknown"])
def test_q4_nothing_to_find_gives_no_hits(tmp_path, query):
    assert found(build(tmp_path / "i", "tail", "other words"), query) == []


def test_q5_identifiers_by_their_parts(tmp_path):
    index = build(tmp_path / "i", "call getUserName()", "an HTTPServer runs", "max_retry_count: 5", "nothing")
    assert found(index, "user") == [0]
    assert found(index, "http") == [1]
    assert found(index, "retry") == [2]
    assert found(index, "getusername") == [0]
    assert found(index, "userName") == [0]


@pytest.mark.parametrize(
    ("query", "whole", "others"),
    [
        (
            "max_retry_count",
            "set max_retry_count to five",
            "max retry and retry count and count max; retry retry count max",
        ),
        ("C++", "a book on C++ for all", "the letter c, C, c and c"),
        ("C#", "a book on C# for all", "the letter c, C, c and c"),
        (".NET", "runs on .NET only here", "a net, net, net of nets"),
        ("v1.2.3", "release v1.2.3 of it", "v1 and 2 and 3, 3, 2, v1"),
        ("--no-verify", "pass --no-verify to it", "no, verify; verify no more verify"),
    ],
)
def test_q5_an_identifier_comes_first_whole(tmp_path, query, whole, others):
    assert found(build(tmp_path / "i", others, whole), query)[0] == 1


@pytest.mark.parametrize(
    "query",
    ["雨前", "梅雨前線", "梅", "線", "視频", "下载", "BBDown 视频下载", "한국", "국어", "ภาษา", "ไท", "ทย", "ษา", "ย"],
)
def test_q6_a_piece_of_a_run_without_spaces_is_found(tmp_path, query):
    texts = ["これは梅雨前線です。梅雨前線", "BBDown的视频下载工具", "한국어문서", "นี่คือภาษาไทย", "only English words"]
    index = build(tmp_path / "i", *texts)
    expected = [i for i, text in enumerate(texts) if any(piece in text for piece in query.split())]
    if query == "視频":  # one character of the two is another
        assert found(index, query) == []
    else:
        assert sorted(found(index, query)) == expected


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("zurich", None),
        ("Zürich", 0),
        ("ZÜRICH", 0),
        ("Zu\u0308rich", 0),
        ("straße", 2),
        ("strasse", None),
        ("STRASSE", None),
    ],
)
def test_q7_accents_both_ways_and_the_exact_one_first(tmp_path, query, first):
    index = build(tmp_path / "i", "in Zürich once", "in zurich once", "die straße hier", "die strasse hier")
    hits = found(index, query)
    assert sorted(hits) == ([0, 1] if "z" in query.lower() else [2, 3])
    assert first is None or hits[0] == first


@pytest.mark.parametrize(
    "long",
    ["3f7a" * 16, "https://example.org/a/very/long/path?with=a&query=" + "x" * 300, "Donaudampfschifffahrt" * 20],
)
def test_q8_long_words_are_found(tmp_path, long):
    assert found(build(tmp_path / "i", "nothing", f"see {long} there"), long) == [1]


def test_q11_a_page_filter_works_inside_the_search(tmp_path):
    texts = ["needle needle"] * 300
    texts[150] = "one needle among a great many other words " + "filler " * 50
    index = build(tmp_path / "i", *texts)
    every = frozenset(range(300))
    assert found(index, "needle", 5, PageSet(frozenset({150}), every)) == [150]
    assert found(index, "needle", 5, PageSet(every - set(range(5)), every)) == [5, 6, 7, 8, 9]
    assert found(index, "needle", 5, PageSet(frozenset(), every)) == []


def test_a_page_filter_does_not_change_scores(tmp_path):
    write_index(tmp_path / "i", many(300), "english")
    index = LexicalIndex.open(tmp_path / "i")
    every = frozenset(range(100))
    free = index.search(parse_query("word7 word8"), 300)
    for allowed in (frozenset(range(10)), frozenset(range(90)), every):
        inside = index.search(parse_query("word7 word8"), 300, PageSet(allowed, every))
        assert inside == [hit for hit in free if hit.page in allowed]


def test_phrases_must_occur_side_by_side(tmp_path):
    index = build(tmp_path / "i", "the merge base is old", "base of a merge", "to be or not to be", "merge", "the base")
    assert found(index, '"merge base"') == [0]
    assert found(index, '"to be"') == [2]
    assert found(index, '"merge base" old') == [0]


def test_phrases_do_not_reach_from_the_title_into_the_text(tmp_path):
    write_index(tmp_path / "i", [LexicalRow(0, 0, "alpha beta", ("gamma",), "delta getUserName epsilon")], "english")
    index = LexicalIndex.open(tmp_path / "i")
    for phrase in ("alpha beta", "gamma", "delta getUserName epsilon"):
        assert found(index, f'"{phrase}"') == [0]
    for phrase in ("beta gamma", "gamma delta", "epsilon get"):
        assert found(index, f'"{phrase}"') == []


@pytest.mark.parametrize(
    ("phrase", "hits"), [("C++", [0]), ("梅雨前線", [2]), ("前線", [2]), ("雨前線で", [2]), ("次の梅", [3])]
)
def test_phrases_of_symbols_and_of_runs_without_spaces(tmp_path, phrase, hits):
    index = build(tmp_path / "i", "C++ here", "C here", "梅雨前線です", "次の梅雨は前と線")
    assert found(index, f'"{phrase}"') == hits


def test_excluded_words_do_not_occur(tmp_path):
    index = build(tmp_path / "i", "apple pie", "apple tart", "apple getPieName", "apple C++", "apple C")
    assert sorted_found(index, "apple -pie") == [1, 3, 4]
    assert sorted_found(index, 'apple -"apple tart"') == [0, 2, 3, 4]
    assert sorted_found(index, "apple -C++") == [0, 1, 2, 4]


def test_stop_words_are_dropped_only_if_others_remain(tmp_path):
    index = build(tmp_path / "i", "to be or not to be", "the question of the day", "question")
    assert found(index, "to be") == [0]
    assert 0 not in found(index, "what is the question to be")


def test_equal_scores_are_ordered_and_cut_by_section(tmp_path):
    index = build(tmp_path / "i", *["same words"] * 100)
    assert found(index, "same", 7) == list(range(7))
    assert found(index, "same", 100) == list(range(100))


def test_scores_are_finite_numbers_and_come_with_their_page(tmp_path):
    write_index(tmp_path / "i", many(90), "english")
    hits = LexicalIndex.open(tmp_path / "i").search(parse_query("word1 page"), 50)
    assert len(hits) == 50
    assert all(math.isfinite(hit.score) and hit.score >= 0 and hit.page == hit.section // 3 for hit in hits)


def test_titles_and_headings_are_searched(tmp_path):
    write_index(tmp_path / "i", [LexicalRow(7, 3, "Disaster recovery", ("Backups", "Offsite"), "tape")], "english")
    index = LexicalIndex.open(tmp_path / "i")
    assert [found(index, word) for word in ("disasters", "backup", "offsite", "tape")] == [[7]] * 4


def test_b10_few_pages_punctuation_and_an_empty_vault(tmp_path):
    assert found(build(tmp_path / "two", "one apple", "two apples"), "apple", 10) == [0, 1]
    assert found(build(tmp_path / "dots", "...!?", "-"), "apple") == []
    empty = build(tmp_path / "none")
    assert (found(empty, "apple"), empty.num_docs, empty.texts([1])) == ([], 0, {})
    assert stats(tmp_path / "none") == (0, 0, 0)


def test_texts_come_back_as_they_were_written(tmp_path):
    texts = ["# Not a heading\n\tcode  \n", "", "梅雨 é e\u0301 🎉", "x" * 100_000]
    index = build(tmp_path / "i", *texts)
    assert index.texts([3, 0, 1, 2, 99]) == dict(enumerate(texts))
    assert index.texts([]) == {}


def test_document_frequencies_and_their_weight(tmp_path):
    index = build(tmp_path / "i", "apple pie", "apples", "pear", "梅雨", "梅干し")
    assert index.num_docs == 5
    assert [index.doc_freq(term) for term in index.terms(parse_query("apple pears 梅 the"))] == [2, 1, 2]
    assert index.idf(["appl"]) == {"appl": pytest.approx(math.log(1 + (5 - 2 + 0.5) / (2 + 0.5)))}


def test_the_score_of_one_word_is_bm25(tmp_path):
    index = build(tmp_path / "i", "apple apple pie", "pear", "plum tree")
    average = (3 + 1 + 2) / 3
    expected = math.log(1 + 2.5 / 1.5) * (2 * 2.2) / (2 + 1.2 * (1 - 0.75 + 0.75 * 3 / average))
    assert index.search(parse_query("apples"), 1)[0].score == pytest.approx(expected, rel=1e-4)


def test_which_sections_and_pages_hold_a_phrase(tmp_path):
    index = build(tmp_path / "i", "merge base", "base", "merge")
    assert index.constrained(parse_query("base")) is None
    assert index.constrained(parse_query('"merge base" x')) == {0}
    assert index.constrained(parse_query("x -merge")) == {1}
    assert index.constrained(parse_query("x -merge"), PageSet(frozenset({0, 1}), frozenset({0, 1, 2}))) == {1}
    assert index.pages_with("base") == {0, 1}


# ------------------------------------------------------------------------------------------------ languages


@pytest.mark.parametrize(
    ("language", "query", "text"),
    [
        ("english", "retries", "it retried"),
        ("english", "книга", "книги"),
        ("german", "Häuser", "ein Haus"),
        ("russian", "running", "it runs"),
        ("greek", "running", "it runs"),
    ],
)
def test_words_are_stemmed_by_language_and_by_alphabet(tmp_path, language, query, text):
    assert found(build(tmp_path / "i", text, "x", language=language), query) == [0]


def test_no_stemming_on_request(tmp_path):
    index = build(tmp_path / "i", "it retried", "retries", language="none")
    assert found(index, "retries") == [1]


def test_stop_words_of_another_language(tmp_path):
    index = build(tmp_path / "i", "der die das", "das Haus", language="german")
    assert found(index, "das Haus") == [1]
    assert sorted(found(index, "das")) == [0, 1]


def test_an_unknown_language_names_the_known_ones(tmp_path):
    with pytest.raises(ConfigError, match="klingon") as caught:
        write_index(tmp_path / "i", [], "klingon")
    assert "english" in caught.value.hint


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=60))
def test_what_was_written_is_found_as_it_was_written(text):
    """Text and query go through one analysis, in any Unicode form."""
    analyzer = Analyzer("english", ["german", "greek"])

    def terms(form):
        ready = tokens.prepare(unicodedata.normalize(form, text))
        return [analyzer.sequences(value) for value in (*ready.words, ready.parts)]

    assert terms("NFC") == terms("NFD")


# ------------------------------------------------------------------------------------------- languages by page


def mixed(folder, *pages, language="english"):
    """One page of one section for each (language, text)."""
    rows = [LexicalRow(i, i, "", (), text, own) for i, (own, text) in enumerate(pages)]
    write_index(folder, rows, language)
    return LexicalIndex.open(folder)


@pytest.mark.parametrize(
    ("language", "query", "text"),
    [
        ("german", "Verbindungen", "die Verbindung zum Server"),
        ("french", "connexions", "la connexion est perdue"),
        ("turkish", "kitap", "kitaplar masada"),
        ("greek", "βιβλία", "το βιβλίο"),
        ("arabic", "كتاب", "الكتاب على الطاولة"),
        ("english", "retried", "it retries"),
    ],
)
def test_a_page_is_stemmed_in_its_own_language(tmp_path, language, query, text):
    index = mixed(tmp_path / "i", (language, text), ("", "nothing of the kind"), ("spanish", "nada"))
    assert found(index, query) == [0]


def test_a_word_finds_its_forms_in_every_language_of_the_vault(tmp_path):
    index = mixed(tmp_path / "i", ("", "two deployments"), ("german", "das Deployment läuft"), ("", "other"))
    assert sorted_found(index, "deployment") == [0, 1]
    assert sorted_found(index, "Deployments") == [0, 1]


def test_the_variants_of_a_word_count_as_one_word(tmp_path):
    """A rare form in another language must not weigh more than the word."""
    pages = [("", f"houses and gardens {i}") for i in range(20)] + [("german", "houses und Gärten")]
    index = mixed(tmp_path / "i", *pages)
    scores = {hit.section: hit.score for hit in index.search(parse_query("houses"), 30)}
    assert len(scores) == 21
    assert scores[20] == pytest.approx(scores[0], rel=0.25)
    assert len(index.terms(parse_query("houses"))) == 1


def test_phrases_hold_in_a_page_of_another_language(tmp_path):
    index = mixed(tmp_path / "i", ("german", "alle Häuser brennen"), ("german", "brennen alle Häuser"))
    assert found(index, '"Häuser brennen"') == [0]
    assert found(index, 'alle -"Häuser brennen"') == [1]


def test_stop_words_are_those_of_the_question(tmp_path):
    index = mixed(tmp_path / "i", ("", "die casting of zinc"), ("german", "wie die Zeit vergeht"), ("", "zinc"))
    assert sorted_found(index, "wie vergeht die Zeit") == [1]
    assert found(index, "what is the die for zinc")[0] == 0


def test_a_typing_error_is_seen_through_in_another_language(tmp_path):
    index = mixed(tmp_path / "i", ("german", "die Verbindungen zum Server"), ("", "x"))
    assert found(index, "Verbindumg") == [0]


def test_the_language_of_a_question_is_decided_once(tmp_path):
    """By its words as typed. Decided again on the folded ones, a correction was looked for by another term."""
    index = mixed(tmp_path / "i", ("spanish", "el libro"), ("german", "die Verbindungen"), ("", "x"))
    for text in ("ｄｉｅ Verbindungen", "die Verbindungen", "Verbindungen"):  # the first in wide letters
        query = parse_query(text)
        assert set(index.analyzer.query_terms(query)) <= set(index.analyzer.spelled(query))


def test_a_word_of_another_language_is_marked_where_it_stands(tmp_path):
    index = mixed(tmp_path / "i", ("turkish", "bu kitaplar masada"))
    lines = index.highlight("bu kitaplar masada", parse_query("kitap"))
    assert [line.spans for line in lines] == [((3, 11),)]


def test_a_question_in_one_language_is_not_looked_for_in_the_ways_of_another(tmp_path):
    index = mixed(tmp_path / "i", ("", "x"), ("german", "x"), ("spanish", "x"))
    assert index.terms(parse_query("Verbindungen")) == ["verbindungen verbind verbindung"]  # nothing tells: all ways
    assert index.terms(parse_query("what are the Verbindungen")) == ["verbindungen"]


def test_a_page_is_found_as_a_whole(tmp_path):
    rows = [LexicalRow(0, 0, "T", ("One",), "alpha"), LexicalRow(1, 0, "T", ("One", "Two"), "beta gamma")]
    rows += [LexicalRow(2, 1, "U", ("Three",), "alpha"), LexicalRow(3, 2, "V", (), "delta")]
    write_index(tmp_path / "i", rows, "english")
    index = LexicalIndex.open(tmp_path / "i")
    whole = index.whole_pages(parse_query("alpha beta two"), 10)
    assert list(whole) == [0, 1] and whole[0] > whole[1] > 0
    assert index.whole_pages(
        parse_query("alpha beta two"), 10, PageSet(frozenset({1}), frozenset({0, 1, 2}))
    ).keys() == {1}
    assert index.whole_pages(parse_query("-alpha"), 10) == {}
    assert index.whole_pages(parse_query("alpha"), 0) == {}


def test_an_update_changes_the_page_as_a_whole(tmp_path):
    write_index(tmp_path / "a", [LexicalRow(0, 0, "", (), "alpha"), LexicalRow(1, 1, "", (), "alpha beta")], "english")
    update_index(tmp_path / "a", tmp_path / "b", [1], [LexicalRow(2, 1, "", (), "gamma")], "english")
    index = LexicalIndex.open(tmp_path / "b")
    assert index.whole_pages(parse_query("alpha"), 10).keys() == {0}
    assert index.whole_pages(parse_query("gamma"), 10).keys() == {1}


def test_an_update_brings_a_language(tmp_path):
    build(tmp_path / "base", "apple", "pear")
    rows = [LexicalRow(2, 2, "", (), "die Verbindung", "german")]
    update_index(tmp_path / "base", tmp_path / "new", [0], rows, "english")
    index = LexicalIndex.open(tmp_path / "new")
    assert found(index, "Verbindungen") == [2]
    update_index(tmp_path / "new", tmp_path / "newer", [1], rows_of("plum", first=3), "english", others=["german"])
    assert found(LexicalIndex.open(tmp_path / "newer"), "Verbindungen") == [2]


@settings(deadline=None, max_examples=12)
@given(
    st.sampled_from(LANGUAGES),
    st.text(
        st.characters(categories=("Ll", "Lu", "Lo", "Nd"), max_codepoint=0x6FF, exclude_characters="ªº"), min_size=1
    ),
)
def test_what_a_page_says_is_found_in_any_language(tmp_path_factory, language, word):
    """A word that stands on a page finds it, whatever the page's language."""
    index = mixed(tmp_path_factory.mktemp("i") / "i", (language, f"{word} one"), ("", "two"))
    assert 0 in found(index, word) or not Analyzer("none").text.analyze(tokens.fold(word))


# -------------------------------------------------------------------------------------------- bytes and updates


def test_built_twice_gives_the_same_bytes(tmp_path):
    write_index(tmp_path / "a", many(500), "english")
    write_index(tmp_path / "b", iter(many(500)), "english")
    assert content(tmp_path / "a") == content(tmp_path / "b")
    assert stats(tmp_path / "a") == (500, 0, 1)


@pytest.mark.slow
def test_several_segments_give_the_same_bytes_and_answers(tmp_path):
    rows = many(12_000)
    for name in ("a", "b"):
        write_index(tmp_path / name, rows, "english", memory=15_000_000)
    write_index(tmp_path / "one", rows, "english")
    assert stats(tmp_path / "a").segments > 1
    assert content(tmp_path / "a") == content(tmp_path / "b")
    several, one = LexicalIndex.open(tmp_path / "a"), LexicalIndex.open(tmp_path / "one")
    for query in ("word5 word6", '"word5 word6"', "page -word5"):
        # A sum of floats may differ in its last bit, and with it the order of two equal hits.
        scores = [hit.score for hit in several.search(parse_query(query), 50)]
        assert scores == pytest.approx([hit.score for hit in one.search(parse_query(query), 50)])


def test_opening_and_searching_leave_the_folder_as_it_was_built(tmp_path):
    index = build(tmp_path / "i", "apple", "pear")
    write_index(tmp_path / "again", rows_of("apple", "pear"), "english")
    assert found(index, "apple") == [0]
    assert content(tmp_path / "i") == content(tmp_path / "again")
    assert not (tmp_path / "i" / _LOCKS[0]).exists()


def test_b2_an_update_removes_and_adds_and_leaves_its_base_alone(tmp_path):
    base = tmp_path / "base"
    write_index(
        base, [LexicalRow(i, 0, "", (), f"apple part{i}") for i in range(3)] + rows_of("pear", first=3), "english"
    )
    before = content(base)
    reader = LexicalIndex.open(base)
    update_index(base, tmp_path / "new", [0], [LexicalRow(4, 0, "", (), "apple shrunk")], "english")
    updated = LexicalIndex.open(tmp_path / "new")
    assert found(updated, "apple") == [4]
    assert found(updated, "part1") == []
    assert found(updated, "pear") == [3]
    assert updated.texts(range(5)) == {3: "pear", 4: "apple shrunk"}
    assert stats(tmp_path / "new") == (2, 3, 2)
    assert content(base) == before
    assert found(reader, "apple") == found(LexicalIndex.open(base), "apple") == [0, 1, 2]


def test_updates_of_updates_are_deterministic_and_complete(tmp_path):
    rows = many(60)
    for run in ("a", "b"):
        write_index(tmp_path / run / "0", rows, "english")
        for step in range(1, 12):  # more than Tantivy keeps apart before it merges segments
            changed = [
                row._replace(section=1000 * step + row.section, text=f"step {chr(96 + step) * 3}") for row in rows[:3]
            ]
            update_index(tmp_path / run / str(step - 1), tmp_path / run / str(step), [0], changed, "english")
    last = LexicalIndex.open(tmp_path / "a" / "11")
    assert found(last, "kkk") == [11_000, 11_001, 11_002]
    assert found(last, "jjj") == []
    assert last.num_docs == stats(tmp_path / "a" / "11").live == 60
    assert content(tmp_path / "a" / "5") == content(tmp_path / "b" / "5")


def test_an_update_answers_as_a_full_build(tmp_path):
    rows = many(300)
    gone = {1, 5, 40}
    new = [LexicalRow(900 + i, 200, "New", (), f"word{i} fresh") for i in range(4)]
    write_index(tmp_path / "base", rows, "english")
    update_index(tmp_path / "base", tmp_path / "new", gone, new, "english")
    write_index(tmp_path / "full", [row for row in rows if row.page not in gone] + new, "english")
    updated, full = LexicalIndex.open(tmp_path / "new"), LexicalIndex.open(tmp_path / "full")
    for query in ("word1", "word2 word3", "fresh", '"word1 fresh"', "page -word4"):
        assert sorted(found(updated, query, 1000)) == sorted(found(full, query, 1000))


def test_an_update_where_hard_links_fail_copies(tmp_path, monkeypatch):
    build(tmp_path / "base", "apple", "pear")

    def refuse(*_args, **_kwargs):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    update_index(tmp_path / "base", tmp_path / "new", [0], rows_of("plum", first=2), "english")
    assert found(LexicalIndex.open(tmp_path / "new"), "plum pear") == [1, 2]


def test_an_update_in_another_language_is_refused(tmp_path):
    build(tmp_path / "base", "apple")
    with pytest.raises(BrokenSnapshotError, match="english, not german"):
        update_index(tmp_path / "base", tmp_path / "new", [], [], "german")


# ---------------------------------------------------------------------------------------------------- damage


def segment_files(folder):
    return sorted(path for path in folder.iterdir() if path.name[0] == "0")


@pytest.mark.parametrize("how", ["truncated", "missing", "zeroed"])
def test_b6_a_damaged_segment_is_noticed(tmp_path, how):
    write_index(tmp_path / "i", many(200), "english")
    whole = content(tmp_path / "i")
    for path in segment_files(tmp_path / "i"):
        if how == "truncated":
            path.write_bytes(whole[path.name][:-10])
        elif how == "missing":
            path.unlink()
        else:
            path.write_bytes(bytes(len(whole[path.name])))
        with pytest.raises(BrokenSnapshotError):  # noqa: PT012 - damage may show at either step
            index = LexicalIndex.open(tmp_path / "i")
            index.search(parse_query('"word1 word2" word3'), 10)
            index.texts([0])
        path.write_bytes(whole[path.name])
    assert len(found(LexicalIndex.open(tmp_path / "i"), "word1")) == 10


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"segments": []}', '{"segments": 5}', '{"segments": [], "payload": "{}"}']
)
def test_b6_a_damaged_meta_json_is_noticed(tmp_path, text):
    build(tmp_path / "i", "apple")
    (tmp_path / "i" / "meta.json").write_text(text)
    with pytest.raises(BrokenSnapshotError, match=r"meta\.json"):
        LexicalIndex.open(tmp_path / "i")


def test_b6_another_format_is_noticed(tmp_path):
    build(tmp_path / "i", "apple")
    path = tmp_path / "i" / "meta.json"
    meta = json.loads(path.read_text())
    meta["payload"] = meta["payload"].replace('"format": 3', '"format": 99')
    path.write_text(json.dumps(meta))
    with pytest.raises(BrokenSnapshotError, match="format 99"):
        LexicalIndex.open(tmp_path / "i")


def test_b6_a_missing_folder_is_noticed(tmp_path):
    with pytest.raises(BrokenSnapshotError, match="no-such"):
        LexicalIndex.open(tmp_path / "no-such")


# ----------------------------------------------------------------------------------------------- highlighting


def marked(text, query, language="english"):
    lines = text.split("\n")
    return {
        match.line: [lines[match.line][start:end] for start, end in match.spans]
        for match in Analyzer(language).highlight(text, parse_query(query))
    }


@pytest.mark.parametrize(
    ("query", "text", "marks"),
    [
        ("retry the users", "getUserName()\nnothing, the\nretrying max_retry", {0: ["User"], 2: ["retrying", "retry"]}),
        ("C++", "in C++ now", {0: ["C++"]}),
        ("梅雨前線", "今日は梅雨です\n次に梅雨前線は\nなし", {0: ["梅雨"], 1: ["梅雨前線"]}),
        ("雨", "今日は梅雨です\n雨", {0: ["雨"], 1: ["雨"]}),
        ("BBDown 视频下载", "工具\nBBDown的视频下载工具", {1: ["BBDown", "视频下载"]}),
        ("ทีม", "xyz\nทีมรับของ", {1: ["ทีม"]}),
        ("ที่นี่", "อยู่ที่นี่แล้ว", {0: ["ที่นี่"]}),
        ("zurich", "In Zürich\nZu\u0308rich", {0: ["Zürich"], 1: ["Zu\u0308rich"]}),
        ("हिन्दी", "यह हिन्दी है", {0: ["हिन्दी"]}),
        ('"merge base"', "a merge\nthe base", {0: ["merge"], 1: ["base"]}),
        ("-merge tag:x", "a merge", {}),
        ("the", "the end", {0: ["the"]}),
    ],
)
def test_q6_the_matching_lines_and_words(query, text, marks):
    assert marked(text, query) == marks


def test_a_line_says_which_terms_it_holds():
    (match,) = Analyzer("english").highlight("apples and pears, apple", parse_query("apple pear plum"))
    assert match.terms == {"appl", "pear"}


@settings(deadline=None, max_examples=80)
@given(st.text(max_size=80), st.text(max_size=20))
def test_highlighting_never_raises_and_stays_inside_the_lines(text, query):
    lines = text.split("\n")
    for match in Analyzer("english").highlight(text, parse_query(query)):
        ends = [0]
        for start, end in match.spans:
            assert ends[-1] <= start < end <= len(lines[match.line])
            ends.append(end)
