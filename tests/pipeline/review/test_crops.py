"""Experts see the cut-outs of questions, each no larger than a review screen takes; what cannot be cut out is left."""

import base64
import io

import pytest
from PIL import Image

from build_dataset.pipeline.crop import crops
from build_dataset.pipeline.runtime.publish import read_table
from build_dataset.schemas.questions import Question


@pytest.fixture
def questions(built) -> list[Question]:
    return list(Question.from_frame(read_table(built.build / "parse" / "questions.parquet")))


def test_questions_with_boxes_have_pictures_and_those_of_text_have_none(questions, context):
    found = crops(questions, context, 400_000)
    assert set(found) == {question.question_id for question in questions if question.regions}
    for address in found.values():
        head, _, content = address.partition(",")
        assert head == "data:image/png;base64"
        assert Image.open(io.BytesIO(base64.b64decode(content))).width > 100


def test_a_picture_that_is_too_large_is_sent_smaller(questions, context):
    whole = crops(questions, context, 400_000)
    most = max(map(len, whole.values())) // 2
    found = crops(questions, context, most)
    assert any(address.startswith("data:image/jpeg") for address in found.values()) or len(found) < len(whole)
    assert all(len(base64.b64decode(address.partition(",")[2])) <= most for address in found.values())


def test_a_paper_that_has_moved_is_sent_without_pictures(questions, context):
    (context.raw / "paper.pdf").unlink()
    assert crops(questions, context, 400_000) == {}
