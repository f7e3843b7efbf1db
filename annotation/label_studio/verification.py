"""The screen of those who verify what was read: the page's cut-out beside the text, to be corrected in place. Pure."""

from __future__ import annotations

from functools import cache
from xml.etree import ElementTree as ET

from annotation.label_studio import widgets
from annotation.label_studio.screen import CORRECTED, CORRECTED_KEY
from annotation.label_studio.widgets import BASE, TEXT, Offer

VERDICT = "verdict"
"""The control that says what becomes of the question."""
VERDICTS = (
    Offer("keep", "保留（如上所改）", "Keep it, as corrected above", "1"),
    Offer("drop", "剔除", "Drop it: no sound question", "2"),
    Offer("unsure", "无法判断", "I cannot tell", "3"),
)


@cache
def verification_config() -> str:
    """The screen as XML: why it waits and what the page shows on the left, the text to correct on the right."""
    root = widgets.screen()
    columns = widgets.view(root, "bd bd-verify")
    paper = widgets.view(columns, "bd-paper")
    widgets.text(widgets.headed(paper, "$meta", "bd-said"), TEXT, "$reason")
    widgets.picture(paper)
    fields = widgets.view(columns, "bd-labels")
    stem = widgets.titled(fields, "题干与选项", "Stem and options", "bd-edit")
    widgets.text_area(stem, CORRECTED, rows=16, value="$text")
    key = widgets.titled(fields, "答案", "Answer key", "bd-edit")
    widgets.text_area(key, CORRECTED_KEY, rows=1, value="$key")
    widgets.hidden(fields, BASE)
    _keys(fields)
    box = widgets.view(fields, "bd-dim bd-flags")
    verdict = widgets.one_of(box, VERDICT, message="请选择处理方式 · choose what becomes of it")
    widgets.offered(verdict, VERDICTS)
    widgets.note(box)
    return widgets.written(root)


def _keys(column: ET.Element) -> None:
    """Says which keys do what."""
    said = " · ".join(f"{verdict.key} {verdict.zh}" for verdict in VERDICTS)
    panel = widgets.folded(column, f"Tab 离开输入框，然后 {said} · Ctrl+Enter 提交", style="bd-why")
    english = "; ".join(f"{verdict.key}: {verdict.en}" for verdict in VERDICTS)
    widgets.line(panel, f"Tab leaves a field; then {english}; Ctrl+Enter submits")
