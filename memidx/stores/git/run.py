"""Running the ``git`` program: by name, with argument lists, in an environment that cannot point elsewhere."""

from __future__ import annotations

import subprocess
import threading
from typing import TYPE_CHECKING, NamedTuple

from memidx.ground.errors import GitError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# What says where a repository is, or changes what its objects mean. A hook inherits these from the git that runs it,
# and they would send our commands to that repository, index or quarantine. `git rev-parse --local-env-vars` lists
# them; the variables of newer gits are added. Two of git's list stay on purpose: GIT_CONFIG_COUNT (with its KEY and
# VALUE) and GIT_CONFIG_PARAMETERS (`git -c`) are settings the user chose for this run, such as safe.directory or
# core.autocrlf, and the commit that is being made follows them too.
SCRUBBED = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_ATTR_SOURCE",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_DIR",
        "GIT_GLOB_PATHSPECS",
        "GIT_GRAFT_FILE",
        "GIT_ICASE_PATHSPECS",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_LITERAL_PATHSPECS",
        "GIT_NAMESPACE",
        "GIT_NOGLOB_PATHSPECS",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)

ALWAYS = {
    "GIT_OPTIONAL_LOCKS": "0",  # a query never writes the index
    "GIT_NO_REPLACE_OBJECTS": "1",  # content is stored under the id it hashes to, not under the one it replaces
    "GIT_LITERAL_PATHSPECS": "1",  # a folder named `a*` is that folder
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone is read as far as it is here ...
    "GIT_ALLOW_PROTOCOL": "none",  # ... also by a git that does not know the variable above
    "LC_ALL": "C",  # messages are matched and passed on in one language
}

INSTALL_HINT = "install git (https://git-scm.com/downloads) and make sure it is on PATH"


class Finished(NamedTuple):
    """What a git process left behind."""

    code: int
    out: bytes
    err: bytes


def scrubbed(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of every git process that is started here, made from the caller's."""
    kept = {name: value for name, value in environ.items() if name not in SCRUBBED}
    return kept | ALWAYS


def text(raw: bytes) -> str:
    """Git's bytes as text. Bytes that are not UTF-8 become surrogates, so that encoding gives them back."""
    return raw.decode("utf-8", "surrogateescape")


def first_line(stderr: bytes) -> str:
    """The line of git's stderr that says why: the first fatal one, else the first error, else the first line."""
    lines = [line.strip() for line in text(stderr).splitlines() if line.strip()]
    for word in ("fatal: ", "error: "):
        for line in lines:
            if line.startswith(word):
                return line.removeprefix(word)
    return lines[0] if lines else ""


def failure(args: Sequence[str], done: Finished, cwd: Path) -> GitError:
    """The error for a git command that failed."""
    why = first_line(done.err) or f"exit code {done.code}"
    return GitError(f"git {args[0]} failed in {cwd}: {why}", hint=f"see what `git status` says in {cwd}")


def launch(argv: Sequence[str], cwd: Path, env: Mapping[str, str], *, stdin: int) -> subprocess.Popen[bytes]:
    """Start a process with both outputs piped. Raises GitError when there is no git or no such folder."""
    try:
        return subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=-1
        )
    except OSError as error:
        if not cwd.is_dir():
            raise GitError(f"{cwd} is not a folder", hint="give a folder that exists") from error
        if isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError):
            raise GitError("git cannot be run: it was not found on PATH", hint=INSTALL_HINT) from error
        raise GitError(f"git cannot be run: {error.strerror}", hint=INSTALL_HINT) from error


class Running:
    """A git process whose outputs are drained by a thread, so that it runs on while the caller does other work."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._outputs = (b"", b"")
        self._drain = threading.Thread(target=self._communicate, name="git-output", daemon=True)
        self._drain.start()

    def _communicate(self) -> None:
        self._outputs = self._process.communicate()

    def wait(self) -> Finished:
        """Block until git has ended. May be called more than once."""
        self._drain.join()
        return Finished(self._process.returncode, *self._outputs)


class Runner:
    """Runs git for one place. ``scope`` are the global options that name the repository; empty means discovery."""

    def __init__(self, cwd: Path, environ: Mapping[str, str], scope: Sequence[str] = ()) -> None:
        self.cwd = cwd
        self.env = scrubbed(environ)
        self.scope = tuple(scope)

    def popen(
        self, args: Sequence[str], env: Mapping[str, str] | None = None, *, stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        """The bare process, for streaming. ``env`` is laid over the scrubbed environment."""
        return launch(["git", *self.scope, *args], self.cwd, self.env | dict(env or {}), stdin=stdin)

    def start(self, *args: str, env: Mapping[str, str] | None = None) -> Running:
        """Start git and come back at once."""
        return Running(self.popen(args, env))

    def run(
        self,
        *args: str,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        accept: tuple[int, ...] = (0,),
    ) -> Finished:
        """Run git to its end. An exit code that is not in ``accept`` raises GitError with git's own reason."""
        with self.popen(args, env, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE) as process:
            out, err = process.communicate(stdin)
        done = Finished(process.returncode, out, err)
        if done.code not in accept:
            raise failure(args, done, self.cwd)
        return done
