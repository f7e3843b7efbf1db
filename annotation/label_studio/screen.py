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
CORRECTED, CORRECTED_KEY = "corrected", "corrected_key"
"""Editable text of stem and options, and of the key; shown when they are said to be wrong."""
BASE, BASE_KEY = "base", "base_key"
"""Beside them, never shown: what they were filled with, so that a later change of the task confuses nothing."""
CROP = "crop"
OPINIONS = "opinions"

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
def review_config() -> str:
    """The screen as XML: the question on the left, the dimensions of the taxonomy on the right.

    Results carry the Chinese name of a label; its English name shows on hover. Nothing scrolls at 1440 by 900
    but a question that is too long, and that on its own.
    """
    return _config(opinions=False)


@cache
def adjudication_config() -> str:
    """The same screen with what two experts said above the question, without their names."""
    return _config(opinions=True)


def screen() -> ET.Element:
    """An empty screen with our style."""
    view = ET.Element("View")
    ET.SubElement(view, "Style").text = (
        files("annotation.label_studio").joinpath("screen.css").read_text(encoding="utf-8")
    )
    return view


def written(view: ET.Element) -> str:
    """A screen as XML."""
    ET.indent(view)
    return ET.tostring(view, encoding="unicode")


def picture(column: ET.Element) -> None:
    """The place of the cut-out from the page; nothing shows where there is none."""
    box = ET.SubElement(column, "View", className="bd-crop")
    ET.SubElement(
        box, "Image", name=CROP, value=f"${CROP}", zoom="false", zoomControl="false", rotateControl="false"
    )


def text_area(parent: ET.Element, name: str, *, rows: int, **more: str) -> None:
    """A field for text."""
    attributes = {
        "name": name,
        "toName": TEXT,
        "rows": str(rows),
        "maxSubmissions": "1",
        "editable": "true",
        "showSubmitButton": "false",
    }
    ET.SubElement(parent, "TextArea", attributes | more)


def hidden(parent: ET.Element, name: str) -> None:
    """A value of the task that comes back with the answer, as it was when the screen was shown."""
    text_area(ET.SubElement(parent, "View", style="display:none"), name, rows=1, value="$base")


def _config(*, opinions: bool) -> str:
    view = screen()
    columns = ET.SubElement(view, "View", className="bd")
    paper = ET.SubElement(columns, "View", className="bd-paper")
    if opinions:
        box = ET.SubElement(paper, "View", className="bd-box bd-said")
        ET.SubElement(box, "Text", name=OPINIONS, value=f"${OPINIONS}")
    _paper(paper)
    labels = ET.SubElement(columns, "View", className="bd-labels")
    for numeral, dimension in zip(_NUMERALS, dimensions().values(), strict=False):
        _choices(labels, numeral, dimension)
    _remarks(labels)
    return written(view)


def _paper(column: ET.Element) -> None:
    box = ET.SubElement(column, "View", className="bd-box")
    meta = ET.SubElement(box, "View", className="bd-meta")
    ET.SubElement(meta, "Header", value="$meta", size="6")
    ET.SubElement(box, "Text", name=TEXT, value="$question")
    box = ET.SubElement(column, "View", className="bd-box")
    ET.SubElement(box, "Text", name="options", value="$options")
    _correction(column, "wrong_stem", CORRECTED, BASE, "$text", rows=9)
    box = ET.SubElement(column, "View", className="bd-box bd-key")
    ET.SubElement(box, "Text", name="answer", value="$answer")
    _correction(column, "wrong_key", CORRECTED_KEY, BASE_KEY, "$key", rows=1)
    # Inside a text field or a radio button no key of Label Studio works. The head of a panel takes the focus after
    # them, so that one press of Tab leaves the fields for corrections, and Ctrl+Enter submits.
    box = ET.SubElement(column, "View", className="bd-box bd-why")
    fold = ET.SubElement(box, "Collapse", open="true")
    panel = ET.SubElement(fold, "Panel", value="解析 Explanation")
    ET.SubElement(panel, "Text", name="explanation", value="$explanation")
    picture(column)


def _correction(column: ET.Element, flag: str, name: str, base: str, value: str, *, rows: int) -> None:
    """A field that shows when that flag is set, filled with what is to be corrected."""
    [zh] = [each.zh for each in FLAG_NAMES if each.kind == flag]
    shown = {"visibleWhen": "choice-selected", "whenTagName": FLAGS, "whenChoiceValue": zh}
    box = ET.SubElement(column, "View", {"className": "bd-box bd-edit"} | shown)
    title = ET.SubElement(box, "View", className="bd-meta")
    ET.SubElement(title, "Header", value="请在此改正 · correct it here", size="6")
    text_area(box, name, rows=rows, value=value)
    hidden(box, base)


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
    text_area(box, NOTE, rows=1, placeholder="备注（可空）· note (optional)")


def _layout(dimension: Dimension) -> str:
    if len(dimension.labels) <= 9:
        return "bd-line"
    longest = max(len(label.zh) for label in dimension.labels)
    return "bd-grid3" if longest > 11 else "bd-grid4"
