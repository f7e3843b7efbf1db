"""The row of a released split."""

from itertools import chain
from typing import Any

import polars as pl
from pydantic import ConfigDict, Field, model_validator

from build_dataset.schemas import base, questions, taxonomy

_BEFORE_LABELS = "exam_subject"  # the column after which those of labels stand


def label_columns(dimension: str) -> tuple[str, str, str]:
    """The columns of a dimension: the label's Chinese name, its English name, and a ``LabelStatus``."""
    return dimension, f"{dimension}_en", f"{dimension}_status"


class Source(base.Record):
    """A place where a question stands."""

    document: str
    row: int | None  # Row of a table, from 1; null for papers.
    page: int | None  # First page of a paper, from 1; null for tables.


class ReleasedId(base.Record):
    """The id under which a row of a table was released."""

    document: str
    question_id: str
    content_hash: str  # Hash of its content, see `schemas.identity.content_hash`.


class ReleaseRow(base.Record):
    """A question with its final labels, as exported in ``train/validation/test.parquet``.

    Between ``exam_subject`` and ``difficulty_estimate`` stand the ``label_columns`` of every dimension of the label
    set; labels are null where there are none.
    """

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    question_id: str
    question_type: str
    stem: str
    shared_stem: str | None
    group_id: str | None
    options: list[questions.Option]
    answer: list[str]
    accepted_answers: list[list[str]] | None
    explanation: str | None
    human_accuracy: float | None
    respondents: int | None
    year: str | None = None  # Its year in the words of the source: 2019, 104年.
    chapter: str | None = None
    points: float | None = None
    link: str | None = None  # The address that the source gives for it.
    exam_type: str | None
    exam_class: str | None
    exam_subject: str | None
    difficulty_estimate: bool | None = None
    """True where difficulty is a guess, not cut from people's accuracy; null where there is no label."""
    annotator: str | None  # Annotator of the labels that no expert has reviewed.
    corrected: list[str] = Field(default_factory=list)
    """Corrected fields, sorted: ``answer``, ``options``, ``shared_stem``, ``stem``; empty if none."""
    document: str
    number: int | None
    sources: list[Source] = Field(default_factory=list)
    """Every place where it stands, those of merged copies included, sorted."""
    cluster_id: str | None

    @classmethod
    def column_names(cls) -> list[str]:
        """See ``Record.column_names``; with those of the labels."""
        fixed = list(cls.model_fields)
        place = fixed.index(_BEFORE_LABELS) + 1
        return [*fixed[:place], *chain.from_iterable(map(label_columns, taxonomy.dimensions())), *fixed[place:]]

    @classmethod
    def polars_schema(cls) -> pl.Schema:
        """See ``Record.polars_schema``; with the columns of the labels."""
        fixed = super().polars_schema()
        return pl.Schema({name: fixed.get(name, pl.String()) for name in cls.column_names()})

    @model_validator(mode="before")
    @classmethod
    def _of_the_label_set(cls, values: dict[str, Any]) -> dict[str, Any]:
        if strange := sorted(values.keys() - {*cls.column_names()}):
            raise ValueError(f"no column {strange[0]}")
        return {**dict.fromkeys(chain.from_iterable(map(label_columns, taxonomy.dimensions()))), **values}


class Leak(base.Record):
    """A question that is found again where it should not be."""

    question_id: str
    split: str
    kind: str
    """``exact`` or ``near``: in another split; ``copy`` (most of it) or ``overlap``: in a benchmark's file."""
    score: float
    """Similarity to the other question, or the share of this question's tokens that the file has too; 0..1."""
    other_id: str | None = None
    other_split: str | None = None
    file: str | None = None  # The benchmark's file, relative to its folder.
    line: int | None = None  # Line of the file (row of a Parquet file), from 1, of the best match.
    rows: int | None = None  # Records of the file that share a span with the question.
    span: str | None = None
    """The longest run that both have, as the question prints it (case, stem and options are lines)."""
    start: int | None = None  # Character offsets of the span in those lines.
    end: int | None = None


class BenchmarkFile(base.Record):
    """A file of a public benchmark that the questions were compared with."""

    file: str
    sha256: str
    records: int  # Number of records read: lines, rows, objects.
    overlaps: int  # Questions that share a run of tokens with it.
    copies: int  # Questions of which it has most.
    test_overlaps: int  # The same of questions of the test split.
    test_copies: int


class Change(base.Record):
    """Difference of a question from the previous release."""

    question_id: str
    change: str
    """``added``, ``removed``, ``waiting`` (for a person), ``renamed``, ``moved``, ``changed``, ``relabelled`` or
    ``updated``."""
    split: str | None  # Null when it is gone.
    previous_split: str | None  # Null when it was added.
    previous_id: str | None = None  # The id it had, where the same question has another now.
    columns: list[str]  # Names of the columns that differ.
