"""From an output to a prediction; what is told of a run."""

import pytest

from build_dataset.pipeline.evaluate.backends import Generation
from build_dataset.pipeline.evaluate.grading import CHOSEN, RunSettings, grade, read_output, run_settings
from build_dataset.pipeline.evaluate.params import OpenAiModel, RandomModel, TransformersModel
from build_dataset.pipeline.evaluate.prompting import Prompt
from build_dataset.pipeline.evaluate.results.papers import manner
from build_dataset.schemas.evaluation import Outcome
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.questions import Option
from tests.pipeline.evaluate.conftest import make_question


def test_letters_that_a_backend_chose_are_the_answer():
    asked = make_question(1)
    assert read_output(Generation("p", None), asked)[0] is Outcome.FAILED
    outcome, found = read_output(Generation("p", "x", letters=("B",)), asked)
    assert (outcome, found.letters, found.rule) == (Outcome.ANSWERED, ("B",), CHOSEN)


def prompt(question, **more):
    given = {"id": "p", "question": question, "messages": ({"role": "user", "content": "问"},)}
    return Prompt(**given | more)


READ = '[{"content": "问", "role": "user"}]'


def test_a_prediction_says_how_it_came_about():
    made = Generation(
        "p", "答案是A", prompt_tokens=5, completion_tokens=2, seed=9, model="m", likelihoods={"A": 0.12345678}
    )
    row, graded = grade("run", prompt(make_question(1)), made, answer_first=True)
    assert (row.run, row.extracted, row.correct, row.outcome) == ("run", ["A"], True, Outcome.ANSWERED)
    assert (row.prompt_tokens, row.completion_tokens, row.seed, row.model) == (5, 2, 9, "m")
    assert [(one.label, one.value) for one in row.likelihoods] == [("A", 0.123457)]
    assert (row.prompt_hash, row.finish, row.repeat) == (sha256(READ), "stop", 0)
    assert (graded.correct, graded.repeat) == (True, 0)


def test_a_request_that_failed_is_no_grade_and_no_answer_is_neither_right_nor_wrong():
    row, graded = grade("run", prompt(make_question(1)), Generation("p", None), answer_first=True)
    assert (graded, row.correct, row.finish, row.outcome) == (None, None, None, Outcome.FAILED)
    row, graded = grade("run", prompt(make_question(1)), Generation("p", "不知道"), answer_first=True)
    assert (graded.correct, row.correct, row.extracted, row.outcome) == (False, None, None, Outcome.NO_ANSWER)


def test_a_run_is_described_by_its_defaults():
    settings = RunSettings("m")
    assert (settings.prompt, settings.shots) == ("", 0)
    assert (settings.temperature, manner(settings)) == (0.0, "0-shot · T = 0")
    assert manner(RunSettings("m", shots=3, temperature=0.7)) == "3-shot · T = 0.7"


@pytest.mark.parametrize(
    ("options", "model"),
    [
        (OpenAiModel(model="a/b/"), "b"),
        (TransformersModel(model="x/b", adapter="y/c/"), "b+c"),
        (TransformersModel(model="x/b", answer_by="likelihood"), "b by likelihood"),
        (RandomModel(), "random"),
    ],
)
def test_runs_of_a_model_share_its_name(options, model):
    found = run_settings(options)
    assert (found.model, found.shots) == (model, 0)


def test_the_settings_of_a_run_are_those_of_its_model():
    options = OpenAiModel(model="b", shots=2, repeats=3, temperature=0.5)
    found = run_settings(options)
    assert found == RunSettings("b", "answer_only", 2, 0.5)


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
