"""Makes a vault of any size to measure on: a git repository with one commit.

    python benchmarks/vaults.py OUT PAGES [--seed 0]

The same seed gives the same commit, on one version of Python. Pages have lengths as real ones (log-normal, median about 1,200
characters, none over 30,000), about five sections, lists, code, links of both kinds (one in thirty leads nowhere),
front-matter on two of three, and now and then a section that stands word for word on many other pages. Words follow
Zipf's law: about 2,000 English ones from Python's own help texts, then ones made of syllables. A page takes a quarter of
its words from its topic, so that pages of a topic are alike.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections import Counter
from itertools import accumulate, product
from pathlib import Path
from pydoc_data.topics import topics
from random import Random
from typing import NamedTuple

FOLDERS = {"notes": 40, "sessions": 25, "concepts": 12, "procedures": 8, "gotchas": 7, "_decisions": 6, "_rules": 2}
ENGLISH, MADE = 2_000, 40_000
TOPIC_WORDS = 30
PAGES_A_TOPIC = 25
# Characters. What is drawn is a little less than what comes: a page ends with the block that reaches its length.
MEDIAN, SPREAD, LEAST, MOST = 950, 0.98, 120, 30_000
SECTION, SECTION_SPREAD = 170, 0.9
COMMITTED = "vault <vault@example.org> 1767225600 +0000"


class Words:
    """A vocabulary by rank: the word of rank r comes about 1/r as often as the first."""

    def __init__(self, random: Random) -> None:
        said = Counter(re.findall(r"\b[a-z]{2,12}\b", " ".join(text for _, text in sorted(topics.items()))))
        english = [word for word, _ in sorted(said.items(), key=lambda w: (-w[1], w[0]))[:ENGLISH]]
        syllables = ["".join(pair) for pair in product("bdfgklmnprstvz", ("a", "e", "i", "o", "u", "an", "er", "il"))]
        made: dict[str, None] = {}
        while len(made) < MADE:
            made["".join(random.choices(syllables, k=random.choice((2, 2, 3, 3, 4))))] = None
        self.all = english + [word for word in made if word not in said]
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self.all))))
        # What a topic is about is neither among the commonest words nor among the rarest.
        count = len(self.all)
        self.topical = self.all[100:ENGLISH:4] + self.all[ENGLISH : count // 2 : 12]

    def draw(self, random: Random, count: int) -> list[str]:
        return random.choices(self.all, cum_weights=self._weights, k=count)


class Place(NamedTuple):
    """Where a page is, what it is called, and the words of its topic."""

    path: str
    title: str
    topic: tuple[str, ...]


def places(random: Random, words: Words, count: int) -> list[Place]:
    found, taken = [], set()
    topics = [tuple(random.sample(words.topical, TOPIC_WORDS)) for _ in range(max(count // PAGES_A_TOPIC, 1))]
    for number in range(count):
        topic = random.choice(topics)
        folder = random.choices(list(FOLDERS), list(FOLDERS.values()))[0]
        named = [*random.sample(topic, random.choice((1, 2, 2, 3))), *words.draw(random, 2)]
        random.shuffle(named)
        slug = "-".join(named)
        if folder == "sessions":
            folder, slug = f"sessions/{random.randint(2021, 2025)}", f"{day(random)}-{slug}"
        elif folder == "notes":
            folder = f"notes/{topic[0]}"
        slug = slug if slug not in taken else f"{slug}-{number}"
        taken.add(slug)
        found.append(Place(f"{folder}/{slug}.md", " ".join(named).capitalize(), topic))
    return found


def day(random: Random) -> str:
    return f"{random.randint(2021, 2025)}-{random.randint(1, 12):02}-{random.randint(1, 28):02}"


class Writer:
    """Writes the text of pages."""

    def __init__(self, random: Random, words: Words, all_places: list[Place]) -> None:
        self.random, self.words, self.places = random, words, all_places
        self.boilerplate = [self.section(all_places[0], 300, links=False) for _ in range(12)]

    def page(self, place: Place) -> str:
        random = self.random
        left = min(max(int(random.lognormvariate(0, SPREAD) * MEDIAN), LEAST), MOST)
        parts = [self.front_matter(place), f"# {place.title}\n\n"]
        parts.append(self.blocks(place, min(left, self.section_size() // 2)))
        left -= len(parts[-1])
        while left > 60:
            parts.append(self.section(place, min(left, self.section_size())))
            left -= len(parts[-1])
        if random.random() < 0.15:
            parts.append(random.choice(self.boilerplate))
        return "".join(parts)

    def section_size(self) -> int:
        return max(int(self.random.lognormvariate(0, SECTION_SPREAD) * SECTION), 80)

    def section(self, place: Place, size: int, *, links: bool = True) -> str:
        heading = " ".join(self.some(place, self.random.randint(1, 4))).capitalize()
        return f"{'#' * self.random.choice((2, 2, 2, 3))} {heading}\n\n{self.blocks(place, size, links=links)}"

    def blocks(self, place: Place, size: int, *, links: bool = True) -> str:
        text = ""
        while len(text) < size:
            kind = self.random.random()
            if kind < 0.2:
                block = "\n".join(f"- {self.sentence(place, links=links)}" for _ in range(self.random.randint(2, 5)))
            elif kind < 0.28:
                lines = (" ".join(self.some(place, 4)) for _ in range(self.random.randint(1, 5)))
                block = "```sh\n" + "\n".join(f"{line.replace(' ', '_', 1)} --all" for line in lines) + "\n```"
            else:
                block = " ".join(self.sentence(place, links=links) for _ in range(self.random.randint(1, 4)))
            text += block + "\n\n"
        return text

    def sentence(self, place: Place, *, links: bool) -> str:
        some = self.some(place, self.random.randint(5, 18))
        if links and self.random.random() < 0.06:
            some.insert(self.random.randrange(len(some)), self.link(place))
        return " ".join(some).capitalize() + "." if "[" not in some[0] else " ".join(some) + "."

    def some(self, place: Place, count: int) -> list[str]:
        topical = sum(self.random.random() < 0.25 for _ in range(count))
        drawn = self.words.draw(self.random, count - topical) + self.random.choices(place.topic, k=topical)
        self.random.shuffle(drawn)
        return drawn

    def link(self, place: Place) -> str:
        # Some pages are linked much more than others.
        other = self.places[int(len(self.places) * self.random.random() ** 3)]
        slug = Path(other.path).stem if self.random.random() > 1 / 30 else "nowhere-" + self.random.choice(place.topic)
        if self.random.random() < 0.6:
            return self.random.choice((f"[[{slug}]]", f"[[{slug}|{other.title.lower()}]]"))
        up = "../" * place.path.count("/")
        return f"[{other.title.lower()}]({up}{Path(other.path).parent}/{slug}.md)"

    def front_matter(self, place: Place) -> str:
        random = self.random
        if random.random() > 0.66:
            return ""
        lines = [f"title: {place.title}", f"tags: [{', '.join(place.topic[: random.randint(1, 3)])}]"]
        lines += [f"created: {day(random)}"] if random.random() < 0.8 else []
        lines += [f"updated: {day(random)}"] if random.random() < 0.4 else []
        lines += ["canonical: true"] if random.random() < 0.05 else []
        lines += [f"tier: {random.randint(1, 5)}"] if random.random() < 0.1 else []
        return "---\n" + "\n".join(lines) + "\n---\n\n"


def make(out: Path, count: int, seed: int) -> None:
    """Through fast-import, which writes one pack: adding 50,000 files one by one takes minutes."""
    random = Random(seed)
    words = Words(random)
    found = places(random, words, count)
    writer = Writer(random, words, found)
    subprocess.run(["git", "init", "-q", "-b", "main", str(out)], check=True)
    importer = subprocess.Popen(["git", "-C", str(out), "fast-import", "--quiet"], stdin=subprocess.PIPE)
    assert importer.stdin
    message = f"{count} pages, seed {seed}\n".encode()
    put = importer.stdin.write
    put(f"commit refs/heads/main\ncommitter {COMMITTED}\ndata {len(message)}\n".encode() + message)
    for place in found:
        data = writer.page(place).encode()
        put(f"M 100644 inline {place.path}\ndata {len(data)}\n".encode() + data + b"\n")
    importer.stdin.close()
    if importer.wait():
        raise SystemExit("git fast-import failed")
    subprocess.run(["git", "-C", str(out), "reset", "-q", "--hard"], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, metavar="OUT", help="a folder that does not exist yet")
    parser.add_argument("pages", type=int, metavar="PAGES")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.out.exists():
        raise SystemExit(f"{given.out} exists")
    make(given.out, given.pages, given.seed)


if __name__ == "__main__":
    main()
