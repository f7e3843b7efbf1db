"""Explanations and clinical cases: what is asked, and how the texts are scored."""

import json

import polars as pl
import pytest

from build_dataset.pipeline.evaluate.params import EvaluateParams
from build_dataset.pipeline.evaluate.stage import problems, run
from build_dataset.pipeline.evaluate.tasks import load_cases
from build_dataset.schemas.errors import UserError
from tests.annotation.scripted_server import Reply
from tests.pipeline.evaluate.conftest import make_question
from tests.pipeline.evaluate.test_stage import TRAIN, asking

CASES = [
    {
        "id": "7",
        "title": "病例",
        "description": "男，30岁，发热三天。",
        "QA_pairs": [
            {"question": "诊断是什么？", "answer": "上呼吸道感染。"},
            {"question": "如何处理？", "answer": "休息，多饮水。"},
        ],
    }
]


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(CASES, ensure_ascii=False), encoding="utf-8")
    return path


def scores_of(result, run_name="openai:m explanation"):
    rows = result.tables["scores"].filter((pl.col("run") == run_name) & (pl.col("dimension") == "overall"))
    return {row["metric"]: row for row in rows.to_dicts()}


def test_explanations_are_scored_against_the_papers_own(context, splits, serve):
    questions = [make_question(1, explanation="因为说法A1正确。"), make_question(2)]
    server = serve(lambda question, earlier, body: Reply(content="<think>嗯</think>因为说法A1正确。"))
    result = run(splits(questions, TRAIN), asking(server, task="explanation"), context)
    scores = scores_of(result)
    assert scores["rouge_l"]["value"] == pytest.approx(1.0)
    assert scores["bleu_4"]["value"] == pytest.approx(1.0)
    assert scores["rouge_l"]["task"] == "explanation"
    assert [(row.item_id, row.reason) for row in result.rejects] == [(questions[1].question_id, "no_explanation")]
    (prediction,) = result.tables["predictions"].to_dicts()
    assert (prediction["task"], prediction["correct"], prediction["extracted"]) == ("explanation", None, None)
    assert result.counts.balanced()
    assert result.tables["comparisons"].is_empty()


def test_a_case_is_asked_with_its_earlier_questions_and_their_solutions(context, splits, serve, cases):
    asked = []

    def answer(question, earlier, body):
        asked.append(body["messages"])
        return Reply(content="上呼吸道感染。")

    params = asking(serve(answer), task="clinical").model_copy(update={"cases": cases})
    result = run(splits([], TRAIN), params, context)
    first, second = sorted(asked, key=len)
    assert [turn["content"] for turn in first] == ["以下是一位病人的病例：\n男，30岁，发热三天。\n诊断是什么？"]
    assert [turn["role"] for turn in second] == ["user", "assistant", "user"]
    assert [turn["content"] for turn in second][1:] == ["上呼吸道感染。", "如何处理？"]
    rows = result.tables["predictions"].to_dicts()
    assert [row["question_id"] for row in rows] == ["clin-7-1", "clin-7-2"]
    assert scores_of(result, "openai:m clinical")["rouge_l"]["questions"] == 2


def test_what_is_no_text_is_told_apart(context, splits, serve):
    replies = {
        "1": Reply(content="抱歉，我无法回答。"),
        "2": Reply(content="因为", finish_reason="length"),
        "3": Reply(content="因为说法A符合诊断标准，其余各项均不符合；医生应向病人说一声抱歉。"),
    }
    server = serve(lambda question, earlier, body: replies[question.split("第")[1][0]])
    questions = [make_question(number, explanation="因为说法A正确。") for number in (1, 2, 3)]
    result = run(splits(questions, TRAIN), asking(server, task="explanation"), context)
    outcomes = [row["outcome"] for row in result.tables["predictions"].to_dicts()]
    assert outcomes == ["refused", "truncated", "answered"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[{]", "is not JSON"),
        ('[{"id": 1, "description": "x", "QA_pairs": []}]', "QA_pairs"),
        ('[{"id": 1, "description": "x", "QA_pairs": [{"question": "y"}]}]', "answer"),
        (json.dumps([CASES[0], CASES[0]]), "two cases have the id '7'"),
    ],
)
def test_a_file_of_cases_that_is_none_is_told_in_one_line(tmp_path, content, said):
    path = tmp_path / "cases.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=said):
        load_cases(path)


def test_cases_that_are_missing_are_told_before_anything_is_asked(context, serve, tmp_path):
    server = serve(lambda question, earlier, body: Reply(content="x"))
    params = asking(server, task="clinical")
    assert "set evaluate.cases" in problems(params, context.dataset)[0]
    named = params.model_copy(update={"cases": tmp_path / "none.json"})
    assert "none.json: cannot be read" in problems(named, context.dataset)[0]


def test_a_template_of_another_task_is_refused(context, serve):
    server = serve(lambda question, earlier, body: Reply(content="x"))
    params = asking(server, prompt="clinical")
    assert "is for the task 'clinical', not for 'answer'" in problems(params, context.dataset)[0]


def test_the_published_cases_are_read(shared_data):
    cases = load_cases(shared_data / "cmb" / "CMB-Clin-qa.json")
    assert len(cases) == 74
    assert sum(len(case.turns) for case in cases) == 208


def test_a_changed_file_of_cases_makes_the_stage_stale(cases):
    before = EvaluateParams(cases=cases).semantic()
    cases.write_text("[]", encoding="utf-8")
    assert EvaluateParams(cases=cases).semantic() != before
