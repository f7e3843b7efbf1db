"""What screens are made of: Label Studio's tags, with the look and the words that all our screens share. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from xml.etree import ElementTree as ET

TEXT = "question"
"""The object that all controls belong to."""
NOTE = "note"
CROP = "crop"
BASE = "base"
"""What fields for corrections were filled with, in a task's data and in a field that never shows."""


@dataclass(frozen=True)
class Offer:
    """Something to choose that is no label of the taxonomy: a flag, or what becomes of a question."""

    kind: str
    """As it stands in tables."""
    zh: str
    en: str
    key: str


def screen(*styles: str) -> ET.Element:
    """An empty screen with our style, and with further style sheets of this folder."""
    view = ET.Element("View")
    sheets = (files("annotation.label_studio") / name for name in ("screen.css", *styles))
    ET.SubElement(view, "Style").text = "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    return view


def written(view: ET.Element) -> str:
    """A screen as XML."""
    ET.indent(view)
    return ET.tostring(view, encoding="unicode")


def view(parent: ET.Element, style: str, **more: str) -> ET.Element:
    """A part of a screen."""
    return ET.SubElement(parent, "View", {"className": style} | more)


def line(parent: ET.Element, text: str, size: int = 6) -> None:
    """A line of our own words, or of a task's where it is ``$name``."""
    ET.SubElement(parent, "Header", value=text, size=str(size))


def text(parent: ET.Element, name: str, value: str | None = None) -> None:
    """A text of the task: the one of that name, where no other is said."""
    ET.SubElement(parent, "Text", name=name, value=value or f"${name}")


def headed(parent: ET.Element, head: str, style: str = "", **more: str) -> ET.Element:
    """A box with a line in small print over it."""
    box = view(parent, f"bd-box {style}".strip(), **more)
    line(view(box, "bd-meta"), head)
    return box


def titled(parent: ET.Element, zh: str, en: str, style: str = "") -> ET.Element:
    """A box with its name in both languages."""
    box = view(parent, f"bd-dim {style}".strip())
    title = view(box, "bd-title")
    line(title, zh, size=5)
    line(view(title, "bd-en"), en)
    return box


def folded(parent: ET.Element, head: str, *, style: str, is_open: bool = False) -> ET.Element:
    """A part that folds; its content goes into what is returned.

    Inside a text field or a radio button no key of Label Studio works. The head of a folded part takes the focus
    after them: one press of Tab leaves the fields before it, and keys work again.
    """
    fold = ET.SubElement(view(parent, style), "Collapse", {"open": "true"} if is_open else {})
    return ET.SubElement(fold, "Panel", value=head)


def one_of(parent: ET.Element, name: str, *, message: str, layout: str = "inline") -> ET.Element:
    """A control of which one choice is wanted; its choices go into what is returned."""
    return ET.SubElement(
        parent,
        "Choices",
        name=name,
        toName=TEXT,
        choice="single-radio",
        layout=layout,
        required="true",
        requiredMessage=message,
    )


def offered(control: ET.Element, offers: Iterable[Offer]) -> None:
    """The choices of a control, with English on hover."""
    for each in offers:
        ET.SubElement(control, "Choice", value=each.zh, hint=each.en, hotkey=each.key)


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


def note(parent: ET.Element) -> None:
    """The field for what else is to be said."""
    text_area(parent, NOTE, rows=1, placeholder="备注（可空）· note (optional)")


def hidden(parent: ET.Element, name: str) -> None:
    """What fields were filled with comes back with the answer: a later change of the task confuses nothing."""
    text_area(ET.SubElement(parent, "View", style="display:none"), name, rows=1, value=f"${BASE}")


def picture(parent: ET.Element) -> None:
    """The place of the cut-out from the page; nothing shows where there is none."""
    attributes = {"zoom": "false", "zoomControl": "false", "rotateControl": "false"}
    ET.SubElement(view(parent, "bd-crop"), "Image", {"name": CROP, "value": f"${CROP}"} | attributes)
