"""Unit length, the same bits on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def to_unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """L2-normalise each row; a row that is zero or not finite becomes zeros.

    The norm is summed in double precision and rounded once: a BLAS norm differs between processors in the last bit,
    and a snapshot must not.
    """
    wide = rows.astype(np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", wide, wide, optimize=False))
    good = np.isfinite(norms) & (norms > 0)
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=good)
    wide[~good] = 0.0  # infinity times zero is not a number
    unit: NDArray[np.float32] = (wide * scale[:, None]).astype(np.float32)
    return unit
