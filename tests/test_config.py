"""Settings from the config file and from the environment."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memidx.ground.errors import ConfigError
from memidx.ground.settings import Settings
from memidx.parsing.config import apply_environment, parse_config, set_option


def test_empty_config_is_the_defaults():
    assert parse_config("", "c.yaml") == Settings()
    assert parse_config("# only a comment\n", "c.yaml") == Settings()


def test_values_are_typed_by_the_setting_not_by_yaml():
    found = parse_config("query:\n  limit: 5\n  refresh_seconds: 1e1\nlexical:\n  language: german\n", "c.yaml")
    assert (found.query.limit, found.query.refresh_seconds, found.lexical.language) == (5, 10.0, "german")


@pytest.mark.parametrize(
    ("text", "where", "hint"),
    [
        ("qery:\n  limit: 1\n", "c.yaml:1:1", "did you mean 'query'?"),
        ("query:\n  limt: 1\n", "c.yaml:2:3", "did you mean 'limit'?"),
        ("query:\n  limit: x\n", "c.yaml:2:3", ""),
        ("query:\n  limit: .nan\n", "c.yaml:2:3", ""),
        ("query:\n  refresh_seconds: .inf\n", "c.yaml:2:3", ""),
        ("query:\n  refresh_seconds: -1\n", "c.yaml:2:3", ""),
        ("query:\n  limit: 0\n", "c.yaml:2:3", ""),
        ("query:\n  limit: [1]\n", "c.yaml:2:3", ""),
        ("query: [a]\n", "c.yaml:1:8", "write `name: value` lines"),
        ("- a\n", "c.yaml:1:1", "write `name: value` lines"),
        ("a: [\n", "c.yaml:2:1", "mend the file"),
        ("vector:\n  graph: sometimes\n", "c.yaml:2:3", "one of auto, always, never"),
        ("sections:\n  max_chars: 3\n", "c.yaml:2:3", ""),
    ],
)
def test_a_wrong_config_names_its_place_and_the_nearest_name(text, where, hint):
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "c.yaml")
    assert str(caught.value).startswith(where)
    assert caught.value.hint == hint


def test_environment_wins_over_the_file_and_option_over_both():
    found = parse_config("query:\n  limit: 5\n", "c.yaml")
    found = apply_environment(found, {"MEMIDX_QUERY_LIMIT": "6", "OTHER": "x"})
    assert found.query.limit == 6
    assert set_option(found, "query.limit", "7", "--set").query.limit == 7


def test_environment_takes_lists_and_names_unknown_variables():
    assert apply_environment(Settings(), {"MEMIDX_PAGES_EXCLUDE": "[drafts/, x]"}).pages.exclude == ("drafts/", "x")
    with pytest.raises(ConfigError, match="MEMIDX_QUERRY_LIMIT") as caught:
        apply_environment(Settings(), {"MEMIDX_QUERRY_LIMIT": "6"})
    assert "MEMIDX_QUERY_LIMIT" in caught.value.hint


def test_what_changes_a_snapshot_changes_the_build_digest_and_nothing_else_does():
    base = Settings().build_digest()
    assert parse_config("query:\n  limit: 5\n", "c").build_digest() == base
    assert parse_config("sections:\n  max_chars: 999\n", "c").build_digest() != base
    assert parse_config("pages:\n  kinds:\n    rule: [laws/]\n", "c").build_digest() != base


@given(st.text(max_size=200))
@settings(deadline=None, max_examples=200)
def test_any_text_is_read_or_refused_by_a_config_error(text):
    refused = ""
    try:
        parse_config(text, "c.yaml")
    except ConfigError as error:
        refused = str(error)
    assert not refused or refused.startswith("c.yaml")


def test_no_python_object_is_ever_built():
    with pytest.raises(ConfigError):
        parse_config("!!python/object/apply:os.system ['true']\n", "c.yaml")
