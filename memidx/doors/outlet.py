"""Where words go: data to stdout, talk to stderr, colour to terminals."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SURROGATE = re.compile("[\ud800-\udfff]")
_UTF8 = frozenset({"utf-8", "utf8"})


class OutputClosedError(Exception):
    """Whoever reads our output has gone (``| head -1``). Nothing is wrong."""


class Outlet:
    """Printing for one run. ``color`` is auto, always or never; ``NO_COLOR`` and ``TERM=dumb`` turn auto off."""

    def __init__(self, environ: Mapping[str, str], color: str = "auto") -> None:
        self._environ = environ
        self.color = color

    # -- data -----------------------------------------------------------------------------------------------------

    def out(self, line: str = "") -> None:
        """One line of data."""
        with _reader():
            _write(sys.stdout, line + "\n")

    def raw(self, data: bytes) -> None:
        """Bytes of data, as they are."""
        with _reader():
            buffer = getattr(sys.stdout, "buffer", None)
            if buffer is None:
                _write(sys.stdout, data.decode("utf-8", "replace"))
                return
            sys.stdout.flush()
            buffer.write(data)
            buffer.flush()

    def json(self, plain: Any, *, line: bool = False) -> None:
        """A JSON document, indented, or on one line. Bytes of paths that are not UTF-8 come as lone surrogates."""
        ascii_only = (getattr(sys.stdout, "encoding", None) or "utf-8").lower() not in _UTF8
        written = json.dumps(plain, ensure_ascii=ascii_only, allow_nan=False, indent=None if line else 2)
        self.out(_SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", written))

    @property
    def to_terminal(self) -> bool:
        """Whether a person reads stdout."""
        return _is_terminal(sys.stdout)

    # -- talk -----------------------------------------------------------------------------------------------------

    def err(self, line: str) -> None:
        """One line for a person."""
        try:
            _write(sys.stderr, line + "\n")
        except OSError:
            return  # nobody listens

    def note(self, line: str) -> None:
        """One line that says whose it is."""
        self.err(f"memidx: {line}")

    def error(self, message: str, hint: str = "") -> None:
        """An error, and what to do about it."""
        self.err(f"{self._styled(sys.stderr, 'memidx: error:', fg='red', bold=True)} {message}")
        for line in hint.splitlines():
            self.err(f"hint: {line}")

    @property
    def talks_to_terminal(self) -> bool:
        """Whether a person reads stderr: only then is progress shown."""
        return _is_terminal(sys.stderr)

    # -- colour ---------------------------------------------------------------------------------------------------

    def style(self, text: str, **how: Any) -> str:
        """``text`` for stdout with colours and weights (as ``click.style`` names them) where they are wanted."""
        return self._styled(sys.stdout, text, **how)

    def _styled(self, stream: TextIO, text: str, **how: Any) -> str:
        wanted = self.color == "always" or (
            self.color == "auto"
            and _is_terminal(stream)
            and not self._environ.get("NO_COLOR")
            and self._environ.get("TERM") != "dumb"
        )
        return click.style(text, **how) if wanted and text else text


def finish() -> None:
    """Flush stdout, so that a reader who has gone is noticed here and not while the interpreter shuts down."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence()
    except ValueError:  # closed already
        return


def silence() -> None:
    """Let what is still buffered for stdout go nowhere."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # not a real file
        return


@contextmanager
def _reader() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise OutputClosedError from error


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:  # a terminal that is not UTF-8
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False
