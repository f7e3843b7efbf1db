"""Label sets: the dimensions a question is annotated in, and the catalogue of exams."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict


class LabelName(BaseModel):
    """A label in both languages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    zh: str
    en: str
    abbr: str
    code: str | None = None
    aliases: tuple[str, ...] = ()
    """Other spellings that are read as this label."""

    def spellings(self) -> tuple[str, ...]:
        """Everything that names this label."""
        return tuple(name for name in (self.zh, self.en, self.abbr, self.code, *self.aliases) if name)


class Dimension(BaseModel):
    """A dimension of annotation and its closed set of labels."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    zh: str
    en: str
    labels: tuple[LabelName, ...]

    def zh_names(self) -> list[str]:
        """The labels' Chinese names, in the taxonomy's order: the enumeration annotators choose from."""
        return [label.zh for label in self.labels]

    def find(self, spelling: str) -> LabelName | None:
        """The label that ``spelling`` names (Chinese, English, abbreviation, code, alias; case-insensitive)."""
        return _index(self).get(spelling.strip().casefold())

    def english(self, zh: str | None) -> str | None:
        """The English name of the label with this Chinese name, if there is one."""
        found = self.find(zh) if zh else None
        return found.en if found else None


class Subcategory(BaseModel):
    """A subcategory of CMB's catalogue (``exam_class``) with its subjects (``exam_subject``)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    zh: str
    en: str
    subjects: tuple[str, ...]


class Category(BaseModel):
    """A category of CMB's catalogue (``exam_type``)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    zh: str
    en: str
    subcategories: tuple[Subcategory, ...]


@cache
def dimensions() -> dict[str, Dimension]:
    """CMExam's five dimensions by name, in the paper's order."""
    found = [Dimension.model_validate(item) for item in _read("cmexam.json")["dimensions"]]
    return {dimension.name: dimension for dimension in found}


@cache
def cmb_catalogue() -> tuple[Category, ...]:
    """CMB's catalogue: 6 categories with 28 subcategories."""
    return tuple(Category.model_validate(item) for item in _read("cmb.json")["categories"])


@cache
def _index(dimension: Dimension) -> dict[str, LabelName]:
    return {name.casefold(): label for label in reversed(dimension.labels) for name in label.spellings()}


def _read(name: str) -> Any:
    return json.loads((files("schemas") / "taxonomies" / name).read_text(encoding="utf-8"))
