"""Papers as tables: the JSON that CMB publishes, the CSV that CMExam publishes."""

from __future__ import annotations

import csv
import io
import json

from renderer.model import LETTERS, Item, Paper

CSV_COLUMNS = ("Question", "Options", "Answer", "Explanation", "Respondents", "Correct", "Comment")

EXAM_COLUMNS = ("exam_type", "exam_class", "exam_subject")


def cmb_json(paper: Paper) -> bytes:
    """A list of objects with CMB's keys; an unknown answer or explanation is an empty string, as there."""
    rows = [_cmb_row(item) for item in paper.items]
    return (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode()


def _cmb_row(item: Item) -> dict[str, object]:
    return {
        **dict(zip(EXAM_COLUMNS, item.exam, strict=True)),
        "question": item.stem,
        "answer": item.answer or "",
        "explanation": item.explanation or "",
        "question_type": "多项选择题" if item.type == "X" else "单项选择题",
        "option": dict(zip(LETTERS, item.options, strict=False)),
    }


def cmexam_csv(paper: Paper) -> bytes:
    """CSV with CMExam's columns and people's results; options one a line behind their letters."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for item in paper.items:
        options = "\n".join(f"{letter} {text}" for letter, text in zip(LETTERS, item.options, strict=False))
        writer.writerow([item.stem, options, item.answer, item.explanation, item.respondents, item.right, item.comment])
    return target.getvalue().encode()


def manifest_csv(papers: list[Paper]) -> bytes:
    """Which exam each paper belongs to; papers whose rows say so themselves are left out."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(("document", *EXAM_COLUMNS))
    writer.writerows((paper.file, *paper.exam) for paper in papers if paper.exam)
    return target.getvalue().encode()
