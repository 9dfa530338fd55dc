"""Findings in the forms that people, forges and code scanners read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import memidx
from memidx.doors.visible import visible
from memidx.ground.codes import CODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memidx.ground.diagnostics import Diagnostic

# https://docs.github.com/actions/reference/workflow-commands-for-github-actions
GITHUB_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
# https://docs.oasis-open.org/sarif/sarif/v2.1.0/: 3.27.10 level, 3.30.5 regions count from 1
SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def text_lines(findings: Iterable[Diagnostic]) -> Iterator[str]:
    """``path:line:col: severity: text (code)``, with control characters written out."""
    return (visible(str(finding)) for finding in findings)


def github_lines(findings: Iterable[Diagnostic], prefix: str) -> Iterator[str]:
    """Workflow commands, which GitHub shows beside the lines. ``prefix`` leads from the top of the repository."""
    for note in findings:
        where = {"file": visible(prefix + note.path)}
        if note.line:
            where["line"] = str(note.line)
        if note.col:
            where["col"] = str(note.col)
        where["title"] = f"memidx {note.code}"
        properties = ",".join(f"{name}={_property(value)}" for name, value in where.items())
        yield f"::{GITHUB_LEVELS[note.severity]} {properties}::{_data(visible(note.message))}"


def sarif(findings: Sequence[Diagnostic], prefix: str) -> dict[str, Any]:
    """A SARIF 2.1.0 log with one run. Columns count characters, lines and columns from 1."""
    codes = sorted({finding.code for finding in findings})
    rules = [
        {
            "id": code,
            "shortDescription": {"text": CODES[code][1]},
            "defaultConfiguration": {"level": SARIF_LEVELS[CODES[code][0]]},
        }
        for code in codes
    ]
    driver = {"name": "memidx", "version": memidx.__version__, "rules": rules}
    results = [_result(finding, codes.index(finding.code), prefix) for finding in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(note: Diagnostic, rule: int, prefix: str) -> dict[str, Any]:
    uri = quote((prefix + note.path).encode("utf-8", "surrogateescape"))
    place: dict[str, Any] = {"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}}
    if note.line:
        place["region"] = {"startLine": note.line, **({"startColumn": note.col} if note.col else {})}
    return {
        "ruleId": note.code,
        "ruleIndex": rule,
        "level": SARIF_LEVELS[note.severity],
        "message": {"text": visible(note.message)},
        "locations": [{"physicalLocation": place}],
    }


def sarif_text(findings: Sequence[Diagnostic], prefix: str) -> str:
    """The log as JSON."""
    return json.dumps(sarif(findings, prefix), indent=2, ensure_ascii=True)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
