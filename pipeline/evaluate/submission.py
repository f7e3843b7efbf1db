"""CMB's format of answers, in and out: a JSON array of ``{"id": …, "model_answer": …}``.

CMB's own script writes the whole question with ``model_answer`` added, its leaderboard takes the two fields; both are
read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.evaluate.extraction import answers_first
from pipeline.evaluate.results.build import Evaluated
from pipeline.evaluate.scorefile import score_row
from pipeline.evaluate.scoring import Graded, score_slice
from pipeline.evaluate.tasks.answer import sliced
from pipeline.runtime.publish import read_table
from schemas.errors import UserError
from schemas.evaluation import Outcome, Prediction, Score, Task
from schemas.release import ReleaseRow
from schemas.taxonomy import dimensions

_LETTERS = "ABCDEFG"
"""Options of a question of which the key file prints none."""
_SLICES = ("overall", "question_type", "exam_type", "exam_class")
_NAMES = ("exam_type", "exam_class", "exam_subject")


@dataclass(frozen=True)
class Submitted:
    """What became of a submission."""

    rows: Sequence[Mapping[str, Any]]
    """A row a question of the key, in its order: ``id, answer, model_answer, extracted, rule, correct``."""
    scores: Sequence[Score]
    missing: int
    """Questions that the submission says nothing of; they count as not answered."""

    @property
    def evaluated(self) -> Evaluated:
        """For tables."""
        return Evaluated(self.scores)


def score_submission(path: Path, key: Path, name: str | None = None) -> Submitted:
    """Score a submission by CMB's answer file, or any like it.

    Args:
        path: JSON array, or JSONL, of ``id`` and ``model_answer`` (letters, or an output as the model wrote it).
        key: JSON array, or JSONL, of ``id``, ``answer`` and, where known, ``question_type``, ``exam_type``,
            ``exam_class``, ``exam_subject`` and ``option``.
        name: what tables call the model; the file's name if absent.

    Raises:
        UserError: a file cannot be read, a row lacks something, an id stands twice or is not in the key.
    """
    keys = _by_id(key, "answer")
    given = _by_id(path, "model_answer")
    if strange := sorted(set(given) - set(keys)):
        raise UserError(f"{path}: {len(strange)} ids are not in {key}, the first is {strange[0]!r}")
    rows = [_row(item, given.get(found)) for found, item in keys.items()]
    habit = answers_first(
        (row["raw_output"], row["options"]) for row in rows if row["raw_output"] is not None
    )
    scored = [score_row(row, habit) for row in rows]
    graded = [_graded(item, row) for item, row in zip(keys.values(), scored, strict=True)]
    run = name or path.stem
    scores = [
        score
        for part, items in sliced(graded)
        if part.dimension in _SLICES
        for score in score_slice(run, part, items)
    ]
    told = ("id", "answer", "extracted", "rule", "correct")
    return Submitted(
        [{"model_answer": row["raw_output"], **{column: row[column] for column in told}} for row in scored],
        scores,
        len(keys) - len(given),
    )


def submission(predictions: Sequence[Prediction], run: str) -> bytes:
    """A run's first answers to the printed questions as a submission.

    A question without a readable answer goes out with its raw output, so that others may read it their way.

    Raises:
        UserError: no such run chose options.
    """
    own = [
        row
        for row in predictions
        if row.run == run and row.task is Task.ANSWER and row.repeat == 0 and row.shuffle == 0
    ]
    if not own:
        runs = sorted({row.run for row in predictions if row.task is Task.ANSWER})
        raise UserError(f"no run {run!r} answered questions; there are {', '.join(runs) or 'none'}")
    lines = ",\n".join(
        json.dumps(
            {
                "id": row.question_id,
                "model_answer": "".join(row.extracted) if row.extracted else row.raw_output or "",
            },
            ensure_ascii=False,
        )
        for row in own
    )
    return f"[\n{lines}\n]\n".encode(errors="backslashreplace")


def predictions_of(build: Path) -> list[Prediction]:
    """The stored predictions of a build.

    Raises:
        UserError: nothing was evaluated.
    """
    path = build / "evaluate" / "predictions.parquet"
    if not path.is_file():
        raise UserError(f"{path} is not there: run `build-dataset evaluate` first")
    return list(Prediction.from_frame(read_table(path)))


def _by_id(path: Path, wanted: str) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for number, item in enumerate(_items(path), start=1):
        if not isinstance(item, dict) or "id" not in item or not isinstance(item.get(wanted), str):
            raise UserError(f'{path}, item {number}: needs "id" and "{wanted}" as text')
        if str(item["id"]) in found:
            raise UserError(f"{path}, item {number}: the id {item['id']!r} stands twice")
        found[str(item["id"])] = item
    if not found:
        raise UserError(f"{path}: holds no rows")
    return found


def _items(path: Path) -> Iterator[Any]:
    """The objects of a JSON array or of JSONL."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    lines = [text] if text.lstrip().startswith("[") else text.split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise UserError(f"{path}, line {getattr(error, 'lineno', number)}: is not JSON") from None
        yield from found if isinstance(found, list) else [found]


def _row(key: Mapping[str, Any], given: Mapping[str, Any] | None) -> dict[str, Any]:
    options = next(
        (
            {str(label): str(text) for label, text in item["option"].items() if text}
            for item in (given or {}, key)
            if isinstance(item.get("option"), dict) and item["option"]
        ),
        dict.fromkeys(_LETTERS, ""),
    )
    return {
        "id": key["id"],
        "options": options,
        "answer": key["answer"],
        "raw_output": None if given is None else given["model_answer"],
        "question_type": key.get("question_type"),
    }


def _graded(key: Mapping[str, Any], scored: Mapping[str, Any]) -> Graded:
    needed = (name for name, field in ReleaseRow.model_fields.items() if field.is_required())
    plain: dict[str, Any] = dict.fromkeys(needed)
    plain |= {f"{name}_status": "unreviewed" for name in dimensions()}
    plain |= {name: key.get(name) or None for name in _NAMES}
    question = ReleaseRow.model_validate(
        plain
        | {
            "question_id": str(key["id"]),
            "question_type": str(key.get("question_type") or "未注明"),
            "stem": "",
            "options": [],
            "answer": sorted({char for char in key["answer"].upper() if char in _LETTERS}),
            "document": "",
        }
    )
    letters = scored["extracted"]
    outcome = Outcome.NO_ANSWER if letters is None else Outcome.ANSWERED
    return Graded(question, outcome, None if letters is None else tuple(letters))
