"""Answers of models and people: our own runs, and those of others matched by id, else by text and options."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import polars as pl
from pydantic import BaseModel, Field, field_validator, model_validator

from build_dataset.pipeline.dedup.keys import with_keys
from build_dataset.pipeline.evaluate import grading, submission
from build_dataset.pipeline.evaluate.extraction import extract
from build_dataset.schemas.evaluation import Prediction, Task
from build_dataset.schemas.questions import Question

Letters = frozenset[str]
Answers = dict[str, dict[str, Letters]]  # the letters that each respondent gave, by question and respondent


class _AnswerRow(BaseModel, coerce_numbers_to_str=True):
    """An answer of others."""

    id: str | None = None  # the question_id, where the answer was made with our files
    question: str | None = None
    options: dict[str, str] = Field(default_factory=dict)
    model: str  # who answered: a model, a run, a person
    answer: str = ""  # letters ("AC"), or whatever the model wrote ("答案是A和C")

    @field_validator("options", mode="before")
    @classmethod
    def _by_letter(cls, value: Any) -> Any:
        """Texts by letter; the items of a list are A, B, C and so on."""
        if isinstance(value, list):
            value = {chr(ord("A") + at): text for at, text in enumerate(value)}  # ["心房", "心室"]
        return {label.strip().upper(): text for label, text in value.items()} if isinstance(value, dict) else value

    @field_validator("answer", mode="before")
    @classmethod
    def _joined(cls, value: Any) -> Any:
        """Join letters of a list into one text, and repair the half character at the end of a cut-off output."""
        value = "".join(map(str, value)) if isinstance(value, list) else "" if value is None else value
        return value.encode(errors="replace").decode() if isinstance(value, str) else value

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        if not (self.id or self.question):
            raise ValueError('needs "id" or "question"')
        return self

    @property
    def text(self) -> tuple[str, ...]:
        """The question and the options, as they were asked."""
        return (self.question or "", *self.options.values())


class MatchedAnswers(NamedTuple):
    """All answers that have a place."""

    answers: Answers
    unknown: int  # rows about questions that are not here
    unread: int  # rows without an answer, or with one that is no option of the question here


def gather_answers(
    paths: Sequence[Path], questions: pl.DataFrame, predictions: pl.DataFrame | None = None
) -> MatchedAnswers:
    """Return all answers in the letters of our questions."""
    known = comparable(questions)
    rows = [] if predictions is None else [row for row in _of_runs(predictions) if row.id in known]
    rows += [_AnswerRow(**row) for path in paths for row in submission.checked_rows(path, _AnswerRow)]
    by_text = {each.exact: name for name, each in reversed(known.items())}  # of copies the first
    theirs = _as_asked(rows)
    answers: Answers = {}
    unknown = unread = 0
    for row in rows:
        asked = theirs.get(row.text)
        name = row.id if row.id in known else by_text.get(asked.exact) if asked and row.question else None
        if name is None:
            unknown += 1  # a question of another bank, or one that was rejected here
            continue
        letters = _letters(row.answer, asked or known[name], known[name])
        if letters is None:
            unread += 1  # "不知道", or a letter that the question does not have
        else:
            answers.setdefault(name, {})[row.model] = letters
    return MatchedAnswers(answers, unknown, unread)


def _of_runs(predictions: pl.DataFrame) -> list[_AnswerRow]:
    """Return the first answers of our own runs; those of random and majority say nothing."""
    first = (pl.col("repeat") == 0) & (pl.col("task") == Task.ANSWER.value)
    first &= pl.col("rule").ne_missing(grading.CHOSEN) | pl.col("likelihoods").is_not_null()
    read = [row for row in Prediction.from_frame(predictions.filter(first)) if row.extracted]
    return [_AnswerRow(id=row.question_id, model=row.run, answer="".join(row.extracted or ())) for row in read]


@dataclass(frozen=True)
class ComparedOptions:
    """A question as it is compared."""

    exact: str
    options: Mapping[str, str]
    keys: Sequence[str]  # comparison keys of the options, in their order
    answer: Letters | None

    def translated(self, letters: Letters, ours: Self) -> Letters | None:
        """Return the letters of ``ours`` whose options say the same; None if a text equals no option."""
        if self.options == ours.options:
            return letters if letters <= set(ours.options) else None
        by_key = dict(zip(ours.keys, ours.options, strict=False))
        names = {label: by_key.get(key) for label, key in zip(self.options, self.keys, strict=False)}
        ours_by_letter = [names.get(letter) for letter in letters]
        return frozenset(name for name in ours_by_letter if name) if all(ours_by_letter) else None


def comparable(questions: pl.DataFrame) -> dict[str, ComparedOptions]:
    """Return the questions of a ``Question`` table as they are compared, by id."""
    return dict(zip(questions["question_id"].to_list(), _compared(questions), strict=True))


def _as_asked(rows: Sequence[_AnswerRow]) -> dict[tuple[str, ...], ComparedOptions]:
    """Return the questions of others, where they tell the options."""
    asked = {row.text: row for row in rows if row.options}
    options = ([{"label": label, "text": text} for label, text in row.options.items()] for row in asked.values())
    texts = [{"stem": text[0], "options": given} for text, given in zip(asked, options, strict=True)]
    schema = Question.polars_schema()
    columns = {name: schema[name] for name in ("stem", "shared_stem", "options", "answer")}
    return dict(zip(asked, _compared(pl.DataFrame(texts, schema=columns)), strict=True))


def _compared(frame: pl.DataFrame) -> Iterator[ComparedOptions]:
    keyed = with_keys(frame).select("exact", "option_keys").hstack(frame.select("options", "answer"))
    for exact, keys, options, answer in keyed.iter_rows():
        by_label = {option["label"]: option["text"] for option in options}
        yield ComparedOptions(exact, by_label, keys, frozenset(answer or ()) or None)


def _letters(answer: str, asked: ComparedOptions, ours: ComparedOptions) -> Letters | None:
    """Return the letters of our question for an answer; the other source may list options in another order."""
    letters = frozenset(answer.strip().upper())  # "ac" and "AC" are letters; "选AC" is text to be read
    if not letters or not letters <= set(asked.options):
        several = None if ours.answer is None else len(ours.answer) > 1
        letters = frozenset(extract(answer, asked.options, several).letters or ())
    return asked.translated(letters, ours) if letters else None
