"""The page of every model's answers, and the section on evaluation."""

from build_dataset.schemas.evaluation import Judgement, OpenQuestion, Outcome, Prediction, Score, Task

from .conftest import manifest, manifests, read, released, splits


def prediction(run, question_id, letters, correct, raw=None, **more):
    plain = {
        "run": run,
        "question_id": question_id,
        "raw_output": raw or f"分析。所以答案是{letters}。",
        "extracted": list(letters),
        "rule": "stated",
        "outcome": Outcome.ANSWERED,
        "correct": correct,
    }
    return Prediction(**(plain | more))


def score(run="m", value=0.5, metric="accuracy", **more):
    plain = {"dimension": "overall", "label": "全部", "label_en": "all", "questions": 200, "low": 0.4, "high": 0.6}
    return Score(run=run, metric=metric, value=value, **(plain | more))


def tables(predictions, *ids, scores=None):
    rows = [released(one, f"题干{one}", corrected=[], sources=[]) for one in ids]
    return {
        "manifests": manifests(manifest("evaluate", 3, params={"split": "test"})),
        "evaluate/scores": Score.to_frame(scores or [score()]),
        "evaluate/predictions": Prediction.to_frame(predictions),
        **{f"export/{name}": frame for name, frame in splits(test=rows).items()},
    }


PREDICTIONS = [
    prediction("m", "q1", "A", correct=True),
    prediction("n", "q1", "A", correct=True),
    prediction("m", "q2", "B", correct=False),
    prediction("n", "q2", "C", correct=False),
    prediction("m", "q3", "A", correct=True),
    prediction("n", "q3", "C", correct=False, raw="<script>alert(1)</script>答案是C。", span=[25, 29]),
    prediction("random", "q1", "C", correct=False, raw=None, rule="chosen"),
    prediction("m", "q1", "E", correct=False, repeat=1),
]


def test_questions_on_which_models_disagree_come_first_whatever_guesses_say(report):
    page = report(tables(PREDICTIONS, "q1", "q2", "q3"), figures=False).files["answers.html"].decode()
    assert page.index("题干q3") < page.index("题干q2") < page.index("题干q1")
    assert "Models disagree 有分歧 (1)" in page
    assert "None right 全错 (1)" in page
    assert "3 of 3 questions" in page


def test_the_words_an_answer_was_read_from_are_marked_and_texts_are_inert(report):
    content = report(tables(PREDICTIONS, "q1", "q2", "q3"), figures=False).files["answers.html"]
    page = read(content)
    assert "答案是C" in "".join(page.marked)
    assert "alert(1)" in page.text
    assert content.count(b"<script>") == 1, "the page's own"
    assert "题干q1" in page.text


def test_the_number_of_questions_is_capped_and_said(report):
    result = report(tables(PREDICTIONS, "q1", "q2", "q3"), figures=False, answers=1)
    page = result.files["answers.html"].decode()
    assert "1 of 3 questions" in page
    assert "题干q3" in page
    assert "题干q1" not in page
    assert "answers.html" in result.files["index.html"].decode()


def test_the_page_stays_below_two_megabytes_however_many_models_answer_at_length(report):
    names = [f"q{number}" for number in range(200)]
    output = "分析" * 2000
    given = [
        prediction(f"model-{run}", name, "A", correct=True, raw=output, rule="none", extracted=None)
        for name in names
        for run in range(16)
    ]
    page = report(tables(given, *names), figures=False).files["answers.html"]
    assert 500_000 < len(page) < 2_000_000
    assert "187 of 200 questions with options" in page.decode(), "3,000 answers of sixteen models"


def test_there_is_no_page_without_answers_or_where_none_is_wanted(report):
    assert "answers.html" not in report(tables([], "q1"), figures=False).files
    assert "answers.html" not in report(tables(PREDICTIONS, "q1"), figures=False, answers=0).files
    without = tables(PREDICTIONS, "q1")
    del without["evaluate/predictions"]
    assert "answers.html" not in report(without, figures=False).files


def test_the_section_shows_the_papers_tables_and_warns_of_unreadable_answers(report):
    scores = [
        score(),
        score("n", 0.7),
        score(metric="no_answer_rate", value=0.2),
        score(dimension="disease_group", label="肿瘤", questions=5),
    ]
    result = report(tables(PREDICTIONS, "q1", scores=scores), figures=False)
    shown = [found["data-table"] for _, found in result.page.tags if "data-table" in found]
    assert shown == ["cmexam_table3", "cmexam_table4"]
    assert "without a readable answer, which count as not right: m 20 %." in " ".join(result.facts["warnings"])


def test_plots_stand_in_the_page_without_a_request_or_a_name_in_comments(report):
    hostile = "--><script>alert(1)</script>"
    scores = [
        item.model_copy(update={"run": hostile})
        for item in [score(), *(score(dimension="length", label=label) for label in ("0–9", "10–19"))]
    ]
    result = report(tables([], "q1", scores=scores))
    page = result.files["index.html"].decode()
    assert "<svg" in page
    assert "<script>alert" not in page
    assert "figures/accuracy_by_length.png" in result.files


CASE = "男，49岁，" + "腹痛" * 300


def open_question(turn: int, **more) -> OpenQuestion:
    told = {
        "task": Task.CLINICAL,
        "question_id": f"clin-0-{turn}",
        "case": CASE,
        "conversation": "问：诊断？\n答：疝。" if turn > 1 else None,
        "question": f"第{turn}问？",
        "reference": f"解答{turn}",
    }
    return OpenQuestion(**told | more)


def judgement(run: str, judge: str, aspect: str, value: int, item: str = "clin-0-1") -> Judgement:
    return Judgement(run=run, task=Task.CLINICAL, question_id=item, judge=judge, aspect=aspect, score=value)


def said(run: str, item: str, text: str, **more) -> Prediction:
    return prediction(run, item, "", None, text, **{"task": Task.CLINICAL, "extracted": None, "rule": None} | more)


def free_text(predictions, judgements=()):
    return tables(predictions, "q1") | {
        "evaluate/open_questions": OpenQuestion.to_frame([open_question(1), open_question(2)]),
        "evaluate/judgements": Judgement.to_frame(judgements),
    }


def test_answers_in_free_text_stand_below_their_case_and_reference_with_what_judges_gave(report):
    given = [
        judgement("m", "llm:j", "fluency", 5),
        judgement("m", "llm:j", "relevance", 4),
        judgement("m", "expert:a", "fluency", 3),
        judgement("m", "expert:b", "fluency", 4),
        judgement("n", "llm:j", "fluency", 1, "clin-0-2"),
    ]
    asked = [said("m", "clin-0-1", "<think>嗯</think>腹股沟疝"), said("n", "clin-0-2", "手术")]
    page = report(free_text(asked, given), figures=False).files["answers.html"].decode()
    first, second = page.index("第1问？"), page.index("第2问？")
    assert page.index("解答1") < page.index("腹股沟疝") < second
    assert first < second < page.index("手术")
    assert "嗯" not in page
    for shown in ("<b>4.50</b>", "<b>3.50</b>", "<b>1.00</b>", "专家 experts", "流畅性 Fluency 5"):
        assert shown in page
    assert "2 of 2 questions answered in free text" in page
    assert "Clinical answers 病例问答 (2)" in page


def test_a_long_case_can_be_unfolded_and_is_not_told_again_for_its_next_question(report):
    asked = [said("m", "clin-0-1", "疝"), said("m", "clin-0-2", "手术")]
    page = report(free_text(asked), figures=False).files["answers.html"].decode()
    assert CASE in page
    assert page.count("The case as above") == 1
    assert "Asked before" in page


def test_free_text_that_was_refused_says_so_and_questions_that_nobody_was_asked_are_absent(report):
    asked = [said("m", "clin-0-1", "抱歉，<b>不行", outcome=Outcome.REFUSED)]
    page = report(free_text(asked), figures=False).files["answers.html"].decode()
    assert "refused" in page
    assert "&lt;b&gt;不行" in page
    assert "第2问" not in page
