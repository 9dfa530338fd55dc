"""What a shell completes: paths of pages, kinds and tags, from the last build. Nothing is built for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from memidx.doors.door import Door
from memidx.doors.line_format import relative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import click
    from click.shell_completion import CompletionItem

    from memidx.stores.catalog import Catalog
    from memidx.vault import Vault

MOST = 400  # a shell that lists more helps nobody
NOTE = "note"


def paths(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Pages, relative to the current folder; up to the next folder, as shells complete files."""

    def found(door: Door, vault: Vault, catalog: Catalog) -> Iterator[str]:
        seen = set()
        for path, _ in catalog.listing():
            name = relative(path, vault.root, door.cwd)
            if name.startswith(incomplete) and name.isprintable():
                cut = name.find("/", len(incomplete))
                short = name if cut < 0 else name[: cut + 1]
                if short not in seen:
                    seen.add(short)
                    yield short

    return _items(ctx, found)


def kinds(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Kinds that a page can be of."""
    before, comma, last = incomplete.rpartition(",")
    return _items(
        ctx,
        lambda _, vault, __: (
            before + comma + kind for kind in (*vault.settings.pages.kinds, NOTE) if kind.startswith(last.casefold())
        ),
    )


def tags(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Tags that some page has."""
    start = incomplete.removeprefix("#").casefold()

    def found(_: Door, __: Vault, catalog: Catalog) -> list[str]:
        used = {str(tag) for row in catalog.all_pages() for tag in row.meta.get("tags") or ()}
        return sorted(tag for tag in used if tag.casefold().startswith(start) and tag.isprintable())

    return _items(ctx, found)


def _items(ctx: click.Context, found: Callable[[Door, Vault, Catalog], Iterable[str]]) -> list[CompletionItem]:
    """Whatever goes wrong, a shell gets no completions rather than a message in the middle of its line."""
    try:
        from click.shell_completion import CompletionItem

        from memidx.engines.snapshot import Snapshot
        from memidx.opening import open_vault

        door = ctx.find_object(Door)
        if door is None:
            return []
        for folder in ctx.find_root().params.get("folders") or ():
            door.enter(folder)
        vault = open_vault(door.cwd, environ=os.environ)
        key = vault.base_key()
        if key is None:
            return []
        catalog = Snapshot(vault.snapshots.folder(key)).catalog
        return [CompletionItem(name) for _, name in zip(range(MOST), found(door, vault, catalog), strict=False)]
    except Exception:  # noqa: BLE001 - see above
        return []
