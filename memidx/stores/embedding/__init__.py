"""Embedding models by their setting: `wordllama`, `model2vec:NAME`, `fastembed:NAME` or `none`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memidx.ground.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from memidx.ground.model import Embedder

KNOWN = ("wordllama", "model2vec:NAME-OR-FOLDER", "fastembed:NAME-OR-FOLDER", "none")


def open_embedder(spec: str, derived: Path | None = None) -> Embedder | None:
    """The embedder that ``spec`` names, not yet loaded; None for `none`.

    ``derived`` is where a model may keep what it makes of its files, to be quicker the next time.

    Raises ModelError when its package or files are missing, ConfigError when the name is unknown. Never downloads.
    """
    kind, _, name = spec.partition(":")
    if spec == "none":
        return None
    if spec == "wordllama":
        from memidx.stores.embedding.wordllama import Wordllama

        return Wordllama(derived=derived)
    if kind == "model2vec" and name:
        from memidx.stores.embedding.model2vec import Model2Vec

        return Model2Vec(name)
    if kind == "fastembed" and name:
        from memidx.stores.embedding.fastembed import FastEmbed

        return FastEmbed(name)
    raise ConfigError(f"vector.model: unknown model '{spec}'", hint=f"one of: {', '.join(KNOWN)}")
