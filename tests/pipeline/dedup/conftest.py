"""Small questions to deduplicate."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.dedup.measure import deduplicated
from pipeline.stage import Result
from schemas.identity import content_hash
from schemas.questions import Option, Question

GOUT = "秋水仙碱 别嘌醇 丙磺舒 苯溴马隆 泼尼松"


def make(name: str, stem: str, options: str = GOUT, answer: str | None = "A", **fields) -> Question:
    texts = options.split(" ")
    return Question(
        question_id=name,
        document=fields.pop("document", f"paper-{name}"),
        section=1,
        number=1,
        question_type=fields.pop("question_type", "A1"),
        stem=stem,
        options=[Option(label="ABCDEFGH"[place], text=text) for place, text in enumerate(texts)],
        answer=list(answer) if answer else None,
        content_hash=content_hash(stem, texts),
        **fields,
    )


def run_dedup(questions: list[Question], **params) -> Result:
    return deduplicated(Question.to_frame(questions), **params)


@pytest.fixture(name="make")
def _make() -> Callable[..., Question]:
    return make


@pytest.fixture
def dedup() -> Callable[..., Result]:
    return run_dedup


@pytest.fixture(scope="session")
def make_dedup():
    """Both, for tests that draw many examples."""
    return make, run_dedup
