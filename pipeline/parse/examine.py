"""Cross-examination: independent evidence about a question is compared before it is kept; each finding has a name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from pipeline.claims.explanations import SURE, stated
from pipeline.parse.draft import Draft
from pipeline.parse.fields import opens_explanation, split_fields
from pipeline.parse.gates import Gap
from pipeline.parse.heads import CHINESE
from pipeline.parse.kinds import is_case
from pipeline.parse.lines import REGIONS, Piece, is_whole, place_of, rooms
from pipeline.parse.numbers import CIRCLED_DIGITS
from pipeline.parse.options import find_labels, find_run
from pipeline.parse.reading import text_of
from pipeline.parse.text import CJK
from schemas.documents import Box

ALIKE = 0.9
"""From which share of a section's questions a number of options is the section's own."""
SEVERAL = 3
"""Of how many questions at least."""
MANY = 10
"""Of how many where the whole paper is looked at."""
REPEATED = 3
"""In how many items a line after the options must stand to be a foot: options end alike, lines under them do not."""
FAR, USUAL = 0.9, 0.95
"""From how many heights of a line more than the usual room (of all but one in 20) on a line may have stood there."""
SHORT = 8
"""Longer lines need to stand in two items only."""
LONG, TIMES = 60, 4
"""An option longer than this and so many times the longest of the others may hold what follows it."""
NEGATIONS = "不无非未否除"

_UNREADABLE = re.compile("[\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters without a meaning: a font's own glyphs, what could not be decoded, control characters."""
_REFERENCE = re.compile(
    r"(?:回答|作答|完成|解答)[^。\d]{0,10}\d{1,3}\s*[题題]?\s*(?:[~～\-－—–至到、及和與与]|\.{2})\s*第?\s*\d{1,3}"
    r"|\d{1,3}\s*[~～\-－—–至到]\s*\d{1,3}\s*[题題]?[^。]{0,8}(?:共用|共享|公用|使用)|(?:共用|共享|公用)(?:[题題]干|[题題]幹|[备備][选選])"
)
"""What tells that a case or shared options stand in a text: 依此回答下列第29題至第32題."""
_EMPTY_END = re.compile(r"\w\s*[=＝≈≥≤＞＜<>×÷]\s*$")
_NAMED = re.compile(
    r"(?:回答|作答|完成|解答|共用|答)[^。\d]{0,12}(\d{1,3})\s*[题題]?\s*(?:[~～\-－—–至到、及和與与]|\.{2})\s*第?\s*(\d{1,3})"
    r"|(?<!\d)(\d{1,3})\s?[~～\-－—–至到]\s?(\d{1,3})\s?[题題]?\s?(?:共用|共享|公用)"
)
_STRANGE = re.compile(
    rf"[{CHINESE}]、\S{{0,8}}(?:[选選][择擇][题題]|型[题題]|[填判简簡]\S{{1,3}}[题題])|【(?:答案|解析|分析|点评|考点|[{CHINESE}AB]\S{{0,6}}[题題])】|答案[:：]\s*\S"
)
"""A head, or the mark of an answer, inside a text: 立即手术二、X型题, 两者均无 答案：B."""
_BROKEN = re.compile(r"\s*[)）】\]，。；、,;]")
"""How no option begins: what stands before was taken for something else."""
_BRACKETED = re.compile(r"[(（【]([A-K])[)）】]")
_LISTED = re.compile(r"\n(\d{1,3})[.．、](?!\d)")
_SMALL_LABEL = re.compile(r"\s[a-k]\s?[.．、)）](?!\d)")
_FOOT = re.compile(
    r"(?:第|共)\s*\d{1,4}\s*[页頁](?!码|面)|版权[所归]|侵权必究|上一[节题页章]|下一[节题页章]"
    r"|扫码(?:关注|下载|获取|领取)|(?:关注|微信)公众号|更多(?:真题|试题|资料)"
)
"""What pages and sites print under a text."""
_LATER_LABEL = re.compile(r"\s*[(（【\[]?([A-H])[)）】\].．、:：]")
"""A label that opens a line: before the line of A it is left of another question's options. I. is a Roman number."""
_ASKS_IN_CASE = re.compile(r"[(（]\s{0,3}(?:[A-K]{1,8}\s{0,3})?[)）]\s*$")
"""A case that ends with a blank is a question whose number was not read."""
_ASKED_BEFORE = re.compile(
    r"(?:該|该|此|本例|上述|这[位名个])(?:名|位|例)?(?:患者|病人|病患|患儿|患兒|孕妇|孕婦|产妇)"
)
_EMPTY_PLACE = re.compile(rf"[=＝≈≥≤＞＜×÷]\s*[，,。；;]|[{CJK}][(（]\s?[,，、]|[，,、]\s*[，,、。]")
"""A formula that was lost leaves its signs: x＝，则 …"""


def examine(
    pieces: Sequence[Piece], rivals: Sequence[tuple[Piece, int]], drafts: Sequence[Draft], gaps: Sequence[Gap]
) -> None:
    """Note every finding as a doubt on its draft, in place; after keys were applied and numbers checked."""
    own = [draft for draft in drafts if draft.options and not draft.entry and not draft.set_aside]
    boxes = [piece.box for piece in pieces if piece.box]
    for draft in own:
        _check_texts(draft)
        _check_lengths(draft, boxes)
        _check_verdict(draft)
        _check_case(draft)
    _check_references(drafts, own)
    _check_counts(own)
    _check_feet(own)
    _check_room(pieces, own, boxes)
    _check_neighbours(drafts, gaps, boxes)
    _check_rivals(rivals, drafts)


def _texts(draft: Draft) -> Iterable[tuple[str, str]]:
    """Names and texts of what is asked."""
    yield "stem", draft.stem
    if draft.shared_stem:
        yield "case", draft.shared_stem
    yield from ((f"option {label}", text) for label, text in draft.options)


def _check_texts(draft: Draft) -> None:
    """Characters without a meaning, lost formulas, feet of pages, references to other questions."""
    for name, text in [*_texts(draft), ("explanation", draft.explanation or "")]:
        found = _UNREADABLE.search(text)
        if found:
            draft.doubt("unreadable_characters", f"U+{ord(found[0]):04X} in {name}: {_near(text, found)}")
            break
    for name, text in _texts(draft):
        asks_elsewhere = name != "case" and _REFERENCE.search(text)
        if asks_elsewhere:
            draft.doubt("case_inside", f"{name} speaks of other questions: {_near(text, asks_elsewhere)}")
        elif foot := _FOOT.search(text):
            draft.doubt("foot_inside", f"{name} holds what a page or site prints: {_near(text, foot)}")
        elif place := _EMPTY_PLACE.search(text) or (name[0] == "o" and _EMPTY_END.search(text)) or None:
            draft.doubt("empty_place", f"something is missing in {name}: {_near(text, place)}")
        elif head := _STRANGE.search(text):
            draft.doubt("text_left_over", f"{name} holds a head or an answer: {_near(text, head)}")
    if _BROKEN.match(draft.explanation or "") or (draft.explanation or "").startswith(("的", "了")):
        draft.doubt(
            "text_left_over", f"its explanation begins in the middle: {(draft.explanation or '')[:20]!r}"
        )
    _check_options(draft)


def _check_options(draft: Draft) -> None:
    """Options that begin in the middle, hold a label, or tell of a patient as none of the others does."""
    last, last_text = draft.options[-1]
    beyond = (
        {chr(ord(last) + step) for step in (1, 2)}
        if any(one.rule == "paren" for one in draft.steps)
        else set()
    )
    later = next((one for one in _BRACKETED.findall(last_text) if one in beyond), None)
    if later:
        draft.doubt("label_inside_text", f"（{later}） stands in option {last}")
    follows = [found[0] for found in _LISTED.finditer(draft.stem) if int(found[1]) == (draft.number or 0) + 1]
    if follows and len(_LISTED.findall(draft.stem)) == 1:
        draft.doubt("may_hold_another", f"a line of its stem begins with {follows[0].strip()}")
    small = any(step.rule == "lower" for step in draft.steps)
    for label, text in draft.options:
        if _BROKEN.match(text):
            draft.doubt("text_left_over", f"option {label} begins in the middle: {text[:20]!r}")
        elif small and _SMALL_LABEL.search(text):
            draft.doubt(
                "label_inside_text", f"what looks like a label stands in option {label}: {text[-30:]!r}"
            )
    told = [label for label, text in draft.options if is_case(text)]
    if len(draft.options) > 2 and told == [draft.options[-1][0]]:
        draft.doubt("case_inside", f"option {told[0]} alone tells of a patient")
    inside = find_run(draft.shared_stem) if draft.shared_stem and not draft.shared_options else None
    if inside and len(inside.options) > 2 and inside.strength > 2:
        draft.doubt("case_inside", "options stand in the case")
    if draft.stem and draft.shared_stem and _ASKS_IN_CASE.search(draft.shared_stem):
        draft.doubt("case_inside", f"a question stands in the case: {draft.shared_stem[-20:]!r}")
    begins = _first_label(draft.pieces)
    if begins not in (None, "A"):
        draft.doubt("label_inside_text", f"a line before option A begins with {begins}")


def _first_label(pieces: Sequence[Piece]) -> str | None:
    """The label of an item's first line that opens with one; None where A stands inside a line before it."""
    for place, piece in enumerate(pieces):
        if place and (found := _LATER_LABEL.match(piece.text)):
            return found[1]
        if any(label.letter == "A" and label.strength > 1 for label in find_labels(piece.text)):
            return None
    return None


def _near(text: str, found: re.Match[str]) -> str:
    return repr(text[max(0, found.start() - 20) : found.end() + 20])


def _check_lengths(draft: Draft, boxes: Sequence[Box]) -> None:
    """An option much longer than the others of its question, or two that say the same."""
    sizes = sorted((len(text), label) for label, text in draft.options)
    (second, _), (longest, label) = sizes[-2:] if len(sizes) > 1 else ((0, ""), (0, ""))
    long = longest > LONG and longest > TIMES * second and not draft.shared_options
    if long and not (label == draft.options[-1][0] and _is_one_paragraph(draft, boxes)):
        draft.doubt("option_too_long", f"{label} has {longest} characters, the others at most {second}")
    bare = Counter(re.sub(r"\s+", "", text) for _, text in draft.options if text)
    same = [text for text, times in bare.items() if times > 1]
    if same:
        draft.doubt("options_alike", f"two options say {same[0][:20]!r}")


def _is_one_paragraph(draft: Draft, boxes: Sequence[Box]) -> bool:
    """Whether the last option runs on over full lines, without a stop in it: no other text stands under it."""
    labelled = max((i for i, piece in enumerate(draft.pieces) if _labelled(piece.text)), default=0)
    lines = draft.pieces[labelled:]
    full = len(lines) > 1 and not any(is_whole(piece, boxes) for piece in lines[:-1])
    return full and not re.search(r"[？?。](?=.)", draft.options[-1][1])


def _check_verdict(draft: Draft) -> None:
    """The answer against what the explanation says of the options."""
    if not draft.answer or not draft.explanation:
        return
    said = stated(draft.explanation, draft.stem, dict(draft.options), several=len(draft.answer) > 1)
    if said and said.rule in SURE and said.answer != frozenset(draft.answer):
        draft.doubt(
            "explanation_disagrees", f"answer {draft.answer}, but the explanation says {said.detail!r}"
        )


def _check_case(draft: Draft) -> None:
    """A question on a patient, or under a head of shared cases, without the case."""
    if draft.shared_stem or draft.shared_options or is_case(draft.stem):
        return
    found = _ASKED_BEFORE.match(draft.stem)
    if draft.announced == "A3/A4" or found:
        draft.doubt("case_missing", f"{found[0] if found else 'A3/A4'}: no case stands before it")


def _check_references(drafts: Sequence[Draft], own: Sequence[Draft]) -> None:
    """Questions that another item's text names, and that have no case: it stands there, or nowhere."""
    for holder in drafts:
        texts = [text for _, text in _texts(holder)] if holder.options else [text_of(holder.pieces)]
        found = next((found for text in texts if (found := _NAMED.search(text))), None)
        if found is None or (not holder.options and found[0].startswith("答")):  # 答：2-4分钟
            continue
        first, last = (int(number) for number in found.groups() if number)
        for draft in own:
            inside = first <= (draft.number or 0) <= last
            if inside and draft.section == holder.section and not draft.shared_pieces and draft is not holder:
                draft.doubt(
                    "case_missing", f"number {holder.number} speaks of a case for it: {found[0][-20:]!r}"
                )


def _check_counts(own: Sequence[Draft]) -> None:
    """Another number of options than nearly all others of its section or paper: some were lost, or are another's."""
    members = [draft for draft in own if not (draft.shared_options or draft.suffix)]
    blocks: dict[int, list[Draft]] = defaultdict(list)
    for draft in members:
        blocks[id(draft.block)].append(draft)
    odd: dict[int, tuple[Draft, int]] = {}
    for part, enough in ((members, MANY), *((block, SEVERAL) for block in blocks.values())):
        counts = Counter(len(draft.options) for draft in part)
        usual, times = counts.most_common(1)[0] if counts else (0, 0)
        if times >= max(enough, ALIKE * (len(part) - 1)):
            odd |= {id(draft): (draft, usual) for draft in part if len(draft.options) != usual}
    for draft, usual in odd.values():
        reason = "options_missing" if len(draft.options) < usual else "options_too_many"
        draft.doubt(reason, f"{len(draft.options)} options, {usual} elsewhere in the paper")


def _check_feet(own: Sequence[Draft]) -> None:
    """Lines under the options that stand in several items are feet of pages or of a site."""
    under = [(draft, set(map(_pattern, _under_options(draft)))) for draft in own if not draft.suffix]
    times = Counter(line for _, lines in under for line in lines)
    for draft, lines in under:
        again = [line for line in lines if times[line] >= (REPEATED if len(line) < SHORT else 2)]
        if again:
            draft.doubt("foot_inside", f"{again[0][:30]!r} stands in {times[again[0]]} items")


def _pattern(line: str) -> str:
    return re.sub(r"[\d\s]+", "", line)


def _under_options(draft: Draft) -> list[str]:
    """Lines of an item after the one on which its last label stands, up to its explanation; its first line aside."""
    texts = [piece.text for piece in draft.pieces]
    last = max((i for i, text in enumerate(texts) if i == 0 or _labelled(text)), default=0)
    found: list[str] = []
    for text in texts[last + 1 :]:
        if opens_explanation(text) or split_fields(text).answered:
            break
        if len(_pattern(text)) > 3 and text[0] not in CIRCLED_DIGITS:
            found.append(text)
    return found


def _labelled(text: str) -> bool:
    return any(label.strength > 2 for label in find_labels(text))


def _check_room(pieces: Sequence[Piece], own: Sequence[Draft], boxes: Sequence[Box]) -> None:
    """Room for a line in or after a question, as hardly any other has: what stood there was not read."""
    if not boxes:
        return
    height = median(box.y1 - box.y0 for box in boxes)
    following = {place_of(one): other for one, other in pairwise(pieces)}
    before = {place_of(other): one for one, other in pairwise(pieces)}
    heads = {  # the line before what is shared is its head: a line of the case may be lost between them
        id(draft): [before[place_of(one)] for one in draft.shared_pieces[:1] if place_of(one) in before]
        for draft in own
    }
    after = {
        id(draft): [
            pair
            for last in (*draft.pieces[-1:], *draft.shared_pieces[-1:])
            if place_of(last) in following
            for pair in rooms([last, following[place_of(last)]])
        ]
        for draft in own
    }
    for whites in (
        {
            id(draft): [*rooms([*heads[id(draft)], *draft.shared_pieces]), *rooms(draft.pieces)]
            for draft in own
        },
        after,
    ):
        usual = sorted(room for found in whites.values() for room, _, _ in found)
        if len(usual) < MANY:
            continue
        recognised = any(piece.confidence is not None for piece in pieces)
        most = (
            max(usual[int(USUAL * (len(usual) - 1))], median(usual))
            + (2 * FAR if recognised else FAR) * height
        )
        for draft in own:
            if draft.suffix:
                continue
            for room, above, below in whites.get(id(draft), ()):
                if room > most and not (_labelled(below.text) and is_whole(above, boxes)):
                    draft.doubt("room_inside", f"there is room for a line after {above.text[-20:]!r}")
                    break


def _check_neighbours(drafts: Sequence[Draft], gaps: Sequence[Gap], boxes: Sequence[Box]) -> None:
    """Who stands before a number that was not found may hold its text: a question, or what is shared after it."""
    for gap in gaps:
        items = [
            draft for draft in drafts if draft.section == gap.section and draft.number and not draft.entry
        ]
        numbers = [draft.number or 0 for draft in items]
        before = max((number for number in numbers if number < gap.number), default=None)
        after = min((number for number in numbers if number > gap.number), default=None)
        known = {draft.group for draft in items if draft.number == before}
        opened = {draft.group for draft in items if draft.number == after and draft.group_headed} - known
        for draft in items:
            why = None
            if draft.number == before:
                why = _may_hold_more(draft)
                if not after and not all(is_whole(piece, boxes) for piece in draft.pieces[-1:]):
                    why = "its last line is full, and nothing shows where it ends"
            elif draft.group in opened:
                why = "what is shared may hold it"
            if why and not any(reason == "may_hold_another" for reason, _ in draft.doubts):
                draft.doubt("may_hold_another", f"number {gap.number} was not found; {why}")


def _check_rivals(rivals: Sequence[tuple[Piece, int]], drafts: Sequence[Draft]) -> None:
    """Lines inside a question that begin like one: it holds another, and who has that number may be the wrong one."""
    for piece, number in rivals:
        holders = [draft for draft in drafts if any(place_of(one) == place_of(piece) for one in draft.pieces)]
        sections = {draft.section for draft in holders if not draft.entry}
        for draft in drafts:
            same = draft.number == number and draft.section in sections
            if not draft.entry and (draft in holders or same):
                draft.doubt("may_hold_another", f"a line begins like number {number}: {piece.text[:20]!r}")


def _may_hold_more(draft: Draft) -> str | None:
    """Why the question before a lost number cannot be shown to be whole and alone; None where it can."""
    if any(piece.kind in REGIONS for piece in draft.pieces):
        return "a figure or table stands in it"
    if draft.shared_options or draft.suffix or not draft.options:
        return "it has several lines" if len(draft.pieces) > 1 else None
    head = split_fields(text_of(draft.pieces)).head
    labels = find_labels(head)
    first = [label for label in labels if label.letter == "A" and label.strength > 1]
    run = find_run(head)
    if len(first) != 1 or run is None:
        return "options may begin twice"
    if "\n" in head[run.last :].strip():
        return "lines follow its last option"
    return _not_closed(draft.pieces)


def _not_closed(pieces: Sequence[Piece]) -> str | None:
    """Whether lines with boxes leave room between them or cross a page: then lost ones may have stood there."""
    boxes = [piece.box for piece in pieces if piece.box is not None]
    if not boxes:
        return None
    room = [white for white, _, _ in rooms(pieces)]
    if len(room) < len({(piece.page, piece.order) for piece in pieces}) - 1:
        return "it crosses a column or a page"
    height = median(box.y1 - box.y0 for box in boxes)
    return "room stands between its lines" if room and max(room) > min(room) + FAR * height else None
