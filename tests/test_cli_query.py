"""`memidx query` from arguments to exit code, stdout and stderr."""

from __future__ import annotations

import json
import math
import re

import pytest
from clirun import finished, memidx
from hypothesis import given, settings
from hypothesis import strategies as st

from memidx.doors.commands.query import split_words

PAGES = {
    "_rules/naming.md": "---\ntags: [style]\nowner: Ada\nupdated: 2024-03-10\n---\n# Naming things\n\nUse plain lighthouse words.\n",
    "runbooks/rollback.md": "---\nupdated: 2024-03-31\n---\n# Rollback\n\nintro\n\n## Steps\n\nTurn the lighthouse back.\n",
    "notes/draft.md": "---\nupdated: 2023-01-01T10:00:00Z\n---\n# A draft\n\nAn unfinished draft about the lighthouse.\n",
}


@pytest.fixture
def vault(repo):
    repo.write(PAGES)
    repo.commit()
    return repo


def paths(*args, cwd, **how):
    done = memidx("query", *args, "--json", cwd=cwd, **how)
    assert done.code in (0, 1), done.err
    return {hit["path"] for hit in done.json["hits"]}


def test_found_is_0_nothing_is_1_an_error_is_2(vault):
    assert memidx("query", "lighthouse", cwd=vault.root).code == 0
    assert memidx("query", "zxqv", cwd=vault.root).code == 1
    assert memidx("query", "x", "--rev", "nowhere", cwd=vault.root).code == 2
    assert memidx("search", "lighthouse", cwd=vault.root).code == 0


def test_nothing_found_says_so_on_stderr_alone(vault):
    done = memidx("query", "zxqv", cwd=vault.root)
    assert done.out == ""
    assert "nothing found" in done.err


def test_b9_no_hits_as_json_is_an_object_with_an_empty_list(vault):
    done = memidx("query", "zxqv", "--json", cwd=vault.root)
    assert done.code == 1
    assert done.json["hits"] == []
    assert memidx("query", "zxqv", "--jsonl", cwd=vault.root)[:2] == (1, "")


def test_b9_a_title_with_quotes_and_a_newline_is_valid_json_and_one_line_of_text(repo):
    title = 'She said "light\\house"\nand left'
    repo.write({"a.md": f"---\ntitle: {json.dumps(title)}\n---\nlighthouse\n"})
    assert memidx("query", "lighthouse", "--json", cwd=repo.root).json["hits"][0]["title"] == title
    line = memidx("query", "lighthouse", "--jsonl", cwd=repo.root).out
    assert line.count("\n") == 1
    assert json.loads(line)["title"] == title
    assert memidx("query", "lighthouse", cwd=repo.root).out.startswith('1. She said "light\\house" and left\n')


def test_text_names_title_kind_place_heading_and_snippet(vault):
    done = memidx("query", "turn", cwd=vault.root)
    assert done.out == ("1. Rollback\n   runbooks/rollback.md:8  procedure\n   § Steps\n   Turn the lighthouse back.\n")


def test_matching_words_are_marked_in_colour_only(vault):
    plain = memidx("query", "lighthouse", cwd=vault.root).out
    coloured = memidx("--color", "always", "query", "lighthouse", cwd=vault.root, env={"NO_COLOR": "1"}).out
    assert "\x1b" not in plain
    assert "\x1b[33m\x1b[1mlighthouse\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


def test_text_fits_80_columns_where_words_allow_it(repo):
    long = "lighthouse " * 60
    repo.write(
        {"a.md": f"# {'Long title about things ' * 8}\n\n## {'Part ' * 40}\n\n{long}\n\n{'灯' * 120} lighthouse\n"}
    )
    done = memidx("query", "lighthouse", "--path", "a.md", cwd=repo.root)
    for line in done.out.splitlines():
        assert len(line) + line.count("灯") <= 80


def test_control_characters_and_turned_text_are_made_visible(repo):
    repo.write({"a\x1b[31m.md": '---\ntitle: "Light \\e[2J \\u202Eesuoh"\n---\nlighthouse \x1b]0;x\x07 \u2066end\n'})
    done = memidx("query", "lighthouse", cwd=repo.root)
    assert done.code == 0
    assert not set(done.out) & set("\x1b\x07\u202e\u2066")
    assert "Light \\x1b[2J \\u202eesuoh" in done.out
    assert "a\\x1b[31m.md:4" in done.out


def test_n1_a_path_that_is_not_utf8_prints_as_text_and_as_json(repo):
    try:
        repo.write({"caf\udce9.md": "# Lighthouse\n"})
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    done = finished("query", "lighthouse", cwd=repo.root)
    assert "caf\\xe9.md:1" in done.out
    done = finished("query", "lighthouse", "--json", cwd=repo.root)
    assert json.loads(done.out)["hits"][0]["path"] == "caf\udce9.md"


def test_output_for_a_terminal_that_is_not_utf8_is_still_written(repo):
    repo.write({"a.md": "# Café 灯\n\nlighthouse\n"})
    env = {"PYTHONIOENCODING": "ascii"}
    done = finished("query", "lighthouse", cwd=repo.root, env=env)
    assert done.out.startswith("1. Caf\\xe9 \\u706f\n")
    done = finished("query", "lighthouse", "--json", cwd=repo.root, env=env)
    assert json.loads(done.out)["hits"][0]["title"] == "Café 灯"


def test_a_word_with_a_dash_is_left_out_of_the_answer(vault):
    assert paths("lighthouse", "-draft", cwd=vault.root) == {"_rules/naming.md", "runbooks/rollback.md"}
    assert paths("-draft", "lighthouse", "-n", "5", cwd=vault.root) == {"_rules/naming.md", "runbooks/rollback.md"}
    assert len(paths("lighthouse", "-draft", "-n1", cwd=vault.root)) == 1
    # Exactly -n, -C and -h are options, and so is -n with a number; a longer word that starts with them is a word.
    assert paths("lighthouse", "-naming", cwd=vault.root) == {"notes/draft.md", "runbooks/rollback.md"}
    assert memidx("query", "lighthouse", "-C", str(vault.root), "-draft").code == 0


def test_after_two_dashes_everything_is_words(repo):
    repo.write({"a.md": "# Options\n\nUse --json and -n here.\n"})
    done = memidx("query", "--", "--json", cwd=repo.root)
    assert done.code == 0
    assert done.out.startswith("1. Options")


def test_q4_only_what_must_not_occur_gives_no_hits_and_a_hint(vault):
    done = memidx("query", "-draft", cwd=vault.root)
    assert (done.code, done.out) == (1, "")
    assert "add a word to look for" in done.err
    for text in ("", "*", "???"):
        done = memidx("query", text, cwd=vault.root)
        assert (done.code, done.out) == (1, "")
        assert "no words to look for" in done.err


def test_words_are_joined_and_operators_work(vault):
    assert paths("turn", "the", cwd=vault.root) == paths("turn the", cwd=vault.root)
    assert paths('"plain lighthouse"', cwd=vault.root) == {"_rules/naming.md"}
    assert paths("lighthouse", "kind:procedure", cwd=vault.root) == {"runbooks/rollback.md"}


def test_filters(vault):
    def found(*args):
        return paths("lighthouse", *args, cwd=vault.root)

    assert found("--kind", "rule") == {"_rules/naming.md"}
    assert found("--kind", "rule,procedure") == {"_rules/naming.md", "runbooks/rollback.md"}
    assert found("--kind", "rule", "--kind", "note") == {"_rules/naming.md", "notes/draft.md"}
    assert found("--kind", "Runbooks") == {"runbooks/rollback.md"}
    assert found("--tag", "style") == found("--tag", "#style") == {"_rules/naming.md"}
    assert found("--tag", "style", "--tag", "other") == set()
    assert found("--path", "notes/") == {"notes/draft.md"}
    assert found("--where", "owner=ada") == {"_rules/naming.md"}
    assert found("--where", "owner=bob") == set()
    assert found("--only", "lexical") == {"_rules/naming.md", "runbooks/rollback.md", "notes/draft.md"}


def test_since_and_until_take_whole_days_in_utc(vault):
    def found(*args):
        return paths("lighthouse", *args, cwd=vault.root)

    assert found("--since", "2024-03-31") == {"runbooks/rollback.md"}
    assert found("--until", "2024-03-10") == {"_rules/naming.md", "notes/draft.md"}
    assert found("--until", "2023-01-01") == {"notes/draft.md"}
    assert found("--until", "2023-01-01T09:59") == set()
    assert found("--since", "1d") == set()
    assert found("--until", "1d", "--since", "99y") == set(PAGES)


@pytest.mark.parametrize(
    "args",
    [
        ["--kind", "procedur"],
        ["--since", "yesterday"],
        ["--until", "2024-02-30"],
        ["--where", "owner"],
        ["--only", "everything"],
        ["--rev", "HEAD", "--staged"],
        ["--no-refresh", "--require-fresh"],
        ["--index", "x", "--rev", "HEAD"],
        ["--index", "missing"],
        ["--nope"],
    ],
)
def test_options_that_cannot_be_meant_are_errors(vault, args):
    done = memidx("query", "lighthouse", *args, cwd=vault.root)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("memidx: error: ")
    assert "hint: " in done.err


def test_rev_and_staged_ask_other_trees(vault):
    vault.git("tag", "v1")
    vault.write({"new.md": "# Beacon\n"})
    vault.git("add", "new.md")
    vault.write({"new.md": "# Foghorn\n"})
    assert paths("beacon", cwd=vault.root) == set()
    assert paths("foghorn", cwd=vault.root) == {"new.md"}
    assert paths("beacon", "--staged", cwd=vault.root) == {"new.md"}
    assert paths("foghorn", "--rev", "v1", cwd=vault.root) == set()
    assert paths("lighthouse", "--rev", "v1", cwd=vault.root) == set(PAGES)


def test_no_refresh_and_require_fresh(vault):
    assert memidx("query", "lighthouse", "--no-refresh", cwd=vault.root).code == 2
    assert memidx("query", "lighthouse", "--require-fresh", cwd=vault.root).code == 2
    memidx("build", cwd=vault.root)
    assert memidx("query", "lighthouse", "--require-fresh", cwd=vault.root).code == 0
    vault.write({"new.md": "# Beacon\n"})
    done = memidx("query", "beacon", "--require-fresh", cwd=vault.root)
    assert (done.code, done.out) == (2, "")
    assert "memidx build" in done.err
    done = memidx("query", "lighthouse", "--no-refresh", "--json", cwd=vault.root)
    assert done.json["fresh"] == "stale"
    assert "stale" in done.err
    assert memidx("query", "beacon", cwd=vault.root).code == 0


def test_explain_prints_the_arithmetic_of_a_rank(vault):
    done = memidx("query", "lighthouse", "--explain", cwd=vault.root, model=True)
    for word in ("rank -", "fused", "authority", "lexical: rank 1", "vector: rank ", "share ", "snapshot: "):
        assert word in done.out, word
    plain = memidx("query", "lighthouse", "--explain", "--json", cwd=vault.root, model=True).json
    for hit in plain["hits"]:
        assert hit["rank"] == pytest.approx(-hit["fused"] * hit["authority"])
        assert "explain" in hit
    assert all(math.isfinite(s["score"]) for hit in plain["hits"] for s in hit["streams"].values())


def test_a_missing_model_is_said_on_stderr_and_in_json(vault, tmp_path):
    env = {"MEMIDX_VECTOR_MODEL": f"model2vec:{tmp_path / 'none'}"}
    done = memidx("query", "lighthouse", "--json", cwd=vault.root, env=env)
    assert done.code == 0
    assert done.json["degraded"] == ["vector"]
    assert "degraded" in done.err


def test_git_status_is_untouched_by_a_query(vault):
    vault.write({"new.md": "# Beacon\n"})
    before = vault.status()
    memidx("query", "beacon", cwd=vault.root)
    assert vault.status() == before == "?? new.md"


TAKES_VALUE = {"-n": True, "--limit": True, "--kind": True, "--json": False, "-C": True, "-h": False}
WORDS = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from([*TAKES_VALUE, "-n5", "--", "-", "-draft"])


@given(st.lists(WORDS, max_size=8))
@settings(deadline=None, max_examples=100)
def test_law_every_argument_becomes_an_option_or_a_word_and_keeps_its_order(args):
    options, words = split_words(args, TAKES_VALUE)
    assert sorted([*options, *words]) == sorted(args if "--" not in args else _without_first(args, options))
    for part in (options, words):
        rest = iter(args)
        assert all(item in rest for item in part)


def _without_first(args, options):
    """The arguments without the `--` that ends the options; one that is an option's value stays."""
    at = next((i for i, a in enumerate(args) if a == "--" and not _is_value(args, i)), None)
    return args if at is None else args[:at] + args[at + 1 :]


def _is_value(args, at):
    taken = False
    for i in range(at + 1):
        if taken:
            taken = False
            if i == at:
                return True
        else:
            taken = bool(TAKES_VALUE.get(args[i]))
    return False


def test_split_words_by_example():
    found = split_words(["deploy", "-draft", "-n", "-5", "--kind=x", "-n7", "--", "-n", "--json"], TAKES_VALUE)
    assert found == (["-n", "-5", "--kind=x", "-n7"], ["deploy", "-draft", "-n", "--json"])
