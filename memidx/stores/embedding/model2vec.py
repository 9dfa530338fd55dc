"""Static models of the `model2vec` package, from a hub's cache or a local folder. Never downloads."""

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


class Model2Vec:
    """A model2vec model by folder, or by a name that is already in the local hub cache."""

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _model(self) -> Any:
        try:
            with offline():
                from model2vec import StaticModel

                return StaticModel.from_pretrained(self._name)
        except ImportError as error:
            raise ModelError(
                "the package model2vec is not installed", hint="pip install 'memidx[model2vec]'"
            ) from error
        except Exception as error:  # whatever its loader raises, the answer is the same
            raise ModelError(
                f"model2vec cannot load '{self._name}' without a network: {error}",
                hint="give a local folder, or load the model once with model2vec itself",
            ) from error

    @property
    def calibration(self) -> Calibration:
        return UNCALIBRATED

    @cached_property
    def identity(self) -> ModelIdentity:
        dimension = int(self._model.dim)
        return ModelIdentity(f"model2vec-{Path(self._name).name}", folder_revision(self._name), dimension, "mean")

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.identity.dimension), np.float32)
        return to_unit(np.asarray(self._model.encode(list(texts), show_progress_bar=False), np.float32))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        first: NDArray[np.float32] = self.embed_documents([text])[0]
        return first
