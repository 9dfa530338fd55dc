"""Embedding models small enough to be made in a test: a table of random rows, one for each word."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("lighthouse", "keeper", "foghorn", "fog", "harbour", "tide", "apple", "pear", "query", "passage", ":", "the")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
DIMENSION = 8
MISSING = "needs the extra `models-dev`: pip install -e '.[dev,models-dev]'"


def write_json(path: Path, plain: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(plain), encoding="utf-8")


def word_tokenizer(*, special: bool) -> Tokenizer:
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *WORDS))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=SPECIAL[1]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if special:
        ends = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
        tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
        tokenizer.enable_padding(length=6)  # as published models have it: it must not be used
    return tokenizer


def table(seed: int = 1) -> np.ndarray:
    """One row for each word."""
    rows = np.random.default_rng(seed).normal(size=(len(SPECIAL) + len(WORDS), DIMENSION))
    return rows.astype(np.float32)


def transformer(folder: Path, *, pooling: str = "mean", prompts: dict[str, str] | None = None, seed: int = 1) -> Path:
    """A folder in the layout of sentence-transformers. Its graph looks the tokens up and multiplies by the mask."""
    onnx = pytest.importorskip("onnx", reason=MISSING)
    pytest.importorskip("onnxruntime", reason=MISSING)
    from onnx import TensorProto, helper, numpy_helper

    folder.mkdir(parents=True, exist_ok=True)
    shape = ["batch", "length"]
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
            helper.make_node("Unsqueeze", ["attention_mask", "last"], ["column"]),
            helper.make_node("Cast", ["column"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["rows", "mask"], ["last_hidden_state"]),
        ],
        "tiny",
        [helper.make_tensor_value_info(n, TensorProto.INT64, shape) for n in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, DIMENSION])],
        [numpy_helper.from_array(table(seed), "table"), numpy_helper.from_array(np.array([2]), "last")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "model.onnx")
    word_tokenizer(special=True).save(str(folder / "tokenizer.json"))
    write_json(folder / "config.json", {"hidden_size": DIMENSION, "max_position_embeddings": 512})
    modes = {f"pooling_mode_{name}": name.startswith(pooling) for name in ("cls_token", "mean_tokens", "max_tokens")}
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": DIMENSION, **modes})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 16, "do_lower_case": True})
    if prompts is not None:
        write_json(folder / "config_sentence_transformers.json", {"prompts": prompts, "default_prompt_name": None})
    return folder


def static(folder: Path) -> Path:
    """A model2vec folder."""
    pytest.importorskip("model2vec", reason=MISSING)
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file({"embeddings": table()}, folder / "model.safetensors")
    word_tokenizer(special=False).save(str(folder / "tokenizer.json"))
    write_json(folder / "config.json", {"normalize": True})
    return folder
