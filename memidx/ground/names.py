"""How well a query matches a page's name."""

from __future__ import annotations

# A title, an alias, a slug or an id names one page; a tag or an entity is shared by many. An index page also answers
# to its folder, but links do not resolve by that.
OWN = frozenset({"title", "alias", "slug", "id"})
EXACT_OWN, EXACT_SHARED = 1.0, 0.6
PREFIX_OWN, PREFIX_SHARED = 0.5, 0.2
NEAR_OWN, NEAR_SHARED = 0.7, 0.4
LABEL = 0.9


def is_identifier(folded: str) -> bool:
    """Whether a folded name is a reference such as `adr 016` or `2026 03 31`: several parts, and a number among them.

    A page whose name starts with it is that page, whatever the name says after it.
    """
    return " " in folded and any(char.isdigit() for char in folded)


def is_path(text: str) -> bool:
    """Whether a query is typed as a page's path, or the end of one: ``runbooks/restore.md``, ``restore.md``."""
    return text.strip().lower().endswith((".md", ".markdown")) and " /" not in text and "\n" not in text


def label_score(agreement: float) -> float:
    """In [0, 1): the query is what links are labelled; ``agreement`` is the share of them that lead to the page."""
    return LABEL * agreement


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
        return EXACT_OWN if own or source == "folder" else EXACT_SHARED
    whole_words = name[len(query)] == " "
    if own and whole_words and is_identifier(query):
        return EXACT_OWN
    best = PREFIX_OWN if own else PREFIX_SHARED
    return best * (0.5 + 0.5 * len(query) / len(name)) * (1.0 if whole_words else 0.5)
