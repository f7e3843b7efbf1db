"""Read a printed paper and say where what is read differs from what was printed."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.papers.model import ASIDE, Kind, Paper, Printed, Truth
from benchmarks.papers.render import render, truths
from build_dataset.pipeline.parse.paper import ParseOutcome, finish
from build_dataset.pipeline.parse.stage import check_gates, pair_keys, read_paper
from build_dataset.schemas.documents import Document, Line, LineKind
from build_dataset.schemas.questions import Question

WAITS = "waits:"
"""Beginning of a line about an item that waits for a person."""
TYPES = {Kind.C: "B1", Kind.K: "A1"}
"""Kinds of question that are converted, and the kinds they become."""


def lines_of(pages: Sequence[Sequence[str]], document: str) -> list[Line]:
    """Lines without layout."""
    return [
        Line(
            document=document,
            page=number,
            order=order,
            text=text,
            box=None,
            confidence=None,
            column=0,
            kind=LineKind.TEXT,
        )
        for number, page in enumerate(pages, 1)
        for order, text in enumerate(page)
    ]


def read(printed: Printed) -> ParseOutcome:
    """Parse a paper and its key."""
    return read_lines(lines_of(printed.pages, "exam.pdf"), lines_of(printed.key, "exam_answers.pdf"))


def read_lines(lines: Sequence[Line], key: Sequence[Line] = ()) -> ParseOutcome:
    """Parse the lines of a paper and of its key."""
    papers = [read_paper("exam.pdf", lines)]
    papers += [read_paper("exam_answers.pdf", key)] if key else []
    paired = pair_keys(papers)
    check_gates(papers[0])
    document = Document(document="exam.pdf", sha256="ef" * 32, format="pdf", pages=1, rows=None)
    outcome = finish(papers[0], document)
    outcome.review.extend(paired.review)
    return outcome


def differences(paper: Paper, outcome: ParseOutcome | None = None) -> list[str]:
    """One line for everything that was not read as it was printed; empty when all was."""
    outcome = outcome or read(render(paper))
    expected = {(truth.section, truth.number): truth for truth in truths(paper)}
    found = {(question.section or 0, question.number or 0): question for question in outcome.questions}
    wrong = [f"{WAITS} {item.item_id} {item.detail}" for item in outcome.review]
    waiting = {name.split("-", 1)[-1] for item in outcome.review for name in item.question_ids or [item.item_id]}
    aside = {item.item_id.split("-", 1)[1]: item.reason for item in outcome.rejects if item.reason != "instruction"}
    for place, truth in expected.items():
        name = f"{place[0]}-{place[1]:03d}"
        if truth.kind in ASIDE:
            if aside.pop(name, None) != truth.kind:
                wrong.append(f"{name}: not set aside as {truth.kind}")
        elif place not in found:
            wrong += [f"{name}: not found"] if name not in waiting else []
        else:
            wrong += [f"{name}: {one}" for one in _differences(truth, found.pop(place))]
    wrong += [f"set aside: {name} {reason}" for name, reason in aside.items()]
    wrong += [f"not printed: {place} {question.stem[:30]!r}" for place, question in found.items()]
    return wrong


def _differences(truth: Truth, question: Question) -> list[str]:
    pairs = {
        "stem": (truth.stem, question.stem),
        "options": (list(truth.options), [option.text for option in question.options]),
        "answer": (list(truth.answer) if truth.answer else None, question.answer),
        "explanation": (truth.explanation, _one_line(question.explanation)),
        "case": (truth.case, _one_line(question.shared_stem)),
        "type": (_type(truth), question.question_type.value),
        "grouped": (truth.group is not None, question.group_id is not None),
    }
    return [f"{name}: printed {printed!r}, read {read!r}" for name, (printed, read) in pairs.items() if printed != read]


def _one_line(text: str | None) -> str | None:
    """Without the lines that the parser gives to lists."""
    return text.replace("\n", "") if text else text


def _type(truth: Truth) -> str:
    if truth.answer is None and truth.kind is Kind.X:
        return "X"
    return TYPES.get(truth.kind, truth.kind.value)
