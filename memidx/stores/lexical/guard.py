"""Damage in the files of an index, said as one error."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from memidx.ground.errors import BrokenSnapshotError
from memidx.stores.lexical.meta import broken

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def guarded(folder: Path) -> Iterator[None]:
    """Turn what Tantivy raises over damaged files into BrokenSnapshotError.

    Some damage makes its Rust code panic, and the PanicException that comes of it is no Exception.
    """
    try:
        yield
    except BrokenSnapshotError:
        raise
    except (ValueError, OSError, RuntimeError) as error:
        raise broken(folder, error) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise broken(folder, error) from error
