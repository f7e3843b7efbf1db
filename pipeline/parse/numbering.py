"""Choice of the numbers that number questions: weighed by the text around them, chosen where they run on."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from build_dataset.pipeline.parse.fields import opens_explanation, opens_field, split_fields
from build_dataset.pipeline.parse.folding import without_digits
from build_dataset.pipeline.parse.heads import GroupHead, NumberCandidate, NumberStyle, is_section_head
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
ANNOUNCED = 0.5  # added where the head of a shared text above names the number
OPENS_OPTIONS = 0.4  # added for options after a number: lists inside explanations have none
IN_LIST = 0.5  # factor on the weight of a number that may belong to a list inside a stem or an explanation
OPTIONS_WITHIN = 30
LIKELY = 0.5  # least weight of a place that ends the item before it, in the search for options
GAP = 10  # numbers that may be missing in a row before a jump counts as a restart
RESTART = 8.0  # a restart without a head, in questions: lists inside explanations are shorter
LATE = 1.2  # the most that a late beginning costs: one question with options (1.4) is found in an excerpt
HABIT_CHANGE = 1.5  # the cost of another style: 12. and then 13、
LOST_DOT = 0.4  # the same from 12. to a bare 13, whose dot recognition lost
DUPLICATE = 0.6  # the cost of a number that comes twice in a row
_NEAR = {frozenset((NumberStyle.DOT, NumberStyle.BARE))}
UNNUMBERED = 3  # least number of items in a paper without any numbers
PLAIN = 0.9  # share of first options that only one line must separate from the answer of the item before


def weigh_candidates(
    pieces: Sequence[ParsedLine],
    marks: Sequence[NumberCandidate],
    boundaries: Sequence[int],
    groups: Mapping[int, GroupHead],
) -> list[NumberCandidate]:
    """The marks with what follows them taken into account; boundaries are lines that open something, in order."""
    coded = _coded(pieces, marks)  # statements ①②③
    marks = [mark._replace(weight=0.0) if mark.line in coded else mark for mark in marks]
    likely = [mark for mark in marks if mark.weight >= LIKELY]
    listed = _listed(pieces, likely, boundaries)  # 1. 2. 3. inside a stem
    ends = [mark.line for mark in likely if mark.line not in listed]
    weighed: list[NumberCandidate] = []
    explaining = -1
    for mark in marks:
        place = bisect_right(ends, mark.line)
        end = ends[place] if place < len(ends) else len(pieces)  # the next likely number
        # The item before may still wait for its options: 既往吸烟 / 30支/日。/ A.
        near = place > 0 and mark.line - (before := ends[place - 1]) <= OPTIONS_WITHIN
        between = pieces[before : mark.line] if near and not _between(boundaries, before, mark.line) else ()
        waits = bool(between) and not any(_P.first_label.search(piece.text) for piece in between)
        known = mark if waits and mark.weight < LIKELY else _weigh(pieces, mark, end)
        above = bisect_right(boundaries, mark.line)
        head = groups.get(boundaries[above - 1]) if above else None
        if mark.line in listed or (mark.line <= explaining and not known.supported):
            known = known._replace(weight=IN_LIST * mark.weight, supported=False, options=False)
        elif head and head.first is not None and head.first <= mark.value <= (head.last or 0):
            known = known._replace(weight=known.weight + ANNOUNCED)
        elif known.supported:
            until = boundaries[above] if above < len(boundaries) else len(pieces)  # its explanation may reach so far
            within = pieces[mark.line + 1 : min(until, mark.line + OPTIONS_WITHIN)]
            explaining = until if any(opens_explanation(piece.text) for piece in within) else mark.line
        weighed.append(known)
    return weighed


def _weigh(pieces: Sequence[ParsedLine], mark: NumberCandidate, end: int) -> NumberCandidate:
    within = pieces[mark.line + 1 : min(end, mark.line + OPTIONS_WITHIN)]
    texts = [pieces[mark.line].text[mark.end :], *(piece.text for piece in within)]
    options = any(map(_P.first_label.search, texts))
    supported = options or any(split_fields(text).answered for text in texts)
    weight = mark.weight + (OPENS_OPTIONS if options else 0.0)
    return mark._replace(weight=weight, supported=supported, options=options)


def _listed(pieces: Sequence[ParsedLine], likely: Sequence[NumberCandidate], boundaries: Sequence[int]) -> set[int]:
    """Lines of lists 1. 2. 3. inside a stem: under another number, with the options after the last of them."""
    lines: set[int] = set()
    for index in range(1, len(likely)):
        if likely[index].value == 1:
            listed = _list_from(pieces, likely, index)
            if len(listed) > 1 and not _between(boundaries, likely[index - 1].line, listed[-1]):
                lines.update(listed)
    return lines


def _between(boundaries: Sequence[int], first: int, last: int) -> bool:
    return bisect_right(boundaries, first) < bisect_right(boundaries, last)


def _coded(pieces: Sequence[ParsedLine], marks: Sequence[NumberCandidate]) -> set[int]:
    """Lines of statements ①②③ under a question whose options are codes of them: A. ①② B. ①③."""
    lines: set[int] = set()
    start = 0
    for index, mark in enumerate(marks):
        following = marks[index + 1] if index + 1 < len(marks) else None
        first = marks[start]
        if mark.value == 1:
            start, first = index, mark
        elif mark.value != index - start + first.value or mark.style is not first.style:
            start = index
            continue
        runs_on = following and (following.style, following.value) == (mark.style, mark.value + 1)
        if first.value == 1 and start > 0 and index > start and not runs_on:
            end = min(following.line if following else len(pieces), mark.line + OPTIONS_WITHIN)
            labelled = any(_P.first_label.search(piece.text) for piece in pieces[first.line : mark.line])
            below = (piece.text for piece in pieces[mark.line + 1 : end] if _P.first_label.search(piece.text))
            if not labelled and _P.codes.match(next(below, "")):
                lines.update(mark.line for mark in marks[start : index + 1])
    return lines


def _list_from(pieces: Sequence[ParsedLine], likely: Sequence[NumberCandidate], start: int) -> list[int]:
    """Lines of the numbers 1, 2, 3 … in a row, up to the first that options follow; none where none do."""
    lines: list[int] = []
    for at in range(start, len(likely)):
        mark, end = likely[at], likely[at + 1].line if at + 1 < len(likely) else len(pieces)
        if mark.value != len(lines) + 1:
            return []
        lines.append(mark.line)
        if _weigh(pieces, mark, end).supported:
            return lines
    return []


class Boundary(NamedTuple):
    """A line that opens something."""

    cost: float  # of a restart of the numbering after it
    key: bool = False  # a key stands under it: its entries begin at any number and leave some out


@dataclass
class _ChainSearch:
    """State of the search: for every mark the best chain that ends there."""

    score: list[float] = field(default_factory=list)
    back: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)  # the number with which its chain begins
    ends: dict[tuple[NumberStyle, int], int] = field(default_factory=dict)
    best: int = -1
    restart_score: float = float("-inf")
    restart_from: int = -1
    in_key: bool = False  # the head of a key has been passed

    def best_score(self) -> float:
        return self.score[self.best] if self.best >= 0 else 0.0


def best_chain(marks: Sequence[NumberCandidate], boundaries: Mapping[int, Boundary]) -> list[NumberCandidate]:
    """The marks that number questions, in order: the chain with the most evidence, in linear time.

    Each mark adds its weight; each irregularity (a gap, a restart, a change of habit) costs.
    """
    search = _ChainSearch()
    opened = sorted(boundaries)
    passed = 0
    for index, mark in enumerate(marks):
        while passed < len(opened) and opened[passed] <= mark.line:
            boundary = boundaries[opened[passed]]
            search.in_key = search.in_key or boundary.key
            if (score := search.best_score() - boundary.cost) >= search.restart_score:
                search.restart_score, search.restart_from = score, search.best
            passed += 1
        score, origin = max(_origins(search, marks, index), key=lambda option: option[0])
        search.score.append(score + mark.weight)
        search.back.append(origin)
        search.first.append(search.first[origin] if origin >= 0 else mark.value)
        known = search.ends.get((mark.style, mark.last), -1)
        if known < 0 or search.score[index] > search.score[known]:
            search.ends[mark.style, mark.last] = index
        if search.score[index] > search.best_score():
            search.best = index
    chain: list[NumberCandidate] = []
    index = search.best
    while index >= 0:
        chain.append(marks[index])
        index = search.back[index]
    return chain[::-1]


def _origins(search: _ChainSearch, marks: Sequence[NumberCandidate], index: int) -> list[tuple[float, int]]:
    mark = marks[index]
    late = 0.0 if mark.value == 1 else 2.0 + min(3.0, 0.1 * (mark.value - 1))  # 1 is the usual restart
    origins = [(-min(LATE, 0.05 * (mark.value - 1)), -1)]
    if search.best >= 0:
        origins.append((search.best_score() - RESTART - late, search.best))
    if search.restart_from >= 0:
        first, last = search.first[search.restart_from], marks[search.restart_from].last
        again = mark.value == first or (search.in_key and first < mark.value <= last)
        origins.append((search.restart_score - (0.0 if again else late), search.restart_from))
    for gap in range(1, GAP + 1):
        for habit in NumberStyle:
            if (known := search.ends.get((habit, mark.value - gap))) is not None:
                before, missing = marks[known], gap - 1
                cost = missing and (0.1 + 0.1 * missing if search.in_key else 0.3 + 0.5 * missing)
                near = LOST_DOT if frozenset((before.style, mark.style)) in _NEAR else HABIT_CHANGE
                cost += near if before.style is not mark.style else 0.0
                cost += 1e-4 * min(mark.line - before.line, 1000)  # of equal chains the one with near numbers
                origins.append((search.score[known] - cost, known))
    previous = marks[index - 1] if index else None
    same = previous and (previous.style, previous.value) == (mark.style, mark.value)
    announced = previous is not None and (previous.supported or previous.last > previous.value)
    if previous and same and announced and (mark.options or (mark.supported and not previous.options)):
        origins.append((search.score[index - 1] - DUPLICATE, index - 1))
    return origins


def unnumbered_items(pieces: Sequence[ParsedLine]) -> list[NumberCandidate]:
    """Return the items of a paper that prints no numbers: the one line between an answer and option A is a stem.

    So is what stands under a tag, 【单选题】, or a code with a key, G1A01 (C) [97.301]. Where more lines stand
    there, the item above keeps them all and waits.
    """
    tags = [(index, match) for index, piece in enumerate(pieces) if (match := _P.tag_line.fullmatch(piece.text))]
    options = [index for index, piece in enumerate(pieces) if index and _P.first_option.match(piece.text)]
    keys = [tag["key"] or tag["coded"] for _, tag in tags]
    if len(tags) >= max(UNNUMBERED, 0 if any(keys) else PLAIN * len(options)):
        starts = enumerate(((at, len(tag["code"] or "")) for at, tag in tags), 1)
        marks = [NumberCandidate(at, n, NumberStyle.BARE, end, 0.0, n) for n, (at, end) in starts]
        return [mark._replace(given=key) for mark, key in zip(marks, keys, strict=True)]
    if headed := _headed_items(pieces, options):
        return headed
    above = {index: pieces[index - 2].text for index in options}
    stems = [at - 1 for at, text in above.items() if at == 1 or opens_field(text) or is_section_head(text)]
    if len(stems) < max(UNNUMBERED, PLAIN * len(options)):
        return []
    return [NumberCandidate(line, at, NumberStyle.BARE, 0, 0.0, at) for at, line in enumerate(stems, 1)]


def _headed_items(pieces: Sequence[ParsedLine], options: Sequence[int]) -> list[NumberCandidate]:
    """Return the items of a file that calls the line over each question a heading: ## Exam X question 97 discussion.

    One that is the same over most, digits aside, is no part of their stems.
    """
    heads = [index for index, piece in enumerate(pieces) if piece.centred and piece.box is None]
    owners = Counter(heads[at - 1] for option in options if (at := bisect_right(heads, option)))
    if len(owners) < max(UNNUMBERED, PLAIN * len(options)):  # a heading has several
        return []
    bare = {line: without_digits(pieces[line].text) for line in owners}
    often = Counter(bare.values())
    ends = {line: len(pieces[line].text) for line in owners if often[bare[line]] >= UNNUMBERED}
    starts = enumerate(sorted(owners), 1)
    return [NumberCandidate(line, at, NumberStyle.BARE, ends.get(line, 0), 0.0, at) for at, line in starts]
