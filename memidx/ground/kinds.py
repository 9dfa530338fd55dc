"""Which folders decide the kind of a page, where the settings do not say."""

from __future__ import annotations

DEFAULT_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("rule", ("_rules/",)),
    ("decision", ("_decisions/", "decisions/", "adr/")),
    ("procedure", ("_procedures/", "procedures/", "runbooks/")),
    ("gotcha", ("gotchas/",)),
    ("concept", ("concepts/",)),
    ("session", ("sessions/",)),
)
