"""Defaults of the records: what is absent is null, and every other default is meant."""

import pytest
from pydantic_core import PydanticUndefined

from build_dataset.schemas import annotations, documents, evaluation, questions, release
from build_dataset.schemas.base import Record

DEFAULTS = {
    "AnnotationRequest": {"unusable": 0, "unusable_cost": 0.0, "unseen": 0, "unseen_cost": 0.0},
    "ExpertReview": {"project": "review"},
    "Page": {"turned": 0},
    "Prediction": {"task": "answer", "repeat": 0},
    "Score": {"task": "answer", "repeats": 1},
    "Judgement": {"repeat": 0},
    "SentAnswer": {"repeat": 0},
    "JudgeAgreement": {"models": 0},
    "ReleaseRow": {"corrected": [], "sources": []},
    "ReviewItem": {"question_ids": ["q-1"]},  # the item itself
}
RECORDS = {
    name: record
    for module in (annotations, documents, evaluation, questions, release)
    for name, record in vars(module).items()
    if isinstance(record, type) and issubclass(record, Record) and record is not Record
}


@pytest.mark.parametrize("name", RECORDS)
def test_what_is_absent_is_null_or_what_is_told_here(name):
    fields = RECORDS[name].model_fields.items()
    known = {"item_id": "q-1"}
    found = {field: info.get_default(call_default_factory=True, validated_data=known) for field, info in fields}
    told = {field: value for field, value in found.items() if value not in (None, PydanticUndefined)}
    assert told == DEFAULTS.get(name, {})
