"""The gold file: what every question of the sample says and what should become of it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from renderer.model import DIMENSIONS, LETTERS, Item, Paper
from renderer.papers import BROKEN_FILE

ABOUT = (
    "Expected outcome of the pipeline on the sample exam. Made by make_sample.py from questions/*.toml; do not"
    " edit. `labels` are an expert's, for information: they measure annotators and script reviewers."
)


def gold_json(papers: list[Paper]) -> str:
    """The gold file's text."""
    questions = [_question(paper, item) for paper in papers for item in paper.items]
    documents = [_document(paper.file) for paper in papers]
    documents += [_document(paper.key_file, "key") for paper in papers if paper.key_file]
    documents.append(
        _document(BROKEN_FILE, "rejected") | {"expect": {"place": "rejected", "stage": "ocr", "reason": "truncated"}}
    )
    gold = {
        "about": ABOUT,
        "totals": _totals(questions, keys=sum(1 for paper in papers if paper.key_file)),
        "documents": documents,
        "questions": questions,
    }
    return json.dumps(gold, ensure_ascii=False, indent=1) + "\n"


def _document(name: str | None, role: str = "paper") -> dict[str, Any]:
    return {"document": name, "role": role}


def _question(paper: Paper, item: Item) -> dict[str, Any]:
    shared = next(group for section in paper.sections for group in section.groups if item in group.items)
    tabular = paper.layout in ("cmb_json", "cmexam_csv")
    return {
        "id": item.id,
        "document": paper.file,
        "layout": paper.layout,
        "section": None if tabular else item.section,
        "number": item.number,
        "question_type": item.type,
        "stem": item.stem,
        "shared_stem": shared.stem,
        "group": item.group,
        "figure": item.figure is not None,
        "table": item.table is not None,
        "options": [{"label": letter, "text": text} for letter, text in zip(LETTERS, item.options, strict=False)],
        "answer": list(item.answer) if item.answer else None,
        "explanation": item.explanation if tabular or paper.key == "inline" else None,
        "human_accuracy": item.right / item.respondents if item.right and item.respondents else None,
        "respondents": item.respondents,
        "comment": item.comment,
        "exam": list(item.exam),
        "expect": {"place": "kept"} | item.expect,
        "labels": dict(zip(DIMENSIONS, item.labels, strict=True)),
    }


def _totals(questions: list[dict[str, Any]], keys: int) -> dict[str, Any]:
    """Counts of what happens to questions at parse, clean and dedup, each with what came in.

    A key in a file of its own is an item of the parser too: merged into its paper.
    """
    totals: dict[str, Any] = {}
    left = len(questions) + keys
    for stage in ("parse", "clean", "dedup"):
        ends = Counter(
            question["expect"]["place"]
            for question in questions
            if question["expect"].get("stage", "dedup") == stage and question["expect"]["place"] != "kept"
        )
        gone = {place: ends[place] for place in ("merged", "rejected", "waiting")}
        if stage == "parse":
            gone["merged"] += keys
        totals[stage] = {"in": left, "kept": left - sum(gone.values()), **gone}
        left = totals[stage]["kept"]
    return totals
