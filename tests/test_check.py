"""`memidx check`: findings in pages and between them, from every source, in every form; and what it may mend."""

from __future__ import annotations

import json
import re

import pytest
from clirun import memidx
from hypothesis import given, settings
from hypothesis import strategies as st
from repo import Repo

from memidx.doors.findings_text import github_lines, sarif
from memidx.ground.codes import CODES
from memidx.ground.diagnostics import Diagnostic

PAST, FUTURE = "2001-01-01", "2999-01-01"


def found(root, *args, env=None):
    """(path, line, col, code) of each finding."""
    plain = memidx("check", "--json", *args, cwd=root, env=env).json
    return [(d["path"], d["line"], d["col"], d["code"]) for d in plain["diagnostics"]]


def codes(root, *args, env=None):
    return [code for *_, code in found(root, *args, env=env)]


def checked(repo, files):
    repo.write(files)
    repo.git("add", "-A")
    return found(repo.root)


# -- links ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "link",
    [
        "[[Harbour]]", "[[harbour]]", "[[b]]", "[[sub/c]]", "[[c]]", "[[b.md]]", "[[sub/c.md|label]]", "[[ADR-007]]",
        "[[Old name]]", "[[b#Red boats]]", "[[b#red-boats]]", "[[#Here]]", "[[b#^block]]", "[[pic.png]]", "![[pic.png]]",
        "[x](b.md)", "[x](./b.md#red-boats)", "[x](/sub/c.md)", "[x](sub/)", "[x](sub)", "[x](img/pic.png)", "[x](b)",
        "[x](sub/c.md#L10-L12)", "[x](b.md#own)", "[x](https://x.org/no.md)", "[x](../elsewhere.md)", "`[[nowhere]]`",
        "[[{{template}}]]", "[x](caf%C3%A9.md)", "[[cafe\u0301]]", "[x](#here)", "[x](Makefile)",
    ],
)  # fmt: skip
def test_a_link_that_leads_somewhere_is_no_finding(repo, link):
    files = {
        "b.md": "---\naliases: Old name\n---\n# Harbour\n\n## Red boats\n\n<a id='own'></a>\n",
        "sub/c.md": "# C\n",
        "img/pic.png": b"\x89PNG",
        "Makefile": "all:\n",
        "caf\u00e9.md": "# Cafe\n",
        "decisions/ADR-007-use-git.md": "# Use git\n",
        "a.md": f"# A\n\n## Here\n\n{link}\n",
    }
    assert checked(repo, files) == []


@pytest.mark.parametrize(
    ("link", "code"),
    [
        ("[[nowhere]]", "link-broken"),
        ("[x](nowhere.md)", "link-broken"),
        ("[x](sub/nowhere.pdf)", "link-broken"),
        ("[x](/nowhere.md)", "link-broken"),
        ("[[nowhere.png]]", "link-broken"),
        ("[[Twice]]", "link-ambiguous"),
        ("[[b#Nowhere]]", "link-anchor"),
        ("[x](b.md#nowhere)", "link-anchor"),
        ("[[#Nowhere]]", "link-anchor"),
    ],
)
def test_a_link_that_leads_nowhere_names_its_place(repo, link, code):
    files = {
        "b.md": "# B\n",
        "x.md": "# Twice\n",
        "y.md": "---\nid: twice\n---\n# Y\n",
        "a.md": f"---\nk: v\n---\n# A\n\nsee {link}\n",
    }
    assert checked(repo, files) == [("a.md", 6, 5, code)]


def test_an_ambiguous_link_names_the_pages_and_its_folder_decides(repo):
    repo.write({"x/n.md": "# X\n", "y/n.md": "# Y\n", "a.md": "[[n]]\n\n[[y/n]]\n\n[[x/n.md]]\n"})
    (note,) = memidx("check", "--json", cwd=repo.root).json["diagnostics"]
    assert (note["line"], note["code"]) == (1, "link-ambiguous")
    assert "x/n.md, y/n.md" in note["message"]


def test_what_a_link_names_is_looked_up_in_the_tree_that_is_checked(repo):
    repo.write({"a.md": "[x](pic.png) [[b]]\n", "pic.png": "x", "b.md": "# B\n"})
    first = repo.commit()
    repo.git("rm", "-q", "pic.png", "b.md")
    repo.write({"b.md": "# On disk alone\n"})
    assert codes(repo.root, "--rev", first) == []
    assert codes(repo.root, "--staged") == ["link-broken", "link-broken"]
    assert codes(repo.root) == ["link-broken"]


# -- between pages -------------------------------------------------------------------------------------------------------


def test_titles_and_ids_that_several_pages_claim(repo):
    files = {
        "a.md": "---\nid: 7\ntitle: Same\n---\n",
        "b.md": "---\ntitle: b\nid: 7\n---\n",
        "c.md": "# same\n",
        "x/README.md": "text\n",
        "y/README.md": "text\n",
    }
    assert checked(repo, files) == [
        ("a.md", 2, 1, "duplicate-id"), ("a.md", 3, 1, "duplicate-title"), ("b.md", 3, 1, "duplicate-id"),
        ("c.md", 0, 0, "duplicate-title"),
    ]  # fmt: skip


def test_superseded_by_that_dangles_is_ambiguous_or_goes_round(repo):
    files = {
        "a.md": "---\nsuperseded_by: nowhere\n---\n",
        "b.md": "---\nsuperseded_by: Twice\n---\n",
        "x.md": "---\ntitle: Twice\n---\n",
        "y.md": "---\naliases: [twice]\n---\n",
        "c.md": "---\nk: v\nsuperseded_by: '[[d]]'\n---\n",
        "d.md": "---\nsuperseded_by: c\n---\n",
        "e.md": "---\nsuperseded_by: [x, y]\n---\n",
    }
    assert checked(repo, files) == [
        ("a.md", 2, 1, "superseded-dangling"), ("b.md", 2, 1, "superseded-ambiguous"),
        ("c.md", 3, 1, "superseded-circular"), ("d.md", 2, 1, "superseded-circular"),
    ]  # fmt: skip


def test_expired_pages_are_named_at_their_line(repo):
    assert checked(
        repo, {"a.md": f"---\nk: v\nexpires_at: {PAST}\n---\n", "b.md": f"---\nexpires_at: {FUTURE}\n---\n"}
    ) == [("a.md", 3, 1, "expired")]


def test_n2_n4_names_that_differ_only_in_form_or_case(repo):
    files = {"caf\u00e9.md": "# 1\n", "cafe\u0301.md": "# 2\n", "README.md": "# 3\n", "readme.md": "# 4\n"}
    assert checked(repo, files) == [
        ("README.md", 0, 0, "twin-case"), ("cafe\u0301.md", 0, 0, "twin-normal"), ("caf\u00e9.md", 0, 0, "twin-normal"),
        ("readme.md", 0, 0, "twin-case"),
    ]  # fmt: skip


def test_f14_conflicts_are_errors_and_examples_are_not(repo):
    repo.write(
        {
            "a.md": "# A\n\n<<<<<<< x\n1\n=======\n2\n>>>>>>> y\n",
            "b.md": "```\n<<<<<<< x\n=======\n>>>>>>> y\n```\n\nTitle\n=======\n",
        }
    )
    assert found(repo.root) == [("a.md", 3, 1, "conflict-marker")]
    assert memidx("check", cwd=repo.root).code == 1


def test_pages_that_feedback_calls_wrong_are_named_until_they_change(repo):
    repo.write({"a.md": "# A\n", ".gitattributes": ".memidx/decay.jsonl merge=union\n"})
    blob = repo.git("hash-object", "a.md")
    event = {"id": "1", "at": "2024-01-01T00:00:00Z", "kind": "wrong", "path": "a.md", "blob": blob, "seq": 1}
    repo.write({".memidx/decay.jsonl": json.dumps(event) + "\n"})
    assert found(repo.root) == [("a.md", 0, 0, "flagged")]
    repo.write({"a.md": "# A, mended\n"})
    assert found(repo.root) == []


# -- sources, paths, severities ------------------------------------------------------------------------------------------


def test_g7_staged_means_the_blobs_that_are_committed(repo):
    repo.write({"a.md": "---\ntitle: *x*\n---\n"})
    repo.git("add", "-A")
    repo.write({"a.md": "# Good\n"})
    assert codes(repo.root, "--staged") == ["front-matter-yaml"]
    assert codes(repo.root) == []
    repo.git("add", "-A")
    repo.write({"a.md": "---\ntitle: *x*\n---\n"})
    assert codes(repo.root, "--staged") == []
    assert codes(repo.root) == ["front-matter-yaml"]


def test_paths_limit_what_is_named_and_not_what_it_is_compared_with(repo):
    files = {
        "a.md": "# Same\n\n[[b]] [[no]]\n",
        "b.md": "# Same\n\n[[no]]\n",
        "sub/c.md": "[[no]]\n",
        "sub2/d.md": "[[no]]\n",
    }
    checked(repo, files)
    for built in (False, True):
        if built:
            memidx("build", cwd=repo.root)
        assert found(repo.root, "a.md") == [("a.md", 0, 0, "duplicate-title"), ("a.md", 3, 7, "link-broken")]
        assert found(repo.root, "sub", "./b.md") == [
            ("b.md", 0, 0, "duplicate-title"), ("b.md", 3, 1, "link-broken"), ("sub/c.md", 1, 1, "link-broken"),
        ]  # fmt: skip
    assert [path for path, *_ in found(repo.root / "sub", "c.md")] == ["sub/c.md"]
    assert len(found(repo.root, ".")) == len(found(repo.root)) == 6
    done = memidx("check", "/etc/passwd", cwd=repo.root)
    assert (done.code, "outside the vault" in done.err) == (2, True)


def test_a_snapshot_saves_reading_and_never_changes_the_answer(repo):
    checked(repo, {"a.md": "[[b]] [[New]]\n", "b.md": "# B\n", "c.md": "# Was\n"})
    memidx("build", cwd=repo.root)
    repo.write({"c.md": "# New\n"})
    assert found(repo.root, "a.md") == []
    repo.write({"c.md": "# Was\n"})
    assert [code for *_, code in found(repo.root, "a.md")] == ["link-broken"]


def test_severities_are_configurable(repo):
    repo.write({"a.md": "---\ntitle: *x*\n---\n[[no]]\n"})
    assert memidx("check", cwd=repo.root).code == 1
    repo.write({".memidx/config.yaml": "check:\n  severity: {front-matter-yaml: warning, link-broken: off}\n"})
    done = memidx("check", cwd=repo.root)
    assert done.code == 0
    assert [": warning: " in line for line in done.out.splitlines()] == [True]
    repo.write({".memidx/config.yaml": "check:\n  severity: {link-broken: error, front-matter-yaml: info}\n"})
    done = memidx("check", cwd=repo.root)
    assert (done.code, "1 note (--all shows them)" in done.err) == (1, True)
    assert len(memidx("check", "--all", cwd=repo.root).out.splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [("{link-brokn: off}", "did you mean 'link-broken'?"), ("{link-broken: loud}", "one of error, warning, info, off"), ("off", "takes a mapping")],
)  # fmt: skip
def test_a_severity_that_cannot_be_is_an_error(repo, text, says):
    repo.write({"a.md": "x\n", ".memidx/config.yaml": f"check:\n  severity: {text}\n"})
    done = memidx("check", cwd=repo.root)
    assert (done.code, says in done.err) == (2, True)


def test_nothing_is_built_and_nothing_is_written(repo):
    repo.write({"a.md": "[[no]]\n"})
    repo.commit()
    memidx("check", cwd=repo.root)
    assert not (repo.git_dir / "memidx").exists()
    assert repo.status() == ""


@pytest.mark.parametrize(
    "args",
    [
        ("--dry-run",),
        ("--fix", "--staged"),
        ("--fix", "--rev", "HEAD"),
        ("--json", "--format", "sarif"),
        ("--staged", "--rev", "HEAD"),
    ],
)
def test_options_that_contradict_each_other_are_refused(repo, args):
    repo.write({"a.md": "x\n"})
    repo.commit()
    assert memidx("check", *args, cwd=repo.root).code == 2


# -- forms ---------------------------------------------------------------------------------------------------------------


def test_the_text_form_names_path_line_and_column(repo):
    repo.write({"a.md": "see [[no]]\n"})
    done = memidx("check", cwd=repo.root)
    assert done.out == "a.md:1:5: warning: 'no' is no page and no file of this vault (link-broken)\n"
    assert done.err == "memidx: 1 page: 1 warning\n"


def test_github_annotations_are_escaped_and_relative_to_the_repository(repo):
    repo.write({"docs/.memidx/config.yaml": "", "docs/a, 50%:b.md": "---\ntitle: *x*\n---\n"})
    done = memidx("check", "--format", "github", cwd=repo.root / "docs")
    assert done.code == 1
    assert done.out.startswith("::error file=docs/a%2C 50%25%3Ab.md,line=2,col=")
    assert "title=memidx front-matter-yaml::" in done.out


@settings(deadline=None, max_examples=25)
@given(
    st.text(max_size=40),
    st.text(min_size=1, max_size=40),
    st.integers(0, 9),
    st.sampled_from(["error", "warning", "info"]),
)
def test_a_github_annotation_is_one_line_that_reads_back(message, path, line, severity):
    (written,) = github_lines([Diagnostic(path, line, 0, severity, message, "expired")], "")
    assert "\n" not in written
    assert "\r" not in written
    match = re.fullmatch(
        r"::(error|warning|notice) file=([^,:]*)(,line=\d+)?,title=memidx expired::(.*)", written, re.DOTALL
    )
    assert match, written
    assert bool(match[3]) == (line > 0)


def test_sarif_has_the_shape_of_2_1_0(repo):
    repo.write(
        {
            "a b.md": "see [[no]]\n",
            "bad.md": "---\ntitle: *x*\n---\n",
            "caf\u00e9.md": f"---\nexpires_at: {PAST}\n---\n",
        }
    )
    done = memidx("check", "--format", "sarif", cwd=repo.root)
    log = json.loads(done.out)
    assert (done.code, log["version"]) == (1, "2.1.0")
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert {rule["id"] for rule in rules} == {"link-broken", "front-matter-yaml", "expired"}
    for rule in rules:
        assert rule["shortDescription"]["text"] == CODES[rule["id"]][1]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
        assert place["region"]["startLine"] >= 1
    assert {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]} == {
        "a%20b.md", "bad.md", "caf%C3%A9.md",
    }  # fmt: skip
    whole_file = sarif([Diagnostic("a.md", 0, 0, "info", "m", "twin-case")], "docs/")["runs"][0]["results"][0]
    assert "region" not in whole_file["locations"][0]["physicalLocation"]
    assert memidx("check", "--format", "sarif", "a b.md", cwd=repo.root).code == 0


# -- mending -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def conflicted(repo):
    repo.write(
        {
            "a.md": "---\ntitle: *x*\n---\n",
            ".memidx/decay.jsonl": '<<<<<<< HEAD\n{"kind": "later"}\n=======\n>>>>>>> x\n',
        }
    )
    repo.commit()
    return repo


def test_fix_shows_a_diff_and_never_touches_a_page(conflicted):
    assert codes(conflicted.root, ".memidx") == [
        "sidecar-merge",
        "sidecar-conflict",
        "sidecar-conflict",
        "sidecar-conflict",
    ]
    done = memidx("check", "--fix", "--dry-run", cwd=conflicted.root)
    assert (done.code, conflicted.status()) == (1, "")
    assert "--- a/.memidx/decay.jsonl\n" in done.out
    assert "+.memidx/decay.jsonl merge=union" in done.out
    done = memidx("check", "--fix", cwd=conflicted.root)
    assert done.code == 1  # the page is still what it was
    assert conflicted.status().split("\n") == [" M .memidx/decay.jsonl", "?? .gitattributes"]
    assert (conflicted.root / ".memidx/decay.jsonl").read_text() == '{"kind": "later"}\n'
    assert codes(conflicted.root) == ["front-matter-yaml"]
    assert "nothing that can be mended" in memidx("check", "--fix", cwd=conflicted.root).err


def test_fix_follows_no_link(conflicted, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("x\n")
    (conflicted.root / ".gitattributes").symlink_to(outside)
    done = memidx("check", "--fix", cwd=conflicted.root)
    assert (done.code, "symbolic link" in done.err) == (2, True)
    assert outside.read_text() == "x\n"


def test_an_empty_vault_passes(repo):
    assert memidx("check", cwd=repo.root)[:2] == (0, "")
    assert memidx("check", "--staged", cwd=repo.root)[:2] == (0, "")


def test_sha256_repositories_are_checked_too(tmp_path):
    repo = Repo.create(tmp_path / "r", "--object-format=sha256")
    repo.write({"a.md": "[[no]]\n"})
    repo.git("add", "-A")
    assert codes(repo.root, "--staged") == ["link-broken"]
