"""From items to drafts: fields of every item, parts, shared cases and options, what is set aside."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from build_dataset.pipeline.ocr.emphasis import CHOSEN
from build_dataset.pipeline.parse import fields as item_fields, parts
from build_dataset.pipeline.parse.draft import Draft, Habits, ItemText, set_aside, strip_item_type, take_marks, text_of
from build_dataset.pipeline.parse.folding import join_lines
from build_dataset.pipeline.parse.heads import SET_ASIDE, SHARED_OPTIONS, announcement, case_end
from build_dataset.pipeline.parse.labels import are_labels, label_after
from build_dataset.pipeline.parse.options import OptionRun, find_run
from build_dataset.pipeline.parse.outline import Block, Group, NumberedItem, Outline
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import LineKind, Part
from build_dataset.schemas.grouping import group_values

_P = Patterns(__name__)
ANSWERING = 0.8  # share of a run's items that must be key entries for the run to be a key without a head


def drafts_of(outline: Outline) -> list[Draft]:
    """The drafts of a paper's items, in order; parts of an item become drafts of their own."""
    drafts: list[Draft] = []
    texts = [parts.split_off(text_of(item.pieces)) for item in outline.items]
    all_fields = [item_fields.split_fields(text) for text, _ in texts]
    habits = Habits([text for text, _ in texts], all_fields)
    explaining = _explaining(outline, all_fields)
    answering = _answering(outline, all_fields)
    shared = _SharedOptions()
    in_key: set[int] = set()
    for item, (text, rest), fields in zip(outline.items, texts, all_fields, strict=True):
        border = text.count("\n") + 1  # the item's own lines; the rest are of unnumbered questions
        is_key = (item.block.is_key and id(item.block) not in in_key) or id(item.block) in explaining
        reading = ItemText(item, item.pieces[:border], fields, habits)
        own_drafts = _drafts(reading, shared, is_key=is_key or item.run in answering)
        if item.block.is_key and any(draft.options and not draft.entry for draft in own_drafts):
            in_key.add(id(item.block))
        drafts.extend(own_drafts)
        if rest is not None:
            drafts.extend(parts.unnumbered_drafts(item, item.pieces[border:], rest, fields))
    parts.continue_cases(drafts)
    _flag_shifted(drafts)
    return drafts


def _explaining(outline: Outline, all_fields: Sequence[item_fields.Fields]) -> set[int]:
    """Blocks behind a key that explain questions again: under a head seen before, without options of their own."""
    names, behind, opened = set[str](), set[int](), False
    for block in outline.blocks:
        opened = opened or block.opens_key
        if opened and not block.is_key and (block.name in names or "解析" in block.name):
            behind.add(id(block))
        names.add(block.name)
    before = [item for item in outline.items if id(item.block) not in behind and not item.block.is_key]
    numbers = {item.number for item in before}
    each = zip(outline.items, all_fields, strict=True)
    asks = {id(it.block) for it, fields in each if it.group or it.number not in numbers or find_run(fields.head)}
    return behind - asks


def _answering(outline: Outline, all_fields: Sequence[item_fields.Fields]) -> set[int]:
    """Return runs that repeat earlier question numbers and consist almost wholly of key entries."""
    runs = group_values((item.run, (item, fields)) for item, fields in zip(outline.items, all_fields, strict=True))
    asked, answering = set[int](), set[int]()
    for run, members in runs.items():
        read = [fields for _, fields in members]
        entries = [it for it in read if _is_entry(it) or (_P.letter_first.match(it.head) and not find_run(it.head))]
        if min(len(entries), sum(item.number in asked for item, _ in members)) >= ANSWERING * len(members):
            answering.add(run)
        else:
            asked.update(number for item, _ in members for number in range(item.number, item.last + 1))
    return answering


@dataclass
class _SharedOptions:
    """Options that stand before the items of a B section without a head of their own."""

    block: Block | None = None
    run: OptionRun | None = None
    count: int = 0

    def of(self, item: NumberedItem) -> OptionRun | None:
        """The options shared by this item, if its section has such."""
        if item.block is not self.block:
            self.block = item.block
            run = find_run(item.block.text) if announcement(item.block.text).kind in SHARED_OPTIONS else None
            named = run is None or not all(text for _, text in run.options)  # A、B、C、D 是其下两道小题的备选项
            self.run, self.count = None if named else run, self.count + 1
        return self.run


def _drafts(reading: ItemText, shared: _SharedOptions, *, is_key: bool) -> list[Draft]:
    """The drafts of an item: an entry of a key, several questions, or one."""
    if reading.run is None and (is_key or _is_entry(reading.fields)):
        return _entries(reading)
    sections_own = shared.of(reading.item)
    group = reading.item.group
    group_run = find_run("\n".join(piece.text for piece in group.pieces)) if group else None
    return _several(reading) or [_single(reading, group_run or sections_own, shared)]


def _several(reading: ItemText) -> list[Draft]:
    """The questions of an item that holds more than one; empty for others."""
    item, pieces, fields = reading.item, reading.pieces, reading.fields
    if item.worded:
        return []
    if item.last > item.number:
        return list(parts.numbered_parts(item, pieces, reading.head, fields))
    inside = parts.parts_with_options(reading.head, fields) or parts.blanks_with_options(reading.head, fields)
    if inside is None and reading.run is not None:
        inside = parts.stems_after_options(fields.head, find_run(fields.head) or reading.run)
    drafts = list(parts.part_drafts(item, pieces, inside, fields)) if inside else []
    if inside and inside.shared_options and _P.part_before.search(inside.lead):
        for draft in drafts:
            draft.set_aside = ("fill_in", SET_ASIDE["fill_in"])
    return drafts


def _single(reading: ItemText, common: OptionRun | None, shared: _SharedOptions) -> Draft:
    item, fields, run = reading.item, reading.fields, reading.run
    draft = parts.draft_of(item, reading.pieces, fields)
    if common and (run is None or shared.run is not None or (item.group and item.group.head.options)):
        _use_shared(draft, reading, common, shared)
    elif run is not None:
        _use_own(draft, reading.head, run)
    else:
        draft.stem = join_lines(fields.head)
        codes = find_run(draft.block.text) if draft.announced == "K" else None  # A. ①②③ B. ①③ in the head
        if codes and all(_P.codes.fullmatch(text) for _, text in codes.options):
            draft.options = list(codes.options)
            draft.add_trace(Part.OPTIONS, "codes_of_head", "".join(label for label, _ in codes.options))
    _answer(draft, fields, reading)
    strip_item_type(draft)
    # The dot of its number on another page, or the number again before its options: （69）. （69）A.
    draft.stem = _P.lost_dot.sub("", draft.stem)
    again = _P.number_again.search(draft.stem)
    draft.stem = draft.stem[: again.start()] if again and int(again[1]) == item.number else draft.stem
    _share_case(draft, item.group)
    draft.set_aside = set_aside(draft, fields, worded=item.worded)
    return draft


def _is_entry(fields: item_fields.Fields) -> bool:
    """Return whether an item is an entry of a key: no stem, perhaps letters, an answer or an explanation."""
    head = fields.head.strip()
    marked = fields.answered or fields.explanation is not None
    return (not head and marked) or are_labels(re.sub(r"[.。．]\Z", "", head))


def _entries(reading: ItemText) -> list[Draft]:
    """Return an entry of a key, or one entry for each number it covers: 9～11．ABC."""
    fields, entries = reading.fields, list[Draft]()
    letters, rest = item_fields.stated_answers(fields.head)
    explanation = "\n".join(part for part in (join_lines(rest), fields.explanation) if part) or None
    answer = "".join(letters or fields.answers[:1]) or item_fields.concluded_answer(explanation)
    numbers = range(reading.item.number, reading.item.last + 1)
    for place, number in enumerate(numbers):
        entries.append(draft := parts.draft_of(reading.item, reading.pieces, fields))
        draft.entry, draft.number, draft.explanation = True, number, explanation
        draft.answer, draft.of_parts = answer, len(letters) > 1
        if len(numbers) > 1:
            draft.answer = answer[place] if answer and len(answer) == len(numbers) else None  # 9～11．ABC
    return entries


def _use_own(draft: Draft, head: str, run: OptionRun) -> None:
    draft.stem = join_lines(head[: run.start]).replace(CHOSEN, "")
    draft.options = list(run.options)
    if run.repaired:
        text = dict(run.options)[run.repaired]
        if text[:1].upper() == run.repaired or _P.typed_wrong.match(text):
            draft.flag("label_put_back", f"{text[:20]!r} may begin with a label in place of {run.repaired}")
    again = find_run(head, run.last)  # a second question whose number was not read
    if again and len(again.options) >= min(3, len(run.options)) and again.strength >= 2:
        detail = f"options start again after {run.options[-1][0]}: {again.options[0][1][:40]!r}"
        draft.flag("several_option_runs", detail)
    before = find_run(head[: run.start]) if _P.second_label.search(draft.stem) else None
    if before and len(before.options) >= min(3, len(run.options)):
        draft.flag("several_option_runs", f"options stand before {draft.stem[-20:]!r} too")
    last = run.options[-1][0]
    if again_at := re.search(rf"\n[ ]*[(（【]?([{last}{label_after(last)}])[.．、)）】]", head[run.last :]):
        line = head[run.last + again_at.start() :].strip().partition("\n")[0]
        draft.flag("label_inside_text", f"a line after option {last} begins with {again_at[1]}: {line[:40]!r}")
    first, end = head.count("\n", 0, run.start), head.rstrip().count("\n")  # the lines that the options stand on
    labels = "".join(label for label, _ in run.options)
    detail = f"{labels}; label {run.repaired} put back" if run.repaired else labels
    drawn = any(piece.kind is LineKind.TABLE for piece in draft.pieces)
    cells = (at for at, piece in enumerate(draft.pieces) if drawn and piece.in_table)
    draft.options_in_cells = next(cells, -1) >= first
    draft.add_trace(Part.OPTIONS, run.form, detail, draft.pieces[first : end + 1])


def _use_shared(draft: Draft, reading: ItemText, common: OptionRun, shared: _SharedOptions) -> None:
    head, run = reading.head, reading.run
    draft.options, draft.shared_options = list(common.options), True
    draft.add_trace(Part.OPTIONS, "shared", "".join(label for label, _ in common.options))
    draft.stem = join_lines(head[: run.start] if run else head)
    if shared.run is common:
        draft.group = f"b{shared.count}"
    if run is not None:
        draft.options_belong_to_next = True
        shared.run, shared.count = run, shared.count + 1  # for the items that follow


def _flag_shifted(drafts: Sequence[Draft]) -> None:
    """Flag shared options that follow question after question: they may be each question's own."""
    each = pairwise(drafts)
    shifted = {id(one.block) for one, after in each if one.options_belong_to_next and after.options_belong_to_next}
    for draft, after in zip_longest(drafts, drafts[1:]):
        if draft.shared_options and id(draft.block) in shifted:
            draft.flag("parts_and_options_differ", "options follow every question, so none may be shared")
        elif draft.options_belong_to_next and (after is None or after.block is not draft.block):
            draft.flag("parts_and_options_differ", "options follow it that no question shares: they may be its own")


def _answer(draft: Draft, fields: item_fields.Fields, reading: ItemText) -> None:
    """Find the stated answer: after a mark, beside the stem, in its blank, or in words, in this order."""
    beside = reading.beside
    if not (labels := [label for label, _ in draft.options]):
        return
    marked = take_marks(draft, habit=reading.habits.marks)  # A.甲(正确答案)
    quoted = item_fields.by_text(fields.answer_texts, draft.options)  # 答案：青霉素
    printed = [*fields.answers, *filter(None, (beside, marked))]
    stated = {"".join(sorted(answer)) for answer in printed if set(answer) <= set(labels)}
    if len(stated) > 1:  # （C）1. … 答案：B
        draft.flag("answers_disagree", f"the paper states {' and '.join(sorted(stated))}")
    if quoted:
        draft.take_answer(quoted, "option_text")
        draft.explanation = item_fields.without_text(fields.explanation, fields.answer_texts, draft.options)
    elif printed:
        draft.take_answer(printed[0], "inline" if fields.answers else "beside" if beside else "marked")
        if item_fields.repeats_answer(draft.explanation or "", printed[0], draft.options):
            draft.explanation = None
        # The stem may show in its blank the answer that stands behind a mark too: …的是（C）。 答案：C.
        stem, letters = item_fields.filled_blank(draft.stem, labels, anywhere=reading.habits.blanks_inside)
        if letters and letters == draft.answer:
            draft.stem = stem
        elif letters and reading.habits.blanks_inside:
            draft.flag("answers_disagree", f"{letters} in its blank, {draft.answer} behind the mark")
    else:
        anywhere, behind = reading.habits.blanks_inside, reading.habits.letters_behind
        draft.stem, letters = item_fields.filled_blank(draft.stem, labels, anywhere=anywhere, behind=behind)
        draft.in_blank = letters is not None
        draft.take_answer(letters, "blank")
    if draft.answer is None and fields.answer_texts:
        draft.flag("answer_not_read", f"answer given as {fields.answer_texts[0][:40]!r}")
    if draft.answer is None:
        draft.take_answer(item_fields.concluded_answer(fields.explanation), "concluded")


def _share_case(draft: Draft, group: Group | None) -> None:
    if group is None:
        return
    draft.group = f"g{id(group)}"
    draft.group_headed, draft.shared_pieces = True, group.pieces
    draft.group_first, draft.group_last = group.head.first, group.head.last
    rule = "shared_options" if draft.shared_options else "shared_stem"
    draft.add_trace(Part.SHARED, rule, None, group.pieces)
    if not draft.shared_options:
        text = "\n".join(piece.text for piece in group.pieces)
        named = case_end(text)
        draft.shared_stem = join_lines(text[: named[2]] if named else text) or None
