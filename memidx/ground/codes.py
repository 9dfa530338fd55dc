"""Every finding memidx can make about a page: its code, how bad it is, and what it means."""

from __future__ import annotations

from memidx.ground.diagnostics import Diagnostic, Severity

# What `check.severity` takes for a code: one of these.
SEVERITIES = ("error", "warning", "info", "off")
# "error" fails the commit check, "warning" does not, "info" is only good to know.
CODES: dict[str, tuple[Severity, str]] = {
    "encoding": ("warning", "the page is not clean UTF-8; it was read with loss"),
    "utf-16": ("info", "the page is UTF-16, which git treats as binary"),
    "front-matter-unclosed": ("error", "the page starts with a --- line that no --- or ... line closes"),
    "front-matter-yaml": ("error", "the front-matter is not valid YAML"),
    "front-matter-mapping": ("error", "the front-matter is a list, a text or several documents, not a mapping"),
    "front-matter-limit": ("error", "the front-matter is too large, too deep, or grows too much through aliases"),
    "yaml-tag": ("error", "a value carries a YAML tag that would build an object; the value is dropped"),
    "bad-key": ("warning", "a front-matter key is empty, a list or a mapping; it is skipped"),
    "duplicate-key": ("warning", "a front-matter key stands twice; the last one counts"),
    "bad-text": ("warning", "a key that holds one text holds something else; it is ignored"),
    "bad-list": ("warning", "a key that holds a list of texts holds something else; that part is ignored"),
    "bad-bool": ("warning", "a key that holds true or false holds something else; it is ignored"),
    "bad-tier": ("warning", "tier is not a whole number from 1 to 5; it is ignored"),
    "bad-confidence": ("warning", "confidence is not a number from 0 to 1; it is ignored"),
    "bad-date": ("warning", "a date is not a real day in ISO form; it is ignored"),
    "unknown-kind": ("info", "kind names none of the known kinds; it is ignored"),
    "conflict-marker": ("error", "the page holds an unresolved merge conflict"),
    "too-large": ("warning", "the page is over pages.max_bytes; it is only found by its name"),
    "sidecar-conflict": ("error", "the sidecar holds markers of an unresolved merge; nothing in it is lost"),
    "sidecar-unreadable": ("error", "a line of the sidecar is no JSON object; decay cannot be told"),
    "sidecar-incomplete": ("warning", "an event in the sidecar lacks what its kind needs; it is kept and not counted"),
    "markdown-unread": ("warning", "the markdown reader gave up on the page; its text is indexed without structure"),
    "link-broken": ("warning", "a link names no page and no file"),
    "link-ambiguous": ("warning", "a link may mean several pages"),
    "link-anchor": ("warning", "a link names a heading that its page does not have"),
    "superseded-dangling": ("warning", "superseded_by names no page"),
    "superseded-ambiguous": ("warning", "superseded_by may mean several pages"),
    "superseded-circular": ("warning", "superseded_by leads back to the page"),
    "duplicate-title": ("warning", "another page has the same title"),
    "duplicate-id": ("warning", "another page has the same id"),
    "twin-normal": ("warning", "two names differ only in their Unicode form; some systems take them for one file"),
    "twin-case": ("warning", "two names differ only in case; some systems take them for one file"),
    "expired": ("warning", "the page is past its expires_at"),
    "flagged": ("warning", "feedback says that the page is stale or wrong, and it has not changed since"),
    "sidecar-merge": ("warning", "the sidecar is there, but .gitattributes does not let git merge it by union"),
    "symlink": ("info", "a symbolic link is not followed and is not a page"),
    "submodule": ("info", "a submodule is not a page of the vault"),
    "unreadable": ("warning", "a page or a folder cannot be read"),
}

# What was found under these codes means that the page could not be read as its author meant it.
DEGRADING = frozenset(
    {
        "encoding",
        "front-matter-unclosed",
        "front-matter-yaml",
        "front-matter-mapping",
        "front-matter-limit",
        "yaml-tag",
        "markdown-unread",
    }
)


def finding(code: str, path: str, line: int, col: int, message: str) -> Diagnostic:
    """A diagnostic with the severity its code has in the table. Line and column are 1-based; 0 means the whole file."""
    return Diagnostic(path, line, col, CODES[code][0], message, code)
