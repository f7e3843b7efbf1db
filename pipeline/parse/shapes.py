"""Other notations, brought into lines of a paper: web text in one line, Moodle's {~%100%…}, task lists, cells."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from build_dataset.pipeline.parse.lines import REGIONS, ParsedLine
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
LONG = 120  # characters from which on a line may hold several questions
LEAST = 2  # least number of numbers that run on for a line to hold several questions
LETTERS = "ABCDEFGHIJK"
KEY, TICK = "(正确答案)", " √"  # behind options that a notation calls right, and that have a mark before them


def in_lines(pieces: Sequence[ParsedLine]) -> list[ParsedLine]:
    """Return the pieces with every part of a question on lines of its own, and its options with labels."""
    found = list(_labelled(part for piece in pieces for part in _parts(piece)))
    return [replace(one, text=_mark_behind(one.text)) for one in found]


def _parts(piece: ParsedLine) -> Iterator[ParsedLine]:
    if piece.kind in REGIONS:
        yield piece
        return
    text = piece.text
    if row := _P.row.fullmatch(text):  # 1\tCâu 1: … A. … D. …\tC\t…
        text = f"{row['asked']}\n答案：{row['key']}" + (f"\n解析：{row['told']}" if row["told"] else "")
    elif len(text) > LONG and _P.glued_answer.search(text):
        text = _apart(text)
    if "{~" in text or "{=" in text:
        text = _P.embedded.sub(r"\n\g<0>", text)
    yield from (replace(piece, text=part.strip()) for part in text.split("\n") if part.strip())


def _apart(text: str) -> str:
    """Break a line before its heads and answers, and before the numbers that run on from 1."""
    marks = list(_P.glued_number.finditer(text))
    first = next((at for at, found in enumerate(marks) if found[1] == "1"), len(marks))
    chosen: list[int] = []
    for found in marks[first:]:
        if int(found[1]) == len(chosen) + 1:
            chosen.append(found.start())
    if len(chosen) < LEAST:
        return text
    edges = [0, *chosen, len(text)]
    whole = "\n".join(text[start:end] for start, end in pairwise(edges))
    for form in (_P.glued_head, _P.glued_answer, _P.glued_first):
        whole = form.sub(r"\n\g<0>", whole)
    return whole


def _labelled(pieces: Iterable[ParsedLine]) -> Iterator[ParsedLine]:
    """Label options that have a sign instead: {~%100% 甲, {=甲 ~乙}, [x] 甲, [ ] 乙."""
    signed = ((piece, _P.signed.fullmatch(piece.text) if piece.kind not in REGIONS else None) for piece in pieces)
    for is_signed, found in groupby(signed, key=lambda one: one[1] is not None):
        run = [*found]
        starts = [at for at, (_, sign) in enumerate(run) if sign and sign["open"]] or [0]
        opened = (
            is_signed
            and len(run) >= LEAST
            and (run[0][1] and (run[0][1]["open"] or run[0][1]["box"] or run[0][1]["share"]))
        )
        for at, (piece, sign) in enumerate(run):
            place = at - max(start for start in starts if start <= at) if opened else len(LETTERS)
            if sign is None or place >= len(LETTERS):
                yield piece
                continue
            right = sign["right"] or (sign["share"] and sign["share"].strip("0.,")[:1] not in ("", "-"))
            mark = KEY if right else TICK if sign["box"] and sign["box"].strip("[ ]☐⬜") else ""
            yield replace(piece, text=f"{LETTERS[place]}. {sign['text'].strip()}{mark}")


def _mark_behind(text: str) -> str:
    """Put a mark that stands before a label behind the option: *B 乙, √ C. 丙."""
    found = _P.marked_before.match(text)
    return f"{text[found.end() :]}{TICK}" if found else text
