"""Cut a paper into items, the heads over them, shared texts and lines of answers: say what every line is."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise, zip_longest

from build_dataset.pipeline.parse import heads, numbering
from build_dataset.pipeline.parse.fields import opens_explanation, split_fields
from build_dataset.pipeline.parse.heads import GroupHead, NumberCandidate, NumberStyle
from build_dataset.pipeline.parse.keylines import answer_lines, key_heads
from build_dataset.pipeline.parse.labels import Form, opens_option
from build_dataset.pipeline.parse.lines import REGIONS, ParsedLine
from build_dataset.pipeline.parse.numbering import Boundary
from build_dataset.pipeline.parse.options import find_run, find_runs
from build_dataset.pipeline.parse.outline import Builder, Cutting, Outline, Role
from build_dataset.pipeline.parse.running import is_title
from build_dataset.pipeline.parse.untitled import share_untitled
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
BOUNDARIES = {
    Role.SECTION: Boundary(0.5),
    Role.HEADING: Boundary(3.0),
    Role.GROUP: Boundary(1.0),
    Role.KEY_HEAD: Boundary(0.3, key=True),
    Role.ANSWERS: Boundary(0.5, key=True),
}
UNCHOSEN = 1.4  # the weight of a number that is printed like one of a question (1.0) and has options (0.4)
UNCLEAR = 0.3  # largest weight by form at which a number may still be a quantity: 38.5℃, 20支/日
LEAD_LINES = 80  # the most lines of a stem that stands before its number: …应选用（12）。 over 12. A. 甲 B. 乙
PASSAGE = 60  # least number of characters of a passage's first line
MORE = 5  # times as many items without a number as lines with one: these are titles
SHORT = 24  # width below which a line may be the end of the words before it


def cut(pieces: Sequence[ParsedLine]) -> Outline:
    """Cut a document's pieces. Every piece ends in exactly one role."""
    cutting = Cutting(pieces, [Role.TEXT] * len(pieces))
    for one_pass in PASSES:
        one_pass(cutting)
    outline = Builder(cutting).build()
    unchosen = (mark for mark in cutting.unchosen if cutting.roles[mark.line] is Role.TEXT)
    outline.unchosen_numbers = [(pieces[mark.line], mark.value) for mark in unchosen]
    return outline


def _keys(cutting: Cutting) -> None:
    """Lines of answers and the heads over them."""
    opened = key_heads(cutting.pieces)
    for index in opened:
        cutting.roles[index] = Role.KEY_HEAD
    for index, line in answer_lines(cutting.pieces, opened).items():
        cutting.roles[index] = Role.ANSWERS
        cutting.answers |= {index: line} if line else {}


def _heads(cutting: Cutting) -> None:
    """Heads of sections and of shared texts, by their words."""
    for index, piece in cutting.texts():
        if _P.labelled.match(piece.text):  # D. 丁 8～9题共用备选答案 is an option with a head behind it
            continue
        if head := heads.group_head(piece.text):
            cutting.share(index, head)
        elif heads.is_section_head(piece.text) or heads.NUMERAL.match(piece.text):
            if not _runs_over(cutting.pieces, index):
                cutting.roles[index] = Role.SECTION
        elif not piece.centred or heads.number_candidate(index, piece.text):
            continue
        elif heads.is_heading(piece.text, called=piece.box is None):
            cutting.roles[index] = Role.HEADING


def _runs_over(pieces: Sequence[ParsedLine], index: int) -> bool:
    """Return whether a line that begins like a head (一，可用於…) continues the full line, or the number, before it."""
    before, piece = pieces[index - 1], pieces[index]
    if index and _P.number_alone.fullmatch(before.text) and _P.item_type.fullmatch(piece.text):
        return True  # 1 / 【单选题】 / 首选的是
    if not index or len(piece.text.strip()) <= 4 or _P.type_head.search(piece.text):
        return False
    if re.match(rf"\s*[{heads.CHINESE}]{{1,3}}\s*[,，]", piece.text):
        return True
    if before.box is None or piece.box is None or before.page != piece.page or before.box.y0 > piece.box.y0:
        return False
    below = pieces[max(0, index - 40) : index + 40]  # lines of the same page, and more
    edge = max(piece.box.x1 for piece in below if piece.box and piece.box.x0 < before.box.x1)
    return before.box.x1 > edge - (before.box.y1 - before.box.y0)


def _cases(cutting: Cutting) -> None:
    """Cases that name their questions at their end, some lines below: 情況：…依此回答第4題至第5題."""
    for index, piece in cutting.texts():
        text = piece.text
        if index and cutting.roles[index - 1] is Role.TEXT and len(text) < SHORT and not heads.case_end(text):
            text = cutting.pieces[index - 1].text + text  # 依此回答下列第29題至第 / 32題
        named = heads.case_end(text)
        start = _case_start(cutting, index) if named else None
        if named is None or start is None:
            continue
        skipped = heads.opens_case(cutting.pieces[start].text, named=False) or 0
        cutting.share(start, GroupHead(named[0], named[1], options=False, end=skipped))
        cutting.parts.update(range(start + 1, index + 1))


def _case_start(cutting: Cutting, last: int) -> int | None:
    """The first line of a case that ends at a line: the one with its word, else the nearest that tells of somebody."""
    explained: int | None = None
    for index in range(last, max(-1, last - heads.CASE_LINES), -1):
        piece = cutting.pieces[index]
        if cutting.roles[index] is not Role.TEXT or piece.kind in REGIONS or _P.labelled.match(piece.text):
            break
        mark = heads.number_candidate(index, piece.text) if index < last else None
        if heads.opens_case(piece.text, named=True) is not None:
            return index
        if heads.opens_case(piece.text, named=False) is not None:
            explained = index
        above = cutting.pieces[index - 1].text.rstrip() if index else ""
        if (mark and mark.weight >= 1.0) or (explained is not None and above.endswith(("。", "？", "?"))):
            break
    return explained


def _problems(cutting: Cutting) -> None:
    """试题一（共15分） and all up to the next is one item to be answered in words, if no options stand in it."""
    sections = [index for index, role in enumerate(cutting.roles) if role is Role.SECTION]
    problems = [index for index in sections if _P.problem.match(cutting.pieces[index].text)]
    for head, end in pairwise([*problems, len(cutting.pieces)]):
        run = find_run("\n".join(piece.text for piece in cutting.pieces[head + 1 : end]))
        if run is not None and len(run.options) > 2 and run.form != Form.LOWER:  # variables of code are small
            continue
        inside = range(head + 1, end)
        cutting.parts.update(inside)
        for index in inside:
            cutting.roles[index] = Role.TEXT
            cutting.groups.pop(index, None)
            cutting.answers.pop(index, None)
        cutting.number(_numeral_mark(head, cutting.pieces[head].text))


def _numeral_mark(line: int, text: str) -> NumberCandidate:
    end, value = _P.numeral_end.search(text), heads.numeral_value(text) or 1  # 试题一（共15分）
    return NumberCandidate(line, value, NumberStyle.TITLE, end.end() if end else 0, 1.0, value, worded=True)


def _numbers(cutting: Cutting) -> None:
    """The numbers that run contiguously through the rest."""
    texts = ((index, piece.text) for index, piece in cutting.texts() if index not in cutting.parts)
    numbers = [mark for index, text in texts if (mark := heads.number_candidate(index, text))]
    marks = _without_parts(numbers, cutting.pieces)
    boundaries = {index: BOUNDARIES[role] for index, role in enumerate(cutting.roles) if role in BOUNDARIES}
    weighed = numbering.weigh_candidates(cutting.pieces, marks, sorted(boundaries), cutting.groups)
    chain = numbering.best_chain(weighed, boundaries)
    every = numbering.unnumbered_items(cutting.pieces)
    if chain and len(every) <= MORE * len(chain):  # items without numbers before the first number
        every = numbering.unnumbered_items(cutting.pieces[: chain[0].line])
    elif every:  # a number behind an answer is a title's (2. 以下题目出自…), others are of lists in their texts
        chain = [mark for mark in chain if mark.line and split_fields(cutting.pieces[mark.line - 1].text).answers]
    for mark in sorted((*every, *chain), key=lambda mark: mark.line):
        cutting.number(mark)
    clear = {mark.line for mark in marks if mark.weight > UNCLEAR}  # not 38.5℃
    cutting.unchosen = _unchosen([mark for mark in weighed if mark.line in clear], cutting)


def _unchosen(weighed: Sequence[NumberCandidate], cutting: Cutting) -> list[NumberCandidate]:
    """Return the numbers that were not chosen and look like those of questions."""
    # Options follow and the style is clear; or it is the first of the item's style in it: （5）乙… under （4）甲….
    candidates: list[NumberCandidate] = []
    item: NumberCandidate | None = None
    for mark, following in zip_longest(weighed, weighed[1:]):
        if mark.line in cutting.marks:
            item = mark
            continue
        alike = item is not None and mark.style is item.style
        runs_on = bool(following and (following.style, following.value) == (mark.style, mark.value + 1))
        likely = alike and item and _may_be_next(cutting, item, mark, runs_on=runs_on)
        if likely or (mark.options and mark.weight >= UNCHOSEN):
            candidates.append(mark)
        item = None if alike else item
    return candidates


def _may_be_next(cutting: Cutting, item: NumberCandidate, mark: NumberCandidate, *, runs_on: bool) -> bool:
    """Return whether a number inside an item may open another: the next number, one below options, a list without 1."""
    texts = [piece.text for piece in cutting.pieces[item.line : mark.line]]
    listed = runs_on and mark.value != 1  # （2）乙 / （3）丙 under （1）甲
    if mark.value != item.last + 1 and not listed and not any(map(opens_option, texts[1:])):
        return False
    return not split_fields("\n".join(texts)).opened


def _without_parts(marks: Sequence[NumberCandidate], pieces: Sequence[ParsedLine]) -> list[NumberCandidate]:
    """Marks without those that name a part of the item above, where that is one of several questions: 第4-5题."""
    kept: list[NumberCandidate] = []
    parts = 0
    for mark in marks:
        names_part = _P.names_part.match(pieces[mark.line].text) is not None
        if names_part and mark.value <= parts:
            continue
        if not names_part and mark.style is NumberStyle.TITLE:
            parts = mark.last - mark.value + 1 if mark.last > mark.value else 0  # 第4-5题 has two
        kept.append(mark)
    return kept


def _essays(cutting: Cutting) -> None:
    """一、试述… under a head of items to be answered in words is such an item, no section."""
    kind: str | None = None
    for index, role in enumerate(cutting.roles):
        text = cutting.pieces[index].text
        if role is Role.KEY_HEAD:
            return
        if role is not Role.SECTION:
            continue
        announced = heads.announcement(text).kind
        if announced is None and kind == "short_answer" and heads.numeral_value(text) and not heads.NUMERAL.match(text):
            cutting.number(_numeral_mark(index, text))
        else:
            kind = announced


def _announcing_numbers(cutting: Cutting) -> None:
    """71~75. before 71. 72. … opens a shared text; it is no item of its own."""
    for index, following in pairwise(sorted(cutting.marks)):
        mark = cutting.marks[index]
        if mark.last > mark.value == cutting.marks[following].value:
            cutting.share(index, GroupHead(mark.value, mark.last, options=False, end=mark.end))
            del cutting.marks[index]


def _items_of_spans(cutting: Cutting) -> None:
    """试题71-75 over a text with blanks and runs of options, but without numbers 71, 72 …, is an item of its own."""
    numbered = sorted(cutting.marks)
    for index, head in list(cutting.groups.items()):
        if head.first is None or head.last is None or head.options:
            continue
        place = bisect_right(numbered, index)
        above = cutting.marks[numbered[place - 1]].last if place else 0
        below = cutting.marks[numbered[place]].value if place < len(numbered) else 0
        end = numbered[place] if place < len(numbered) else len(cutting.pieces)
        if above + 1 != head.first or head.first <= below <= head.last:
            continue
        text = "\n".join(piece.text for piece in cutting.pieces[index + 1 : end])
        if len(find_runs(text)) == head.last - head.first + 1:  # a run of options for each blank
            del cutting.groups[index]
            cutting.number(NumberCandidate(index, head.first, NumberStyle.TITLE, head.end, 1.0, head.last))


def _announcing_spans(cutting: Cutting) -> None:
    """[71-75] alone on a line before question 71, or （二） alone over text, opens a shared text without a word."""
    following: int | None = None
    for index in range(len(cutting.pieces) - 1, -1, -1):
        text, role = cutting.pieces[index].text, cutting.roles[index]
        if index in cutting.marks:
            following = cutting.marks[index].value
        head = heads.span_head(text) if role is Role.TEXT else None
        counted = heads.counted_questions(text) if role is Role.TEXT and following else 0
        if head and head.first == following:
            cutting.share(index, head)
        elif counted > 1 and following:
            cutting.share(index, GroupHead(following, following + counted - 1, options=False, end=len(text)))
        elif heads.NUMERAL.match(text) and cutting.roles[index : index + 2] == [Role.SECTION, Role.TEXT]:
            cutting.share(index, GroupHead(None, None, options=False, end=len(text)))


def _headings(cutting: Cutting) -> None:
    """A centred line is a heading only where a head or a number follows; otherwise it is text."""
    following = Role.NUMBER
    for index in range(len(cutting.roles) - 1, -1, -1):
        if cutting.roles[index] is Role.HEADING and following is Role.TEXT:
            cutting.roles[index] = Role.TEXT
        following = cutting.roles[index]


def share_leads(cutting: Cutting) -> None:
    """Stems that stand before the number of their blank are shared texts of the items after them."""
    for index, mark in cutting.marks.items():
        if not _P.option_first.match(cutting.pieces[index].text, mark.end):
            continue
        if (start := _lead_start(cutting, index, mark.value)) is not None:
            bullet = _P.bullet.match(cutting.pieces[start].text)
            cutting.share(start, GroupHead(None, None, options=False, end=bullet.end() if bullet else 0))


def _passages(cutting: Cutting) -> None:
    """The text between a head such as 阅读理解 and its first number is shared by its items."""
    opened = False
    for index, role in enumerate(cutting.roles):
        text = cutting.pieces[index].text
        if role is not Role.TEXT:
            opened = role is Role.SECTION and heads.PASSAGE.search(text) is not None
        elif opened and len(text) >= PASSAGE and not heads.INSTRUCTION.search(text):
            cutting.share(index, GroupHead(None, None, options=False, end=0))
            opened = False


def _lead_start(cutting: Cutting, index: int, number: int) -> int | None:
    """The first line after the options of the item before, if it has a bullet or the text names the number."""
    blank = re.compile(rf"[(（_]\s*{number}\s*[)）_]")  # the number stands as a blank in the lead: （12）, __12__
    start, named_at, named = None, None, False
    for place in range(index - 1, max(-1, index - LEAD_LINES), -1):
        piece = cutting.pieces[place]
        if is_title(piece.text) and not any(line < place for line in cutting.marks):
            break
        has_option = piece.kind not in REGIONS and _P.has_option.search(piece.text)
        if cutting.roles[place] is not Role.TEXT or has_option:
            break
        if opens_explanation(piece.text):  # whose later lines cannot be told from the first ones of a lead
            return named_at
        if blank.search(piece.text):
            named, named_at = True, place
        start = place
        if _P.bullet.match(piece.text):
            return start
    return start if named else None


PASSES: tuple[Callable[[Cutting], None], ...] = (
    _keys,
    _heads,
    _cases,
    _problems,
    _numbers,
    _essays,
    _announcing_numbers,
    _items_of_spans,
    _announcing_spans,
    share_leads,
    share_untitled,
    _passages,
    _headings,
)
"""Passes in order: each works on the lines that earlier passes left as text."""
