"""A verifier's verdict in Label Studio that holds for all of its kind, and what is remembered of verdicts."""

import json
from dataclasses import replace

import polars as pl
import pytest

from build_dataset.annotation.label_studio import projects
from build_dataset.annotation.label_studio.editable import whole_text
from build_dataset.annotation.label_studio.read import read_task
from build_dataset.annotation.label_studio.tasks import choice
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import decisions, folder, sheets
from build_dataset.pipeline.review.decisions import DecidedRow
from build_dataset.pipeline.review.waiting import waiting_rows
from build_dataset.pipeline.runtime.publish import read_table
from build_dataset.pipeline.runtime.sources import CORRECTIONS, SETTLED
from build_dataset.pipeline.stage import Counts, Result
from build_dataset.schemas.questions import ReviewItem
from tests.making import make_question
from tests.pipeline.conftest import publish

KEEP, DROP = "保留（如上所改）", "剔除"


def waits(number: int, document: str, reason: str) -> ReviewItem:
    question = make_question(f"第{number}题的题干是", number=number, document=document)
    item = question.model_dump_json(exclude_none=True)
    return ReviewItem(item_id=question.question_id, stage="parse", reason=reason, detail="'题干'", item=item)


@pytest.fixture
def room(context):
    items = [
        *(waits(number, "a.pdf", "foot_inside") for number in (1, 2, 3)),
        waits(4, "a.pdf", "no_answer"),
        waits(5, "b.pdf", "foot_inside"),
    ]
    publish(context.build, "parse", Result({}, Counts(5, 0, waiting=5), review=items))
    return context


def answer(context, number: int, verdict: str, *, for_all: bool = False, key: str = "") -> None:
    """Pull a verifier's answer."""
    question = make_question(f"第{number}题的题干是", number=number)
    base = whole_text(question).dumps()
    texts = {"base": base, **({"corrected_key": key} if key else {})}
    result = [choice("verdict", [verdict])] + [
        {"from_name": name, "to_name": "question", "type": "textarea", "value": {"text": [text]}}
        for name, text in texts.items()
    ]
    result += [choice("scope", ["同类全部"])] if for_all else []
    sent = {"id": number, "completed_by": 1, "updated_at": "2026-01-02T00:00:00Z", "result": result}
    rows = read_task({"question_id": question.question_id}, [sent], {1: "li"}, "verification")
    before = folder.read_pulled(context.build, projects.VERIFICATION)
    folder.write_pulled(context.build, projects.VERIFICATION, replace(sheets.with_rows(before, rows), project=1))
    folder.combine(context.build, ReviewParams())


def verdicts(context) -> dict[str, str]:
    found = read_table(context.build / CORRECTIONS).filter(pl.col("field") == "verdict", pl.col("status") == "accepted")
    return dict(found.select("question_id", "after").sort("question_id").iter_rows())


def test_one_verdict_for_all_decides_those_of_the_file_that_wait_for_the_same_reason(room):
    answer(room, 1, KEEP, for_all=True)
    assert decisions.take_up(ReviewParams(), room) == 2
    assert verdicts(room) == {"d-1-001": "keep", "d-1-002": "keep", "d-1-003": "keep"}
    notes = read_table(room.build / CORRECTIONS).filter(pl.col("question_id") == "d-1-002")["note"].to_list()
    assert notes == ["同 as d-1-001"]
    assert decisions.take_up(ReviewParams(), room) == 0  # once


def test_what_somebody_decided_otherwise_stays_so(room):
    answer(room, 1, KEEP, for_all=True)
    answer(room, 2, DROP)
    decisions.take_up(ReviewParams(), room)
    assert verdicts(room) == {"d-1-001": "keep", "d-1-002": "drop", "d-1-003": "keep"}


@pytest.mark.parametrize("more", [{"key": "B"}, {}])
def test_a_correction_and_a_plain_verdict_hold_for_their_question_alone(room, more):
    answer(room, 1, KEEP, for_all=bool(more), **more)
    assert decisions.take_up(ReviewParams(), room) == 0
    assert [*verdicts(room)] == ["d-1-001"]


def test_verdicts_are_counted_by_reason(room):
    answer(room, 1, DROP, for_all=True)
    answer(room, 4, KEEP, key="B")
    decisions.take_up(ReviewParams(), room)
    rows = {each["reason"]: each for each in folder.count_by_reason(read_table(room.build / SETTLED))}
    assert (rows["foot_inside"]["settled"], rows["foot_inside"]["rejected"]) == (3, 3)
    assert (rows["no_answer"]["settled"], rows["no_answer"]["corrected"]) == (1, 1)


def test_a_question_that_has_changed_since_is_neither_counted_nor_an_example(room):
    changed = waits(1, "a.pdf", "foot_inside")
    text = {**json.loads(changed.item or ""), "content_hash": "other", "stem": "另一个题干"}
    items = [changed.model_copy(update={"item": json.dumps(text)}), waits(2, "a.pdf", "foot_inside")]
    ReviewItem.to_frame(items).write_parquet(room.build / "parse" / "review.parquet")
    answer(room, 1, KEEP, for_all=True)
    assert decisions.take_up(ReviewParams(), room) == 0
    assert not (room.build / SETTLED).exists()


@pytest.mark.parametrize(
    ("workbook", "counted"), [("2026-01-03T00:00:00+00:00", "keep"), ("2026-01-01T00:00:00+00:00", "drop")]
)
def test_the_later_of_a_verdict_and_a_decision_in_the_workbook_is_counted(room, workbook, counted):
    [own] = [each for each in waiting_rows(room.build)[0] if each.question.question_id == "d-1-001"]
    answer(room, 1, DROP)
    folder.remember_settled(room.build, DecidedRow.of(own, "keep").settled("wang", workbook))
    decisions.take_up(ReviewParams(), room)
    rows = read_table(room.build / SETTLED)
    assert rows["decision"].to_list() == [counted]
