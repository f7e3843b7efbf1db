"""Gates: the structure of a sound question, numbering and paper, and items compared with each other.

What fails, or is unlike all others of its paper, waits for a person.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.fields import opens_field
from build_dataset.pipeline.parse.heads import INSTRUCTION, ONE_ANSWER, SHARED_OPTIONS, announcement, number_candidate
from build_dataset.pipeline.parse.lines import REGIONS, ParsedLine
from build_dataset.pipeline.parse.numbering import GAP
from build_dataset.pipeline.parse.options import find_labels, find_run, has_label, opens_option
from build_dataset.pipeline.parse.paper import Gap, Mismatch, ParsedPaper
from build_dataset.pipeline.parse.rooms import SHORT_OF, ColumnEdges
from build_dataset.pipeline.parse.text import without_digits
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.questions import SEVERAL_ANSWERS

_P = Patterns(__name__)
HABIT = 10  # least number of answers in blanks, in half of a section's stems, for a habit of the section
SOME = 3  # least number of items with options in a section for an item without options to be doubtful
_LABELLED = 2.0  # the mean strength of labels at the starts of lines
ALIKE = 0.9  # share of a section's questions with one number of options for it to be the usual one
SEVERAL, MANY = 3, 10  # least number of questions for that: of a section, of a whole paper
REPEATED, SHORT = 3, 8
"""Least number of items with the same line after the options for it to be a foot, as ends of options do repeat; lines
that are longer than so many characters need to stand in two items only."""
MISPRINTED = 0.05  # share of a section's other answers that may name an absent option: errors of the key


def check_questions(paper: ParsedPaper) -> None:
    """Note doubts on every item that is not set aside, in place."""
    with_options = Counter(draft.section for draft in paper.drafts if draft.options)
    items = Counter(draft.section for draft in paper.items)
    has_options = {section for section, n in with_options.items() if n >= SOME or 2 * n >= items[section]}
    for draft in paper.items:
        if draft.set_aside:
            continue
        if draft.options:
            _check_options(draft)
            _check_answer(draft)
        elif draft.section in has_options:
            draft.flag("no_options", "no run of options was found")
        else:
            draft.set_aside = ("no_options", "no options here, nor at any item of this section")
    numbered = (one for one in paper.items if one.number is not None)
    for members in group_values(((one.section, one.number, one.suffix), one) for one in numbered).values():
        for draft in members if len(members) > 1 else ():
            draft.flag("duplicate_number", f"number {draft.number} stands twice")


def _check_options(draft: Draft) -> None:
    labels = [label for label, _ in draft.options]
    if len(labels) < 2 or labels != [chr(65 + i) for i in range(len(labels))]:
        draft.flag("options_not_contiguous", f"labels {' '.join(labels)}")
    if empty := [label for label, text in draft.options if not text or _P.placeholder.fullmatch(text)]:
        draft.flag("empty_option", f"no text at {' '.join(empty)}")
    texts = [draft.stem, *(text for _, text in draft.options)]
    twice = any(re.search(rf"\s{label}[.．、]", text) for label, text in draft.options)
    if twice or any(map(_P.label_inside.search, texts)):  # 甲C.乙
        draft.flag("label_inside_text", "what looks like an option's label stands inside a text")
    if left := [*filter(_P.left_over.search, texts)]:  # 页 3, 第二部分
        draft.flag("text_left_over", f"{left[0][-40:]!r} may not belong to the question")
    if not draft.shared_stem and not re.search(r"\w", draft.stem):
        draft.flag("no_stem", "no text before the options")


def _check_answer(draft: Draft) -> None:
    if draft.answer is None:
        return
    labels = {label for label, _ in draft.options}
    letters = list(draft.answer)
    told = f"options {' '.join(sorted(labels))}"
    if not set(letters) <= labels or len(set(letters)) != len(letters):
        draft.flag("answer_not_in_options", f"answer {draft.answer}, {told}")
    if strange := [answer for answer in draft.accepted or [] if not set(answer) <= labels]:
        draft.flag("answer_not_in_options", f"accepted {' '.join(strange)}, {told}")
    if len(letters) > 1 and draft.announced in ONE_ANSWER:
        draft.flag("several_answers", f"answer {draft.answer} under a head for one answer")


def check_shifts(paper: ParsedPaper) -> None:
    """Flag answers that may be a neighbour's: a key counts on where a paper has a number twice, or leaves one out.

    1 … 5 5 6 … 11 with a key of 12 answers; 1 … 6 8 … 13 with one of 12.
    """
    numbered = (one for one in paper.questions if one.number is not None)
    for section, members in group_values((draft.section, draft) for draft in numbered).items():
        times = Counter((draft.number or 0, draft.suffix) for draft in members)
        last = max(number for number, _ in times)
        lost = [gap.number for gap in paper.gaps if gap.section == section]
        silent = all(one.answer is None for one in members if one.number == last)
        beyond = max(lost, default=0) > last  # the key answers more than the last number
        twice = [number for (number, _), count in times.items() if count > 1] if beyond else []
        left_out = [number for number in lost if number < last] if silent else []
        first = min([*twice, *left_out], default=last)
        for draft in members:
            if (draft.number or 0) > first and any(step.rule == "key_list" for step in draft.steps):
                why = f"its key does not end at {last}: behind {first} it may be one off"
                draft.flag("answers_disagree", why)


def check_answers(paper: ParsedPaper) -> None:
    """Flag questions without an answer where most have one, and answers in blanks that are no habit of the paper."""
    questions, silent, keyed = paper.questions, paper.silent, paper.keyed
    blanks = [draft for draft in questions if draft.in_blank]
    habits = Counter(draft.section for draft in blanks)
    sizes = Counter(draft.section for draft in questions)
    for draft in blanks if 3 * len(blanks) < len(questions) else ():  # a third of all is a habit of the paper
        if habits[draft.section] < max(HABIT, sizes[draft.section] / 2):
            told = f"{draft.answer} without a mark may be its answer, or part of the text"
            draft.flag("answer_in_text", told)
    for members in group_values((draft.section, draft) for draft in questions).values():
        answered = [draft for draft in members if draft.answer or draft.accepted]
        if len(members) > 1 and answered == members[-1:] and len(members[-1].answer or "") > 1 and not keyed:
            members[-1].flag("several_answers", f"{members[-1].answer} may be the answers of all questions")
    if 2 * len(silent) > len(questions):  # a paper without a key
        return
    for draft in silent:
        if not draft.flags and not draft.set_aside:
            why = "the paper's key does not answer it" if keyed else "most other questions have one"
            draft.flag("no_answer", why)


def find_gaps(paper: ParsedPaper) -> list[Gap]:
    """Numbers missing from sections that have questions with options, and those after the last that a key answers."""
    found: list[Gap] = []
    of_section = group_values((draft.section, draft) for draft in paper.items)
    sections = [one for one in sorted(of_section) if any(draft.options for draft in of_section[one])]
    for section in sections:
        members = of_section[section]
        if not (numbers := {draft.number for draft in members if draft.number is not None}):
            continue
        first, last = min(numbers), max(numbers)
        above = {draft.number or 0 for draft in of_section.get(section - 1, ())}
        start = _resumed(members, max(above, default=0)) or (1 if first <= GAP else first)
        end, why = last, "the numbers around it are there"
        stated = _stated_last(members, first, paper.count if len(sections) == 1 else None)
        if stated is not None and last < stated:
            end, why = stated, f"the paper announces {stated}"
        while (section, end + 1) in paper.unmatched:  # 1 … 18, and 19.A 20.C in the key
            end, why = end + 1, "its key answers it"
        found.extend(Gap(section, number, why) for number in range(start, end + 1) if number not in numbers)
    return found


def _resumed(members: Sequence[Draft], above: int) -> int | None:
    """The number at which the numbering of the section before goes on, as if the items between were numbered by it.

    After 396 an author typed 2 … 45, then 441: the 44 items between are those from 397 to 440, and nothing is missing.
    """
    for place, (one, other) in enumerate(pairwise(draft.number or 0 for draft in members), 1):
        if other > one + 1 and other == above + place + 1:
            return other
    return None


def _stated_last(members: Sequence[Draft], first: int, count: int | None) -> int | None:
    """The last number a section or the paper announces."""
    spans = [announcement(draft.block.text).span for draft in members]
    lasts = [span[1] for span in spans if span]
    lasts += [draft.group_last for draft in members if draft.group_last is not None]
    if count is not None:
        lasts.append(count if first == 1 else first + count - 1)
    return max(lasts) if lasts else None


def count_mismatches(paper: ParsedPaper) -> Iterable[Mismatch]:
    """Heads that announce another number of items than stand under them."""
    for members in group_values((id(draft.block), draft) for draft in paper.items).values():
        head = members[0].block.text
        stated = announcement(head).count
        numbers = {(draft.number, draft.suffix if draft.number is None else "") for draft in members}
        if stated is not None and stated != len(numbers):
            line = head.split("\n", 1)[0][:40]
            yield "count_differs", line, f"{stated} announced, {len(numbers)} found"


def unread_keys(paper: ParsedPaper) -> list[Mismatch]:
    """Heads of keys under which no answer was read, and keys that answer less than half of the questions."""
    size, silent = len(paper.questions), len(paper.silent)
    if 2 * silent <= size:  # the key was read
        return []
    if paper.keyed:
        return [("key_not_read", "its key", f"{size - silent} of {size} questions are answered")]
    heads = [block.heads[0][:40] for block in paper.outline.blocks if block.is_key]
    return [("key_not_read", head, "no answer was read under this head") for head in heads]


def unread_questions(paper: ParsedPaper) -> Iterable[Mismatch]:
    """Find numbered questions and runs of options that stand outside of all items.

    Looked at: what stands before the first item, under heads, after a key. Options in the head of a section that
    shares them are none, nor are those of an example on the cover or in explanations after a key.
    """
    cover = _texts(paper.outline.preamble)
    example = any(map(_P.example.search, cover))
    yield from _look(cover, "before the first question", options=not example)
    for block in paper.outline.blocks:
        if not block.is_key and announcement(block.text).kind not in {*SHARED_OPTIONS, "K"}:
            yield from _look(block.heads[1:], f"under {block.name[:20]}", options=True)
    yield from _look(_texts(paper.outline.after_keys), "after the key", options=False)


def _texts(pieces: Iterable[ParsedLine]) -> list[str]:
    return [piece.text for piece in pieces if piece.kind not in REGIONS]


def _look(texts: list[str], where: str, *, options: bool) -> Iterable[Mismatch]:
    numbered = (text for text in texts if number_candidate(0, text) and not INSTRUCTION.search(text))
    asked = [*filter(_P.asks.search, numbered)]  # 3. 首选的是（ ）
    run = find_run("\n".join(texts)) if options else None
    labels = run is not None and len(run.options) > 2 and run.strength >= _LABELLED
    if asked or labels:
        line = asked[0] if asked else next((text for text in texts if text.strip()), "")
        told = f"what looks like a question stands {where} and was not read"
        yield "text_left_over", line.strip()[:40], told


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
        usual, times = counts.most_common(1)[0] if counts else (0, 0)  # 4 options 38 times, 5 twice
        if times >= max(enough, ALIKE * (len(part) - 1)):
            odd |= {id(draft): (draft, usual) for draft in part if len(draft.options) != usual}
    for draft, usual in odd.values():
        reason = "options_missing" if len(draft.options) < usual else "options_too_many"
        draft.flag(reason, f"{len(draft.options)} options, {usual} elsewhere in the paper")


def _check_lost_options(own: Sequence[Draft]) -> None:
    """Flag questions with no more options than others of their section whose answers name a later one.

    The options C and D of a page in two columns may have been read elsewhere.
    """
    beyond_last = (draft for draft in own if max(draft.answer or "A") > draft.options[-1][0])  # D of ABC
    short = group_values((draft.section, len(draft.options)) for draft in beyond_last)
    sizes = Counter(draft.section for draft in own)
    for draft in own:
        beyond = [size for size in short.get(draft.section, ()) if size >= len(draft.options)]
        if len(beyond) > max(1, MISPRINTED * sizes[draft.section]):
            why = f"{len(beyond)} answers of its section name options that were not read"
            draft.flag("options_missing", why)


def _check_feet(own: Sequence[Draft]) -> None:
    """Lines under the options that stand in several items are feet of pages or of a site."""
    whole = [draft for draft in own if not draft.suffix]
    under = [dict.fromkeys(map(without_digits, under_options(draft))) for draft in whole]
    times = Counter(chain.from_iterable(under))
    for draft, lines in zip(whole, under, strict=True):
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
        stated = announcement(members[0].block.text).count
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
            goes_on = _P.unfinished.search(above.text) or _P.goes_on.match(below.text)  # D. 由于 / 感染
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
