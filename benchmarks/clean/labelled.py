"""Precision and recall of the filters for figures, tables and stems that break off, on sentences labelled by hand.

    python -m benchmarks.clean.labelled

``labelled.tsv`` holds stems written for it, beside each the reason for which it should go; none where it is sound.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from pipeline.clean.filters import judge_question
from pipeline.clean.params import CleanParams
from schemas.identity import content_hash
from schemas.questions import Option, Question, QuestionType

LIST = Path(__file__).with_name("labelled.tsv")


def judged() -> list[tuple[str, str, str]]:
    """The right reason, the reason given, and the text, of every labelled question."""
    with LIST.open(encoding="utf-8", newline="") as stream:
        rows = [*csv.DictReader(stream, delimiter="\t")]
    return [
        (row["reason"], _reason(row["stem"], row["option"]), row["stem"] + " | " + row["option"])
        for row in rows
    ]


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
    found = judged()
    for right, given, text in found:
        if right != given:
            print(f"{given or 'kept'}, should be {right or 'kept'}: {text}")
    print("\n| reason | labelled | given | precision | recall |\n| --- | ---: | ---: | ---: | ---: |")
    for reason in ("needs_figure", "needs_table", "truncated"):
        counts = Counter((right == reason, given == reason) for right, given, _ in found)
        both, only_right, only_given = counts[True, True], counts[True, False], counts[False, True]
        precision, recall = both / max(1, both + only_given), both / max(1, both + only_right)
        print(f"| {reason} | {both + only_right} | {both + only_given} | {precision:.3f} | {recall:.3f} |")
    print(f"\n{sum(not right for right, _, _ in found)} of {len(found)} are sound")


if __name__ == "__main__":
    main()
