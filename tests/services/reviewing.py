"""Questions under review in tests, and experts who answer them as the screen does."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from build_dataset.annotation.label_studio.tasks import QUESTION_ID, choice
from build_dataset.schemas.annotations import Annotation, ExpertReview
from build_dataset.schemas.questions import Question
from tests.annotation.records import annotation
from tests.making import make_question
from tests.services.label_studio_server import ADMIN, LabelStudioServer

PREFILLED = {
    "disease_group": "循环系统疾病",
    "clinical_department": "内科",
    "medical_discipline": "临床医学",
    "competency": "疾病诊断和鉴别诊断",
    "difficulty": "中等",
}
QUESTIONS = 8


def question(number: int, stem: str | None = None) -> Question:
    return make_question(
        stem or f"第{number}题：下列哪一项最可能？<b>不是标签</b> & $meta",
        [f"选项{letter}{number}" for letter in "ABCDE"],
        question_id=f"0a1b2c3d-1-{number:03}",
        document="papers/example.pdf",
        number=number,
        pages=[1],
    )


def tables(questions: Iterable[Question], labels: Mapping[str, str] = PREFILLED) -> dict[str, pl.DataFrame]:
    questions = list(questions)
    annotations = [
        annotation(dimension, label, question_id=each.question_id, estimate=dimension == "difficulty")
        for each in questions
        for dimension, label in labels.items()
    ]
    found = {"questions": Question.to_frame(questions), "annotations": Annotation.to_frame(annotations)}
    return found | {"pulled": ExpertReview.to_frame([])}


def pulled(context: Any) -> pl.DataFrame:
    return pl.read_parquet(context.build / "reviews" / "pulled.parquet")


def answer(labels: Mapping[str, str] = PREFILLED, flags: Iterable[str] = (), note: str | None = None) -> list[Any]:
    result = [choice(dimension, [label]) | {"origin": "prediction"} for dimension, label in labels.items()]
    if flags := list(flags):
        result.append(choice("flags", flags) | {"origin": "manual"})
    if note:
        result.append({"from_name": "note", "to_name": "question", "type": "textarea", "value": {"text": [note]}})
    return result


def answer_all(server: LabelStudioServer, project: int, account, answers: Mapping[int, list[Any]]) -> dict[int, int]:
    """Take tasks from the queue as the screen does until there are none; annotation ids by question number."""
    expert = server.as_expert(account)
    done = {}
    while (task := expert.next_task(project)) is not None:
        number = int(task["data"][QUESTION_ID][-3:])
        assert number not in done, "the queue gave a question to the same expert twice"
        done[number] = expert.submit(task["id"], answers.get(number, answer()))
    return done


def task_ids(server: LabelStudioServer, project: int) -> dict[int, int]:
    """Task ids by question number."""
    return {int(question_id[-3:]): task_id for question_id, task_id in tasks(server, project).items()}


def tasks(server: LabelStudioServer, project: int) -> dict[str, int]:
    """Task ids by question id."""
    query = {"project": project, "page_size": 1000}
    found = server.as_expert(ADMIN).http.get("/api/tasks/", params=query).json()
    return {task["data"][QUESTION_ID]: task["id"] for task in found["tasks"]}
