"""The tokenizer of the default model as a small file: a query looks up the few pieces it needs, without the JSON.

The tokenizer is a byte-fallback BPE after the manner of LLaMA. Spaces become ``▁`` and one is put in front. No piece
holds a ``▁`` behind another character, so no merge crosses the start of a word, and words are merged one by one: the
ids are those of `tokenizers`, for any text. The file is derived, and dropped when anything about it is odd.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import sys
from bisect import bisect_left
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "pieces.bin"
MAGIC = b"memidx-pieces-1\n"
# Digest of the tokenizer's JSON, of what follows the header; numbers of pieces, merges and characters.
HEADER = struct.Struct("<16s32s32sIII")
NATIVE = sys.byteorder == "little"  # elsewhere the JSON is read
SPACE = "▁"
ODD = ("dropout", "ignore_merges", "continuing_subword_prefix", "end_of_word_suffix")  # settings that are not set
SPECIAL = {"<unk>": 0, "<s>": 1, "</s>": 2}  # found in the text before anything else
REMEMBERED = 50_000  # words
BITS = 16  # of a piece's number
GONE = -1  # in place of the right one of two pieces that were merged
_SPECIAL = re.compile("(<unk>|<s>|</s>)")
_WORD = re.compile(f"{SPACE}*[^{SPACE}]+|{SPACE}+")


class Pieces:
    """The table of one tokenizer.

    A merge of two pieces is found by the left one, which has a run of rows, and by the right one within that run. Rows
    hold the rank of the merge, least first, and the piece that it makes. A character is found by its code point.
    """

    def __init__(self, data: memoryview, pieces: int, merges: int, chars: int) -> None:
        """``data`` is what follows the header. Raises ValueError when it has another length."""
        parts = []
        for code, size, count in _layout(pieces, merges, chars):
            parts.append(data[: size * count].cast(code))
            data = data[size * count :]
        if len(data):
            raise ValueError("too long")
        self._first, self._ranks, self._chars, self._rights, self._made, self._char_ids, self._bytes = parts
        self._known: dict[str, list[int]] = {}

    @classmethod
    def open(cls, path: Path, tokenizer: bytes) -> Pieces | None:
        """The table in ``path`` if it was made from the JSON with that SHA-256 and is sound, else None."""
        try:
            data = path.read_bytes() if NATIVE else b""
            magic, made_from, digest, *counts = HEADER.unpack_from(data)
            body = memoryview(data)[HEADER.size :]
            if (magic, made_from) != (MAGIC, tokenizer) or hashlib.sha256(body).digest() != digest:
                return None
            return cls(body, *counts)
        except (OSError, ValueError, TypeError, struct.error):
            return None

    def ids(self, text: str) -> list[int]:
        """Token ids, as the tokenizer gives them without added special tokens. Raises UnicodeEncodeError."""
        found: list[int] = []
        for number, part in enumerate(_SPECIAL.split(text)):
            if number % 2:
                found.append(SPECIAL[part])
            elif part:
                for word in _WORD.findall(SPACE + part.replace(" ", SPACE)):
                    ids = self._known.get(word)
                    if ids is None:
                        if len(self._known) >= REMEMBERED:
                            self._known.clear()
                        ids = self._known[word] = self._merged(word)
                    found.extend(ids)
        return found

    def _merged(self, word: str) -> list[int]:
        """The ids of one word: the merge of least rank comes first, of equal ones the leftmost."""
        ids = self._characters(word)
        count = len(ids)
        after = list(range(1, count + 1))
        before = list(range(-1, count - 1))
        queue = [(*merge, place) for place in range(count - 1) if (merge := self._merge(ids[place], ids[place + 1]))]
        heapify(queue)
        while queue:
            _, made, left, right, place = heappop(queue)
            other = after[place]
            if ids[place] != left or other == count or ids[other] != right:
                continue  # one of the two has been merged meanwhile
            ids[place], ids[other] = made, GONE
            after[place] = following = after[other]
            if following < count:
                before[following] = place
                if merge := self._merge(made, ids[following]):
                    heappush(queue, (*merge, place))
            if (previous := before[place]) >= 0 and (merge := self._merge(ids[previous], made)):
                heappush(queue, (*merge, previous))
        return [piece for piece in ids if piece != GONE]

    def _merge(self, left: int, right: int) -> tuple[int, int, int, int] | None:
        """Rank and result of merging two pieces, and the two; None when they do not merge."""
        end = self._first[left + 1]
        row = bisect_left(self._rights, right, self._first[left], end)
        if row == end or self._rights[row] != right:
            return None
        return self._ranks[row], self._made[row], left, right

    def _characters(self, word: str) -> list[int]:
        """A piece for each character; for one that is no piece those of its bytes in UTF-8."""
        ids: list[int] = []
        for char in word:
            row = bisect_left(self._chars, code := ord(char))
            if row < len(self._chars) and self._chars[row] == code:
                ids.append(self._char_ids[row])
            else:
                ids.extend(self._bytes[byte] for byte in char.encode("utf-8"))
        return ids


def write(path: Path, source: bytes) -> None:
    """Make the table of a tokenizer from its JSON and put it in ``path`` by one rename.

    Does nothing when the JSON holds anything that this file does not know, or when the folder cannot be written to.
    """
    if not NATIVE:
        return
    import tempfile

    name = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")  # first: what follows takes 50 ms
        with os.fdopen(handle, "wb") as file:
            file.write(compact(source))
        Path(name).replace(path)
    except (OSError, ValueError, KeyError, TypeError):
        if name:
            Path(name).unlink(missing_ok=True)


def compact(source: bytes) -> bytes:
    """The bytes of the table. Raises ValueError, KeyError or TypeError for a tokenizer of another make."""
    about = json.loads(source)
    model = about["model"]
    vocabulary: Mapping[str, int] = model["vocab"]
    if not _as_known(about) or sorted(vocabulary.values()) != list(range(len(vocabulary))):
        raise ValueError("another kind of tokenizer")
    if any(SPACE in piece.lstrip(SPACE) for piece in vocabulary):
        raise ValueError("a piece spans words")
    import numpy as np  # whoever reads the JSON has much to embed, and numpy already

    chars = sorted(piece for piece in vocabulary if len(piece) == 1)
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    lefts = np.array([vocabulary[left] for left, _ in pairs], np.int64)
    rights = np.array([vocabulary[right] for _, right in pairs], np.int64)
    made = np.array([vocabulary[left + right] for left, right in pairs], np.int64)
    ranks = np.lexsort((rights, lefts))  # a row is a merge, by its left piece and then its right one
    keys = (lefts << BITS | rights)[ranks]
    if (keys[1:] == keys[:-1]).any():
        raise ValueError("two merges of one pair")
    columns = [
        np.searchsorted(keys, np.arange(len(vocabulary) + 1) << BITS),
        ranks,
        [ord(char) for char in chars],
        rights[ranks],
        made[ranks],
        [vocabulary[char] for char in chars],
        [vocabulary[f"<0x{byte:02X}>"] for byte in range(256)],
    ]
    counts = len(vocabulary), len(keys), len(chars)
    layout = _layout(*counts)
    body = b"".join(
        np.asarray(column, f"<u{size}").tobytes() for (_, size, _), column in zip(layout, columns, strict=True)
    )
    header = HEADER.pack(MAGIC, hashlib.sha256(source).digest(), hashlib.sha256(body).digest(), *counts)
    return header + body


def _as_known(about: Mapping[str, Any]) -> bool:
    """Whether a tokenizer's JSON says what is done here."""
    model = about["model"]
    steps = [
        {"type": "Prepend", "prepend": SPACE},
        {"type": "Replace", "pattern": {"String": " "}, "content": SPACE},
    ]
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return bool(
        model["type"] == "BPE"
        and model["byte_fallback"]
        and not any(model.get(name) for name in ODD)
        and about["normalizer"] == {"type": "Sequence", "normalizers": steps}
        and about["pre_tokenizer"] is None
        and about["added_tokens"] == [{"id": n, "content": text, **plain} for text, n in SPECIAL.items()]
    )


def _layout(pieces: int, merges: int, chars: int) -> list[tuple[Literal["I", "H"], int, int]]:
    """The columns: type of a number, its bytes, how many."""
    return [
        ("I", 4, pieces + 1),  # where a left piece's run of rows begins
        ("I", 4, merges),  # ranks
        ("I", 4, chars),  # code points, ascending
        ("H", 2, merges),  # right pieces, ascending within a run
        ("H", 2, merges),  # what the merge makes
        ("H", 2, chars),  # the pieces of the code points
        ("H", 2, 256),  # the pieces of single bytes
    ]
