"""`--near`: pages like one, or like one of its sections."""

from __future__ import annotations

import pytest
from clirun import memidx as run

import memidx
from memidx.everyday import near
from memidx.ground.errors import UsageError

PAGES = {
    "a.md": "# Monday\n\n## Databases\n\nPostgres replicas lag behind the primary database.\n\n"
    "## Kitchen\n\nThe canteen serves tomato soup and bread.\n",
    "db.md": "# Replicas\n\nA postgres replica that lags is rebuilt from the primary database.\n",
    "food.md": "# Menu\n\nTomato soup, bread and cheese from the canteen.\n",
    "other.md": "# Parking\n\nBicycles stand in the yard.\n",
    "empty.md": "# \n\n...\n",
}


@pytest.fixture
def vault(repo):
    repo.write(PAGES)
    return memidx.open_vault(repo.root)


def paths(answer):
    return [hit.path for hit in answer.hits]


def test_a_page_is_like_those_that_say_what_it_says_and_not_its_own_answer(vault):
    assert set(paths(near(vault, "a.md"))[:2]) == {"db.md", "food.md"}
    assert "a.md" not in paths(near(vault, "a.md"))


@pytest.mark.parametrize(("line", "first"), [(5, "db.md"), (4, "db.md"), (9, "food.md"), (99, "food.md")])
def test_a_line_chooses_the_section(vault, line, first):
    assert paths(near(vault, f"a.md:{line}"))[0] == first


def test_words_alone_will_do_without_a_model(repo):
    repo.write(PAGES)
    vault = memidx.open_vault(repo.root, vector=memidx.ground.settings.VectorSettings(model="none"))
    assert paths(near(vault, "a.md:9"))[0] == "food.md"


def test_what_cannot_be_compared_is_said(vault):
    with pytest.raises(UsageError, match="no words to compare"):
        near(vault, "empty.md")
    with pytest.raises(UsageError, match=r"nowhere\.md"):
        near(vault, "nowhere.md")


def test_the_command_takes_a_page_or_a_question_and_not_both(repo):
    repo.write(PAGES)
    done = run("query", "--near", "a.md:9", "-n", "1", cwd=repo.root)
    assert done.code == 0 and "food.md" in done.out
    for args in ((), ("--near", "a.md", "soup"), ("--near", "a.md", "--staged"), ("--near", "a.md", "--no-refresh")):
        refused = run("query", *args, cwd=repo.root)
        assert refused.code == 2 and "hint:" in refused.err, args
