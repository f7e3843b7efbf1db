"""Find the lines that hold the answers of several questions, and the heads over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from pipeline.parse.cloze import is_option_line
from pipeline.parse.fields import opens_explanation
from pipeline.parse.heads import group_head, is_key_head, is_section_head, may_be_key_head, numeral
from pipeline.parse.keylines import Grid, KeyPair, grid, last_letter_row, letter_rows, line_pairs
from pipeline.parse.lines import ParsedLine
from pipeline.parse.outline import KeyLine
from pipeline.parse.text import true_digits
from pipeline.patterns import Patterns

_P = Patterns("answerlines")

EXPLAINED_WITHIN = 12
"""In how many lines under the head of a key its first explanation must stand."""
ANSWERED_WITHIN = 3
"""In how many lines under what may be the head of a key its first answer must stand."""
HEAD_LENGTH = 60
"""Within how many characters the answers after a head on the same line must begin."""


def answers_apart(pieces: Sequence[ParsedLine]) -> list[ParsedLine]:
    """Pieces in which lines of answers hold nothing else, and whole answers.

    The head before them goes (参考答案：1-5 ABCDE, 多选题：1.ABC 2.BD); a line that goes on in the middle of an answer
    takes up the next.
    """
    found: list[ParsedLine] = []
    taken = False
    for piece, following in zip_longest(pieces, pieces[1:]):
        text = "" if taken else piece.text
        cut = _head_end(text)
        if cut:
            found.append(replace(piece, text=text[:cut].rstrip()))
            text = text[cut:]
        taken = following is not None and _goes_on(text, following.text)
        text = f"{text} {following.text}" if taken and following else text
        found.append(replace(piece, text=text, centred=piece.centred and not cut))
    return found


def _goes_on(text: str, following: str) -> bool:
    """Return whether a line of answers ends between a number, or a range, and its letters."""
    return (
        _P.unfinished.fullmatch(text) is not None
        and len(line_pairs(f"{text} {following}")) > max(1, len(line_pairs(text)), len(line_pairs(following)))
        and not line_pairs(text)
    )


def _head_end(text: str) -> int | None:
    for place in _P.rest.finditer(text, 0, HEAD_LENGTH):
        head = text[: place.start()].strip(" \t")
        is_key = is_key_head(head) or may_be_key_head(head)
        if not (is_key or numeral(head) or is_section_head(head)):
            continue
        if len(line_pairs(text[place.start() :])) > (1 if is_key else 0):
            return place.start()
    return None


def key_heads(pieces: Sequence[ParsedLine]) -> frozenset[int]:
    """The lines that open a key: by their words, or by what stands under them where the words alone may deceive."""
    return frozenset(
        index
        for index, piece in enumerate(pieces)
        if (is_key_head(piece.text) or (may_be_key_head(piece.text) and _answers_follow(pieces, index)))
        and not _marks_one_answer(pieces, index)
    )


def _marks_one_answer(pieces: Sequence[ParsedLine], head: int) -> bool:
    """Return whether one answer without a number stands under 答案: the item's own, and no key begins there."""
    below = [piece.text for piece in pieces[head + 1 : head + 3]]
    own = [_P.own.fullmatch(text) is not None for text in below]
    return own[:1] == [True] and (not any(own[1:]) or below[0].lstrip()[0] in "问問")


def _answers_follow(pieces: Sequence[ParsedLine], head: int) -> bool:
    texts = [piece.text for piece in pieces[head + 1 : head + 1 + ANSWERED_WITHIN]]
    return any(line_pairs(text) or _P.entry.match(true_digits(text)) for text in texts) or any(
        grid(texts, index) for index in range(len(texts))
    )


def answer_lines(pieces: Sequence[ParsedLine], heads: frozenset[int]) -> dict[int, KeyLine | None]:
    """Grids, and lines of answers: of several anywhere, of one only under a head or beside such a line.

    Returns:
        For every line of answers its answers, None for further lines of the same grid.
    """
    texts = [piece.text for piece in pieces]
    lines: dict[int, KeyLine | None] = {}
    grids: list[tuple[int, Grid]] = []
    armed = False
    for index, text in enumerate(texts):
        if index in lines or not text.strip():
            continue
        found = grid(texts, index)
        if found:
            grids.append((index, found))
            lines.update(dict.fromkeys(range(index, index + found.lines)))
            continue
        pairs = _row_of(texts, index, lines) or line_pairs(text)
        if len(pairs) > 1 or (pairs and (armed or _column(texts, index))):
            lines[index] = KeyLine(tuple(pairs), 0)
            armed = True
        elif index in heads:
            armed = not _explained(pieces, index)
        else:
            armed = armed and (is_section_head(text) or numeral(text))
    lines.update(_grid_lines(pieces, grids))
    return lines


def _column(texts: Sequence[str], index: int) -> bool:
    """Return whether three lines from here on are one answer each, of numbers that run on."""
    pairs = [line_pairs(text) for text in texts[index : index + 3]]
    numbers = [row[0].number for row in pairs if len(row) == 1 and row[0].letters[0].isalpha()]
    return len(numbers) == 3 and numbers == list(range(numbers[0], numbers[0] + 3))


def _row_of(texts: Sequence[str], index: int, lines: Mapping[int, KeyLine | None]) -> list[KeyPair]:
    """A row of letters after one number, where the rows beside it say how many questions it answers."""
    pairs = letter_rows(texts[index], texts[index + 1]) if index + 1 < len(texts) else []
    above = lines.get(index - 1)
    if not pairs and above and letter_rows(texts[index - 1], texts[index]):
        pairs = last_letter_row(texts[index])
    return pairs


def _grid_lines(pieces: Sequence[ParsedLine], grids: Sequence[tuple[int, Grid]]) -> dict[int, KeyLine]:
    """The answers of grids.

    A short row is read only where nothing follows, and never where it was recognised: a cell may be missing.
    """
    lines: dict[int, KeyLine] = {}
    for place, (index, found) in enumerate(grids):
        following = grids[place + 1][1] if place + 1 < len(grids) else None
        runs_on = following is not None and following.numbers[0] == found.numbers[-1] + 1
        short = len(found.pairs) < len(found.numbers)
        recognised = pieces[index].confidence is not None
        unsure = short and (recognised or (runs_on and following is not None and bool(following.pairs)))
        lines[index] = KeyLine(() if unsure else found.pairs, 0, span=found.numbers)
    return lines


def _explained(pieces: Sequence[ParsedLine], head: int) -> bool:
    """Return whether explanations stand between the answers under a head: then each is an entry of its own.

    Marked ones follow the answers; unmarked ones stand between an answer and that to the next number.
    """
    last, told = None, False
    for piece in pieces[head + 1 : head + EXPLAINED_WITHIN]:
        pairs = line_pairs(piece.text)
        if not told and opens_explanation(piece.text):
            return True
        if len(pairs) == 1:
            if told:
                return pairs[0].number == (last or 0) + 1
            last = pairs[0].number
        elif (
            pairs
            or not (last or is_section_head(piece.text))
            or is_option_line(piece.text)
            or group_head(piece.text)
        ):
            return False
        elif not is_section_head(piece.text):
            told = True
    return False
