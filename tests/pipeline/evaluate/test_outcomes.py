from __future__ import annotations

import pytest

from build_dataset.pipeline.evaluate.backends import Generation
from build_dataset.pipeline.evaluate.grading import read_output
from build_dataset.schemas.evaluation import Outcome
from build_dataset.schemas.questions import Option
from tests.pipeline.evaluate.conftest import make_question

OPTIONS = {"A": "心率加快", "B": "血压升高", "C": "瞳孔缩小", "D": "支气管扩张"}
ASKED = make_question(1, stem="兴奋β受体的效应是").model_copy(
    update={"options": [Option(label=label, text=text) for label, text in OPTIONS.items()]}
)


@pytest.mark.parametrize(
    ("text", "finish", "answer_first", "outcome", "letters"),
    [
        ("B", "stop", True, Outcome.ANSWERED, ("B",)),
        ("不知道", "stop", True, Outcome.NO_ANSWER, None),
        ("", "stop", True, Outcome.NO_ANSWER, None),
        ("抱歉，我无法回答医学问题。", "stop", True, Outcome.REFUSED, None),
        ("抱歉刚才算错了，答案是C。", "stop", True, Outcome.ANSWERED, ("C",)),
        ("", "refusal", True, Outcome.REFUSED, None),
        ("答案是A", "refusal", True, Outcome.REFUSED, None),
        ("患者心率加快，血压", "length", True, Outcome.TRUNCATED, None),
        ("B。因为血压升高是由于", "length", True, Outcome.ANSWERED, ("B",)),
        ("A。心率加快常见于", "length", False, Outcome.TRUNCATED, None),
        ("所以答案是C。另外，", "length", False, Outcome.ANSWERED, ("C",)),
        ("逐项分析：\nA", "length", True, Outcome.TRUNCATED, None),
        ("<think>也许选A", "length", True, Outcome.TRUNCATED, None),
    ],
)
def test_an_output_is_an_answer_a_refusal_cut_off_or_nothing(text, finish, answer_first, outcome, letters):
    found, extraction = read_output(Generation("p", text, finish), ASKED, answer_first=answer_first)
    assert (found, extraction.letters) == (outcome, letters)
