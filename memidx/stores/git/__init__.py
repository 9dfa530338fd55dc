"""Everything that asks git. Paths become text at this border; git is run by name, never through a shell."""

from memidx.stores.git.listing import Selector
from memidx.stores.git.locate import VaultLocation, find_vault
from memidx.stores.git.objects import PageChangedError, blob_id
from memidx.stores.git.repository import Git
from memidx.stores.git.worktree import WorktreeRun

__all__ = ["Git", "PageChangedError", "Selector", "VaultLocation", "WorktreeRun", "blob_id", "find_vault"]
