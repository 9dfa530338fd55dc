"""Is the newer page above the one it replaces, in every pair that resolves?

    python benchmarks/superseded.py VAULT

For each page with a `superseded_by` that names one page, asks with the older page's title, with the newer page's title,
and with the first words of the older page's text, and looks at the order wherever both are hits.
"""

from __future__ import annotations

import sys

import memidx
from memidx.engines.references import successors, supersession_findings


def main(root: str) -> None:
    vault = memidx.open_vault(root)
    snapshot, _, _ = vault.open_snapshot()
    catalog = snapshot.catalog
    pages = {row.id: row for row in catalog.all_pages()}
    claimed = [row for row in pages.values() if row.meta.get("superseded_by")]
    pairs = [(old, new) for old, newer in successors(catalog, claimed).items() for new in newer]
    asked = both = right = 0
    for old, new in pairs:
        first = snapshot.lexical.texts([catalog.sections_of(old)[0].id])
        opening = " ".join(next(iter(first.values()), "").split()[:12])
        for text in (pages[old].title, pages[new].title, opening):
            asked += 1
            found = [hit.path for hit in vault.query(text, limit=100).hits]
            if pages[old].path in found and pages[new].path in found:
                both += 1
                ordered = found.index(pages[new].path) < found.index(pages[old].path)
                right += ordered
                if not ordered:
                    print(f"wrong: {text!r}: {pages[old].path} before {pages[new].path}")
    print(
        f"{len(claimed)} pages say superseded_by, {len(pairs)} pairs resolve, {asked} questions, both found in {both}, newer first in {right}"
    )
    for finding in supersession_findings(catalog):
        print(finding)


if __name__ == "__main__":
    main(sys.argv[1])
