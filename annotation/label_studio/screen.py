"""The reviewer's and the adjudicator's screen: Label Studio's configuration, made from the taxonomy. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from annotation.label_studio import widgets
from annotation.label_studio.widgets import BASE, CROP, NOTE, TEXT, Offer
from schemas.errors import UserError
from schemas.taxonomy import DIFFICULTY, Dimension, LabelName, dimensions

FLAGS = "flags"
CORRECTED, CORRECTED_KEY = "corrected", "corrected_key"
"""Editable text of stem and options, and of the key; shown when they are said to be wrong."""
BASE_KEY = "base_key"
OPINIONS = "opinions"
_TEXTS = ("options", "answer", "explanation")

_UNREACHABLE = "ctrl+alt+shift+f19"
# A choice without a key is given one by Label Studio: pressing 6 then silently changed the disease group.
# Labels of long lists are parked on a chord that no keyboard has, and are picked by mouse or Tab and space.
_ROWS = ("12345", "asdfg", "zxcvb", "qwetyio")
"""Keys that Label Studio leaves free. A dimension gets the shortest row that is left and long enough."""

FLAG_NAMES = (
    Offer("wrong_stem", "题干有误", "The stem is wrong", "7"),
    Offer("wrong_key", "答案有误", "The answer key is wrong", "8"),
    Offer("out_of_scope", "超出范围", "Out of scope", "9"),
)
_CORRECT = "请在此改正 · correct it here"
_PROPOSED = "请在此改正；专家提出的改正已填入 · correct it here; what experts proposed is filled in"


def review_config() -> str:
    """The screen as XML: the question on the left, the dimensions of the taxonomy on the right.

    Results carry the Chinese name of a label; its English name shows on hover. Nothing scrolls at 1440 by 900
    but a question that is too long, and that on its own.
    """
    return _config(opinions=False)


def adjudication_config() -> str:
    """The same screen with what two experts said above the question, without their names."""
    return _config(opinions=True)


def numbered_dimensions() -> Iterator[tuple[str, Dimension]]:
    """The dimensions with ①, ②, ③ … as screens and opinions name them.

    Raises:
        UserError: a dimension has the name of another part of the screen.
    """
    taken = {TEXT, NOTE, FLAGS, BASE, BASE_KEY, CORRECTED, CORRECTED_KEY, OPINIONS, CROP, *_TEXTS}
    if clash := sorted(taken & dimensions().keys()):
        raise UserError(
            f"the experts' screen has a part {clash[0]!r} already: call that dimension something else"
        )
    for place, dimension in enumerate(dimensions().values()):
        yield chr(ord("①") + place), dimension


def _config(*, opinions: bool) -> str:
    root = widgets.screen()
    columns = widgets.view(root, "bd")
    paper = widgets.view(columns, "bd-paper")
    if opinions:
        widgets.text(widgets.view(paper, "bd-box bd-said"), OPINIONS)
    _paper(paper, _PROPOSED if opinions else _CORRECT)
    labels = widgets.view(columns, "bd-labels")
    rows = _rows()
    for numeral, dimension in numbered_dimensions():
        _choices(labels, numeral, dimension, rows.get(dimension.name, ""))
    _remarks(labels)
    return widgets.written(root)


def _paper(column: ET.Element, correct: str) -> None:
    widgets.text(widgets.headed(column, "$meta"), TEXT)
    options, answer, explanation = _TEXTS
    widgets.text(widgets.view(column, "bd-box"), options)
    _correction(column, "wrong_stem", CORRECTED, BASE, correct, rows=9)
    widgets.text(widgets.view(column, "bd-box bd-key"), answer)
    _correction(column, "wrong_key", CORRECTED_KEY, BASE_KEY, correct, rows=1)
    why = widgets.folded(column, "解析 Explanation", style="bd-box bd-why", is_open=True)
    widgets.text(why, explanation)
    widgets.picture(column)


def _correction(column: ET.Element, flag: str, name: str, base: str, head: str, *, rows: int) -> None:
    """A field that shows when that flag is set, filled with what is to be corrected."""
    [zh] = [each.zh for each in FLAG_NAMES if each.kind == flag]
    shown = {"visibleWhen": "choice-selected", "whenTagName": FLAGS, "whenChoiceValue": zh}
    box = widgets.headed(column, head, "bd-edit", **shown)
    widgets.text_area(box, name, rows=rows, value="$text" if name == CORRECTED else "$key")
    widgets.hidden(box, base)


def _rows() -> dict[str, str]:
    """A row of keys for each dimension whose labels it can hold; difficulty, which has levels, gets the digits."""
    free = list(_ROWS)
    found = {}
    for dimension in sorted(dimensions().values(), key=lambda each: each.name != DIFFICULTY):
        row = next((row for row in free if len(row) >= len(dimension.labels)), None)
        if row is not None:
            found[dimension.name] = row
            free.remove(row)
    return found


def _choices(column: ET.Element, numeral: str, dimension: Dimension, keys: str) -> None:
    box = widgets.titled(column, f"{numeral} {dimension.zh}", dimension.en, _layout(dimension))
    message = f"请选择 {numeral} {dimension.zh} · choose: {dimension.en}"
    control = widgets.one_of(box, dimension.name, message=message)
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
    box = widgets.view(column, "bd-dim bd-flags")
    flags = ET.SubElement(
        box, "Choices", name=FLAGS, toName=TEXT, choice="multiple", layout="inline", required="false"
    )
    widgets.offered(flags, FLAG_NAMES)
    widgets.note(box)


def _layout(dimension: Dimension) -> str:
    if len(dimension.labels) <= 9:
        return "bd-line"
    longest = max(len(label.zh) for label in dimension.labels)
    return "bd-grid3" if longest > 11 else "bd-grid4"
