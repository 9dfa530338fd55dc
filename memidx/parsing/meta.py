"""The known front-matter keys, typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from memidx.ground.codes import finding
from memidx.ground.page import Meta
from memidx.parsing.dates import parse_date
from memidx.parsing.kinds import kind_from_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from memidx.ground.diagnostics import Diagnostic
    from memidx.parsing.frontmatter import Entry, Row

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")
_WIKI = re.compile(r"\[\[([^\]\[]*)\]\]")
_CHANGED_KEYS = ("updated", "modified", "last_updated", "lastmod", "date", "created")


def read_meta(
    path: str, entries: Iterable[Entry], kinds: tuple[tuple[str, tuple[str, ...]], ...]
) -> tuple[Meta, tuple[Diagnostic, ...]]:
    """Type the known keys. Case and ``-`` for ``_`` do not matter in a key. What cannot be typed is left out, with a
    finding that names its place. Tags, aliases and the like may be a list, or one text with commas.
    """
    keys = {entry.key.strip().lower().replace("-", "_"): entry for entry in entries}
    if keys.keys().isdisjoint(_KNOWN):
        return Meta(), ()
    typed = _Typed(path, keys)
    values: dict[str, Any] = {key: read(typed, key) for key, read in _READERS.items() if key in keys}
    # Absent is false for these two, and unusable as good as absent.
    values.update({key: False for key in ("canonical", "pinned") if values.get(key) is None})
    return Meta(kind=typed.kind(kinds), changed_at=typed.changed_at(), **values), tuple(typed.notes)


class _Typed:
    def __init__(self, path: str, keys: Mapping[str, Entry]) -> None:
        self.path = path
        self.keys = keys
        self.notes: list[Diagnostic] = []

    def text(self, key: str) -> str | None:
        """One text. A list of one counts as its item, and a bare ``[[name]]`` as its name."""
        row = self._row(key, "bad-text", "must be one text")
        return (_name(row).strip() or None) if row else None

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for row in self._rows(key) for name in self._split(key, row)))

    def tags(self, key: str) -> tuple[str, ...]:
        names = (name.lstrip("#").strip() for row in self._rows(key) for name in self._split(key, row))
        return tuple(dict.fromkeys(filter(None, names)))

    def boolean(self, key: str) -> bool | None:
        row = self._row(key, "bad-bool", "must be true or false")
        if row is None:
            return None
        word = row.text.strip().lower()
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
        self._say("bad-bool", row, f"{key} must be true or false, not {_shown(row.text)}")
        return None

    def tier(self, key: str) -> int | None:
        row = self._row(key, "bad-tier", "must be a whole number from 1 to 5")
        if row is None:
            return None
        if (text := row.text.strip()) in {"1", "2", "3", "4", "5"}:
            return int(text)
        self._say("bad-tier", row, f"tier must be a whole number from 1 to 5, not {_shown(text)}")
        return None

    def confidence(self, key: str) -> float | None:
        row = self._row(key, "bad-confidence", "must be a number from 0 to 1")
        if row is None:
            return None
        text = row.text.strip()
        # float() would also take nan, inf, 1_0 and digits of other scripts.
        number = float(text) if _NUMBER.fullmatch(text) else -1.0
        if 0.0 <= number <= 1.0:
            return abs(number)  # -0 is 0
        self._say("bad-confidence", row, f"confidence must be a number from 0 to 1, not {_shown(text)}")
        return None

    def date(self, key: str, *, end_of_day: bool = False) -> int | None:
        row = self._row(key, "bad-date", "must be a date such as 2026-03-31")
        if row is None:
            return None
        try:
            return parse_date(row.text, end_of_day=end_of_day)
        except (ValueError, OverflowError):
            message = f"{key} must be a real date such as 2026-03-31 or 2026-03-31T10:00Z, not {_shown(row.text)}"
            self._say("bad-date", row, message)
            return None

    def end_of_day(self, key: str) -> int | None:
        return self.date(key, end_of_day=True)

    def changed_at(self) -> int | None:
        # All of them are looked at, so that a wrong date is named also where another one counts.
        moments = [self.date(key) for key in _CHANGED_KEYS if key in self.keys]
        return next((moment for moment in moments if moment is not None), None)

    def kind(self, kinds: tuple[tuple[str, tuple[str, ...]], ...]) -> str | None:
        """From ``kind``, else from ``type``. Only ``kind`` is judged: other tools have their own words in ``type``."""
        for key in ("kind", "type"):
            rows = [row for row in self._rows(key, judged=key == "kind") if row.text.strip()]
            found = next(filter(None, (kind_from_word(_name(row), kinds) for row in rows)), None)
            if found:
                return found
            if rows and key == "kind":
                known = ", ".join(kind for kind, _ in kinds)
                self._say("unknown-kind", rows[0], f"kind {_shown(rows[0].text)} is not known; known are {known}, note")
        return None

    def _rows(self, key: str, *, judged: bool = True) -> list[Row]:
        """The texts directly under a key, without those of nested mappings."""
        entry = self.keys.get(key)
        if entry is None:
            return []
        rows = [row for row in entry.rows if row.key == entry.key and not _is_placeholder(row)]
        if judged and (entry.shape == "mapping" or any(row.key != entry.key for row in entry.rows)):
            message = f"{key} must be a text or a list of texts, not a mapping; the mapping is ignored"
            self.notes.append(finding("bad-list", self.path, entry.line, entry.col, message))
        return rows if entry.shape != "mapping" else []

    def _row(self, key: str, code: str, must: str) -> Row | None:
        entry = self.keys.get(key)
        if entry is None or (entry.shape != "mapping" and not entry.rows):
            return None
        one_name = len(entry.rows) == 1 and entry.rows[0].key == entry.key and code == "bad-text"
        if entry.shape == "text" or (entry.shape == "list" and one_name):
            return None if _is_placeholder(entry.rows[0]) else entry.rows[0]
        what = "a list" if entry.shape == "list" else "a mapping"
        self.notes.append(finding(code, self.path, entry.line, entry.col, f"{key} {must}, not {what}"))
        return None

    def _split(self, key: str, row: Row) -> Iterator[str]:
        alone = self.keys[key].shape == "text"
        for part in row.text.split(",") if alone else (row.text,):
            name = _name(row._replace(text=part)).strip()
            if name:
                yield name

    def _say(self, code: str, row: Row, message: str) -> None:
        self.notes.append(finding(code, self.path, row.line, row.col, message))


_READERS: dict[str, Callable[[_Typed, str], Any]] = {
    "title": _Typed.text,
    "tier": _Typed.tier,
    "category": _Typed.texts,
    "tags": _Typed.tags,
    "aliases": _Typed.texts,
    "entities": _Typed.texts,
    "canonical": _Typed.boolean,
    "active": _Typed.boolean,
    "pinned": _Typed.boolean,
    "status": _Typed.text,
    "superseded_by": _Typed.texts,
    "expires_at": _Typed.end_of_day,
    "confidence": _Typed.confidence,
    "id": _Typed.text,
    "summary": _Typed.text,
}
_KNOWN = frozenset({*_READERS, *_CHANGED_KEYS, "kind", "type"})


def _name(row: Row) -> str:
    """The text, or the page a wiki-link names: ``[[page|label]]`` is ``page``."""
    match = _WIKI.fullmatch(row.text.strip())
    if match:
        return match[1].split("|", 1)[0]
    return row.text.split("|", 1)[0] if row.wiki else row.text


def _is_placeholder(row: Row) -> bool:
    """``{{date}}`` or ``{what to write here}``: the page is a template, so its value is neither used nor judged."""
    return row.text.startswith("{") and row.text.endswith("}")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")  # noqa: PLR2004 - a line of a terminal
