"""Ranking: gate, fusion, authority and its bound, supersession, composite, ties. Laws and worked numbers."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memidx
from memidx.ground.authority import Claims, authority, greatest_ratio
from memidx.ground.comparability import comparable, level
from memidx.ground.composite import check_weights, composite, half_life, recency, rescale, usefulness
from memidx.ground.errors import ConfigError, UsageError
from memidx.ground.fusion import Form, blend, contrast, convex_share, decisive_share, fuse, fused_score, rrf_share
from memidx.ground.gate import evidence, has_answer, passes, relevance
from memidx.ground.settings import AuthoritySettings, FusionSettings, RankingSettings, Settings
from memidx.parsing.config import parse_config

A = AuthoritySettings()
W = {"lexical": 1.0, "vector": 1.0, "title": 1.0}
RRF = Form("rrf", 60, W, 0.0)


# -- formulas ---------------------------------------------------------------------------------------------------------


def test_rrf_is_the_sum_of_reciprocal_ranks():
    shares = fuse({"lexical": [(7, 3.0), (8, 2.0)], "vector": [(8, 0.9), (9, 0.5), (7, 0.4)]}, RRF)
    assert fused_score(shares[7]) == pytest.approx(1 / (60 + 1) + 1 / (60 + 3))
    assert fused_score(shares[8]) == pytest.approx(1 / (60 + 2) + 1 / (60 + 1))
    assert fused_score(shares[9]) == pytest.approx(1 / (60 + 2))
    assert rrf_share(1, 0.7, 60) == pytest.approx(0.7 / 61)


def test_a_page_is_its_best_section_and_itself_as_a_whole():
    best = [(1, 1.0), (2, 0.9), (3, 0.9)]
    assert blend(best, None, 0.4) == best
    assert blend(best, {1: 0.0, 2: 1.0}, 0.0) == best
    assert blend(best, {1: 0.0, 2: 1.0}, 0.5) == [(2, pytest.approx(0.95)), (1, 0.5), (3, 0.45)]
    assert [page for page, _ in blend(best, {2: 0.9, 3: 0.9}, 0.4)] == [2, 3, 1]  # equals as they came


def test_a_page_about_the_question_comes_before_one_that_mentions_it(repo):
    """Each has a section that matches as well; one of the pages is about nothing else."""
    about = "".join(
        f"## Part {n}\n\nThe depot planner {w} routes of vans.\n\n" for n, w in enumerate(["draws", "mends", "sorts"])
    )
    other = (
        "## Part 0\n\nThe depot planner draws routes of vans.\n\n## Menu\n\nSoup and bread.\n\n## Sports\n\nChess.\n"
    )
    repo.write({"a-other.md": f"# X\n\n{other}", "b-about.md": f"# Y\n\n{about}"})
    vault = memidx.open_vault(repo.root)
    assert [h.path for h in vault.query("depot planner routes").hits] == ["b-about.md", "a-other.md"]


def test_convex_share_fades_with_the_match():
    assert convex_share(8.0, 8.0, 0.7) == pytest.approx(0.7)
    assert convex_share(4.0, 8.0, 0.7) == pytest.approx(0.35)
    assert convex_share(-1.0, 8.0, 0.7) == 0.0
    assert convex_share(0.0, 0.0, 0.7) == 0.0


def test_bm25_is_relative_to_the_best_and_a_cosine_is_not():
    form = Form("convex", 60, {"lexical": 0.7, "vector": 2.0, "title": 0.3}, 9.0)
    shares = fuse({"lexical": [(7, 30.0), (8, 15.0)], "vector": [(8, 0.4)], "title": [(7, 1.0), (8, 0.5)]}, form)
    assert {name: share.share for name, share in shares[7].items()} == {"lexical": 0.7, "title": 9.0}
    assert {name: share.share for name, share in shares[8].items()} == pytest.approx(
        {"lexical": 0.35, "vector": 0.8, "title": 0.15}
    )


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_contrast_is_in_the_unit_interval_and_nothing_where_the_best_is_ordinary(best, background):
    assert 0 <= contrast(best, background) <= 1
    assert contrast(background, background) == 0.0


def test_items_of_equal_score_have_the_same_rank():
    shares = fuse({"lexical": [(1, 2.0), (2, 2.0), (3, 1.0)]}, RRF)
    assert [shares[i]["lexical"].rank for i in (1, 2, 3)] == [1, 1, 3]


@pytest.mark.parametrize(
    ("claims", "value"),
    [
        (Claims(), 1.0),
        (Claims("rule"), 2.0),
        (Claims("decision"), 1.5),
        (Claims("procedure"), 1.0),
        (Claims("session"), 1.0),
        (Claims("note", tier=1), 2.0),
        (Claims("note", tier=5), 0.6),
        (Claims("note", tags=("tier:2",)), 1.5),
        (Claims("note", tags=("tier:9", "tier:x")), 1.0),
        (Claims("decision", tier=4), 0.8),
        (Claims("rule", tier=5), 2.0),  # a rule is not lowered
        (Claims("note", canonical=True), 1.2),
        (Claims("note", tags=("canonical", "source-of-truth"), canonical=True), 1.2),  # once
        (Claims("note", active=True), 1.1),
        (Claims("note", tags=("Active",)), 1.1),
        (Claims("rule", canonical=True, active=True), 2.64),
        (Claims("decision", tier=1, canonical=True, active=True, pinned=True), 2.64),
        (Claims("decision", tags=("low",)), 1.0),
        (Claims("decision", tags=("experimental",), canonical=True), 1.0),
        (Claims("rule", tags=("low",), canonical=True), 2.0),  # no boost, but the base stays
        (Claims("note", pinned=True), 1.5),
        (Claims("note", tier=5, pinned=True), 1.5),
        (Claims("note", active=False), 0.5),
        (Claims("note", tags=("deprecated", "historical"), superseded=True, active=False), 0.5),  # once
        (Claims("decision", status="superseded"), 0.75),
        (Claims("rule", tags=("do-not-answer-from",)), 1.0),
    ],
)
def test_the_authority_table(claims, value):
    assert authority(claims, A).value == value


def test_factors_are_multiplied_as_they_are_written():
    found = authority(Claims("note", canonical=True, active=True), AuthoritySettings(canonical=1.3, active=1.1))
    assert found.value == 1.43 and json.dumps(found.value) == "1.43"


def test_explain_shows_base_each_signal_clamp_and_status_apart():
    found = authority(Claims("rule", tier=1, canonical=True, active=False, pinned=True), AuthoritySettings(most=2.2))
    assert (found.base, found.clamped, found.status, found.value) == (2.0, 2.2, 0.5, 1.1)
    assert [s.name for s in found.signals] == ["kind rule", "tier 1", "canonical", "pinned"]
    assert found.status_reasons == ("active: false",)


claims_strategy = st.builds(
    Claims,
    kind=st.sampled_from(["rule", "decision", "procedure", "note", "gotcha", "session"]),
    tier=st.none() | st.integers(1, 5),
    tags=st.lists(
        st.sampled_from(["low", "canonical", "deprecated", "active", "tier:1", "tier:5", "x"]), max_size=4
    ).map(tuple),
    canonical=st.booleans(),
    active=st.none() | st.booleans(),
    pinned=st.booleans(),
    status=st.none() | st.sampled_from(["accepted", "deprecated"]),
    superseded=st.booleans(),
)


@given(claims_strategy)
def test_authority_is_bounded_and_finite(claims):
    found = authority(claims, A)
    assert A.least * A.status <= found.value <= A.most and math.isfinite(found.value)
    assert A.least <= found.clamped <= A.most


@given(claims_strategy)
def test_authority_is_monotone_in_each_signal(claims):
    value = authority(claims, A).value
    assert authority(claims._replace(canonical=True), A).value >= value
    assert authority(claims._replace(pinned=True), A).value >= value
    assert authority(claims._replace(superseded=True), A).value <= value
    assert authority(claims._replace(active=False), A).value <= max(
        value, authority(claims._replace(active=None), A).value
    )
    assert authority(claims._replace(kind="rule"), A).value >= authority(claims._replace(kind="note"), A).value


@given(st.floats(0, 1), st.floats(-1, 1), st.floats(0, 1), st.floats(-1, 1))
def test_comparability_is_in_the_unit_interval_and_monotone(coverage, likeness, more, closer):
    how = {"coverage_power": 24.0, "other_topic": 0.4, "same_topic": 0.5}
    value = comparable(coverage, likeness, **how)
    assert 0 <= value <= 1
    assert comparable(max(coverage, more), max(likeness, closer), **how) >= value
    assert comparable(1.0, 0.65, **how) == 1.0


def test_levelling_takes_authority_back_to_the_best_matchs():
    assert level(1.0, 2.0, 1.0) * 2.0 == 2.0  # comparable: counts in full
    assert level(1.0, 2.0, 0.0) * 2.0 == 1.0  # not comparable: as the best match
    assert level(1.0, 0.5, 0.0) * 0.5 == 1.0  # for worse as for better
    assert level(1.0, 2.0, 0.5) * 2.0 == pytest.approx(math.sqrt(2))


@given(st.floats(0.1, 5), st.floats(0.1, 3))
def test_the_decisive_share_beats_every_authority(rest, spread):
    ratio = 1 + spread * 10
    assert decisive_share(ratio, rest) > ratio * rest


@given(st.none() | st.floats(allow_nan=True, allow_infinity=True), st.booleans())
def test_relevance_is_finite_and_words_count_for_a_half(cosine, words):
    value = relevance(cosine, words=words)
    assert math.isfinite(value) and value >= (0.5 if words else 0.0)


def test_the_floor_is_inclusive():
    assert passes(0.15, 0.15) and not passes(0.1499, 0.15)


def test_evidence_counts_a_cosine_twice_and_a_name_is_always_enough():
    assert evidence(0.3, 0.5) == pytest.approx(1.1)
    assert not has_answer(0.1, 1.0, names_a_page=False, coverage=0.9, rare_words=1.4)
    assert has_answer(0.1, 1.0, names_a_page=True, coverage=0.0, rare_words=0.0)
    assert has_answer(0.1, 1.0, names_a_page=False, coverage=1.0, rare_words=0.1)
    assert has_answer(0.1, 1.0, names_a_page=False, coverage=0.2, rare_words=1.5)


def test_composite_components():
    assert recency(0, 180) == 1.0 and recency(180, 180) == pytest.approx(0.5) and recency(None, 1) == 0.5
    assert recency(-5, 14) == 1.0  # the clock went back
    assert half_life(["Factual", "episodic"], "rule") == 14 and half_life(["odd"], "rule") == 14
    assert (half_life([], "rule"), half_life([], "gotcha"), half_life([], "session"), half_life([], "x")) == (
        180,
        120,
        14,
        14,
    )
    assert (usefulness(0, 0), usefulness(3, 0), usefulness(0, 2)) == (0.5, 0.8, 0.25)
    weights = RankingSettings().composite
    assert composite(dict.fromkeys(weights, 1.0), weights) == pytest.approx(1.0)
    assert (
        pytest.approx(
            composite({"relevance": 0.9, "recency": 0.5, "usefulness": 0.5, "confidence": 0.5, "access": 0}, weights)
        )
        == 0.40 * 0.9 + 0.25 * 0.5 + 0.20 * 0.5 + 0.10 * 0.5 + 0.05 * 0
    )


@given(st.floats(0, 1))
def test_one_weight_changes_and_the_rest_is_scaled_to_one(value):
    scaled = rescale(RankingSettings().composite, {"recency": value})
    assert scaled["recency"] == value and check_weights(scaled) == ""
    if value < 0.999:
        assert scaled["relevance"] / scaled["usefulness"] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ranking:\n  relevance_floor: 0.5\n", "below 0.5"),
        ("ranking:\n  relevance_floor: .nan\n", "finite"),
        ("ranking:\n  relevance_floor: -0.1\n", "at least 0"),
        ("ranking:\n  composite: {recency: 0.9}\n", "sum to"),
        ("ranking:\n  composite: {luck: 0.1}\n", "no component luck"),
        ("ranking:\n  default: best\n", "cannot be 'best'"),
        ("authority:\n  canonical: .inf\n", "finite"),
        ("authority:\n  least: 0\n", "above 0"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_with_the_reason(text, why):
    with pytest.raises(ConfigError, match=why):
        parse_config(text, "c.yaml")


# -- whole vaults -----------------------------------------------------------------------------------------------------

TOPIC = "The retry budget of the gateway is three attempts, then the request fails and the pager rings."


def paths(answer):
    return [hit.path for hit in answer.hits]


@pytest.fixture
def vault_of(repo):
    def make(pages, **changes):
        repo.write(pages)
        return memidx.open_vault(repo.root, **changes)

    return make


def test_a_rule_outranks_a_decision_outranks_a_note_when_relevance_is_comparable(vault_of):
    vault = vault_of({
        "notes/n.md": f"# Talk on retries\n\n{TOPIC}\n",
        "_decisions/d.md": f"# Decision on retries\n\n{TOPIC}\n",
        "_rules/r.md": f"# Rule on retries\n\n{TOPIC}\n",
        "other.md": "# Lunch\n\nThe canteen serves soup.\n",
    })  # fmt: skip
    answer = vault.query("gateway retry budget", explain=True)
    assert paths(answer)[:3] == ["_rules/r.md", "_decisions/d.md", "notes/n.md"]
    assert [hit.authority for hit in answer.hits[:3]] == [2.0, 1.5, 1.0]
    for hit in answer.hits:
        assert hit.rank + hit.fused * hit.authority == 0
        assert hit.explain["authority"]["value"] == hit.authority


def test_authority_does_not_lift_a_page_that_is_only_nearly_about_it(vault_of):
    vault = vault_of({
        "notes/n.md": f"# Talk\n\n{TOPIC}\n",
        "_rules/r.md": "---\npinned: true\ncanonical: true\nactive: true\n---\n# Rule\n\nThe gateway must log every request.\n",
    })  # fmt: skip
    assert paths(vault.query("gateway retry budget attempts"))[0] == "notes/n.md"


def test_bait_with_perfect_metadata_and_no_relevance_is_absent(vault_of):
    bait = "---\npinned: true\ncanonical: true\nactive: true\ntier: 1\n---\n# Charter\n\nBe kind to birds and whales.\n"
    vault = vault_of(
        {"_rules/bait.md": bait, "n.md": f"# Talk\n\n{TOPIC}\n"},
        ranking=RankingSettings(min_similarity=0.0, answer_floor=0.0),
    )
    answer = vault.query("gateway retry budget pager", explain=True, floor=0.3)
    assert paths(answer) == ["n.md"]
    assert answer.filtered == len(answer.explain["filtered"]) == 1
    assert answer.explain["filtered"][0]["path"] == "_rules/bait.md"


@pytest.mark.parametrize("own", ["", "active: false\ntags: [deprecated, low]\ntier: 5\n"])
def test_q9_an_exact_title_or_alias_stays_first_whatever_the_authorities(vault_of, own):
    loud = (
        "---\npinned: true\ncanonical: true\nactive: true\ntier: 1\n---\n# Numbers\n\n" + "two two two two two\n" * 10
    )
    vault = vault_of({
        "n/two.md": f"---\ntitle: Two\naliases: [Zwei]\n{own}---\nA page on something else.\n",
        "_rules/loud.md": loud + "\nzwei zwei zwei\n",
    })  # fmt: skip
    assert paths(vault.query("two"))[0] == "n/two.md"
    assert paths(vault.query("Zwei"))[0] == "n/two.md"


def test_q1_an_identifier_finds_its_page_first(vault_of):
    vault = vault_of({
        "adr/ADR-016-use-postgres.md": "# ADR-016: use Postgres\n\nWe use it.\n",
        "_rules/r.md": "# Rule\n\nSee ADR-016. ADR-016 says so, and ADR-016 is right. ADR-016.\n",
        "sessions/2026-03-31.md": "# 2026-03-31\n\nWe met.\n",
        "_rules/dates.md": "# Dates\n\n2026-03-31 was a Tuesday; 2026-03-31 again.\n",
        "n.md": "# BENCH-100821\n\nslow\n",
    })  # fmt: skip
    assert paths(vault.query("ADR-016"))[0] == "adr/ADR-016-use-postgres.md"
    assert paths(vault.query("2026-03-31"))[0] == "sessions/2026-03-31.md"
    assert paths(vault.query("BENCH-100821"))[0] == "n.md"


def test_a_superseding_page_comes_before_the_one_it_replaces(vault_of):
    vault = vault_of({
        "adr/001-old.md": f"---\nsuperseded_by: 002-new\npinned: true\n---\n# Retry budget\n\n{TOPIC} {TOPIC}\n",
        "adr/002-new.md": "---\ntier: 5\n---\n# Attempts\n\nThe gateway tries five times.\n",
        "n.md": f"# Talk\n\n{TOPIC}\n",
    })  # fmt: skip
    for question in ("gateway retry budget attempts", "retry budget", "three attempts pager gateway"):
        found = paths(vault.query(question))
        if "adr/002-new.md" in found:
            assert found.index("adr/002-new.md") < found.index("adr/001-old.md"), question
    answer = vault.query("gateway retry budget attempts")
    assert all(hit.rank + hit.fused * hit.authority == 0 for hit in answer.hits)
    assert [hit.rank for hit in answer.hits] == sorted(hit.rank for hit in answer.hits)


def test_circular_and_ambiguous_supersession_is_no_order(vault_of):
    vault = vault_of({
        "a.md": f"---\nsuperseded_by: b\n---\n# A\n\n{TOPIC}\n",
        "b.md": f"---\nsuperseded_by: a\n---\n# B\n\n{TOPIC}\n",
        "x/c.md": f"---\nsuperseded_by: twin\n---\n# C\n\n{TOPIC}\n",
        "x/twin.md": f"# T\n\n{TOPIC}\n",
        "y/twin.md": f"# T\n\n{TOPIC}\n",
    })  # fmt: skip
    assert len(paths(vault.query("gateway retry budget"))) == 5


def test_q10_nothing_relevant_gives_no_hits(vault_of):
    vault = vault_of({f"n{i}.md": f"# Page {i}\n\n{TOPIC}\n" for i in range(5)})
    assert vault.query("zxq unrelated 20260503").hits == ()
    assert vault.query("best recipe for a rye sourdough bread").hits == ()


def test_q12_a_broken_stream_is_said(vault_of):
    vault = vault_of(
        {"n.md": f"# Page\n\n{TOPIC}\n"}, vector=memidx.ground.settings.VectorSettings(model="model2vec:/none")
    )
    answer = vault.query("retry budget")
    assert answer.degraded == ("vector",) and answer.notices and paths(answer) == ["n.md"]


def test_f10_odd_numbers_change_nothing_and_give_no_nan(vault_of):
    odd = [".nan", ".inf", '"0.9"', "1e3", "-5", "1e308", "true", "[1]", "null"]
    pages = {f"p{i}.md": f"---\ntier: {v}\nconfidence: {v}\n---\n# P{i}\n\n{TOPIC}\n" for i, v in enumerate(odd)}
    vault = vault_of(pages)
    vault.build()
    for rank in ("authority", "composite", "relevance"):
        answer = vault.query("gateway retry budget", rank=rank, explain=True, now=1.8e9)
        text = json.dumps(answer.as_json(explain=True), allow_nan=False)
        assert len(answer.hits) == len(odd) and "NaN" not in text
        assert text == json.dumps(
            vault.query("gateway retry budget", rank=rank, explain=True, now=1.8e9).as_json(explain=True)
        )


def test_expired_pages_are_left_out_unless_asked_for(vault_of):
    vault = vault_of({
        "old.md": f"---\nexpires_at: 2025-06-30\n---\n# Old\n\n{TOPIC}\n", "new.md": f"# New\n\n{TOPIC}\n",
    })  # fmt: skip
    assert paths(vault.query("retry budget", now=1_780_000_000.0)) == ["new.md"]
    assert set(paths(vault.query("retry budget", now=1_780_000_000.0, include_expired=True))) == {"old.md", "new.md"}
    assert set(paths(vault.query("retry budget", now=1_740_000_000.0))) == {"old.md", "new.md"}


def test_ties_are_broken_by_date_then_path(vault_of, repo):
    vault = vault_of({
        "b.md": f"# Same\n\n{TOPIC}\n", "a.md": f"# Same\n\n{TOPIC}\n",
        "c.md": f"---\ndate: 2026-01-01\n---\n# Same\n\n{TOPIC}\n", "d.md": f"---\ndate: 2026-02-01\n---\n# Same\n\n{TOPIC}\n",
    })  # fmt: skip
    repo.commit("all at once: when a and b changed is not known")
    assert paths(vault.query("gateway retry budget")) == ["d.md", "c.md", "a.md", "b.md"]


def test_composite_weights_recency_and_says_its_numbers(vault_of):
    vault = vault_of({
        "old.md": f"---\ndate: 2024-01-01\n---\n# A\n\n{TOPIC}\n", "new.md": f"---\ndate: 2026-05-01\n---\n# B\n\n{TOPIC}\n",
    })  # fmt: skip
    answer = vault.query(
        "gateway retry budget", rank="composite", weights={"recency": 0.8}, now=1_780_000_000.0, explain=True
    )
    assert paths(answer) == ["new.md", "old.md"]
    for hit in answer.hits:
        assert hit.authority == 1.0 and hit.rank == -hit.fused and 0 <= hit.fused <= 1
        assert set(hit.explain["components"]) == {"relevance", "recency", "usefulness", "confidence", "access"}


def test_relevance_ranking_knows_no_authority(vault_of):
    vault = vault_of({"_rules/r.md": f"# R\n\nOther words, and {TOPIC}\n", "n.md": f"# N\n\n{TOPIC}\n"})
    assert all(hit.authority == 1.0 for hit in vault.query("gateway retry budget", rank="relevance").hits)


def test_plain_rrf_stays_available_with_its_arithmetic(vault_of):
    form = FusionSettings(form="rrf")
    vault = vault_of({f"n{i}.md": f"# N{i}\n\n{TOPIC} {'gateway ' * i}\n" for i in range(4)}, fusion=form)
    for hit in vault.query("gateway retry budget", rank="relevance").hits:
        assert hit.fused == pytest.approx(sum(1 / (60 + s.rank) for s in hit.streams.values()))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"rank": "best"}, "unknown ranking"),
        ({"only": "smell"}, "unknown stream"),
        ({"floor": 0.5}, "floor"),
        ({"floor": float("nan")}, "floor"),
        ({"limit": 0}, "at least 1"),
        ({"rank": "composite", "weights": {"luck": 0.5}}, "no component"),
        ({"rank": "composite", "weights": {"recency": 1.5}}, "weights"),
    ],
)
def test_options_that_cannot_be_used_are_refused_with_the_reason(vault_of, options, why):
    with pytest.raises(UsageError, match=why):
        vault_of({"n.md": TOPIC}).query("gateway", **options)


def test_per_query_weights_bring_no_dropped_candidate_back(vault_of):
    vault = vault_of(
        {
            "bait.md": "---\ndate: 2026-05-01\nconfidence: 1\n---\n# Charter\n\nBe kind to birds and whales.\n",
            "n.md": f"# N\n\n{TOPIC}\n",
        },
        ranking=RankingSettings(min_similarity=0.0, answer_floor=0.0),
    )
    found = vault.query("gateway retry budget", rank="composite", weights={"relevance": 0.0}, floor=0.3, now=1.78e9)
    assert paths(found) == ["n.md"] and found.filtered == 1


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 10)), max_size=12, unique_by=lambda t: t[0]))
@settings(deadline=None)
def test_fusion_is_total_and_finite(items):
    ordered = sorted(items, key=lambda t: -t[1])
    for form in (RRF, Form("convex", 60, {"lexical": 0.7, "vector": 0.3, "title": 0.3}, 5.0)):
        for shares in fuse({"lexical": ordered, "vector": ordered}, form).values():
            assert math.isfinite(fused_score(shares)) and fused_score(shares) >= 0


def test_the_greatest_ratio_follows_the_settings():
    assert greatest_ratio(A) == 12.0
    assert Settings().fusion.form == "convex"
