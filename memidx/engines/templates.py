"""The built-in templates of new pages, by kind. A vault's own go before: `.memidx/templates/KIND.md`."""

from __future__ import annotations

HEAD = "---\ntitle: {{title}}\ndate: {{date}}\n---\n\n# {{title}}\n"


def _template(*headings: str) -> str:
    return HEAD + "".join(f"\n## {heading}\n" for heading in headings)


TEMPLATES = {
    "rule": HEAD + "\n\n## Why\n\n## Exceptions\n",
    "decision": _template("Context", "Decision", "Consequences"),
    "procedure": _template("When", "Steps", "Check", "Undo"),
    "gotcha": _template("Symptom", "Cause", "Way out"),
    "concept": HEAD + "\n\n## See also\n",
    "session": _template("Done", "Learned", "Open"),
    "note": HEAD,
}
