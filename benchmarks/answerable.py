"""Are questions that the vault can answer answered, and are the others left alone?

    python benchmarks/answerable.py VAULT QUESTIONS.jsonl [--sweep]

VAULT is a folder that holds a git repository of pages. A line of QUESTIONS.jsonl is `{"_id", "type", "text", "pages"}`:
`pages` are those that answer the question, of which one is enough, and none for a question that the vault cannot
answer. Prints shares by type, then the questions that fail with the evidence that the gate saw. With --sweep also what
other values of ranking.answer_floor and of ranking.relevance_floor would do.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import memidx
from memidx.engines import query as engine
from memidx.ground.gate import has_answer, passes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memidx.engines.snapshot import Snapshot
    from memidx.ground.settings import Settings
    from memidx.vault import Vault

LIMIT = 5
NO_EVIDENCE = {"cosine": 0.0, "coverage": 0.0, "amount": 0.0, "rare_words": 0.0, "names_a_page": False, "enough": False}
ANSWER_FLOORS = [round(0.8 + 0.05 * n, 2) for n in range(13)]
RELEVANCE_FLOORS = [round(0.05 * n, 2) for n in range(10)]


class Question(NamedTuple):
    id: str
    type: str
    text: str
    pages: tuple[str, ...]


class Outcome(NamedTuple):
    """What came of a question: pages in their order, none when the gate kept them back, and their greatest relevance."""

    question: Question
    ranked: tuple[str, ...]
    relevance: float
    evidence: engine.Evidence

    @property
    def place(self) -> int | None:
        """The place of the first right page, from 1, among the first five."""
        places = (n for n, path in enumerate(self.ranked[:LIMIT], 1) if path in self.question.pages)
        return next(places, None)


def read(path: Path) -> list[Question]:
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return [Question(row["_id"], row["type"], row["text"], tuple(row["pages"])) for row in rows]


def ask(vault: Vault, snapshot: Snapshot, questions: Sequence[Question], settings: Settings) -> list[Outcome]:
    outcomes = []
    for question in questions:
        asked = engine.make_question(question.text, settings, now=0.0, limit=LIMIT, explain=True)
        result = engine.Ranked()
        ranking = engine.rank_pages(snapshot, asked, vault.embedder, settings, result)
        # Filters typed in the text may leave no page: then no stream ran, and there is no evidence.
        evidence = engine.Evidence(**result.explain.get("evidence", NO_EVIDENCE))
        relevance = max((c.relevance for c in ranking.candidates), default=0.0)
        outcomes.append(Outcome(question, tuple(c.page.path for c in ranking.candidates), relevance, evidence))
    return outcomes


def behind(outcomes: Sequence[Outcome], answer_floor: float, relevance_floor: float = 0.0) -> list[Outcome]:
    """The same outcomes behind other floors: whether there is any hit, not in which order."""
    kept = []
    for outcome in outcomes:
        seen = outcome.evidence
        enough = has_answer(
            seen.amount,
            answer_floor,
            names_a_page=seen.names_a_page,
            coverage=seen.coverage,
            rare_words=seen.rare_words,
        )
        kept.append(outcome if enough and passes(outcome.relevance, relevance_floor) else outcome._replace(ranked=()))
    return kept


def with_ranking(settings: Settings, **changes: Any) -> Settings:
    return settings._replace(ranking=settings.ranking._replace(**changes))


def share(part: int, whole: int) -> str:
    return f"{part} / {whole} = {part / whole:.1%}" if whole else "-"


def of_type(outcomes: Sequence[Outcome], kind: str) -> list[Outcome]:
    return [o for o in outcomes if o.question.type == kind]


def summary(outcomes: Sequence[Outcome]) -> None:
    kinds = list(dict.fromkeys(o.question.type for o in outcomes))
    print("| type | right page first | in the first 5 | lost (no hits) | false answers (any hits) |")
    print("|---|---|---|---|---|")
    for kind in kinds:
        some = of_type(outcomes, kind)
        answered = sum(bool(o.ranked) for o in some)
        if some[0].question.pages:
            first, five = sum(o.place == 1 for o in some), sum(o.place is not None for o in some)
            cells = [share(first, len(some)), share(five, len(some)), share(len(some) - answered, len(some)), ""]
        else:
            cells = ["", "", "", share(answered, len(some))]
        print(f"| {kind} | {' | '.join(cells)} |")


def verdict(outcome: Outcome) -> str:
    """What is wrong with an outcome; nothing when it is right."""
    if not outcome.question.pages:
        return "false answer" if outcome.ranked else ""
    if not outcome.ranked:
        return "lost"
    if outcome.place is None:
        return "not in the first 5"
    return f"at {outcome.place}" if outcome.place > 1 else ""


def failures(outcomes: Sequence[Outcome]) -> None:
    print("| id | what | cosine | coverage | evidence | names a page | question | first hit |")
    print("|---|---|---|---|---|---|---|---|")
    for outcome in outcomes:
        what, seen = verdict(outcome), outcome.evidence
        if what:
            text = outcome.question.text.replace("|", "\\|")
            print(
                f"| {outcome.question.id} | {what} | {seen.cosine:.3f} | {seen.coverage:.3f} | {seen.amount:.3f} | "
                f"{'yes' if seen.names_a_page else ''} | {text} | {outcome.ranked[0] if outcome.ranked else ''} |"
            )


def row(value: float, outcomes: Sequence[Outcome], kinds: Sequence[str]) -> None:
    """A line of a sweep: lost where a question has an answer, false where it has none, over all at the end."""
    cells = []
    for kind in kinds:
        some = of_type(outcomes, kind)
        wrong = sum(bool(o.ranked) != bool(o.question.pages) for o in some)
        cells.append(f"{wrong / len(some):.1%}")
    for known in (True, False):
        some = [o for o in outcomes if bool(o.question.pages) == known]
        cells.append(f"{sum(bool(o.ranked) != known for o in some) / max(len(some), 1):.1%}")
    print(f"| {value:.2f} | {' | '.join(cells)} |")


def head(name: str, questions: Sequence[Question]) -> list[str]:
    kinds = list(dict.fromkeys(q.type for q in questions))
    with_pages = {q.type for q in questions if q.pages}
    columns = [f"{kind}: {'lost' if kind in with_pages else 'false'}" for kind in kinds]
    print(f"\n| {name} | {' | '.join(columns)} | all lost | all false |")
    print(f"|{'---|' * (len(columns) + 3)}")
    return kinds


def sweep(vault: Vault, snapshot: Snapshot, questions: Sequence[Question], limits: engine.Cutoffs) -> None:
    """Every question once with no gate at all, and once more without the vector search's cut-off."""
    free = ask(vault, snapshot, questions, with_ranking(vault.settings, answer_floor=0.0))
    kinds = head("ranking.answer_floor", questions)
    for floor in ANSWER_FLOORS:
        row(floor, behind(free, floor), kinds)
    open_wide = {"answer_floor": 0.0, "min_similarity": 0.0, "relevance_floor": 0.0}
    free = ask(vault, snapshot, questions, with_ranking(vault.settings, **open_wide))
    for gate in (limits.answer_floor, 0.0):
        kinds = head(f"ranking.relevance_floor, with min_similarity 0 and answer_floor {gate:g}", questions)
        for floor in RELEVANCE_FLOORS:
            row(floor, behind(free, gate, floor), kinds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path, metavar="VAULT")
    parser.add_argument("questions", type=Path, metavar="QUESTIONS.jsonl")
    parser.add_argument("--sweep", action="store_true", help="also try other floors")
    given = parser.parse_args()
    vault = memidx.open_vault(given.vault)
    snapshot, _, _ = vault.open_snapshot()
    questions = read(given.questions)
    limits = engine.cutoffs(
        snapshot, engine.make_question("x", vault.settings, now=0.0), vault.embedder, vault.settings
    )
    print(
        f"{len(questions)} questions, {len(snapshot.catalog.page_numbers())} pages; answer floor "
        f"{limits.answer_floor:g}, min_similarity {limits.min_similarity:g}, relevance floor {limits.floor:g}\n"
    )
    outcomes = ask(vault, snapshot, questions, vault.settings)
    summary(outcomes)
    print()
    failures(outcomes)
    if given.sweep:
        sweep(vault, snapshot, questions, limits)


if __name__ == "__main__":
    main()
