"""What a page answers to: path, folder, and what other pages call it."""

from __future__ import annotations

import pytest

import memidx

PAGES = {
    "runbooks/restore.md": "# Database recovery\n\nStop the writers first.\n",
    "runbooks/README.md": "# What to do when\n\nStart here. See [bring it back](restore.md).\n",
    "notes/a.md": "# Monday\n\nWe had to [bring it back](../runbooks/restore.md), see [here](b.md).\n",
    "notes/b.md": "# Tuesday\n\nrunbooks and restore runbooks restore. [here](a.md) and [[restore|bring it back]].\n",
    "notes/c.md": "# Wednesday\n\nbring it back bring it back bring it back\n",
}


@pytest.fixture
def vault(repo):
    repo.write(PAGES)
    return memidx.open_vault(repo.root)


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("runbooks/restore.md", "runbooks/restore.md"),
        ("restore.md", "runbooks/restore.md"),
        ("/runbooks/README.md", "runbooks/README.md"),
        ("runbooks", "runbooks/README.md"),
    ],
)
def test_a_path_and_the_folder_of_an_index_page_name_a_page(vault, query, page):
    first = vault.query(query).hits[0]
    assert first.path == page and first.streams["title"].score == 1.0


def test_what_links_are_labelled_counts_by_how_many_of_them_lead_there(vault):
    hits = {hit.path: hit for hit in vault.query("bring it back").hits}
    assert hits["runbooks/restore.md"].streams["title"].score == pytest.approx(0.9)
    here = {hit.path: hit for hit in vault.query("here").hits}
    assert {here[f"notes/{name}.md"].streams["title"].score for name in "ab"} == {0.45}


def test_a_label_goes_with_the_link_that_carried_it(vault, repo):
    repo.write({"notes/a.md": "# Monday\n\nNothing.\n"})
    hits = {hit.path: hit for hit in vault.query("here").hits}
    assert "notes/b.md" not in hits or "title" not in hits["notes/b.md"].streams


def test_a_build_after_damage_is_announced_without_calling_itself_the_first(vault, repo):
    told: list[str] = []
    vault.query("runbooks", notify=told.append)
    assert told == ["building the index of 5 pages"]
    for catalog in (repo.git_dir / "memidx" / "snapshots").glob("*/catalog.db"):
        catalog.write_bytes(b"")
    memidx.open_vault(repo.root).query("runbooks", notify=told.append)
    assert told[1:] == ["building the index of 5 pages"]
