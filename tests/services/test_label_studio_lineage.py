"""A source is put right while a review is under way: no finished review is thrown away on a real server."""

from dataclasses import replace

import polars as pl
import pytest

from build_dataset.annotation.adjudication import State
from build_dataset.annotation.label_studio import push
from build_dataset.annotation.label_studio.tasks import QUESTION_ID
from build_dataset.pipeline.review import exchange, stage as review
from build_dataset.pipeline.review.lineage import trace
from build_dataset.schemas.annotations import Correction
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import content_hash
from tests.services.label_studio_server import ADMIN, LI, WANG, ZHANG
from tests.services.reviewing import QUESTIONS, answer_all, pulled, question, tables

STEM = "第{}题，患者男性，65岁，反复咳嗽，下列哪一项诊断最可能？"


@pytest.fixture
def params(params):
    return params.model_copy(update={"priority": "order"})


def made(number, change=lambda stem: stem, new_id=False):
    stem = change(STEM.format(number))
    found = question(number, stem)
    hashed = content_hash(stem, [option.text for option in found.options])
    name = f"ffffffff-1-{number:03}" if new_id else found.question_id
    return found.model_copy(update={"content_hash": hashed, "question_id": name})


def with_pulled(found, context):
    folder = context.build / "reviews"
    more = {name: pl.read_parquet(folder / f"{name}.parquet") for name in ("pulled", "asked")}
    return {**found, **more, "corrections": Correction.to_frame([])}


def states(found, params):
    return [each.state for each in review.settle_questions(found, params).statuses]


@pytest.mark.parametrize("new_id", [False, True], ids=["the same ids", "a new file, new ids"])
def test_a_source_that_is_put_right_asks_only_what_asks_something_else(label_studio, params, context, new_id):
    before = tables(made(number) for number in range(1, QUESTIONS + 1))
    pushed = exchange.push(before, params, context)
    answer_all(label_studio, pushed.project, ZHANG, {})
    answer_all(label_studio, pushed.project, LI, {})
    exchange.pull(params, context)
    changes = {
        1: lambda stem: stem.replace("，", ", ").replace("？", ""),  # typography
        2: lambda stem: stem.replace("反复咳嗽", "长期反复咳嗽"),  # words
        3: lambda stem: stem.replace("65", "5"),  # another number
    }
    after = [made(n, changes.get(n, lambda stem: stem), new_id) for n in range(1, QUESTIONS + 1)]
    found = with_pulled(tables(after), context)
    expected = [State.DONE, State.CHANGED, State.UNREVIEWED, *[State.DONE] * (QUESTIONS - 3)]
    assert states(found, params) == expected
    told = {each.kind for each in trace(found).changes}
    assert told == {"typography", "words", "meaning"} | ({"moved"} if new_id else set())

    again = exchange.push(found, params, context)
    http = label_studio.as_expert(ZHANG)
    asked = http.next_task(again.project)
    assert asked["data"][QUESTION_ID] == after[2].question_id
    assert "65" not in asked["data"]["question"]
    http.submit(asked["id"], asked["predictions"][0]["result"])
    assert http.next_task(again.project) is None, "nothing else is asked again"
    exchange.pull(params, context)
    expected[2] = State.ONE_OF_TWO
    found = with_pulled(tables(after), context)
    assert states(found, params) == expected

    ruling = exchange.adjudicate(found, params, context)
    wang = label_studio.as_expert(WANG)
    task = wang.next_task(ruling.project)
    assert "{+长期+}" in task["data"]["opinions"]
    assert len(task["predictions"][0]["result"]) == 5, "the labels are filled in: one chord confirms"
    wang.submit(task["id"], task["predictions"][0]["result"])
    assert wang.next_task(ruling.project) is None
    exchange.pull(params, context)
    expected[1] = State.DONE
    found = with_pulled(tables(after), context)
    assert states(found, params) == expected
    # Another push adds and asks nothing.
    last = exchange.push(found, params, context)
    assert (last.added, last.updated) == (0, 0)
    rows = found["pulled"].filter(pl.col("project") == "review").select("question_id", "reviewer").unique()
    assert {ZHANG.email, LI.email} == {*rows["reviewer"]}


def test_a_question_that_left_the_dataset_is_asked_of_nobody_and_comes_back_with_it(label_studio, params, context):
    everything = tables(made(number) for number in range(1, QUESTIONS + 1))
    pushed = exchange.push(everything, params, context)
    zhang, li = label_studio.as_expert(ZHANG), label_studio.as_expert(LI)
    first = zhang.next_task(pushed.project)
    zhang.submit(first["id"], first["predictions"][0]["result"])
    some = tables(made(number) for number in range(3, QUESTIONS + 1))
    report = exchange.push(some, params, context)
    assert (report.taken_out, report.others, report.withdrawn) == (2, 2, 0)
    assert li.next_task(pushed.project)["data"][QUESTION_ID] == question(3).question_id
    assert exchange.push(some, params, context).taken_out == 0
    exchange.pull(params, context)
    assert {*pulled(context)["question_id"]} == {question(1).question_id}
    back = exchange.push(everything, params, context)
    assert (back.added, back.updated) == (0, 2)
    assert sum(1 for _ in answer_all(label_studio, pushed.project, LI, {})) == QUESTIONS


def test_another_number_of_the_same_question_is_no_change(label_studio, params, context):
    exchange.push(tables(made(number) for number in range(1, QUESTIONS + 1)), params, context)
    moved = [made(n).model_copy(update={"number": n + 1, "pages": [2]}) for n in range(1, QUESTIONS + 1)]
    report = exchange.push(tables(moved), params, context)
    assert (report.updated, report.unchanged) == (0, QUESTIONS)


def test_of_two_folders_that_make_a_project_at_once_the_second_is_told_in_one_line(
    label_studio, params, context, monkeypatch
):
    found = tables(made(number) for number in range(1, 3))
    other = replace(context, build=context.build / "other")
    first = exchange.push(found, params, context)
    monkeypatch.setattr(push, "find", lambda *args, **more: None)  # it looked before the first had made its own
    with pytest.raises(UserError, match=rf"somebody else has just made review project {first.project} of dataset"):
        exchange.push(found, params, other)
    monkeypatch.undo()
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", ADMIN.token)
    listed = label_studio.as_expert(ADMIN).http.get("/api/projects/", params={"page_size": 200}).json()["results"]
    assert [each["id"] for each in listed if f": {context.dataset.name} #" in each["description"]] == [first.project]
    assert exchange.push(found, params, context).unchanged == 2
