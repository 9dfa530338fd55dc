"""A yardstick: Tantivy alone over sections, with BM25 and an English stemmer.

python benchmarks/bare_tantivy.py build|query|warm VAULT STATE [TEXT]      (see plain.py)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import plain
import tantivy


class BareTantivy:
    def __init__(self, state: Path) -> None:
        state.mkdir(parents=True, exist_ok=True)
        self.known = state / "stamps.json"
        (state / "index").mkdir(exist_ok=True)
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("path", stored=True, tokenizer_name="raw")
        schema.add_integer_field("line", stored=True)
        schema.add_text_field("heading", tokenizer_name="en_stem")
        schema.add_text_field("body", tokenizer_name="en_stem")
        self.index = tantivy.Index(schema.build(), path=str(state / "index"))

    def build(self, vault: Path) -> None:
        before = json.loads(self.known.read_text()) if self.known.exists() else {}
        known = {path: (time, size) for path, (time, size) in before.items()}
        stale, fresh = plain.changes(vault, known)
        if not stale and not fresh:
            return
        writer = self.index.writer(256_000_000, 1)
        for path in stale:
            writer.delete_documents_by_term("path", path)
            del known[path]
        for path in fresh:
            for s in plain.sections((vault / path).read_text(encoding="utf-8", errors="replace")):
                writer.add_document(tantivy.Document(path=path, line=s.line, heading=s.heading, body=s.body))
        writer.commit()
        writer.wait_merging_threads()
        self.known.write_text(json.dumps(known | fresh))

    def query(self, text: str) -> list[str]:
        searcher = self.index.searcher()
        words = " ".join(plain.WORD.findall(text.lower()))
        query = self.index.parse_query(words, ["heading", "body"], field_boosts={"heading": 2.0})
        found = [searcher.doc(address) for _, address in searcher.search(query, 10).hits]
        return [f"{doc.get_first('path')}:{doc.get_first('line')}" for doc in found]


if __name__ == "__main__":
    plain.run(BareTantivy(Path(sys.argv[3])))
