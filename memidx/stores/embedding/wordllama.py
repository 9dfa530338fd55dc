"""The default model: the 256-dimension table inside the `wordllama` package, mean-pooled. Offline, 16 MB.

The package itself is not imported: that costs 290 ms, and its loader looks in the wrong folder when downloads are
disabled. Its tokenizer is read with `tokenizers`, its table is mapped as it is. Reading the tokenizer takes 50 ms, so
few texts are cut up by a compact form of it (pieces.py), where there is one.
"""

from __future__ import annotations

import importlib.util
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memidx.ground.errors import ModelError
from memidx.ground.gate import Calibration
from memidx.ground.model import ModelIdentity
from memidx.stores.embedding import pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

DIMENSION = 256
TABLE = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
# The files of wordllama 0.2.2.post0. `verify` compares the digests; a cold query only looks at the sizes.
TABLE_BYTES, TABLE_SHA256 = 16_384_096, "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
TOKENIZER_BYTES, TOKENIZER_SHA256 = 1_842_795, "bf467c9e0f536bda271283c6ef85eb1a943e3196b621c8a912d64953b205df83"
REMEDY = "reinstall it: pip install --force-reinstall wordllama==0.2.2.post0"
BATCH = 512
ROOM = 1024  # tokens
FEW = 64
MUCH = 50_000  # characters: from here on reading the tokenizer pays
MAX_HEADER = 1 << 20
# Measured by benchmarks/answerable.py; docs/ranking.md has the table.
CALIBRATION = Calibration(min_similarity=0.2, answer_floor=1.08)


class Wordllama:
    """Mean of the tokens' vectors, L2-normalised."""

    def __init__(self, folder: Path | None = None, derived: Path | None = None) -> None:
        """``derived`` is a folder for what is made from the models; each has a folder of its own in it."""
        self._folder = folder or _package_folder()
        self._derived = derived
        for name, size in ((TABLE, TABLE_BYTES), (TOKENIZER, TOKENIZER_BYTES)):
            path = self._folder / name
            if not path.is_file():
                raise ModelError(f"{path}: the embedding model's file is missing", hint=REMEDY)
            if path.stat().st_size != size:
                raise ModelError(f"{path}: {path.stat().st_size} bytes instead of {size}: damaged", hint=REMEDY)

    @property
    def calibration(self) -> Calibration:
        return CALIBRATION

    @property
    def identity(self) -> ModelIdentity:
        revision = f"{TABLE_SHA256[:16]}.{TOKENIZER_SHA256[:16]}"
        return ModelIdentity("wordllama-l2-supercat-256", revision, DIMENSION, "mean")

    def verify(self) -> None:
        """Compare both files with their known digests (20 ms). Raises ModelError when one differs."""
        import hashlib

        for name, known in ((TABLE, TABLE_SHA256), (TOKENIZER, TOKENIZER_SHA256)):
            path = self._folder / name
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != known:
                raise ModelError(f"{path}: SHA-256 {found[:16]}… instead of {known[:16]}…: damaged", hint=REMEDY)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        tokenizer = read_tokenizer(self._folder / TOKENIZER)
        if self._derived and self.pieces is None:
            pieces.write(self._pieces_file(self._derived), (self._folder / TOKENIZER).read_bytes())
        return tokenizer

    @cached_property
    def pieces(self) -> pieces.Pieces | None:
        """The tokenizer's compact form; None where there is none yet, or none that can be used."""
        if self._derived is None:
            return None
        return pieces.Pieces.open(self._pieces_file(self._derived), bytes.fromhex(TOKENIZER_SHA256))

    def _pieces_file(self, derived: Path) -> Path:
        return derived / self.identity.key() / pieces.FILE

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text: the same ones, whoever finds them."""
        if "tokenizer" not in self.__dict__ and sum(map(len, texts)) < MUCH and self.pieces:
            return [self.pieces.ids(text) for text in texts]
        return [found.ids for found in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    @cached_property
    def table(self) -> NDArray[np.float32]:
        """Token vectors, float32, shape (32000, 256), in memory."""
        import numpy as np

        return np.asarray(self.mapped).astype(np.float32)  # a plain array: indexing a mapped one costs more

    @cached_property
    def mapped(self) -> NDArray[np.float16]:
        """Token vectors as they are in the file, float16, mapped: one question needs a few rows of them."""
        import numpy as np  # 65 ms, and whoever only asks for the identity does not need it

        path = self._folder / TABLE
        try:
            with path.open("rb") as file:
                # The safetensors format: the header's length in 8 bytes, the header as JSON, then the numbers.
                length = int.from_bytes(file.read(8), "little")
                about = json.loads(file.read(min(length, MAX_HEADER)))["embedding.weight"]
            if about["dtype"] != "F16" or about["shape"][1] != DIMENSION:
                raise ModelError(f"{path}: holds {about['dtype']} of shape {about['shape']}", hint=REMEDY)
            shape = (int(about["shape"][0]), DIMENSION)
            return np.memmap(path, np.float16, "r", offset=8 + length + about["data_offsets"][0], shape=shape)
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise ModelError(f"{path}: cannot be read: {error}", hint=REMEDY) from error

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        from memidx.stores.embedding.unit import to_unit

        sums = np.zeros((len(texts), DIMENSION), np.float32)
        # Casting the whole table takes 30 ms and 32 MB: a changed page does without. The numbers are the same.
        table = self.table if len(texts) > FEW or "table" in self.__dict__ else self.mapped
        room = np.empty((ROOM, DIMENSION), table.dtype)
        for start in range(0, len(texts), BATCH):
            batch = [_flat(text) for text in texts[start : start + BATCH]]
            for row, ids in enumerate(self._tokens(batch), start):
                if ids:
                    # One place for all: memory that is asked for anew is slower than what is done with it.
                    rows = table.take(ids, 0, room[: len(ids)], "clip") if len(ids) <= ROOM else table[ids]
                    # Rows are added one after the other, so the sum has the same bits on every processor.
                    np.add.reduce(rows.astype(np.float32, copy=False), axis=0, out=sums[row])
        return to_unit(sums)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        import numpy as np

        from memidx.stores.embedding.unit import to_unit

        ids = self._tokens([_flat(text)])[0]
        # Casting the whole table costs 30 ms, and is only done for many texts.
        rows = self.mapped[ids].astype(np.float32)
        first: NDArray[np.float32] = to_unit(np.add.reduce(rows, axis=0)[None, :])[0]
        return first


def read_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer in a file, 60 ms. It neither pads nor cuts. Raises ModelError when it cannot be read."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise ModelError(f"{path}: cannot be read: {error}", hint=REMEDY) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _flat(text: str) -> str:
    """White space counts once: indentation and line breaks say nothing about the meaning.

    Half a surrogate pair, which is how Python reads a byte of a command line that is not UTF-8, is no text.
    """
    flat = " ".join(text.split())
    return flat if flat.isascii() else flat.encode("utf-8", "replace").decode("utf-8")


def _package_folder() -> Path:
    spec = importlib.util.find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(
            "the package wordllama, which holds the default embedding model, is not installed", hint=REMEDY
        )
    return Path(spec.submodule_search_locations[0])
