"""Find the labelled options of a text in one cell: A.甲 B.乙, A.甲、B.乙, ①甲②乙. Pure."""

import re
from collections.abc import Sequence
from functools import lru_cache

from build_dataset.pipeline.parse.labels import (
    AFTER,
    LABELS,
    ends_term,
    form_in,
    is_apart,
    label_after,
    label_at,
    label_in,
    run_from_a,
    sign_in,
)
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.columns import vocabulary
from build_dataset.schemas.grouping import group_values

_P = Patterns(__name__)
Pairs = list[tuple[str, str]]  # options as (label, text)
_ALPHABETS = (LABELS, LABELS.lower(), "123456789")


def labelled_pairs(value: str) -> tuple[Pairs, list[str]]:
    """Return the options of a text by their labels, and the labels of options that may contain another label."""
    _, pairs = cut_at_labels(value)
    text = broken_lines(value).strip()
    marks, doubtful = _touching(text, len(pairs)), hidden(pairs)  # A.甲B.乙
    if len(marks) > len(pairs):
        # Some labels apart and others not (A.甲 B.乙型C.丙): one may belong to a text.
        mixed = len({is_apart(text, mark) for mark in marks[1:]}) > 1 or _goes_on(text, marks)
        pairs = _between(text, marks)
        doubtful = [label for label, _ in pairs] if mixed else []
    first = {option[:1] for _, option in pairs}
    if len(first) == 1 < len(pairs) and all(f"{label}{option[:1]}" in text for label, option in pairs):
        doubtful = [label for label, _ in pairs]  # A型 B型 AB型: letters that belong to the texts
    return pairs, doubtful


def broken_lines(text: str) -> str:
    """A text with line breaks where they were written out, as ``<br>`` or a backslash and n."""
    return _P.literal_break.sub("\n", text)


def cut_at_labels(value: str) -> tuple[str, Pairs]:
    """Return the text before the first label of a text, and the options that its labels begin.

    A gap (A, B, D, E) or another start than A changes nothing: each option ends where the next label stands.
    """
    text = broken_lines(value)
    at_lines, within = (_chain(list(pattern.finditer(text))) for pattern in (_P.at_line, _P.in_line))
    lines = sum(bool(line.strip()) for line in text.split("\n"))
    # Where each line is an option there is no doubt; else the longer chain of labels is right.
    marks = at_lines if len(at_lines) == lines > 1 or len(at_lines) >= len(within) else within
    return text[: marks[0].start()] if marks else text, _between(text, marks)


@lru_cache(1 << 14)
def cut_stem(value: str) -> tuple[str, Pairs]:
    """Return the stem of a text that ends with its options, and these; the labels may touch: …哪项?A:甲;B:乙;C:丙."""
    text, (before, pairs) = broken_lines(value), cut_at_labels(value)
    if [label for label, _ in pairs[:2]] != ["A", "B"]:
        forms = group_values((form_in(mark), mark) for mark in _P.anywhere.finditer(text)).values()
        runs = [_run_from_a(text, marks) for marks in forms]
        marks = max(runs, key=len, default=[])
        if len(marks) > max(2, len(pairs)):
            before, pairs = text[: marks[0].start()], _between(text, marks)
    if len(pairs) < 2 and (counted := _P.counted.search(text)):  # …옳은 것은?⏎1) 희소성⏎2) 유연성⏎3) 직관성
        before, pairs = text[: counted.start()], _between(text, [*_P.counted_label.finditer(text, counted.start())])
    if len(pairs) < 2 and (first := _P.first_signed.search(text)):  # … относится: А) вода Б) воздух В) почва
        parts = _P.before_sign.split(text[first.start() :].strip())
        before, pairs = (text[: first.start()], run) if (run := signed(parts)) else (before, pairs)
    return without_announcement(before), pairs


def signed(texts: Sequence[str]) -> Pairs:
    """Return texts that all begin with the signs of another alphabet in its order as options: ア　甲, イ　乙; А) 甲."""
    for signs in vocabulary()["options"]["alphabets"]:
        marks = [_P.sign.match(text) for text in texts]
        options = [(mark["sign"], mark.string[mark.end() :]) for mark in marks if mark]
        if 2 < len(options) == len(texts) and signs.startswith("".join(sign for sign, _ in options)):
            return options
    return []


def without_announcement(stem: str) -> str:
    """Return a stem without the words before its options: … diagnosis?⏎Answer Choices:."""
    return _P.choices_announced.sub("", stem).strip()


def _run_from_a(text: str, marks: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The longest run of labels A, B, C … whose A follows no word, the last of several."""
    best: list[re.Match[str]] = []
    for at, first in enumerate(marks):
        before = text[first.start() - 1 : first.start()]
        if sign_in(first) != "A" or (before.isascii() and before.isalnum()):
            continue
        run = [first]
        for mark in marks[at + 1 :]:
            run += [mark] if sign_in(mark) == label_at(len(run)) else []
        best = run if len(run) >= len(best) else best
    return best


def _between(text: str, marks: Sequence[re.Match[str]]) -> Pairs:
    """The options after labels, each up to the next label and the mark before it."""
    ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
    pairs = [(label_in(mark), text[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
    if 2 * sum(bool(_P.ends.search(text)) for _, text in pairs[:-1]) >= len(pairs) - 1:
        pairs = [(label, _P.ends.sub("", option)) for label, option in pairs]
    return pairs


def _chain(marks: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The longest run of labels in rising order; of several, the one with the fewest gaps, the earliest."""
    best: list[tuple[int, int, int]] = []  # length, minus gaps, the mark before
    labels = [label_in(mark) for mark in marks[:200]]  # no cell has more; the search is quadratic
    if run_from_a(labels):
        return [*marks]
    ranks = [*map(ord, labels)]
    for at, rank in enumerate(ranks):
        runs = [(1, 65 - rank, -1)]  # a chain that begins here; each letter after A is a gap
        for before in range(at):
            step = rank - ranks[before]
            if step > 0:
                runs.append((best[before][0] + 1, best[before][1] + 1 - step, before))
        best.append(max(runs, key=lambda run: run[:2]))
    chain = []
    at = max(range(len(best)), key=lambda place: best[place][:2], default=-1)
    while at >= 0:
        chain.append(marks[at])
        at = best[at][2]
    return chain[::-1]


def _touching(text: str, known: int) -> list[re.Match[str]]:
    """The labels of a text that is one run of more than are ``known``: from the first on, each once, all printed alike.

    Where some stand apart, one that touches a word such as 维生素 belongs to it.
    """
    every = list(_P.anywhere.finditer(text))
    if len(every) <= known:
        return []
    run = _longest_run(every)
    if any(is_apart(text, mark) for mark in run[1:]):
        run = _longest_run([mark for mark in every if not ends_term(text, mark)])
    return run


def _longest_run(marks: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    forms = group_values((form_in(mark), mark) for mark in marks)
    at_start = [(run, "".join(map(sign_in, run))) for run in forms.values() if run[0].start() == 0]
    runs = [run for run, signs in at_start if any(known.startswith(signs) for known in _ALPHABETS)]
    return max(runs, key=len, default=[])


def _goes_on(text: str, marks: Sequence[re.Match[str]]) -> bool:
    """Return whether the next label of a run may stand in its last text: 3.丙、4.1.5 g; c.10/Ld.丁."""
    after = label_after(sign_in(marks[-1]))
    before = r"(?<![\d.])" if after.isdigit() else ""
    label = re.compile(rf"{before}{after}{AFTER}(?=\S)")
    return not after.isupper() and label.search(text, marks[-1].end()) is not None


def hidden(pairs: Pairs) -> list[str]:
    """Return labels of options that contain a label missing from the run, or, set apart, one that the run repeats."""
    holders = []
    for (label, text), after in zip(pairs, [*(label for label, _ in pairs[1:]), ""], strict=False):
        for mark in _P.anywhere.finditer(text):
            sign, bare = sign_in(mark), bool(mark[5]) or ends_term(text, mark)
            lacking = label < sign < after if after else sign == label_after(label)
            if not bare and (lacking or (sign in (label, after) and is_apart(text, mark))):
                holders.append(label)
    return list(dict.fromkeys(holders))
