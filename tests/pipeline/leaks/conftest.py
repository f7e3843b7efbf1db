"""Questions and their splits for the leaks stage: a question is a few words, everything else is filled in."""

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import pytest

from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Assignment, Question

OPTIONS = ("心肌梗死", "肺栓塞", "主动脉夹层", "气胸")


@pytest.fixture
def leaks(context) -> Callable[..., Any]:
    """Runs the stage on {question_id: (split, stem)} or {question_id: (split, stem, options, shared stem)}."""
    from build_dataset.pipeline.leaks.params import LeaksParams
    from build_dataset.pipeline.leaks.stage import run

    def call(questions: Mapping[str, tuple[Any, ...]], **params: Any) -> Any:
        rows, assigned = [], []
        for name, (split, stem, *more) in questions.items():
            texts = more[0] if more else OPTIONS
            shared = more[1] if len(more) > 1 else None
            rows.append(
                {
                    "question_id": name,
                    "document": "d",
                    "question_type": "A1",
                    "stem": stem,
                    "shared_stem": shared,
                    "options": [{"label": label, "text": text} for label, text in zip("ABCDE", texts, strict=False)],
                    "content_hash": content_hash(stem, texts, shared),
                }
            )
            assigned.append({"question_id": name, "split": split, "stratum": "s"})
        tables = {
            "questions": pl.DataFrame(rows, schema=Question.polars_schema()),
            "assignments": pl.DataFrame(assigned, schema=Assignment.polars_schema()),
        }
        result = run(tables, LeaksParams(**params), context)
        assert result.counts.balanced()
        return result

    return call
