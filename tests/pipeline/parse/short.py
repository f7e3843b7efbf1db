"""Papers in few words, and outcomes told in short."""

import json

from build_dataset.pipeline.parse.checks import run_checks
from build_dataset.pipeline.parse.stage import check_gates
from build_dataset.schemas.documents import Document

FOUR = "A. 甲\nB. 乙\nC. 丙\nD. 丁"
FIVE = f"{FOUR}\nE. 戊"
DOCUMENT = Document(document="x.pdf", sha256="ab" * 32, format="pdf", pages=1, rows=None)
CASE = "男，45岁。上腹痛3天，伴黄疸。"


def items(*numbers, mark="{}. ", options=FOUR):
    return "\n".join(f"{mark.format(number)}第{number}项对的是\n{options}" for number in numbers)


THREE = items(1, 2, 3)


def told(outcome):
    """An outcome in short: ``1C`` a question, ``-1 reason`` an item set aside, ``?1 reason`` one that waits."""
    kept = [f"{question.number}{''.join(question.answer or ['-'])}" for question in outcome.questions]
    aside = [f"-{json.loads(one.item)['number']} {one.reason}" for one in outcome.rejects]
    waiting = [one for one in outcome.review for _ in one.question_ids or "-"]
    waits = [f"?{json.loads(one.item)['number'] if one.item else ''} {one.reason}" for one in waiting]
    return [*kept, *aside, *waits]


def judged(paper):
    check_gates(paper)
    return paper


def check(paper, checks, *reasons):
    """Run checks, those for some reasons alone if any are named."""
    run_checks(paper, [one for one in checks if not reasons or one.reason in reasons])


def texts(question):
    return [option.text for option in question.options]
