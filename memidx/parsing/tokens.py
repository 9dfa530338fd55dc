"""Text made ready for the index's tokenizer, which splits at everything but letters and digits, then lower-cases,
folds Latin accents and stems.

That is right for most text and runs in compiled code; this module touches only the spots where it would go wrong. The
same functions prepare a page and a query, so that what was written and what is asked meet.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from memidx.parsing import scripts

if TYPE_CHECKING:
    from collections.abc import Iterator

# Measured: two characters for Chinese and Japanese (recall@10 .99), three for Thai (nDCG@10 .967; two .937, four .965).
_CJK_SIZE: Final = 2
_NO_SPACES_SIZE: Final = 3

_EXACT_LENGTH: Final = 2_000  # characters; what is longer (an embedded image) is found by its parts alone
_MEMO_LENGTH: Final = 40
_MEMO_SIZE: Final = 100_000

# A spot inside or at the edge of an identifier. It starts with a class of rare characters, which `re` skips to at
# 80 MB/s; a pattern that starts with a word runs at 7.
_SPOT_KINDS: Final = "|".join(  # noqa: FLY002 - a line and a comment for each
    (
        r"(?<=[A-Za-z0-9:][_.:@+~=\\?&%$])[A-Za-z0-9_+]",  # a_b a.b a::b C++
        r"(?<=[a-z0-9][A-Z]|[A-Za-z][0-9])",  # camelCase sha256
        r"(?<=[A-Z][A-Z])[a-z]",  # HTTPServer
        r"(?<=[A-Za-z0-9-]-)(?:(?<![A-Za-z]-)[A-Za-z]|[0-9])",  # ADR-016 4-way --force, but not self-hosted
        r"(?<=[A-Za-z]#)(?!\w)",  # C#
        r"(?<=\.)(?<![^\s(`\[*]\.)[A-Za-z]",  # .NET
    )
)
_SPOT: Final = re.compile(rf"[-_.:@+~#=\\?&%$A-Z0-9](?:{_SPOT_KINDS})\S*")
_BORDER: Final = re.compile(r"""[\s\[\](){}<>"'`|,;!*“”‘’«»„…—–、。・「」『』（），：；！？]+""")
_SYMBOLS: Final = re.compile(r"[\x00-/:-@\[-`{-\x7f]+")
# What has symbols inside but is no identifier: self-hosted. Nor is a path or a URL one: who types it wants what it
# leads to, and matching it whole puts first the pages that link there (nDCG@10 .61 to .56 on 55 anchors of a vault).
_NOT_WHOLE: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+\Z|.*/", re.DOTALL)
_EDGE: Final = ".:?/-_=~\\&"
_HUMP: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


class _Wide(NamedTuple):
    """The patterns that text beyond ASCII needs."""

    touched: re.Pattern[str]  # every character that normalising or folding changes
    compatibility: re.Pattern[str]
    special: re.Pattern[str]  # every character that `_grams` must see
    joined: re.Pattern[str]  # a run of one writing without spaces
    cjk: re.Pattern[str]
    spot: re.Pattern[str]  # as _SPOT, and anything beyond ASCII
    shrink: dict[int, str | None]


@cache
def _wide() -> _Wide:
    # Compiling these classes takes 40 ms, which a query in plain English need not pay.
    special = f"{scripts.CJK}{scripts.NO_SPACES}{scripts.DROPPED}{''.join(scripts.SIMPLER)}"
    return _Wide(
        re.compile(f"[{special}{scripts.COMPATIBILITY}]"),
        re.compile(f"[{scripts.COMPATIBILITY}]+"),
        re.compile(f"[{special}]+"),
        re.compile(f"[{scripts.CJK}]+|[{scripts.NO_SPACES}]+"),
        re.compile(f"[{scripts.CJK}]+"),
        re.compile(rf"[-_.:@+~#=\\?&%$A-Z0-9\x80-\U0010ffff](?:(?<=[\x80-\U0010ffff])|{_SPOT_KINDS})\S*"),
        {
            **{ord(char): None for char in scripts.members(scripts.DROPPED)},
            **{ord(char): simple for char, simple in scripts.SIMPLER.items()},
        },
    )


class Marks(NamedTuple):
    """What one chunk of text adds beside its words."""

    exact: tuple[str, ...]  # identifiers and accented words, whole, lower-cased
    parts: tuple[str, ...]  # the words inside a camelCase or letter-digit identifier, as written


class Prepared(NamedTuple):
    """Texts ready for the index, each to be tokenized by itself, so that no phrase reaches across two."""

    words: tuple[str, ...]  # the texts in the order given
    parts: str  # the words inside identifiers
    tails: str  # the ends of runs without spaces, for queries shorter than an n-gram; a query has no use for its own
    exact: str  # whole identifiers and accented words


def prepare(*texts: str) -> Prepared:
    """Prepare the texts that belong to one section, or one query. Never raises; nothing is dropped for its length."""
    tails: list[str] = []
    parts: list[str] = []
    exact: list[str] = []
    clean = []
    words = []
    for text in texts:
        if _is_plain(text):
            clean.append(text)
            words.append(text)
        else:
            clean.append(normalise(text))
            words.append(_fold(clean[-1], tails))
    for marks in filter(None, map(_MEMO.__getitem__, _chunks("\n".join(clean)))):
        exact += marks.exact
        parts += marks.parts
    return Prepared(tuple(words), " ".join(parts), " ".join(tails), " ".join(exact))


def _is_plain(text: str) -> bool:
    """Whether normalising and folding would leave a text as it is: ASCII, or with no more than dashes and emoji."""
    return text.isascii() or (_wide().touched.search(text) is None and unicodedata.is_normalized("NFC", text))


def normalise(text: str) -> str:
    """NFC, and NFKC where a character is only an older encoding of another."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _wide().compatibility.sub(_compatible, text))


def fold(text: str) -> str:
    """The words of a text with n-grams in place of runs without spaces."""
    return _fold(normalise(text), [])


def is_short_run(word: str) -> bool:
    """Whether a folded word is a run shorter than an n-gram of its script: it is found by prefix."""
    if word.isascii():
        return False
    return _wide().joined.fullmatch(word) is not None and len(word) < gram_size(word)


def has_run(word: str) -> bool:
    """Whether a word holds letters of a writing without spaces."""
    return not word.isascii() and _wide().joined.search(word) is not None


def pieces(word: str) -> Iterator[tuple[int, str]]:
    """A word cut where a run without spaces begins and ends, each piece with its place."""
    if word.isascii():
        yield 0, word
        return
    at = 0
    for match in _wide().joined.finditer(word):
        if match.start() > at:
            yield at, word[at : match.start()]
        yield match.start(), match[0]
        at = match.end()
    if at < len(word):
        yield at, word[at:]


def humps(word: str) -> list[tuple[int, str]]:
    """The words inside a camelCase or letter-digit identifier, each with its place; none in any other word."""
    found = [(match.start(), match[0]) for match in _HUMP.finditer(word)] if word.isascii() else []
    # A hash or an encoded key is all humps: taking it apart would add noise.
    return [hump for hump in found if len(hump[1]) > 1] if 1 < len(found) <= len(word) / 2 else []


def simpler(char: str) -> str:
    """What folding makes of one character: nothing, another, or itself."""
    return _wide().shrink.get(ord(char), char) or ""


def gram_size(run: str) -> int:
    """The length of the n-grams that a run without spaces is indexed by."""
    return _CJK_SIZE if _wide().cjk.match(run) else _NO_SPACES_SIZE


def _compatible(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match[0]).encode("utf-8", "replace").decode()


def _fold(text: str, tails: list[str]) -> str:
    return text if text.isascii() else _wide().special.sub(partial(_grams, tails), text)


def _grams(tails: list[str], match: re.Match[str]) -> str:
    wide = _wide()
    run = match[0]
    if wide.cjk.fullmatch(run):  # by far the most runs, and nothing in them to simplify
        return f" {' '.join(_cut(run, _CJK_SIZE, tails))} "
    run = run.translate(wide.shrink)
    words = []
    at = 0
    for joined in wide.joined.finditer(run):
        words.append(run[at : joined.start()])
        words += _cut(joined[0], gram_size(joined[0]), tails)
        at = joined.end()
    if not at:
        return run
    words.append(run[at:])
    return f" {' '.join(words)} "


def _cut(run: str, size: int, tails: list[str]) -> list[str]:
    """The n-grams of a run, or the run if it is shorter than one."""
    if len(run) < size:
        return [run]
    # The last characters start no n-gram; a query shorter than one looks for words that start with it.
    tails += [run[-i:] for i in range(1, size)]
    return [run[i : i + size] for i in range(len(run) - size + 1)]


def _chunks(text: str) -> list[str]:
    """The chunks between blanks that may need marks. Of plain English most are left out."""
    found = []
    done = 0
    for match in (_SPOT if text.isascii() else _wide().spot).finditer(text):
        start = match.start()
        start = max(text.rfind(" ", done, start), text.rfind("\n", done, start), done - 1) + 1
        done = match.end()
        found.append(text[start:done])
    return found


class _Memo(dict[str, Marks | None]):
    """Marks by chunk. A vault repeats its identifiers, so most chunks are looked up and not taken apart again."""

    def __missing__(self, chunk: str) -> Marks | None:
        marks = _marks(chunk)
        if len(chunk) <= _MEMO_LENGTH:
            if len(self) >= _MEMO_SIZE:
                self.clear()
            self[chunk] = marks
        return marks


_MEMO: Final = _Memo()


def _marks(chunk: str) -> Marks | None:
    if not chunk.isascii():
        chunk = _wide().joined.sub(" ", chunk)
    exact: list[str] = []
    parts: list[str] = []
    for piece in _BORDER.split(chunk):
        if _is_uniform(piece):
            continue
        core = _core(piece)
        words = _SYMBOLS.split(core)
        whole = len(words) > 1 and len(core) <= _EXACT_LENGTH and any(map(str.isalnum, words))
        if whole and not _NOT_WHOLE.match(core):
            exact.append(core.lower())
        for word in words:
            if not word.isascii():
                if any(map(str.isalpha, word)):
                    exact.append(word.lower())
            elif len(word) <= _EXACT_LENGTH and not _is_uniform(word):
                parts += [hump for _, hump in humps(word)]
    return Marks(tuple(exact), tuple(parts)) if exact or parts else None


def _is_uniform(word: str) -> bool:
    """Whether an ASCII word is a number or a plain word, perhaps capitalised: by far the most, so told apart fast."""
    if word.isascii() and word.isalpha():
        return word[1:].islower() or word.isupper() or len(word) == 1
    return not word or (word.isascii() and word.isdigit())


def _core(piece: str) -> str:
    """A piece without the punctuation around it, but with what belongs to it: ``C++``, ``.NET``, ``--force``."""
    right = piece.rstrip(_EDGE)
    core = right.lstrip(_EDGE + "#@$%+")
    lead = right[: len(right) - len(core)]
    if core[:1].isalpha() and core:
        if lead.endswith("--"):
            return "--" + core
        if lead == ".":
            return "." + core
    return core
