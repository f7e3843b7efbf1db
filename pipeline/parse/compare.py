"""Items of one paper compared with each other: what is unlike all others was misread, or is another item's."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from pipeline.parse import heads
from pipeline.parse.draft import Draft, group_values
from pipeline.parse.fields import opens_field
from pipeline.parse.lines import REGIONS, ParsedLine
from pipeline.parse.options import find_labels, opens_option
from pipeline.parse.rooms import SHORT_OF, ColumnEdges, has_label
from pipeline.parse.text import without_digits
from pipeline.patterns import Patterns
from schemas.questions import SEVERAL_ANSWERS

_P = Patterns(__name__)

ALIKE = 0.9
"""Share of a section's questions that must have the same number of options for it to be the section's usual one."""
SEVERAL, MANY = 3, 10
"""Least number of questions for that: of a section, of a whole paper."""
REPEATED, SHORT = 3, 8
"""Least number of items with the same line after the options for it to be a foot, as ends of options do repeat; lines
that are longer than so many characters need to stand in two items only."""
MISPRINTED = 0.05
"""The share of a section's answers, besides one, that may name an option which is not there: errors of the key."""


def compare_items(drafts: Sequence[Draft], own: Sequence[Draft], edges: ColumnEdges) -> None:
    """Note findings as doubts, in place; ``own`` are the drafts of questions."""
    _check_counts(own)
    _check_lost_options(own)
    _check_groups(drafts)
    _check_announced(drafts)
    _check_feet(own)
    _check_under_last(own, edges)


def _check_counts(own: Sequence[Draft]) -> None:
    """Flag an unusual number of options in its section or paper: options were lost, or belong to another question."""
    members = [draft for draft in own if not (draft.shared_options or draft.suffix)]
    # items of one answer may have fewer options than others
    several = [draft.announced in SEVERAL_ANSWERS or len(draft.answer or "") > 1 for draft in members]
    kinds = group_values(zip(several, members, strict=True))
    blocks = group_values((id(draft.block), draft) for draft in members)
    odd: dict[int, tuple[Draft, int]] = {}
    parts = [*((kind, MANY) for kind in kinds.values()), *((block, SEVERAL) for block in blocks.values())]
    for part, enough in parts:
        counts = Counter(len(draft.options) for draft in part)
        usual, times = counts.most_common(1)[0] if counts else (0, 0)
        if times >= max(enough, ALIKE * (len(part) - 1)):
            odd |= {id(draft): (draft, usual) for draft in part if len(draft.options) != usual}
    for draft, usual in odd.values():
        reason = "options_missing" if len(draft.options) < usual else "options_too_many"
        draft.flag(reason, f"{len(draft.options)} options, {usual} elsewhere in the paper")


def _check_lost_options(own: Sequence[Draft]) -> None:
    """Flag questions with no more options than others of their section whose answers name a later one.

    The options C and D of a page in two columns may have been read elsewhere.
    """
    beyond_last = (draft for draft in own if max(draft.answer or "A") > draft.options[-1][0])
    short = group_values((draft.section, len(draft.options)) for draft in beyond_last)
    sizes = Counter(draft.section for draft in own)
    for draft in own:
        beyond = [size for size in short.get(draft.section, ()) if size >= len(draft.options)]
        if len(beyond) > max(1, MISPRINTED * sizes[draft.section]):
            why = f"{len(beyond)} answers of its section name options that were not read"
            draft.flag("options_missing", why)


def _check_feet(own: Sequence[Draft]) -> None:
    """Lines under the options that stand in several items are feet of pages or of a site."""
    under = [
        (draft, dict.fromkeys(map(without_digits, under_options(draft)))) for draft in own if not draft.suffix
    ]
    times = Counter(line for _, lines in under for line in lines)
    for draft, lines in under:
        again = [line for line in lines if times[line] >= (REPEATED if len(line) < SHORT else 2)]
        if again:
            draft.flag("foot_inside", f"{again[0][:30]!r} stands in {times[again[0]]} items")


def _check_groups(drafts: Sequence[Draft]) -> None:
    """Flag shared text whose head names a first number that was not found: it may hold that question."""
    headed = (draft for draft in drafts if draft.group and draft.group_first is not None)
    for members in group_values((draft.group, draft) for draft in headed).values():
        first = min(draft.number or 0 for draft in members)
        for draft in members if first != members[0].group_first else ():
            why = f"its head names number {draft.group_first}, the first found is {first}"
            draft.flag("may_hold_another", f"what is shared may hold it; {why}")


def _check_announced(drafts: Sequence[Draft]) -> None:
    """Questions beyond the number that their head announces stand under a head that was not read."""
    numbered = (draft for draft in drafts if draft.number is not None and not draft.entry)
    for members in group_values((id(draft.block), draft) for draft in numbered).values():
        stated = heads.announcement(members[0].block.text).count
        if stated is None or (stated > 1 and len({draft.section for draft in members}) > 1):
            continue
        first = min(draft.number or 0 for draft in members)
        for draft in members:
            place = (draft.number or 0) - first + 1
            if place > stated:
                why = f"its head announces {stated}, this is number {place}"
                draft.flag("may_hold_another", f"a head before it was not read: {why}")


def _check_under_last(own: Sequence[Draft], edges: ColumnEdges) -> None:
    """Flag a line under the last option that does not go on from it: the line above it ends short of its column.

    D. 丁 / （除外）, or the title of the paper that follows: D. 丁 / 第二套. Of a group it may tell of the questions
    below: D. 丁 / 提示：术后第3天患者出现高热。
    """
    told: dict[str, int] = {}
    for draft in own:
        if draft.group in told:
            draft.flag("case_missing", f"what stands under number {told[draft.group]} may be told of it too")
        if draft.flags or draft.shared_options or draft.suffix:
            continue
        for above, below in pairwise(_last_option(draft)):
            short = below.kind not in REGIONS and not below.in_table and edges.ends_short(above)
            goes_on = _P.unfinished.search(above.text) or _P.goes_on.match(below.text)
            if short and not goes_on and not _runs_on(draft, above):
                draft.flag("text_left_over", f"{below.text[:30]!r} stands under the last option")
                told |= {draft.group: draft.number or 0} if draft.group else {}
                break


def _runs_on(draft: Draft, line: ParsedLine) -> bool:
    """Return whether options run on from line to line, and this one is about as full: Ⓓ丁 Ⓔ24小时尿 / 蛋白定量."""
    inside = [piece.text for piece in draft.pieces if any(found.start for found in find_labels(piece.text))]
    return len(inside) > 1 and line.text in inside and len(line.text) >= SHORT_OF * max(map(len, inside))


def under_options(draft: Draft) -> list[str]:
    """Lines of an item after the one on which its last label stands, up to its explanation; its first line aside."""
    texts = [piece.text for piece in _last_option(draft)[1:]]
    return [text for text in texts if len(without_digits(text)) > 3 and not _P.goes_on.match(text)]


def _last_option(draft: Draft) -> list[ParsedLine]:
    """Return the line on which an item's last label stands and those under it, up to its answer."""
    texts = [piece.text for piece in draft.pieces]
    end = next((i for i, text in enumerate(texts) if i and opens_field(text)), len(texts))
    labels = (i for i, text in enumerate(texts[:end]) if i == 0 or has_label(text) or opens_option(text))
    return draft.pieces[max(labels, default=0) : end]
