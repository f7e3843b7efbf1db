"""One small evaluation of every kind, whose scores, tables and plots are as they were when the golden file was written.

Where a change is meant, ``python -m tests.pipeline.evaluate.results.test_golden`` writes the file anew; its diff is
what people will see.
"""

import random
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest

from build_dataset.annotation.rubric import aspects
from build_dataset.pipeline.evaluate import scoring
from build_dataset.pipeline.evaluate.grading import RunSettings
from build_dataset.pipeline.evaluate.judging.scores import judge_agreement, judged_scores
from build_dataset.pipeline.evaluate.metrics import score_items
from build_dataset.pipeline.evaluate.results import build as figures
from build_dataset.pipeline.evaluate.results.build import Evaluated, headlines, markdown
from build_dataset.pipeline.evaluate.scoring import OVERALL, Graded, GradedText, by_slice, count_overlap, human_scores
from build_dataset.schemas.evaluation import Judgement, Outcome, Task
from build_dataset.schemas.release import ReleaseRow
from tests.pipeline.drawn import described
from tests.pipeline.evaluate.conftest import make_question

GOLDEN = Path(__file__).with_name("golden.txt")
SKILL = {"m": 0.55, "m 3-shot": 0.7, "n": 0.6, "o": 0.35, "random": 0.25}
CLASSES = {"医师考试": ("执业医师", "规培结业"), "护理考试": ("护士执业资格考试", "主管护师")}
GROUPS = ("内分泌，营养或代谢疾病", "肿瘤", "循环系统疾病")


def _question(number: int, draw: random.Random) -> ReleaseRow:
    exam = ("医师考试", "护理考试")[number % 2]
    key = "".join(sorted(draw.sample("ABCD", 2 if number % 5 == 0 else 1)))
    return make_question(
        number,
        key,
        stem="下列哪项正确" + "题" * (number * 13 % 39 + 60 * (number == 8)),
        group_id=f"case{number // 4}" if number % 4 < 2 else None,
        accepted_answers=[["A"], ["B"]] if number == 7 else None,
        human_accuracy=round(draw.random(), 2) if number % 3 else None,
        respondents=number * 10 if number % 6 else None,
        exam_type=exam,
        exam_class=CLASSES[exam][number % 3 % 2],
        exam_subject="科目一" if number % 2 else None,
        disease_group=GROUPS[number % 4 % 3],
        disease_group_en=f"Group {number % 4 % 3}",
        disease_group_status=("agreed", "unreviewed", "adjudicated")[number % 3],
        difficulty=("易", "难")[number % 2],
    )


def _graded(run: str, rows: list[ReleaseRow], draw: random.Random) -> list[Graded]:
    found = []
    for row in rows:
        for repeat in range(2):
            right = draw.random() < SKILL[run]
            letters = tuple(row.answer) if right else (draw.choice("ABCD"),)
            outcome = draw.choice((Outcome.NO_ANSWER, Outcome.REFUSED, Outcome.TRUNCATED))
            silent = draw.random() < 0.15
            given = (outcome, None) if silent else (Outcome.ANSWERED, letters)
            found.append(Graded(row, *given, repeat))
    return found


def _texts(run: str, draw: random.Random) -> list[GradedText]:
    words = ["发热", "咳嗽", "肺炎", "抗生素", "治疗", "3.5", "mg", "IL-6", "。"]
    found = []
    for number in range(9):
        reference = "".join(draw.choices(words, k=12))
        said = "".join(word for word in draw.choices(words, k=14)) if number else reference
        outcome = Outcome.TRUNCATED if number == 3 else Outcome.ANSWERED
        counts = count_overlap(said if number != 5 else "", reference)
        found.append(GradedText(f"clin-{number // 2}-{number}", str(number // 2), outcome, counts, number % 2))
    return found


def _judgements(draw: random.Random) -> list[Judgement]:
    return [
        Judgement(
            run=run,
            task=Task.CLINICAL,
            question_id=f"clin-{number // 2}-{number}",
            judge=judge,
            aspect=aspect.name,
            score=min(5, max(1, place + draw.randint(0, 2))),
        )
        for place, run in enumerate(("o", "m", "n"), start=1)
        for number in range(6)
        for judge in ("llm:n", "llm:j", "expert:a", "expert:b")
        for aspect in aspects()
        if not (judge == "expert:b" and number > 3) and not (judge == "llm:j" and aspect.name == "fluency" and number)
    ]


@cache
def evaluated() -> Evaluated:
    draw = random.Random(5)
    rows = [_question(number, draw) for number in range(1, 31)]
    scores, runs = [], {}
    for run in SKILL:
        runs[run] = _graded(run, rows, draw)
        for part, items in by_slice(runs[run]).items():
            if run in "mn" or part.dimension in ("overall", "exam_type", "exam_class"):
                scores += score_items(run, part, items)
        for task in (Task.CLINICAL, Task.EXPLANATION) if run in "mno" else ():
            scores += score_items(run, OVERALL, _texts(run, draw), "texts", task)
    for part, own in by_slice(rows).items():
        scores += human_scores(part, own)
    judged = _judgements(draw)
    askings = {run: RunSettings(run.split()[0], "answer_only", 3 if "shot" in run else 0) for run in SKILL}
    askings["o"] = RunSettings("o", "chain_of_thought", temperature=0.7)
    agreement = judge_agreement(judged)
    shown = [*scores, *judged_scores(judged)]
    more_than = {"disease_group": 7}
    return Evaluated(shown, scoring.compare_runs(runs), agreement, askings, more_than)


def _rounded(row) -> str:
    said = (f"{value:.4f}" if isinstance(value, float) else str(value) for value in row.model_dump().values())
    return " ".join(said)


def drawings() -> list[str]:
    """Every plot as text."""
    found = evaluated()
    lines: list[str] = []

    def note(name, figure):
        lines.extend([f"## {name}", *described(figure)])
        return {}

    with patch.object(figures, "both_formats", note):
        figures.plots(found)
    return lines


PARTS = {
    "scores": lambda: [_rounded(score) for score in evaluated().scores],
    "comparisons": lambda: [_rounded(row) for row in evaluated().comparisons],
    "agreement": lambda: [_rounded(row) for row in evaluated().agreement],
    "tables": lambda: [*markdown(evaluated(), "title").splitlines(), *headlines(evaluated().scores)],
    "plots": drawings,
}


def golden() -> dict[str, list[str]]:
    text = GOLDEN.read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in text.split("######## ")[1:])
    return {name: lines.splitlines() for name, _, lines in parts}


@pytest.mark.parametrize("part", PARTS)
def test_results_are_as_before(part):
    assert PARTS[part]() == golden()[part]


if __name__ == "__main__":
    parts = (f"######## {name}\n" + "".join(f"{line}\n" for line in make()) for name, make in PARTS.items())
    GOLDEN.write_text("".join(parts), encoding="utf-8")
