"""Making a vault: its settings file, and the line that tells git how to merge feedback. Nothing is overwritten."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.ground.errors import MemidxError
from memidx.ground.settings import Settings, as_plain, documented

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = ".memidx/config.yaml"
ATTRIBUTES = ".gitattributes"
SIDECAR = ".memidx/decay.jsonl"
MERGE = f"{SIDECAR} merge=union"
HEAD = """\
# Settings of memidx in this repository. Each line shows a default: take its first # away and change it.
# MEMIDX_PART_NAME in the environment wins over this file, --set part.name=value wins over both.
"""


class Step(NamedTuple):
    """What became of one file."""

    path: str
    done: str  # "written", "added a line" or "kept"
    why: str = ""


def initialise(root: Path) -> list[Step]:
    """Make ``root`` a vault. Run again, it changes nothing.

    Raises MemidxError when a symbolic link stands in the way or a file cannot be written.
    """
    for name in (".memidx", CONFIG, ATTRIBUTES):
        if (root / name).is_symlink():
            raise MemidxError(f"{root / name}: is a symbolic link, which is not followed", hint="replace it by a file")
    try:
        return [_config(root / CONFIG), _attributes(root / ATTRIBUTES)]
    except OSError as error:
        raise MemidxError(
            f"{error.filename}: cannot be written: {error.strerror}", hint="check its permissions"
        ) from error


def _config(path: Path) -> Step:
    if path.exists():
        return Step(CONFIG, "kept", "it is there already")
    path.parent.mkdir(exist_ok=True)
    new = path.with_name(f"{path.name}.new-memidx")
    with new.open("w", encoding="utf-8", newline="\n") as file:  # over what a killed process left
        file.write(config_text())
    new.replace(path)
    return Step(CONFIG, "written", "every setting, commented out")


def _attributes(path: Path) -> Step:
    try:
        old = path.read_bytes()
    except FileNotFoundError:
        old = b""
    added, why = merge_line(old)
    if not added:
        return Step(ATTRIBUTES, "kept", why)
    with path.open("ab") as file:
        file.write(added)
    return Step(ATTRIBUTES, "added a line", why)


def merge_line(old: bytes) -> tuple[bytes, str]:
    """What to append to these git attributes so that git merges feedback by union; nothing where they say how."""
    for line in old.decode("utf-8", "replace").splitlines():
        pattern, _, attributes = line.strip().partition(" ")
        if pattern.lstrip("/") == SIDECAR and "merge" in attributes:
            if "merge=union" in attributes.split():
                return b"", "it says so already"
            return b"", f"it says '{line.strip()}'; see that it is right"
    end = b"\r\n" if b"\r\n" in old else b"\n"
    gap = b"" if not old or old.endswith(b"\n") else end
    return gap + MERGE.encode() + end, MERGE


def config_text() -> str:
    """A settings file that changes nothing. With the first # of each setting taken away it says the defaults."""
    return HEAD + "".join(_part_text(name, values) for name, values in as_plain(Settings()).items())


def _part_text(part: str, values: Mapping[str, Any]) -> str:
    section = getattr(Settings(), part)
    docs = documented(part)
    lines = ["", f"# {(type(section).__doc__ or '').strip()}", f"#{part}:"]
    for name, value in values.items():
        lines.append(f"# {docs[name]}")
        lines.extend(f"#  {line}" for line in _value_lines(name, value))
    return "\n".join(lines) + "\n"


def _value_lines(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield f"{name}:"
        yield from (f"  {key}: {_flow(item)}" for key, item in value.items())
    else:
        yield f"{name}: {_flow(value)}"


def _flow(value: Any) -> str:
    return value if isinstance(value, str) and value.isalnum() else json.dumps(value, ensure_ascii=False)
