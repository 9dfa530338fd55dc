"""How well a query matches a page's name."""

from __future__ import annotations

# A title, an alias, a slug or an id names one page; a tag or an entity is shared by many.
OWN = frozenset({"title", "alias", "slug", "id"})
EXACT_OWN, EXACT_SHARED = 1.0, 0.6
PREFIX_OWN, PREFIX_SHARED = 0.5, 0.2
NEAR_OWN, NEAR_SHARED = 0.7, 0.4


def is_identifier(folded: str) -> bool:
    """Whether a folded name is a reference such as `adr 016` or `2026 03 31`: several parts, and a number among them.

    A page whose name starts with it is that page, whatever the name says after it.
    """
    return " " in folded and any(char.isdigit() for char in folded)


def near_score(source: str) -> float:
    """In (0, 1): a name that is one typing error away from the query."""
    return NEAR_OWN if source in OWN else NEAR_SHARED


def name_score(query: str, name: str, source: str) -> float:
    """In (0, 1]: 1 for an exact own name; a prefix scores by the share of the name that it covers.

    Both are folded (``fold_name``) and ``name`` starts with ``query``. A prefix that ends inside a word counts less
    than one that ends with it.
    """
    own = source in OWN
    if name == query:
        return EXACT_OWN if own else EXACT_SHARED
    whole_words = name[len(query)] == " "
    if own and whole_words and is_identifier(query):
        return EXACT_OWN
    best = PREFIX_OWN if own else PREFIX_SHARED
    return best * (0.5 + 0.5 * len(query) / len(name)) * (1.0 if whole_words else 0.5)
