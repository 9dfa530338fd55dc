"""Retention, the day a page goes cold, and clocks that are not right: written out in numbers."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memidx.engines.decay import day_after
from memidx.ground.retention import cold_after, retention
from memidx.ground.settings import DecaySettings, Settings
from memidx.parsing.config import parse_config

DEFAULT = DecaySettings()
SALIENCES = st.floats(0.25, 2.0)
AGES = st.floats(0, 50_000)
COUNTS = st.integers(0, 10**7)
FAST = settings(deadline=None, max_examples=60)


@pytest.mark.parametrize(
    ("salience", "age", "count", "idle", "value"),
    [
        (1, 0, 0, None, 1.0),
        (1, 30, 0, None, 0.548812),  # exp(-0.6)
        (1, 80, 0, None, 0.201897),
        (1, 81, 0, None, 0.197899),
        (1, 200, 50, 2, 2.196035),  # exp(-4) + 0.6 ln 51 exp(-0.08)
        (1, 100, 10, 120, 0.147176),
        (1, 42, 3, 7, 1.060354),
    ],
)
def test_worked_values(salience, age, count, idle, value):
    assert retention(salience, age, count, idle, DEFAULT) == pytest.approx(value, abs=5e-7)


def test_a_page_is_cold_below_the_threshold_and_not_at_it():
    assert math.isclose(cold_after(1.0, 0.0, 0, None, DEFAULT), math.log(1 / 0.2) / 0.02, abs_tol=1e-3)  # 80.47 days
    assert retention(1.0, math.log(5) / 0.02 - 1e-9, 0, None, DEFAULT) >= DEFAULT.cold


def test_the_day_a_page_went_cold_is_told_when_it_is_cold_already():
    # age 100: it was 80.47 days old 19.53 days ago
    assert cold_after(1.0, 100.0, 0, None, DEFAULT) == pytest.approx(-19.528, abs=1e-3)
    # Cold from the start of what is known: then that.
    assert cold_after(0.1, 7.0, 0, None, DEFAULT) == -7.0


def test_b12_400_idle_days_leave_next_to_nothing():
    value = retention(1.0, 400.0, 1000, 400.0, DEFAULT)
    assert value == pytest.approx(math.exp(-8) + 0.6 * math.log(1001) * math.exp(-16), rel=1e-12)
    assert 0 < value < 0.001


def test_b12_ages_below_zero_count_as_zero():
    assert retention(1.0, -5000.0, 10, -3.0, DEFAULT) == 1.0 + 0.6 * math.log(11)
    assert cold_after(1.0, -5.0, 0, -1.0, DEFAULT) == cold_after(1.0, 0.0, 0, None, DEFAULT)


def test_never_cold_and_beyond_the_calendar_is_no_day():
    assert cold_after(1.0, 10.0, 0, None, DecaySettings(lam=0.0)) is None
    assert day_after(0.0, 80.47) == "1970-03-22"
    assert day_after(1e9, 9e6) is None
    # 2024-02-28T12:00Z and a day later: a leap day
    assert day_after(1709121600.0, 1.0) == "2024-02-29"
    assert day_after(1709121600.0, 2.0) == "2024-03-01"


@given(SALIENCES, AGES, COUNTS, st.one_of(st.none(), AGES), st.floats(0, 1000))
@FAST
def test_law_retention_is_finite_never_negative_and_only_falls_with_time(salience, age, count, idle, later):
    now = retention(salience, age, count, idle, DEFAULT)
    then = retention(salience, age + later, count, None if idle is None else idle + later, DEFAULT)
    assert math.isfinite(now)
    assert 0 <= then <= now


@given(SALIENCES, AGES, COUNTS, st.one_of(st.none(), AGES))
@FAST
def test_law_the_day_of_cold_is_where_retention_crosses(salience, age, count, idle):
    days = cold_after(salience, age, count, idle, DEFAULT)
    assert days is not None

    def at(t):
        return retention(salience, age + t, count, None if idle is None else idle + t, DEFAULT)

    assert at(days + 1e-6) < DEFAULT.cold
    start = -min(age, math.inf if idle is None or not count else idle)
    if days > start + 1e-3:
        assert at(days - 1e-3) >= DEFAULT.cold


def test_decay_settings_are_in_the_config_and_not_in_the_build_key():
    changed = parse_config("decay:\n  lam: 0.1\n  track: false\n  keep_kinds: [rule]\n", "c.yaml")
    assert (changed.decay.lam, changed.decay.track, changed.decay.keep_kinds) == (0.1, False, ("rule",))
    assert changed.build_digest() == Settings().build_digest()
