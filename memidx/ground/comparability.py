"""When two pages are comparable: the bound on what authority may do.

Authority decides among pages that answer the same question equally well. It must not lift a page that is only nearly
about it. Two things say how comparable a page is to the best match, each in [0, 1]:

    coverage    the share of the question's words, weighted by idf, that one of its sections holds, over the greatest
                such share. Saying a word often does not raise it: a louder page is not a better one.
    likeness    the cosine between its best section and the best match's, over the cosine from which two texts count
                as being about the same thing.

    comparable = coverage ** c * likeness ** l

The exponents and the cosine were chosen by measurement (docs/ranking.md): labels dealt at random must not matter,
and a rule among louder notes must come first.
"""

from __future__ import annotations


def comparable(
    coverage: float, likeness: float, *, coverage_power: float, likeness_power: float, same_topic: float
) -> float:
    """In [0, 1]; 1 for the best match itself, and for a page that covers as much and is about the same thing."""
    about = min(max(likeness, 0.0) / same_topic, 1.0) if same_topic > 0 else 1.0
    return float(min(max(coverage, 0.0), 1.0) ** coverage_power * about**likeness_power)


def level(best_authority: float, own_authority: float, share: float) -> float:
    """The factor on a page's match that takes its authority back to the best match's, as far as it is not comparable.

    ``(best / own) ** (1 - share)``: at share 1 authority counts in full, at 0 not at all, for better and for worse.
    """
    return float((best_authority / own_authority) ** (1.0 - share))
