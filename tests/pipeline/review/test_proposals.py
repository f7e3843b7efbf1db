"""Experts are shown no proposal where its evidence is thin, instead of a wrong one."""

from __future__ import annotations

import pytest

from build_dataset.annotation.lexicon_annotator import ENOUGH
from build_dataset.pipeline.review.exchange import with_evidence
from build_dataset.schemas.annotations import Annotation
from tests.annotation import records


@pytest.mark.parametrize(
    ("dimension", "annotator", "confidence", "shown"),
    [
        ("competency", "lexicon", ENOUGH, True),
        ("competency", "lexicon", ENOUGH - 0.001, False),
        ("competency", "learned", 0.1, True),
        ("competency", "llm:m", None, True),
        ("difficulty", "lexicon", None, False),
        ("difficulty", "learned", None, False),
        ("difficulty", "human_accuracy", None, True),
        ("difficulty", "llm:m", None, True),
    ],
)
def test_what_nobody_knows_is_not_proposed(dimension, annotator, confidence, shown):
    rows = Annotation.to_frame([records.annotation(dimension, "x", annotator, confidence=confidence)])
    assert with_evidence(rows).height == shown
