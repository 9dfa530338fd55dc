"""A child that obeys permission bits also where the tests run as root."""

from __future__ import annotations

import ctypes
import os
import sys

import pytest

PR_CAPBSET_DROP = 24
OVERRIDES = (1, 2, 3)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER: what lets root past the bits


def obey_permissions() -> None:
    """For ``preexec_fn``: what is executed next may not pass over permission bits. It stays the same user."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in OVERRIDES:
            if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0):
                os._exit(99)


needs_permissions = pytest.mark.skipif(
    os.name == "nt" or (os.geteuid() == 0 and sys.platform != "linux"), reason="root may write anywhere here"
)
