"""Laws of the fold: it ignores order and repeats, it is bounded, and it follows texts."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from memidx.ground.accesses import MOST_A_DAY, Accessed, accesses
from memidx.ground.events import VERDICTS, Event, Page, judge, next_seq
from memidx.ground.settings import DecaySettings
from memidx.parsing.sidecar import access_line, event_line, mend, parse_sidecar

DEFAULT = DecaySettings()
FAST = settings(deadline=None, max_examples=40)
PATHS, BLOBS = ("a.md", "b.md", "d/a.md"), ("X", "Y", "Z")
PAGES = st.lists(
    st.builds(Page, st.sampled_from(PATHS), st.sampled_from(BLOBS)), unique_by=lambda p: p.path, max_size=3
)
# Ids repeat, and events with one id may differ: damage, or a person with an editor.
EVENTS = st.lists(
    st.builds(
        Event,
        id=st.sampled_from("0123456789abcdef"),
        kind=st.sampled_from(VERDICTS),
        path=st.sampled_from(PATHS),
        blob=st.sampled_from(BLOBS),
        seq=st.integers(0, 5),
        at=st.integers(-(10**10), 10**12),
        by=st.sampled_from(["", "x"]),
    ),
    max_size=25,
)
COUNTERS = st.lists(
    st.builds(
        Accessed,
        path=st.sampled_from(PATHS),
        blob=st.sampled_from(BLOBS),
        clone=st.sampled_from(["c1", "c2"]),
        days=st.lists(st.tuples(st.integers(-2, 30), st.integers(-5, 5000)), min_size=1, max_size=4).map(tuple),
        last=st.integers(-(10**6), 10**9),
    ),
    max_size=10,
)
NOW = 20.5 * 86_400


@given(EVENTS, PAGES, st.randoms())
@FAST
def test_law_the_fold_ignores_order_and_repeats(events, pages, chance):
    shuffled = [*events, *chance.sample(events, len(events) // 2)]
    chance.shuffle(shuffled)
    assert judge(shuffled, pages, DEFAULT) == judge(events, pages, DEFAULT)


@given(EVENTS, EVENTS, PAGES)
@FAST
def test_law_two_clones_that_exchange_what_they_have_agree_and_a_second_exchange_changes_nothing(ours, theirs, pages):
    merged = judge([*ours, *theirs], pages, DEFAULT)
    assert merged == judge([*theirs, *ours], pages, DEFAULT)
    assert merged == judge([*theirs, *ours, *theirs, *ours], pages, DEFAULT)


@given(EVENTS, PAGES)
@FAST
def test_law_salience_is_bounded_and_every_event_counts_for_one_page_at_most(events, pages):
    states = judge(events, pages, DEFAULT)
    assert all(0.25 <= s.salience <= 2.0 for s in states.values())
    assert sum(s.helpful + s.unhelpful for s in states.values()) <= len({e.id for e in events})


@given(COUNTERS, PAGES, st.randoms())
@FAST
def test_law_counters_ignore_order_and_repeats_and_are_bounded(rows, pages, chance):
    shuffled = [*rows, *rows]
    chance.shuffle(shuffled)
    found = accesses(shuffled, pages, NOW)
    assert found == accesses(rows, pages, NOW)
    assert all(0 < use.times <= 3 * 2 * 23 * MOST_A_DAY and 0 <= use.last <= NOW for use in found.values())


@given(EVENTS, COUNTERS, st.integers(0, 40))
@FAST
def test_law_lines_survive_writing_reading_markers_and_mending(events, rows, where):
    days = [row._replace(days=tuple({abs(d): n for d, n in row.days}.items())) for row in rows]
    lines = [*map(event_line, events), *(access_line(row, "id", 0) for row in days)]
    text = "".join(line + "\n" for line in lines)
    found = parse_sidecar(text)
    assert list(found.accessed) == days
    assert [e._replace(at=0) for e in found.events] == [e._replace(at=0) for e in events]
    marked = [*lines[:where], "<<<<<<< HEAD", "=======", *lines[where:], ">>>>>>> other"]
    assert mend("\n".join(marked) + "\n") == text
    assert parse_sidecar("\n".join(marked))[:2] == found[:2]


@given(st.text(max_size=300))
@FAST
def test_law_reading_never_raises_and_mending_keeps_every_line_that_is_no_marker(text):
    found = parse_sidecar(text)
    assert len(mend(text).split("\n")) >= len(text.split("\n")) - len(found.markers) - 1
    assert not parse_sidecar(mend(text)).markers
    if not found.markers:
        assert mend(text) == text


def said(*kinds, path="a.md", blob="X"):
    return [Event(f"{n}", kind, path, blob, n + 1, 100) for n, kind in enumerate(kinds)]


def salience(events):
    return judge(events, [Page("a.md", "X")], DEFAULT)["a.md"].salience


def test_steps_the_floor_and_the_clamp():
    assert salience(said("helpful")) == 1.25
    assert salience(said(*["helpful"] * 9)) == 2.0
    assert salience(said(*["helpful"] * 9, "not_helpful")) == 1.75  # the clamp leaves no debt
    assert salience(said(*["not_helpful"] * 9)) == 0.25
    assert salience(said("helpful", "stale")) == 0.25
    assert salience(said("wrong", "helpful")) == 0.5


def test_stale_and_wrong_flag_a_page_until_its_text_changes():
    events = said("stale", "wrong", "helpful")
    state = judge(events, [Page("a.md", "X")], DEFAULT)["a.md"]
    assert (state.flags, state.helpful, state.unhelpful) == (("stale", "wrong"), 1, 2)
    assert judge(events, [Page("a.md", "Y")], DEFAULT) == {}
    # The old text comes back, and what was said about it too.
    assert judge(events, [Page("a.md", "X")], DEFAULT)["a.md"].flags == ("stale", "wrong")


def test_g12_feedback_follows_moves_swaps_and_names_that_differ_in_case():
    events = said("helpful")
    assert judge(events, [Page("sub/b.md", "X")], DEFAULT)["sub/b.md"].salience == 1.25
    swapped = [Page("a.md", "Y"), Page("b.md", "X")]
    both = [*events, Event("y", "wrong", "b.md", "Y", 1, 1)]
    found = judge(both, swapped, DEFAULT)
    assert (found["b.md"].salience, found["a.md"].salience) == (1.25, 0.25)
    case = [Event("1", "helpful", "Foo.md", "X", 1, 1), Event("2", "stale", "readme.md", "R", 1, 1)]
    found = judge(case, [Page("foo.md", "X"), Page("README.md", "R2"), Page("readme.md", "R")], DEFAULT)
    assert set(found) == {"foo.md", "readme.md"}


def test_g12_of_several_copies_the_one_with_the_same_name_takes_over_and_else_none():
    events = said("stale")
    assert set(judge(events, [Page("a.md", "X"), Page("copy.md", "X")], DEFAULT)) == {"a.md"}
    assert set(judge(events, [Page("new/a.md", "X"), Page("copy.md", "X")], DEFAULT)) == {"new/a.md"}
    assert judge(events, [Page("one.md", "X"), Page("two.md", "X")], DEFAULT) == {}


def test_b12_an_event_from_the_future_does_not_outlast_what_answers_it():
    future = Event("f", "stale", "a.md", "X", 1, 4_102_444_800)  # 2100-01-01, by a wrong clock
    answer = Event("g", "helpful", "a.md", "X", next_seq([future], "X"), 1_700_000_000)
    assert salience([future, answer]) == 0.5
    assert salience([answer, future]) == 0.5
    # The clock went back between two verdicts of one person.
    first = Event("a", "stale", "a.md", "X", 1, 2000)
    assert salience([first, Event("b", "helpful", "a.md", "X", 2, 1000)]) == 0.5


def test_b12_a_sequence_number_that_is_damage_does_not_rule_for_ever():
    line = '{"id": "1", "at": "2025-01-01", "kind": "stale", "path": "a.md", "blob": "X", "seq": 99999999999999}'
    (event,) = parse_sidecar(line).events
    assert event.seq == 0
    assert next_seq([event._replace(seq=10**9)], "X") == 10**9


def test_b12_accesses_from_the_future_wait_for_their_day_and_times_are_kept_inside_it():
    now, today = 20_000.5 * 86_400, 20_000
    pages = [Page("a.md", "X")]
    later = Accessed("a.md", "X", "c", ((today + 400, 9), (today, 2)), (today + 400) * 86_400)
    found = accesses([later], pages, now)["a.md"]
    assert (found.times, found.last) == (2, now)  # the day's end is ahead: now
    assert accesses([later], pages, now + 401 * 86_400)["a.md"].times == 11
    assert accesses([Accessed("a.md", "X", "c", ((today - 3, 10**18),), 0)], pages, now)["a.md"] == (
        MOST_A_DAY,
        (today - 3) * 86_400,
    )


def test_accesses_belong_to_a_path_and_follow_its_last_text_when_it_is_gone():
    rows = [Accessed("a.md", "X", "c", ((1, 2),), 90_000), Accessed("a.md", "Y", "c", ((2, 3),), 180_000)]
    now = 10 * 86_400.0
    assert accesses(rows, [Page("a.md", "Z")], now)["a.md"].times == 5
    assert accesses(rows, [Page("new.md", "Y"), Page("other.md", "X")], now) == {"new.md": (5, 180_000.0)}
    assert accesses(rows, [Page("other.md", "Q")], now) == {}


def test_times_are_read_with_their_zones_and_leap_days():
    def at(text):
        line = f'{{"id": "1", "at": "{text}", "kind": "helpful", "path": "a", "blob": "X"}}'
        return parse_sidecar(line).events[0].at

    assert (
        at("2024-02-29T00:00:00Z") == at("2024-02-29T01:00:00+01:00") == at("2024-02-28T23:30:00-00:30") == 1709164800
    )
    assert at("2024-02-29") == 1709164800
    assert at("2023-02-29") == at("not a time") == at("2024-02-29T00:00+01Z") == at("9999999-01-01") == 0


def test_what_a_newer_version_wrote_takes_no_part_and_is_counted():
    text = (
        '{"kind": "applauded", "id": 5}\n{"kind": "helpful", "id": "1", "path": "a.md", "blob": "X", "mood": {}}\n{}\n'
    )
    found = parse_sidecar(text)
    assert (len(found.events), found.unknown, found.unreadable, found.incomplete) == (1, 2, (), ())


def test_lines_that_a_merge_has_glued_together_are_both_read():
    one, two = map(event_line, said("helpful", "stale"))
    assert (
        parse_sidecar(one + two + "\n" + one + " " + two).events == parse_sidecar(f"{one}\n{two}\n{one}\n{two}").events
    )


def test_what_is_no_event_is_named_by_line():
    bad = ["hello", "[1]", "3", '{"a": ', '{"a": 1} x', "[" * 100_000]
    found = parse_sidecar("\ufeff{}\r\n\n" + "\n".join(bad))
    assert found.unreadable == (3, 4, 5, 6, 7, 8)
    short = parse_sidecar(
        '{"kind": "stale", "id": "1", "path": "a.md"}\n{"kind": "access", "path": "a", "blob": "b", "clone": "c", "days": {"x": 1}}'
    )
    assert [i.line for i in short.incomplete] == [1, 2]


def test_two_events_with_one_id_come_out_the_same_in_any_order():
    rows = [Event("1", kind, "a.md", "X", 1, 1) for kind in VERDICTS]
    chance = random.Random(3)
    found = set()
    for _ in range(20):
        chance.shuffle(rows)
        found.add(salience(rows))
    assert len(found) == 1
