"""Fixtures for tests of evaluation: questions of our own, and servers that answer by a script."""

from collections.abc import Callable, Iterable
from typing import Any

import polars as pl
import pytest

from build_dataset.schemas.release import ReleaseRow
from tests.annotation.conftest import serve

__all__ = ["serve"]

STATUS = {
    f"{name}_status": "unreviewed"
    for name in ("disease_group", "clinical_department", "medical_discipline", "competency", "difficulty")
}
LABELS = {
    name: None
    for dimension in ("disease_group", "clinical_department", "medical_discipline", "competency", "difficulty")
    for name in (dimension, f"{dimension}_en")
}


class Store:
    """Outputs by key."""

    def __init__(self) -> None:
        self.items: dict[str, Any] = {}

    def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        return {key: self.items[key] for key in keys if key in self.items}

    def put(self, key: str, value: Any) -> None:
        self.items[key] = value


def make_question(number: int, answer: str = "A", **changes: Any) -> ReleaseRow:
    """A question with four options; ``options`` may name others as one string of letters."""
    letters = changes.pop("options", "ABCD")
    values = {
        "question_id": f"paper000-1-{number:03}",
        "question_type": "A1" if len(answer) == 1 else "X",
        "stem": f"第{number}题：下列哪项正确",
        "shared_stem": None,
        "group_id": None,
        "options": [{"label": letter, "text": f"说法{letter}{number}"} for letter in letters],
        "answer": list(answer),
        "accepted_answers": None,
        "explanation": None,
        "human_accuracy": None,
        "respondents": None,
        "exam_type": "医师考试",
        "exam_class": "执业医师",
        "exam_subject": None,
        "annotator": "lexicon",
        "document": "paper.pdf",
        "number": number,
        "cluster_id": None,
        **LABELS,
        **STATUS,
    }
    return ReleaseRow.model_validate(values | changes)


@pytest.fixture
def question() -> Callable[..., ReleaseRow]:
    return make_question


@pytest.fixture
def splits() -> Callable[..., dict[str, pl.DataFrame]]:
    """The three tables of the export stage."""

    def make(
        test: Iterable[ReleaseRow] = (), train: Iterable[ReleaseRow] = (), validation: Iterable[ReleaseRow] = ()
    ) -> dict[str, pl.DataFrame]:
        named = {"train": train, "validation": validation, "test": test}
        return {name: ReleaseRow.to_frame(rows) for name, rows in named.items()}

    return make
