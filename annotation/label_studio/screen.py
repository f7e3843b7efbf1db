"""The reviewer's screen: Label Studio's labelling configuration, made from the taxonomy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from xml.etree import ElementTree as ET

from schemas.taxonomy import Dimension, LabelName, dimensions

TEXT = "question"
"""The object that all controls belong to."""
FLAGS = "flags"
NOTE = "note"

_NUMERALS = "①②③④⑤⑥⑦⑧⑨"
_UNREACHABLE = "ctrl+alt+shift+f19"
# A choice without a key is given one by Label Studio: pressing 6 then silently changed the disease group.
# Labels of the long lists are parked on a chord that no keyboard has, and are picked by mouse or Tab and arrows.
_KEYS = {"medical_discipline": "qwetyio", "competency": "asdfg", "difficulty": "12345"}


@dataclass(frozen=True)
class FlagName:
    """Something an expert can say is wrong with a question."""

    kind: str
    """As it stands in tables."""
    zh: str
    en: str
    key: str


FLAG_NAMES = (
    FlagName("wrong_stem", "题干有误", "The stem is wrong", "7"),
    FlagName("wrong_key", "答案有误", "The answer key is wrong", "8"),
    FlagName("out_of_scope", "超出范围", "Out of scope", "9"),
)


@cache
def labeling_config() -> str:
    """The screen as XML: the question on the left, the dimensions of the taxonomy on the right.

    Results carry the Chinese name of a label; its English name shows on hover. Nothing scrolls at 1440 by 900
    but a question that is too long, and that on its own.
    """
    view = ET.Element("View")
    ET.SubElement(view, "Style").text = (
        files("annotation.label_studio").joinpath("screen.css").read_text(encoding="utf-8")
    )
    columns = ET.SubElement(view, "View", className="bd")
    _paper(ET.SubElement(columns, "View", className="bd-paper"))
    labels = ET.SubElement(columns, "View", className="bd-labels")
    for numeral, dimension in zip(_NUMERALS, dimensions().values(), strict=False):
        _choices(labels, numeral, dimension)
    _remarks(labels)
    ET.indent(view)
    return ET.tostring(view, encoding="unicode")


def _paper(column: ET.Element) -> None:
    box = ET.SubElement(column, "View", className="bd-box")
    meta = ET.SubElement(box, "View", className="bd-meta")
    ET.SubElement(meta, "Header", value="$meta", size="6")
    ET.SubElement(box, "Text", name=TEXT, value="$question")
    for name, style in (("options", ""), ("answer", " bd-key"), ("explanation", " bd-why")):
        box = ET.SubElement(column, "View", className=f"bd-box{style}")
        ET.SubElement(box, "Text", name=name, value=f"${name}")


def _choices(column: ET.Element, numeral: str, dimension: Dimension) -> None:
    keys = _KEYS.get(dimension.name, "")
    box = ET.SubElement(column, "View", className=f"bd-dim {_layout(dimension)}")
    title = ET.SubElement(box, "View", className="bd-title")
    ET.SubElement(title, "Header", value=f"{numeral} {dimension.zh}", size="5")
    english = ET.SubElement(title, "View", className="bd-en")
    ET.SubElement(english, "Header", value=dimension.en, size="6")
    control = ET.SubElement(
        box,
        "Choices",
        name=dimension.name,
        toName=TEXT,
        choice="single-radio",
        layout="inline",
        required="true",
        requiredMessage=f"请选择 {numeral} {dimension.zh} · choose: {dimension.en}",
    )
    # "Not applicable" stands in the middle of the alphabet; people look for it at the end.
    for position, label in enumerate(sorted(dimension.labels, key=lambda label: label.abbr == "N/A")):
        key = keys[position] if position < len(keys) else _UNREACHABLE
        ET.SubElement(control, "Choice", _choice(label, key))


def _choice(label: LabelName, key: str) -> dict[str, str]:
    attributes = {"value": label.zh, "hint": label.en, "hotkey": key}
    if label.code:
        attributes["html"] = f"{label.code} {label.zh}"
    return attributes


def _remarks(column: ET.Element) -> None:
    box = ET.SubElement(column, "View", className="bd-dim bd-flags")
    flags = ET.SubElement(
        box, "Choices", name=FLAGS, toName=TEXT, choice="multiple", layout="inline", required="false"
    )
    for flag in FLAG_NAMES:
        ET.SubElement(flags, "Choice", value=flag.zh, hint=flag.en, hotkey=flag.key)
    ET.SubElement(
        box,
        "TextArea",
        name=NOTE,
        toName=TEXT,
        rows="1",
        maxSubmissions="1",
        editable="true",
        showSubmitButton="false",
        placeholder="备注（可空）· note (optional)",
    )


def _layout(dimension: Dimension) -> str:
    if len(dimension.labels) <= 9:
        return "bd-line"
    longest = max(len(label.zh) for label in dimension.labels)
    return "bd-grid3" if longest > 11 else "bd-grid4"
