"""The run of options in a text: labels from A on, contiguous, inline, in lines or in columns."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from build_dataset.pipeline.parse.folding import READ, join_lines
from build_dataset.pipeline.parse.labels import Form, OptionLabel, find_labels, label_after, run_from_a
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
OPTION_LINE = _P.option_line


class OptionRun(NamedTuple):
    """A run of options in a text."""

    start: int  # the place of the first label
    options: tuple[tuple[str, str], ...]  # (label, text), in the order of labels
    last: int  # the place at which the text of the last option begins
    strength: float  # mean strength of its labels
    repaired: str | None = None  # the label that was missing and left only one place
    form: str = ""  # the style of most of its labels


_TIGHT_STRENGTH = 1.5
_THRESHOLD = 0.9  # from here on a label counts for itself; weaker ones are taken to reach stronger ones


@lru_cache(READ)
def find_run(text: str, start: int = 0) -> OptionRun | None:
    """The run of at least two options in ``text`` from ``start`` on, or None."""
    run = _find_run(text, start)
    texts = [option for _, option in run.options] if run else []
    # Letters alone are those of a key, A.DC B.CBACC; single ones may be vitamins, the same ones an order: A.BAC B.CAB.
    letters = all(map(_P.letters_alone.fullmatch, texts)) and not all(map(_P.grade.fullmatch, texts))
    listed = letters and len({*map("".join, map(sorted, texts))}) > 1 and any(len(text) > 2 for text in texts)
    return None if listed else run


def _find_run(text: str, start: int) -> OptionRun | None:
    labels = find_labels(text, start)
    chain = _best_chain(labels) or []
    strong = [label for label in labels if label.strength >= 2.3]  # at starts of lines or columns
    letters = [label.letter for label in strong]
    if len(strong) > max(2, len(chain)) and letters[0] == "A" and run_from_a(sorted(letters)):
        return _run(text, strong)  # A C / B D, as columns are read
    if repaired := _with_missing(text, labels, chain):
        return repaired
    tight = _tight(text, start)
    if len(tight) > len(chain):  # A.IL-2B.IL-4C.IL-6
        return _run(text, tight)
    return _run(text, chain) if len(chain) >= 2 else None


def find_runs(text: str) -> list[OptionRun]:
    """All runs of options in a text, one after the other: each begins with an A at a line or column start."""
    starts = [label.start for label in find_labels(text) if label.letter == "A" and label.strength >= 2.3]
    ends = [*starts[1:], len(text)][: len(starts)]
    runs = [(start, find_run(text[:end], start)) for start, end in zip(starts, ends, strict=True)]
    return [run for start, run in runs if run is not None and run.start == start]


def _best_chain(labels: Sequence[OptionLabel]) -> list[OptionLabel]:
    """The chain A, B, C … with most strength; near labels win over far ones."""
    best: dict[tuple[str, Form], int] = {}  # for each letter and form the label at the end of the best chain
    back, scores = list[int](), list[float]()
    for index, label in enumerate(labels):
        before = chr(ord(label.letter) - 1)
        origins = [(0.0, -1)] if label.letter == "A" else []
        for form in Form:
            if (known := best.get((before, form))) is not None:
                far = 1e-4 * (label.start - labels[known].start)
                change = 0.8 if Form.BARE in (form, label.form) else 0.3  # A型血 … A. 抗A抗体 B. 抗B抗体
                origins.append((scores[known] - (far if form is label.form else far + change), known))
        score, origin = max(origins, default=(float("-inf"), -1))
        scores.append(score + label.strength - _THRESHOLD)
        back.append(origin)
        rival = best.get((label.letter, label.form))
        if origins and (rival is None or scores[index] >= scores[rival]):
            best[label.letter, label.form] = index
    if not best:
        return []
    index = max(range(len(scores)), key=lambda i: (round(scores[i], 6), -i))
    chain: list[OptionLabel] = []
    while index >= 0:
        chain.append(labels[index])
        index = back[index]
    return chain[::-1]


def _tight(text: str, start: int) -> list[OptionLabel]:
    """Labels that touch the option before, A.IL-2B.IL-4C.IL-6D.IL-8, or the text, AX线 / BCT / C病理 / D血: four."""
    forms = (_P.tight, _P.by_lines, _P.in_one)
    if not (match := next(filter(None, (form.search(text, start) for form in forms)), None)):
        return []
    places = [match.start(letter) for letter in "ABCDE" if match[letter]]
    width, form = (2, Form.DOTTED) if match["mark"] else (1, Form.BARE)
    labels = [OptionLabel(text[place], place, place + width, form, _TIGHT_STRENGTH) for place in places]
    return labels if all(text[a.end : b.start].strip() for a, b in pairwise(labels)) else []


def _run(text: str, labels: Sequence[OptionLabel]) -> OptionRun:
    """The run of those labels, which stand in the order of the text."""
    ends = [*(label.start for label in labels[1:]), len(text)]
    options = [(label.letter, join_lines(text[label.end : end])) for label, end in zip(labels, ends, strict=True)]
    strength = sum(label.strength for label in labels) / len(labels)
    form = Counter(label.form.value for label in labels).most_common(1)[0][0]
    return OptionRun(labels[0].start, tuple(sorted(options)), labels[-1].end, strength, form=form)


def _with_missing(text: str, labels: Sequence[OptionLabel], chain: Sequence[OptionLabel]) -> OptionRun | None:
    """Return the run with one label put back, where the order of options leaves one way."""
    # The labels around it are there, other options are one segment each; between stand two, the first no full line.
    if not chain:
        return None
    missing = label_after(chain[-1].letter)
    wanted = label_after(missing)  # A. B. D.: C is missing, D is wanted
    later = [label for label in labels if label.start > chain[-1].start and label.letter == wanted]
    if not later or later[0].strength < 2.3:
        return None
    tail = [later[0]]
    for label in labels:
        follows = label.start > tail[-1].start and label.letter == label_after(tail[-1].letter)
        tail += [label] if follows and label.strength >= 2 else []
    between = text[chain[-1].end : later[0].start]
    segments = [part for part in re.split(r"[\n\t]+", between) if part.strip()]
    ends = [*(label.start for label in (*chain[1:], *tail[1:])), len(text)]
    texts = [text[label.end : end] for label, end in zip([*chain[:-1], *tail], ends, strict=True)]
    single = all(len(re.split(r"[\n\t]+", text.strip())) == 1 for text in texts)
    longest = max(len(line) for line in text.split("\n"))
    if len(segments) != 2 or not single or ("\n" in between and len(segments[0]) > 0.6 * max(longest, 20)):
        return None
    start = chain[-1].end + between.index(segments[1])
    trace = re.compile(rf"\s*[(（]?{missing}[)）.．、,，]?\s?(?![A-Za-z])", re.IGNORECASE).match(text, start)
    put_back = OptionLabel(missing, start, trace.end() if trace else start, Form.BARE, 1.0)
    return _run(text, [*chain, put_back, *tail])._replace(repaired=missing)
