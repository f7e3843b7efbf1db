"""Experts see where a ruling differs from their answers, and why."""

from xml.etree import ElementTree as ET

from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review.exchange import HEADS, instruction, rulings_by_expert, shared_rulings
from build_dataset.pipeline.review.stage import settle_questions
from build_dataset.schemas.annotations import Correction, CorrectionStatus, ExpertReview
from tests.annotation import records
from tests.pipeline.review.test_stage import FIRST, annotations, questions, said

RULED = {"competency": "疾病治疗"}


def ruling(number: int, at: int, note: str | None = None, flags=(), **labels: str) -> list[ExpertReview]:
    rows = said("judge", number, at, **labels)
    return [row.model_copy(update={"project": "adjudication", "note": note, "flags": list(flags)}) for row in rows]


def found(*reviews: list[ExpertReview], corrections=(), count: int = 2):
    tables = {"questions": questions(count), "annotations": annotations(count)}
    tables |= {"pulled": ExpertReview.to_frame([row for rows in reviews for row in rows])}
    tables |= {"corrections": Correction.to_frame(corrections)}
    return rulings_by_expert(settle_questions(tables, ReviewParams()), {"q0": "题干一", "q1": "题干二"})


def test_an_expert_sees_the_labels_that_were_ruled_otherwise_with_the_note_and_nobody_else_does():
    rows = found(said("a", 0), said("b", 0, **RULED), ruling(0, 5, "题问首选处理", **RULED))
    assert {*rows} == {"a"}
    [row] = rows["a"]
    assert (row.question_id, row.stem, row.note) == ("q0", "题干一", "题问首选处理")
    assert (row.about, row.said, row.ruled) == ("④ 能力维度 Area of competency", FIRST["competency"], "疾病治疗")


def test_the_latest_ruling_stands_first_and_questions_without_one_are_not_told():
    rows = found(
        said("a", 0), said("b", 0, **RULED), ruling(0, 5, **RULED), said("a", 1), ruling(1, 9, difficulty="极难")
    )
    assert [row.question_id for row in rows["a"]] == ["q1", "q0"]
    assert found(said("a", 0), said("b", 0, **RULED)) == {}


def test_a_flag_that_was_not_upheld_is_told_and_one_that_was_is_not():
    flagged = [row.model_copy(update={"flags": ["wrong_key"]}) for row in said("a", 0)]
    [row] = found(flagged, said("b", 0), ruling(0, 5))["a"]
    assert (row.about, row.said, row.ruled) == ("答案有误 The answer key is wrong", "是 yes", "否 no")
    assert found(flagged, said("b", 0), ruling(0, 5, flags=["wrong_key"])) == {}


def test_a_correction_that_was_declined_is_told_with_what_was_taken_instead():
    own = records.correction("a", "C", question_id="q0", status=CorrectionStatus.DECLINED)
    other = records.correction("judge", "D", question_id="q0", status=CorrectionStatus.ACCEPTED, origin="adjudication")
    [row] = found(said("a", 0), ruling(0, 5), corrections=[own, other])["a"]
    assert (row.about, row.said, row.ruled) == ("改正 correction: 答案", "A → C", "D")
    [row] = found(said("a", 0), ruling(0, 5), corrections=[own])["a"]
    assert row.ruled == "未采纳 not taken"


def test_in_a_shared_project_only_questions_are_told_that_nobody_answers_any_more():
    rows = found(said("a", 0), said("b", 0, **RULED), ruling(0, 5, **RULED), said("a", 1), ruling(1, 9, **RULED))
    assert [row.question_id for row in shared_rulings(rows, {"q0"})] == ["q0"]
    assert instruction([]) == ""


def test_the_part_of_the_page_is_text_whatever_a_note_or_question_says():
    [row] = found(said("a", 0), ruling(0, 5, "<script>alert(1)</script> & “好”", **RULED))["a"]
    page = ET.fromstring(instruction([row]))
    cells = ["".join(cell.itertext()) for cell in page.iter("td")]
    assert [cell.text for cell in page.iter("th")] == list(HEADS)
    assert cells == list(row.cells())
    assert not list(page.iter("script"))


def test_a_question_with_several_differences_is_named_once_with_its_parts_in_their_order():
    other = {"difficulty": "极难", "disease_group": "肿瘤"}
    rows = found(said("a", 0, **other), ruling(0, 5, "说明"))["a"]
    assert [row.about[0] for row in rows] == ["①", "⑤"]
    cells = [cell.text for cell in ET.fromstring(instruction(rows)).iter("td")]
    assert (cells.count("q0"), cells.count("题干一"), cells.count("说明")) == (1, 1, 1)
