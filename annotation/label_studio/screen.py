"""The screens of reviewers, adjudicators, verifiers and scorers: Label Studio's configuration from templates. Pure.

Results carry the Chinese name of a label; its English name shows on hover. At 1440 by 900 pixels nothing scrolls
except a column whose text is too long.
"""

import tomllib
from collections.abc import Iterator
from functools import cache, partial
from importlib.resources import files
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from jinja2 import Environment, FunctionLoader, StrictUndefined

from build_dataset.annotation.rubric import aspects
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.taxonomy import DIFFICULTY, Dimension, LabelName, dimensions

TEXT = "question"  # the object that all controls belong to
NOTE, CROP, FLAGS, OPINIONS, VERDICT = "note", "crop", "flags", "opinions", "verdict"  # parts
CORRECTED, CORRECTED_KEY, CORRECTED_EXPLANATION = "corrected", "corrected_key", "corrected_explanation"
"""Editable text of stem and options, of the key and of the explanation; shown when they are said to be wrong."""
SCOPE = "scope"  # the part that says whether a decision holds for all of its kind
BASE, BASE_KEY = "base", "base_key"
"""The text that fields for corrections were filled with, in a task's data and in fields that never show."""
ANSWERED = "answered"
"""The field that holds when a person answered, in answers that went back to a server, whose own time is a later one."""
_TAKEN = {
    TEXT, NOTE, ANSWERED, CROP, FLAGS, OPINIONS, CORRECTED, CORRECTED_KEY, CORRECTED_EXPLANATION, BASE, BASE_KEY, SCOPE,
    "options", "answer", "explanation",
}  # fmt: skip

_UNREACHABLE = "ctrl+alt+shift+f19"
# A choice without a key is given one by Label Studio: pressing 6 then silently changed the disease group.
# What no row and no chord is left for is parked on a chord that no keyboard has: mouse, or Tab and space.
_ROWS = ("12345", "asdfg", "zxcvb", "qwetyio")
"""Keys that Label Studio leaves free. A dimension gets the shortest row that is left and long enough."""
_CHORDS = ("shift", "alt")
"""Keys that are held while a label of a long list is chosen by its code: those that browsers and Label Studio leave."""
_CODES = "abcdefghijklmnopqrstuvwxyz123456789"
"""Of the labels of a long list, in their order: the n-th chapter of the ICD has the n-th letter."""
_NONE = "0"  # key of the label "not applicable", which comes last
SCORE_KEYS = ("12345", "qwert", "asdfg", "zxcvb")  # of each aspect: a row of the keyboard, the worst first


class Offer(NamedTuple):
    """A choice that is no label of the taxonomy: a flag, or a verdict."""

    kind: str  # its name in tables
    zh: str
    en: str
    key: str


def _read(name: str) -> str:
    return (files("build_dataset.annotation.label_studio") / "screens" / name).read_text(encoding="utf-8")


_TEMPLATES = Environment(loader=FunctionLoader(_read), autoescape=True, undefined=StrictUndefined)
FLAG_NAMES, VERDICTS = (tuple(Offer(**each) for each in rows) for rows in tomllib.loads(_read("offers.toml")).values())


def review_config(*, opinions: bool = False) -> str:
    """Return the experts' screen: the question on the left, the dimensions of the taxonomy on the right."""
    keys, columns = _keys(), []
    for numeral, dimension in numbered_dimensions():
        row, held = keys[dimension.name]
        choices = list(_choices(dimension, row, held))
        longest = max(len(label.zh) for label in dimension.labels)
        layout = "bd-line" if len(dimension.labels) <= 9 else "bd-grid3" if longest > 11 else "bd-grid4"
        columns.append((numeral, dimension, layout, held.title(), choices))
    return _rendered("review", columns=columns, flags={f.kind: f for f in FLAG_NAMES}, opinions=opinions)


adjudication_config = partial(review_config, opinions=True)
"""The same screen with what two experts said above the question, without their names."""


@cache
def verification_config() -> str:
    """Return the verifier's screen: why it waits and the page on the left, the text to correct on the right."""
    return _rendered("verification", verdicts=VERDICTS)


@cache
def scoring_config() -> str:
    """Return the screen for free text: what was known on the left; question, answer and scales on the right."""
    return _rendered("scoring", "scoring.css", scales=list(zip(aspects(), SCORE_KEYS, strict=True)))


def numbered_dimensions() -> Iterator[tuple[str, Dimension]]:
    """Yield the dimensions with ①, ②, ③ … as screens and opinions name them; none may have another part's name."""
    if clash := sorted(_TAKEN & dimensions().keys()):
        raise UserError(f"the experts' screen has a part {clash[0]!r} already: call that dimension something else")
    for place, dimension in enumerate(dimensions().values()):
        yield chr(ord("①") + place), dimension


def spellings(dimension: str) -> Iterator[tuple[LabelName, tuple[str, ...]]]:
    """Yield labels with all that people may write for them: names, codes (also without a zero), the screen's codes."""
    for label, _, code in _choices(dimensions()[dimension], *_keys()[dimension]):
        names = {*label.spellings(), code, (label.code or "").lstrip("0")} - {""}
        yield label, (*names, *(f"{each} {label.zh}" for each in names))


def _rendered(name: str, *styles: str, **values: Any) -> str:
    style = "".join(_read(sheet) for sheet in ("screen.css", *styles))
    root = ET.fromstring(_TEMPLATES.get_template(f"{name}.xml").render(style=style, **values))  # noqa: S314 (ours)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def _keys() -> dict[str, tuple[str, str]]:
    """Return a row of keys for each dimension whose labels it can hold, and for the next ones a key that is held."""
    free, chords = list(_ROWS), iter(_CHORDS)
    row_of = {}
    # Difficulty, which has levels, gets digits.
    for dimension in sorted(dimensions().values(), key=lambda each: each.name != DIFFICULTY):
        if row := next((row for row in free if len(row) >= len(dimension.labels)), ""):
            row_of[dimension.name] = row
            free.remove(row)
    return {name: (row_of.get(name, ""), "" if name in row_of else next(chords, "")) for name in dimensions()}


def _choices(dimension: Dimension, row: str, held: str) -> Iterator[tuple[LabelName, str, str]]:
    """Yield labels with their keys and the codes that stand before them; "not applicable" comes last.

    ``row`` are keys of its own, ``held`` is a key that is held while a code is pressed; both may be empty.
    """
    for place, label in enumerate(sorted(dimension.listed(), key=lambda label: label.abbr == "N/A")):
        code = _NONE if label.abbr == "N/A" else _CODES[place : place + 1]
        if held and code and not row:
            yield label, f"{held}+{code}", code.upper()
        else:
            yield label, row[place] if row else _UNREACHABLE, label.code or ""
