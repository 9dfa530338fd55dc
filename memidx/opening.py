"""The way to an open vault: git is asked first, and works while the rest of the program is imported."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memidx.ground.errors import ConfigError
from memidx.stores.git import Git, find_vault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memidx.ground.settings import Settings
    from memidx.vault import Vault

CONFIG = Path(".memidx", "config.yaml")


def load_settings(root: Path, environ: Mapping[str, str]) -> Settings:
    """Defaults, then `.memidx/config.yaml` of the vault, then `MEMIDX_…` variables."""
    from memidx.ground.settings import Settings
    from memidx.parsing.config import apply_environment, parse_config

    path = root / CONFIG
    settings = Settings()
    try:
        # A link could point out of the vault, and a vault is not trusted.
        if path.is_symlink() or path.parent.is_symlink():
            raise ConfigError(f"{path}: is a symbolic link, which is not followed", hint="replace it by a file")
        settings = parse_config(path.read_text(encoding="utf-8-sig"), CONFIG.as_posix(), settings)
    except FileNotFoundError:
        pass
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text: {error.reason}", hint="save it as UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    return apply_environment(settings, environ)


def open_vault(
    path: str | os.PathLike[str] = ".",
    *,
    environ: Mapping[str, str] | None = None,
    eager: bool = False,
    options: Iterable[tuple[str, str]] = (),
    **changes: object,
) -> Vault:
    """Open the vault that ``path`` is in. ``options`` are ``("part.name", "value")`` pairs, over the
    config and the environment; ``changes`` replace parts of the settings, e.g. ``query=QuerySettings(…)``.

    ``eager`` starts git's listing of the working tree at once, so that it runs while libraries are imported.

    Raises NotARepositoryError outside a git repository, ConfigError when the config cannot be used.
    """
    environ = os.environ if environ is None else environ
    where = find_vault(Path(path), environ)
    git = Git(where, environ)
    pending = git.start_worktree() if eager else None
    from memidx.parsing.config import set_option
    from memidx.vault import Vault

    settings = load_settings(where.root, environ)
    for name, value in options:
        settings = set_option(settings, name, value, "--set")
    if changes:
        settings = settings._replace(**changes)  # type: ignore[arg-type]
    return Vault(git, settings, environ, pending)
