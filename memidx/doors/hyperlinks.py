"""Paths that can be clicked: OSC 8 hyperlinks, in terminals that are known to know them.

See https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda for the protocol.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PROGRAMS = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio", "WarpTerminal"})
TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour")
MARKS = ("KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM", "ALACRITTY_WINDOW_ID")
FIRST_VTE = 5000  # GNOME Terminal and its kin, from version 0.50 on


def knows_links(environ: Mapping[str, str]) -> bool:
    """Whether this terminal is known to show OSC 8 links. FORCE_HYPERLINK=1 says yes, =0 no."""
    forced = environ.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0", "false")
    term = environ.get("TERM", "")
    if term == "dumb" or term.startswith(("screen", "tmux")) or environ.get("TMUX"):
        return False
    vte = environ.get("VTE_VERSION", "")
    if vte.isdigit() and int(vte) >= FIRST_VTE:
        return True
    known = environ.get("TERM_PROGRAM") in PROGRAMS or term.startswith(TERMS)
    return known or any(environ.get(name) for name in MARKS)


def link(text: str, path: Path) -> str:
    """``text`` as a link to a file. What is not plain in the path is percent-encoded, so that nothing in it can act."""
    name = quote(str(path).encode("utf-8", "surrogateescape"), safe="/-_.~")
    return f"\x1b]8;;file://{quote(platform.node(), safe='-._~')}{name}\x1b\\{text}\x1b]8;;\x1b\\"
