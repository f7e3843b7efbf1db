"""Cross-examination: independent evidence about a question is compared before it is kept; each finding has a name."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from pipeline.claims.explanations import SURE, stated
from pipeline.parse import heads
from pipeline.parse.draft import Draft, collected, text_of
from pipeline.parse.fields import opens_field, split_fields
from pipeline.parse.gates import Gap
from pipeline.parse.lines import REGIONS, ParsedLine, place_of
from pipeline.parse.options import find_labels, find_run, opens_option
from pipeline.parse.outline import HEADS, Outline
from pipeline.parse.rooms import ColumnEdges, check_rivals, check_rooms, is_whole, labelled
from pipeline.parse.running import is_title
from pipeline.parse.text import without_digits
from pipeline.patterns import Patterns
from schemas.documents import Part

_P = Patterns("examine")
FOOT = _P.foot

ALIKE = 0.9
"""Share of a section's questions that must have the same number of options for it to be the section's usual one."""
SEVERAL, MANY = 3, 10
"""Least number of questions for that: of a section, of a whole paper."""
REPEATED, SHORT = 3, 8
"""Least number of items with the same line after the options for it to be a foot, as ends of options do repeat; lines
that are longer than so many characters need to stand in two items only."""
NEXT = 5
"""Largest distance of a numbered answer inside an explanation that may belong to a later question: 1. A 肝… 2. 3. D."""
PARTS = 9
"""Most questions on one case; those after a case that no head announces may be its."""
MISPRINTED = 0.05
"""The share of a section's answers, besides one, that may name an option which is not there: errors of the key."""
LONG, TIMES = 60, 4
"""An option longer than this and so many times the longest of the others may hold what follows it."""

_LABELS_INSIDE = _P.table("labels_inside")
_TEXTS = [(row, re.compile(row["pattern"])) for row in _P.rows("texts")]
"""Parts of texts that stop a question, each with its pattern."""


def examine(
    pieces: Sequence[ParsedLine], outline: Outline, drafts: Sequence[Draft], gaps: Sequence[Gap]
) -> None:
    """Note every finding as a doubt on its draft, in place; after keys were applied and numbers checked."""
    own = [draft for draft in drafts if draft.options and not draft.entry and not draft.set_aside]
    edges = ColumnEdges(pieces)
    for draft in own:
        _flag_texts(draft, "characters")
        _flag_texts(draft, "parts")
        _check_options(draft)
        _check_lengths(draft, edges)
        _check_answers(draft)
        other = next((piece for piece in draft.all_pieces if piece.other), None)
        if other:
            draft.flag("readings_differ", f"read as {other.text!r} and as {other.other!r}")
        _flag_texts(draft, "powers")
        _check_verdict(draft)
        _check_beside(draft)
        _check_shown(draft)
        _check_case(draft)
        _check_edges(draft)
        _check_explanation(draft)
    _check_cases_before(outline, own)
    _check_references(drafts, own)
    _check_counts(own)
    _check_lost_options(own)
    _check_groups(drafts)
    _check_announced(drafts)
    _check_feet(own)
    _check_under_last(own, edges)
    _check_before_first(outline, own)
    _check_parts(outline, own)
    headed = {place_of(piece) for piece, role in zip(pieces, outline.roles, strict=True) if role in HEADS}
    check_rooms(pieces, headed, drafts, gaps)
    check_rivals(outline.rivals, drafts)


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
    first = [draft for draft in own if draft.run == own[0].run]
    fields = split_fields("\n".join(lines))
    shared = find_run(fields.head)
    if fields.answers and not fields.explanation:
        for draft in first if first[-1].answer is None else ():
            draft.flag(
                "answers_disagree",
                "an answer stands before the first question, so each may be the next one's",
            )
    if shared and len(shared.options) > 2 and any(map(opens_option, lines[-3:])):
        for draft in first:
            draft.flag(
                "parts_and_options_differ", "options stand before the first question, and may be shared"
            )


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
        draft.flag(
            "answer_in_text", f"{', '.join(sorted(shown))} may be filled in where a part's blank stood"
        )


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
    follows = [
        found[0] for found in _P.listed.finditer(draft.stem) if int(found[1]) == (draft.number or 0) + 1
    ]
    if follows and len(_P.listed.findall(draft.stem)) == 1:
        draft.flag("may_hold_another", f"a line of its stem begins with {follows[0].strip()}")
    for label, text in draft.options:
        if _P.another_label.match(text):
            draft.flag("label_inside_text", f"option {label} begins with a label: {text[:20]!r}")
        if _P.broken.match(text):
            draft.flag("text_left_over", f"option {label} begins in the middle: {text[:20]!r}")
    if _ends_with_case(draft) or any(map(heads.tells_of_patient, _under_options(draft))):
        draft.flag("case_inside", f"option {draft.options[-1][0]} alone tells of a patient")
    inside = find_run(draft.shared_stem) if draft.shared_stem and not draft.shared_options else None
    if inside and len(inside.options) > 2 and inside.strength > 2:
        draft.flag("case_inside", "options stand in the case")
    if draft.stem and draft.shared_stem and _P.asks_in_case.search(draft.shared_stem):
        draft.flag("case_inside", f"a question stands in the case: {draft.shared_stem[-20:]!r}")
    begins = _first_label(draft.pieces)
    if begins not in (None, "A"):
        draft.flag("label_inside_text", f"a line before option A begins with {begins}")


def _ends_with_case(draft: Draft) -> bool:
    """Return whether the last option alone tells of a patient: a case may stand behind it."""
    told = [label for label, text in draft.options if heads.is_case(text)]
    return len(draft.options) > 2 and told == [draft.options[-1][0]]


def _check_labels(draft: Draft) -> None:
    """Labels inside a text: of an option behind the last one found, or of another question."""
    form = next((step.rule for step in draft.steps if step.part is Part.OPTIONS), "")
    forms = [_LABELS_INSIDE[form]] if form in _LABELS_INSIDE else list(_LABELS_INSIDE.values())
    last, text = draft.options[-1]
    for labels in forms:
        later = [found[1].upper() for found in labels.finditer(text)]
        if any(last < letter <= chr(ord(last) + 4) for letter in later):
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
    same = [text for text, times in bare.items() if times > 1]
    if same:
        draft.flag("options_alike", f"two options say {same[0][:20]!r}")


def _is_one_paragraph(draft: Draft, edges: ColumnEdges) -> bool:
    """Return whether the last option runs over full lines without a stop: no other text stands under it."""
    last = max((i for i, piece in enumerate(draft.pieces) if labelled(piece.text)), default=0)
    lines = draft.pieces[last:]
    full = len(lines) > 1 and not any(is_whole(piece, edges) for piece in lines[:-1])
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
    if not draft.answer or not draft.explanation or _explained_together(draft):
        return
    said = stated(draft.explanation, draft.stem, dict(draft.options), several=len(draft.answer) > 1)
    if said and said.rule in SURE and said.answer != frozenset(draft.answer):
        draft.flag(
            "explanation_disagrees", f"answer {draft.answer}, but the explanation says {said.detail!r}"
        )


def _check_beside(draft: Draft) -> None:
    """Flag what stands beside an answer and is not its own: the text of another option, a letter on the next line."""
    told = (draft.explanation or "").strip()
    found = _P.beside.match(told)
    text = found[1] if found else told
    names = {label for label, option in draft.options if text and option.strip() == text}
    names |= {*text} if _P.letters_alone.fullmatch(text) else set()
    if draft.answer and names and not names & {*draft.answer}:
        draft.flag("answers_disagree", f"answer {draft.answer}, but {text[:30]!r} stands beside it")


def _check_case(draft: Draft) -> None:
    """A question on a patient, or under a head of shared cases, without the case."""
    if draft.shared_stem or draft.shared_options or heads.is_case(draft.stem):
        return
    found = _P.asked_before.match(draft.stem)
    if found or "A3/A4" in (draft.announced, heads.announcement(draft.key_head).kind):
        draft.flag("case_missing", f"{found[0] if found else 'A3/A4'}: no case stands before it")


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
    named = collected(((draft.section, draft.number or 0), draft) for draft in alone)
    for holder in drafts:
        texts = [text for _, text in _texts(holder)] if holder.options else [text_of(holder.pieces)]
        found = next((found for text in texts if (found := _P.named.search(text))), None)
        if found is None or (not holder.options and found[0].startswith("答")):  # 答：2-4分钟
            continue
        first, last = (int(number) for number in found.groups() if number)
        for draft in (one for number in range(first, last + 1) for one in named[holder.section, number]):
            if draft is not holder:
                draft.flag(
                    "case_missing", f"number {holder.number} speaks of a case for it: {found[0][-20:]!r}"
                )


def _check_counts(own: Sequence[Draft]) -> None:
    """Flag an unusual number of options in its section or paper: options were lost, or belong to another question."""
    members = [draft for draft in own if not (draft.shared_options or draft.suffix)]
    # items of one answer may have fewer options than others
    kinds = collected((draft.announced == "X" or len(draft.answer or "") > 1, draft) for draft in members)
    blocks = collected((id(draft.block), draft) for draft in members)
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
    short: dict[int, list[int]] = collected(
        (draft.section, len(draft.options))
        for draft in own
        if max(draft.answer or "A") > draft.options[-1][0]
    )
    sizes = Counter(draft.section for draft in own)
    for draft in own:
        beyond = [size for size in short.get(draft.section, ()) if size >= len(draft.options)]
        if len(beyond) > max(1, MISPRINTED * sizes[draft.section]):
            draft.flag(
                "options_missing", f"{len(beyond)} answers of its section name options that were not read"
            )


def _check_feet(own: Sequence[Draft]) -> None:
    """Lines under the options that stand in several items are feet of pages or of a site."""
    under = [
        (draft, dict.fromkeys(map(without_digits, _under_options(draft))))
        for draft in own
        if not draft.suffix
    ]
    times = Counter(line for _, lines in under for line in lines)
    for draft, lines in under:
        again = [line for line in lines if times[line] >= (REPEATED if len(line) < SHORT else 2)]
        if again:
            draft.flag("foot_inside", f"{again[0][:30]!r} stands in {times[again[0]]} items")


def _check_groups(drafts: Sequence[Draft]) -> None:
    """Flag shared text whose head names a first number that was not found: it may hold that question."""
    headed = (draft for draft in drafts if draft.group and draft.group_first is not None)
    for members in collected((draft.group, draft) for draft in headed).values():
        first = min(draft.number or 0 for draft in members)
        for draft in members if first != members[0].group_first else ():
            why = f"its head names number {draft.group_first}, the first found is {first}"
            draft.flag("may_hold_another", f"what is shared may hold it; {why}")


def _check_announced(drafts: Sequence[Draft]) -> None:
    """Questions beyond the number that their head announces stand under a head that was not read."""
    numbered = (draft for draft in drafts if draft.number is not None and not draft.entry)
    for members in collected((id(draft.block), draft) for draft in numbered).values():
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
            if short and not _P.unfinished.search(above.text) and not _P.goes_on.match(below.text):
                draft.flag("text_left_over", f"{below.text[:30]!r} stands under the last option")
                told |= {draft.group: draft.number or 0} if draft.group else {}
                break


def _under_options(draft: Draft) -> list[str]:
    """Lines of an item after the one on which its last label stands, up to its explanation; its first line aside."""
    texts = [piece.text for piece in _last_option(draft)[1:]]
    return [text for text in texts if len(without_digits(text)) > 3 and not _P.goes_on.match(text)]


def _last_option(draft: Draft) -> list[ParsedLine]:
    """Return the line on which an item's last label stands and those under it, up to its answer."""
    texts = [piece.text for piece in draft.pieces]
    end = next((i for i, text in enumerate(texts) if i and opens_field(text)), len(texts))
    labels = (i for i, text in enumerate(texts[:end]) if i == 0 or labelled(text) or opens_option(text))
    return draft.pieces[max(labels, default=0) : end]
