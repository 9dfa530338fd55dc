"""The tokenizer's compact form: the same ids as `tokenizers`, for any text, from a file that may be thrown away."""

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memidx.stores.embedding import pieces
from memidx.stores.embedding.wordllama import MUCH, TOKENIZER, Wordllama

LINES = [
    "How do we roll back a deploy?",
    "getUserName max_retry_count v1.2.3 ADR-016 C++ https://example.org/a/b?c=d#e",
    "don't, won't; O'Neill's \"quoted\" text… — and so on",
    "    four spaces, a\ttab,\r\nlines\n\n\nand more   spaces ",
    "<s> and </s> and <unk> in the text, <s></s><s> side by side, <S>, < s>, <pad>",
    "<0x0A> is not a byte, nor is <0xFF>",
    "▁ ▁▁ x▁y ▁",
    "naïve café Ångström ﬁ ǆ İstanbul ẞ",
    "型クラスとモナド、メモリ管理の話。",
    "ภาษาไทยไม่มีช่องว่าง",
    "عربى עברית हिन्दी 한국어 Ελληνικά кириллица",
    "👩‍👩‍👧‍👦 🇺🇳 \U0010ffff \x00 \x7f \ufeff \u200d\u2028",
    "e\u0301 \u0301 combining",
    "a" * 700 + " " + "ab" * 300 + "=" * 200,
    "00000000 12345678901234567890 1e-9 0x1F",
    "",
    " ",
]
WORDS = ["<s>", "</s>", "<unk>", "<", "s>", "▁", " ", "  ", "the", "ing", "ab", "aa", "日", "é", "\n", "=", "0", "🎉"]
TEXTS = st.text() | st.lists(st.sampled_from(WORDS), max_size=30).map("".join)


def source():
    return (Wordllama()._folder / TOKENIZER).read_bytes()


@cache
def model():
    return Wordllama()


@cache
def table():
    return pieces.compact(source())


def opened(tmp_path, data=None):
    file = tmp_path / pieces.FILE
    file.write_bytes(table() if data is None else data)
    return pieces.Pieces.open(file, table()[16:48])


def by_the_library(text):
    return model().tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("line", LINES)
def test_awkward_lines_have_the_ids_of_the_library(tmp_path, line):
    assert opened(tmp_path).ids(line) == by_the_library(line)


@given(st.lists(TEXTS, max_size=8))
@example(["<s> a<s>", "aaaa aaa"])
@settings(deadline=None, max_examples=60)
def test_any_text_has_the_ids_of_the_library(tmp_path_factory, texts):
    known = opened(tmp_path_factory.mktemp("p"))
    for text in texts:
        assert known.ids(text) == by_the_library(text)


def test_pages_have_the_ids_of_the_library(tmp_path):
    known = opened(tmp_path)
    for page in sorted(Path(__file__).parent.parent.glob("docs/**/*.md")):
        text = page.read_text(encoding="utf-8")
        assert known.ids(text) == by_the_library(text), page


def test_words_are_remembered_up_to_a_number_and_the_ids_stay_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "REMEMBERED", 3)
    known = opened(tmp_path)
    assert known.ids(LINES[0]) == known.ids(LINES[0]) == by_the_library(LINES[0])
    assert len(known._known) <= 3


def test_the_table_is_the_same_each_time_and_holds_the_digest_of_its_source():
    assert pieces.compact(source()) == table()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:50],
        lambda data: data[:-1],
        lambda data: data + b"\0\0",
        lambda data: data[:5000] + bytes([data[5000] ^ 1]) + data[5001:],
        lambda data: b"memidx-pieces-0\n" + data[16:],
        lambda data: data[:16] + bytes(32) + data[48:],
        lambda data: data[:80] + b"\xff" * 12 + data[92:],
    ],
)
def test_a_damaged_table_or_one_of_another_tokenizer_is_none(tmp_path, damage):
    assert opened(tmp_path) is not None
    assert opened(tmp_path, damage(table())) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about.update(pre_tokenizer={"type": "Whitespace"}),
        lambda about: about.update(normalizer=None),
        lambda about: about["added_tokens"].append({"id": 5, "content": "<pad>"}),
        lambda about: about["model"].update(type="Unigram"),
        lambda about: about["model"].update(byte_fallback=False),
        lambda about: about["model"].update(ignore_merges=True),
        lambda about: about["model"]["vocab"].update({"a▁b": len(about["model"]["vocab"])}),
        lambda about: about["model"]["vocab"].update({"odd": 99_999}),
        lambda about: about["model"]["vocab"].pop("<0x00>"),
    ],
)
def test_a_tokenizer_of_another_make_has_no_table(tmp_path, change):
    about = json.loads(source())
    change(about)
    data = json.dumps(about).encode()
    with pytest.raises((ValueError, KeyError)):
        pieces.compact(data)
    pieces.write(tmp_path / "new" / pieces.FILE, data)
    assert list((tmp_path / "new").iterdir()) == []


def test_the_table_is_made_once_and_gives_the_same_vectors(tmp_path):
    first = Wordllama(derived=tmp_path)
    expected = first.embed_query("a question")
    file = tmp_path / first.identity.key() / pieces.FILE
    assert file.read_bytes() == table()
    assert [found.name for found in file.parent.iterdir()] == [pieces.FILE]
    second = Wordllama(derived=tmp_path)
    assert (second.embed_query("a question") == expected).all()
    assert (second.embed_documents(LINES) == first.embed_documents(LINES)).all()
    assert "tokenizer" not in second.__dict__
    assert second.embed_documents(["word " * MUCH]).any()
    assert "tokenizer" in second.__dict__  # so much is quicker with the library


def test_a_damaged_table_is_made_again(tmp_path):
    first = Wordllama(derived=tmp_path)
    file = tmp_path / first.identity.key() / pieces.FILE
    file.parent.mkdir()
    file.write_bytes(b"damaged")
    assert (first.embed_query("a question") == Wordllama().embed_query("a question")).all()
    assert file.read_bytes() == table()


def test_where_nothing_can_be_written_the_json_is_read(tmp_path):
    (tmp_path / "cache").write_text("in the way of a folder")
    there = Wordllama(derived=tmp_path / "cache")
    assert (there.embed_query("a question") == Wordllama().embed_query("a question")).all()
    assert (tmp_path / "cache").read_text() == "in the way of a folder"


def test_bytes_that_are_not_utf8_do_not_stop_a_query():
    assert (Wordllama().embed_query("caf\udce9") == Wordllama().embed_query("caf?")).all()
