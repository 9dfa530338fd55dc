"""Static models of the `model2vec` package, from a hub's cache or a local folder. Never downloads."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memidx.ground.errors import ModelError
from memidx.ground.gate import UNCALIBRATED, Calibration
from memidx.ground.model import ModelIdentity
from memidx.stores.embedding.local import Prefixes, loading, revision
from memidx.stores.embedding.unit import to_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LOAD_ONCE = "load it once with model2vec itself, or set vector.model to model2vec:FOLDER"
TABLES = (Path("model.safetensors"), Path("0_StaticEmbedding", "model.safetensors"))
TENSORS = ("embeddings", "embedding.weight")


class Model2Vec:
    """A model2vec model by folder, or by a name that is already in the local hub cache."""

    def __init__(self, name: str, folder: Path | None, prefixes: Prefixes) -> None:
        self._name = name
        self._given = folder
        self._prefixes = prefixes.over("", "")

    @cached_property
    def _folder(self) -> Path:
        if self._given is not None:
            return self._given
        with loading("model2vec", "huggingface_hub", self._name, LOAD_ONCE):
            from huggingface_hub import snapshot_download

            return Path(snapshot_download(self._name, local_files_only=True))

    @cached_property
    def _model(self) -> Any:
        with loading("model2vec", "model2vec", self._name, LOAD_ONCE):
            from model2vec import StaticModel

            return StaticModel.from_pretrained(str(self._folder))

    @property
    def calibration(self) -> Calibration:
        return UNCALIBRATED

    @cached_property
    def identity(self) -> ModelIdentity:
        folder = self._folder
        table = next((folder / name for name in TABLES if (folder / name).is_file()), None)
        if table is None:
            raise ModelError(f"{folder}: holds no {TABLES[0]}", hint="set vector.model to the folder of a static model")
        if not (table.parent / "tokenizer.json").is_file():
            raise ModelError(f"{table.parent / 'tokenizer.json'}: the file is missing", hint=LOAD_ONCE)
        with loading("model2vec", "model2vec", self._name, LOAD_ONCE):
            import model2vec  # noqa: F401 - without it nothing can be embedded, and that is better said at once
        with loading("model2vec", "safetensors", str(table), "the file is damaged: fetch it again"):
            from safetensors import safe_open

            with safe_open(str(table), framework="numpy") as tensors:
                tensor = next(name for name in TENSORS if name in tensors.keys())  # noqa: SIM118 - it is no mapping
                dimension = int(tensors.get_slice(tensor).get_shape()[1])
        files = [
            (p.relative_to(folder).as_posix(), p) for p in folder.rglob("*") if p.suffix in (".json", ".safetensors")
        ]
        name = f"model2vec-{Path(self._name).name}"
        return ModelIdentity(name, revision(files), dimension, "mean", *self._prefixes)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed([self._prefixes.document + text for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        first: NDArray[np.float32] = self._embed([self._prefixes.query + text])[0]
        return first

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.identity.dimension), np.float32)
        return to_unit(np.asarray(self._model.encode(texts, show_progress_bar=False), np.float32))
