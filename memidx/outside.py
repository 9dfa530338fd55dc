"""The composition root for what works without an opened vault: an exported index, a folder that is to become a
vault, and a vault that may not open at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Unpack

from memidx.engines.query import QueryOptions, answer, make_question
from memidx.engines.snapshot import Snapshot, blaming_damage
from memidx.ground.errors import BrokenSnapshotError, ConfigError, GitError, ModelError, UsageError
from memidx.ground.nearest import did_you_mean
from memidx.ground.settings import Settings
from memidx.opening import load_settings
from memidx.parsing.config import apply_environment, set_option
from memidx.stores.embedding import open_embedder
from memidx.stores.git import Git, find_vault
from memidx.vault import Vault, make_answer

if TYPE_CHECKING:
    from pathlib import Path

    from memidx.engines.doctor import Finding, Machine
    from memidx.engines.initialise import Step
    from memidx.ground.hits import Answer

Options = Iterable[tuple[str, str]]


def known_kinds(words: Iterable[str], settings: Settings) -> tuple[str, ...]:
    """The kinds that words mean, as in front-matter: a name, its plural or a synonym.

    Raises UsageError that names the nearest kind when no page can be of one of these.
    """
    from memidx.parsing.kinds import NOTE, kind_from_word  # pathspec costs 10 ms

    table = tuple(settings.pages.kinds.items())
    known = [*settings.pages.kinds, NOTE]
    found = []
    for word in words:
        kind = kind_from_word(word, table)
        if kind is None:
            hint = did_you_mean(word, known) or f"one of {', '.join(known)}"
            raise UsageError(f"there is no kind '{word}'", hint=hint)
        found.append(kind)
    return tuple(found)


def query_exported(
    folder: Path,
    text: str,
    *,
    environ: Mapping[str, str],
    options: Options = (),
    now: float,
    **asked: Unpack[QueryOptions],
) -> Answer:
    """Answer a question from a folder that `memidx export` wrote. The answer counts as fresh: that index was asked for.

    Raises UsageError when the folder is no export, BrokenSnapshotError when it is damaged.
    """
    from memidx.engines.export import exported_settings

    settings = apply_environment(exported_settings(folder), environ)
    for name, value in options:
        settings = set_option(settings, name, value, "--set")
    filters = asked.get("filters")
    if filters and filters.kinds:
        asked["filters"] = filters._replace(kinds=known_kinds(filters.kinds, settings))
    try:
        snapshot = Snapshot(folder)
        notices: tuple[str, ...] = ()
        embedder = None
        if snapshot.manifest.model is not None:
            try:
                embedder = open_embedder(settings.vector)
            except ModelError as error:
                notices = (f"{error.message}; {error.hint}",)
        question = make_question(text, settings, now=now, **asked)
        with blaming_damage(snapshot):
            ranked = answer(snapshot, question, embedder, settings)
    except BrokenSnapshotError as error:
        raise BrokenSnapshotError(error.message, hint="export it again: `memidx export DIR`") from error
    return make_answer(text, snapshot, "fresh", ranked, notices)


def initialise(start: Path, folder: str | None, environ: Mapping[str, str]) -> tuple[Path, list[Step]]:
    """Make a vault of ``folder``, or of the one that ``start`` is in. Returns its root and what was done.

    Raises NotARepositoryError outside a git repository.
    """
    from memidx.engines import initialise as engine

    if folder is None:
        root = find_vault(start, environ).root
    else:
        root = (start / folder).resolve()
        if not root.is_dir():
            raise UsageError(f"{root} is not a folder", hint="make it first")
        find_vault(root, environ)
    return root, engine.initialise(root)


def diagnose(start: Path, *, environ: Mapping[str, str], options: Options, machine: Machine) -> list[Finding]:
    """Everything that `memidx doctor` looks at. What is broken is a finding, not an error."""
    from memidx.engines import doctor
    from memidx.stores.git.run import Runner

    found = list(doctor.machine_findings(machine))
    try:
        version = Runner(start, environ).run("version").out.decode("ascii", "replace")
        found.append(doctor.git_finding(version.removeprefix("git version ").strip()))
        git = Git(find_vault(start, environ), environ)
    except GitError as error:
        return [*found, doctor.Finding("vault", "fail", error.message, error.hint)]
    try:
        settings = load_settings(git.where.root, environ)
        for name, value in options:
            settings = set_option(settings, name, value, "--set")
        vault = Vault(git, settings, environ)
        embedder, error_ = vault.embedder, vault.model_error
        found.append(doctor.Finding("config", "ok", "valid" if settings != Settings() else "the defaults"))
    except ConfigError as error:
        found.append(doctor.Finding("config", "fail", error.message, error.hint or "mend it"))
        without = Settings()._replace(vector=Settings().vector._replace(model="none"))
        vault, embedder, error_ = Vault(git, without, environ), None, None
    return [*found, *doctor.vault_findings(git, vault.snapshots, embedder, error_)]
