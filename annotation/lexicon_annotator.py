"""Labels questions offline, by the medical terms in them: a cold start without training, named as such."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

import polars as pl
from pydantic import BaseModel, Field, field_validator

from build_dataset.annotation.annotator import Annotator, Identity, Labelled, Labelling, Verdict
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import DIFFICULTY, Dimension, cmexam, dimensions, label_set

STRONG = 3.0  # score of a term that names the label
WEAK = 1.0  # score of a term that often goes with it


class LabelTerms(BaseModel, extra="forbid", frozen=True):
    """Terms that indicate a label."""

    name: str
    base: float = 0.0  # score without any term
    strong: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    none: tuple[str, ...] = ()  # words that contain a term by chance and do not count
    exam: tuple[str, ...] = ()  # words in the exam's name that settle the label
    links: Mapping[str, Mapping[str, float]] = Field(default_factory=dict, alias="from")
    """Score for a label of another dimension, decided before this one, at its full share; by that dimension."""

    @field_validator("strong", "weak", "none", "exam", mode="before")
    @classmethod
    def _words(cls, value: str | tuple[str, ...]) -> tuple[str, ...]:
        words = fold(value).split() if isinstance(value, str) else map(fold, value)
        return tuple(dict.fromkeys(word for word in words if word))


class Lexicon:
    """The term lists of a dimension."""

    def __init__(self, labels: tuple[LabelTerms, ...]) -> None:
        self.labels = labels
        self.weights: dict[str, dict[str, float]] = {term: {} for label in labels for term in label.none}
        """By term and label, what a term of the lists is worth."""
        for label in labels:
            for term in (*label.weak, *label.strong):
                weight = STRONG if term in label.strong else WEAK
                self.weights.setdefault(term, {})[label.name] = weight
        self.bases = {label.name: label.base for label in labels}
        linked = [(label.name, *link) for label in labels for link in label.links.items()]
        self.links = [(name, other, *pair) for name, other, weights in linked for pair in weights.items()]
        """Label, another dimension, a label there, and the score for it at its full share."""
        self._by_length = sorted(self.weights, key=lambda term: (-len(term), term))

    def find(self, texts: Sequence[str]) -> list[list[str]]:
        """The terms in each text from left to right, the longest at each place, none inside another."""
        # Many at once: an Aho–Corasick automaton is ten times as fast as looking place by place.
        return pl.Series(texts, dtype=pl.String).str.extract_many(self._by_length, leftmost=True).to_list()


def fold(text: str) -> str:
    """A text as terms are compared: half-width, lower case."""
    return unicodedata.normalize("NFKC", text).casefold()


def lexicon(dimension: str) -> Lexicon:
    """The term lists of a dimension: ours of CMExam's, otherwise the names and words of the dataset's own labels."""
    if label_set().has_cmexam and dimension in cmexam().by_name:
        return _ours(dimension)
    return _named(dimensions()[dimension])


@cache
def _ours(dimension: str) -> Lexicon:
    labels = shipped_toml("build_dataset.annotation.lexicon", f"{dimension}.toml")["label"]
    return Lexicon(tuple(map(LabelTerms.model_validate, labels)))


@cache
def _named(dimension: Dimension) -> Lexicon:
    words = ((each, (each.zh, each.en, *each.aliases, *each.words)) for each in dimension.labels)
    return Lexicon(tuple(LabelTerms(name=each.zh, strong=names, none=each.not_words) for each, names in words))


NAME = "lexicon"  # of the annotator
EXAM_BONUS = 30.0  # score of a label that the exam's own name states: more than any text adds up to
STEM, KEY, OPTION, EXPLANATION = 2.0, 1.5, 0.6, 0.8
"""Weights of a term by its place; the stem says what a question is about, wrong options less so."""
_ENOUGH = 0.6  # least share of the score with which a label is said: below, half are wrong, and a wrong proposal pulls
ASK_A_MODEL = "[annotate.llm] model = … asks a language model"  # ends the notes of annotators that work offline

Scores = dict[str, float]  # by label
Terms = Sequence[tuple[Sequence[str], float]]  # of one piece of text after the other, with its weight
_BATCH = 2_000  # texts searched at a time, which bounds memory


class LexiconAnnotator(Annotator):
    """Scores the labels of each dimension by the terms that a question contains."""

    @property
    def identity(self) -> Identity:
        """``lexicon``."""
        told = "labelled offline by the lexicon: rough labels, a start for the experts"
        return Identity(NAME, notes=(f"{told}; {ASK_A_MODEL}",))

    def annotate(self, questions: Sequence[Question], progress: Callable[[int], None]) -> Iterator[Labelling]:
        """One result a question, in their order; no verdict where the evidence is thin."""
        for question, read in zip(questions, _read(questions), strict=True):
            verdicts = ((name, _verdict(name, *each)) for name, each in read.items())
            yield Labelled(question.question_id, {name: verdict for name, verdict in verdicts if verdict is not None})
            progress(1)


def scored_dimensions() -> list[str]:
    """Dimensions that can be read off the text, in the order in which they are decided: all but difficulty."""
    return [name for name in dimensions() if name != DIFFICULTY]


def _verdict(dimension: str, scores: Scores, shares: Scores) -> Verdict | None:
    """Return the label with the largest share; None where that is small, or no term and no exam name speaks for it."""
    best = max(shares, key=lambda zh: shares[zh])
    # A label that wins by what every question gives it is no finding: 不符合 of a text without any term.
    if shares[best] < _ENOUGH or scores[best] <= lexicon(dimension).bases[best]:
        return None
    label = next(each for each in dimensions()[dimension].labels if each.zh == best)
    return Verdict(label, round(shares[best], 3), estimate=False)


def shares_of(questions: Sequence[Question]) -> Iterator[dict[str, Scores]]:
    """For each question, by dimension, each label's share of the score; a dimension's shares add up to one."""
    for read in _read(questions):
        yield {name: shares for name, (_, shares) in read.items()}


def _read(questions: Sequence[Question]) -> Iterator[dict[str, tuple[Scores, Scores]]]:
    """For each question, by dimension, the scores of the labels and their shares."""
    for start in range(0, len(questions), _BATCH):
        batch = questions[start : start + _BATCH]
        parts = [list(_parts(question)) for question in batch]
        texts = [text for pieces in parts for text, _ in pieces]
        terms_of = {name: iter(lexicon(name).find(texts)) for name in scored_dimensions()}
        for question, pieces in zip(batch, parts, strict=True):
            read: dict[str, tuple[Scores, Scores]] = {}
            for name, terms in terms_of.items():
                weighted = [(next(terms), weight) for _, weight in pieces]
                before = {other: shares for other, (_, shares) in read.items()}
                scores = score_labels(name, weighted, question.exam, before)
                # Shares of the squares: a clear lead is worth more than many faint traces.
                total = sum(value * value for value in scores.values()) or 1.0
                read[name] = scores, {label: value * value / total for label, value in scores.items()}
            yield read


def score_labels(dimension: str, terms: Terms, exam: str, before: Mapping[str, Scores]) -> Scores:
    """The score of each label: a term counts once, at its best place; ``before`` are shares in earlier dimensions."""
    words = lexicon(dimension)
    places: dict[str, float] = {}
    for terms_there, weight in terms:
        for term in terms_there:
            places[term] = max(places.get(term, 0.0), weight)
    scores = dict(_of_exam(words, exam))
    for label, other, there, weight in words.links:
        if share := before.get(other, {}).get(there):
            scores[label] += share * weight
    for term, place in places.items():
        for name, weight in words.weights[term].items():
            scores[name] += weight * place
    return scores


@lru_cache(maxsize=4096)
def _of_exam(words: Lexicon, exam: str) -> Mapping[str, float]:
    """Scores before any term is read: what labels begin with, and what the exam's name adds."""
    name = fold(exam)
    named = {item.name: any(word in name for word in item.exam) for item in words.labels}
    return {item.name: item.base + EXAM_BONUS * named[item.name] for item in words.labels}


def _parts(question: Question) -> Iterator[tuple[str, float]]:
    right = set(question.answer or ())
    yield fold(question.stem), STEM
    if question.shared_stem:
        yield fold(question.shared_stem), STEM
    for option in question.options:
        yield fold(option.text), KEY if option.label in right else OPTION
    if question.explanation:
        yield fold(question.explanation), EXPLANATION
