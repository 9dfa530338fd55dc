"""The docs say what is so: their commands run, their tables are made from the code, their links lead somewhere.

`make docs` (or `python tests/test_docs.py`) rewrites what is made from the program: the output in `console` blocks,
docs/settings.md, docs/commands.md and docs/memidx.1. Review the difference before it is committed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest import mock

import pytest
from clirun import CHECKOUT, memidx

from memidx.doors.cli import ALIASES, COMMANDS, find_command
from memidx.doors.manpage import man_page  # noqa: F401 - looked up by its name, as the others
from memidx.ground.settings import Settings, as_plain, documented
from memidx.parsing.page import parse_page

DOCS = sorted([*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md")])
CONSOLE = re.compile(r"(?ms)^```console\n(.*?)^```$")
MADE = {"settings.md": "settings_text", "commands.md": "commands_text", "memidx.1": "man_page"}
VOLATILE = (
    (re.compile(r"\b\d+\.\d\d s\b"), "0.25 s"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "5be1f0c2a94d4e7f8d3b6a1c0e9f2d74"),
    (re.compile(r"\b\d+\.\d MB\b"), "0.7 MB"),
)


def with_transcripts() -> list[Path]:
    return [path for path in DOCS if CONSOLE.search(path.read_text(encoding="utf-8"))]


def make_vault(folder: Path) -> Path:
    """A copy of the example vault as a repository with one commit."""
    vault = folder / "vault"
    shutil.copytree(CHECKOUT / "example-vault", vault, ignore=shutil.ignore_patterns("demo.sh"))
    identity = ["-c", "user.name=Test Person", "-c", "user.email=test@example.org"]
    for args in (["init", "-q", "."], ["add", "-A"], [*identity, "commit", "-q", "--no-verify", "-m", "pages"]):
        subprocess.run(["git", *args], cwd=vault, check=True)
    return vault


def perform(block: str, vault: Path) -> str:
    """A console block with what its commands print here: stdout, then stderr."""
    made = []
    for line in block.splitlines():
        if not line.startswith("$ "):
            continue
        command = line[2:]
        made.append(line)
        words = shlex.split(command, comments=True)
        if words[0] == "memidx":
            done = memidx(*words[1:], cwd=vault, model=True)
            assert done.code in (0, 1), f"{line}\n{done.err}"
            out = done.out + done.err
        else:
            shell = subprocess.run(["sh", "-c", command], cwd=vault, capture_output=True, check=True)
            out = (shell.stdout + shell.stderr).decode()
        for pattern, instead in VOLATILE:
            out = pattern.sub(instead, out)
        out = out.replace(str(vault.resolve()), "/home/you/larkpost").replace(str(vault.parent.resolve()), "/home/you")
        made += out.splitlines()
    return "\n".join(made) + "\n"


def performed(path: Path, vault: Path) -> str:
    """A document with its console blocks run, one after the other, in one vault."""
    return CONSOLE.sub(lambda found: f"```console\n{perform(found[1], vault)}```", path.read_text(encoding="utf-8"))


def settings_text() -> str:
    """docs/settings.md."""
    lines = [
        "# Settings",
        "",
        "Made from the program by `make docs`. A setting comes from, each over the one before: its default,",
        "`.memidx/config.yaml`, the environment (`MEMIDX_QUERY_LIMIT=5` for `query.limit`; lists as `[a, b]`), and",
        "`--set query.limit=5` on the command line. An unknown name is an error that says which one is near.",
        "`memidx init` writes a config file with every setting commented out.",
        "",
        "A build depends on `pages.*`, `sections.*`, `lexical.*`, `vector.model`, its prefixes, `vector.graph`, `vector.graph_min` and `vector.graph_max`:",
        "change one of these and the next query or build makes a new snapshot. The others only change what a query does.",
    ]
    for part, values in as_plain(Settings()).items():
        section = getattr(Settings(), part)
        docs = documented(part)
        lines += ["", f"## {part}", "", (type(section).__doc__ or "").strip(), ""]
        lines += ["| setting | default | meaning |", "|---|---|---|"]
        lines += [
            f"| `{part}.{name}` | {shown(value)} | {docs[name].replace('|', chr(92) + '|')} |"
            for name, value in values.items()
        ]
    return "\n".join(lines) + "\n"


def shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {shown(item)}" for key, item in value.items())
    if isinstance(value, list):
        return " ".join(f"`{item}`" for item in value) or "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def commands_text() -> str:
    """docs/commands.md."""
    lines = ["# Commands", "", "Made from the program by `make docs`: what `memidx COMMAND --help` prints.", ""]
    lines += ["| command | what it does |", "|---|---|"]
    lines += [f"| [`{name}`](#{name}) | {what} |" for name, what in COMMANDS.items()]
    lines += [f"| `{alias}` | the same as `{name}` |" for alias, name in ALIASES.items()]
    lines += ["", "Every command also takes what the program itself takes:", "", "```text", help_of().rstrip(), "```"]
    for name in COMMANDS:
        lines += ["", f"## {name}", "", "```text", help_of(name).rstrip(), "```"]
    return "\n".join(lines) + "\n"


def help_of(*command: str) -> str:
    done = memidx(*command, "--help")
    assert done.code == 0
    return done.out


@pytest.mark.parametrize("path", with_transcripts(), ids=lambda path: path.name)
def test_commands_in_the_docs_print_what_is_written_there(path, tmp_path):
    written = path.read_text(encoding="utf-8")
    assert performed(path, make_vault(tmp_path)) == written, "if the new output is right: make docs"


@pytest.mark.parametrize("name", MADE)
def test_docs_made_from_the_program_are_up_to_date(name):
    written = (CHECKOUT / "docs" / name).read_text(encoding="utf-8")
    assert globals()[MADE[name]]() == written, "if the new text is right: make docs"


def test_every_option_of_query_is_explained():
    text = (CHECKOUT / "docs" / "query.md").read_text(encoding="utf-8")
    options = [name for param in find_command("query").params for name in param.opts if name.startswith("--")]
    missing = [name for name in options if not re.search(rf"`{re.escape(name)}\b", text)]
    assert "--explain" in options
    assert missing == [], "docs/query.md does not name them"


def test_commands_written_in_prose_exist():
    """`memidx NAME` in any document names a command, so that a renamed one is noticed."""
    written = re.compile(r"(?m)(?:`|^\$ |^    )memidx ([a-z][a-z-]*)")
    named = [(path.name, name) for path in DOCS for name in written.findall(path.read_text(encoding="utf-8"))]
    assert len(named) > 30
    assert [pair for pair in named if pair[1] not in COMMANDS and pair[1] not in ALIASES] == []


def test_links_between_documents_lead_somewhere():
    wrong = []
    for path in DOCS:
        page = parse_page(path.name, path.read_bytes())
        for link in page.links:
            target = path if not link.target else (path.parent / link.target).resolve()
            if link.form != "relative":
                continue
            if not target.exists():
                wrong.append(f"{path.relative_to(CHECKOUT)}:{link.line}: {link.target} is not there")
            elif link.anchor and link.anchor not in anchors_of(target):
                wrong.append(f"{path.relative_to(CHECKOUT)}:{link.line}: {link.target}#{link.anchor} is no heading")
    assert wrong == []


def anchors_of(path: Path) -> set[str]:
    return {heading.anchor for heading in parse_page(path.name, path.read_bytes()).headings}


def test_make_targets_in_the_docs_exist():
    targets = set(re.findall(r"(?m)^([a-z-]+):", (CHECKOUT / "Makefile").read_text(encoding="utf-8")))
    wrong = [
        f"{path.name}: make {name}"
        for path in DOCS
        for name in re.findall(r"(?m)(?:`|^)make ([a-z-]+)", path.read_text(encoding="utf-8"))
        if name not in targets
    ]
    assert wrong == []


def rewrite() -> None:
    """Write what is made from the program. Git and memidx read no configuration of this user."""
    with tempfile.TemporaryDirectory() as home:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "MEMIDX_"))}
        clean = {**kept, "HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        with mock.patch.dict(os.environ, clean, clear=True):
            for name, make in MADE.items():
                (CHECKOUT / "docs" / name).write_text(globals()[make](), encoding="utf-8")
            for number, path in enumerate(with_transcripts()):
                (Path(home) / str(number)).mkdir()
                path.write_text(performed(path, make_vault(Path(home) / str(number))), encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(CHECKOUT))
    rewrite()
