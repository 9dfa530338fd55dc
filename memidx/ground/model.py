"""What a model of text embeddings is to the rest of memidx: an identity and two functions."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memidx.ground.gate import Calibration


class ModelIdentity(NamedTuple):
    """All that decides a vector's value. Vectors of two identities are never compared."""

    name: str
    revision: str  # digests of the files, or the package version they came with
    dimension: int
    pooling: str
    query_prefix: str = ""
    document_prefix: str = ""

    def key(self) -> str:
        """A name for folders and keys: readable, then 12 hex digits over everything."""
        digest = hashlib.sha256("\0".join(map(str, self)).encode()).hexdigest()[:12]
        readable = "".join(c if c.isalnum() or c in "-." else "-" for c in self.name)[-40:]
        return f"{readable}-{digest}"

    def document_key(self) -> str:
        """The key of all that decides a document's vector: what stands before a question does not."""
        return self._replace(query_prefix="").key()


class Embedder(Protocol):
    """Turns text into directions."""

    @property
    def calibration(self) -> Calibration:
        """The cut-offs that were measured for this model, or careful ones."""
        ...

    @property
    def identity(self) -> ModelIdentity:
        """Known without loading the model."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows of unit length, shape (len(texts), dimension); a row of zeros where a text has no direction."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """One vector of unit length, shape (dimension,), or zeros."""
        ...


@runtime_checkable
class Slow(Protocol):
    """An embedder whose vectors are worth saving before a batch is through: a transformer makes 5 to 200 a second."""

    @property
    def portion(self) -> int:
        """Texts between two saves."""
        ...
