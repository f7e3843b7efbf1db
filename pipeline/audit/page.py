"""The audit for people: the most suspicious questions first, with everything that is said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pipeline.audit.answers import Answers
from pipeline.audit.params import AuditParams
from pipeline.crop import crops
from pipeline.rendering import html
from pipeline.rendering.html import data_uri
from pipeline.stage import Context
from schemas.audit import AuditItem

if TYPE_CHECKING:
    from pipeline.audit.stage import Audited

PAGE = "index.html"
_TEXT = 2000
"""Characters of an explanation that are shown."""
_PICTURES = 9_000_000
"""Bytes of all cut-outs together."""
_PICTURE = 260_000
KINDS = {
    "explanation": "解析",
    "copies": "其他来源",
    "models": "模型作答",
    "people": "考生正确率",
    "options": "选项",
    "expert": "人工核对",
}


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
        "kinds": KINDS,
        "analysis": _analysis(rows),
    }
    return {PAGE: html.render("pipeline.audit:audit.html", **values)}


def _votes(said: Mapping[str, frozenset[str]]) -> list[tuple[str, list[str]]]:
    """Answers, and who gave each, the commonest first."""
    found: dict[str, list[str]] = {}
    for name, letters in sorted(said.items()):
        found.setdefault("".join(sorted(letters)), []).append(name)
    return sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))


def _analysis(rows: Sequence[AuditItem]) -> dict[str, int]:
    """Questions by what classical item analysis finds."""
    asked = [row for row in rows if row.respondents]
    return {
        "answered 有作答": len(asked),
        "nobody gives the key 无人选择答案": sum(row.right == 0 for row in asked),
        "everybody gives the key 全部选择答案": sum(row.right == 1 for row in asked),
        "the able miss it more often 能力强者反而选错": sum((row.item_total or 0) < 0 for row in asked),
        "with distractors nobody picks 有无人选择的干扰项": sum(bool(row.unpicked) for row in asked),
    }
