"""Labels of options: their alphabet, the places in a text that may be labels, and the options of a cell by them."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from build_dataset.pipeline.parse.folding import READ
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.columns import vocabulary
from build_dataset.schemas.grouping import group_values

_P = Patterns(__name__)
LABELS = "ABCDEFGHIJK"
LABEL = _P.whole("[@label@]")  # a pattern
Pairs = list[tuple[str, str]]  # options as (label, text)
OPEN, CLOSE, AFTER = (_P.whole(f"@{name}@") for name in ("open", "close", "after"))
"""Brackets around a label in a cell, and the end of one: A. A、 A: A) A - ."""


class Form(StrEnum):
    """A style of printing labels."""

    DOTTED = "dotted"
    PAREN = "paren"
    CIRCLED = "circled"
    COMMA = "comma"
    LOWER = "lower"
    BARE = "bare"


class OptionLabel(NamedTuple):
    """A place that may be an option's label."""

    letter: str
    start: int
    end: int
    form: Form
    strength: float  # 0..3: how much place and form look like a label


_WEAKER = {Form.COMMA: 0.6, Form.LOWER: 0.7, Form.BARE: 1.0}
"""Strength that labels of a form lack: A, a. and A alone are less often labels than A. (A) and Ⓐ."""
_CIRCLED_STARTS = (0x24B6, 0x24D0, 0x249C, 0x1F110, 0x1F150)  # Ⓐ ⓐ ⒜ 🄐 🅐
_APART = " \t\n。；;，,、/|$"  # signs after which a label stands apart from the option before it
_ALPHABETS = (LABELS, LABELS.lower(), "123456789")
_SIGN = re.compile(f"[{''.join(_ALPHABETS)}\u2460-\u2468\u24b6-\u24c0]")  # ①, Ⓐ
_ENDS = ("|", "$$", ";", "；", "、", "，", ",", "/")  # marks between options, behind the one that they end
_BEFORE = 64  # characters looked at before a label: no gap is longer than 40; the whole text is quadratic


def label_at(place: int) -> str:
    """Return the label of the option at a place from 0: A, B, C …."""
    return chr(65 + place)


def label_after(label: str) -> str:
    """Return the next label; of a number the next number."""
    return chr(ord(label) + 1)


def run_from_a(labels: Sequence[str]) -> bool:
    """Return whether labels are A, B, C … without a gap."""
    return [*labels] == [*map(chr, range(65, 65 + len(labels)))]


def labels_in(text: str) -> list[str]:
    """Return the capital letters of a text that can be labels, in its order: A和C gives A, C."""
    return [char for char in text if char in LABELS]


def are_labels(text: str) -> bool:
    """Return whether a text is nothing but such letters: ACD; not for the empty text."""
    return bool(text) and len(labels_in(text)) == len(text) <= len(LABELS)


def ascend(labels: Iterable[str]) -> bool:
    """Return whether labels stand in the order of the alphabet, each once, as those of one answer do: A C D."""
    labels = [*labels]
    return labels == sorted(set(labels))


def folded(sign: str) -> str:
    """Return the letter or number of a sign: that of ⓐ, ⒜ and 🅐 is A, that of ① is 1; ``a`` stays as it is."""
    if sign.isascii():
        return sign
    place = next((ord(sign) - start for start in _CIRCLED_STARTS if 0 <= ord(sign) - start < len(LABELS)), None)
    return unicodedata.normalize("NFKC", sign) if place is None else label_at(place)


def opens_option(text: str) -> bool:
    """Return whether a line begins with what may be the label of an option."""
    return _P.opens_option.match(text) is not None


def has_label(text: str) -> bool:
    """Return whether a clear label of an option stands in a line."""
    return any(label.strength > 2 for label in find_labels(text))


@lru_cache(READ)
def find_labels(text: str, start: int = 0) -> tuple[OptionLabel, ...]:
    """All places that may be labels, in order."""
    labels: dict[int, OptionLabel] = {}
    for match in _P.bare.finditer(text, start):
        _add(labels, text, match.end() - 1, match.end(), match[1] or match[2], Form.BARE)
    named = [match.span() for match in _P.named.finditer(text, start)]
    for match in _P.letter_delimited.finditer(text, start):
        letter = match[1] or match[4] or match[6] or match[8]
        mark = match[3] or match[5] or match[7] or match[9]
        form = Form.LOWER if letter.islower() else Form.COMMA if mark in ",，:：" else Form.DOTTED
        before = bisect_left(named, (match.start(), 0))  # those stand in order and apart
        if mark in "、,，" and before and match.start() < named[before - 1][1]:  # 维生素A、维生素D
            continue
        _add(labels, text, match.start(), match.end(), letter.upper(), form)
    for match in _P.paren.finditer(text, start):
        if match[1].islower() and match[0][0] in "[【":  # [a] is a footnote
            continue
        form = Form.LOWER if match[1].islower() else Form.PAREN
        _add(labels, text, match.start(), match.end(), match[1].upper(), form)
        labels.pop(match.start(1), None)
    for match in _P.circled.finditer(text, start):
        _add(labels, text, match.start(), match.end(), folded(match[0]), Form.CIRCLED)
    return tuple(labels[position] for position in sorted(labels))


def _add(labels: dict[int, OptionLabel], text: str, start: int, end: int, letter: str, form: Form) -> None:
    strength = _place(text, start) - _WEAKER.get(form, 0.0)
    if form is Form.LOWER and strength < 1:  # e.g. b. in running text
        return
    if form is Form.BARE and _P.terms.search(text[max(0, start - _BEFORE) : start].rstrip()[-4:]):
        return
    labels[start] = OptionLabel(letter, start, end, form, strength)


def _place(text: str, position: int) -> float:
    """Return the strength of a place as the start of an option: of a line or column 3, after a space 2, inline 1.5."""
    before = text[max(0, position - _BEFORE) : position]
    bare = before.rstrip(" ")
    if not bare or bare[-1] in "\n\t":
        return 3.0
    if _P.terms.search(bare[-4:]):  # 维生素 A
        return 0.8
    if bare == before and bare[-1].isascii() and bare[-1].isalpha():  # CA. is a word
        return 1.0
    spaces = len(before) - len(bare)
    return 2.6 if spaces > 1 else 2.0 if spaces else 1.5  # 甲  B. 乙; 甲 B. 乙


def _sign_in(mark: re.Match[str]) -> str:
    """Return the letter or number of a label that a pattern matched: the group that is filled, ① as 1."""
    return sign if (sign := mark[mark.lastindex or 0]).isascii() else folded(sign)


def label_in(mark: re.Match[str]) -> str:
    """Return the letter or number of a label that a pattern matched, in upper case."""
    return _sign_in(mark).upper()


def _form_in(mark: re.Match[str]) -> str:
    """Return the style of a label in a cell: A. and B． are of one, A、 a. and ① of others."""
    return _form_of(mark[0], mark[mark.lastindex or 0], circled=mark[4] is not None)


@lru_cache
def _form_of(whole: str, sign: str, *, circled: bool) -> str:
    kind = "①" if circled else "a" if sign.islower() else "1" if sign.isdigit() else "A"
    return kind + unicodedata.normalize("NFKC", whole).replace(unicodedata.normalize("NFKC", sign), "").strip()


def _is_apart(text: str, mark: re.Match[str]) -> bool:
    """Return whether a space or a mark between options stands before a label."""
    return not mark.start() or text[mark.start() - 1] in _APART


def _ends_term(text: str, mark: re.Match[str]) -> bool:
    """Return whether a letter belongs to the word that it touches: 维生素C、."""
    before = text[max(0, mark.start() - 4) : mark.start()]  # 维生素 is the longest term
    return not _is_apart(text, mark) and _P.terms.search(before) is not None


def labelled_pairs(value: str) -> tuple[Pairs, list[str]]:
    """Return the options of a text by their labels, and the labels of options that may contain another label."""
    _, pairs = cut_at_labels(value)
    text = broken_lines(value).strip()
    # Labels that touch texts, A.甲B.乙: one run from the start on, each once, all printed alike.
    every = list(_P.anywhere.finditer(text)) if len(_SIGN.findall(text)) > len(pairs) else []  # few have more letters
    marks, doubtful = (_longest_run(every) if len(every) > len(pairs) else []), hidden(pairs)
    if any(_is_apart(text, mark) for mark in marks[1:]):  # one that touches 维生素 belongs to it, where some are apart
        marks = _longest_run([mark for mark in every if not _ends_term(text, mark)])
    if len(marks) > len(pairs):
        # One may belong to a text: labels apart and others not (A.甲 B.乙型C.丙), or in its last text (3.丙、4.1.5 g).
        after = label_after(_sign_in(marks[-1]))
        more = re.compile((r"(?<![\d.])" if after.isdigit() else "") + rf"{after}{AFTER}(?=\S)")
        goes_on = not after.isupper() and more.search(text, marks[-1].end())
        mixed = len({_is_apart(text, mark) for mark in marks[1:]}) > 1 or goes_on
        pairs = _between(text, marks)
        doubtful = [label for label, _ in pairs] if mixed else []
    first = {option[:1] for _, option in pairs}
    if len(first) == 1 < len(pairs) and all(f"{label}{option[:1]}" in text for label, option in pairs):
        doubtful = [label for label, _ in pairs]  # A型 B型 AB型: letters that belong to the texts
    return pairs, doubtful


def broken_lines(text: str) -> str:
    """A text with line breaks where they were written out, as ``<br>`` or a backslash and n."""
    return _P.literal_break.sub("\n", text) if "\\" in text or "<" in text else text


def cut_at_labels(value: str) -> tuple[str, Pairs]:
    """Return the text before the first label of a text, and the options that its labels begin."""
    # A gap (A, B, D, E) or another start than A changes nothing: each option ends where the next label stands.
    text = broken_lines(value)
    marks = _chain(list(_P.at_line.finditer(text)))
    # Where each line is an option there is no doubt; else the longer chain of labels is right.
    if len(marks) < 2 or len(marks) != sum(bool(line.strip()) for line in text.split("\n")):
        marks = max(marks, _chain(list(_P.in_line.finditer(text))), key=len)
    return text[: marks[0].start()] if marks else text, _between(text, marks)


@lru_cache(1 << 14)
def cut_stem(value: str) -> tuple[str, Pairs]:
    """Return the stem of a text that ends with its options, and these; the labels may touch: …哪项?A:甲;B:乙;C:丙."""
    value = re.sub(r"(?m)^\s*[-*•]\s+(?=[A-Ka-k][).．、]\s)", "", value)  # - a) 甲⏎- b) 乙
    text, (before, pairs) = broken_lines(value), cut_at_labels(value)
    if [label for label, _ in pairs[:2]] != ["A", "B"]:
        forms = group_values((_form_in(mark), mark) for mark in _P.anywhere.finditer(text)).values()
        marks = max([_run_from_a(text, marks) for marks in forms], key=len, default=[])
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
    marks = [*takewhile(bool, map(_P.sign.match, texts))]
    options = [(mark["sign"], mark.string[mark.end() :]) for mark in marks if mark]
    run = "".join(sign for sign, _ in options)
    known = 2 < len(options) == len(texts) and any(it.startswith(run) for it in vocabulary()["options"]["alphabets"])
    return options if known else []


def labels_before(texts: Sequence[str]) -> Pairs:
    """Return texts that all begin with a letter of a list, or the sign of another alphabet, as options: a) 甲."""
    marks = [mark for mark in takewhile(bool, map(_P.listed.match, texts)) if mark]
    run = len(marks) == len(texts) > 1 and "".join(map(label_in, marks)) == LABELS[: len(marks)]
    return [(mark[1], mark.string[mark.end() :]) for mark in marks] if run else signed(texts)


def without_announcement(stem: str) -> str:
    """Return a stem without the words before its options: … diagnosis?⏎Answer Choices:."""
    return _P.choices_announced.sub("", stem).strip()


def _run_from_a(text: str, marks: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The longest run of labels A, B, C … whose A follows no word, the last of several."""
    best: list[re.Match[str]] = []
    for at, first in enumerate(marks):
        before = text[first.start() - 1 : first.start()]
        if label_in(first) != "A" or (before.isascii() and before.isalnum()):
            continue
        run = [first]
        for mark in marks[at + 1 :]:
            run += [mark] if label_in(mark) == label_at(len(run)) else []
        best = run if len(run) >= len(best) else best
    return best


def _between(text: str, marks: Sequence[re.Match[str]]) -> Pairs:
    """The options after labels, each up to the next label and the mark before it."""
    ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
    pairs = [(label_in(mark), text[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
    if 2 * sum(text.endswith(_ENDS) for _, text in pairs[:-1]) >= len(pairs) - 1:
        pairs = [(label, _P.ends.sub("", option)) for label, option in pairs]
    return pairs


def _chain(marks: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The longest run of labels in rising order; of several, one printed alike, the fewest gaps, the earliest."""
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
    # A 72-year-old man …⏎A. 甲⏎B. 乙: the first A is a word.
    forms = group_values((_form_of(mark[0].strip(), _sign_in(mark), circled=False), mark) for mark in marks).values()
    alike = max(forms, key=len, default=[])
    return alike if len(alike) >= len(chain) and run_from_a([*map(label_in, alike)]) else chain[::-1]


def _longest_run(marks: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    forms = group_values((_form_in(mark), mark) for mark in marks)
    at_start = [(run, "".join(map(_sign_in, run))) for run in forms.values() if run[0].start() == 0]
    runs = [run for run, signs in at_start if any(known.startswith(signs) for known in _ALPHABETS)]
    return max(runs, key=len, default=[])


def hidden(pairs: Pairs) -> list[str]:
    """Return labels of options that contain a label missing from the run, or, set apart, one that the run repeats."""
    holders = []
    for (label, text), after in zip(pairs, [*(label for label, _ in pairs[1:]), ""], strict=False):
        for mark in _P.anywhere.finditer(text) if _SIGN.search(text) else ():
            sign, bare = _sign_in(mark), bool(mark[5]) or _ends_term(text, mark)
            lacking = label < sign < after if after else sign == label_after(label)
            if not bare and (lacking or (sign in (label, after) and _is_apart(text, mark))):
                holders.append(label)
    return list(dict.fromkeys(holders))
