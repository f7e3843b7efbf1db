"""Precision and recall of the filters for figures, tables and stems that break off, on sentences labelled by hand.

    python -m benchmarks.clean.labelled

``labelled.tsv`` holds stems written for it, beside each the reason for which it should go, none where it is sound, and
its lot: ``unseen`` was written after the patterns and nothing was mended for it; all others helped to mend them.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from build_dataset.pipeline.clean.filters import judge_question
from build_dataset.pipeline.clean.params import CleanParams
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Option, Question, QuestionType

LIST = Path(__file__).with_name("labelled.tsv")
REASONS = ("needs_figure", "needs_table", "truncated")
Judged = tuple[str, str, str]
"""The right reason, the reason given, and the text."""


def judged() -> dict[str, list[Judged]]:
    """Judge every labelled question; ``tuned`` and ``unseen``."""
    found: dict[str, list[Judged]] = {"tuned": [], "unseen": []}
    with LIST.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            given = _reason(row["stem"], row["option"])
            text = row["stem"] + " | " + row["option"]
            found["unseen" if row["lot"] == "unseen" else "tuned"].append((row["reason"], given, text))
    return found


def counts(found: list[Judged], reason: str) -> tuple[int, int, int]:
    """Count the questions labelled with ``reason``, given it, and both."""
    pairs = Counter((right == reason, given == reason) for right, given, _ in found)
    both = pairs[True, True]
    return both + pairs[True, False], both + pairs[False, True], both


def _reason(stem: str, option: str) -> str:
    texts = [option or "甲", "乙", "丙"]
    question = Question(
        question_id="q",
        document="labelled.tsv",
        section=None,
        number=1,
        question_type=QuestionType.A1,
        stem=stem,
        options=[Option(label=label, text=text) for label, text in zip("ABC", texts, strict=True)],
        answer=["A"],
        content_hash=content_hash(stem, texts),
    )
    verdict = judge_question(question, CleanParams())
    return verdict.reason if verdict else ""


def main() -> None:
    for name, found in judged().items():
        print(f"\n{name}: {len(found)} stems, {sum(not right for right, _, _ in found)} of them sound")
        for right, given, text in found:
            if right != given:
                print(f"{given or 'kept'}, should be {right or 'kept'}: {text}")
        print("\n| reason | labelled | given | precision | recall |\n| --- | ---: | ---: | ---: | ---: |")
        for reason in REASONS:
            labelled, given, both = counts(found, reason)
            precision, recall = both / max(1, given), both / max(1, labelled)
            print(f"| {reason} | {labelled} | {given} | {precision:.3f} | {recall:.3f} |")


if __name__ == "__main__":
    main()
