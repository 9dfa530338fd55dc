"""The language of a page or a question: as the page says, by its alphabet, or by its smallest words.

It only decides which stemmer reads the text, so a doubtful case stays in the vault's own language.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Final

from memidx.ground.languages import LANGUAGES
from memidx.parsing.functionwords import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memidx.ground.page import Field, Page

# ISO 639 codes. A language that is not here has no stemmer, and its pages are read as the vault's language.
_CODES: Final = {
    code: name
    for name, codes in {
        "arabic": "ar ara",
        "danish": "da dan",
        "dutch": "nl nld dut",
        "english": "en eng",
        "finnish": "fi fin",
        "french": "fr fra fre",
        "german": "de deu ger",
        "greek": "el ell gre",
        "hungarian": "hu hun",
        "italian": "it ita",
        "norwegian": "no nb nn nor nob nno",
        "portuguese": "pt por",
        "romanian": "ro ron rum",
        "russian": "ru rus",
        "spanish": "es spa",
        "swedish": "sv swe",
        "tamil": "ta tam",
        "turkish": "tr tur",
    }.items()
    for code in codes.split()
}
_KEYS: Final = frozenset({"lang", "language", "locale"})
_CODE: Final = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]+)*", re.IGNORECASE)

_ALPHABETS: Final = {"GREEK": "greek", "ARABIC": "arabic", "TAMIL": "tamil", "CYRILLIC": "russian"}
_SAMPLE: Final = 3_000  # characters of a page that are looked at
_LETTERS: Final = 300  # about as many of them are asked for their alphabet
_WORD: Final = re.compile(r"[^\W\d_]+")

# Running text has a quarter to a half of function words (Turkish a tenth), a list of names and commands hardly any.
_SHARE: Final = 0.07
_LEAST: Final = 6
_DISTINCT: Final = 4
_AHEAD: Final = 1.5  # times as many as of the vault's own language: names and loan words alone must not decide


def page_language(page: Page, own: str) -> str:
    """The stemmer for a page: by its front-matter (``lang``, ``language``, ``locale``), its alphabet, its words.

    ``own`` is the vault's language, and the answer in doubt. A page in a language without a stemmer gets ``own``.
    """
    said = _said(page.fields)
    if said is not None:
        return said or own
    sample = _sample(page)
    return _by_alphabet(sample) or _by_words(sample, own)


def question_language(text: str, languages: Sequence[str]) -> str | None:
    """Which of ``languages`` a question is asked in; the earlier of two as likely, None if nothing tells."""
    if (found := _by_alphabet(text)) in languages:
        return found
    words = Counter(_WORD.findall(text.lower()))
    counts = {name: _count(words, name) for name in languages}
    best = max(languages, key=lambda name: counts[name])
    return best if counts[best] else None


def _said(fields: Iterable[Field]) -> str | None:
    """The stemmer's name for what the front-matter says, "" for a language without one, None if it says nothing.

    `language: python` says nothing: only a code, or the name of a language that has a stemmer, is taken.
    """
    for field in fields:
        if field.key.strip().lower() not in _KEYS:
            continue
        value = field.value.strip()
        if value.lower() in LANGUAGES:
            return value.lower()
        if code := _CODE.fullmatch(value):
            return _CODES.get(code[1].lower(), "")
    return None


def _sample(page: Page) -> str:
    texts = []
    left = _SAMPLE
    for section in page.sections:
        texts.append(section.text[:left])
        left -= len(texts[-1])
        if left <= 0:
            break
    return "\n".join(texts)


def _by_alphabet(text: str) -> str:
    """The language of an alphabet that most letters belong to, or ""."""
    if text.isascii():
        return ""
    letters = [char for char in text[:: max(1, len(text) // _LETTERS)] if char.isalpha()]
    counts = dict.fromkeys(_ALPHABETS, 0)
    for char in letters:
        alphabet = unicodedata.name(char, "").partition(" ")[0] if char > "\u024f" else ""
        if alphabet in counts:
            counts[alphabet] += 1
    best = max(counts, key=lambda name: counts[name])
    return _ALPHABETS[best] if 2 * counts[best] > len(letters) else ""


def _by_words(text: str, own: str) -> str:
    # Cut at blanks alone: a comma after a function word is rare, and a pattern takes ten times as long.
    split = text.lower().split()
    least = max(_LEAST, _SHARE * len(split))
    known = sum(map(FUNCTION_WORDS.get(own, frozenset()).__contains__, split))
    if known >= 2 * least:  # by far the most pages
        return own
    words = Counter(split)
    counts = {name: _count(words, name) for name in FUNCTION_WORDS}
    best = max(counts, key=lambda name: (counts[name], name))
    enough = counts[best] >= max(least, _AHEAD * known) and len(words.keys() & FUNCTION_WORDS[best]) >= _DISTINCT
    return best if enough else own


def _count(words: Counter[str], language: str) -> int:
    return sum(words[word] for word in words.keys() & FUNCTION_WORDS.get(language, frozenset()))
