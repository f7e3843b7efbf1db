"""Raw outputs of others scored: JSONL row by row, and CMB's format of answers in and out."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError, field_validator

from build_dataset.pipeline.claims import fold
from build_dataset.pipeline.evaluate.extraction import answers_first, extract
from build_dataset.pipeline.evaluate.extraction.task import READ
from build_dataset.pipeline.evaluate.metrics import score_items
from build_dataset.pipeline.evaluate.params import ScoreParams
from build_dataset.pipeline.evaluate.scoring import Graded, by_slice
from build_dataset.schemas.errors import UserError, first_problem
from build_dataset.schemas.evaluation import Outcome, Prediction, Score, Sureness, Task
from build_dataset.schemas.release import ReleaseRow
from build_dataset.schemas.taxonomy import dimensions

DEFAULT = ScoreParams()
_Row = Mapping[str, Any]
STRICT = (Sureness.EXPLICIT, Sureness.CONCLUDED)


class _OutputRow(BaseModel, extra="allow"):
    """The required fields of a row; other fields are passed on as they are."""

    id: str | int
    options: dict[Annotated[str, Field(min_length=1)], str] = Field(min_length=1)
    answer: str | list[str]
    raw_output: str | None
    question: str | None = None
    question_type: str | None = None
    answer_first: bool | None = None

    @field_validator("answer")
    @classmethod
    def _letters(cls, value: str | list[str]) -> list[str]:
        # "A、Ｃ" and ["A", "C"] are AC
        letters = [char for part in value for char in fold(part).upper() if "A" <= char <= "Z"]
        if not letters:
            raise ValueError("names no letter")
        return sorted(set(letters))


def score_file(path_in: Path, path_out: Path, params: ScoreParams = DEFAULT) -> dict[str, int]:
    """Score a file of raw outputs, and return the counts ``rows``, ``correct``, ``wrong``, ``no_answer``.

    It is JSONL with ``id``, ``question``, ``options`` as {letter: text}, ``answer``, ``raw_output`` and, if known,
    ``question_type`` (A1, B1型题, X, 单选题, 多项选择题, multiple … ; others count as not known) and ``answer_first``
    (whether the prompt asked for the answer first, see ``extract``). Rows that do not say are read as answering first
    where the file's outputs do so as a habit. The same rows are written whole or not at all, with ``extracted``
    (letters as one string), ``rule``, ``sureness`` and ``correct``: true, false, or null when no answer was stated.
    Those that were read weakly or not at all stand in ``PATH.unsure.jsonl`` too.
    """
    if _text(path_in).startswith("["):
        raise UserError(f"{path_in}: is a JSON array, not rows line by line; CMB's form needs --key ANSWERS.json")
    return write_rows(_scored(list(checked_rows(path_in, _OutputRow)), params), path_out)


def write_rows(rows: Sequence[Mapping[str, Any]], path_out: Path) -> dict[str, int]:
    """Write rows with ``correct`` as JSONL, whole or not at all, and count them."""
    _write_lines(rows, path_out)
    # What a person should look at: it holds text, and was read weakly or not at all.
    texts = ((row, row.get("raw_output", row.get("model_answer")) or "") for row in rows)
    told = [row for row, text in texts if text.strip()]
    unsure = [row for row in told if row["extracted"] is None or row["sureness"] == Sureness.WEAK]
    _write_lines(unsure, unsure_file(path_out))
    counts = Counter({True: "correct", False: "wrong", None: "no_answer"}[row["correct"]] for row in rows)
    return {"rows": len(rows)} | {name: counts[name] for name in ("correct", "wrong", "no_answer")}


def unsure_file(path_out: Path) -> Path:
    """Return the file beside scored rows that holds those to look at."""
    return path_out.with_suffix(".unsure.jsonl")


def _write_lines(rows: Iterable[Mapping[str, Any]], path_out: Path) -> None:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    partial = path_out.with_name(path_out.name + ".partial")
    try:
        # Half of a surrogate pair, as a cut-off output may end with, goes out as the JSON escape it came as.
        partial.write_text("".join(lines), encoding="utf-8", errors="backslashreplace")
        partial.replace(path_out)
    except OSError as error:
        raise UserError(f"{path_out}: cannot be written: {error.strerror}") from None


def score_row(row: _Row, answer_first: bool | None = None, params: ScoreParams = DEFAULT) -> dict[str, Any]:
    """One row with ``extracted``, ``rule``, ``sureness`` and ``correct`` added."""
    known = _OutputRow.model_validate(row)
    kind = (known.question_type or "").strip()
    multiple = True if READ.multiple.match(kind) else False if READ.single.match(kind) else None
    # a row knows better than the habit of its file
    first = answer_first if known.answer_first is None else known.answer_first
    extraction = extract(params.plain(known.raw_output or ""), known.options, multiple, first, stem=known.question)
    letters = None if params.strict and extraction.sureness not in STRICT else extraction.letters
    return {
        **row,
        "extracted": None if letters is None else "".join(letters),
        "rule": extraction.rule,
        "sureness": extraction.sureness,
        "correct": None if letters is None else list(letters) == known.answer,
    }


def _scored(rows: Sequence[Mapping[str, Any]], params: ScoreParams = DEFAULT) -> list[dict[str, Any]]:
    """Score rows; those that do not say whether they open with their answers are read by the habit of all those."""
    silent = (row for row in rows if row.get("answer_first") is None)
    habit = answers_first((row["raw_output"] or "", row["options"]) for row in silent)
    return [score_row(row, habit, params) for row in rows]


_FormT = TypeVar("_FormT", bound=BaseModel)


def validate(form: type[_FormT], content: Any, place: str) -> _FormT:
    """Return content as its form; ``place`` names it where it is none."""
    try:
        return form.model_validate(content)
    except ValidationError as error:
        raise UserError(f"{place}: {first_problem(error)}") from None


def checked_rows(path: Path, form: type[BaseModel]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSONL file; raise ``UserError`` for one that ``form`` does not accept."""
    for number, row in _json_lines(path, _text(path).split("\n")):
        validate(form, row, f"{path}, line {number}")
        yield row


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: is not UTF-8 text; save it as UTF-8") from None


def _json_lines(path: Path, lines: Iterable[str]) -> Iterator[tuple[int, Any]]:
    """The value of every line that is not blank, with its number."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:  # also numbers of 5,000 digits
                where = getattr(error, "lineno", 1) + number - 1
                raise UserError(f"{path}, line {where}: is not JSON: {error}") from None


_LETTERS = "ABCDEFG"  # options of a question of which the key file prints none
_SLICES = ("overall", "question_type", "exam_type", "exam_class")


@dataclass(frozen=True)
class Submitted:
    """Results of a submission."""

    rows: Sequence[Mapping[str, Any]]
    """A row a question of the key, in its order: ``id, answer, model_answer, extracted, rule, correct``."""
    scores: Sequence[Score]
    missing: int  # questions missing from the submission; they count as not answered


def score_submission(path: Path, key: Path, params: ScoreParams = DEFAULT) -> Submitted:
    """Score a submission by CMB's answer file, or any like it; both are JSON arrays, or JSONL.

    A submission has ``id`` and ``model_answer`` (letters, or an output as the model wrote it); a key ``id``,
    ``answer`` and, where known, ``question_type``, ``exam_type``, ``exam_class``, ``exam_subject`` and ``option``.
    Tables call the model by the name of the file.
    """
    keys = _by_id(key, _Key)
    given = _by_id(path, _Given)
    if strange := sorted(set(given) - set(keys)):  # answers to another exam, or ids of another form
        raise UserError(f"{path}: {len(strange)} ids are not in {key}, the first is {strange[0][:40]!r}")
    rows: list[dict[str, Any]] = []
    for name_of, item in keys.items():
        answered = given.get(name_of)
        # Options as the submission prints them, else the key: the printed texts tell which option is quoted.
        options = (answered.option if answered else {}) or item.option or dict.fromkeys(_LETTERS, "")
        answer = sorted(set(fold(item.answer).upper()) & set(options))
        if not answer:
            where = f"{key}, id {str(item.id)[:40]!r}"
            raise UserError(f"{where}: the answer {item.answer[:20]!r} names none of {', '.join(options)}")
        asked = {
            "id": item.id,
            "options": options,
            "answer": item.answer,
            "raw_output": answered.model_answer if answered else None,
            "question": item.question or (answered.question if answered else None),
            "question_type": item.question_type,
            "letters": answer,
        }
        rows.append(asked)
    scored, graded = _scored(rows, params), []
    plain: dict[str, Any] = {name: None for name, field in ReleaseRow.model_fields.items() if field.is_required()}
    plain |= {"stem": "", "options": [], "document": ""} | {f"{name}_status": "unreviewed" for name in dimensions()}
    for item, row in zip(keys.values(), scored, strict=True):
        about = {name: getattr(item, name) or None for name in ("exam_type", "exam_class", "exam_subject")}
        about |= {"question_id": str(item.id), "question_type": item.question_type or "未注明"}
        question = ReleaseRow.model_validate(plain | about | {"answer": row["letters"]})
        read = None if row["extracted"] is None else tuple(row["extracted"])
        outcome = Outcome.NO_ANSWER if read is None else Outcome.ANSWERED
        graded.append(Graded(question, outcome, read, sureness=None if read is None else row["sureness"]))
    parts = [(part, items) for part, items in by_slice(graded).items() if part.dimension in _SLICES]
    scores = [score for part, items in parts for score in score_items(path.stem, part, items)]
    columns = ("id", "answer", "extracted", "rule", "sureness", "correct")
    shown = [{"model_answer": row["raw_output"], **{name: row[name] for name in columns}} for row in scored]
    return Submitted(shown, scores, len(keys) - len(given))


def submission(predictions: Sequence[Prediction], run: str) -> bytes:
    """Return a run's first answers as a submission: letters, or the raw output."""
    answered = [row for row in predictions if row.task is Task.ANSWER]
    first = [row for row in answered if row.run == run and row.repeat == 0]
    if not first:
        runs = sorted({row.run for row in answered})
        raise UserError(f"no run {run!r} answered questions; there are {', '.join(runs) or 'none'}")
    rows = ({"id": row.question_id, "model_answer": "".join(row.extracted or row.raw_output or "")} for row in first)
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]\n".encode(errors="backslashreplace")


class _Item(BaseModel, extra="ignore", strict=True, frozen=True):
    """A row of either file; other fields are ignored."""

    id: str | int
    question: str | None = None
    option: dict[str, str] = {}  # printed options by letter
    question_type: str | None = None
    exam_type: str | None = None
    exam_class: str | None = None
    exam_subject: str | None = None

    @field_validator("id", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        if type(value) not in (str, int):  # true is an int too
            raise ValueError("must be text or a whole number")
        return value

    @field_validator("option", mode="before")
    @classmethod
    def _if_it_is_one(cls, value: Any) -> Any:
        return {label: text for label, text in value.items() if text} if isinstance(value, dict) else {}


class _Given(_Item):
    """An answer handed in."""

    model_answer: str


class _Key(_Item):
    """A question of the answer file."""

    answer: str


def _by_id(path: Path, form: type[_FormT]) -> dict[str, _FormT]:
    items: dict[str, _FormT] = {}
    for number, content in enumerate(read_items(path), start=1):
        place = f"{path}, item {number}"
        item = validate(form, content, place)
        name = str(content["id"])
        if name in items:
            raise UserError(f"{place}: the id {name[:40]!r} stands twice")
        items[name] = item
    if not items:
        raise UserError(f"{path}: holds no rows")
    return items


def read_items(path: Path) -> Iterator[Any]:
    """The objects of a JSON array or of JSONL."""
    text = _text(path)
    for _, value in _json_lines(path, [text] if text.lstrip().startswith("[") else text.split("\n")):
        yield from value if isinstance(value, list) else [value]
