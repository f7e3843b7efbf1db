"""The expert's last word stands: an answer keeps its own time over restore, another folder, import and copy."""

import shutil
import time
from dataclasses import replace

import polars as pl
import pytest
from openpyxl import load_workbook

from build_dataset.pipeline.review import exchange, folder, sheets, stage as review
from build_dataset.pipeline.review.workbook import MAIN
from tests.services.label_studio_server import ADMIN, LI, ZHANG
from tests.services.reviewing import PREFILLED, QUESTIONS, answer, answer_all, pulled, question, tables, task_ids

HARD, EASY = answer(PREFILLED | {"difficulty": "极难"}), answer(PREFILLED | {"difficulty": "易"})


@pytest.fixture
def found():
    return tables(map(question, range(1, QUESTIONS + 1)))


def times(context):
    """Time of each expert's answer, by question."""
    rows = pulled(context).select("question_id", "reviewer", "updated_at").unique()
    assert rows.select("question_id", "reviewer").is_unique().all()
    return {tuple(key): moment for *key, moment in rows.iter_rows()}


def difficulty(context, params, found):
    settled = review.settle_questions({**found, "pulled": pulled(context)}, params)
    return [each.label for each in settled.reviews if (each.question_id[-3:], each.dimension) == ("001", "difficulty")]


def in_a_workbook(found, params, context, **cells):
    """The same expert answers the first question in a workbook, later."""
    path = context.build / "zhang.xlsx"
    in_order = params.model_copy(update={"priority": "order"})
    [first, *_] = exchange.review_tasks(found, in_order, context)
    sheets.write(path, [first.sent()], ZHANG.email, folder.owner_of(context))
    book = load_workbook(path)
    heads = {str(cell.value): cell.column for cell in book[MAIN][1]}
    for name, value in {"完成": "是", **cells}.items():
        book[MAIN].cell(2, next(place for head, place in heads.items() if name in head)).value = value
    book.save(path)
    sheets.import_sheets([path], params, context)


def test_the_later_answer_stands_after_the_project_was_deleted_and_restored(label_studio, params, context, found):
    pushed = exchange.push(found, params, context)
    answer_all(label_studio, pushed.project, ZHANG, dict.fromkeys(range(1, QUESTIONS + 1), HARD))
    answer_all(label_studio, pushed.project, LI, {})
    exchange.pull(params, context)
    in_a_workbook(found, params, context, 难度="易")
    assert difficulty(context, params, found) == ["中等", "易"]
    before = pulled(context)
    label_studio.as_expert(ZHANG).delete_project(pushed.project)
    exchange.push(found, params, context)
    exchange.pull(params, context)
    assert difficulty(context, params, found) == ["中等", "易"]
    moved = ("annotation_id",)
    assert pulled(context).drop(moved).sort(pl.all()).equals(before.drop(moved).sort(pl.all()))


def test_an_answer_that_is_changed_after_a_restore_has_the_time_of_the_change(label_studio, params, context, found):
    pushed = exchange.push(found, params, context)
    answer_all(label_studio, pushed.project, ZHANG, {})
    exchange.pull(params, context)
    label_studio.as_expert(ZHANG).delete_project(pushed.project)
    again = exchange.push(found, params, context)
    exchange.pull(params, context)
    before = times(context)
    http = label_studio.as_expert(ZHANG).http
    own = http.get(f"/api/tasks/{task_ids(label_studio, again.project)[1]}/").json()["annotations"]
    labels = [item for item in own[0]["result"] if item["from_name"] != "difficulty"]
    # As the screen does: what it does not show goes back as it came.
    label_studio.as_expert(ZHANG).change(own[0]["id"], [*labels, *(i for i in EASY if i["from_name"] == "difficulty")])
    exchange.pull(params, context)
    changed = {key for key, moment in times(context).items() if moment > before[key]}
    assert changed == {(question(1).question_id, ZHANG.email)}


def test_another_folder_that_takes_a_restored_project_sees_when_people_answered(label_studio, params, context, found):
    pushed = exchange.push(found, params, context)
    answer_all(label_studio, pushed.project, ZHANG, {})
    exchange.pull(params, context)
    before = times(context)
    label_studio.as_expert(ZHANG).delete_project(pushed.project)
    exchange.push(found, params, context)
    other = replace(context, build=context.build / "other")
    (other.build / "reviews").mkdir(parents=True)
    shutil.copy(context.build / "reviews" / "token", other.build / "reviews" / "token")
    exchange.pull(params, other)
    assert times(other) == before


def test_a_project_that_people_copied_by_export_and_import_keeps_the_times(label_studio, params, context, found):
    pushed = exchange.push(found, params, context)
    answer_all(label_studio, pushed.project, ZHANG, {})
    answer_all(label_studio, pushed.project, LI, {})
    exchange.pull(params, context)
    before = times(context)
    http = label_studio.as_expert(ADMIN).http
    exported = http.get(f"/api/projects/{pushed.project}/export", params={"exportType": "JSON"}).json()
    facts = http.get(f"/api/projects/{pushed.project}/").json()
    label_studio.as_expert(ADMIN).delete_project(pushed.project)
    kept = ("title", "description", "label_config", "maximum_annotations")
    copy = http.post("/api/projects/", json={name: facts[name] for name in kept}).json()["id"]
    fields = ("result", "completed_by", "lead_time", "was_cancelled")
    tasks = [
        {"data": each["data"], "annotations": [{name: own[name] for name in fields} for own in each["annotations"]]}
        for each in exported
    ]
    http.post(f"/api/projects/{copy}/import", json=tasks).raise_for_status()
    exchange.pull(params, context)
    assert times(context) == before


def test_a_workbook_that_is_saved_once_more_makes_no_old_answer_later(label_studio, params, context, found):
    pushed = exchange.push(found, params, context)
    in_a_workbook(found, params, context, 难度="极难")
    path = context.build / "zhang.xlsx"
    time.sleep(1.1)  # a workbook says to the second when it was saved
    answer_all(label_studio, pushed.project, ZHANG, {1: EASY})
    exchange.pull(params, context)
    assert difficulty(context, params, found) == ["易"]
    book = load_workbook(path)
    book.save(path)
    sheets.import_sheets([path], params, context)
    assert difficulty(context, params, found) == ["易"]
