"""The sample's papers and questions, as written in ``questions/*.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

LETTERS = "ABCDEFGHIJK"
DIMENSIONS = ("disease_group", "clinical_department", "medical_discipline", "competency", "difficulty")


@dataclass(frozen=True)
class Item:
    """A question as it stands in one paper.

    Attributes:
        id: name of the question in the sample, unique.
        number: printed number, or row of a tabular source; from 1.
        type: A1, A2, A3/A4, B1, X or short_answer.
        answer: letters; None where the paper gives none.
        expect: what should become of it: place, and stage, reason, into, kind, cluster where they apply.
    """

    id: str
    number: int
    section: int
    type: str
    stem: str
    options: tuple[str, ...] = ()
    answer: str | None = None
    answer_text: str | None = None
    explanation: str | None = None
    figure: str | None = None
    table: tuple[tuple[str, ...], ...] | None = None
    group: str | None = None
    labels: tuple[str, ...] = ()
    exam: tuple[str, ...] = ()
    respondents: int | None = None
    right: int | None = None
    comment: str | None = None
    expect: dict[str, Any] = field(default_factory=lambda: {"place": "kept"})


@dataclass(frozen=True)
class Group:
    """Questions that share a stem (A3/A4) or options (B1)."""

    id: str
    items: tuple[Item, ...]
    stem: str | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A section of a paper: its heading and either single questions or groups."""

    type: str
    title: str
    note: str
    groups: tuple[Group, ...]

    @property
    def items(self) -> list[Item]:
        """All questions of the section in order."""
        return [item for group in self.groups for item in group.items]


@dataclass(frozen=True)
class Paper:
    """A paper: its file, how it is laid out and where its answers stand."""

    file: str
    layout: str
    title: str
    sections: tuple[Section, ...]
    key: str = "none"
    key_file: str | None = None
    header: str = ""
    footer: str = ""
    exam: tuple[str, ...] = ()

    @property
    def items(self) -> list[Item]:
        """All questions of the paper in order."""
        return [item for section in self.sections for item in section.items]


def load(folder: Path) -> list[Paper]:
    """The papers of all TOML files in ``folder``, by file name, with inherited fields filled in.

    Raises:
        ValueError: two questions have the same id.
        KeyError: ``same_as`` or ``like`` names a question that is not there.
    """
    raw = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.toml"))]
    written = _by_id(raw)
    return [_paper(data, written) for data in raw]


def _by_id(raw: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for data in raw:
        for question in _questions(data):
            if question["id"] in found:
                raise ValueError(f"two questions are called {question['id']}")
            found[question["id"]] = question
    return found


def _questions(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for section in data["section"]:
        for group in section.get("group", [section]):
            yield from group["question"]


def _paper(data: dict[str, Any], written: dict[str, dict[str, Any]]) -> Paper:
    head = dict(data["paper"])
    head["exam"] = tuple(head.get("exam", ()))
    sections: list[Section] = []
    count = 0
    for position, section in enumerate(data["section"], start=1):
        groups: list[Group] = []
        for group in section.get("group", [section]):
            shared = group if "group" in section else {}
            items = []
            for question in group["question"]:
                count += 1
                items.append(_item(question, count, position, section["type"], shared, written))
            groups.append(
                Group(shared.get("id", ""), tuple(items), shared.get("stem"), tuple(shared.get("options", ())))
            )
        sections.append(Section(section["type"], section["title"], section.get("note", ""), tuple(groups)))
    paper = Paper(sections=tuple(sections), **head)
    return replace(paper, sections=tuple(_with_exam(section, paper.exam) for section in paper.sections))


def _with_exam(section: Section, exam: tuple[str, ...]) -> Section:
    groups = tuple(
        replace(group, items=tuple(replace(item, exam=item.exam or exam) for item in group.items))
        for group in section.groups
    )
    return replace(section, groups=groups)


_INHERITED = {
    "same_as": ("type", "stem", "options", "answer", "explanation", "labels"),
    "like": ("type", "options", "labels"),
}


def _item(
    question: dict[str, Any],
    number: int,
    section: int,
    section_type: str,
    shared: dict[str, Any],
    written: dict[str, dict[str, Any]],
) -> Item:
    fields = dict(question)
    fields.pop("note", None)
    for relation, names in _INHERITED.items():
        other = fields.pop(relation, None)
        if other is not None:
            fields = {name: written[other][name] for name in names if name in written[other]} | fields
    if fields.get("explanation") is False:
        del fields["explanation"]
    fields.setdefault("type", section_type)
    fields.setdefault("options", shared.get("options", ()))
    for name in ("options", "labels", "exam"):
        fields[name] = tuple(fields.get(name, ()))
    if "table" in fields:
        fields["table"] = tuple(tuple(row) for row in fields["table"])
    return Item(number=number, section=section, group=shared.get("id"), **fields)
