"""The composition root of writing pages: `memidx new`, and agents that were asked to.

Only files below the vault's root are written, never through a link, and nothing is staged or committed.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.engines import new as newpage
from memidx.engines.show import find
from memidx.ground.errors import MemidxError, UsageError
from memidx.ground.page import PageRules

if TYPE_CHECKING:
    from pathlib import Path

    from memidx.engines.new import Draft
    from memidx.ground.diagnostics import Diagnostic
    from memidx.ground.listing import Entry
    from memidx.ground.page import Page
    from memidx.vault import Vault

TEMPLATES = ".memidx/templates"
LARGEST_TEMPLATE = 1 << 20


class Written(NamedTuple):
    """A page that was written. ``blob`` is its new id, ``superseded`` the page that now names it, "" for none.

    ``diagnostics`` are what is worth mending in it.
    """

    path: str
    title: str
    kind: str
    blob: str
    created: bool
    superseded: str
    diagnostics: tuple[Diagnostic, ...]

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return self._asdict() | {"diagnostics": [d._asdict() for d in self.diagnostics]}


def rules_of(vault: Vault) -> PageRules:
    """The settings that parsing depends on."""
    return PageRules(tuple(vault.settings.pages.kinds.items()), vault.settings.sections.max_chars)


def plan_page(
    vault: Vault,
    kind: str,
    title: str,
    *,
    folder: str | None = None,
    supersedes: str | None = None,
    body: str | None = None,
    cwd: Path | None = None,
    now: float | None = None,
) -> tuple[Draft, Entry | None]:
    """The page that `memidx new` would write, and the one it replaces. Writes nothing.

    ``folder`` is relative to the root. ``body`` takes the place of what the template has below its title.
    Raises UsageError for an unknown kind or page, and when the template makes no sound page.
    """
    from memidx.outside import known_kinds
    from memidx.stores.git.trees import VaultFiles

    (kind,) = known_kinds([kind], vault.settings)
    rules = rules_of(vault)
    entries = vault.listing().entries
    old = find(*vault.place(supersedes, cwd), entries).entry if supersedes else None
    path = newpage.place(kind, title, (entry.path for entry in entries), rules, folder)
    if not vault.selector(path):
        raise UsageError(f"{path}: the settings do not count it as a page", hint="see pages.include and pages.exclude")
    data = VaultFiles(vault.git, "worktree").read(f"{TEMPLATES}/{kind}.md")
    if data is not None and len(data) > LARGEST_TEMPLATE:
        raise UsageError(f"{TEMPLATES}/{kind}.md: is too large for a template")
    template = None if data is None else data.decode("utf-8", "replace")
    day = datetime.fromtimestamp(time.time() if now is None else now, UTC).date().isoformat()
    replaced = _parsed(vault, old) if old is not None else None
    return newpage.draft(path, kind, title, day, rules, template=template, body=body, old=replaced), old


def create_page(vault: Vault, draft: Draft, old: Entry | None = None) -> Written:
    """Write it, and tell the page that it replaces: both or neither. Raises UsageError; then nothing was written."""
    from memidx.stores.pages import PageFiles

    files = PageFiles(vault.root)
    data = draft.text.encode()
    change: tuple[bytes, bytes] | None = None
    if old is not None:
        before = _on_disk(vault, old)
        change = before, newpage.superseded(old.path, before, draft.path, rules_of(vault))
    with vault.snapshots.lock():
        files.create(draft.path, data)
        if old is not None and change is not None:
            try:
                files.replace(old.path, *change)
            except MemidxError:
                files.remove_new(draft.path, data)
                raise
    return _written(vault, draft.path, created=True, superseded=old.path if old else "")


def write_page(vault: Vault, path: str, text: str, blob: str | None) -> Written:
    """A new page at ``path``, or with ``blob`` the whole new text of the page that had this blob id when it was read.

    Raises UsageError when the page has changed since, is there although no blob was given, the text has errors, or the
    path is no place for a page. Line ends follow the old page. Nothing is staged or committed.
    """
    from memidx.stores.pages import PageFiles

    page = newpage.check(path, text, rules_of(vault), where=path)
    files = PageFiles(vault.root)
    entry = next((e for e in vault.listing().entries if e.path == path), None)
    if blob is None:
        if entry is not None:
            raise UsageError(f"{path}: is there already", hint="read it, and give the blob id it was read at")
        if not vault.selector(path):
            raise UsageError(f"{path}: the settings do not count it as a page", hint="give a path that ends in .md")
        with vault.snapshots.lock():
            files.create(page.path, _encoded(text))
        return _written(vault, path, created=True)
    if entry is None:
        raise UsageError(f"{path}: there is no such page any more", hint="leave the blob id out to make a new one")
    if entry.blob != blob:
        raise UsageError(
            f"{path}: has changed since it was read: it is {entry.blob} now, not {blob}",
            hint="read it again and apply your change to what it says now",
        )
    before = _on_disk(vault, entry)
    crlf = before.count(b"\r\n") * 2 > before.count(b"\n")
    text = text.replace("\r\n", "\n")
    new = _encoded(text.replace("\n", "\r\n") if crlf else text)
    with vault.snapshots.lock():
        files.replace(path, before, new)
    return _written(vault, path, created=False)


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"the text holds half a character at {error.start}", hint="nothing was written") from error


def _parsed(vault: Vault, entry: Entry) -> Page:
    from memidx.parsing.page import parse_page

    ((_, data),) = vault.git.read([entry])
    return parse_page(entry.path, data, rules_of(vault))


def _on_disk(vault: Vault, entry: Entry) -> bytes:
    """The bytes of the file, which are what the listing says. Raises UsageError for a page that is not on disk."""
    from memidx.stores.git.trees import VaultFiles

    data = VaultFiles(vault.git, "worktree").read(entry.path)
    if data is None:
        raise UsageError(f"{entry.path}: cannot be read on disk", hint="see `git status`")
    if next((e.blob for e in vault.listing().entries if e.path == entry.path), None) != entry.blob:
        raise UsageError(f"{entry.path}: has changed since it was read", hint="read it again")
    return data


def _written(vault: Vault, path: str, *, created: bool, superseded: str = "") -> Written:
    entry = next((e for e in vault.listing().entries if e.path == path), None)
    if entry is None:
        raise UsageError(f"{path}: was written, but git ignores it, so it is not a page", hint="see .gitignore")
    page = _parsed(vault, entry)
    return Written(path, page.title, page.kind, entry.blob, created, superseded, page.diagnostics)
