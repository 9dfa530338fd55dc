"""Moments as they are typed after --since and --until."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memidx.doors.when import parse_moment
from memidx.ground.errors import UsageError

NOW = datetime(2024, 3, 31, 12, 30, tzinfo=UTC).timestamp()


def at(*parts):
    return int(datetime(*parts, tzinfo=UTC).timestamp())


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("12h", at(2024, 3, 31, 0, 30)),
        ("30d", at(2024, 3, 1, 12, 30)),
        ("2w", at(2024, 3, 17, 12, 30)),
        ("1m", at(2024, 2, 29, 12, 30)),  # there is no 31 February
        ("3m", at(2023, 12, 31, 12, 30)),
        ("12m", at(2023, 3, 31, 12, 30)),
        ("1y", at(2023, 3, 31, 12, 30)),
        ("1Y", at(2023, 3, 31, 12, 30)),
        ("0d", at(2024, 3, 31, 12, 30)),
        ("2024-02-29", at(2024, 2, 29)),
        ("2024-02-29T10:00", at(2024, 2, 29, 10)),
        ("2024-02-29T10:00+02:00", at(2024, 2, 29, 8)),
        ("2024-02-29T10:00:30Z", at(2024, 2, 29, 10, 0, 30)),
    ],
)
def test_moments(text, moment):
    assert parse_moment(text, "--since", NOW) == moment


def test_until_a_bare_date_means_its_last_second_and_nothing_else_does():
    assert parse_moment("2024-02-29", "--until", NOW, end_of_day=True) == at(2024, 2, 29, 23, 59, 59)
    assert parse_moment("2024-02-29T10:00", "--until", NOW, end_of_day=True) == at(2024, 2, 29, 10)
    assert parse_moment("1d", "--until", NOW, end_of_day=True) == at(2024, 3, 30, 12, 30)


@pytest.mark.parametrize("text", ["", "yesterday", "2024-02-30", "30", "d", "-3d", "3 d", "999999y", "9999999d"])
def test_what_is_no_moment_says_what_is(text):
    with pytest.raises(UsageError) as caught:
        parse_moment(text, "--since", NOW)
    assert "--since" in caught.value.message
    assert "2024-03-31" in caught.value.hint


@given(st.text(max_size=12) | st.from_regex(r"[0-9]{1,7}[hdwmy]", fullmatch=True))
@settings(deadline=None, max_examples=100)
def test_law_any_text_is_a_moment_or_a_usage_error(text):
    with contextlib.suppress(UsageError):
        assert isinstance(parse_moment(text, "--since", NOW), int)
