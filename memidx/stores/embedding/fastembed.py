"""Transformer models of the `fastembed` package (ONNX), from its local cache. Never downloads."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memidx.ground.errors import ModelError
from memidx.ground.gate import UNCALIBRATED, Calibration
from memidx.ground.model import ModelIdentity
from memidx.stores.embedding.local import folder_revision, offline
from memidx.stores.embedding.unit import to_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class FastEmbed:
    """A fastembed model by name, or by a folder that holds its files."""

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _model(self) -> Any:
        try:
            with offline():
                from fastembed import TextEmbedding

                if Path(self._name).is_dir():
                    return TextEmbedding(specific_model_path=self._name, local_files_only=True)
                return TextEmbedding(self._name, local_files_only=True)
        except ImportError as error:
            raise ModelError(
                "the package fastembed is not installed", hint="pip install 'memidx[fastembed]'"
            ) from error
        except Exception as error:  # whatever its loader raises, the answer is the same
            raise ModelError(
                f"fastembed cannot load '{self._name}' without a network: {error}",
                hint="give a local folder, or load the model once with fastembed itself",
            ) from error

    @property
    def calibration(self) -> Calibration:
        return UNCALIBRATED

    @cached_property
    def identity(self) -> ModelIdentity:
        dimension = len(next(iter(self._model.embed(["dimension"]))))
        return ModelIdentity(f"fastembed-{Path(self._name).name}", folder_revision(self._name), dimension, "model")

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = list(self._model.embed(list(texts)))
        return to_unit(np.asarray(rows, np.float32).reshape(len(texts), -1 if rows else self.identity.dimension))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        first: NDArray[np.float32] = to_unit(
            np.asarray(next(iter(self._model.query_embed(text))), np.float32)[None, :]
        )[0]
        return first
