"""What `memidx check --fix` may change by itself: the sidecar's form and a line of .gitattributes. Never a page."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING, NamedTuple

from memidx.engines.initialise import ATTRIBUTES, SIDECAR, merge_line
from memidx.ground.codes import finding
from memidx.ground.errors import MemidxError
from memidx.parsing.sidecar import mend as without_markers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memidx.ground.diagnostics import Diagnostic


class Mend(NamedTuple):
    """A file as it is and as it should be."""

    path: str
    before: bytes
    after: bytes

    def diff(self) -> list[str]:
        """A unified diff, line by line."""
        old, new = (text.decode("utf-8", "replace").splitlines() for text in (self.before, self.after))
        return list(difflib.unified_diff(old, new, f"a/{self.path}", f"b/{self.path}", lineterm=""))


def attributes_findings(read: Callable[[str], bytes | None]) -> Iterator[Diagnostic]:
    """Whether git knows how to merge the sidecar, where there is one."""
    if read(SIDECAR) and merge_line(read(ATTRIBUTES) or b"")[0]:
        message = f"no line in {ATTRIBUTES} says '{SIDECAR} merge=union'; `memidx check --fix` adds it"
        yield finding("sidecar-merge", SIDECAR, 0, 0, message)


def plan(read: Callable[[str], bytes | None]) -> list[Mend]:
    """What would be changed. ``read`` gives the bytes of a file of the vault on disk."""
    mends = []
    if sidecar := read(SIDECAR):
        # Surrogates carry bytes that are not UTF-8 through unharmed: no line of a sidecar may be lost.
        mended = without_markers(sidecar.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        if mended != sidecar:
            mends.append(Mend(SIDECAR, sidecar, mended))
        old = read(ATTRIBUTES) or b""
        added, _ = merge_line(old)
        if added:
            mends.append(Mend(ATTRIBUTES, old, old + added))
    return mends


def apply(root: Path, mend: Mend) -> None:
    """Write the file, by one rename, under the caller's lock. Raises MemidxError for a link, or when writing fails."""
    path = root / mend.path
    if path.is_symlink() or path.parent.is_symlink():
        raise MemidxError(f"{path}: is a symbolic link, which is not followed", hint="replace it by a file")
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        new = path.with_name(f"{path.name}.new-memidx")
        new.unlink(missing_ok=True)  # a killed process left it
        with new.open("xb") as file:
            file.write(mend.after)
            file.flush()
            os.fsync(file.fileno())
        new.chmod(mode)
        new.replace(path)
    except OSError as error:
        raise MemidxError(f"{path}: cannot be written: {error.strerror}", hint="check its permissions") from error
