"""From items to drafts: fields of every item, parts, shared cases and options, what is set aside."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from pipeline.parse.blanks import filled_blank
from pipeline.parse.draft import Draft
from pipeline.parse.fields import (
    Fields,
    by_text,
    concluded,
    leading_letters,
    letter_line,
    split_fields,
    without_answer,
)
from pipeline.parse.kinds import announcement
from pipeline.parse.lines import REGIONS, Piece
from pipeline.parse.matching import parts_with_options, split_off, stems_after_options
from pipeline.parse.options import Run, find_run
from pipeline.parse.outline import Group, Item, Outline
from pipeline.parse.parts import draft_of, numbered_parts, part_drafts, unnumbered
from pipeline.parse.setaside import set_aside
from pipeline.parse.text import join_lines
from schemas.documents import LineKind
from schemas.trace import Part

LABELLED = 2.3
"""The mean strength of labels with a mark of their own at the starts of lines or columns."""
_CODES = re.compile(r"(?:[\s、,，+和\d①-⑩()（）]+|以上)(?:[均都皆全]?(?:对|對|正确|正確|是|不?正确)|都不是)?")
"""What the code of a K-type item is made of: the numbers of its statements."""
_LETTER_END = re.compile(r"\n[ \t]*[A-K][ \t]*$")
_AS_ABOVE = re.compile(r"[(（]?(?:承|接|续|續|同)(?:上(?:[一1]?[题題例]|[，,])|第?\s*(\d{1,3})\s*[题題])")
_TAG = re.compile(
    r"[\[【(（]\s*((?:[ABX][1-4]?型|[单單多][项項]?[选選]?(?:择|擇)?|不定项(?:选择)?|判断|配伍)[题題]?|[单單多][选選])\s*[\]】)）]\s*"
)


def drafts_of(outline: Outline) -> list[Draft]:
    """The drafts of a paper's items, in order; parts of an item become drafts of their own."""
    drafts: list[Draft] = []
    texts = [_text_of(item.pieces) for item in outline.items]
    ends = sum(_LETTER_END.search(text) is not None for text in texts)
    habit = 3 * ends >= len(texts) and (ends > 1 or len(texts) == 1)
    shared = _SharedOptions(single_letters=habit)
    in_key: set[int] = set()
    for item, text in zip(outline.items, texts, strict=True):
        own, rest = split_off(text)
        border = own.count("\n") if rest is not None else len(item.pieces)
        fields = split_fields(own)
        found = list(_drafts(item, item.pieces[:border], fields, shared, is_key=_is_key(item, in_key)))
        if item.block.is_key and any(draft.options and not draft.entry for draft in found):
            in_key.add(id(item.block))
        drafts.extend(found)
        if rest is not None:
            drafts.extend(unnumbered(item, item.pieces[border:], rest))
    _continue_cases(drafts)
    return drafts


def _text_of(pieces: list[Piece]) -> str:
    """An item's text, a line a piece.

    Rows of a table and labels in a figure are the attachment's, unless options stand in them.
    """
    drawn = [bool(piece.in_table and "\t" in piece.text) or piece.kind in REGIONS for piece in pieces]
    if any(drawn):
        run = find_run("\n".join(piece.text for piece, inside in zip(pieces, drawn, strict=True) if inside))
        if run is not None and run.strength >= LABELLED:
            drawn = [False] * len(pieces)
    return "\n".join("" if inside else piece.text for piece, inside in zip(pieces, drawn, strict=True))


def _continue_cases(drafts: list[Draft]) -> None:
    """承上題 (as above), 承第3題: such a question shares the case of the one it names."""
    for before, draft in pairwise(drafts):
        found = _AS_ABOVE.match(draft.stem)
        if not found or draft.shared_stem:
            continue
        named = _numbered(drafts, draft, int(found[1])) if found[1] else before
        if named is None or named.entry or not named.options:
            continue
        named.group = draft.group = named.group or f"c{named.run}.{named.number}"
        draft.shared_stem = named.shared_stem or named.stem
        draft.shared_pieces = named.shared_pieces or named.pieces
        draft.because(Part.SHARED, "as_above", found[0], named.pieces)


def _numbered(drafts: list[Draft], after: Draft, number: int) -> Draft | None:
    return next(
        (one for one in drafts if (one.run, one.number) == (after.run, number) and one is not after), None
    )


def _is_key(item: Item, overruled: set[int]) -> bool:
    return item.block.is_key and id(item.block) not in overruled


class _SharedOptions:
    """Options that stand before the items of a B section without a head of their own, and the paper's habit of answers.

    Args:
        single_letters: whether the paper prints answers as single letters on lines of their own.
    """

    def __init__(self, *, single_letters: bool) -> None:
        self.single_letters = single_letters
        self.block: object = None
        self.run: Run | None = None
        self.count = 0

    def of(self, item: Item) -> Run | None:
        """The options shared by this item, if its section has such."""
        if item.block is not self.block:
            self.block = item.block
            is_shared = announcement(item.block.text).kind in ("B1", "C")
            self.replace(find_run(item.block.text) if is_shared else None)
        return self.run

    def replace(self, run: Run | None) -> None:
        """Options for the items that follow."""
        self.run = run
        self.count += 1


def _drafts(
    item: Item, pieces: list[Piece], fields: Fields, shared: _SharedOptions, *, is_key: bool
) -> Iterable[Draft]:
    head, bare = fields.head, None
    if not fields.answers and not item.given:
        head, bare = letter_line(head, single=shared.single_letters)
    run = find_run(head)
    common = _group_options(item.group) or shared.of(item)
    if run is None and _is_entry(fields, is_key=is_key):
        yield _entry(item, pieces, fields)
        return
    parts = parts_with_options(head, fields.answers)
    if item.last > item.number:
        yield from numbered_parts(item, pieces, head, fields)
        return
    if parts is None and run is not None:
        # the letters of matching items may be the last lines, so the untouched head is read
        parts = stems_after_options(fields.head, find_run(fields.head) or run)
    if parts is not None:
        yield from part_drafts(item, pieces, parts, fields)
        return
    draft = draft_of(item, pieces, fields)
    if common and (run is None or shared.run is not None):
        _use_shared(draft, head, run, common, shared)
    elif run is not None:
        _use_own(draft, head, run)
        _trace_options(draft, head, run)
    else:
        draft.stem = join_lines(fields.head)
        _use_codes(draft)
    _answer(draft, fields, item.given or (bare if run is not None else None))
    _take_tag(draft)
    draft.stem = _without_own_number(draft.stem, item.number)
    _share_case(draft, item.group)
    set_aside(draft, fields)
    yield draft


def _is_entry(fields: Fields, *, is_key: bool) -> bool:
    """Whether an item is an entry of a key: no stem, perhaps letters, an answer or an explanation."""
    head = fields.head.strip()
    if is_key:
        return True
    marked = fields.answered or fields.explanation is not None
    return (not head and marked) or re.fullmatch(r"[A-K]{1,11}[.。．]?", head) is not None


def _entry(item: Item, pieces: list[Piece], fields: Fields) -> Draft:
    draft = draft_of(item, pieces, fields)
    draft.entry = True
    letters, rest = leading_letters(fields.head)
    draft.answer = letters or (fields.answers[0] if fields.answers else None)
    said = join_lines(rest if letters else fields.head)
    draft.explanation = "\n".join(part for part in (said, fields.explanation) if part) or None
    draft.answer = draft.answer or concluded(draft.explanation)
    return draft


def _use_own(draft: Draft, head: str, run: Run) -> None:
    draft.stem = join_lines(head[: run.start])
    draft.options = list(run.options)
    if run.repaired:
        text = dict(run.options)[run.repaired]
        if text[:1].upper() == run.repaired:
            draft.doubt("label_put_back", f"{text[:20]!r} may begin with its label {run.repaired}")
    again = find_run(head, run.last)
    if again and len(again.options) >= min(3, len(run.options)) and again.strength >= 2:
        draft.doubt("several_option_runs", f"options start again after {run.options[-1][0]}")


def _tables_from(pieces: list[Piece]) -> int:
    """On which line the cells of the first table begin; -1 for one without cells that were read."""
    table = next((i for i, piece in enumerate(pieces) if piece.kind is LineKind.TABLE), len(pieces))
    if table == len(pieces):
        return -1
    return next((i for i, piece in enumerate(pieces) if piece.in_table), -1)


def _trace_options(draft: Draft, head: str, run: Run) -> None:
    """Which lines the options stand on, and how they are labelled."""
    first, last = head.count("\n", 0, run.start), head.rstrip().count("\n")
    labels = "".join(label for label, _ in run.options)
    detail = f"{labels}; label {run.repaired} put back" if run.repaired else labels
    draft.options_in_cells = _tables_from(draft.pieces) >= first
    draft.because(Part.OPTIONS, run.form, detail, draft.pieces[first : last + 1])


def _use_codes(draft: Draft) -> None:
    """Give a K-type item the codes its head states (A. ①②③ B. ①③ …) as options."""
    codes = find_run(draft.block.text) if draft.announced == "K" else None
    if codes and all(_CODES.fullmatch(text) for _, text in codes.options):
        draft.options = list(codes.options)
        draft.because(Part.OPTIONS, "codes_of_head", "".join(label for label, _ in codes.options))


def _use_shared(draft: Draft, head: str, run: Run | None, common: Run, shared: _SharedOptions) -> None:
    draft.options, draft.shared_options = list(common.options), True
    draft.because(Part.OPTIONS, "shared", "".join(label for label, _ in common.options))
    draft.stem = join_lines(head[: run.start] if run else head)
    if shared.run is common:
        draft.group = f"b{shared.count}"
        if run is not None:
            shared.replace(run)


def _answer(draft: Draft, fields: Fields, beside: str | None) -> None:
    """The answer a question states: after a mark, else ``beside`` it, else in its blank, else in words."""
    labels = [label for label, _ in draft.options]
    if not labels:
        return
    printed = [*fields.answers, *([beside] if beside else [])]
    stated = {"".join(sorted(answer)) for answer in printed if _usable(answer, labels)}
    if len(stated) > 1:
        draft.doubt("answers_disagree", f"the paper states {' and '.join(sorted(stated))}")
    said = by_text(fields.answer_texts, draft.options)
    if said:
        draft.take_answer(said, "option_text")
        draft.explanation = without_answer(fields, draft.options)
    elif printed:
        draft.take_answer(printed[0], "inline" if fields.answers else "beside")
    else:
        draft.stem, letters = filled_blank(draft.stem, labels)
        draft.in_blank = letters is not None
        draft.take_answer(letters, "blank")
    if draft.answer is None and fields.answer_texts:
        draft.doubt("answer_not_read", f"answer given as {fields.answer_texts[0][:40]!r}")
    if draft.answer is None:
        draft.take_answer(concluded(fields.explanation), "concluded")


def _take_tag(draft: Draft) -> None:
    """[多选题] before a stem says what the item is and is no part of it."""
    found = _TAG.match(draft.stem)
    if found:
        draft.tag, draft.stem = found[1], draft.stem[found.end() :]


def _usable(answer: str, labels: list[str]) -> bool:
    return set(answer) <= set(labels)


def _group_options(group: Group | None) -> Run | None:
    if group is None:
        return None
    return find_run("\n".join(piece.text for piece in group.pieces))


def _share_case(draft: Draft, group: Group | None) -> None:
    if group is None:
        return
    draft.group = f"g{id(group)}"
    draft.shared_pieces = group.pieces
    rule = "shared_options" if draft.shared_options else "shared_stem"
    draft.because(Part.SHARED, rule, None, group.pieces)
    if not draft.shared_options:
        draft.shared_stem = join_lines("\n".join(piece.text for piece in group.pieces)) or None


def _without_own_number(stem: str, number: int) -> str:
    """A stem without the dot of its number on another page, or the number again before its options: （69）. （69）A."""
    stem = _LOST_DOT.sub("", stem)
    again = _NUMBER_AGAIN.search(stem)
    return stem[: again.start()] if again and int(again[1]) == number else stem


_LOST_DOT = re.compile(r"^[.．、]\s*(?!\d)")
_NUMBER_AGAIN = re.compile(r"(?<=[。．.？?：:])\s*[(（]\s*(\d{1,4})\s*[)）]\s*$")
