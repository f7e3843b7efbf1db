from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from build_dataset.pipeline.catalogue import STAGES
from build_dataset.schemas.base import Record, column_type
from build_dataset.schemas.questions import Option, Question, QuestionType
from tests.making import make_question

QUESTION = make_question()


def test_every_record_of_the_catalogue_has_a_column_type_for_each_field():
    for stage in STAGES:
        for record in stage.writes.values():
            assert list(record.polars_schema()) == record.column_names()


def test_an_empty_table_has_the_records_schema():
    assert Question.to_frame([]).schema == Question.polars_schema()


def test_records_survive_the_way_through_a_table_and_back():
    assert list(Question.from_frame(Question.to_frame([QUESTION]))) == [QUESTION]


def test_absent_values_are_null_in_the_table():
    frame = Question.to_frame([QUESTION])
    assert frame["explanation"].null_count() == 1
    assert frame["accepted_answers"].null_count() == 1


def test_nested_records_become_structs_in_lists():
    assert Question.polars_schema()["options"] == pl.List(pl.Struct({"label": pl.String, "text": pl.String}))


def test_an_unknown_field_is_an_error():
    with pytest.raises(ValidationError):
        Option(label="A", text="x", colour="red")


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (list[int], pl.List(pl.Int64)),
        (bool | None, pl.Boolean),
        (list[str] | None, pl.List(pl.String)),
        (QuestionType, pl.String),
    ],
)
def test_an_annotation_has_one_column_type(annotation: Any, kind: pl.DataType) -> None:
    assert column_type(annotation) == kind


@pytest.mark.parametrize("annotation", [int | str, int | str | None, dict[str, int], None, complex])
def test_what_may_be_of_several_types_is_no_column(annotation: Any) -> None:
    with pytest.raises(TypeError, match="no column type"):
        column_type(annotation)


def test_columns_that_a_table_lacks_have_their_defaults() -> None:
    class Later(Record):
        name: str
        count: int = 3

    assert list(Later.from_frame(pl.DataFrame({"name": ["x"], "other": [1]}))) == [Later(name="x", count=3)]
