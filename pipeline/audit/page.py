"""The audit for people: the most suspicious questions first, with everything that is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pipeline.audit.answers import Answers
from pipeline.audit.params import AuditParams
from pipeline.crop import crops
from pipeline.rendering import html
from pipeline.rendering.html import data_uri
from pipeline.stage import Context

if TYPE_CHECKING:
    from pipeline.audit.stage import Audited

PAGE = "index.html"
_TEXT = 2000
"""Characters of an explanation that are shown."""
_PICTURES = 9_000_000
"""Bytes of all cut-outs together."""
_PICTURE = 260_000


def files(found: Audited, answers: Answers, params: AuditParams, context: Context) -> dict[str, bytes]:
    """``index.html``."""
    rows = found.items
    doubted = [pair for pair in zip(found.cases, rows, strict=True) if pair[1].suspicion > params.wrong]
    shown = doubted[: params.shown]
    wanted = [case.question for case, row in shown if row.suspicion >= params.verify]
    drawn = crops(wanted, context, _PICTURE) if wanted else {}
    left, pictures = _PICTURES, {}
    for case, _ in shown:
        kind, content = drawn.get(case.question.question_id, ("", b""))
        if content and len(content) <= left:
            left -= len(content)
            pictures[case.question.question_id] = data_uri(content, kind)
    values = {
        "name": context.dataset.name,
        "items": [
            {
                "row": row,
                "question": case.question,
                "explanation": (case.question.explanation or "")[:_TEXT],
                "votes": _votes(answers.get(row.question_id, {})),
                "crop": pictures.get(row.question_id),
            }
            for case, row in shown
        ],
        "total": len(rows),
        "suspicious": sum(row.suspicion >= params.verify for row in rows),
        "verify": params.verify,
        "respondents": found.respondents,
        "asked": [row for row in rows if row.respondents],
    }
    return {PAGE: html.render("pipeline.audit:audit.html", **values)}


def _votes(said: Mapping[str, frozenset[str]]) -> list[tuple[str, list[str]]]:
    """Answers, and who gave each, the commonest first."""
    found: dict[str, list[str]] = {}
    for name, letters in sorted(said.items()):
        found.setdefault("".join(sorted(letters)), []).append(name)
    return sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))
