"""A transformer from a local folder, run by onnxruntime.

The package `fastembed` brings onnxruntime, but is not imported for a folder: that costs 1 s of processor time at each
cold query, its pooling is that of a model it knows by name, and it pads a batch.

One text at a time. A text alone has no padding, so memory stays small, and its vector does not depend on its
neighbours: a quantised model scales its activations by the whole batch. On two cores it is as quick as batches of 8 and
of 32.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from memidx.ground.errors import ModelError
from memidx.ground.gate import UNCALIBRATED, Calibration
from memidx.ground.model import ModelIdentity
from memidx.stores.embedding.layout import EXPORT, TOKENIZER, read_layout
from memidx.stores.embedding.local import Prefixes, loading, revision
from memidx.stores.embedding.unit import to_unit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
ERRORS_ONLY = 3  # onnxruntime's log level
TOKEN_DIMENSIONS = 3


class Transformer:
    """A sentence transformer: tokens, one run of the graph, the mean or the first row, unit length."""

    portion = 16  # texts between two saves

    def __init__(self, path: Path, prefixes: Prefixes) -> None:
        self._layout = read_layout(path)
        self._prefixes = prefixes.over(self._layout.query_prefix, self._layout.document_prefix)

    @property
    def calibration(self) -> Calibration:
        return UNCALIBRATED

    @cached_property
    def identity(self) -> ModelIdentity:
        layout = self._layout
        return ModelIdentity(
            f"onnx-{layout.folder.name}", revision(layout.files()), layout.dimension, layout.pooling, *self._prefixes
        )

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        path = self._layout.folder / TOKENIZER
        with loading("fastembed", "tokenizers", str(path), "copy it from the original model"):
            from tokenizers import Tokenizer

            tokenizer = Tokenizer.from_file(str(path))
            side = (tokenizer.truncation or {}).get("direction", "right")
            tokenizer.enable_truncation(self._layout.max_tokens, direction=side)
            tokenizer.no_padding()
            return tokenizer

    @cached_property
    def _session(self) -> tuple[Any, list[str], str]:
        """The session, the names of its inputs, and the output that holds a row for each token."""
        with loading("fastembed", "onnxruntime", str(self._layout.model), EXPORT):
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.log_severity_level = ERRORS_ONLY
            session = onnxruntime.InferenceSession(str(self._layout.model), options, providers=["CPUExecutionProvider"])
        inputs = [given.name for given in session.get_inputs()]
        if odd := set(inputs) - {"input_ids", "attention_mask", "token_type_ids"}:
            raise ModelError(f"{self._layout.model}: the input {min(odd)} is not supported", hint=EXPORT)
        tokens = {out.name: out for out in session.get_outputs() if len(out.shape) == TOKEN_DIMENSIONS}
        chosen = next((name for name in (*TOKEN_OUTPUTS, *tokens) if name in tokens), None)
        if chosen is None:
            raise ModelError(f"{self._layout.model}: no output has a row for each token", hint=EXPORT)
        return session, inputs, chosen

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self._layout.dimension), np.float32)
        for number, text in enumerate(texts):
            rows[number] = self._pooled(self._prefixes.document + text)
        return to_unit(rows)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        first: NDArray[np.float32] = to_unit(self._pooled(self._prefixes.query + text)[None, :])[0]
        return first

    def _pooled(self, text: str) -> NDArray[np.float32]:
        session, inputs, output = self._session
        encoded = self._tokenizer.encode(text.lower() if self._layout.lower else text)
        if not encoded.ids:
            return np.zeros(self._layout.dimension, np.float32)
        given = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        feed = {name: np.array([given[name]], np.int64) for name in inputs}
        with loading("fastembed", "onnxruntime", str(self._layout.model), EXPORT):
            tokens = session.run([output], feed)[0][0]
        if tokens.shape[1] != self._layout.dimension:
            said = f"{tokens.shape[1]} dimensions instead of {self._layout.dimension}"
            raise ModelError(f"{self._layout.model}: gives {said}", hint="config.json belongs to another model")
        first: NDArray[np.float32] = (
            tokens[0] if self._layout.pooling == "cls" else tokens.mean(axis=0, dtype=np.float64)
        )
        return first.astype(np.float32)
