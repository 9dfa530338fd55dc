"""Languages by page, from the pages of a vault to its answers."""

from __future__ import annotations

import pytest

import memidx
from memidx.ground.settings import LexicalSettings

GERMAN = "Die Verbindungen zum Server werden nach einem Fehler wieder aufgebaut, und zwar mit einer kurzen Wartezeit.\n"
GREEK = "Τα βιβλία είναι στο ράφι της βιβλιοθήκης.\n"
ENGLISH = "The connections to the server are made again after a failure, and that takes a short wait.\n"


@pytest.fixture
def pages(repo):
    filler = {
        f"notes/n{n}.md": f"# Note {n}\n\nThis is about the garden and what was planted in row {n}.\n"
        for n in range(30)
    }
    repo.write({"a.md": ENGLISH, "b.md": GERMAN, "c.md": GREEK, "d.md": f"---\nlang: de\n---\n{ENGLISH}", **filler})
    repo.commit("pages")
    return repo


def paths(vault, text):
    return [hit.path for hit in vault.query(text, only="lexical").hits]


def test_each_page_is_found_by_the_forms_of_its_language(pages):
    vault = memidx.open_vault(pages.root)
    assert paths(vault, "Verbindung") == ["b.md"]
    assert paths(vault, "βιβλίο") == ["c.md"]
    assert "a.md" in paths(vault, "connecting failures")
    assert vault.status().languages == {"german": 2, "greek": 1}


def test_it_can_be_turned_off(pages):
    vault = memidx.open_vault(pages.root, lexical=LexicalSettings(by_page=False))
    assert paths(vault, "Verbindung") == []
    assert vault.status().languages == {}


def test_a_vault_without_stemming_stems_no_page(pages):
    vault = memidx.open_vault(pages.root, lexical=LexicalSettings(language="none"))
    assert paths(vault, "Verbindung") == []


def test_the_answer_after_updates_is_that_of_a_full_build(repo):
    """Also a question's stop words, which are those of a language that some page has."""
    sections = "\n\n".join(f"## Part {n}\n\n{ENGLISH} Number {n}." for n in range(8))
    repo.write({f"p{n}.md": f"# Page {n}\n\n{sections}\n" for n in range(40)})
    repo.write({"g.md": GERMAN})
    repo.commit("pages")
    vault = memidx.open_vault(repo.root)
    vault.build()
    repo.write({"g.md": ENGLISH, "t.md": GREEK})
    repo.commit("German out, Greek in")
    assert vault.build().mode == "update"
    updated = [paths(vault, text) for text in ("Verbindung", "βιβλίο", "die server connections")]
    assert vault.status().languages == {"greek": 1}
    vault.build(full=True)
    assert [paths(vault, text) for text in ("Verbindung", "βιβλίο", "die server connections")] == updated
    assert updated[:2] == [[], ["t.md"]]


def test_a_marked_snippet_shows_the_form_that_was_written(pages):
    vault = memidx.open_vault(pages.root)
    (hit,) = vault.query("Verbindung", only="lexical").hits
    assert "Verbindungen" in hit.snippet
