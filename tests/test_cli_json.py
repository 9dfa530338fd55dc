"""docs/json.md is the contract: every key that is printed is in it, with its type, and every key in it is printed."""

from __future__ import annotations

import json
import re

import pytest
from clirun import CHECKOUT, memidx

ROW = re.compile(r"\| `([^`]+)` \| ([^|]+) \|")
TYPES = {"string": str, "integer": int, "number": int | float, "boolean": bool, "array": list, "object": dict}


def contract():
    sections = (CHECKOUT / "docs/json.md").read_text(encoding="utf-8").split("\n## ")[1:]
    return {section.split("\n")[0]: dict(ROW.findall(section)) for section in sections}


CONTRACT = contract()


def wrong_in(plain, types, before=""):
    """Everything in ``plain`` that the contract does not have, or has with another type."""
    for key, value in plain.items():
        path = before + key
        if path not in types:
            yield f"{path} is not in docs/json.md"
            continue
        allowed = [name.strip() for name in types[path].split(" or ")]
        if not any(fits(value, name) for name in allowed):
            yield f"{path} is {value!r}, not {types[path]}"
        if isinstance(value, dict) and any(known.startswith(path + ".") for known in types):
            yield from wrong_in(value, types, path + ".")
        if isinstance(value, list) and any(known.startswith(path + "[].") for known in types):
            for item in value:
                yield from wrong_in(item, types, path + "[].")


def fits(value, name):
    if name == "null":
        return value is None
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def keys_of(plain, before=""):
    for key, value in plain.items():
        yield before + key
        if isinstance(value, dict):
            yield from keys_of(value, f"{before}{key}.")
        if isinstance(value, list):
            for item in value:
                if isinstance(item, dict):
                    yield from keys_of(item, f"{before}{key}[].")


@pytest.fixture
def vault(repo):
    repo.write(
        {
            "a.md": "---\ntags: [x]\nowner: Ada\n---\n# Lighthouse\n\nintro\n\n## Red\n\ntext\n",
            "bad.md": "---\ntitle: *Italic*\n---\nlighthouse\n",
        }
    )
    return repo


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("query", ["query", "lighthouse", "--json"]),
        ("query", ["query", "lighthouse", "--json", "--explain"]),
        ("query", ["query", "zxqv", "--json"]),
        ("build", ["build", "--json"]),
        ("build", ["build", "--json", "--dry-run"]),
        ("status", ["status", "--json"]),
        ("status", ["status", "--json", "--verify"]),
        ("show", ["show", "a.md:10", "--json"]),
        ("show", ["show", "bad.md", "--json"]),
        ("context", ["context", "lighthouse", "--json"]),
        ("context", ["context", "zxqv", "--json"]),
        ("recent", ["recent", "--json"]),
        ("related", ["related", "a.md", "--json"]),
        ("links", ["links", "a.md", "--json"]),
        ("brief", ["brief", "--json"]),
        ("new", ["new", "rule", "A rule", "--json"]),
        ("check", ["check", "--json"]),
        ("feedback", ["feedback", "a.md", "helpful", "--json"]),
        ("decay", ["decay", "--json"]),
        ("sweep", ["sweep", "--json"]),
        ("hooks", ["hooks", "status", "--json"]),
        ("hooks", ["hooks", "install", "--json"]),
        ("hooks", ["hooks", "uninstall", "--json"]),
        ("doctor", ["doctor", "--json"]),
    ],
)
@pytest.mark.parametrize("built", [False, True])
def test_what_is_printed_is_in_the_contract(vault, name, args, built):
    if built:
        memidx("build", cwd=vault.root, model=True)
    done = memidx(*args, cwd=vault.root, model=True)
    assert done.code in (0, 1), done.err
    assert not list(wrong_in(done.json, CONTRACT[name]))
    # Numbers are finite: strict JSON has no NaN.
    json.loads(done.out, parse_constant=pytest.fail)


def test_what_is_in_the_contract_is_printed(vault):
    memidx("build", cwd=vault.root, model=True)
    old = "---\nupdated: 2001-01-01\n"
    vault.write({"c.md": "# New\n", "old.md": f"{old}---\n", "pinned.md": f"{old}pinned: true\n---\n"})
    vault.commit()
    vault.write({".pre-commit-config.yaml": "repos: []\n"})
    vault.write({"new.md": "# Newer\n\nintro\n\n[[a]] lighthouse\n", "copy.md": "# Lighthouse copy\n\nintro\n"})
    graphed = ("--set", "vector.graph=always")  # so small a vault has none else
    printed = {
        "query": [["query", "lighthouse", "--json", "--explain"]],
        "build": [["build", "--json", "--full", *graphed]],
        "status": [["status", "--json", "--verify", *graphed]],
        "show": [["show", "a.md", "--json"], ["show", "bad.md", "--json"]],
        "context": [["context", "lighthouse intro", "--json"]],
        "cite": [["cite", "a.md:9@HEAD", "--json"]],
        "recent": [["recent", "--json"]],
        "related": [["related", "a.md", "--json"]],
        "links": [["links", "a.md", "--json"], ["links", "new.md", "--json"]],
        "brief": [["brief", "--json"]],
        "new": [["new", "rule", "A rule", "--json"]],
        "check": [["check", "--json"]],
        "feedback": [["feedback", "a.md", "helpful", "--json"]],
        "decay": [["decay", "--json"]],
        "sweep": [["sweep", "--json"]],
        "hooks": [["hooks", "install", "--json"], ["hooks", "status", "--json"]],
        "doctor": [["doctor", "--json"]],
    }
    assert set(printed) == set(CONTRACT)
    for name, runs in printed.items():
        seen = {key for args in runs for key in keys_of(memidx(*args, cwd=vault.root, model=True).json)}
        assert set(CONTRACT[name]) <= seen, name


def test_jsonl_prints_the_hits_of_json(vault):
    whole = memidx("query", "lighthouse", "--json", cwd=vault.root).json["hits"]
    lines = memidx("query", "lighthouse", "--jsonl", cwd=vault.root).out.splitlines()
    assert [json.loads(line) for line in lines] == whole
    assert len(whole) == 2
