"""Front-matter: the cases F1 to F16 that concern the block and its keys."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from memidx.ground.kinds import DEFAULT_KINDS
from memidx.ground.page import Page, PageRules
from memidx.parsing.page import parse_page


def read(front: str, body: str = "body words\n", path: str = "notes/my page.md") -> Page:
    return parse_page(path, f"---\n{front}\n---\n{body}".encode())


def codes(page: Page) -> list[str]:
    return [note.code for note in page.diagnostics]


def values(page: Page) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for field in page.fields:
        found.setdefault(field.key, []).append(field.value)
    return found


def epoch(*when: int) -> int:
    return int(datetime(*when, tzinfo=UTC).timestamp())


# ---- titles


def test_f1_a_title_that_looks_like_a_date_is_that_text():
    assert read("title: 2026-05-26").title == "2026-05-26"


def test_f1_a_heading_that_looks_like_a_date_is_the_title():
    assert parse_page("log/x.md", b"# 2026-04-11\n\ntext\n").title == "2026-04-11"


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("intro\n\n## Two\n\n# One\n", "One"),
        ("## Two\n\ntext\n", "Two"),
        ("intro\n\n## Two\n", "Meeting [x] (1) 100%"),
        ("", "Meeting [x] (1) 100%"),
        ("#\n\n# Real\n", "Real"),
    ],
)
def test_the_title_comes_from_the_first_top_heading_else_the_opening_one_else_the_name(body, title):
    assert parse_page("a/Meeting [x] (1) 100%.md", body.encode()).title == title


def test_a_null_title_falls_back_but_a_quoted_one_is_text():
    assert read("title: null").title == "my page"
    assert read("title:").title == "my page"
    assert read('title: "null"').title == "null"


# ---- dates


def test_f2_a_day_that_does_not_exist_leaves_the_date_unset_and_names_its_line():
    page = read("title: x\ndate: 2024-02-30")
    assert page.meta.changed_at is None
    assert not page.degraded
    [note] = page.diagnostics
    assert (note.code, note.line, note.col, note.severity) == ("bad-date", 3, 7, "warning")
    assert str(note).startswith("notes/my page.md:3:7: ")
    assert [(f.key, f.value) for f in page.fields] == [("title", "x"), ("date", "2024-02-30")]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-03-31", epoch(2026, 3, 31)),
        ("2026-03-31 10:20", epoch(2026, 3, 31, 10, 20)),
        ("2026-03-31T10:20:30Z", epoch(2026, 3, 31, 10, 20, 30)),
        ("2026-03-31T10:20:30.9+02:00", epoch(2026, 3, 31, 8, 20, 30)),
        ("2026-03-31 10:20:30 +0900", epoch(2026, 3, 31, 1, 20, 30)),
        ('"2026-03-31"', epoch(2026, 3, 31)),
        ("1969-12-31", -86_400),
    ],
)
def test_dates_are_read_in_the_forms_people_write(written, expected):
    page = read(f"updated: {written}")
    assert page.meta.changed_at == expected
    assert codes(page) == []


@pytest.mark.parametrize(
    "written", ["2026", "yesterday", "12:30:45", "2026/03/31", "[2026-03-31]", "{a: 1}", "1" * 9999]
)
def test_what_is_no_iso_date_is_said(written):
    page = read(f"created: {written}")
    assert page.meta.changed_at is None
    assert codes(page) == ["bad-date"]


def test_changed_at_is_the_first_valid_of_updated_date_created():
    page = read("created: 2020-01-01\ndate: 2021-01-01\nupdated: 2022-13-01")
    assert page.meta.changed_at == epoch(2021, 1, 1)
    assert codes(page) == ["bad-date"]
    assert read("created: 2020-01-01\nlastmod: 2021-01-01").meta.changed_at == epoch(2021, 1, 1)


def test_a_bare_expiry_date_is_the_end_of_that_day_utc():
    assert read("expires_at: 2026-03-31").meta.expires_at == epoch(2026, 3, 31, 23, 59, 59)
    assert read("expires-at: 2026-03-31T10:00").meta.expires_at == epoch(2026, 3, 31, 10)


# ---- broken blocks


@pytest.mark.parametrize(
    ("front", "line", "col"),
    [
        ("key: `C:\\x`", 2, 6),
        ("a: 1\ntitle: *Italic*", 3, 15),
        ("a: 1\nlist:\n- [[link]]suffix", 4, 11),
        ("a: b: c", 2, 5),
        ("a:\n\t- x", 3, 1),
        ("a: 1\nb: x\x07y", 3, 5),
        ("b: *nowhere", 2, 4),
    ],
)
def test_f4_broken_yaml_degrades_the_page_and_its_body_stays(front, line, col):
    page = read(front, "# Head\n\nbody words\n")
    assert page.degraded
    [note] = page.diagnostics
    assert (note.code, note.severity, note.line, note.col) == ("front-matter-yaml", "error", line, col)
    assert page.fields == ()
    assert page.title == "Head"
    assert page.sections[-1].text == "body words"


def test_f3_a_broken_page_among_good_ones_costs_nobody_else_anything():
    good = [read(f"title: t{i}") for i in range(100)]
    pages = [*good[:50], read("title: *Italic*"), *good[50:]]
    assert sum(page.degraded for page in pages) == 1
    assert sum(len(page.diagnostics) for page in pages) == 1
    assert all(page.sections[-1].text == "body words" for page in pages)


def test_f4_a_fence_that_never_closes_makes_the_whole_text_body():
    page = parse_page("a.md", b"---\ntitle: x\n\nbody words\n")
    assert page.degraded
    assert codes(page) == ["front-matter-unclosed"]
    assert page.body_line == 1
    assert page.sections[0].text == "---\ntitle: x\n\nbody words"


def test_the_words_of_a_block_that_cannot_be_used_are_still_searchable():
    page = parse_page("a.md", b"---\nProse between two rules: here.\nMore: of: it.\n---\nbody\n")
    assert [(s.text, s.line, s.end_line) for s in page.sections] == [
        ("Prose between two rules: here.\nMore: of: it.", 2, 3),
        ("body", 5, 5),
    ]


def test_f5_only_whole_line_fences_at_the_start_of_the_file_count():
    page = parse_page("a.md", b"---\nstatus: x---\n---\nbody\n")
    assert values(page) == {"status": ["x---"]}
    for text in (
        "---\nstatus: x---\nbody\n",
        "--- status: x ---\nbody\n",
        "text\n---\nstatus: x\n---\n",
        "\n---\na: 1\n---\n",
    ):
        page = parse_page("a.md", text.encode())
        assert page.fields == ()
        assert page.body_line == 1


def test_f5_rules_and_tables_in_the_body_stay_in_the_body():
    body = "one\n\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |\n---\n\ntwo"
    page = read("title: x", body)
    assert [s.text for s in page.sections] == [body]


def test_three_dots_close_the_block_too():
    page = parse_page("a.md", b"---\na: 1\n...\nbody\n")
    assert values(page) == {"a": ["1"]}
    assert page.body_line == 4


def test_an_empty_block_is_no_fault():
    for text in ("---\n---\nbody\n", "---\n# only a comment\n---\nbody\n"):
        page = parse_page("a.md", text.encode())
        assert (page.fields, page.diagnostics, page.degraded) == ((), (), False)
        assert page.sections[0].text == "body"


@pytest.mark.parametrize("front", ["- a\n- b", "just a text", "a: 1\n--- b", "[a, b]", "~"])
def test_f16_what_is_not_one_mapping_is_said_and_the_body_indexed(front):
    page = read(front)
    assert page.degraded
    [note] = page.diagnostics
    assert note.code == "front-matter-mapping"
    assert "front-matter must be a mapping" in note.message
    assert page.sections[-1].text == "body words"


# ---- lists


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("single", ("single",)),
        ("a, b", ("a", "b")),
        ("", ()),
        ("null", ()),
        ("['#foo']", ("foo",)),
        ("#foo", ()),
        ("[1, true, 2024-01-01]", ("1", "true", "2024-01-01")),
        ("\n- a\n- ~\n- a", ("a",)),
        ("[tier:1, 'a b']", ("tier:1", "a b")),
        ("[[x]]", ("x",)),
        ("'[[x|shown]]'", ("x",)),
        ("'null'", ("null",)),
        ("[]", ()),
    ],
)
def test_f8_tags_are_never_split_into_letters(written, tags):
    page = read(f"tags: {written}")
    assert page.meta.tags == tags
    assert codes(page) == []


def test_f8_a_mapping_is_no_list_of_tags():
    page = read("tags: {a: 1}")
    assert page.meta.tags == ()
    assert codes(page) == ["bad-list"]
    assert values(page) == {"tags.a": ["1"]}


@pytest.mark.parametrize(
    "written", ["[[ADR-009]]", "ADR-009", "'[[ADR-009]]'", "[ADR-009]", "\n- '[[ADR-009|the new one]]'"]
)
def test_superseded_by_takes_a_name_in_every_form(written):
    assert read(f"superseded_by: {written}").meta.superseded_by == ("ADR-009",)


# ---- scalars as written


def test_f9_values_keep_the_text_that_was_written():
    page = read("country: no\nid: 0123\ntime: 12:30:45\nversion: 1.10\nn: 1_000\ns: 'a: b'\nempty: ''\nnone: ~")
    assert [(f.key, f.value, f.line) for f in page.fields] == [
        ("country", "no", 2),
        ("id", "0123", 3),
        ("time", "12:30:45", 4),
        ("version", "1.10", 5),
        ("n", "1_000", 6),
        ("s", "a: b", 7),
        ("empty", "", 8),
    ]
    assert page.meta.id == "0123"


@pytest.mark.parametrize(
    ("written", "tier", "confidence"),
    [
        (".nan", None, None),
        (".inf", None, None),
        ('"0.9"', None, 0.9),
        ("1e3", None, None),
        ("-5", None, None),
        ("1e308", None, None),
        ("1e999999999", None, None),
        ("true", None, None),
        ("[1]", None, None),
        ("{a: 1}", None, None),
        ("1_0", None, None),
        ("３", None, None),
        ("1", 1, 1.0),
        ("5", 5, None),
        ("0", None, 0.0),
        ("-0", None, 0.0),
        (".5", None, 0.5),
    ],
)
def test_f10_numbers_are_bounded_or_ignored_with_a_finding(written, tier, confidence):
    page = read(f"tier: {written}\nconfidence: {written}")
    assert page.meta.tier == tier
    assert page.meta.confidence == confidence
    assert str(page.meta.confidence) != "-0.0"
    assert codes(page) == ["bad-tier"] * (tier is None) + ["bad-confidence"] * (confidence is None)


def test_f10_null_is_no_number_and_no_fault():
    page = read("tier: null\nconfidence:\nactive: ~")
    assert (page.meta.tier, page.meta.confidence, page.meta.active) == (None, None, None)
    assert codes(page) == []


@pytest.mark.parametrize(("word", "means"), [("true", True), ("Yes", True), ("ON", True), ("1", True), ("off", False)])
def test_booleans_are_read_from_words(word, means):
    meta = read(f"canonical: {word}\nactive: {word}\npinned: {word}").meta
    assert (meta.canonical, meta.active, meta.pinned) == (means, means, means)


def test_a_boolean_that_is_none_is_said():
    page = read("canonical: maybe\nactive: [true]")
    assert (page.meta.canonical, page.meta.active) == (False, None)
    assert codes(page) == ["bad-bool", "bad-bool"]


def test_f11_a_finding_names_path_line_and_column_in_the_file():
    page = parse_page("deep/er/x.md", "\ufeff---\r\ntitle: x\r\ntier: 9\r\n---\r\n".encode())
    assert str(page.diagnostics[0]).startswith("deep/er/x.md:3:7: warning: tier must be")


def test_f12_keys_that_look_like_built_in_fields_are_data():
    page = read("content: c\npath: ../../etc\nscore: 9\n__class__: x\n2024: x\nyes: x")
    assert values(page) == {
        "content": ["c"],
        "path": ["../../etc"],
        "score": ["9"],
        "__class__": ["x"],
        "2024": ["x"],
        "yes": ["x"],
    }
    assert page.path == "notes/my page.md"
    assert codes(page) == []


def test_nested_values_become_dotted_keys_and_lists_one_row_each():
    page = read("author:\n  name: N\n  sites: [a, b]\nlinks:\n- url: u\n- v")
    assert [(f.key, f.value, f.line) for f in page.fields] == [
        ("author.name", "N", 3),
        ("author.sites", "a", 4),
        ("author.sites", "b", 4),
        ("links.url", "u", 6),
        ("links", "v", 7),
    ]


def test_of_a_key_that_stands_twice_the_last_one_counts():
    page = read("title: a\nx: 1\ntitle: b")
    assert page.title == "b"
    assert values(page) == {"x": ["1"], "title": ["b"]}
    assert [(n.code, n.line) for n in page.diagnostics] == [("duplicate-key", 4)]


def test_a_key_that_is_no_text_is_skipped():
    page = read("? [a, b]\n: c\nd: e")
    assert values(page) == {"d": ["e"]}
    assert [(n.code, n.line) for n in page.diagnostics] == [("bad-key", 2)]


def test_placeholders_of_templates_are_text_and_type_nothing():
    page = read("created: {{date}}\ndate: {YYYY-MM-DD when decided}\ntitle: {{title}}\nmap: {a: 1}")
    assert values(page) == {
        "created": ["{{date}}"],
        "date": ["{YYYY-MM-DD when decided}"],
        "title": ["{{title}}"],
        "map.a": ["1"],
    }
    assert page.title == "my page"
    assert page.meta.changed_at is None
    assert codes(page) == []


# ---- hostile YAML


@pytest.mark.parametrize(
    "written", ["!!python/object/apply:os.system ['echo x']", "!custom x", "!!python/name:os.system"]
)
def test_f15_tags_that_would_build_objects_are_refused(written):
    page = read(f"a: 1\nevil: {written}\nb: !!str 2")
    assert page.degraded
    assert [(n.code, n.line, n.col) for n in page.diagnostics] == [("yaml-tag", 3, 7)]
    assert values(page) == {"a": ["1"], "b": ["2"]}


def test_f15_aliases_are_read():
    page = read("base: &b [x, y]\ntags: *b")
    assert page.meta.tags == ("x", "y")
    assert codes(page) == []


@pytest.mark.parametrize("leaf", ["[x,x,x,x,x,x,x,x,x]", "[]", "{k: v}"])
def test_f15_anchors_that_explode_are_bounded_in_time_and_size(leaf):
    levels = "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30))
    start = time.perf_counter()
    page = read(f"a0: &a0 {leaf}\n{levels}tags: *a29")
    assert time.perf_counter() - start < 2
    assert "front-matter-limit" in codes(page)
    assert sum(len(f.key) + len(f.value) for f in page.fields) <= 1 << 16
    assert page.sections[0].text == "body words"


def test_f15_an_anchor_inside_itself_is_refused():
    assert codes(read("a: &x [*x]")) == ["front-matter-yaml"]


@pytest.mark.parametrize("unit", ["[", "{a: ", "- ", "? ", "!!seq ["])
def test_f15_deep_nesting_is_refused_without_overflow(unit):
    page = read("k:\n  " + unit * (100_000 // len(unit)))
    assert page.degraded
    assert page.sections[-1].text == "body words"
    assert codes(page)[0] in {"front-matter-limit", "front-matter-yaml"}


def test_a_block_beyond_all_measure_is_not_read_as_yaml():
    page = read("a: b\n" * 50_000)
    assert codes(page) == ["front-matter-limit"]
    assert page.fields == ()


# ---- kinds


@pytest.mark.parametrize(
    ("path", "front", "kind"),
    [
        ("_rules/a.md", "kind: session", "rule"),
        ("x/y/adr/a.md", "", "decision"),
        ("docs/_decisions/2024/a.md", "", "decision"),
        ("runbooks/a.md", "", "procedure"),
        ("sessions/a.md", "", "session"),
        ("adr.md", "", "note"),
        ("my-adr/a.md", "", "note"),
        ("a.md", "kind: RULE", "rule"),
        ("a.md", "type: adr", "decision"),
        ("a.md", "type: Runbooks", "procedure"),
        ("a.md", "kind: gotchas", "gotcha"),
        ("a.md", "type: post", "note"),
        ("a.md", "kind: note\ntype: rule", "note"),
        ("a.md", "type: ['[[rule]]']", "rule"),
        ("concepts/_rules/a.md", "", "rule"),
    ],
)
def test_the_kind_comes_from_the_folder_then_from_the_front_matter(path, front, kind):
    page = read(front, path=path)
    assert page.kind == kind
    assert codes(page) == []


def test_an_unknown_kind_is_said_but_an_unknown_type_belongs_to_other_tools():
    page = read("kind: wibble\ntype: rule")
    assert page.kind == "rule"
    assert [(n.code, n.severity) for n in page.diagnostics] == [("unknown-kind", "info")]


def test_kinds_follow_gitignore_globs_of_the_rules():
    rules = PageRules(kinds=(("recipe", ("/kitchen/**/r-*.md", "!/kitchen/old/")), *DEFAULT_KINDS))
    kinds = [parse_page(p, b"", rules).kind for p in ("kitchen/a/r-1.md", "x/kitchen/r-1.md", "kitchen/a/adr/x.md")]
    assert kinds == ["recipe", "note", "decision"]
    assert parse_page("a.md", b"---\nkind: Recipes\n---\n", rules).kind == "recipe"
