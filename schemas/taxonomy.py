"""Label sets: the dimensions a question is annotated in, and the catalogue of exams."""

import json
import tomllib
from contextvars import ContextVar
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, Field, field_validator, model_validator

from build_dataset.schemas.identity import sha256

_TAXONOMIES = files("build_dataset.schemas") / "taxonomies"  # label sets that are built in; CMB's catalogue
DIFFICULTY = "difficulty"
"""The dimension that is cut from people's accuracy where a source has it, in every label set that has one."""
LEVELS = 5  # its labels, from easy to hard (CMExam, section 3)
MOST_DIMENSIONS = 9  # limit of the experts' screen and of the Chinese numerals in prompts


class LabelName(BaseModel, extra="forbid", frozen=True, str_strip_whitespace=True):
    """A label in both languages."""

    zh: str = Field(min_length=1)
    en: str = Field(min_length=1)
    abbr: str = ""
    code: str | None = None
    aliases: tuple[str, ...] = ()  # Other spellings that are read as this label.
    words: tuple[str, ...] = ()
    """Words by which the offline lexicon recognises a question of this label; CMExam's are in
    ``annotation/lexicon``."""
    not_words: tuple[str, ...] = ()  # Longer words in which one of them stands by chance: 人民法院 holds 民法.
    definition: str = ""
    definition_en: str = ""  # Coverage, in a line: experts see it on pointing at the label.
    rule: str = ""  # Border with other labels, in a few words: models see it beside the name.

    def spellings(self) -> tuple[str, ...]:
        """Everything that names this label."""
        return tuple(name for name in (self.zh, self.en, self.abbr, self.code, *self.aliases) if name)


class Dimension(BaseModel, extra="forbid", frozen=True):
    """A dimension of annotation and its closed set of labels."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    zh: str
    en: str
    definition: str | None = None  # The question it asks, for models and experts.
    labels: tuple[LabelName, ...] = Field(min_length=2, max_length=200)
    listing: tuple[str, ...] = ()
    """Chinese names in the order in which people are shown them; the others follow. CMExam's departments stand as in
    the catalogue of departments that Chinese hospitals are licensed for (诊疗科目名录, 1994)."""

    @field_validator("labels")
    @classmethod
    def _unmistakable(cls, labels: tuple[LabelName, ...]) -> tuple[LabelName, ...]:
        """No spelling names two labels."""
        seen: dict[str, str] = {}
        for label in labels:
            for spelling in label.spellings():
                if seen.setdefault(spelling.casefold(), label.zh) != label.zh:
                    raise ValueError(f"{spelling!r} names both {seen[spelling.casefold()]} and {label.zh}")
        if len({label.zh for label in labels}) < len(labels):
            raise ValueError("a label is there twice")
        return labels

    def zh_names(self) -> list[str]:
        """The labels' Chinese names, in the taxonomy's order: the enumeration annotators choose from."""
        return [label.zh for label in self.labels]

    def listed(self) -> list[LabelName]:
        """Return the labels in the order in which people are shown them."""
        places = {name: place for place, name in enumerate(self.listing)}
        return sorted(self.labels, key=lambda label: places.get(label.zh, len(places)))

    def find(self, spelling: str) -> LabelName | None:
        """The label that ``spelling`` names (Chinese, English, abbreviation, code, alias; case-insensitive)."""
        return self._by_spelling.get(spelling.strip().casefold())

    @cached_property
    def _by_spelling(self) -> dict[str, LabelName]:
        return {name.casefold(): label for label in reversed(self.labels) for name in label.spellings()}

    @cached_property
    def codes(self) -> dict[str, LabelName]:
        """The labels by number, from 1: one token in prompts and answers, where a name is up to twenty."""
        return {str(number): label for number, label in enumerate(self.labels, start=1)}

    def english(self, zh: str | None) -> str | None:
        """The English name of the label with this Chinese name, if there is one."""
        label = self.find(zh) if zh else None
        return label.en if label else None


class LabelSet(BaseModel, extra="forbid", frozen=True):
    """The dimensions that a dataset's questions are labelled in."""

    extends: tuple[str, ...] = ()
    """Built-in sets, whose dimensions come first: files of this form in ``taxonomies``. CMExam's keep their lexicon and
    prompt."""
    subject: str = "医学"  # Subject of the exams in Chinese, for prompts: 法学, 会计 …
    dimensions: tuple[Dimension, ...] = Field(min_length=1, max_length=MOST_DIMENSIONS)

    @model_validator(mode="before")
    @classmethod
    def _extended(cls, values: Any) -> Any:
        """Put the dimensions of the sets that it extends before its own."""
        named, dimensions_given = values.get("extends", []), values.get("dimensions", [])
        named = [named] if isinstance(named, str) else named
        if not isinstance(named, list) or not isinstance(dimensions_given, list):
            return values
        if unknown := [name for name in named if name not in _built_in()]:
            raise ValueError(f"extends: no label set {unknown[0]!r} is built in; there are {', '.join(_built_in())}")
        first = [dimension for name in named for dimension in _built_in()[name]["dimensions"]]
        return {**values, "extends": named, "dimensions": [*first, *dimensions_given]}

    @field_validator("dimensions")
    @classmethod
    def _apart(cls, dimensions: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
        names = [dimension.name for dimension in dimensions]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{twice[0]} is there twice")
        for dimension in dimensions:
            if dimension.name == DIFFICULTY and len(dimension.labels) != LEVELS:
                raise ValueError(f"{DIFFICULTY} needs {LEVELS} labels, from easy to hard")
        return dimensions

    @cached_property
    def by_name(self) -> dict[str, Dimension]:
        """The dimensions by name, in their order."""
        return {dimension.name: dimension for dimension in self.dimensions}

    @property
    def has_cmexam(self) -> bool:
        """Return whether CMExam's dimensions are among them."""
        return "cmexam" in self.extends

    @cached_property
    def digest(self) -> str:
        """Hash of all it says."""
        return sha256(self.model_dump_json())


class Subcategory(BaseModel, extra="forbid", frozen=True):
    """A subcategory of CMB's catalogue (``exam_class``) with its subjects (``exam_subject``)."""

    zh: str
    en: str
    subjects: tuple[str, ...]


class Category(BaseModel, extra="forbid", frozen=True):
    """A category of CMB's catalogue (``exam_type``)."""

    zh: str
    en: str
    subcategories: tuple[Subcategory, ...]


_chosen: ContextVar[LabelSet | None] = ContextVar("label_set", default=None)  # None for CMExam's


def use_label_set(chosen: LabelSet | None) -> None:
    """Label with this set from now on in this context (``contextvars``); None for CMExam's."""
    _chosen.set(chosen)


def label_set() -> LabelSet:
    """The label set in use: the dataset's own, or CMExam's."""
    return _chosen.get() or cmexam()


def dimensions() -> dict[str, Dimension]:
    """The dimensions in use by name, in their order."""
    return label_set().by_name


@cache
def cmexam() -> LabelSet:
    """CMExam's label set: five dimensions in the paper's order."""
    return LabelSet.model_validate({"extends": "cmexam"})


@cache
def cmb_catalogue() -> tuple[Category, ...]:
    """CMB's catalogue: 6 categories with 28 subcategories."""
    catalogue = json.loads((_TAXONOMIES / "cmb.json").read_text(encoding="utf-8"))
    return tuple(Category.model_validate(item) for item in catalogue["categories"])


@cache
def exam_names() -> dict[str, str]:
    """English names of CMB's categories and subcategories, in the catalogue's order."""
    names: dict[str, str] = {}
    for category in cmb_catalogue():
        names.setdefault(category.zh, category.en)
        for subcategory in category.subcategories:
            names.setdefault(subcategory.zh, subcategory.en)
    return names


@cache
def _built_in() -> dict[str, Any]:
    """Return the label sets that ship with the project, by name."""
    paths = sorted((path.name, path) for path in _TAXONOMIES.iterdir() if path.name.endswith(".toml"))
    return {name.removesuffix(".toml"): tomllib.loads(path.read_text(encoding="utf-8")) for name, path in paths}
