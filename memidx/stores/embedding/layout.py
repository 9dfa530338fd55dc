"""A transformer's folder in the layout of sentence-transformers: what its small files say about how it is used."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memidx.ground.errors import ModelError

MODEL, IN_FOLDER = "model.onnx", Path("onnx")
TOKENIZER, CONFIG, POOLING = "tokenizer.json", "config.json", "1_Pooling/config.json"
OPTIONAL = ("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json", "tokenizer_config.json")
MAX_JSON = 1 << 20
EXPORT = "export the model with `optimum-cli export onnx`; docs/models.md says how"
STEPS = ("Transformer", "Pooling", "Normalize")
OLD_POOLING = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
DOCUMENT_PROMPTS = ("document", "passage", "corpus")


@dataclass(frozen=True, slots=True)
class Layout:
    """One model: its files and its use."""

    folder: Path
    model: Path
    dimension: int
    pooling: str  # mean or cls
    max_tokens: int
    lower: bool
    query_prefix: str
    document_prefix: str

    def files(self) -> list[tuple[str, Path]]:
        """All files that decide a vector's value, with their names inside the folder."""
        beside = [p for p in self.model.parent.iterdir() if p.name.startswith(self.model.name)]  # weights kept apart
        named = [self.folder / name for name in (TOKENIZER, CONFIG, POOLING, *OPTIONAL)]
        return [(p.relative_to(self.folder).as_posix(), p) for p in (*beside, *named) if p.is_file()]


def read_layout(path: Path) -> Layout:
    """Read the folder ``path``, or that of the .onnx file ``path``.

    Raises ModelError for a file that is missing, that cannot be read, or that asks for what is not done here.
    """
    model = path if path.is_file() else _find_model(path)
    folder = model.parent.parent if model.parent.name == IN_FOLDER.name else model.parent
    if not (folder / TOKENIZER).is_file():
        raise ModelError(f"{folder / TOKENIZER}: the file is missing", hint=EXPORT)
    config, pooling = _json(folder / CONFIG), _json(folder / POOLING)
    _check_steps(folder)
    dimension = _dimension(folder, config, pooling)
    bert, prompts = _json(folder / OPTIONAL[1], optional=True), _json(folder / OPTIONAL[2], optional=True)
    asked, kept = _prompts(prompts)
    if pooling.get("include_prompt") is False and (asked or kept):
        raise ModelError(f"{folder / POOLING}: include_prompt: false is not supported", hint="use another model")
    limits = (
        bert.get("max_seq_length"),
        _json(folder / OPTIONAL[3], optional=True).get("model_max_length"),
        config.get("max_position_embeddings"),
    )
    return Layout(
        folder=folder,
        model=model,
        dimension=dimension,
        pooling=_pooling(folder, pooling),
        max_tokens=min((int(n) for n in limits if n and _is_size(n)), default=512),
        lower=bert.get("do_lower_case") is True,
        query_prefix=asked,
        document_prefix=kept,
    )


def _find_model(folder: Path) -> Path:
    for usual in (folder / MODEL, folder / IN_FOLDER / MODEL):
        if usual.is_file():
            return usual
    others = sorted([*folder.glob("*.onnx"), *(folder / IN_FOLDER).glob("*.onnx")])
    if len(others) == 1:
        return others[0]
    if others:
        names = ", ".join(p.name for p in others)
        raise ModelError(f"{folder}: holds {names}", hint="set vector.model to one of these files")
    raise ModelError(f"{folder}: holds no {MODEL} and no {(IN_FOLDER / MODEL).as_posix()}", hint=EXPORT)


def _json(path: Path, *, optional: bool = False) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            plain = json.loads(file.read(MAX_JSON))
    except FileNotFoundError as error:
        if optional:
            return {}
        raise ModelError(
            f"{path}: the file is missing", hint=f"copy it from the original model, or {EXPORT}"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: cannot be read: {error}", hint="copy it from the original model") from error
    if not isinstance(plain, dict):
        raise ModelError(f"{path}: is not a JSON object", hint="copy it from the original model")
    return plain


def _check_steps(folder: Path) -> None:
    """A further layer that is left out would give vectors of another model."""
    path = folder / OPTIONAL[0]
    if not path.is_file():
        return
    try:
        types = [str(step["type"]).rpartition(".")[2] for step in json.loads(path.read_bytes()[:MAX_JSON])]
    except (OSError, ValueError, RecursionError, TypeError, KeyError) as error:
        raise ModelError(f"{path}: cannot be read: {error}", hint="copy it from the original model") from error
    if more := [name for name in types if name not in STEPS]:
        raise ModelError(f"{path}: the layer {more[0]} is not supported", hint=f"only {', '.join(STEPS)} are")


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _dimension(folder: Path, config: dict[str, Any], pooling: dict[str, Any]) -> int:
    names = [(config, "hidden_size"), (config, "dim"), (pooling, "word_embedding_dimension")]
    found = {plain[name] for plain, name in (*names, (pooling, "embedding_dimension")) if _is_size(plain.get(name))}
    if len(found) != 1:
        said = " and ".join(map(str, sorted(found))) or "nothing"
        where = f"{folder / CONFIG} and {folder / POOLING}"
        raise ModelError(f"{where}: the dimension (hidden_size) is {said}", hint="copy both from the original model")
    return int(found.pop())


def _pooling(folder: Path, plain: dict[str, Any]) -> str:
    new = plain.get("pooling_mode")
    listed = new if isinstance(new, list) else [new]
    old = [name for name, on in plain.items() if name.startswith("pooling_mode_") and on is True]
    modes = [str(mode) for mode in listed] if new is not None else [OLD_POOLING.get(name, name) for name in old]
    if len(modes) == 1 and modes[0] in OLD_POOLING.values():
        return modes[0]
    said = " and ".join(modes) or "nothing"
    raise ModelError(f"{folder / POOLING}: pooling by {said} is not supported", hint="mean and cls are")


def _prompts(plain: dict[str, Any]) -> tuple[str, str]:
    """What stands before a question and before a document."""
    prompts = plain.get("prompts")
    known = {k: v for k, v in prompts.items() if isinstance(v, str)} if isinstance(prompts, dict) else {}
    usual = known.get(str(plain.get("default_prompt_name")), "")
    document = next((known[name] for name in DOCUMENT_PROMPTS if name in known), usual)
    return known.get("query", usual), document
