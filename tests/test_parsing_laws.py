"""What holds for every page, whatever its bytes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memidx.ground.codes import CODES, DEGRADING
from memidx.ground.page import Page, PageRules
from memidx.parsing.markdown import read_outline
from memidx.parsing.page import parse_page
from memidx.parsing.text import count_lines, decode

FRAGMENTS = [
    "word", "Zwei Wörter", "笔记。", "😀", " ", "  ", "    ", "\t", "\n", "\n\n", "# ", "## ", "### a\n", "===\n", "---\n",
    "...\n", "- ", "1. ", "> ", "```\n", "~~~\n", "`", "<!--", "-->", "<div>", "[[p#h|l]]", "[a](b%20c.md#x)", "![[e]]",
    "[", "]", "(", ")", "|", "|--|\n", "$$", "*", "**", "\\", "[^1]: ", "[k]: v.md\n", "key: ", "tags: [a, b]\n", "{{x}}",
    "{", "}", "&a ", "*a", "!!python/name:x ", "!", '"', "'", "\x0b", "\x0c", "\x85", "\u2028", "\ufffe", "\x07",
    "<<<<<<< a\n", "=======\n", ">>>>>>> b\n", "date: 2024-02-30\n", "tier: .nan\n",
]  # fmt: skip

texts = st.builds(
    lambda front, parts: front + "".join(parts),
    st.sampled_from(["", "---\n", "---\na: 1\n---\n"]),
    st.lists(st.sampled_from(FRAGMENTS), max_size=40),
)
many = settings(deadline=None, max_examples=60)


def body_lines(page: Page, data: bytes) -> set[int]:
    """The lines of the body that are neither blank nor part of a heading."""
    lines = decode("", data).text.split("\n")
    start = page.body_line - 1
    marks = read_outline("\n".join(lines[start:]), page.body_line).marks
    headings = {n for mark in marks for n in range(mark.heading.line, mark.end_line + 1)}
    return {n for n, line in enumerate(lines[start:], start + 1) if line.strip()} - headings


@many
@given(st.binary(max_size=400) | st.binary(max_size=200).map(lambda b: b"---\n" + b))
def test_any_bytes_give_a_page(data):
    page = parse_page("a/b.md", data)
    assert page.sections
    assert page.title


@many
@given(texts, st.integers(-1, 60))
def test_any_text_and_limit_give_a_page_whose_parts_agree(text, max_chars):
    data = text.encode()
    page = parse_page("a/b.md", data, PageRules(max_chars=max_chars))
    last = count_lines(decode("", data).text)
    assert all(len(s.text) <= max(1, max_chars) for s in page.sections)
    assert page.degraded == any(n.code in DEGRADING for n in page.diagnostics)
    assert all(CODES[n.code][0] == n.severity for n in page.diagnostics)
    assert all(0 <= n.line <= last for n in page.diagnostics)
    assert all(1 <= x.line <= last and x.col >= 1 for x in page.links)
    anchors = [h.anchor for h in page.headings]
    assert len(set(anchors)) == len(anchors)
    assert {s.anchor for s in page.sections} <= {"", *anchors}
    assert not any("\r" in s.text or "\0" in s.text for s in page.sections)


@many
@given(texts, st.sampled_from(["\r\n", "\r"]), st.sampled_from(["", "\ufeff"]))
def test_line_ends_and_a_bom_change_nothing(text, end, bom):
    assert parse_page("a.md", (bom + text.replace("\n", end)).encode()) == parse_page("a.md", text.encode())


@many
@given(texts, st.integers(1, 60))
def test_sections_are_in_order_apart_and_inside_the_file(text, max_chars):
    data = text.encode()
    page = parse_page("a.md", data, PageRules(max_chars=max_chars))
    lines = decode("", data).text.split("\n")
    before = 0
    for section in page.sections:
        assert 1 <= section.line <= section.end_line <= len(lines)
        # Only a line that was itself too long is shared by two sections.
        shared = section.line == before and len(lines[before - 1]) >= max_chars
        assert section.line > before or shared
        before = section.end_line


@many
@given(texts)
def test_every_line_of_the_body_is_in_one_section_as_it_was_written(text):
    data = text.encode()
    page = parse_page("a.md", data)
    lines = decode("", data).text.split("\n")
    seen: dict[int, int] = {}
    for section in page.sections:
        if not section.text:
            continue
        first = section.end_line - section.text.count("\n")
        assert section.text == "\n".join(lines[first - 1 : section.end_line]).rstrip()
        for number in range(first, section.end_line + 1):
            seen[number] = seen.get(number, 0) + 1
    assert set(seen.values()) <= {1}
    for heading in page.headings:
        assert heading.line not in seen
    assert body_lines(page, data) <= seen.keys()


@given(texts)
@settings(deadline=None, max_examples=30)
def test_reading_twice_gives_the_same(text):
    assert parse_page("a.md", text.encode()) == parse_page("a.md", text.encode())


@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        "x",
        "[",
        "[[",
        "![[a|",
        "> ",
        "- ",
        "*a ",
        "`",
        "a\n",
        "# a\n",
        "\n",
        " ",
        "[[a]] ",
        "é[a](b) ",
        "$$a\n===\n",
        "<!--",
        "|",
    ],
)
def test_time_grows_with_the_size_of_the_page(unit):
    def read(size: int) -> object:
        return parse_page("a.md", (unit * (size // len(unit))).encode())

    assert grows_with_size(read)


@pytest.mark.parametrize(("power", "grows"), [(1, True), (2, False)])
def test_what_grows_with_the_square_of_the_size_is_found(power, grows):
    now = [0.0]

    def work(size: int) -> None:
        now[0] += (size / 20_000) ** power

    assert grows_with_size(work, lambda: now[0]) == grows


def grows_with_size(work, clock=time.thread_time) -> bool:
    """Whether the time of ``work(size)`` grows about as the size does, and not as its square.

    Seconds of this thread alone are counted: other programs have little part in them. Eight times the size may take
    eight times as long; sixty-four times would be quadratic. What a busy computer adds is not there every time.
    """

    def seconds(size: int) -> float:
        start = clock()
        work(size)
        return clock() - start

    seconds(1000)
    small = min(seconds(20_000) for _ in range(3))
    return any(seconds(160_000) < 24 * small + 0.25 for _ in range(5))


def test_a_line_of_five_megabytes_and_ten_thousand_quotes_are_read():
    page = parse_page("a.md", b"word " * 1_000_000)
    assert len(page.sections) == 3334
    assert {s.line for s in page.sections} == {1}
    assert parse_page("a.md", b">" * 10_000).sections
    assert parse_page("a.md", b"[" * 100_000).sections
