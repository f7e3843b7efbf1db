"""The trace of a paper as records: its items' steps, and what became of all other lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pipeline.parse.draft import Draft
from pipeline.parse.kinds import announcement
from pipeline.parse.lines import REGIONS, Piece, spans
from pipeline.parse.outline import Role
from pipeline.parse.paper import Paper
from pipeline.parse.running import TITLE
from pipeline.parse.setaside import INSTRUCTION
from schemas.trace import Part, Step, Trace

_COVER = re.compile(
    r"[※＊*◎★]|注意|须知|須知|说明|說明|[考時时]间|時間|日期|[总總]分|[满滿]分|得分|阅卷|评卷|[密装]封|姓名|编号|編號|准考|学号|班级"
    r"|[类類别別科目号號码碼页頁次數数註注]\s*[:：]|^\s*[\d\s/年月日:：~～.-]+$|[（(].{0,12}卷[）)]|^\W*$"
)
"""What a form, a title or the instructions to candidates say."""
_HEADS = {Role.SECTION: "section", Role.HEADING: "heading", Role.GROUP: "group"}


def trace_of_item(name: str, document: str, draft: Draft) -> Trace:
    """An item's trace."""
    return Trace(item_id=name, document=document, spans=spans(draft.all_pieces), steps=draft.steps)


def trace_of_paper(paper: Paper) -> Trace:
    """The trace of the lines that belong to no item: every one of them stands in a step."""
    found = [*_heads(paper), *_texts(paper)]
    steps = [
        Step(part=part, rule=rule, detail=said, spans=spans(pieces)) for part, rule, said, pieces in found
    ]
    return Trace(
        item_id=paper.document,
        document=paper.document,
        spans=spans(piece for _, _, _, pieces in found for piece in pieces),
        steps=steps,
    )


def left_over(paper: Paper) -> Mapping[str, Sequence[Piece]]:
    """Text that is part of no item and is not known to be anything else, by where it stands."""
    outline, claimed = paper.outline, _claimed(paper)
    groups = [piece for group in outline.groups for piece in group.pieces if _place(piece) not in claimed]
    return {
        "before_first": [piece for piece in outline.preamble if not _is_cover(piece)],
        "after_key": [piece for piece in outline.after_keys if not _is_cover(piece)],
        "group_without_items": groups,
    }


Found = tuple[Part, str, str | None, Sequence[Piece]]


def _heads(paper: Paper) -> Iterable[Found]:
    """Heads one by one; lines of answers together, entries of keys together."""
    claimed, answers = _claimed(paper), []
    for piece, role in zip(paper.pieces, paper.outline.roles, strict=True):
        if role in _HEADS and _place(piece) not in claimed:
            detail = f"{piece.text[:40]} → {announcement(piece.text).kind or 'unknown'}"
            yield Part.HEAD, _HEADS[role], detail, [piece]
        elif role is Role.KEY_HEAD:
            yield Part.KEY, "key_head", piece.text[:40], [piece]
        elif role is Role.ANSWERS:
            answers.append(piece)
    entries = [piece for draft in paper.drafts if draft.entry for piece in draft.all_pieces]
    yield from _some(Part.KEY, "key_list", answers)
    yield from _some(Part.KEY, "key_entries", entries)


def _texts(paper: Paper) -> Iterable[Found]:
    outline = paper.outline
    yield from _some(Part.HEAD, "instructions", outline.instructions)
    yield from _some(Part.COVER, "before_first", list(filter(_is_cover, outline.preamble)))
    yield from _some(Part.COVER, "after_key", list(filter(_is_cover, outline.after_keys)))
    for rule, pieces in left_over(paper).items():
        yield from _some(Part.LEFT_OVER, rule, pieces)
    yield from _some(Part.RUNNING, "running", paper.running)


def _some(part: Part, rule: str, pieces: Sequence[Piece]) -> Iterable[Found]:
    if pieces:
        yield part, rule, pieces[0].text[:40] or None, pieces


def _is_cover(piece: Piece) -> bool:
    """Whether a line outside the items is a title, an instruction or a field of a form; regions are no text."""
    text = piece.text
    known = TITLE.search(text) or INSTRUCTION.search(text) or _COVER.search(text)
    return piece.kind in REGIONS or piece.centred or known is not None


def _claimed(paper: Paper) -> set[tuple[int, int]]:
    return {_place(piece) for draft in paper.items for piece in draft.all_pieces}


def _place(piece: Piece) -> tuple[int, int]:
    return piece.page, piece.order
