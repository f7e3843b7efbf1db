"""Questions that share an item, its options, a case or an answer: taken apart, or given what is shared."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz import fuzz

from build_dataset.pipeline.ocr.emphasis import CHOSEN
from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.fields import Fields
from build_dataset.pipeline.parse.folding import join_lines
from build_dataset.pipeline.parse.heads import CIRCLED_DIGITS, announcement, is_case
from build_dataset.pipeline.parse.labels import label_at, labels_in
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.pipeline.parse.options import OptionRun, find_run, find_runs
from build_dataset.pipeline.parse.outline import NumberedItem
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import Part
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.questions import SEVERAL_ANSWERS

_P = Patterns(__name__)
Lines = list[ParsedLine]
COPY_LIKENESS = 80  # least likeness in per cent of a question printed twice; others of a subject reach 50
MIN_COPIES = 3  # the least number of questions printed again


class SubItem(NamedTuple):
    """A question inside an item."""

    stem: str
    options: tuple[tuple[str, str], ...]
    answer: str | None
    explanation: str | None = None


class Parts(NamedTuple):
    """The questions inside an item."""

    lead: str  # the text before them: a case, or the words over the options
    parts: tuple[SubItem, ...]
    shared_options: bool
    doubt: str | None = None  # why a person should look at them


def letters_each(fields: Fields, count: int) -> Sequence[str]:
    """Return the letters of so many parts, as an answer has them: ACB, （1）A （2）C, B、A; else what was read."""
    letters: Sequence[str] = fields.answers[0] if len(fields.answers) == 1 else fields.answers
    texts = (*fields.answer_texts, fields.explanation or "")  # 解答：答案选择B|C
    apart = next((match for text in texts if (match := _P.each.match(text))), None)
    return labels_in(apart[0]) if apart and len(letters) != count else letters


def blanks_with_options(head: str, fields: Fields) -> Parts | None:
    """A stem with blanks and a run of options for each: 属于（ ），解决方法是（ ）。A. … D. … A. … D. …, 答案：B|C."""
    runs = find_runs(head := _P.run_named.sub("", head))
    blanks = _P.blank_of_stem.findall(head[: runs[0].start]) if len(runs) > 1 else []
    options = [tuple((label, _P.between_runs.sub("", text)) for label, text in run.options) for run in runs]
    letters = letters_each(fields, len(runs))
    again = any(_P.empty_blank.search(text) or _P.asks_again.search(text) for run in options for _, text in run)
    if not 1 < len(runs) == len(blanks) == len(letters) or again or len({*map(len, options)}) > 1:
        return None  # the second run may be of a question whose number was not read
    each = zip(options, letters, strict=True)
    parts = tuple(SubItem(f"（{at}）", run, letter) for at, (run, letter) in enumerate(each, 1))
    return Parts(join_lines(head[: runs[0].start]), parts, shared_options=False)


def parts_with_options(head: str, fields: Fields) -> Parts | None:
    """A case followed by parts ① ② ③, each with its own options; the answer holds one letter a part."""
    starts = list(_P.part.finditer(head))
    if len(starts) < 2:
        return None
    edges = [match.start() for match in starts] + [len(head)]
    runs = [run for a, b in pairwise(edges) if (run := find_run(head[a:b]))]
    if len(runs) < len(starts):  # ① 甲 ② 乙 A. … are statements
        return None
    letters: Sequence[str | None] = [*letters_each(fields, len(starts))]
    doubt = None
    if letters and len(letters) != len(starts):
        doubt, letters = f"{len(starts)} parts, {len(letters)} answers", []
    stems = [join_lines(head[a.end() : a.start() + run.start]) or a[1] for a, run in zip(starts, runs, strict=True)]
    parts = tuple(map(SubItem, stems, [run.options for run in runs], letters or [None] * len(runs)))
    return Parts(join_lines(head[: edges[0]]), parts, shared_options=False, doubt=doubt)


def stems_after_options(head: str, run: OptionRun) -> Parts | None:
    """Options followed by several stems, each with its answer beside it, or ① ② ③ with the answers below."""
    lines = head[run.last :].split("\n")
    labels = {label for label, _ in run.options}
    lead = join_lines(head[: run.start])
    if circled := _circled_parts(lead, lines, run, labels):
        return circled
    first = next((i for i, line in enumerate(lines) if i and _answers(line, labels)), None)
    if first is None or any(_P.labelled_stem.match(line) and _answers(line, labels) for line in lines[first:]):
        return None
    options = (*run.options[:-1], (run.options[-1][0], join_lines("\n".join(lines[:first]))))  # where stems begin
    parts: list[SubItem] = []
    for line in lines[first:]:
        if answered := _answers(line, labels):
            parts.append(SubItem(answered["stem"].strip(" :："), options, answered["letters"], answered["rest"]))
        else:
            last = parts[-1]
            parts[-1] = last._replace(explanation=join_lines(f"{last.explanation or ''}\n{line}"))
    # 题干 / A. 甲 B. 乙 / 考生作答：A: what looks like a stem with its answer may tell of the item's own.
    doubt = f"{parts[0].stem[:20]!r} may be no stem" if lead and len(parts) == 1 else None
    return Parts(lead, tuple(parts), shared_options=True, doubt=doubt)


def _answers(line: str, labels: set[str]) -> re.Match[str] | None:
    match = _P.answered_stem.match(line.strip())
    letters = match["letters"] if match else ""
    once = set(letters) <= labels and len(set(letters)) == len(letters)
    return match if match and once and not _P.mark_alone.fullmatch(match["stem"].strip()) else None


def _circled_parts(lead: str, lines: list[str], run: OptionRun, labels: set[str]) -> Parts | None:
    first = next((i for i, line in enumerate(lines) if i and line.strip()[:1] in set(CIRCLED_DIGITS)), None)
    if first is None:
        return None
    stems, letters = list[str](), list[str]()
    for line in lines[first:]:
        if _P.letters_only.match(line):
            letters.extend(line.split())
        else:
            stems.extend(join_lines(stem) for stem in _P.circled_stem.findall(line))
    if len(stems) < 2:
        return None
    doubt = None
    if letters and (len(letters) != len(stems) or not set("".join(letters)) <= labels):
        doubt, letters = f"{len(stems)} stems, answers {' '.join(letters)}", []
    answers: list[str | None] = [*letters] if letters else [None] * len(stems)
    options = (*run.options[:-1], (run.options[-1][0], join_lines("\n".join(lines[:first]))))  # where stems begin
    parts = tuple(SubItem(stem, options, answer) for stem, answer in zip(stems, answers, strict=True))
    return Parts(lead, parts, shared_options=True, doubt=doubt)


def split_off(text: str) -> tuple[str, str | None]:
    """An item that runs on, after its answer, into options with stems and answers: the item, and that rest."""
    answer = _P.answered.search(text)
    run = find_run(text, answer.end()) if answer else None
    if run is None or len(run.options) < 3 or text[run.start - 1] != "\n" or stems_after_options(text, run) is None:
        return text, None
    return text[: run.start - 1], text[run.start :]


def draft_of(item: NumberedItem, pieces: Lines, fields: Fields) -> Draft:
    """The draft of an item, with what its marks say; stem, options and answer are still to be read."""
    draft = Draft(item.number, item.run, pieces, item.block)
    draft.explanation, draft.answered = (fields.explanation or "").replace(CHOSEN, "") or None, fields.answered
    _trace_item(draft, item)
    for opened in fields.opened:
        part = Part.ANSWER if opened.answer else Part.EXPLANATION
        draft.add_trace(part, "mark", opened.words[:20], pieces[opened.line : opened.line + 1])
    return draft


def _trace_item(draft: Draft, item: NumberedItem) -> None:
    """Why the item was opened: its number and its head."""
    draft.add_trace(Part.NUMBER, item.style, item.printed, item.pieces[:1])
    if item.block.heads:
        draft.add_trace(Part.HEAD, announcement(item.block.text).kind or "unknown", item.block.heads[0][:40])


def numbered_parts(item: NumberedItem, pieces: Lines, head: str, fields: Fields) -> Iterable[Draft]:
    """Questions 2.3. on one text, with a run of options for each of them."""
    numbers = range(item.number, item.last + 1)
    names, runs, start = _labelled_runs(head, numbers)
    lead = join_lines(head[:start])  # the text before the first options
    even = len(runs) == len(numbers)  # a run each, in order
    letters = letters_each(fields, len(numbers))
    for index, (number, name) in enumerate(zip(numbers, names, strict=True)):
        draft = draft_of(item, pieces, fields)
        draft.number, draft.group = number, f"n{item.run}.{item.number}"
        draft.stem = "" if name == number else f"（{name}）"
        draft.explanation = _P.each_left.sub("", draft.explanation or "") or None
        draft.shared_stem = lead or None
        draft.options = list(runs[index if even else 0].options) if runs else []
        draft.add_trace(Part.SHARED, "parts_of_an_item")
        if len(letters) == len(numbers):
            draft.take_answer(letters[index], "letter_each")
        elif letters:
            draft.flag("parts_and_answers_differ", f"{len(numbers)} blanks, {len(letters)} answers")
        if not even:
            draft.flag("parts_and_options_differ", f"{len(numbers)} numbers, {len(runs)} runs of options")
        yield draft


def _labelled_runs(head: str, numbers: Sequence[int]) -> tuple[Sequence[int], list[OptionRun], int]:
    """Return the runs behind the labels of the parts of 第4-5题, （1） and （2）, or （4） and （5）; else all runs."""
    labels = list(_P.part_line.finditer(head))
    names = [int(label[1] or label[2]) for label in labels]
    edges = [*(label.start() for label in labels[1:]), len(head)]
    runs = [find_run(head[:edge], label.end()) for label, edge in zip(labels, edges, strict=False)]
    named_runs = [run for run in runs if run]
    named = names in ([*numbers], [*range(1, len(numbers) + 1)])
    if named and len(named_runs) == len(numbers):
        return names, named_runs, labels[0].start()
    in_turn = find_runs(head)
    return numbers, in_turn, in_turn[0].start if in_turn else len(head)


def part_drafts(item: NumberedItem, pieces: Lines, parts: Parts, fields: Fields) -> Iterable[Draft]:
    """A draft for every question inside an item."""
    for index, part in enumerate(parts.parts):
        suffix = label_at(index).lower() if index < 26 else f"z{index}"
        draft = Draft(item.number, item.run, pieces, item.block, part.stem, suffix)
        draft.options, draft.group = list(part.options), f"p{item.run}.{item.number}"
        draft.explanation = part.explanation if parts.shared_options else fields.explanation
        draft.shared_stem, draft.shared_options = parts.lead or None, parts.shared_options
        draft.answered = part.answer is not None or fields.answered
        _trace_item(draft, item)
        draft.add_trace(Part.SHARED, "stems_of_an_item" if parts.shared_options else "parts_of_an_item")
        draft.take_answer(part.answer, "part")
        if parts.doubt:
            draft.flag("parts_and_answers_differ", parts.doubt)
        yield draft


def unnumbered_drafts(item: NumberedItem, pieces: Lines, rest: str, fields: Fields) -> Iterable[Draft]:
    """Options with stems that follow an answer and have no number: named after the item before them."""
    run = find_run(rest)
    parts = stems_after_options(rest, run) if run else None
    several = parts is not None and len(parts.parts) > 1
    for draft in part_drafts(item, pieces, parts, fields) if parts else ():
        draft.number, draft.suffix = None, f"{item.number:03d}{draft.suffix}"
        draft.group, draft.shared_options = f"u{item.run}.{item.number}" if several else None, several
        draft.answered = True
        yield draft


def continue_cases(drafts: Sequence[Draft]) -> None:
    """承上題 (as above), 承第3題: such a question shares the case of the one it names."""
    named_so = group_values(((draft.run, draft.number), draft) for draft in drafts)
    for before, draft in pairwise(drafts):
        match = _P.as_above.match(draft.stem)  # 承上題, 承第3題
        if not match or draft.shared_stem:
            continue
        number = int(match[1]) if match[1] else None
        others = (named_draft for named_draft in named_so[draft.run, number] if named_draft is not draft)
        named = next(others, None) if number else before
        if named is None or named.entry or not named.options:
            continue
        named.group = draft.group = named.group or f"c{named.run}.{named.number}"
        draft.shared_stem = named.shared_stem or named.stem
        draft.shared_pieces = named.shared_pieces or named.pieces
        draft.add_trace(Part.SHARED, "as_above", match[0], named.pieces)


def merge_copies(drafts: Sequence[Draft]) -> None:
    """Make entries of a key of questions that a paper prints again with their answers, as answer books do, in place.

    A run is a copy where most of its questions repeat earlier ones of their numbers; both wait where one differs.
    """
    first: dict[int, Draft] = {}
    whole = (draft for draft in drafts if draft.number is not None and not (draft.entry or draft.suffix))
    for members in group_values((draft.run, draft) for draft in whole).values():
        pairs = [(first[draft.number or 0], draft) for draft in members if draft.number in first]
        asked = [(original, copy) for original, copy in pairs if original.options and copy.options]
        answered = [copy for _, copy in asked if copy.answer or copy.explanation]  # why copies are
        alike = (
            [pair for pair in asked if fuzz.ratio(*map(_text, pair)) > COPY_LIKENESS]
            if 2 * len(answered) > len(asked)
            else []
        )
        if len(alike) < MIN_COPIES or 2 * len(alike) < len(asked):
            first |= {draft.number or 0: draft for draft in members}
            continue
        for original, copy in pairs:
            copy.entry = fuzz.ratio(_text(original), _text(copy)) > COPY_LIKENESS
            if copy.entry and copy.options and _text(original) != _text(copy):
                original.flag("copies_differ", f"printed again, it reads otherwise: {_text(copy)[:60]!r}")


def _text(draft: Draft) -> str:
    """Return the text of a question without widths, white space, brackets and blanks."""
    whole = draft.stem + "".join(label + text for label, text in draft.options)
    return re.sub(r"[\s_（）()]+", "", unicodedata.normalize("NFKC", whole))


def share_joint_answers(drafts: Sequence[Draft]) -> None:
    """Questions without an answer before one whose answer has a letter for each of them, in place.

    They get a letter each where the first tells of a patient and the others speak of 该患者; otherwise all wait.
    """
    waiting: list[Draft] = []
    for draft in drafts:
        if draft.entry or not draft.options or draft.suffix or draft.announced in SEVERAL_ANSWERS:
            waiting = []
            continue
        if draft.answer is None and not draft.answered:
            waiting.append(draft)
            continue
        several = len(waiting) > 1 and len(draft.answer or "") > 1 and not draft.key_head
        more = _P.each_left.match(f"{draft.explanation or ''}\n") if draft.answer else None
        letters = (draft.answer or "") + "".join(labels_in(more[0]) if more else [])  # D,B,A: all in their order
        if waiting and len(letters) == len(waiting) + 1:  # 3. … 4. … 5. … 答案：ACD
            draft.explanation = (draft.explanation or "")[more.end() if more else 0 :] or None
            _share([*waiting, draft], letters)
        elif several:
            draft.flag("joint_answer", f"{draft.answer} may answer some of the questions before it")
        waiting = []


def _share(drafts: list[Draft], letters: str) -> None:
    first, *others = drafts
    named = {(draft.group, draft.group_first, draft.group_last) for draft in drafts}
    spanned = {(first.group, first.number, drafts[-1].number)}  # 【41-43】 over 41 … 43 and three letters
    whole = named == spanned and first.group is not None
    if whole and all(letter in dict(draft.options) for draft, letter in zip(drafts, letters, strict=True)):
        for draft, letter in zip(drafts, letters, strict=True):
            draft.take_answer(letter, "letter_each")
            draft.answered = True
        return
    if is_case(first.stem) and all(_P.refers.search(draft.stem) for draft in others):
        for draft, letter in zip(drafts, letters, strict=True):
            draft.group = first.group or f"j{first.run}.{first.number}"
            draft.take_answer(letter, "letter_each")
            draft.answered = True
        for draft in others:
            draft.shared_stem = draft.shared_stem or first.shared_stem or first.stem
            draft.shared_pieces = draft.shared_pieces or first.pieces
            draft.add_trace(Part.SHARED, "same_patient", None, first.pieces)
        return
    for draft in drafts:
        draft.flag("joint_answer", f"{letters} may answer {len(drafts)} questions, one letter each")
