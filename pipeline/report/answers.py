"""Every model's answers, question by question, on a page of its own: searchable, disagreements first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import polars as pl

from pipeline import html
from pipeline.evaluate.extraction import Extraction, extract
from pipeline.evaluate.prompting import is_multiple
from pipeline.evaluate.results.names import REFERENCES, run_name
from pipeline.evaluate.scoring import accepted
from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.shown import Piece, Text
from schemas.evaluation import Outcome, Prediction, Task
from schemas.release import ReleaseRow

_RIGHT, _MIXED, _WRONG = "all-right", "disagree", "all-wrong"
_ORDER = (_MIXED, _WRONG, _RIGHT)


def answers_page(build: Build, params: ReportParams) -> bytes | None:
    """The page; None where no model chose answers, or no question is to be shown.

    Questions on which models disagree come first, then those that none got right, then the rest, each in the order
    of the split, up to ``params.answers``; the page says of how many. Each model's first answer counts.
    """
    frame, splits = build.table("evaluate/predictions"), build.splits
    if frame is None or splits is None or not params.answers:
        return None
    kept = frame.filter(
        (pl.col("task") == Task.ANSWER.value) & (pl.col("repeat") == 0) & (pl.col("shuffle") == 0)
    )
    kinds = _kinds(kept)
    if not kinds:
        return None
    asked = {
        row.question_id: row
        for rows in splits.values()
        for row in ReleaseRow.from_frame(rows.filter(pl.col("question_id").is_in(list(kinds))))
    }
    ordered = sorted((name for name in kinds if name in asked), key=lambda name: _ORDER.index(kinds[name]))
    shown = ordered[: params.answers]
    told = kept.filter(pl.col("question_id").is_in(shown))
    by_question: dict[str, list[Prediction]] = {}
    for prediction in Prediction.from_frame(told):
        by_question.setdefault(prediction.question_id, []).append(prediction)
    cards = [_card(asked[name], by_question[name], kinds[name], params) for name in shown]
    tally = {kind: sum(found == kind for found in kinds.values()) for kind in _ORDER}
    return html.render("pipeline.report:answers.html", cards=cards, of=len(ordered), tally=tally)


def _kinds(kept: pl.DataFrame) -> dict[str, str]:
    """Whether models agree on each question, in the order in which questions were asked."""
    models = kept.filter(~pl.col("run").is_in(REFERENCES))  # guesses would disagree with every model
    found = (
        (kept if models.is_empty() else models)
        .group_by("question_id", maintain_order=True)
        .agg(
            (pl.col("correct").fill_null(value=False)).all().alias("all"),
            (pl.col("correct").fill_null(value=False)).any().alias("any"),
        )
    )
    return {
        name: _RIGHT if everyone else _MIXED if anyone else _WRONG
        for name, everyone, anyone in found.iter_rows()
    }


def _card(
    question: ReleaseRow, predictions: Sequence[Prediction], kind: str, params: ReportParams
) -> dict[str, Any]:
    keys = accepted(question)
    right = frozenset().union(*keys) if keys else frozenset()
    return {
        "question_id": question.question_id,
        "kind": kind,
        "stem": "\n".join(part for part in (question.shared_stem, question.stem) if part),
        "options": [
            {"label": option.label, "text": option.text, "right": option.label in right}
            for option in question.options
        ],
        "key": " / ".join(sorted("".join(sorted(key)) for key in keys)),
        "where": " · ".join(
            part for part in (question.exam_type, question.exam_class, question.exam_subject) if part
        ),
        "answers": [_answer(prediction, question, params.characters) for prediction in predictions],
    }


def _answer(prediction: Prediction, question: ReleaseRow, limit: int) -> dict[str, Any]:
    raw = prediction.raw_output
    return {
        "run": run_name(prediction.run),
        "letters": "".join(prediction.extracted or ()),
        "outcome": prediction.outcome.value.replace("_", " "),
        "answered": prediction.outcome is Outcome.ANSWERED,
        "correct": prediction.correct,
        "rule": prediction.rule,
        "text": None if raw is None else marked(raw, _read_again(prediction, question), limit),
    }


def _read_again(prediction: Prediction, question: ReleaseRow) -> Extraction | None:
    """The reading that gave what was stored: its span is not stored, as it follows from the text."""
    options: Mapping[str, str] = {option.label: option.text for option in question.options}
    for answer_first in (None, True, False):
        found = extract(prediction.raw_output or "", options, is_multiple(question), answer_first)
        if found.rule == prediction.rule and list(found.letters or ()) == (prediction.extracted or []):
            return found
    return None


def marked(text: str, found: Extraction | None, limit: int) -> Text:
    """An output with the words marked that the answer was read from, cut around them.

    Args:
        text: as it came.
        found: where the answer stands; None or empty to mark nothing.
        limit: characters kept, those around the mark if they stand further down.
    """
    start, end = found.span if found is not None and found.span is not None else (0, 0)
    first = 0 if end <= limit else max(0, min(start, end - limit))
    last = min(len(text), first + limit)
    inside = [first <= place < last and start <= place < end for place in range(first, last)]
    pieces: list[Piece] = [("…", False)] if first else []
    for flag, group in groupby(range(first, last), key=lambda place: inside[place - first]):
        places = list(group)
        pieces.append((text[places[0] : places[-1] + 1], flag))
    return Text(pieces, len(text) - (last - first))
