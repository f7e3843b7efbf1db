"""The lines of a paper as the parser sees them: folded, heads behind text split off, in one script and one notation.

Other notations become lines of a paper: web text in one line, Moodle's {~%100%…}, task lists, cells.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise, zip_longest

from build_dataset.pipeline.characters import in_taiwan, is_traditional, script_of
from build_dataset.pipeline.parse.fields import opens_field, split_fields
from build_dataset.pipeline.parse.folding import fold, width
from build_dataset.pipeline.parse.heads import NumberStyle, number_candidate, split_heads
from build_dataset.pipeline.parse.labels import LABELS, opens_option
from build_dataset.pipeline.parse.running import without_running
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import Box, Line, LineKind, Span, UnsureCharacter
from build_dataset.schemas.grouping import group_values

_P = Patterns(__name__)
REGIONS = (LineKind.FIGURE, LineKind.TABLE, LineKind.FORMULA)
WIDEST = 0.98  # share of lines without boxes that are within the paper's width: addresses are not
MIN_GLUED = 120  # characters from which on a line may hold several questions
MIN_NUMBERS = 2  # least number of numbers that run on for a line to hold several questions
MIN_LISTS = 3  # least number of items for what they have in common to be a habit
MOST_SAID = 0.4  # share of the answers from which on the same words over them, or of their kind, are furniture
MIN_STARRED, MOST_STARRED = 8, 0.9  # least number of items with one star, and their share
KEY, TICK = "(正确答案)", " √"  # behind options that a notation calls right, and that have a mark before them
SHORT_OF = 0.6  # up to this part of its column a line ends: a long word that did not fit left 0.35 free


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """A line, or a region, in reading order over the whole document."""

    text: str  # folded; side-by-side parts are separated by tabs; empty for regions
    page: int
    box: Box | None
    confidence: float | None
    kind: LineKind
    centred: bool = False  # it stands in the middle of its column, as headings do, or the file calls it one
    in_table: bool = False  # it stands inside a table's region
    order: int = 0  # its line's place in the reading order of the page
    other: str | None = None  # a second reading of its line, where that differs in what matters
    unsure: tuple[UnsureCharacter, ...] = ()  # characters of its line that may be misread


def parsed_lines(lines: Sequence[Line]) -> list[ParsedLine]:
    """The pieces of a document's lines: running heads and feet left out, texts folded."""
    headings = {(line.page, line.order) for line in lines if line.kind is LineKind.HEADING}
    texts = [line for line in lines if line.kind not in (LineKind.HEADER, LineKind.FOOTER)]
    plain = {"kind": LineKind.TEXT}
    kept = without_running([line.model_copy(update=plain) if line.kind is LineKind.HEADING else line for line in texts])
    boxes = group_values((line.column, line.box) for line in kept if line.box and line.kind is LineKind.TEXT)
    margins = {column: (min(box.x0 for box in group), max(box.x1 for box in group)) for column, group in boxes.items()}
    tables = group_values((line.page, line) for line in kept if line.kind is LineKind.TABLE)
    pieces: list[ParsedLine] = []
    for line in kept:
        parts = [fold(part) for part in line.text.split("\n")]
        if line.kind not in REGIONS:
            parts = [head for part in parts if part.strip() for head in split_heads(part)]
        centred = _centred(line, margins) or ((line.page, line.order) in headings and not opens_field(line.text))
        box = line.box if line.kind is LineKind.TEXT else None
        x, y = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2) if box else (0.0, 0.0)  # the middle of the line
        around = [table.box for table in tables[line.page] if box and table.box]
        cell = any(table.x0 <= x <= table.x1 and table.y0 <= y <= table.y1 for table in around)
        pieces.extend(line_part(line, part, centred=centred, in_table=cell) for part in parts)
    return pieces


def line_part(line: Line, text: str, *, centred: bool = False, in_table: bool = False) -> ParsedLine:
    """Return a part of a line."""
    place = (line.page, line.box, line.confidence, line.kind, centred, in_table, line.order)
    return ParsedLine(text, *place, line.other, tuple(line.unsure or ()))


def line_spans(pieces: Iterable[ParsedLine]) -> list[Span]:
    """Return the places of lines as runs, page by page."""
    places = enumerate(sorted({place_of(piece) for piece in pieces}))
    groups = groupby(places, key=lambda place: (place[1][0], place[1][1] - place[0]))
    runs = [(page, [order for _, (_, order) in group]) for (page, _), group in groups]
    return [Span(page=page, first=orders[0], last=orders[-1]) for page, orders in runs]


def _centred(line: Line, margins: Mapping[int, tuple[float, float]]) -> bool:
    """Return whether both sides of a line are about equally empty, each a fifth of the column or more."""
    if line.box is None or line.column not in margins or "\t" in line.text:
        return False
    left, right = margins[line.column]
    width = right - left
    before, after = line.box.x0 - left, right - line.box.x1
    return width > 0 and min(before, after) > 0.2 * width and abs(before - after) < 0.1 * width


def place_of(piece: ParsedLine) -> tuple[int, int]:
    """Return the place of a line in its document: page and order."""
    return piece.page, piece.order


def in_one_script(pieces: Sequence[ParsedLine]) -> list[ParsedLine]:
    """The pieces, recognised characters that traditional Chinese does not have replaced by those it has.

    Only lines that were recognised, in papers that are traditional, and only characters outside Big5: 台, 后 or 里
    are in both scripts and stay as they were read. So does 裏, which cp950 has; 僞 and 衆 become 偽 and 眾.
    """
    recognised = [piece for piece in pieces if piece.confidence is not None]
    if not recognised or not is_traditional(piece.text for piece in recognised):
        return list(pieces)
    return [piece if piece.confidence is None else replace(piece, text=_traditional(piece.text)) for piece in pieces]


def _traditional(text: str) -> str:
    foreign = {old for old in _P.han.findall(text) if script_of(old) == "gb2312" or not old.encode("cp950", "ignore")}
    if not foreign or len(converted := in_taiwan(text)) != len(text):
        return text
    return "".join(new if old in foreign else old for old, new in zip(text, converted, strict=True))


class ColumnEdges:
    """The right edges of the columns of a paper; of one without layout, the width of its widest lines."""

    def __init__(self, pieces: Sequence[ParsedLine]) -> None:
        widths = sorted(width(piece.text) for piece in pieces if piece.box is None)
        self.widest = widths[int(WIDEST * (len(widths) - 1))] if widths else 0
        boxes = sorted((piece.box.x0, piece.box.x1) for piece in pieces if piece.box)
        self.starts = [start for start, _ in boxes]
        self.ends = list(accumulate((end for _, end in boxes), max))
        heights = sorted(piece.box.y1 - piece.box.y0 for piece in pieces if piece.box)
        self.height = heights[len(heights) // 4] if heights else 0.0
        """Of short lines: boxes of long ones that are tilted, on photographs, are higher than their type."""

    def of(self, box: Box) -> float:
        """Return the farthest end of the lines that stand over or under a box."""
        return self.ends[bisect_left(self.starts, box.x1) - 1]

    def ends_short(self, piece: ParsedLine) -> bool:
        """Return whether a line has so much room left that the one under it does not go on from it."""
        if piece.box is None:
            return width(piece.text) < SHORT_OF * self.widest
        return piece.box.x1 - piece.box.x0 < SHORT_OF * (self.of(piece.box) - piece.box.x0)


def is_complete_line(piece: ParsedLine, edges: ColumnEdges, *, by_words: bool = True) -> bool:
    """Return whether a line ends what it says: by its words, or short of the edge of its column."""
    if piece.box is None or (by_words and _P.ends.search(piece.text.rstrip())):
        return True
    return piece.box.x1 < edges.of(piece.box) - 2 * min(edges.height, piece.box.y1 - piece.box.y0)


def plain_notation(pieces: Sequence[ParsedLine]) -> list[ParsedLine]:
    """Return the pieces with every part of a question on lines of its own, and its options with labels."""
    pieces = [replace(piece, text=part) for piece in pieces for part in _P.starred_cell.split(piece.text)]
    first = [found["word"] is not None for piece in pieces if (found := _P.first_option.match(piece.text))]
    if 2 * sum(first) > len(first):  # 选项A：甲; beside options that begin with A alone these explain
        pieces = [replace(piece, text=_P.word_option.sub("", piece.text)) for piece in pieces]
    lines = _labelled(without_captions([part for piece in _without_stars(pieces) for part in _parts(piece)]))
    return [*_marks_behind([*lines])]


def _marks_behind(lines: Sequence[ParsedLine]) -> Iterator[ParsedLine]:
    """Yield the lines with the mark before a label behind the option's text: *B 乙, √ C. 丙, A. 甲  ✔B. 乙.

    Whether a mark between two options is that of the one behind it is seen where a line begins, or ends, with one.
    """
    first = any(_P.marked_before.match(line.text) for line in lines)
    last = any(_P.mark_last.search(line.text) and opens_option(line.text) for line in lines)
    glued = [match["glued"] is not None for line in lines for match in _P.mark_between.finditer(line.text)]
    before = all(glued) if first == last else first
    for line in lines:
        marked = _P.marked_before.match(line.text) or (before and _P.mark_between.search(line.text))
        gap = _P.next_label if _P.next_label.search(line.text) else _P.next_bare  # B. 乙; B乙, B 乙
        for part in gap.split(line.text) if marked else [line.text]:
            mark = _P.marked_before.match(part)
            yield replace(line, text=f"{part[mark.end() :].rstrip()}{TICK}" if mark else part)


def _without_stars(pieces: Sequence[ParsedLine]) -> Iterator[ParsedLine]:
    """Yield the pieces with a tick for the one star that nearly each item has behind a label: B) *乙."""
    found = [_P.label_star.match(piece.text) if piece.kind not in REGIONS else None for piece in pieces]
    items, stars = (sum(bool(match and match[name]) for match in found) for name in ("first", "star"))
    ticks = max(MIN_STARRED, MOST_STARRED * items) <= stars <= items / MOST_STARRED
    for piece, match in zip(pieces, found, strict=True):
        text = f"{match['mark']} {piece.text[match.end() :].strip()}{TICK}" if match and match["star"] else ""
        yield replace(piece, text=text) if ticks and text else piece


def _parts(piece: ParsedLine) -> Iterator[ParsedLine]:
    if piece.kind in REGIONS:
        yield piece
        return
    text = _P.bullet.sub("", piece.text)
    text = bare if (bare := _P.sign_before.sub("", text)) != text and opens_field(bare) else text
    text = _P.keycaps.sub(lambda found: f"{re.sub(r'[^0-9]', '', found[0]) or 10}. ", text)
    if slanted := _P.slanted.fullmatch(text.strip()):
        text = f"解析：{slanted['told']}"
    if row := _P.row.fullmatch(text):  # 1\tCâu 1: … A. … D. …\tC\t…
        text = f"{row['asked']}\n答案：{row['key']}" + (f"\n解析：{row['told']}" if row["told"] else "")
    elif key := _P.headed_key.fullmatch(text):
        text = key["entries"]
    elif _P.circled_key.fullmatch(text):
        text = _P.circled.sub(lambda found: f" {unicodedata.numeric(found[0]):.0f}.", text)
    elif _P.key_of_sections.match(text):
        text = _P.of_section.sub(r"\n\1\n", text)
    elif len(text) > MIN_GLUED and (_P.glued_answer.search(text) or len(_P.glued_blank.findall(text)) >= MIN_NUMBERS):
        text = _apart(text)
    if "{~" in text or "{=" in text:
        text = _P.embedded.sub(r"\n\g<0>", text)
    if "的答案" in text:
        text = _P.glued_guess.sub("\n", text)
    parts = (part.strip() for part in text.split("\n"))
    yield from (replace(piece, text=part) for part in parts if part and not _P.rule_alone.fullmatch(part))


def _apart(text: str) -> str:
    """Break a line before its heads and answers, and before the numbers that run on from 1."""
    marks = list(_P.glued_number.finditer(text))
    first = next((at for at, mark in enumerate(marks) if mark[1] == "1"), len(marks))
    chosen: list[int] = []
    for mark in marks[first:]:
        if int(mark[1]) == len(chosen) + 1:
            chosen.append(mark.start())
    if len(chosen) < MIN_NUMBERS:
        return text
    edges = [0, *chosen, len(text)]
    whole = "\n".join(text[start:end] for start, end in pairwise(edges))
    for form in (_P.glued_head, _P.glued_answer, _P.glued_first):
        whole = form.sub(r"\n\g<0>", whole)
    return _P.glued_options.sub(
        lambda run: "\n".join(map(". ".join, zip(LABELS, filter(None, run.groups()), strict=False))), whole
    )


def _labelled(pieces: Iterable[ParsedLine]) -> Iterator[ParsedLine]:
    """Label options that have a sign instead: {~%100% 甲, {=甲 ~乙}, [x] 甲, [ ] 乙, (x) 甲, + 甲, - 乙, - 甲 ✅.

    What stands between the boxes of an item and the next item explains them.
    """
    lines = [*pieces]
    signs = [_P.signed.fullmatch(piece.text) if piece.kind not in REGIONS else None for piece in lines]
    inside = _inside_boxes(lines, signs)
    whole = groupby(range(len(lines)), key=lambda at: bool(signs[at]) or at in inside)
    groups = [[(lines[at], signs[at]) for at in group] for _, group in whole]
    ticked = sum(any(sign and _P.ticked.search(sign["text"]) for _, sign in run) for run in groups)
    bulleted = ticked >= MIN_LISTS and ticked > sum(_P.opens_list.match(piece.text) is not None for piece in lines)
    for before, run in pairwise([[], *groups]):
        if (first := run[0][1]) is None:
            piece = run[0][0]
            ends = run is groups[-1] or any(map(_opens_item, (piece for piece, _ in run)))
            boxed = len(before) > MIN_NUMBERS and before[0][1] and before[0][1]["box"]
            explains = boxed and ends and piece.text and not (_opens_item(piece) or opens_field(piece.text))
            yield replace(piece, text=f"解析：{piece.text}") if explains else piece
            yield from (piece for piece, _ in run[1:])
            continue
        boxes = {sign["box"] or "" for _, sign in run if sign}
        some = any(sign and _P.ticked.search(sign["text"]) for _, sign in run)
        # the sign of a list, or of items that are true or false: none is right
        lone = (boxes == {"-"} and not (bulleted and some)) or all(_P.empty_round.fullmatch(box) for box in boxes)
        opened = len(run) >= MIN_NUMBERS and (first["open"] or first["box"] or first["share"]) and not lone
        own = all(sign and _P.own_label.match(sign["text"]) for _, sign in run if sign)  # [ ] **a.** 甲
        place, mark = -1, ""
        for (piece, sign), (_, after) in pairwise([*run, (run[0][0], run[0][1])]):
            place = 0 if sign and sign["open"] else place + bool(sign)
            if not opened or place >= len(LABELS):
                yield piece
                continue
            text = piece.text
            if sign:
                right = sign["right"] or (sign["share"] and sign["share"].strip("0.,")[:1] not in ("", "-"))
                right = right or _P.said_right.fullmatch(sign["box"] or "")
                mark = KEY if right else TICK if sign["box"] and not _P.unmarked.fullmatch(sign["box"]) else ""
                text = f"{'' if own else f'{LABELS[place]}. '}{sign['text'].strip()}"
            yield replace(piece, text=f"{text}{mark if after else ''}")  # behind the last line of the option


def _inside_boxes(pieces: Sequence[ParsedLine], signs: Sequence[re.Match[str] | None]) -> set[int]:
    """Return the lines on which options with boxes go on, where some stand between two boxes."""
    inside, box, wrapped = set[int](), -1, False
    for at, (piece, sign) in enumerate(zip(pieces, signs, strict=True)):
        if sign:
            wrapped = wrapped or 0 <= box < at - 1
            box = at if _P.closed_box.match(sign["box"] or "") else -1
        elif not piece.text or _opens_item(piece) or opens_field(piece.text):
            box = -1
        elif box >= 0:
            inside.add(at)
    return inside if wrapped else set()


def without_captions(pieces: Sequence[ParsedLine]) -> list[ParsedLine]:
    """Return the pieces without what stands over most answers in the same words, and what most say of their kind.

    Show answer, 👉 Xem đáp án, [!TIP] over Answer: B; Categoría: Órganos, Type: single.
    """
    told = [bool(split_fields(piece.text).answers) for piece in pieces]
    opening = [opens_field(piece.text) for piece in pieces]
    each = enumerate(zip(opening, opening[1:], told, told[1:], strict=False))
    over = [at for at, (opens, below, own, after) in each if below and not own and (after or not opens)]
    free = [at for at in over if not at or not _P.label_alone.fullmatch(pieces[at - 1].text)]
    texts = {at: pieces[at].text for at in free if _P.words.fullmatch(pieces[at].text)}
    below = [opens_option(piece.text) for piece in pieces[1:]]
    ends = [_number_end(piece.text) for piece in pieces]  # 1. （2019年真题） over a stem
    ends = [0 if asked else end for end, asked in zip_longest(ends, below)]
    rests = [piece.text[end or 0 :].strip() for piece, end in zip(pieces, ends, strict=True)]
    said = ((at, _P.kind_of_item.fullmatch(rest)) for at, rest in enumerate(rests))
    texts |= {at: next(filter(None, mark.groups()), "") for at, mark in said if mark}
    points = [at for at, rest in enumerate(rests) if _P.point_of_item.fullmatch(rest)]
    if points and not any(number_candidate(0, piece.text) for piece in pieces[: points[0]]):  # over the first question
        texts |= dict.fromkeys(points, "point")
    times, most = Counter(texts.values()), len(over) * MOST_SAID
    least = {text: MIN_LISTS if _P.of_answer.search(text) else max(MIN_LISTS, most) for text in times}
    gone = {at for at, text in texts.items() if times[text] >= least[text] and not opens_option(text)}
    numbers = {at: pieces[at].text[: _number_end(pieces[at].text)] for at in gone}
    bare = ((at, replace(piece, text=numbers.get(at, piece.text))) for at, piece in enumerate(pieces))
    kept = [piece for at, piece in bare if at not in gone or piece.text]
    return without_captions(kept) if gone else kept


def _number_end(text: str) -> int:
    """Return the place behind the number that a line begins with, where other text follows: none in 1.0分."""
    mark = None if _P.kind_of_item.fullmatch(text.strip()) else number_candidate(0, text)
    return mark.end if mark and text[mark.end :].strip() and mark.style != NumberStyle.CIRCLED else 0


def _opens_item(piece: ParsedLine) -> bool:
    return piece.centred or number_candidate(0, piece.text) is not None
