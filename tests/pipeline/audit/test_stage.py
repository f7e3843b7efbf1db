import json

import polars as pl
import pytest

from build_dataset.pipeline.audit import stage as audit_stage
from build_dataset.pipeline.audit.params import AuditParams
from build_dataset.pipeline.audit.stage import _quoted, run
from build_dataset.pipeline.catalogue import stage
from build_dataset.pipeline.stage import Failure, Result
from build_dataset.schemas.annotations import Correction, CorrectionStatus
from build_dataset.schemas.questions import Option, Question, QuestionType, ReviewItem
from tests.making import make_question

LABELS = "ABCD"


def question(number: int, key: str = "A", **more) -> Question:
    texts = more.pop("texts", [f"第{number}题的选项{label}" for label in LABELS])
    return Question(
        question_id=f"q{number:03}", document="d", section=None, number=number, question_type=QuestionType.A1,
        stem=f"第{number}题问的是什么", content_hash=f"h{number}", answer=[key],
        options=[Option(label=label, text=text) for label, text in zip(LABELS, texts, strict=True)], **more,
    )  # fmt: skip


def correction(name: str, field: str, after: str) -> Correction:
    return Correction(
        question_id=name, content_hash="h", field=field, before=None, after=after, by="陈", origin="verification",
        note=None, annotation_id=1, updated_at="2026-01-01", status=CorrectionStatus.ACCEPTED,
    )  # fmt: skip


def audited(context, questions, *, copies=(), corrections=(), rows=(), tmp_path=None) -> Result:
    conflict = ReviewItem(
        item_id="c", question_ids=[each.question_id for each in copies], stage="dedup", reason="conflicting_answers",
        detail="", item="[" + ",".join(each.model_dump_json() for each in copies) + "]",
    )  # fmt: skip
    tables = {
        "questions": Question.to_frame(questions),
        "review": ReviewItem.to_frame([conflict] if copies else []),
        "corrections": Correction.to_frame(corrections),
        "clean/questions": Question.to_frame([*questions, *copies]),
    }
    path = None
    if rows:
        path = tmp_path / "answers.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return run(tables, AuditParams(answers=path), context)


def row(result: Result, name: str) -> dict:
    return result.tables["items"].filter(pl.col("question_id") == name).to_dicts()[0]


def test_an_explanation_that_argues_for_another_letter_makes_a_key_suspicious(context):
    sound = [question(number, explanation="见教材（A对BCD错）。") for number in range(50)]
    result = audited(context, [*sound, question(99, explanation="见教材（C对ABD错）。")])
    first = result.tables["items"].to_dicts()[0]
    assert (first["question_id"], first["suggested"]) == ("q099", ["C"])
    assert first["suspicion"] > 0.5 > row(result, "q001")["suspicion"]
    assert first["evidence"][0]["kind"] == "explanation"


def dying(context, poison: frozenset[str]):
    """The context's workers die of some questions."""

    def call(function, items, *, timeout=None):
        for batch in items:
            dies = any(each.question_id in poison for each in batch)
            yield batch, Failure("crashed", "") if dies else function(batch)

    context.map = call
    return context


def test_an_explanation_that_only_names_an_option_is_weak_evidence(context):
    result = audited(context, [question(1, explanation="第1题的选项B"), question(2, explanation="（B对ACD错）")])
    assert row(result, "q001")["evidence"][0]["source"] == "quoted"
    assert row(result, "q001")["suspicion"] < row(result, "q002")["suspicion"]


def test_a_letter_inside_a_term_of_an_explanation_is_no_evidence(context):
    texts = ["胃炎", "肝炎", "肾炎", "肺炎"]
    result = audited(context, [question(1, explanation="细胞表达B系抗原。", texts=texts)])
    assert not row(result, "q001")["evidence"]


@pytest.mark.parametrize("poison", [frozenset({"q007"}), frozenset()])
def test_no_explanation_is_lost_in_silence_when_a_worker_dies(context, monkeypatch, poison):
    monkeypatch.setattr(audit_stage, "_BATCH", 5)
    questions = [question(number, explanation="见教材（A对BCD错）。") for number in range(12)]
    result = audited(dying(context, poison), questions)
    read = {name for name in (each.question_id for each in questions) if row(result, name)["evidence"]}
    assert read == {each.question_id for each in questions} - poison
    assert result.facts["explanations_not_read"] == sorted(poison)
    assert any("q007" in note for note in result.notes) == bool(poison)


def test_what_is_suspicious_waits_for_a_person_and_stays(context):
    result = audited(context, [question(1), question(2, explanation="（C对ABD错）")])
    assert [(item.item_id, item.reason) for item in result.review] == [("q002", "suspicious_key")]
    assert (result.counts.n_input, result.counts.kept, result.counts.waiting) == (2, 1, 1)
    assert json.loads(result.review[0].item or "")["question_id"] == "q002"


@pytest.mark.parametrize(("field", "after"), [("verdict", "keep"), ("answer", "A")])
def test_what_a_person_verified_is_not_asked_again(context, field, after):
    result = audited(context, [question(2, explanation="（C对ABD错）")], corrections=[correction("q002", field, after)])
    assert result.review == []
    assert "expert" in [each["kind"] for each in row(result, "q002")["evidence"]]


def test_copies_with_other_keys_are_told_in_the_letters_of_each(context):
    texts = ["甲", "乙", "丙", "丁"]
    copies = [question(1, "A", texts=texts), question(2, "A", texts=texts[::-1])]
    result = audited(context, [question(3)], copies=copies)
    assert row(result, "q001")["evidence"][0]["answer"] == ["D"]
    assert row(result, "q001")["suspicion"] > row(result, "q003")["suspicion"]
    assert result.counts.n_input == 3


def test_options_that_say_the_same_and_people_below_chance_are_evidence(context):
    result = audited(
        context,
        [
            question(1, texts=["胃 炎", "胃炎。", "肠炎", "肝炎"]),
            question(2, human_accuracy=0.1, respondents=400),
            question(3),
        ],
    )
    assert [each["kind"] for each in row(result, "q001")["evidence"]] == ["options"]
    assert [each["kind"] for each in row(result, "q002")["evidence"]] == ["people"]
    assert min(row(result, name)["suspicion"] for name in ("q001", "q002")) > row(result, "q003")["suspicion"]


def answers(count: int, models: int, wrong: int) -> list[dict]:
    """Models that are right but for every fifth question; all of them say C to the last ``wrong`` questions."""
    return [
        {
            "id": f"q{number:03}",
            "model": f"m{model}",
            "answer": "C" if number >= count - wrong else "B" if (number + model) % 5 == 0 else "A",
        }
        for number in range(count)
        for model in range(models)
    ]


def test_models_that_are_right_elsewhere_and_agree_on_another_option_are_believed(context, tmp_path):
    rows = answers(60, models=4, wrong=1)
    result = audited(context, [question(n) for n in range(60)], rows=rows, tmp_path=tmp_path)
    first = result.tables["items"].to_dicts()[0]
    assert (first["question_id"], first["suggested"], first["right"]) == ("q059", ["C"], 0)
    assert first["suspicion"] > 5 * row(result, "q001")["suspicion"]
    assert first["evidence"][0]["source"] == "m0, m1, m2, m3"


def test_the_page_escapes_what_papers_say(context):
    texts = ["<script>x</script>", "乙", "丙", "丁"]
    result = audited(context, [question(1, texts=texts, explanation="（C对ABD错）")])
    page = result.files["index.html"].decode()
    assert "<script>x" not in page
    assert "&lt;script&gt;x" in page


def test_the_same_input_gives_the_same_bytes(context, tmp_path):
    rows = answers(30, models=8, wrong=1)
    made = [
        audited(context, [question(n) for n in range(30)], rows=each, tmp_path=tmp_path) for each in (rows, rows[::-1])
    ]
    assert made[0].tables["items"].equals(made[1].tables["items"])
    assert made[0].files == made[1].files


def test_nothing_to_go_by_is_no_error(context):
    result = audited(context, [])
    assert result.tables["items"].is_empty()
    assert stage("audit").writes["items"].polars_schema() == result.tables["items"].schema


@pytest.mark.parametrize(
    ("explanation", "one", "several"),
    [
        ("心房扩大", "A", "A"),
        ("本题考查心室", "B", ""),
        ("心室。瓣膜", "B", "B"),
        ("B", "", ""),
        ("C。因为瓣膜", "", ""),
        ("本题考查心脏", "", ""),
    ],
)
def test_an_explanation_quotes_an_option_where_only_words_of_it_are_said(explanation, one, several) -> None:
    options = dict(zip("ABCD", ["心房扩大", "心室", "瓣膜", "心包"], strict=True))
    found = [_quoted(explanation, "题", options, wanted) for wanted in (False, True)]
    assert ["".join(each.answer or ()) if each else "" for each in found] == [one, several]


@pytest.mark.parametrize(("key", "kind", "letters"), [("A", "A1", "A"), ("A", "X", "AC"), ("AC", "A1", "AC")])
def test_explanations_are_read_for_several_letters_where_the_key_or_the_type_has_them(key, kind, letters) -> None:
    row = make_question("问", "甲药 乙药 丙药 丁药", key, question_id="q", question_type=kind, explanation="答案：A\nC")
    assert audit_stage.read_explanations([row])["q"].answer == frozenset(letters)


def test_options_that_differ_in_the_case_of_symbols_say_different_things(context):
    texts = ["GG", "Gg", "gg", "Ggg"]
    found = row(audited(context, [question(1, texts=texts), question(2, texts=["CO", "Co", "5mPa", "5MPa"])]), "q001")
    assert found["suspicion"] < 0.1
    assert found["evidence"] == []
    same = row(audited(context, [question(1, texts=["5 mL", "5ml", "10ml", "15ml"])]), "q001")
    assert [each["kind"] for each in same["evidence"]] == ["options"]
