"""Term lists, and where in a text their terms stand."""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, field_validator

from schemas.taxonomy import Dimension, cmexam, dimensions, label_set

STRONG = 3.0
WEAK = 1.0


class LabelTerms(BaseModel):
    """Terms that speak for a label."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    base: float = 0.0
    """Score without any term."""
    strong: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    """Words that hold a term by chance and say nothing."""
    exam: tuple[str, ...] = ()
    """Words in the exam's name that settle the label."""
    from_disease: Mapping[str, float] = Field(default_factory=dict, alias="from")
    """Score for a label of another dimension, decided before this one, at its full share."""
    from_department: Mapping[str, float] = Field(default_factory=dict)
    from_discipline: Mapping[str, float] = Field(default_factory=dict)

    @field_validator("strong", "weak", "none", "exam", mode="before")
    @classmethod
    def _words(cls, value: str | tuple[str, ...]) -> tuple[str, ...]:
        words = fold(value).split() if isinstance(value, str) else map(fold, value)
        return tuple(dict.fromkeys(word for word in words if word))


class Lexicon:
    """The term lists of a dimension."""

    def __init__(self, labels: tuple[LabelTerms, ...]) -> None:
        self.labels = labels
        self._weights: dict[str, dict[str, float]] = {}
        for label in labels:
            for weight, terms in ((WEAK, label.weak), (STRONG, label.strong)):
                for term in terms:
                    self._weights.setdefault(term, {})[label.name] = weight
            for term in label.none:
                self._weights.setdefault(term, {})
        self._by_length = sorted(self._weights, key=lambda term: (-len(term), term))

    def weights(self, term: str) -> Mapping[str, float]:
        """By label, what a term of the lists is worth."""
        return self._weights[term]

    def find(self, texts: Sequence[str]) -> list[list[str]]:
        """The terms in each text from left to right, the longest at each place, none inside another.

        Many texts at once: an Aho–Corasick automaton is ten times as fast as looking place by place.
        """
        return pl.Series(texts, dtype=pl.String).str.extract_many(self._by_length, leftmost=True).to_list()


def fold(text: str) -> str:
    """A text as terms are compared: half-width, lower case."""
    return unicodedata.normalize("NFKC", text).casefold()


def lexicon(dimension: str) -> Lexicon:
    """The term lists of a dimension: ours of CMExam's, otherwise the names and words of the dataset's own labels."""
    if label_set().extends and dimension in cmexam().by_name:
        return _ours(dimension)
    return _named(dimensions()[dimension])


@cache
def _named(dimension: Dimension) -> Lexicon:
    return Lexicon(
        tuple(
            LabelTerms(
                name=label.zh,
                strong=(label.zh, label.en, *label.aliases, *label.words),
                none=label.not_words,
            )
            for label in dimension.labels
        )
    )


@cache
def _ours(dimension: str) -> Lexicon:
    text = (files("annotation.lexicon") / f"{dimension}.toml").read_text(encoding="utf-8")
    return Lexicon(tuple(LabelTerms.model_validate(item) for item in tomllib.loads(text)["label"]))
