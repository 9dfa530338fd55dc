"""What each git command fires, what memidx then does, and what the next query sees; compared with git without hooks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from clirun import CHECKOUT, memidx
from hookrepo import program
from repo import Repo

DOCS = CHECKOUT / "docs" / "hooks.md"
BEGIN, END = "<!-- matrix -->\n", "<!-- end of matrix -->\n"
WRITE = "WRITE_HOOK_MATRIX"
TIMES = {"GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000", "GIT_SEQUENCE_EDITOR": "true"}
NO_HOOKS = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": "/dev/null"}
pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX shells")

# Notes which hook fired, and that it was given its arguments.
RECORDER = """\
#!/bin/sh
name=$(basename "$0" .before-memidx)
case $name in
    post-checkout) shift 2 ;;
    applypatch-msg) shift ;;
esac
echo "$name $*" >>"$FIRED"
"""
OTHERS = ("pre-merge-commit", "applypatch-msg", "pre-applypatch", "post-applypatch")
# A memidx for PATH that looks at the index and the work tree before and after the real one.
WATCHED = """\
#!/bin/sh
state() {{
    cksum <"${{GIT_INDEX_FILE:-$(git rev-parse --git-dir)/index}}"
    find . -name .git -prune -o -type f -exec cksum {{}} +
}}
before=$(state)
PYTHONPATH="{checkout}" "{python}" -m memidx "$@"
code=$?
[ "$before" = "$(state)" ] || echo "CHANGED BY $1 $2" >>"$RAN"
echo "$2" >>"$RAN"
exit $code
"""


class Row(NamedTuple):
    """``action`` and ``setup`` are shell scripts. ``sees`` is ``fresh`` or ``built``: what the next query found."""

    case: str
    action: str
    fired: str
    ran: str
    sees: str
    setup: str = ""
    slow: bool = False
    where: str = "."  # the work tree that is asked afterwards
    note: str = ""
    refused: bool = False  # memidx is to stop it


CHANGE = "echo red >>a.md; git add a.md"
SIDE = (
    "git switch -q -c side; echo side >s.md; git add s.md; git commit -q -m side;"
    " git switch -q main; echo main >m.md; git add m.md; git commit -q -m main"
)
CLASH = SIDE + "; git switch -q side; echo x >m.md; git add m.md; git commit -q -m clash; git switch -q main"
AHEAD = "git switch -q -c side; echo side >s.md; git add s.md; git commit -q -m side; git switch -q main"
BOTH = "pre-commit, post-commit"
ROWS = [
    Row("one page", "git commit -q -m x", BOTH, "pre-commit", "fresh", CHANGE),
    Row("no page", "git commit -q -m x", BOTH, "", "fresh", "echo pass >>code.py; git add code.py", note="no page changed"),
    Row("G1", "git commit -q -a -m x", BOTH, "pre-commit", "fresh", "echo red >>a.md", slow=True),
    Row("G2", "git commit -q -m x a.md", BOTH, "pre-commit", "fresh", "echo red >>a.md; echo blue >>b.md; git add a.md b.md"),
    Row("G6", "git commit -q -m x", BOTH, "pre-commit", "fresh", "echo red >>a.md; git add a.md; echo dirty >>b.md; echo SECRET >.env", note="another page is not staged", slow=True),
    Row("", "git commit -q --amend -m x", BOTH + ", post-rewrite amend", "pre-commit, post-commit", "fresh", CHANGE + "; git commit -q -m x; echo more >>a.md; git add a.md"),
    Row("G10", "git commit -q --no-verify -m x", "post-commit", "post-commit", "fresh", CHANGE),
    Row("", "git merge -q --no-edit side", "pre-merge-commit, post-merge 0", "post-merge", "fresh", SIDE),
    Row("", "git merge -q --ff-only side", "post-merge 0", "post-merge", "fresh", AHEAD, slow=True),
    Row("G10", "git merge -q --squash side", "post-merge 1", "post-merge", "fresh", SIDE, slow=True),
    Row("G17", "git merge -q side || true; echo both >m.md; git add m.md; git commit -q --no-edit", BOTH, "pre-commit", "fresh", CLASH),
    Row("G9", "git rebase -q main", "post-checkout 1, post-commit, post-rewrite rebase", "post-rewrite", "fresh", SIDE + "; git switch -q side"),
    Row("G9", "git rebase -q -i --exec true main", "post-checkout 1, post-commit, post-rewrite rebase", "post-rewrite", "fresh", SIDE + "; git switch -q side", slow=True),
    Row("", "git rebase -q side", "post-checkout 1", "post-checkout", "fresh", AHEAD, slow=True),
    Row("G9", "git rebase -q --apply main", "post-checkout 1, applypatch-msg, pre-applypatch, post-applypatch, post-rewrite rebase", "post-rewrite", "fresh", SIDE + "; git switch -q side", slow=True),
    Row("", "git switch -q side", "post-checkout 1", "post-checkout", "fresh", SIDE),
    Row("", "git switch -q -c other", "post-checkout 1", "", "fresh", slow=True),
    Row("", "git checkout -q HEAD~1 -- a.md", "post-checkout 0", "", "fresh", CHANGE + "; git commit -q -m x", slow=True),
    Row("G10", "git cherry-pick side", "post-commit", "post-commit", "fresh", SIDE, slow=True),
    Row("G10", "git cherry-pick side~2..side", "post-commit, post-commit", "post-commit", "fresh", AHEAD + "; git switch -q side; echo t >t.md; git add t.md; git commit -q -m t; git switch -q main", slow=True),
    Row("G10", "git revert --no-edit HEAD", "post-commit", "post-commit", "fresh", CHANGE + "; git commit -q -m x", slow=True),
    Row("G10", "git format-patch -q -1 --stdout side | git am -q", "applypatch-msg, pre-applypatch, post-applypatch", "", "built", SIDE, slow=True),
    Row("G10", "git reset -q --hard HEAD~1", "", "", "built", CHANGE + "; git commit -q -m x; echo z >z.md; git add z.md; git commit -q -m z"),
    Row("G10", "git stash -q", "", "", "fresh", "echo red >>a.md", slow=True),
    Row("G10", "git stash pop -q", "", "", "built", "echo red >>a.md; git stash -q", slow=True),
    Row("G3", "cd ../linked; echo red >>a.md; git commit -q -a -m x", BOTH, "pre-commit", "fresh", "git worktree add -q ../linked", where="../linked"),
    Row("G16", "git worktree add -q ../linked", "post-checkout 1", "post-checkout", "fresh", slow=True, where="../linked"),
    Row("G12", "git mv a.md sub/a.md; git commit -q -m x", BOTH, "pre-commit", "fresh", "mkdir sub", slow=True),
    Row("G12", "git rm -q a.md; mkdir a.md; echo deep >a.md/c.md; git add -A; git commit -q -m x", BOTH, "pre-commit", "fresh", slow=True),
    Row("G7", "git commit -q -m x", "pre-commit", "pre-commit", "fresh", "printf -- '---\\ntitle: *x*\\n---\\n' >a.md; git add a.md; echo red >a.md", note="a bad page is staged, mended on disk", refused=True),
    Row("G7", "git commit -q -m x", BOTH, "pre-commit", "fresh", "echo good >a.md; git add a.md; printf -- '---\\ntitle: *x*\\n---\\n' >a.md", slow=True, note="a good page is staged, bad on disk"),
]  # fmt: skip


def shell(script: str, cwd: Path, env: dict[str, str]) -> tuple[int, str]:
    done = subprocess.run(["sh", "-ec", script], cwd=cwd, env={**os.environ, **env}, capture_output=True, check=False)
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


def make(folder: Path, *, hooks: bool) -> Path:
    """A repository with three commits; the times of all commits are fixed, so that equal trees make equal commits."""
    repo = Repo.create(folder / "main")
    repo.write({"a.md": "# Lighthouse\n\nred lamp\n", "b.md": "# Harbour\n\nblue boat\n", "code.py": "pass\n"})
    repo.commit("first")
    if hooks:
        for name in ("pre-commit", "post-commit", "post-merge", "post-checkout", "post-rewrite", *OTHERS):
            path = repo.git_dir / "hooks" / name
            path.write_text(RECORDER)
            path.chmod(0o755)
        assert memidx("hooks", "install", cwd=repo.root).code == 0
        assert memidx("build", "--quiet", cwd=repo.root).code == 0
    return repo.root


def git_out(root: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=root, check=True, capture_output=True).stdout.decode()


def outcome(root: Path) -> dict[str, str]:
    """Everything that git says about a work tree. Commits carry fixed times, so that their ids can be compared."""
    return {
        "head": git_out(root, "rev-parse", "HEAD"),
        "refs": git_out(root, "for-each-ref"),
        "index": git_out(root, "ls-files", "-s", "-t"),
        "status": git_out(root, "--no-optional-locks", "status", "--porcelain", "--untracked-files=all"),
        "files": "".join(
            f"{p.relative_to(root)} {p.read_bytes()!r}\n"
            for p in sorted(root.rglob("*"))
            if p.is_file() and ".git" not in p.relative_to(root).parts
        ),
    }


@pytest.fixture(scope="module")
def table():
    lines: dict[int, str] = {}
    yield lines
    if os.environ.get(WRITE) and len(lines) == len(ROWS):
        head = "| git command | hooks that fire | memidx runs in | the next query |\n|---|---|---|---|\n"
        text = DOCS.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        after = rest.partition(END)[2]
        body = "".join(lines[number] + "\n" for number in sorted(lines))
        DOCS.write_text(before + BEGIN + head + body + END + after, encoding="utf-8")


def line_of(row: Row, fired: str, ran: str, sees: str) -> str:
    command = row.action.replace("|", "\\|")
    note = f" ({row.note})" if row.note else ""
    return f"| `{command}`{note} | {fired or 'none'} | {ran or 'none'} | {sees} |"


@pytest.mark.parametrize(
    "number",
    [pytest.param(n, marks=[pytest.mark.slow] if row.slow else [], id=f"{row.case} {row.action}"[:60]) for n, row in enumerate(ROWS)],
)  # fmt: skip
def test_git_does_what_it_does_without_hooks_and_the_next_query_is_right(number, tmp_path, table):
    row = ROWS[number]
    env, _ = program(tmp_path / "p")
    (tmp_path / "p" / "bin" / "memidx").write_text(WATCHED.format(checkout=CHECKOUT, python=sys.executable))
    files = {"FIRED": str(tmp_path / "fired"), "RAN": str(tmp_path / "ran")}
    env |= {**TIMES, **files}
    (tmp_path / "plain").mkdir()
    root, plain = make(tmp_path, hooks=True), make(tmp_path / "plain", hooks=False)
    for cwd in (root, plain):
        code, said = shell(row.setup or ":", cwd, env | NO_HOOKS)
        assert code == 0, said
    assert memidx("build", "--quiet", cwd=root).code == 0
    for name in files.values():
        Path(name).write_text("")

    code, said = shell(row.action, root, env)
    there, control = (root / row.where).resolve(), (plain / row.where).resolve()
    if row.refused:
        assert (code, "a.md:2:" in said, "--no-verify" in said) == (1, True, True)
    else:
        assert code == 0, said
        assert "memidx" not in said
        assert shell(row.action, plain, env)[0] == 0
    assert outcome(there) == outcome(control)
    assert outcome(root) == outcome(plain)

    fired = ", ".join(line.strip() for line in Path(files["FIRED"]).read_text().splitlines())
    ran = ", ".join(Path(files["RAN"]).read_text().splitlines())
    answer = memidx("query", "red", "--json", cwd=there).json
    sees = {"fresh": "fresh", "refreshed": "built"}[answer["fresh"]]
    assert (fired, ran, sees) == (row.fired, row.ran, row.sees)
    right = memidx("query", "red", "--json", cwd=control).json
    assert [hit["path"] for hit in answer["hits"]] == [hit["path"] for hit in right["hits"]]
    assert answer["snapshot"] == right["snapshot"]

    table[number] = line_of(row, fired, ran, sees)
    assert os.environ.get(WRITE) or table[number] in DOCS.read_text(encoding="utf-8"), f"run with {WRITE}=1"
