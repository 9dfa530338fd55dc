"""Every finding memidx can make about a page: its code, how bad it is, and what it means."""

from __future__ import annotations

from memidx.ground.diagnostics import Diagnostic, Severity

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
    "markdown-unread": ("warning", "the markdown reader gave up on the page; its text is indexed without structure"),
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
