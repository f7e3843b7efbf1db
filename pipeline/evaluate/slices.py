"""The parts of a split that are scored by themselves, with their names in both languages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from pipeline.evaluate.scoring import Slice
from schemas.annotations import LabelStatus
from schemas.release import ReleaseRow
from schemas.taxonomy import cmb_catalogue, dimensions

OVERALL = Slice("overall", "全部", "all")
_REVIEWED = (LabelStatus.AGREED, LabelStatus.ADJUDICATED)
REVIEWED = "reviewed"
"""The label status of a question whose five labels experts settled."""
_STATUS = {REVIEWED: "已审核", "partly reviewed": "部分审核", "unreviewed": "未审核"}
_OWN_NAMES = {
    "overall": ("总体", "Overall"),
    "question_type": ("题型", "Question type"),
    "exam_type": ("考试类别", "Exam type"),
    "exam_class": ("考试", "Exam"),
    "exam_subject": ("科目", "Subject"),
    "length": ("题长（字符）", "Question length (characters)"),
    "label_status": ("标签状态", "Label status"),
}
_LENGTH_STEP, _LENGTH_LAST = 10, 100
"""Characters a slice of question length spans, and where the last one, without an end, begins (CMExam, figure 3)."""


def dimension_names() -> dict[str, tuple[str, str]]:
    """Chinese and English name of every dimension, in the order of tables."""
    labelled = {name: (dimension.zh, dimension.en) for name, dimension in dimensions().items()}
    return {
        "overall": _OWN_NAMES["overall"],
        "question_type": _OWN_NAMES["question_type"],
        **labelled,
    } | _OWN_NAMES


def slices_of(question: ReleaseRow) -> list[Slice]:
    """The slices a question belongs to; none for what is not known of it."""
    found = [OVERALL, Slice("question_type", question.question_type, question.question_type)]
    for name in dimensions():
        label = getattr(question, name)
        if label is not None:
            found.append(Slice(name, label, getattr(question, f"{name}_en")))
    for name in ("exam_type", "exam_class"):
        label = getattr(question, name)
        if label is not None:
            found.append(Slice(name, label, _exam_names().get(label)))
    if question.exam_subject is not None:
        found.append(Slice("exam_subject", question.exam_subject, None))
    found.append(Slice("length", length_label(question), None))
    status = review_status(question)
    found.append(Slice("label_status", _STATUS[status], status))
    return found


def length_label(question: ReleaseRow) -> str:
    """The span of lengths that the question's text, its shared case included, falls in: ``20–29``, ``100+``."""
    length = len(question.stem) + len(question.shared_stem or "")
    if length >= _LENGTH_LAST:
        return f"{_LENGTH_LAST}+"
    start = length // _LENGTH_STEP * _LENGTH_STEP
    return f"{start}–{start + _LENGTH_STEP - 1}"


def review_status(question: ReleaseRow) -> str:
    """``reviewed`` when experts settled all five labels, ``partly reviewed`` when some, else ``unreviewed``."""
    settled = sum(getattr(question, f"{name}_status") in _REVIEWED for name in dimensions())
    if settled == len(dimensions()):
        return REVIEWED
    return "partly reviewed" if settled else "unreviewed"


def by_slice(questions: Iterable[ReleaseRow]) -> dict[Slice, list[str]]:
    """The ids of the questions of every slice, slices in the order of tables."""
    found: dict[Slice, list[str]] = {}
    for question in questions:
        for part in slices_of(question):
            found.setdefault(part, []).append(question.question_id)
    order = _order()
    return {part: found[part] for part in sorted(found, key=order)}


def _order() -> Callable[[Slice], tuple[int, int, str]]:
    names = list(dimension_names())
    labels: dict[tuple[str, str], int] = {}
    for name, dimension in dimensions().items():
        labels |= {(name, label): index for index, label in enumerate(dimension.zh_names())}
    catalogue: Sequence[str] = list(_exam_names())
    labels |= {
        (name, label): index for name in ("exam_type", "exam_class") for index, label in enumerate(catalogue)
    }
    spans = [f"{start}–{start + _LENGTH_STEP - 1}" for start in range(0, _LENGTH_LAST, _LENGTH_STEP)]
    labels |= {("length", label): index for index, label in enumerate([*spans, f"{_LENGTH_LAST}+"])}
    labels |= {("label_status", label): index for index, label in enumerate(_STATUS.values())}

    def order(part: Slice) -> tuple[int, int, str]:
        return names.index(part.dimension), labels.get((part.dimension, part.label), len(labels)), part.label

    return order


@cache
def _exam_names() -> dict[str, str]:
    """English names of CMB's categories and subcategories, in the catalogue's order."""
    names: dict[str, str] = {}
    for category in cmb_catalogue():
        names.setdefault(category.zh, category.en)
        for subcategory in category.subcategories:
            names.setdefault(subcategory.zh, subcategory.en)
    return names
