"""From arguments to an exit code: runs a command and turns what it raises into words and a number.

0    done; found
1    nothing found, or not in order
2    an error: the arguments, the settings, the repository
3    a bug in memidx, with a report to paste
130  interrupted
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from memidx.doors.door import Door
from memidx.doors.outlet import Outlet, OutputClosedError, finish, silence
from memidx.doors.visible import visible
from memidx.ground.errors import MemidxError

if TYPE_CHECKING:
    from collections.abc import Sequence

ERROR, BUG, INTERRUPTED = 2, 3, 130
COMPLETE = "_MEMIDX_COMPLETE"  # set by the script that `memidx completion` prints
# What a full disk or a missing permission says is about this computer, not a bug.
WORLD = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE}
    | {errno.EIO, errno.ENAMETOOLONG, errno.ELOOP, errno.ESTALE}
)


def run(args: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    # With stdout or stderr closed (`>&-`) Python has no stream at all.
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    say = Outlet(os.environ)
    code = _run(args, say)
    try:
        finish()
    except OSError as error:
        say.error(f"stdout: cannot be written: {error.strerror}")
        silence()
        return ERROR
    return code


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _run(args: Sequence[str], say: Outlet) -> int:
    try:
        from memidx.doors.cli import cli

        door = Door(os.environ, _here(), say)
        if COMPLETE in os.environ:
            return _complete(cli, door)
        # Not cli.main for commands: it turns a reader that has gone into exit code 1.
        with cli.make_context("memidx", list(args) or ["--help"], obj=door) as ctx:
            code = cli.invoke(ctx)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of a Rust library is no Exception, and any other is a bug
        return _failed(args, error, say)
    else:
        return code if isinstance(code, int) else 0


def _complete(cli: click.Group, door: Door) -> int:
    try:
        cli.main(prog_name="memidx", complete_var=COMPLETE, obj=door)
    except SystemExit as end:  # click's way to end here; anywhere else nobody may leave without a word
        return end.code if isinstance(end.code, int) else 0
    return 0


def _failed(args: Sequence[str], error: BaseException, say: Outlet) -> int:
    """Say what went wrong. Returns the exit code."""
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case OutputClosedError() | BrokenPipeError():
            silence()
            return 0
        case click.exceptions.Abort():
            return INTERRUPTED
        case MemidxError():
            words = error.message or type(error).__name__  # a number alone tells nobody anything
            say.error(visible(words, keep="\n"), visible(error.hint, keep="\n"))
            return error.exit_code
        case click.ClickException():
            ctx = getattr(error, "ctx", None)
            hint = f"see `{ctx.command_path if ctx else 'memidx'} --help`"
            say.error(visible(error.format_message(), keep="\n"), hint)
        case OSError() if error.errno in WORLD:
            where = f"{visible(str(error.filename))}: " if error.filename else ""
            say.error(f"{where}{error.strerror or errno.errorcode[error.errno]}")
        case _:
            return _bug(args, error, say)
    return ERROR


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise MemidxError("the current folder does not exist any more", hint="cd to one that does") from error


def _bug(args: Sequence[str], error: BaseException, say: Outlet) -> int:
    import platform
    import shlex
    import traceback

    import memidx

    say.error("this is a bug in memidx; please report it with the lines below")
    say.err(f"memidx {memidx.__version__}, Python {platform.python_version()}, {platform.platform()}")
    say.err(f"command: {visible(shlex.join(['memidx', *args]))}")
    say.err(visible("".join(traceback.format_exception(error)).rstrip(), keep="\n\t"))
    return BUG
