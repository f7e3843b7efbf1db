"""Small questions to deduplicate."""

import random
from collections.abc import Callable

import pytest

from benchmarks.dedup.measure import deduplicated
from build_dataset.pipeline.stage import Result
from build_dataset.schemas.questions import Question
from tests.making import make_question

GOUT = "秋水仙碱 别嘌醇 丙磺舒 苯溴马隆 泼尼松"


def make(name: str, stem: str, options: str = GOUT, answer: str | None = "A", **fields) -> Question:
    named = {"question_id": name, "document": f"paper-{name}"}
    return make_question(stem, options.split(" "), answer, **(named | fields))


def run_dedup(questions: list[Question], **params) -> Result:
    return deduplicated(Question.to_frame(questions), **params)


@pytest.fixture(scope="session")
def crowd() -> list[Question]:
    """Questions unlike one another, enough of them to be evidence of what is written and what is not."""
    rng = random.Random(0)
    draw = ["".join(chr(rng.randrange(0x4E00, 0x5E00)) for _ in range(12)) for _ in range(1000)]
    return [make(f"z{n}", text, " ".join(text[k : k + 4] for k in (0, 4, 8))) for n, text in enumerate(draw)]


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
