"""The yardstick: the least a person would write to index the same text with the same libraries.

    python benchmarks/bare.py VAULT OUT

Reads every page, cuts the text every 1,500 characters, indexes the pieces with Tantivy (English stemming), embeds
them with the bundled static table and builds the same HNSW graph. No front-matter, no links, no filters, no cache, no
update, nothing crash-safe. Prints one line of JSON: pages, sections, seconds.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path

import hnswlib
import numpy as np
import tantivy
from safetensors import safe_open
from tokenizers import Tokenizer

CHARS = 1500


def pieces(root: Path) -> list[tuple[str, str]]:
    found = []
    for path in sorted(root.rglob("*.md")):
        if ".git" not in path.parts:
            text = path.read_text(encoding="utf-8", errors="replace")
            found += [(str(path), text[i : i + CHARS]) for i in range(0, max(len(text), 1), CHARS)]
    return found


def main(root: Path, out: Path) -> None:
    started = time.perf_counter()
    rows = pieces(root)
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=True, tokenizer_name="en_stem")
    builder.add_integer_field("row", stored=True, fast=True)
    schema = builder.build()
    (out / "lexical").mkdir(parents=True)
    index = tantivy.Index(schema, path=str(out / "lexical"))
    writer = index.writer(256_000_000, 1)
    for number, (_, text) in enumerate(rows):
        writer.add_document(tantivy.Document(body=text, row=number))
    writer.commit()
    writer.wait_merging_threads()
    package = Path(importlib.util.find_spec("wordllama").submodule_search_locations[0])
    tokenizer = Tokenizer.from_file(str(package / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    with safe_open(str(package / "weights" / "l2_supercat_256.safetensors"), "np") as file:
        table = file.get_tensor("embedding.weight").astype(np.float32)
    vectors = np.zeros((len(rows), table.shape[1]), np.float32)
    encoded = tokenizer.encode_batch_fast([text for _, text in rows], add_special_tokens=False)
    for number, encoding in enumerate(encoded):
        if encoding.ids:
            vectors[number] = table[encoding.ids].mean(axis=0)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, norms, out=vectors, where=norms > 0)
    np.save(out / "vectors.npy", vectors)
    graph = hnswlib.Index(space="ip", dim=table.shape[1])
    graph.init_index(len(rows), ef_construction=100, M=16, random_seed=1)
    graph.add_items(vectors, num_threads=1)
    graph.save_index(str(out / "graph.bin"))
    pages = len({path for path, _ in rows})
    print(json.dumps({"pages": pages, "sections": len(rows), "seconds": round(time.perf_counter() - started, 3)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
