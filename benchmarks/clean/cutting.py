"""Whole stems that end in a slip of the hand, and cases that are cut at a comma: which of them the filter stops.

    python -m benchmarks.clean.cutting QUESTIONS.jsonl

QUESTIONS.jsonl holds CMExam's ``Question``, ``Options`` and ``Answer``. Each stem gets a comma, or half of a blank, at
its end and is to be kept; each case is cut behind a comma of its first three quarters and is to be stopped. A stem
that asks early and is cut later counts as missed, though what is left may be answerable.
"""

from __future__ import annotations

import argparse
import random
import re
from pathlib import Path

from benchmarks.dedup.generate import read_questions
from benchmarks.dedup.measure import interval
from build_dataset.pipeline.clean.filters import truncated
from build_dataset.pipeline.clean.params import CleanParams
from build_dataset.schemas.questions import Question

SLIPS = ("，", "、", "；", ",", "（")
SHOWN = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    questions = read_questions(given.questions)
    for slip in SLIPS:
        _report(f"whole, then {slip}", [_ended(question, slip) for question in questions], shown=True)
    cut = _cut(questions, random.Random(given.seed))
    _report("cut at a comma", cut, shown=False)


def _ended(question: Question, slip: str) -> Question:
    bare = re.sub(r"[\s，。、？?：:（）()]+$", "", question.stem)
    return question.model_copy(update={"stem": bare + slip})


def _cut(questions: list[Question], draw: random.Random) -> list[Question]:
    found = []
    for question in questions:
        stem = question.stem
        places = [at.end() for at in re.finditer("[，、；,]", stem) if 10 < at.end() < 0.75 * len(stem)]
        if places and re.search(r"\d岁|患者", stem[:25]):
            found.append(question.model_copy(update={"stem": stem[: draw.choice(places)]}))
    return found


def _report(name: str, questions: list[Question], *, shown: bool) -> None:
    """Print how many are stopped, and the ends of some that should have gone the other way."""
    stopped = [truncated(question, CleanParams()) is not None for question in questions]
    low, high = interval(sum(stopped), len(stopped))
    share = sum(stopped) / len(stopped)
    print(f"{name}: {sum(stopped)} of {len(stopped):,} stopped, {share:.2%} (95 %: {low:.2%}–{high:.2%})")
    wrong = [question.stem for question, stop in zip(questions, stopped, strict=True) if stop is shown]
    for stem in wrong[:SHOWN]:
        print(f"    …{stem[-50:]}")


if __name__ == "__main__":
    main()
