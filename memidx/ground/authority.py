"""Authority: how much weight a page's own metadata gives it among comparable pages.

A bounded number, 1 without any signal. The factors are multiplied in decimal arithmetic on the numbers as written,
so that 1.3 x 1.1 is 1.43 and not 1.4300000000000002.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from memidx.ground.settings import AuthoritySettings

RULE = "rule"


class Claims(NamedTuple):
    """What a page says of itself."""

    kind: str = "note"
    tier: int | None = None
    tags: Collection[str] = ()
    canonical: bool = False
    active: bool | None = None
    pinned: bool = False
    status: str | None = None
    superseded: bool = False


class Signal(NamedTuple):
    """One step of the sum: what it is, what it does, and the value after it."""

    name: str
    effect: str
    value: float


class Authority(NamedTuple):
    """``value`` is ``clamped`` times ``status``; ``signals`` lead from ``base`` to ``clamped``."""

    value: float
    base: float
    signals: tuple[Signal, ...]
    clamped: float
    status: float
    status_reasons: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """All numbers, for --explain."""
        return {
            "value": self.value,
            "base": self.base,
            "signals": [s._asdict() for s in self.signals],
            "clamped": self.clamped,
            "status": self.status,
            "status_reasons": list(self.status_reasons),
        }


def authority(claims: Claims, settings: AuthoritySettings) -> Authority:
    """The authority of a page, in [least * status, most].

    base (kind, or tier in its place) -> x canonical -> x active -> at most 1 when low -> at least ``pinned`` when
    pinned -> clamp -> x status, once. On a rule, tier can only raise the base, and `low` takes the boosts but not the
    base.
    """
    tags = {tag.casefold() for tag in claims.tags}
    value, signals = _base(claims, tags, settings)
    base = value
    low = tags & set(settings.low_tags)
    boosts = (
        ("canonical", claims.canonical or bool(tags & set(settings.canonical_tags)), settings.canonical),
        ("active", claims.active is True or (claims.active is None and "active" in tags), settings.active),
    )
    for name, holds, factor in boosts:
        if holds and not (low and claims.kind == RULE):
            value *= _exact(factor)
            signals.append(Signal(name, f"x {factor:g}", float(value)))
    if low and claims.kind != RULE:
        value = min(value, _exact(settings.low_most))
        signals.append(Signal("low", f"at most {settings.low_most:g}", float(value)))
    elif low:
        signals.append(Signal("low", "no boost, a rule keeps its base", float(value)))
    if claims.pinned:
        value = max(value, _exact(settings.pinned_least))
        signals.append(Signal("pinned", f"at least {settings.pinned_least:g}", float(value)))
    clamped = min(max(value, _exact(settings.least)), _exact(settings.most))
    reasons = status_reasons(claims, tags, settings)
    status = _exact(settings.status) if reasons else Decimal(1)
    return Authority(float(clamped * status), float(base), tuple(signals), float(clamped), float(status), reasons)


def _base(claims: Claims, tags: set[str], settings: AuthoritySettings) -> tuple[Decimal, list[Signal]]:
    base = _exact(settings.kinds.get(claims.kind, 1.0))
    signals = [Signal(f"kind {claims.kind}", f"{float(base):g}", float(base))] if claims.kind in settings.kinds else []
    tier = claims.tier if claims.tier is not None else tier_of_tags(tags)
    if tier is None or str(tier) not in settings.tiers:
        return base, signals
    replaced = _exact(settings.tiers[str(tier)])
    if claims.kind == RULE and replaced < base:
        return base, [*signals, Signal(f"tier {tier}", "ignored, a rule is not lowered", float(base))]
    return replaced, [*signals, Signal(f"tier {tier}", f"{float(replaced):g}", float(replaced))]


def tier_of_tags(tags: Collection[str]) -> int | None:
    """The tier that a tag `tier:N` gives; the strongest when there are several."""
    found = [tag.partition(":")[2] for tag in tags if tag.startswith("tier:")]
    numbers = [int(text) for text in found if text in {"1", "2", "3", "4", "5"}]
    return min(numbers, default=None)


def status_reasons(claims: Claims, tags: set[str], settings: AuthoritySettings) -> tuple[str, ...]:
    """Why the status factor applies; empty when it does not."""
    reasons = [f"tag {tag}" for tag in sorted(tags & set(settings.status_tags))]
    if claims.status and claims.status.casefold() in settings.status_tags:
        reasons.append(f"status {claims.status}")
    if claims.active is False:
        reasons.append("active: false")
    if claims.superseded:
        reasons.append("superseded_by")
    return tuple(reasons)


def greatest_ratio(settings: AuthoritySettings) -> float:
    """The most that one page's authority can be of another's."""
    return settings.most / (settings.least * min(settings.status, 1.0))


def _exact(number: float) -> Decimal:
    """The decimal that was written, not the binary fraction nearest to it."""
    return Decimal(repr(number))


def counting_tags(settings: AuthoritySettings) -> frozenset[str]:
    """The tags that can change an authority, case folded; `tier:N` beside them."""
    return frozenset({*settings.low_tags, *settings.canonical_tags, *settings.status_tags, "active"})


def claims_of(kind: str, meta: Mapping[str, object], counting: Collection[str]) -> Claims:
    """Claims from a catalog row: its kind and its typed front-matter. Tags that count for nothing are left out.

    So most pages claim the same, and its authority is worked out once.
    """
    tags = meta.get("tags", ())
    active = meta.get("active")
    tier = meta.get("tier")
    return Claims(
        kind=kind,
        tier=tier if isinstance(tier, int) else None,
        tags=tuple(tag for tag in map(str, tags) if _counts(tag, counting)) if isinstance(tags, (list, tuple)) else (),
        canonical=meta.get("canonical") is True,
        active=active if isinstance(active, bool) else None,
        pinned=meta.get("pinned") is True,
        status=str(meta["status"]) if meta.get("status") else None,
        superseded=bool(meta.get("superseded_by")),
    )


def _counts(tag: str, counting: Collection[str]) -> bool:
    folded = tag.casefold()
    return folded in counting or folded.startswith("tier:")
