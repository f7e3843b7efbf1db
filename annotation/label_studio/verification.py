"""The screen of those who verify what was read: the page's cut-out beside the text, to be corrected in place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from xml.etree import ElementTree as ET

from annotation.label_studio.screen import (
    BASE,
    CORRECTED,
    CORRECTED_KEY,
    NOTE,
    TEXT,
    hidden,
    picture,
    screen,
    text_area,
    written,
)

VERDICT = "verdict"
"""The control that says what becomes of the question."""


@dataclass(frozen=True)
class VerdictName:
    """What becomes of a question that waited."""

    kind: str
    zh: str
    en: str
    key: str


VERDICTS = (
    VerdictName("keep", "保留（如上所改）", "Keep it, as corrected above", "1"),
    VerdictName("drop", "剔除", "Drop it: no sound question", "2"),
    VerdictName("unsure", "无法判断", "I cannot tell", "3"),
)


@cache
def verification_config() -> str:
    """The screen as XML: why it waits and what the page shows on the left, the text to correct on the right."""
    view = screen()
    columns = ET.SubElement(view, "View", className="bd bd-verify")
    paper = ET.SubElement(columns, "View", className="bd-paper")
    box = ET.SubElement(paper, "View", className="bd-box bd-said")
    meta = ET.SubElement(box, "View", className="bd-meta")
    ET.SubElement(meta, "Header", value="$meta", size="6")
    ET.SubElement(box, "Text", name=TEXT, value="$reason")
    picture(paper)
    fields = ET.SubElement(columns, "View", className="bd-labels")
    _field(fields, "题干与选项", "Stem and options", CORRECTED, "$text", rows=16)
    _field(fields, "答案", "Answer key", CORRECTED_KEY, "$key", rows=1)
    hidden(fields, BASE)
    _keys(fields)
    box = ET.SubElement(fields, "View", className="bd-dim bd-flags")
    verdict = ET.SubElement(
        box,
        "Choices",
        name=VERDICT,
        toName=TEXT,
        choice="single-radio",
        layout="inline",
        required="true",
        requiredMessage="请选择处理方式 · choose what becomes of it",
    )
    for name in VERDICTS:
        ET.SubElement(verdict, "Choice", value=name.zh, hint=name.en, hotkey=name.key)
    text_area(box, NOTE, rows=1, placeholder="备注（可空）· note (optional)")
    return written(view)


def _keys(column: ET.Element) -> None:
    """Says which keys do what. Its head takes the focus after the fields, in which no key works."""
    box = ET.SubElement(column, "View", className="bd-why")
    said = " · ".join(f"{verdict.key} {verdict.zh}" for verdict in VERDICTS)
    panel = ET.SubElement(
        ET.SubElement(box, "Collapse"), "Panel", value=f"Tab 离开输入框，然后 {said} · Ctrl+Enter 提交"
    )
    english = "; ".join(f"{verdict.key}: {verdict.en}" for verdict in VERDICTS)
    ET.SubElement(panel, "Header", value=f"Tab leaves a field; then {english}; Ctrl+Enter submits", size="6")


def _field(column: ET.Element, zh: str, en: str, name: str, value: str, *, rows: int) -> None:
    box = ET.SubElement(column, "View", className="bd-dim bd-edit")
    title = ET.SubElement(box, "View", className="bd-title")
    ET.SubElement(title, "Header", value=zh, size="5")
    english = ET.SubElement(title, "View", className="bd-en")
    ET.SubElement(english, "Header", value=en, size="6")
    text_area(box, name, rows=rows, value=value)
