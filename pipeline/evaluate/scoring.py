"""Graded answers and texts, the parts of a split that are scored by themselves, scores, and runs against each other."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import mean, stdev
from typing import Any, TypeVar

import numpy as np
from rapidfuzz.distance import LCSseq

from build_dataset.pipeline.stats import Floats, Interval, Unit, holm, interval_of_mean, paired_p
from build_dataset.schemas import annotations, data, grouping
from build_dataset.schemas.evaluation import Comparison, Outcome, Score, Sureness
from build_dataset.schemas.release import ReleaseRow
from build_dataset.schemas.taxonomy import dimensions, exam_names

HUMAN = "human"  # the run that stands for the people who sat the exam


@dataclass(frozen=True)
class Graded:
    """A question and what a run made of it."""

    question: ReleaseRow
    outcome: Outcome
    letters: tuple[str, ...] | None
    repeat: int = 0
    sureness: Sureness | None = None

    @cached_property
    def correct(self) -> bool:
        """Return whether the set of letters is exactly one that earns the mark."""
        return self.letters is not None and frozenset(self.letters) in accepted_answers(self.question)

    @property
    def item_id(self) -> str:
        """The question's id."""
        return self.question.question_id

    @cached_property
    def cluster(self) -> str:
        """See the function ``cluster_id``."""
        return cluster_id(self.question)


@dataclass(frozen=True)
class GradedText:
    """A free text of a run, compared with its reference."""

    item_id: str
    cluster: str
    outcome: Outcome
    counts: "TextCounts"
    repeat: int = 0


@dataclass(frozen=True, order=True)
class Slice:
    """A part of the split that is scored by itself."""

    dimension: str
    label: str
    label_en: str | None


def accepted_answers(question: ReleaseRow) -> frozenset[frozenset[str]]:
    """Every set of letters that earns the mark: those of the corrected key if there is one, else the key."""
    answers = [answer for answer in question.accepted_answers or [question.answer] if answer]
    return frozenset(frozenset(answer) for answer in answers)


def partial_credit(letters: Iterable[str] | None, question: ReleaseRow) -> float:
    """Credit for an incomplete answer, as Chinese examinations give it.

    One wrong letter loses all (0); otherwise the share of the key's letters that were named. With one right letter
    that is the same as the exact match. Where several answers are accepted, the best counts.
    """
    named = frozenset(letters or ())
    return max((len(named) / len(key) for key in accepted_answers(question) if named <= key), default=0.0)


def cluster_id(question: ReleaseRow) -> str:
    """Return the cluster of a question for the bootstrap: the case it shares with others, or itself."""
    return question.group_id or question.question_id


def human_scores(part: Slice, questions: Sequence[ReleaseRow]) -> list[Score]:
    """Return the accuracy of the people who answered a slice's questions; none where nothing is known of them."""
    known = [(row.human_accuracy, row.respondents) for row in questions if row.human_accuracy is not None]
    # Every respondent weighs the same, and every question where no number of respondents is known.
    counted = [(share, people) for share, people in known if people] or [(share, 1) for share, _ in known]
    if not counted:
        return []
    right = sum(share * people for share, people in counted) / sum(people for _, people in counted)
    return [mean_score([right], part=part, run=HUMAN, metric="accuracy", questions=len(counted))]


def mean_score(values: Sequence[float], interval: Interval | None = None, *, part: Slice, **about: Any) -> Score:
    """Return a score from its value in every repetition, at least one; ``about`` are further columns."""
    return Score(
        **vars(part),
        **about,
        value=mean(values),
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        interval=interval.method if interval else None,
        sd=stdev(values) if len(values) > 1 else None,
        repeats=len(values),
    )


# BLEU and ROUGE of Chinese texts, from counts that add up, so that every slice is scored without reading a text twice.
# Tokens are characters for Chinese and punctuation, and whole words or numbers for Latin script, lower case. CMExam
# does not say how it tokenised (section 4.1), so figures compare within one table, not with the paper's.
_TOKEN = re.compile(r"[a-z0-9]+(?:[.,][0-9]+)*|[^\s]")  # "用IL-6 2.5mg" is 用, il, -, 6, 2.5, mg
_ORDERS = 4  # n-grams of BLEU


def tokens(text: str) -> list[str]:
    """The tokens of a text."""
    return _TOKEN.findall(text.lower())


@dataclass(frozen=True)
class TextCounts:
    """Counts of one text and its reference that BLEU and ROUGE are computed from."""

    sums: tuple[int, ...]
    """Summands of corpus BLEU: clipped n-gram matches for n = 1 … 4, n-grams of the text for n = 1 … 4, tokens of
    the reference."""
    rouge: tuple[float, float, float]  # F1 of 1-grams, 2-grams and the longest common subsequence


def count_overlap(text: str, reference: str) -> TextCounts:
    """Count what a text shares with its reference."""
    words, wanted = tokens(text), tokens(reference)
    shared = (_ngrams(words, order) & _ngrams(wanted, order) for order in range(1, _ORDERS + 1))
    matches = tuple(sum(counts.values()) for counts in shared)
    longest = LCSseq.similarity(words, wanted)
    possible = (max(len(words) - index, 0) for index in range(_ORDERS))
    sizes = (len(words), len(wanted))
    pairs = _f1(matches[1], len(words) - 1, len(wanted) - 1)
    return TextCounts((*matches, *possible, len(wanted)), (_f1(matches[0], *sizes), pairs, _f1(longest, *sizes)))


def bleu(sums: Floats, orders: int = _ORDERS) -> Floats:
    """Return corpus BLEU (Papineni et al. 2002) from ``TextCounts.sums`` (…, 9), smoothed as in sacreBLEU."""
    matched, possible = sums[..., :orders], sums[..., _ORDERS : _ORDERS + orders]
    length, reference = sums[..., _ORDERS], sums[..., -1]
    missed = matched == 0
    halvings = 2.0 ** np.cumsum(missed, axis=-1)  # 1/2, 1/4 … of a match for orders without one
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.where(missed, 1 / halvings, matched) / possible).mean(axis=-1)
        brevity = np.where(length > reference, 1.0, np.exp(1 - reference / length))  # short texts are easy to get right
        return np.where((possible > 0).all(axis=-1) & ~missed.all(axis=-1), brevity * np.exp(logs), 0.0)


def _ngrams(words: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


def _f1(matched: int, length: int, wanted: int) -> float:
    return 2 * matched / (length + wanted) if matched else 0.0


OVERALL = Slice("overall", "全部", "all")
_REVIEWED = (annotations.LabelStatus.AGREED, annotations.LabelStatus.ADJUDICATED)
REVIEWED = "reviewed"  # the label status of a question whose five labels experts settled
_WORDS = data.shipped_toml("build_dataset.pipeline.evaluate", "slices.toml")
_STATUS: dict[str, str] = _WORDS["label_status"]
_LENGTH_STEP = 10  # characters a slice of question length spans (CMExam, figure 3)
_LENGTHS = [*(f"{start}–{start + _LENGTH_STEP - 1}" for start in range(0, 100, _LENGTH_STEP)), "100+"]


def dimension_names() -> dict[str, str]:
    """Chinese and English name of every dimension, in the order of tables."""
    labelled = {name: f"{dimension.zh} {dimension.en}" for name, dimension in dimensions().items()}
    return {**_WORDS["first"], **labelled, **_WORDS["last"]}


def slices_of(question: ReleaseRow) -> list[Slice]:
    """The slices a question belongs to; none for what is not known of it."""
    slices = [OVERALL, Slice("question_type", question.question_type, question.question_type)]
    english = {name: getattr(question, f"{name}_en") for name in dimensions()}
    english |= {name: exam_names().get(getattr(question, name)) for name in ("exam_type", "exam_class")}
    labels = {name: getattr(question, name) for name in (*english, "exam_subject")}
    slices += [Slice(name, label, english.get(name)) for name, label in labels.items() if label is not None]
    length = len(question.stem) + len(question.shared_stem or "")  # as people read it, the case included
    span = _LENGTHS[min(length // _LENGTH_STEP, len(_LENGTHS) - 1)]
    status = review_status(question)
    return [*slices, Slice("length", span, None), Slice("label_status", _STATUS[status], status)]


def review_status(question: ReleaseRow) -> str:
    """``reviewed`` when experts settled all five labels, ``partly reviewed`` when some, else ``unreviewed``."""
    # labels of one expert alone are not settled
    settled = sum(getattr(question, f"{name}_status") in _REVIEWED for name in dimensions())
    return REVIEWED if settled == len(dimensions()) else "partly reviewed" if settled else "unreviewed"


Sliced = TypeVar("Sliced", ReleaseRow, Graded)


def by_slice(items: Iterable[Sliced]) -> dict[Slice, list[Sliced]]:
    """The questions, or graded answers to questions, of every slice; slices in the order of tables."""
    asked = ((item, item.question if isinstance(item, Graded) else item) for item in items)
    parts = grouping.group_values((part, item) for item, question in asked for part in slices_of(question))
    names, exams = list(dimension_names()), list(exam_names())
    # as the label set and the catalogue list them
    known = {name: dimension.zh_names() for name, dimension in dimensions().items()}
    known |= {"exam_type": exams, "exam_class": exams, "length": _LENGTHS, "label_status": [*_STATUS.values()]}
    places = {(name, label): at for name, labels in known.items() for at, label in enumerate(labels)}

    def order(part: Slice) -> tuple[int, int, str]:
        return names.index(part.dimension), places.get((part.dimension, part.label), len(places)), part.label

    return {part: parts[part] for part in sorted(parts, key=order)}


def compare_runs(runs: Mapping[str, Sequence[Graded]]) -> list[Comparison]:
    """Every pair of runs on the questions that both were asked, with p-values corrected for the number of pairs."""
    # Of each run the first answer alone. Test and interval keep the questions of a case together.
    firsts = {run: {item.item_id: item for item in items if item.repeat == 0} for run, items in runs.items()}
    compared = []
    for one, other in combinations(firsts, 2):
        pairs = [(item, firsts[other][key]) for key, item in firsts[one].items() if key in firsts[other]]
        if not pairs:
            continue
        tally = Counter((a.correct, b.correct) for a, b in pairs)
        only_one, only_other = tally[True, False], tally[False, True]
        spread = interval_of_mean(Unit(a.cluster, a.correct - b.correct) for a, b in pairs)
        comparison = Comparison(
            run_a=one,
            run_b=other,
            questions=len(pairs),
            both_right=tally[True, True],
            only_a_right=only_one,
            only_b_right=only_other,
            neither_right=tally[False, False],
            difference=(only_one - only_other) / len(pairs),
            low=spread.low if spread else None,
            high=spread.high if spread else None,
            p_value=paired_p((a.cluster, a.correct - b.correct) for a, b in pairs),
            p_adjusted=1.0,
        )
        compared.append(comparison)
    adjusted = holm([comparison.p_value for comparison in compared])
    return [each.model_copy(update={"p_adjusted": p}) for each, p in zip(compared, adjusted, strict=True)]
