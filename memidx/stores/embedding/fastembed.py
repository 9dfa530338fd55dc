"""Transformer models that the `fastembed` package knows by name, from its own cache. Never downloads.

Pooling is fastembed's, which changed between its versions for the same name: its version is in the identity.
A folder is read without it (transformer.py).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from memidx.ground.errors import ModelError
from memidx.ground.gate import UNCALIBRATED, Calibration
from memidx.ground.model import ModelIdentity
from memidx.ground.nearest import did_you_mean
from memidx.stores.embedding.local import Prefixes, loading, revision
from memidx.stores.embedding.unit import to_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LOAD_ONCE = "load it once with fastembed itself, or set vector.model to fastembed:FOLDER"


class FastEmbed:
    """A fastembed model by its name."""

    portion = 16  # texts between two saves

    def __init__(self, name: str, prefixes: Prefixes) -> None:
        self._name = name
        self._prefixes = prefixes.over("", "")

    @cached_property
    def _loaded(self) -> tuple[Any, int]:
        """The model, its files found, and its dimension. Its session is opened by the first text."""
        with loading("fastembed", "fastembed", self._name, LOAD_ONCE):
            from fastembed import TextEmbedding

            known = {str(model["model"]): int(model["dim"]) for model in TextEmbedding.list_supported_models()}
            dimension = next((known[name] for name in known if name.lower() == self._name.lower()), None)
            if dimension is None:
                hint = did_you_mean(self._name, known) or "set vector.model to fastembed:FOLDER"
                raise ModelError(f"fastembed knows no model '{self._name}', and it is no folder", hint=hint)
            try:
                from loguru import logger

                logger.disable("fastembed")  # it writes to stderr what it then raises
            except ImportError:  # later versions may do without it
                pass
            return TextEmbedding(self._name, local_files_only=True, lazy_load=True), dimension

    @property
    def calibration(self) -> Calibration:
        return UNCALIBRATED

    @cached_property
    def identity(self) -> ModelIdentity:
        model, dimension = self._loaded
        with loading("fastembed", "fastembed", self._name, LOAD_ONCE):
            import fastembed

            folder = model.model._model_dir  # noqa: SLF001 - there is no public way to the files that it found
            files = [(p.relative_to(folder).as_posix(), p) for p in folder.rglob("*") if p.is_file()]
            version = f"{fastembed.__version__}.{revision(files)}"
        return ModelIdentity(f"fastembed-{self._name}", version, dimension, "fastembed", *self._prefixes)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.identity.dimension), np.float32)
        with loading("fastembed", "fastembed", self._name, LOAD_ONCE):
            # One text at a time, for the reasons in transformer.py.
            made = self._loaded[0].passage_embed([self._prefixes.document + text for text in texts], batch_size=1)
            for number, row in enumerate(made):
                rows[number] = row
        return to_unit(rows)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        with loading("fastembed", "fastembed", self._name, LOAD_ONCE):
            row = np.asarray(next(iter(self._loaded[0].query_embed(self._prefixes.query + text))), np.float32)
        first: NDArray[np.float32] = to_unit(row[None, :])[0]
        return first
