"""Checks over the questions of a paper: each is compared with the others, with heads, keys and what stands outside."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain, pairwise, takewhile

from build_dataset.pipeline.parse import heads, question_checks
from build_dataset.pipeline.parse.checks import Checks, Judged
from build_dataset.pipeline.parse.draft import Draft, text_of
from build_dataset.pipeline.parse.fields import split_fields
from build_dataset.pipeline.parse.folding import structural, without_digits
from build_dataset.pipeline.parse.labels import are_labels, find_labels, opens_option
from build_dataset.pipeline.parse.lines import REGIONS, SHORT_OF, place_of
from build_dataset.pipeline.parse.options import find_run
from build_dataset.pipeline.parse.paper import ParsedPaper
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.questions import SEVERAL_ANSWERS

_P = Patterns(__name__)
HABIT = 10  # least number of answers in blanks, in half of a section's stems, for a habit of the section
SOME = 3  # least number of items with options in a section for an item without options to be doubtful
ALIKE = 0.9  # share of a section's questions with one number of options for it to be the usual one
SEVERAL, MANY = 3, 10  # least number of questions for that: of a section, of a whole paper
REPEATED, SHORT = 3, 8  # least items with a line after the options for it to be a foot; two if it is longer than that
UNDER = "stands under the last option"  # of a line: another check asks whether it was found
MISPRINTED = 0.05  # share of a section's other answers that may name an absent option: errors of the key
FOREIGN = 0.25  # share of a section's answers that name no option from which on all may be those of other questions
MAX_CASE_QUESTIONS = 9  # most questions on one case; those after a case that no head announces may be its
ANSWERS, COMPARED = Checks("paper"), Checks("paper")
Findings = Iterable[tuple[Draft, str]]


def sections_with_options(paper: ParsedPaper) -> set[int]:
    """Return the sections whose items have options, so that one without them was misread."""
    with_options = Counter(draft.section for draft in paper.drafts if draft.options)
    size = Counter(draft.section for draft in paper.items)
    return {section for section, times in with_options.items() if times >= SOME or 2 * times >= size[section]}


def set_aside_without_options(paper: ParsedPaper) -> None:
    """Set items without options aside where others of their section have none either, in place."""
    sections = sections_with_options(paper)
    for draft in paper.items:
        if not (draft.set_aside or draft.options or draft.section in sections):
            draft.set_aside = ("no_options", "no options here, nor at any item of this section")


@ANSWERS("no_options", "1. 甲的首选是 beside three items with options")
def _no_options(judged: Judged) -> Findings:
    sections = sections_with_options(judged.paper)
    for draft in judged.paper.items:
        if not (draft.set_aside or draft.options) and draft.section in sections:
            yield draft, "no run of options was found"


@ANSWERS("duplicate_number", "5. … 5. …")
def _numbers_twice(judged: Judged) -> Findings:
    numbered = (item for item in judged.paper.items if item.number is not None)
    for members in group_values(((item.section, item.number, item.suffix), item) for item in numbered).values():
        yield from ((draft, f"number {draft.number} stands twice") for draft in members if len(members) > 1)


@ANSWERS("answer_in_text", "血型为（A）者, where no other stem has an answer in its blank")
def _unusual_blanks(judged: Judged) -> Findings:
    questions = judged.paper.questions
    blanks = [draft for draft in questions if draft.in_blank]
    if len(blanks) >= HABIT:  # those whose answer stands behind a mark or in a key say nothing of blanks
        questions = [draft for draft in questions if draft.in_blank or draft.answer is None]
    habits, sizes = (Counter(draft.section for draft in some) for some in (blanks, questions))
    for draft in blanks if 3 * len(blanks) < len(questions) else ():  # a third of all is a habit of the paper
        if habits[draft.section] < max(HABIT, sizes[draft.section] / 2):
            yield draft, f"{draft.answer} without a mark may be its answer, or part of the text"


@ANSWERS("several_answers", "答案：ABDCE behind the last of five questions")
def _answers_of_all(judged: Judged) -> Findings:
    for members in group_values((draft.section, draft) for draft in judged.paper.questions).values():
        answered, last = [draft for draft in members if draft.answer or draft.accepted], members[-1]
        if len(members) > 1 and answered == [last] and len(last.answer or "") > 1 and not judged.paper.keyed:
            yield last, f"{last.answer} may be the answers of all questions"


@ANSWERS("no_answer", "9. … without an answer, where most others have one")
def _no_answer(judged: Judged) -> Findings:
    paper, silent = judged.paper, judged.paper.silent
    why = "the paper's key does not answer it" if paper.keyed else "most other questions have one"
    for draft in silent if 2 * len(silent) <= len(paper.questions) else ():  # else a paper without a key
        if not draft.flags and not draft.set_aside:
            yield draft, why


@ANSWERS("answers_disagree", "1 … 5 5 6 … 11 with a key of 12 answers: a key counts on")
def _shifted_keys(judged: Judged) -> Findings:
    numbered = (question for question in judged.paper.questions if question.number is not None)
    for section, members in group_values((draft.section, draft) for draft in numbered).items():
        times = Counter((draft.number or 0, draft.suffix) for draft in members)
        last = max(number for number, _ in times)
        lost = [gap.number for gap in judged.paper.gaps if gap.section == section]
        silent = all(member.answer is None for member in members if member.number == last)
        beyond = max(lost, default=0) > last  # the key answers more than the last number
        twice = [number for (number, _), count in times.items() if count > 1] if beyond else []
        left_out = [number for number in lost if number < last] if silent else []
        first = min([*twice, *left_out], default=last)
        for draft in members:
            if (draft.number or 0) > first and any(step.rule == "key_list" for step in draft.steps):
                yield draft, f"its key does not end at {last}: behind {first} it may be one off"


@COMPARED("case_missing", "（4～6题共用题干） behind the last option of number 3")
def _cases_before(judged: Judged) -> Findings:
    """Find questions without a case that follow one: under a head, behind the last option of another."""
    lines = [piece.text for piece in judged.paper.outline.preamble]
    block, where, parts = None, "", 0
    untitled = {id(group.pieces) for group in judged.paper.outline.groups if not group.head.titled}
    for draft in judged.questions:
        if draft.block is not block:
            block, lines = draft.block, [*lines, *draft.block.heads[1:]]
            where = f"before number {draft.number}" if any(map(heads.tells_of_patient, lines)) else ""
            lines, parts = [], 0
        parts += 1
        shared = draft.group or heads.is_case(draft.stem) or heads.tells_of_patient(draft.stem)
        if shared or parts > MAX_CASE_QUESTIONS:
            where = ""
        elif where:
            yield draft, f"a case may stand {where}"
        if "case_inside" in dict(draft.flags) and not draft.group:
            where, parts = f"behind the options of number {draft.number}", 0
        elif id(draft.shared_pieces) in untitled and not draft.shared_options:
            where, parts = f"above number {draft.group_first}", 0  # its head does not say how many it is for


@COMPARED("case_missing", "（7～8题共用备选答案） / 男，45岁… / 9. …: neither 7 nor 8 was read, nor a head over 9")
def _behind_lost_group(judged: Judged) -> Findings:
    """Find questions without a case behind a shared text whose own questions were lost: it may be theirs."""
    lost = judged.paper.outline.lost_groups
    begins = [place_of(draft.pieces[0]) for draft in judged.questions if lost]
    for group in lost:
        after = judged.questions[bisect_right(begins, place_of(group.pieces[0])) :]
        for draft in takewhile(lambda one: not one.group, after[:MAX_CASE_QUESTIONS]):
            yield draft, f"questions up to {group.head.last} were not read, and what they share may be its case"


@COMPARED("case_missing", "3. …依此回答第4题至第5题, and 4 has no case")
def _named_elsewhere(judged: Judged) -> Findings:
    """Find questions that another item's text names, and that have no case: it stands there, or nowhere."""
    alone = (draft for draft in judged.questions if not draft.shared_pieces)
    named = group_values(((draft.section, draft.number or 0), draft) for draft in alone)
    for holder in judged.paper.drafts:
        texts = [text for _, text in question_checks.texts_of(holder)] if holder.options else [text_of(holder.pieces)]
        span = next((span for text in texts if (span := _P.named.search(structural(text)))), None)
        if span is None or (not holder.options and span[0].startswith("答")):  # 答：2-4分钟
            continue
        first, last = (int(number) for number in span.groups() if number)
        near = 0 <= first - (holder.number or 0) <= question_checks.MAX_NUMBER_AHEAD
        numbers = range(first, last + 1 if near else 0)
        for draft in (part for number in numbers for part in named[holder.section, number]):
            if draft is not holder:
                yield draft, f"number {holder.number} speaks of a case for it: {span[0][-20:]!r}"


def _unusual_sizes(judged: Judged) -> Mapping[int, tuple[Draft, int]]:
    """Return the questions with another number of options than nearly all of their section or paper, and that."""
    members = [draft for draft in judged.questions if not (draft.shared_options or draft.suffix)]
    several = [draft.announced in SEVERAL_ANSWERS or len(draft.answer or "") > 1 for draft in members]
    kinds = group_values(zip(several, members, strict=True))
    blocks = group_values(((id(draft.block), more), draft) for more, draft in zip(several, members, strict=True))
    odd: dict[int, tuple[Draft, int]] = {}
    for part, enough in [*((kind, MANY) for kind in kinds.values()), *((block, SEVERAL) for block in blocks.values())]:
        counts = Counter(len(draft.options) for draft in part)
        usual, times = counts.most_common(1)[0] if counts else (0, 0)  # 4 options 38 times, 5 twice
        if times >= max(enough, ALIKE * (len(part) - 1)):
            odd |= {id(draft): (draft, usual) for draft in part if len(draft.options) != usual}
    return odd


@COMPARED("options_missing", "A. 甲 B. 乙 C. 丙 where all others have five options")
def _fewer_options(judged: Judged) -> Findings:
    for draft, usual in _unusual_sizes(judged).values():
        if len(draft.options) < usual and not all(_P.verdict.fullmatch(text) for _, text in draft.options):
            yield draft, f"{len(draft.options)} options, {usual} elsewhere in the paper"


@COMPARED("options_too_many", "A … H where all others have four options")
def _more_options(judged: Judged) -> Findings:
    for draft, usual in _unusual_sizes(judged).values():
        if len(draft.options) > usual + (draft.options[-1][0] in (draft.answer or "")):  # its answer has the fifth
            more = draft.options[usual][1][:40]
            yield draft, f"{len(draft.options)} options, {usual} elsewhere in the paper: {more!r} stands behind those"


@COMPARED("options_missing", "several keys D of A to C: a column with C and D was read elsewhere")
def _lost_options(judged: Judged) -> Findings:
    questions = judged.questions
    beyond_last = (draft for draft in questions if max(draft.answer or "A") > draft.options[-1][0])  # D of ABC
    short = group_values((draft.section, len(draft.options)) for draft in beyond_last)
    sizes = Counter(draft.section for draft in questions)
    keyed = Counter(draft.section for draft in questions if draft.answer and draft.key_head)
    for draft in questions:
        others = draft.key_head and len(short.get(draft.section, ())) > max(1, FOREIGN * keyed[draft.section])
        beyond = [size for size in short.get(draft.section, ()) if size >= len(draft.options)]
        if others or len(beyond) > max(1, MISPRINTED * sizes[draft.section]):  # the key is that of others
            yield draft, f"{len(beyond)} answers of its section name options that were not read"


@COMPARED("may_hold_another", "（4～6题共用题干） over number 5: the case may hold number 4")
def _first_of_group(judged: Judged) -> Findings:
    headed = (draft for draft in judged.paper.drafts if draft.group and draft.group_first is not None)
    for members in group_values((draft.group, draft) for draft in headed).values():
        first = min(draft.number or 0 for draft in members)
        why = f"its head names number {members[0].group_first}, the first found is {first}"
        if first != members[0].group_first:
            yield from ((draft, f"what is shared may hold it; {why}") for draft in members)


@COMPARED("foot_inside", "D. 丁 / 某某题库 under the options of three items")
def _repeated_feet(judged: Judged) -> Findings:
    whole = [draft for draft in judged.questions if not draft.suffix]
    under = [dict.fromkeys(map(without_digits, question_checks.under_options(draft))) for draft in whole]
    pairs = zip(whole, under, strict=True)
    asked = {draft.stem or id(draft): lines for draft, lines in pairs}  # a question that comes again counts once
    times = Counter(chain.from_iterable(asked.values()))
    for draft, lines in zip(whole, under, strict=True):
        again = [line for line in lines if times[line] >= (REPEATED if len(line) < SHORT else 2)]
        if again:
            yield draft, f"{again[0][:30]!r} stands in {times[again[0]]} items"


def _line_under_last(draft: Draft, judged: Judged) -> str | None:
    """Return a line under the last option that does not go on from it: the line above ends short of its column."""
    # Options may run on from line to line, each about as full: Ⓓ丁 Ⓔ24小时尿 / 蛋白定量.
    inside = [piece.text for piece in draft.pieces if any(label.start for label in find_labels(piece.text))]
    for above, below in pairwise(question_checks.last_option_lines(draft)):
        in_cells = below.in_table and above.in_table
        short = below.kind not in REGIONS and not in_cells and judged.edges.ends_short(above)
        goes_on = _P.unfinished.search(above.text) or question_checks.GOES_ON.match(below.text)  # D. 由于 / 感染
        runs_on = len(inside) > 1 and above.text in inside and len(above.text) >= SHORT_OF * max(map(len, inside))
        if short and not (goes_on or runs_on or are_labels(above.text.strip(" .．、)）").upper())):
            return below.text
    return None


@COMPARED("text_left_over", "D. 丁 / （除外）; D. 丁 / 第二套")
def _line_under_options(judged: Judged) -> Findings:
    for draft in judged.questions:
        if draft.flags or draft.shared_options or draft.suffix:
            continue
        if (line := _line_under_last(draft, judged)) is not None:
            yield draft, f"{line[:30]!r} {UNDER}"


@COMPARED("case_missing", "D. 丁 / 提示：术后第3天患者出现高热: the next question of the group may need it")
def _told_of_next(judged: Judged) -> Findings:
    numbers: dict[str, int] = {}
    for draft in judged.questions:
        if draft.group in numbers:
            yield draft, f"what stands under number {numbers[draft.group]} may be told of it too"
        elif draft.group and draft.flags and draft.flags[0][1].endswith(UNDER):
            numbers[draft.group] = draft.number or 0


@COMPARED(
    "parts_and_answers_differ", "1. 甲由（1）构成 / 2. 乙由（2）决定，丙由（3）决定 / 3. 丁属于（4）: a key by blanks"
)
def _numbered_blanks(judged: Judged) -> Findings:
    """Find questions whose blanks run on over all of them by numbers that are not their own."""
    whole = [draft for draft in judged.questions if not question_checks.explained_together(draft)]
    blanks = [(draft, [int(number) for number in _P.blank.findall(draft.stem)]) for draft in whole]
    named = [(draft, numbers) for draft, numbers in blanks if numbers]
    numbers = [number for _, blank_numbers in named for number in blank_numbers]
    if len(named) >= SEVERAL - 1 and numbers == sorted({*numbers}):
        for draft, blank_numbers in named:
            if draft.number not in blank_numbers:
                yield draft, f"its blank has the number {blank_numbers[0]}, by which a key may answer it"


@COMPARED("parts_and_options_differ", "C. 丙 D. 丁 / 1. …: a page that begins in the middle of a question")
def _options_before_first(judged: Judged) -> Findings:
    questions, outline = judged.questions, judged.paper.outline
    first = [draft for draft in questions if draft.run == questions[0].run]
    lines = [piece.text for piece in outline.preamble if piece.kind not in REGIONS]
    shared = find_run(split_fields("\n".join(lines)).head)
    # Where each below it has options of its own, or it begins behind number 1, these are nobody's.
    numbers = [item.number for item in outline.items if first and item.run == questions[0].run]
    starts = [number or 0 for number in (*numbers[:1], *(draft.number for draft in first[:1]))]
    cut = not first or numbers[-1:] == [first[-1].number] or min(starts) > 1
    whole = cut and not any(draft.shared_options for draft in first)
    if not whole and shared and len(shared.options) > 2 and any(map(opens_option, lines[-3:])):
        yield from ((draft, "options stand before the first question, and may be shared") for draft in first)


@COMPARED("answers_disagree", "答案：C / 1. …: each answer may be that of the next question")
def _answer_before_first(judged: Judged) -> Findings:
    questions = judged.questions
    first = [draft for draft in questions if draft.run == questions[0].run]
    lines = [piece.text for piece in judged.paper.outline.preamble if piece.kind not in REGIONS]
    fields = split_fields("\n".join(lines))
    cut = any(map(opens_option, lines)) and first and (first[0].number or 0) > 1  # E. 戊 / 答案：C / 23. …
    if first and not cut and first[-1].answer is None and fields.answers and not fields.explanation:
        why = "an answer stands before the first question, so each may be the next one's"
        yield from ((draft, why) for draft in first)


@COMPARED("case_missing", "（1）… （2）… under 1. 男，35岁: it may be their case")
def _parts_of_number(judged: Judged) -> Findings:
    outline = judged.paper.outline
    styles = {id(item.block): item.style for item in reversed(outline.items)}
    halves = {id(item.block) for item in outline.items if item.printed.strip().endswith((")", "）"))}  # 1) … 2) …
    opening = [piece.text for piece in outline.preamble if piece.kind not in REGIONS]
    for block in outline.blocks:
        lines, opening = opening + block.heads[1:], [] if id(block) in styles else opening
        marks = [mark for at, text in enumerate(lines) if (mark := heads.number_candidate(at, text))]
        if not marks or marks[-1].weight < 1 or marks[-1].style is heads.NumberStyle.PAREN:
            continue
        head = lines[marks[-1].line]
        in_brackets = styles.get(id(block)) == heads.NumberStyle.PAREN and not heads.INSTRUCTION.search(head)
        in_brackets |= id(block) in halves and heads.tells_of_patient(head[marks[-1].end :])
        for draft in judged.questions if in_brackets else ():
            if draft.block is block:
                yield draft, f"it may be a part of {head[:20]!r}"
