"""memidx: a git-native memory index.

import memidx
vault = memidx.open_vault("path/to/vault")
answer = vault.query("how do we roll back a deploy")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memidx.opening import open_vault as open_vault
    from memidx.vault import Vault as Vault

__version__ = "0.1.0"
__all__ = ["Vault", "__version__", "open_vault"]


def __getattr__(name: str) -> Any:
    # The command line imports this package for every command; the vault's own imports wait until they are used.
    if name == "Vault":
        from memidx.vault import Vault

        return Vault
    if name == "open_vault":
        from memidx.opening import open_vault

        return open_vault
    raise AttributeError(f"module 'memidx' has no attribute '{name}'")
