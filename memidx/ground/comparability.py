"""When two pages are comparable: the bound on what authority may do.

Authority decides among pages that answer the same question equally well. It must not lift a page that is only nearly
about it. Two things say how comparable a page is to the best match, each in [0, 1]:

    coverage    the share of the question's words, weighted by idf, that one of its sections holds, over the greatest
                such share. Saying a word often does not raise it: a louder page is not a better one.
    likeness    0 up to the cosine below which its best section and the best match's are about different things, 1 from
                the cosine from which they are about the same thing, and evenly between.

    comparable = coverage ** c * likeness

The exponent and the cosines were chosen by measurement (docs/ranking.md): labels dealt at random must not matter,
and a rule among louder notes must come first.
"""

from __future__ import annotations


def comparable(
    coverage: float, cosine: float, *, coverage_power: float, other_topic: float, same_topic: float
) -> float:
    """In [0, 1]; 1 for the best match itself, and for a page that covers as much and is about the same thing."""
    if cosine >= same_topic:
        likeness = 1.0
    else:  # other_topic is below same_topic here, or the cosine is below both
        likeness = max(0.0, cosine - other_topic) / (same_topic - other_topic) if other_topic < same_topic else 0.0
    return float(min(max(coverage, 0.0), 1.0) ** coverage_power * likeness)


def level(best_authority: float, own_authority: float, share: float) -> float:
    """The factor on a page's match that takes its authority back to the best match's, as far as it is not comparable.

    ``(best / own) ** (1 - share)``: at share 1 authority counts in full, at 0 not at all, for better and for worse.
    """
    return float((best_authority / own_authority) ** (1.0 - share))
