"""Items with numbered blanks, and stems that stand before their number."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from build_dataset.pipeline.parse import heads
from build_dataset.pipeline.parse.fields import opens_explanation
from build_dataset.pipeline.parse.folding import join_lines
from build_dataset.pipeline.parse.heads import GroupHead, NumberStyle
from build_dataset.pipeline.parse.keylines import line_pairs
from build_dataset.pipeline.parse.lines import REGIONS, ParsedLine
from build_dataset.pipeline.parse.options import OPTION_LINE, OptionRun, find_run, find_runs
from build_dataset.pipeline.parse.outline import Cutting, Role
from build_dataset.pipeline.parse.running import is_title
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
SURE = 0.9  # least weight of a number that opens an item of its own; numbered blanks may follow it
FAR = 80  # the most lines that a lead may have


class Blank(NamedTuple):
    """A blank with its options."""

    number: int
    run: OptionRun


class Cloze(NamedTuple):
    """An item's text with its blanks."""

    lead: str
    blanks: tuple[Blank, ...]
    labelled: bool  # the options of each stand behind its number

    @property
    def sure(self) -> bool:
        """True if these are surely blanks: （1） before a single run of options may be any other bracket."""
        return self.labelled or len(self.blanks) > 1


def option_lines(pieces: Sequence[ParsedLine]) -> dict[int, tuple[int, int]]:
    """Lines （n）A. … that give the options of a blank: the line of the numbered item it belongs to, and n."""
    found: dict[int, list[int]] = {}
    values: dict[int, int] = {}
    owner: int | None = None
    blanks: set[str] = set()  # the numbers in brackets from the item's first line on
    for index, piece in enumerate(pieces):
        mark = None if piece.kind in REGIONS else heads.number_candidate(index, piece.text)
        if mark and _P.book_title.match(piece.text):
            owner, mark = None, None
        if mark:
            values[index] = mark.value
            if mark.style not in (NumberStyle.PAREN, NumberStyle.CIRCLED):
                owner, blanks = (index, set()) if mark.weight >= SURE else (owner, blanks)
            elif owner is not None and OPTION_LINE.match(piece.text) and str(mark.value) in blanks:
                found.setdefault(owner, []).append(index)
        blanks.update(_P.blank.findall(piece.text))
    runs_on = all(values[after] > values[before] for before, after in pairwise(found))
    if len(found) < 2 or not runs_on:  # at least two items have such lines, and their own numbers run on
        return {}
    return {index: (owner, values[index]) for owner, lines in found.items() for index in lines}


def own_answers(pieces: Sequence[ParsedLine], blanks: Mapping[int, tuple[int, int]]) -> frozenset[int]:
    """Lines （1）A （2）B that answer all blanks of the item above, and the words 答案 alone before them."""
    found, asked = set[int](), set[int]()
    owner = -1
    for index, piece in enumerate(pieces):
        if index in blanks:
            asked = asked if blanks[index][0] == owner else set()
            owner = blanks[index][0]
            asked.add(blanks[index][1])
            continue
        pairs = line_pairs(piece.text) if asked else []
        if pairs and {pair.number for pair in pairs} == asked:
            asked = set()
            found.add(index)
            if index and heads.is_likely_key_head(pieces[index - 1].text):
                found.add(index - 1)
    return frozenset(found)


def read_blanks(head: str) -> Cloze | None:
    """The blanks of an item and their options; None where its text and its options do not name the same ones."""
    if not _P.blank.search(head):  # most items: looking for runs of options takes long
        return None
    labels = list(OPTION_LINE.finditer(head))
    runs = [run for run in _runs_behind(head, labels) if run] if labels else find_runs(head)
    lead = head[: labels[0].start() if labels else runs[0].start if runs else 0]
    asked = list(dict.fromkeys(int(number) for number in _P.blank.findall(lead)))
    if not asked or len(runs) != len(asked) or (labels and [int(label[1]) for label in labels] != asked):
        return None
    return Cloze(join_lines(lead), tuple(map(Blank, asked, runs)), labelled=bool(labels))


def read_parts(head: str, numbers: Sequence[int]) -> Cloze | None:
    """The options of an item of several questions, 第4-5题, that stand behind （1） and （2）, or （4） and （5）."""
    labels = list(_P.part_line.finditer(head))
    names = [int(label[1] or label[2]) for label in labels]
    if names not in ([*numbers], [*range(1, len(numbers) + 1)]):
        return None
    runs = _runs_behind(head, labels)
    lead = join_lines(head[: labels[0].start()])
    blanks = tuple(Blank(name, run) for name, run in zip(names, runs, strict=True) if run is not None)
    return Cloze(lead, blanks, labelled=True) if len(blanks) == len(numbers) else None


def _runs_behind(head: str, labels: Sequence[re.Match[str]]) -> list[OptionRun | None]:
    """Return the options behind each label, up to the next one."""
    edges = [*(label.start() for label in labels[1:]), len(head)]
    return [find_run(head[:edge], label.end()) for label, edge in zip(labels, edges, strict=False)]


def run_on(items: Sequence[Cloze | None]) -> bool:
    """Return whether blanks run on from item to item, so that they number the questions; some may be lost."""
    found = [cloze for cloze in items if cloze is not None]
    numbers = [blank.number for cloze in found for blank in cloze.blanks]
    most_have_blanks = 2 * len(found) > max(2, len(items))
    rising = all(before < after for before, after in pairwise(numbers))
    return most_have_blanks and rising and any(cloze.sure for cloze in found)


def share_leads(cutting: Cutting) -> None:
    """Stems that stand before the number of their blank are shared texts of the items after them."""
    for index, mark in cutting.marks.items():
        if not _P.option_first.match(cutting.pieces[index].text, mark.end):
            continue
        if (start := _lead_start(cutting, index, mark.value)) is not None:
            bullet = _P.bullet.match(cutting.pieces[start].text)
            cutting.share(start, GroupHead(None, None, options=False, end=bullet.end() if bullet else 0))


def _lead_start(cutting: Cutting, index: int, number: int) -> int | None:
    """The first line after the options of the item before, if it has a bullet or the text names the number.

    No lead reaches over a line that is known to be something else.
    """
    blank = re.compile(rf"[(（]\s*{number}\s*[)）]")  # the number stands as a blank in the lead: （12）
    start, named_at, found = None, None, False
    for place in range(index - 1, max(-1, index - FAR), -1):
        piece = cutting.pieces[place]
        if is_title(piece.text) and not any(line < place for line in cutting.marks):
            break
        has_option = piece.kind not in REGIONS and _P.has_option.search(piece.text)
        if cutting.roles[place] is not Role.TEXT or has_option:
            break
        if opens_explanation(piece.text):  # whose later lines cannot be told from the first ones of a lead
            return named_at
        if blank.search(piece.text):
            found, named_at = True, place
        start = place
        if _P.bullet.match(piece.text):
            return start
    return start if found else None
