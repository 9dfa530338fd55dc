"""Embedding models by their setting: `wordllama`, `model2vec:NAME`, `fastembed:NAME` or `none`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memidx.ground.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from memidx.ground.model import Embedder
    from memidx.ground.settings import VectorSettings

KNOWN = ("wordllama", "model2vec:NAME-OR-FOLDER", "fastembed:NAME-OR-FOLDER", "none")


def open_embedder(settings: VectorSettings, base: Path | None = None, derived: Path | None = None) -> Embedder | None:
    """The embedder that ``settings`` name, not yet loaded; None for `none`. ``base``: where a relative folder starts.

    ``derived`` is where a model may keep what it makes of its files, to be quicker the next time.

    Raises ModelError when its package or files are missing, ConfigError when the name is unknown. Never downloads.
    """
    kind, _, name = settings.model.partition(":")
    if settings.model == "none":
        return None
    if settings.model == "wordllama":
        from memidx.stores.embedding.wordllama import Wordllama

        return Wordllama(derived=derived)
    if kind not in ("model2vec", "fastembed") or not name:
        hint = f"one of: {', '.join(KNOWN)}"
        raise ConfigError(f"vector.model: unknown model '{settings.model}'", hint=hint)
    from memidx.stores.embedding.local import Prefixes, as_folder

    folder = as_folder(settings.model, name, base)
    prefixes = Prefixes(settings.query_prefix, settings.document_prefix)
    if kind == "model2vec":
        from memidx.stores.embedding.model2vec import Model2Vec

        return Model2Vec(name, folder, prefixes)
    if folder is not None:
        from memidx.stores.embedding.transformer import Transformer

        return Transformer(folder, prefixes)
    from memidx.stores.embedding.fastembed import FastEmbed

    return FastEmbed(name, prefixes)
