"""Which answers experts get, and whose scores theirs become."""

import json
from pathlib import Path

import pytest

from build_dataset.pipeline.evaluate.judging.project import answers_given, expert_judgements, open_questions, sample
from build_dataset.pipeline.evaluate.params import EvaluateParams, OpenAiModel
from build_dataset.pipeline.evaluate.stage import run
from build_dataset.schemas.evaluation import AnswerScore, OpenQuestion, Outcome, Prediction, Task
from tests.annotation.scripted_server import Reply
from tests.pipeline.evaluate.conftest import make_question

CASES = [
    {
        "id": number,
        "description": f"病人{number}，男。",
        "QA_pairs": [
            {"question": "诊断？", "answer": f"肺炎{number}。"},
            {"question": "治疗？", "answer": f"青霉素{number}。"},
        ],
    }
    for number in range(1, 6)
]
ITEMS = [f"clin-{number}-{turn}" for number in range(1, 6) for turn in (1, 2)]


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(CASES), encoding="utf-8")
    return path


@pytest.fixture
def asked(cases: Path) -> list[OpenQuestion]:
    return open_questions({Task.CLINICAL}, [], cases)


def prediction(run: str, item: str, text: str | None = None, **more) -> Prediction:
    given = {
        "task": Task.CLINICAL,
        "raw_output": text or f"{run}答{item}",
        "extracted": None,
        "rule": None,
        "outcome": Outcome.ANSWERED,
        "correct": None,
    }
    return Prediction(run=run, question_id=item, **given | more)


def score(answer_id: str, expert: str = "zhang@example.org", value: int = 4) -> AnswerScore:
    return AnswerScore(
        answer_id=answer_id,
        aspect="fluency",
        score=value,
        expert=expert,
        note=None,
        annotation_id=1,
        updated_at="2026-11-22T03:00:00Z",
    )


def test_an_expert_sees_the_case_what_was_asked_before_and_the_reference(asked):
    [given] = answers_given([prediction("m", "clin-2-2", "<think>嗯</think>用青霉素。")], asked)
    shown = given.shown
    assert (shown.case, shown.question, shown.reference) == ("病人2，男。", "治疗？", "青霉素2。")
    assert shown.conversation == "问：诊断？\n答：肺炎2。"
    assert shown.answer == "用青霉素。"


def test_of_an_explanation_the_question_its_key_and_the_books_explanation_are_seen():
    row = make_question(1, explanation="因为A。", shared_stem="某男。")
    answer = prediction("m", row.question_id, task=Task.EXPLANATION)
    unexplained = make_question(2, explanation=None)
    [question] = open_questions({Task.EXPLANATION}, [row, unexplained], None)
    [given] = answers_given([answer], [question])
    assert given.shown.case.startswith("某男。\n第1题：下列哪项正确\nA. ")
    assert given.shown.reference == "答案：A\n因为A。"
    assert given.shown.conversation == ""


@pytest.mark.parametrize("outcome", [Outcome.REFUSED, Outcome.NO_ANSWER, Outcome.FAILED])
def test_what_is_no_answer_is_not_scored(asked, outcome):
    assert answers_given([prediction("m", ITEMS[0], outcome=outcome)], asked) == []


def test_chosen_answers_are_not_scored_and_need_no_cases():
    questions = open_questions({Task.ANSWER}, [make_question(1, explanation="因为A。")], None)
    assert answers_given([prediction("m", "q", task=Task.ANSWER)], questions) == []


def test_all_runs_are_sampled_on_the_same_questions_and_a_larger_sample_holds_the_smaller(asked):
    given = answers_given([prediction(who, item) for who in ("a", "b") for item in ITEMS], asked)
    few, more = sample(given, 3, 7), sample(given, 6, 7)
    names = {who: {each.sent.question_id for each in few if each.sent.run == who} for who in ("a", "b")}
    assert names["a"] == names["b"]
    assert len(names["a"]) == 3
    assert {each.sent for each in few} < {each.sent for each in more}
    assert len(sample(given, 99, 7)) == 20
    assert sample(given, 3, 8) != few


def test_repetitions_come_after_first_answers(asked):
    twice = [prediction("m", item, f"{item}{turn}", repeat=turn) for turn in (1, 0) for item in ITEMS]
    given = answers_given(twice, asked)
    assert {each.sent.repeat for each in sample(given, 10, 0)} == {0}


def test_a_score_is_of_every_run_that_gave_the_answer(asked):
    same = [prediction("a", ITEMS[0], "肺炎"), prediction("b", ITEMS[0], "肺炎"), prediction("c", ITEMS[0])]
    given = answers_given(same, asked)
    found, stray = expert_judgements([score(given[0].shown.id)], [each.sent for each in given])
    assert [(row.run, row.score, row.judge) for row in found] == [
        ("a", 4, "expert:zhang@example.org"),
        ("b", 4, "expert:zhang@example.org"),
    ]
    assert stray == 0


def test_only_invited_experts_count_where_any_are_named(asked):
    given = answers_given([prediction("a", ITEMS[0])], asked)
    scores = [score(given[0].shown.id), score(given[0].shown.id, "li@example.org", 2)]
    found, _ = expert_judgements(scores, [given[0].sent], ["li@example.org"])
    assert [row.score for row in found] == [2]


def test_a_score_of_an_answer_that_reads_otherwise_now_counts_for_nobody(cases, context, splits, serve):
    writer = serve(lambda question, earlier, body: Reply(content="考虑肺炎。"))
    model = OpenAiModel(model="m", base_url=writer.url, name="m", task=Task.CLINICAL)
    params = EvaluateParams(models=[model], cases=cases)
    first = run(splits([]), params, context)
    given = answers_given(
        Prediction.from_frame(first.tables["predictions"]), OpenQuestion.from_frame(first.tables["open_questions"])
    )
    scores = AnswerScore.to_frame([score(given[0].shown.id), score("ans-0000000000000000")])
    result = run({**splits([]), "answer_scores": scores}, params, context)
    [row] = result.tables["judgements"].to_dicts()
    assert (row["question_id"], row["judge"], row["score"]) == ("clin-1-1", "expert:zhang@example.org", 4)
    assert any(note.startswith("1 expert score of an answer that no run gives") for note in result.notes)
