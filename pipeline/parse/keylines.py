"""Lines that hold the answers of several questions (lists, ranges, grids), and the heads over them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, takewhile, zip_longest
from typing import NamedTuple

from build_dataset.pipeline.parse import heads
from build_dataset.pipeline.parse.fields import opens_explanation, split_fields
from build_dataset.pipeline.parse.folding import READ, structural
from build_dataset.pipeline.parse.labels import LABEL, LABELS, ascend, labels_in
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.pipeline.parse.options import OPTION_LINE
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
MAX_STEP = 200  # numbers further apart on one line number no questions: 1000 H 2000 H is a table of addresses
EXPLAINED_WITHIN = 12  # number of lines under the head of a key within which its first explanation must come
ANSWERED_WITHIN = 3  # number of lines under a possible head of a key within which its first answer must come
LISTED = 5  # least number of answers in a line for one of them to be of several parts
HEAD_LENGTH = 60  # number of characters after a head within which answers on the same line must begin


class KeyPair(NamedTuple):
    """An answer as a key prints it."""

    number: int
    letters: str  # in the key's order; `#` where a note says more; √, 错 … of a true/false item


@dataclass(slots=True)
class KeyLine:
    """Answers of several questions, and after which item they stand; a line, or the two rows of a grid."""

    pairs: tuple[KeyPair, ...]
    span: tuple[int, ...] = ()  # all numbers of a grid row, also those without an answer
    lines: int = 1  # the number of lines that it takes
    item: int = 0  # the number of items before it
    head: str = ""  # the head of the section they stand under, without its instructions
    title: str = ""  # the whole line of that head: 参考答案（B卷）
    counted: bool = False  # its letters have no numbers and answer the questions in turn: CDABE ABDEC


@lru_cache(READ)
def line_pairs(text: str) -> tuple[KeyPair, ...]:
    """The answers a line consists of, e.g. ``1.A 2.B`` or ``1-5 ABCDE``; empty if anything else stands in it.

    Letters apart (``A B C E``) are one answer only in order, no number missing; small ones where three numbers run on.
    """
    bare = structural(text.strip().lstrip("、，,；;"))  # 、1.A; l.A
    pairs = _pairs(bare)
    if any(abs(after.number - before.number) >= MAX_STEP for before, after in pairwise(pairs)):
        return ()
    if not pairs and re.search(r"\d\W{0,3}[a-k]", bare) and not labels_in(bare):  # 1.a 2.b 3.c
        pairs = _pairs(bare.upper())
        few = len(pairs) < 3 and not _P.small_row.fullmatch(text)  # 1⇥b in a table
        if few or not _contiguous([pair.number for pair in pairs]):
            return ()
    if any(re.search(r"\W", pair.letters) for pair in pairs if pair.letters[0].isalpha()):
        if not _contiguous([pair.number for pair in pairs]):
            return ()
        pairs = [KeyPair(pair.number, re.sub(r"[^\w#√×✓✗✘]", "", pair.letters)) for pair in pairs]
    return tuple(pairs)


def _pairs(bare: str) -> list[KeyPair]:
    pairs: list[KeyPair] = []
    position = several = 0
    while position < len(bare):
        match = _P.range.match(bare, position)  # 1-5 ABCDE
        if match:
            if (spread := _spread(int(match[1]), int(match[2]), match[3])) is None:
                return []
            pairs.extend(spread)
        else:
            match = _P.pair.match(bare, position)  # 3.C
            unsure = match and _P.open_answer.fullmatch(match[2])  # 5.（见注）
            letters = labels_in(match[2]) if match else []
            # Letters apart are one answer in order: A C D is, C B D answers several questions.
            one_answer = match and (len(letters) == len(match[2]) or ascend(letters))
            several += not (unsure or one_answer)
            if not match or several > 1:
                return []
            pairs.append(KeyPair(int(match[1]), match[2] if one_answer and not unsure else "#"))
        position = match.end()
    return pairs if not several or len(pairs) >= LISTED else []  # 32.B 33.B B D: the last has parts


def _contiguous(numbers: Sequence[int]) -> bool:
    return [*numbers] == list(range(numbers[0], numbers[0] + len(numbers)))


def _spread(first: int, last: int, letters: str) -> list[KeyPair] | None:
    """Letters of a range, one question each: ``ABCDE`` or ``AB C BD``; None if their number differs."""
    count = last - first + 1
    groups = re.findall(rf"{LABEL}+", letters)
    if len(groups) != count:
        groups = list("".join(groups))  # 1-5 AB CDE
    if len(groups) != count or count < 1:
        return None
    return [KeyPair(first + i, group) for i, group in enumerate(groups)]


def _in_turn(texts: Sequence[str], start: int) -> KeyLine | None:
    """The answers that lines of letters alone give in turn: CDABE ABDEC BC, AB ACD BCDE A; None for AB CD or CDA."""
    lines = [*takewhile(_P.letters_in_turn.fullmatch, texts[start:])]
    groups = " ".join(lines).split()
    sizes = {len(group) for group in groups[:-1]}
    if len(sizes) < 2:  # fives, and what is left; of twos nobody knows whether each is one answer
        groups = [] if sizes & {2, 3, 4} else list("".join(groups))
    pairs = tuple(KeyPair(number, letters) for number, letters in enumerate(groups, 1))
    return KeyLine(pairs, lines=len(lines), counted=True) if len(pairs) >= LISTED else None


def grid(texts: Sequence[str], start: int = 0) -> KeyLine | None:
    """The grid whose row of numbers begins at a line, with the row of answers under it; None if there is none.

    A row is a line, or lines of cells under a label that stands alone. Rows need a label (題號 / 答案) or three cells.
    Fewer answers than numbers fill the row from the left, as in official grids of papers shorter than the form.
    """
    upper = _row(texts, start, _P.number_label, _P.numbers)
    lower = _row(texts, upper[2], _P.answer_label, _P.answers) if upper else None
    if upper is None or lower is None:
        return None
    numbers = [int(number) for number in re.findall(r"\d+", upper[0])]
    cells = re.findall(rf"{LABEL}+|[#*]", lower[0].replace("井", "#"))
    if len(cells) == 1 and len(numbers) > 1 and len(cells[0]) == len(numbers):  # ABCD in one cell
        cells = list(cells[0])
    if not (upper[1] and lower[1]) and (len(numbers) < 3 or len(cells) != len(numbers)):
        return None
    pairs = tuple(KeyPair(number, cell) for number, cell in zip(numbers, cells, strict=False))
    known = numbers and len(cells) <= len(numbers) and _contiguous(numbers)
    return KeyLine(pairs, tuple(numbers), lower[2] - start) if known else None


def _row(texts: Sequence[str], at: int, head: re.Pattern[str], form: re.Pattern[str]) -> tuple[str, bool, int] | None:
    """A row of cells: its text without the label, whether there was one, and the line after it."""
    if at >= len(texts):
        return None
    named = head.match(texts[at])
    match = form.match(texts[at], named.end() if named else 0)
    if not match or not (named or match[1].strip()):
        return None
    end = at + 1
    if not named or match[1].strip():
        return match[1], named is not None, end
    parts: list[str] = []
    while end < len(texts) and texts[end].strip() and form.match(texts[end]):
        parts.append(texts[end])
        end += 1
    return " ".join(parts), True, end


def split_answer_lines(pieces: Sequence[ParsedLine]) -> list[ParsedLine]:
    """Return pieces in which lines of answers hold nothing else: their head goes (参考答案：1-5 ABCDE, 多选：1.ABC)."""
    split: list[ParsedLine] = []
    for piece in _whole_entries(pieces):
        cut = _head_end(piece.text) or 0
        if cut:
            split.append(replace(piece, text=piece.text[:cut].rstrip()))
        split.append(replace(piece, text=piece.text[cut:], centred=piece.centred and not cut))
    return split


def _whole_entries(pieces: Sequence[ParsedLine]) -> list[ParsedLine]:
    """Return pieces in which entries of keys that lines break are whole: 26-30：DACB / A；31：AB；1 / 32：C."""
    texts, last = [piece.text for piece in pieces], 0
    for at in range(1, len(texts)):
        above, below = structural(texts[at - 1]), structural(texts[at])
        if not (_P.broken.fullmatch(above) and _P.broken.fullmatch(below)):
            last = 0
        elif above[-1] in LABELS and len(re.findall(r"\d+", above)) > 3 and (letters := re.match(rf"{LABEL}+", below)):
            texts[at - 1 : at + 1] = above + letters[0], below[letters.end() :]
        elif number := _P.cut_number.search(above):
            known, whole = (line_pairs(_P.cut_number.sub("", text)) for text in (above, number[0] + below))
            last = known[-1].number if len(known) > 1 else last
            if last and whole and whole[0].number == last + 1:
                texts[at - 1 : at + 1] = above[: number.start()], number[0] + below
        pairs = line_pairs(texts[at - 1])
        last = pairs[-1].number if len(pairs) > 1 else last
    return [replace(piece, text=text) for piece, text in zip(pieces, texts, strict=True)]


def _head_end(text: str) -> int | None:
    for place in _P.rest.finditer(text, 0, HEAD_LENGTH):
        head = text[: place.start()].strip(" \t")
        is_key = heads.is_likely_key_head(head)  # 参考答案：1.A 2.B
        if not (is_key or heads.NUMERAL.match(head) or heads.is_section_head(head)):
            continue
        in_turn = is_key and _in_turn([text[place.start() :]], 0)
        if in_turn or len(line_pairs(text[place.start() :])) > (1 if is_key else 0):
            return place.start()
    return None


def key_heads(pieces: Sequence[ParsedLine]) -> frozenset[int]:
    """The lines that open a key: by their words, or by what stands under them where the words alone may deceive."""
    lines = set[int]()
    for index, piece in enumerate(pieces):
        below = [piece.text for piece in pieces[index + 1 : index + 1 + ANSWERED_WITHIN]]
        each = (line_pairs(one) or _P.entry.match(structural(one)) or grid(below, at) for at, one in enumerate(below))
        may_be = heads.may_be_key_head(piece.text) and any(each)
        if (may_be or heads.is_key_head(piece.text)) and not _marks_one_answer(pieces, index):
            lines.add(index)
    return frozenset(lines)


def _marks_one_answer(pieces: Sequence[ParsedLine], head: int) -> bool:
    """Return whether one answer without a number stands under 答案: the item's own, and no key begins there."""
    below = [piece.text for piece in pieces[head + 1 : head + 3]]
    if below and split_fields(below[0]).answers and not _P.entry.match(below[0]):  # Answer / Correct answer: D
        return True
    answers = [_P.own.fullmatch(text) is not None for text in below]
    return answers[:1] == [True] and (not any(answers[1:]) or below[0].lstrip()[0] in "问問")


def answer_lines(pieces: Sequence[ParsedLine], opened: frozenset[int]) -> dict[int, KeyLine | None]:
    """Grids (None at their further lines), and lines of answers: of one only under a head or beside such a line."""
    texts = [piece.text for piece in pieces]
    lines: dict[int, KeyLine | None] = {}
    armed = False
    for index, text in enumerate(texts):
        if index in lines or not text.strip():
            continue
        if answer_grid := grid(texts, index) or (_in_turn(texts, index) if armed else None):
            lines |= dict.fromkeys(range(index, index + answer_grid.lines)) | {index: answer_grid}
            continue
        pairs = line_pairs(text)
        column = [pairs, *map(line_pairs, texts[index + 1 : index + 3])] if pairs else []
        each = [row[0].number for row in column if len(row) == 1 and row[0].letters[0].isalpha()]
        if len(pairs) > 1 or (pairs and (armed or (len(each) == 3 and _contiguous(each)))):
            lines[index] = KeyLine(tuple(pairs))
            armed = True
        elif index in opened:
            armed = not _explained(pieces, index)
        else:
            armed = armed and bool(heads.is_section_head(text) or heads.NUMERAL.match(text))
    # Short rows of grids count only where nothing follows, and never where recognised: a cell may be missing.
    grids = [(index, line) for index, line in lines.items() if line and line.span]
    for (index, row), following in zip_longest(grids, [line for _, line in grids[1:]]):
        runs_on = following and following.pairs and following.span[0] == row.span[-1] + 1
        if len(row.pairs) < len(row.span) and (pieces[index].confidence is not None or runs_on):
            row.pairs = ()
    return lines


def _explained(pieces: Sequence[ParsedLine], head: int) -> bool:
    """Return whether explanations stand between the answers under a head: then each is an entry of its own."""
    # Marked ones follow the answers; unmarked ones stand between an answer and that to the next number.
    last, explained = None, False
    for piece in pieces[head + 1 : head + EXPLAINED_WITHIN]:
        pairs, is_head = line_pairs(piece.text), heads.is_section_head(piece.text)
        if not explained and opens_explanation(piece.text):
            return True
        if len(pairs) == 1:
            if explained:
                return pairs[0].number == (last or 0) + 1
            last = pairs[0].number
        elif pairs or not (last or is_head) or OPTION_LINE.match(piece.text) or heads.group_head(piece.text):
            return False
        elif not is_head:
            explained = True
    return False
