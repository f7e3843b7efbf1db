"""Rows of tabular sources become questions: CMB JSON, CMExam CSV / XLSX, JSONL of the same fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pipeline.parse.kinds import question_type
from pipeline.parse.text import fold
from schemas.documents import Document, SourceRow
from schemas.identity import content_hash, question_id
from schemas.questions import Option, Question, QuestionType

STEM = ("question", "stem", "题目", "題目", "题干", "題幹", "title")
OPTIONS = ("options", "option", "选项", "選項", "choices")
ANSWER = ("answer", "answers", "答案", "正确答案", "正確答案", "correct_answer")
EXPLANATION = ("explanation", "解析", "答案解析", "解释", "詳解", "analysis")
TYPE = ("question_type", "type", "题型", "題型")
ACCURACY = ("human_accuracy", "accuracy", "正确率", "正確率", "correct_rate")
RIGHT = ("n_right", "correct", "right", "答对人数", "num_correct")
TOTAL = ("respondents", "n_total", "total", "作答人数", "答题人数", "num_total")
COMMENT = ("comment", "comments", "备注", "備註", "error")
SHARED = ("shared_stem", "共用题干")
GROUP = ("group_id",)
_ABSENT = {"", "nan", "none", "null", "n/a", "na", "无"}
_OPTION_LINE = re.compile(r"(?:^|\n)\s*[(（]?([A-K])[)）]?(?:\s*[.．、:：]|[ \t]+|(?=[\u4e00-\u9fff]))\s*")
_LETTERS = re.compile(r"[A-Ka-k]")
_LETTERS_ONLY = re.compile(r"[\sA-Ka-k,，、;；/|@+&\[\]'\"]+")


class RowError(Exception):
    """A row is no question.

    Attributes:
        reason: short code.
        detail: one sentence.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def question_of(row: SourceRow, document: Document) -> tuple[Question, list[tuple[str, str]]]:
    """The question in a row, and what is doubtful about it: (reason, detail).

    Label columns (Disease Group …) are not read: labels come from the annotation stage.

    Raises:
        RowError: the row is no object, or lacks a stem or options.
    """
    try:
        loaded = json.loads(row.fields)
    except ValueError as error:
        raise RowError("not_json", f"row {row.row} is no JSON") from error
    if not isinstance(loaded, dict):
        raise RowError("not_an_object", f"row {row.row} is {type(loaded).__name__}, not an object")
    fields = {str(key).strip().casefold(): value for key, value in loaded.items()}
    stem = _text(fields, STEM)
    if stem is None:
        raise RowError("no_stem", f"row {row.row} has none of {', '.join(STEM[:3])} …")
    options = read_options(_first(fields, OPTIONS), fields)
    if not options:
        raise RowError("no_options", f"row {row.row} has no options")
    labels = [label for label, _ in options]
    answer = read_answer(_first(fields, ANSWER), options)
    shared = _text(fields, SHARED)
    accuracy, respondents = _human(fields)
    question = Question(
        question_id=question_id(document.sha256, None, str(row.row)),
        document=document.document,
        section=None,
        number=row.row,
        question_type=_type(_text(fields, TYPE), stem, answer, shared),
        stem=stem,
        shared_stem=shared,
        group_id=_text(fields, GROUP),
        options=[Option(label=label, text=text) for label, text in options],
        answer=sorted(answer, key=labels.index) if answer and set(answer) <= set(labels) else answer,
        explanation=_text(fields, EXPLANATION),
        human_accuracy=accuracy,
        respondents=respondents,
        comment=_text(fields, COMMENT),
        exam_type=_text(fields, ("exam_type",)) or document.exam_type,
        exam_class=_text(fields, ("exam_class",)) or document.exam_class,
        exam_subject=_text(fields, ("exam_subject",)) or document.exam_subject,
        content_hash=content_hash(stem, (text for _, text in options), shared),
    )
    return question, _doubts(labels, answer, _string(_first(fields, ANSWER)))


def _doubts(labels: list[str], answer: list[str] | None, stated: str | None) -> list[tuple[str, str]]:
    """What reading a row left open. Whether what was read makes a sound question is the clean stage's to say."""
    doubts = []
    if labels != [chr(65 + index) for index in range(len(labels))]:
        doubts.append(("options_not_contiguous", f"labels {' '.join(labels)}"))
    if answer is None and stated is not None:
        doubts.append(("answer_not_read", f"answer given as {stated[:40]!r}"))
    return doubts


def read_options(value: Any, fields: Mapping[str, Any] | None = None) -> list[tuple[str, str]]:
    """Options as (label, text) from a mapping, a list, text with a label a line, or columns A, B, C.

    Texts keep what is in them, spaces included; options without text are left out, as CMB pads with them.
    """
    if isinstance(value, str) and value.strip().startswith(("{", "[")):
        with suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, Mapping):
        pairs = [(str(label).strip().upper(), _option(text)) for label, text in value.items()]
    elif isinstance(value, list):
        pairs = _from_list(value)
    elif isinstance(value, str):
        pairs = _from_text(value)
    else:
        columns = [(letter, (fields or {}).get(letter.lower())) for letter in "ABCDEFGHIJK"]
        more = [(letter, (fields or {}).get(f"option_{letter.lower()}")) for letter in "ABCDEFGHIJK"]
        pairs = [(letter, _option(text)) for letter, text in [*columns, *more]]
    return [(label, text) for label, text in pairs if text is not None and label]


def _from_list(value: list[Any]) -> list[tuple[str, str | None]]:
    if value and all(isinstance(item, Mapping) for item in value):
        return [
            (
                str(item.get("label", item.get("key", chr(65 + i)))).strip().upper(),
                _option(item.get("text", item.get("value"))),
            )
            for i, item in enumerate(value)
        ]
    texts = [_option(item) for item in value]
    joined = "\n".join(text or "" for text in texts)
    labelled = _from_text(joined)
    if len(labelled) == len(texts):
        return labelled
    return [(chr(65 + i), text) for i, text in enumerate(texts)]


def _from_text(value: str) -> list[tuple[str, str | None]]:
    """Options of a text with a label at the start of each; a label counts only in its turn."""
    marks: list[re.Match[str]] = []
    for found in _OPTION_LINE.finditer(value):
        if found[1] == chr(65 + len(marks)):
            marks.append(found)
    if not marks:
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(value)]
    return [(mark[1], _option(value[mark.end() : end])) for mark, end in zip(marks, ends, strict=True)]


def read_answer(value: Any, options: list[tuple[str, str]]) -> list[str] | None:
    """Letters of an answer given as ``ABD``, ``A,B``, a list, or the text of an option; None if there is none."""
    if isinstance(value, list):
        value = ",".join(str(item) for item in value)
    text = _string(value)
    if text is None:
        return None
    folded = fold(text)
    if _LETTERS_ONLY.fullmatch(folded) and _LETTERS.search(folded):
        return sorted({letter.upper() for letter in _LETTERS.findall(folded)})
    hits = [label for label, option in options if option.strip() == text.strip()]
    return hits if len(hits) == 1 else None


def _human(fields: Mapping[str, Any]) -> tuple[float | None, int | None]:
    """Share of right answers in 0..1 and number of respondents."""
    total, right = _number(_first(fields, TOTAL)), _number(_first(fields, RIGHT))
    raw = _first(fields, ACCURACY)
    accuracy = _number(raw)
    if accuracy is None and right is not None and total:
        accuracy = right / total
    elif accuracy is not None and (
        accuracy > 1 or (isinstance(raw, str) and raw.strip().endswith(("%", "％")))
    ):
        accuracy /= 100
    if accuracy is not None and not 0 <= accuracy <= 1:
        accuracy = None
    return accuracy, int(total) if total is not None and total >= 0 else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    text = _string(value)
    if text is None:
        return None
    try:
        number = float(text.rstrip("%％ "))
    except ValueError:
        return None
    return number if number == number and abs(number) != float("inf") else None


def _type(stated: str | None, stem: str, answer: list[str] | None, shared: str | None) -> QuestionType:
    if stated in set(QuestionType):
        return QuestionType(stated)
    announced = "X" if stated and re.search(r"多项|多选|X型|不定项|multiple", stated, re.IGNORECASE) else None
    letters = "".join(answer) if answer else None
    return question_type(announced, stem, letters, shared_case=shared is not None, shared_options=False)


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _text(fields: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := _string(fields.get(name))) is not None), None)


def _option(value: Any) -> str | None:
    """The text of an option: 无 and None are what an option may say, so only nothing is absent."""
    if value is None or isinstance(value, dict | list):
        return None
    return str(value).strip() or None


def _string(value: Any) -> str | None:
    """Text without surrounding space; None for what means absent."""
    if value is None or isinstance(value, dict | list):
        return None
    text = str(value).strip()
    return None if text.casefold() in _ABSENT else text
