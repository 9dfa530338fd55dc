"""The questions of tests/golden/example-queries.yaml, asked of the example vault as a person would type them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import git
import pytest
import yaml
from clirun import CHECKOUT, memidx

from memidx.doors.commands.query import command
from memidx.doors.page_filters import filters_of
from memidx.opening import open_vault
from memidx.stores.catalog import Catalog

if TYPE_CHECKING:
    from pathlib import Path

QUERIES = yaml.safe_load((CHECKOUT / "tests" / "golden" / "example-queries.yaml").read_text(encoding="utf-8"))
NOW = 1_790_000_000.0  # 2026-09-21: no page of the vault has expired
PEOPLE = git.Actor("Test Person", "test@example.org")


@pytest.fixture(scope="module")
def vault(tmp_path_factory) -> Path:
    """The example vault as a repository of its own, committed by GitPython and built once."""
    root = tmp_path_factory.mktemp("golden") / "vault"
    shutil.copytree(CHECKOUT / "example-vault", root)
    with git.Repo.init(root) as repo:
        repo.index.add(sorted(str(path) for path in root.rglob("*") if path.is_file() and ".git" not in path.parts))
        repo.index.commit("pages", author=PEOPLE, committer=PEOPLE)
    done = memidx("build", "--quiet", cwd=root, model=True)
    assert done.code == 0, done.err
    return root


@pytest.fixture(scope="module")
def opened(vault):
    """The vault opened once: its model takes longer to load than 40 questions to answer."""
    return open_vault(vault, environ={})


def ask(opened, args, query):
    """What `memidx query ARGS QUERY` asks, by the command's own parser and without a process for each."""
    given = command.make_context("query", [*args, query]).params
    text = " ".join(given["text"])
    return opened.query(text, limit=given["limit"], filters=filters_of(given, NOW), now=NOW)


@pytest.mark.parametrize("case", QUERIES, ids=[case["query"] for case in QUERIES])
def test_the_page_that_answers_comes_first(opened, case):
    answer = ask(opened, case.get("args", ()), case["query"])
    paths = [hit.path for hit in answer.hits]
    if case.get("none"):
        assert paths == [], case["why"]
    else:
        within = case.get("within", 1)
        assert case["expect"] in paths[:within], f"{case['why']}\ngot {paths[:5]}"
    assert (answer.fresh, answer.degraded) == ("fresh", ())


def test_the_command_line_gives_the_same_answer(vault, opened):
    case = next(case for case in QUERIES if case.get("args"))
    done = memidx("query", *case["args"], "--json", case["query"], cwd=vault, model=True)
    assert done.code == 0, done.err
    assert [hit["path"] for hit in done.json["hits"]] == [
        hit.path for hit in ask(opened, case["args"], case["query"]).hits
    ]
    nothing = next(case for case in QUERIES if case.get("none"))
    done = memidx("query", "--json", nothing["query"], cwd=vault, model=True)
    assert (done.code, done.json["hits"]) == (1, [])


def test_every_expected_page_is_in_the_vault():
    missing = [
        case["expect"]
        for case in QUERIES
        if case["expect"] and not (CHECKOUT / "example-vault" / case["expect"]).is_file()
    ]
    assert not missing


def test_the_catalog_holds_the_pages_and_blobs_that_gitpython_reads(vault):
    """A second opinion on the listing: another implementation reads git's index."""
    key = memidx("status", "--json", cwd=vault, model=True).json["snapshot"]
    catalog = Catalog.open(vault / ".git" / "memidx" / "snapshots" / key / "catalog.db")
    with git.Repo(vault) as repo:
        theirs = {(path, entry.hexsha) for (path, _), entry in repo.index.entries.items() if path.endswith(".md")}
    assert set(catalog.listing()) == theirs
    catalog.close()
