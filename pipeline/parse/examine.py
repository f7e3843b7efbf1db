"""Cross-examination: independent evidence about a question is compared before it is kept; each finding has a name."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from build_dataset.pipeline.claims.explanations import contradiction
from build_dataset.pipeline.parse import heads
from build_dataset.pipeline.parse.draft import Draft, text_of
from build_dataset.pipeline.parse.fields import split_fields
from build_dataset.pipeline.parse.gates import compare_items, under_options
from build_dataset.pipeline.parse.lines import REGIONS, ParsedLine
from build_dataset.pipeline.parse.options import find_labels, find_run, has_label, opens_option
from build_dataset.pipeline.parse.outline import Outline
from build_dataset.pipeline.parse.paper import ParsedPaper
from build_dataset.pipeline.parse.rooms import ColumnEdges, check_rivals, check_rooms, is_complete_line
from build_dataset.pipeline.parse.running import is_title
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import Part
from build_dataset.schemas.grouping import group_values

_P = Patterns(__name__)
FOOT = _P.foot

NEXT = 5  # a numbered answer inside an explanation may be of so many questions further on: 1. A 肝… 2. 3. D
PARTS = 9  # most questions on one case; those after a case that no head announces may be its
LONG, TIMES = 60, 4  # an option longer than this, and so many times the others, may hold what follows it

_LABELS_INSIDE = _P.table("labels_inside")
_TEXTS = [(row, re.compile(row["pattern"])) for row in _P.rows("texts")]  # parts that stop a question


def examine(paper: ParsedPaper) -> None:
    """Note every finding as a doubt on its draft, in place; after keys were applied and numbers checked."""
    own = [draft for draft in paper.questions if not draft.set_aside]
    edges, outline = ColumnEdges(paper.pieces), paper.outline
    for draft in own:
        _flag_texts(draft, "characters")
        _flag_texts(draft, "parts")
        _check_options(draft)
        _check_lengths(draft, edges)
        _check_answers(draft)
        if other := next((piece for piece in draft.all_pieces if piece.other), None):
            draft.flag("readings_differ", f"read as {other.text!r} and as {other.other!r}")
        _flag_texts(draft, "powers")
        _check_verdict(draft)
        _check_beside(draft)
        _check_shown(draft)
        _check_case(draft)
        _check_edges(draft)
        _check_explanation(draft)
    _check_cases_before(outline, own)
    _check_references(paper.drafts, own)
    compare_items(paper.drafts, own, edges)
    _check_before_first(outline, own)
    _check_parts(outline, own)
    check_rooms(paper, own, edges)
    check_rivals(outline.rivals, paper.items)


def _check_edges(draft: Draft) -> None:
    """Lines at the edges of pages, inside a question, that pages print: a title, a number alone."""
    for above, below in pairwise(draft.pieces):
        for piece in (above, below) if above.page != below.page else ():
            text = piece.text.strip()
            if piece is not draft.pieces[0] and (is_title(text) or _P.number_alone.fullmatch(text)):
                draft.flag("foot_inside", f"{text[:30]!r} stands at the edge of a page inside it")


def _check_explanation(draft: Draft) -> None:
    """Answers of the next questions in an explanation: a row of the key was not read to its end."""
    number = draft.number or 0
    for found in _P.next_answer.finditer(draft.explanation or ""):
        if number < int(found[1]) <= number + NEXT:
            draft.flag("text_left_over", f"its explanation holds an answer to number {found[1]}")
            return


def _check_before_first(outline: Outline, own: Sequence[Draft]) -> None:
    """An answer, options or a number before the first question: they may belong to those below."""
    lines = [piece.text for piece in outline.preamble if piece.kind not in REGIONS]
    if not own:
        return
    first = [draft for draft in own if draft.run == own[0].run]
    fields = split_fields("\n".join(lines))
    shared = find_run(fields.head)
    if fields.answers and not fields.explanation:  # 答案：C / 1. …
        why = "an answer stands before the first question, so each may be the next one's"
        for draft in first if first[-1].answer is None else ():
            draft.flag("answers_disagree", why)
    # a page that begins in the middle of a question: each below it has options, or it begins behind number 1 and ends
    # in the middle of one too, so these are nobody's but its own
    last = [item.number for item in outline.items if item.run == own[0].run][-1:]
    cut = last == [first[-1].number] or (first[0].number or 0) > 1
    whole = cut and not any(draft.shared_options for draft in first)
    if not whole and shared and len(shared.options) > 2 and any(map(opens_option, lines[-3:])):
        why = "options stand before the first question, and may be shared"
        for draft in first:
            draft.flag("parts_and_options_differ", why)


def _check_parts(outline: Outline, own: Sequence[Draft]) -> None:
    """Flag （1） …, （2） … under a number in another style: 1. 男，35岁 … may be their case."""
    styles = {id(item.block): item.style for item in reversed(outline.items)}
    opening = [piece.text for piece in outline.preamble if piece.kind not in REGIONS]
    for block in outline.blocks:
        lines, opening = opening + block.heads[1:], [] if id(block) in styles else opening
        marks = [mark for at, text in enumerate(lines) if (mark := heads.number_candidate(at, text))]
        if not marks or marks[-1].weight < 1 or marks[-1].style is heads.NumberStyle.PAREN:
            continue
        told = lines[marks[-1].line]
        for draft in own if styles.get(id(block)) == heads.NumberStyle.PAREN else ():
            if draft.block is block and not heads.INSTRUCTION.search(told):
                draft.flag("case_missing", f"it may be a part of {told[:20]!r}")


def _check_shown(draft: Draft) -> None:
    """The text that the parts of an item share shows the answer of one of them."""
    shown = {found[1] for found in _P.shown.finditer(draft.shared_stem or "")} & {*dict(draft.options)}
    if shown and _explained_together(draft):
        told = f"{', '.join(sorted(shown))} may be filled in where a part's blank stood"
        draft.flag("answer_in_text", told)


def _texts(draft: Draft) -> Iterable[tuple[str, str]]:
    """Return the parts of a question by name: stem, options, shared stem."""
    yield "stem", draft.stem
    if draft.shared_stem:
        yield "case", draft.shared_stem
    yield from ((f"option {label}", text) for label, text in draft.options)


def _flag_texts(draft: Draft, group: str) -> None:
    """Flag texts that match a pattern of a group; in most groups only the first such text."""
    rows = [(row, pattern) for row, pattern in _TEXTS if row["group"] == group]
    for name, text in [*_texts(draft), ("explanation", draft.explanation or "")]:
        for row, pattern in rows:
            found = pattern.search(text) if name.split()[0] in row["of"] else None
            if found:
                near = repr(text[max(0, found.start() - 20) : found.end() + 20])
                code = f"U+{ord(found[0][0]):04X}"
                draft.flag(row["reason"], row["says"].format(name=name, near=near, code=code))
                break
        if found and group != "parts":
            return


def _check_options(draft: Draft) -> None:
    """Options that begin in the middle, hold a label, or tell of a patient as none of the others does."""
    told = draft.explanation or ""
    if _P.broken.match(told) or told.startswith(("的", "了")):
        draft.flag("text_left_over", f"its explanation begins in the middle: {told[:20]!r}")
    _check_labels(draft)
    listed = [*_P.listed.finditer(draft.stem)]
    if len(listed) == 1 and int(listed[0][1]) == (draft.number or 0) + 1:
        draft.flag("may_hold_another", f"a line of its stem begins with {listed[0][0].strip()}")
    for label, text in draft.options:
        if _P.another_label.match(text):
            draft.flag("label_inside_text", f"option {label} begins with a label: {text[:20]!r}")
        if _P.broken.match(text):
            draft.flag("text_left_over", f"option {label} begins in the middle: {text[:20]!r}")
    cases = [label for label, text in draft.options if heads.is_case(text)]
    ends_with_case = len(draft.options) > 2 and cases == [draft.options[-1][0]]
    if ends_with_case or any(map(heads.tells_of_patient, under_options(draft))):
        draft.flag("case_inside", f"option {draft.options[-1][0]} alone tells of a patient")
    inside = find_run(draft.shared_stem) if draft.shared_stem and not draft.shared_options else None
    if inside and len(inside.options) > 2 and inside.strength > 2:
        draft.flag("case_inside", "options stand in the case")
    if draft.stem and draft.shared_stem and _P.asks_in_case.search(draft.shared_stem):
        draft.flag("case_inside", f"a question stands in the case: {draft.shared_stem[-20:]!r}")
    begins = _first_label(draft.pieces)  # C. 丙 before A. 甲
    if begins not in (None, "A"):
        draft.flag("label_inside_text", f"a line before option A begins with {begins}")


def _check_labels(draft: Draft) -> None:
    """Labels inside a text: of an option behind the last one found, or of another question."""
    form = next((step.rule for step in draft.steps if step.part is Part.OPTIONS), "")
    forms = [_LABELS_INSIDE[form]] if form in _LABELS_INSIDE else list(_LABELS_INSIDE.values())
    last, text = draft.options[-1]
    for labels in forms:
        later = [found[1].upper() for found in labels.finditer(text)]
        if any(last < letter <= chr(ord(last) + 4) for letter in later):  # D. 丁F. 己
            draft.flag("label_inside_text", f"a label stands in option {last}: {text[-30:]!r}")
        for name, told in _texts(draft):
            letters = [found[1].upper() for found in labels.finditer(told)]
            if name != "case" and any(ord(after) == ord(before) + 1 for before, after in pairwise(letters)):
                draft.flag("label_inside_text", f"labels stand in {name}: {''.join(letters)}")


def _first_label(pieces: Sequence[ParsedLine]) -> str | None:
    """The label of an item's first line that opens with one; None where A stands inside a line before it."""
    for place, piece in enumerate(pieces):
        if place and (found := _P.later_label.match(piece.text)):
            return found[1]
        if any(label.letter == "A" and label.strength > 1 for label in find_labels(piece.text)):
            return None
    return None


def _check_lengths(draft: Draft, edges: ColumnEdges) -> None:
    """An option much longer than the others of its question, or two that say the same."""
    sizes = sorted((len(text), label) for label, text in draft.options)
    (second, _), (longest, label) = sizes[-2:] if len(sizes) > 1 else ((0, ""), (0, ""))
    long = longest > LONG and longest > TIMES * second and not draft.shared_options
    if long and not (label == draft.options[-1][0] and _is_one_paragraph(draft, edges)):
        draft.flag("option_too_long", f"{label} has {longest} characters, the others at most {second}")
    bare = Counter(re.sub(r"\s+", "", text) for _, text in draft.options if text)
    if same := [text for text, times in bare.items() if times > 1]:
        draft.flag("options_alike", f"two options say {same[0][:20]!r}")


def _is_one_paragraph(draft: Draft, edges: ColumnEdges) -> bool:
    """Return whether the last option runs over full lines without a stop: no other text stands under it."""
    last = max((i for i, piece in enumerate(draft.pieces) if has_label(piece.text)), default=0)
    lines = draft.pieces[last:]
    full = len(lines) > 1 and not any(is_complete_line(piece, edges) for piece in lines[:-1])
    return full and not re.search(r"[？?。](?=.)", draft.options[-1][1])


def _check_answers(draft: Draft) -> None:
    """Options between two answers are those of another question, whose number was not read."""
    text = text_of(draft.pieces)
    answers = [found for found in split_fields(text).opened if found.answer]
    if len(answers) < 2 or draft.suffix:
        return
    between = "\n".join(text.split("\n")[answers[0].line : answers[-1].line])
    run = find_run(between)
    if run is not None and len(run.options) >= min(3, len(draft.options)):
        draft.flag("several_option_runs", f"options stand between two answers: {run.options[0][1][:20]!r}")


def _explained_together(draft: Draft) -> bool:
    """Return whether its explanation speaks of all parts of its item: what it concludes may be of another part."""
    return any(step.rule == "parts_of_an_item" for step in draft.steps)


def _check_verdict(draft: Draft) -> None:
    """The answer against what the explanation says of the options."""
    why = contradiction(draft.explanation, draft.stem, dict(draft.options), draft.answer or "")
    if why and not _explained_together(draft):
        draft.flag("explanation_disagrees", why)


def _check_beside(draft: Draft) -> None:
    """Flag what stands beside an answer and is not its own: the text of another option, other letters."""
    told = (draft.explanation or "").strip()
    found = _P.beside.match(told)
    text = found[1] if found else told
    own = {*(draft.answer or "")}
    texts = {label for label, option in draft.options if text and option.strip() == text}
    row = _P.letters_beside.match(text)
    if own and not texts & own and (texts or (row and own != {*re.findall("[A-K]", row[0])})):
        draft.flag("answers_disagree", f"answer {draft.answer}, but {text[:30]!r} stands beside it")


def _check_case(draft: Draft) -> None:
    """A question under a head of shared cases without the case."""
    if draft.shared_stem or draft.shared_options or heads.is_case(draft.stem):
        return
    # （2～3题共用题干） with nothing under it: the case stands above the head
    if draft.group_headed or "A3/A4" in (draft.announced, heads.announcement(draft.key_head).kind):
        draft.flag("case_missing", "A3/A4: no case stands before it")


def _check_cases_before(outline: Outline, own: Sequence[Draft]) -> None:
    """Flag questions without a case that follow one: under a head, behind the last option of another."""
    lines = [piece.text for piece in outline.preamble]
    block, where, parts = None, "", 0
    for draft in own:
        if draft.block is not block:
            block, lines = draft.block, [*lines, *draft.block.heads[1:]]
            where = f"before number {draft.number}" if any(map(heads.tells_of_patient, lines)) else ""
            lines, parts = [], 0
        parts += 1
        if draft.group or heads.is_case(draft.stem) or heads.tells_of_patient(draft.stem) or parts > PARTS:
            where = ""
        elif where:
            draft.flag("case_missing", f"a case may stand {where}")
        if draft.is_flagged("case_inside") and not draft.group:
            where, parts = f"behind the options of number {draft.number}", 0


def _check_references(drafts: Sequence[Draft], own: Sequence[Draft]) -> None:
    """Questions that another item's text names, and that have no case: it stands there, or nowhere."""
    alone = (draft for draft in own if not draft.shared_pieces)
    named = group_values(((draft.section, draft.number or 0), draft) for draft in alone)
    for holder in drafts:
        texts = [text for _, text in _texts(holder)] if holder.options else [text_of(holder.pieces)]
        found = next((found for text in texts if (found := _P.named.search(text))), None)
        if found is None or (not holder.options and found[0].startswith("答")):  # 答：2-4分钟
            continue
        first, last = (int(number) for number in found.groups() if number)
        if not 0 <= first - (holder.number or 0) <= NEXT:  # 回答 of 7 to 8 patients
            continue
        why = f"number {holder.number} speaks of a case for it: {found[0][-20:]!r}"
        for draft in (one for number in range(first, last + 1) for one in named[holder.section, number]):
            if draft is not holder:
                draft.flag("case_missing", why)
