"""Term lists, and where in a text their terms stand."""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, field_validator

STRONG = 3.0
WEAK = 1.0


class LabelTerms(BaseModel):
    """What speaks for a label."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    base: float = 0.0
    """Score without any term."""
    strong: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    exam: tuple[str, ...] = ()
    """Words in the exam's name that settle the label."""
    from_disease: Mapping[str, float] = Field(default_factory=dict, alias="from")
    """Score for a label of another dimension, decided before this one, at its full share."""
    from_department: Mapping[str, float] = Field(default_factory=dict)
    from_discipline: Mapping[str, float] = Field(default_factory=dict)

    @field_validator("strong", "weak", "exam", mode="before")
    @classmethod
    def _words(cls, value: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(fold(value).split()))


class Lexicon:
    """The term lists of a dimension."""

    def __init__(self, labels: tuple[LabelTerms, ...]) -> None:
        self.labels = labels
        self._weights: dict[str, dict[str, float]] = {}
        for label in labels:
            for weight, terms in ((WEAK, label.weak), (STRONG, label.strong)):
                for term in terms:
                    self._weights.setdefault(term, {})[label.name] = weight
        longest: dict[str, int] = {}
        for term in self._weights:
            longest[term[0]] = max(longest.get(term[0], 0), len(term))
        self._longest = longest
        self._by_length = sorted(self._weights, key=lambda term: (-len(term), term))

    def weights(self, term: str) -> Mapping[str, float]:
        """By label, what a term of the lists is worth."""
        return self._weights[term]

    def find(self, text: str) -> Iterator[str]:
        """The terms in a text from left to right, the longest at each place, none inside another."""
        at = 0
        while at < len(text):
            for length in range(min(self._longest.get(text[at], 0), len(text) - at), 0, -1):
                if (term := text[at : at + length]) in self._weights:
                    yield term
                    at += length
                    break
            else:
                at += 1

    def find_all(self, texts: Sequence[str]) -> list[list[str]]:
        """``find`` for many texts at once, ten times as fast (an Aho–Corasick automaton)."""
        return pl.Series(texts, dtype=pl.String).str.extract_many(self._by_length, leftmost=True).to_list()


def fold(text: str) -> str:
    """A text as terms are compared: half-width, lower case."""
    return unicodedata.normalize("NFKC", text).casefold()


@cache
def lexicon(dimension: str) -> Lexicon:
    """The term lists of a dimension."""
    text = (files("annotation.lexicon") / f"{dimension}.toml").read_text(encoding="utf-8")
    return Lexicon(tuple(LabelTerms.model_validate(item) for item in tomllib.loads(text)["label"]))
