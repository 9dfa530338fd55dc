"""Typing errors in a question: one edit, from five letters on, where what was typed stands nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memidx
from memidx.ground.edits import edits, one_edit
from memidx.parsing.query import parse_query
from memidx.stores.lexical import LexicalIndex, LexicalRow, write_index

WORDS = st.text("abc", max_size=5)
PAGES = {
    "ops/deployment.md": "# Deployment guide\n\nTroubleshooting a failed deployment starts with the database logs.\n",
    "ops/backup.md": "# Nightly backup\n\nThe backup of the database runs at night. See ADR-0012.\n",
    "adr/0012.md": "---\naliases: [ADR-0012]\n---\n# Use object storage\n\nBackups go to a bucket.\n",
    "notes/lunch.md": "# Lunch\n\nThe canteen serves soup, and flash photography is not allowed.\n",
}


@pytest.fixture
def vault(repo):
    repo.write(PAGES)
    return memidx.open_vault(repo.root)


def paths(answer):
    return [hit.path for hit in answer.hits]


def distance(a: str, b: str) -> int:
    """The restricted Damerau-Levenshtein distance by its textbook recurrence."""
    d = {(i, -1): i + 1 for i in range(-1, len(a))} | {(-1, j): j + 1 for j in range(-1, len(b))}
    for i in range(len(a)):
        for j in range(len(b)):
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i] != b[j]))
            if i and j and a[i] == b[j - 1] and a[i - 1] == b[j]:
                d[i, j] = min(d[i, j], d[i - 2, j - 2] + 1)
    return d[len(a) - 1, len(b) - 1]


@given(WORDS, WORDS)
@settings(max_examples=150)
def test_one_edit_is_a_distance_of_one(a, b):
    assert one_edit(a, b) == (distance(a, b) == 1)


@given(st.text("abcxyz", min_size=2, max_size=6), st.text("abcxyz", min_size=1, max_size=7))
def test_edits_are_the_words_one_edit_away_that_start_the_same(word, other):
    near = set(edits(word)) - {word}
    assert all(one_edit(word, variant) and variant[0] == word[0] for variant in near)
    assert (other in near) == (one_edit(word, other) and other[0] == word[0])


@pytest.mark.parametrize(
    ("typed", "page"),
    [
        ("failed deploymnet", "ops/deployment.md"),  # its stem is two edits from the right one
        ("nightly bakcup", "ops/backup.md"),
        ("databse logs", "ops/deployment.md"),
    ],
)
def test_a_typing_error_in_a_word_is_seen_through_and_said(vault, typed, page):
    answer = vault.query(typed)
    assert paths(answer)[0] == page
    assert any("stands nowhere; looked for" in notice for notice in answer.notices)
    assert answer.hits[0].marks  # the word that was meant is marked


def test_a_typing_error_in_a_title_names_the_page(vault):
    answer = vault.query("Deploymet guide")
    assert paths(answer)[0] == "ops/deployment.md" and answer.hits[0].streams["title"].score == 0.7


def test_what_is_known_is_not_corrected(vault):
    assert not vault.query("database backup").notices


@pytest.mark.parametrize("query", ["ADR-0013", "soop", '"databse logs"', "v1.2.4"])
def test_numbers_short_words_and_phrases_are_meant_as_typed(vault, query):
    answer = vault.query(query)
    assert not any("looked for" in notice for notice in answer.notices)
    assert not any("title" in hit.streams and hit.streams["title"].score in {0.4, 0.7} for hit in answer.hits)


def test_words_beyond_ascii_are_compared_by_their_terms(tmp_path):
    texts = ("Резервное копирование базы данных.", "Обед в столовой.")
    write_index(tmp_path / "i", [LexicalRow(n, n, "", (), text) for n, text in enumerate(texts)], "russian")
    index = LexicalIndex.open(tmp_path / "i")
    query = parse_query("копировние")
    assert [c.word for c in index.corrections(query)] == ["копировние"]
    assert [hit.section for hit in index.search(query, 5)] == [0]


def test_a_corrected_word_covers_less_than_the_word_itself(vault):
    index = vault.open_snapshot()[0].lexical
    typed, meant = (index.coverages(parse_query(q), None, 5)[0].score for q in ("bakcup", "backup"))
    assert 0 < typed < 0.7 and meant == pytest.approx(1.0)


def test_a_stop_word_that_no_page_has_is_no_typing_error(repo):
    """It takes no part in the question, so there is nothing to correct: `would` beside `world`."""
    repo.write({"a.md": "The world is round and the deployment failed.\n", "b.md": "The garden.\n"})
    answer = memidx.open_vault(repo.root).query("would the deployment fail")
    assert paths(answer) == ["a.md"]
    assert not any("stands nowhere" in notice for notice in answer.notices)
