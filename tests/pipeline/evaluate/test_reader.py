"""The LLM reader reads what no rule read, stores what it is told, and takes no letter that is no option."""

from __future__ import annotations

import json

import pytest

from build_dataset.pipeline.evaluate.params import EvaluateParams, ReaderOptions
from build_dataset.pipeline.evaluate.stage import estimate_evaluation, estimate_reader, problems, run
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.evaluation import Prediction
from tests.annotation.scripted_server import Reply
from tests.pipeline.evaluate.test_stage import TEST, asking, number

VAGUE = {1: "答案是A", 2: "第二种说法我觉得像那么回事", 3: "不好说", 4: "排在末尾的那个吧"}
READ = {2: ["B"], 3: [], 4: ["D"]}


def reading(server, **changes) -> ReaderOptions:
    options = {"model": "r", "base_url": server.url, "max_retries": 0, "price_in": 1.0, "price_out": 1.0}
    return ReaderOptions.model_validate(options | changes)


@pytest.fixture
def writer(serve):
    return serve(lambda question, earlier, body: Reply(content=VAGUE[number(question)]))


def reader_of(serve, replies):
    return serve(lambda question, earlier, body: Reply(content=json.dumps({"answer": replies[number(question)]})))


def by_number(result):
    rows = result.tables["predictions"].to_dicts()
    return {int(row["question_id"][-3:]): (row["extracted"], row["rule"], row["correct"]) for row in rows}


def test_only_outputs_that_no_rule_read_are_read_and_their_rows_are_marked(context, splits, serve, writer):
    server = reader_of(serve, READ)
    params = asking(writer).model_copy(update={"reader": reading(server)})
    for _ in range(2):
        result = run(splits(TEST), params, context)
    found = by_number(result)
    assert found[1] == (["A"], "marked", True)
    assert found[2] == (["B"], "llm", True)
    assert found[3] == (None, None, None)
    assert found[4] == (["D"], "llm", True)
    assert server.asked.total() == 3
    assert result.counts.balanced()
    assert result.facts["reader"] | {"cost": 0} == {"model": "r", "requests": 3, "without_reply": 0, "cost": 0}
    assert result.facts["reader"]["cost"] > 0


def test_a_letter_that_is_no_option_is_no_answer_and_waits(context, splits, serve, writer):
    server = reader_of(serve, {2: ["F"], 3: [], 4: ["D"]})
    params = asking(writer).model_copy(update={"reader": reading(server)})
    result = run(splits(TEST), params, context)
    assert by_number(result)[2] == (None, None, None)
    assert [item.reason for item in result.review] == ["reader_invalid_label"]
    assert not result.complete
    assert result.counts.balanced()


def test_without_a_reader_nothing_is_asked_and_nothing_said(context, splits, writer):
    result = run(splits(TEST), asking(writer), context)
    assert by_number(result)[2] == (None, None, None)
    assert "reader" not in result.facts


def test_a_dry_run_counts_what_is_not_stored_and_asks_nobody(context, splits, serve, writer):
    server = reader_of(serve, READ)
    plain, params = asking(writer), asking(writer).model_copy(update={"reader": reading(server)})
    predictions = run(splits(TEST), plain, context).tables["predictions"]
    tables = {**splits(TEST), "predictions": predictions}
    told = estimate_reader(tables, params, context)
    assert told.startswith("3 outputs to read, about ")
    assert told.endswith(" USD")
    assert server.asked.total() == 0
    run(splits(TEST), params, context)
    assert estimate_reader(tables, params, context).startswith("0 outputs to read")
    with pytest.raises(UserError, match=r"evaluate\.reader"):
        estimate_reader({**splits(TEST), "predictions": Prediction.to_frame([])}, plain, context)


def test_a_reader_without_a_model_is_said_before_anything_is_asked():
    params = EvaluateParams(reader=ReaderOptions())
    assert any(line.startswith("evaluate.reader: ") for line in problems(params, DatasetParams(name="mine")))


def test_a_dry_run_without_a_reader_tells_what_every_model_would_be_asked(context, splits, writer):
    tables = {**splits(TEST), "predictions": Prediction.to_frame([])}
    before = estimate_evaluation(tables, asking(writer), context)
    assert any(f"{len(TEST)} prompts to ask" in line for line in before)
    assert writer.asked.total() == 0
    run(splits(TEST), asking(writer), context)
    assert any(" 0 prompts to ask" in line for line in estimate_evaluation(tables, asking(writer), context))
