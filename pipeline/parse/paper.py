"""A document's lines → its questions, its key, and what stands in between: the pure core of the stage."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from pipeline.parse import gates
from pipeline.parse.assemble import drafts_of
from pipeline.parse.cut import cut
from pipeline.parse.draft import Draft
from pipeline.parse.examine import examine
from pipeline.parse.gates import Gap, Mismatch
from pipeline.parse.heads import NumberStyle, number_candidate, stated_total
from pipeline.parse.keylines import answers_apart
from pipeline.parse.keys import Key, Unmatched, apply_entries, counted_place, key_of
from pipeline.parse.lines import ParsedLine, in_one_script, line_part, parsed_lines, place_of
from pipeline.parse.outline import Outline, Pointing, Role
from pipeline.parse.parts import fold_copies, joint_answers
from pipeline.parse.rooms import has_label
from schemas.documents import Line


@dataclass(slots=True)
class ParsedPaper:
    """A parsed document."""

    document: str
    pieces: list[ParsedLine]  # lines and regions, without running heads
    running: list[ParsedLine]  # running heads and feet
    drafts: list[Draft]  # questions, items set aside and entries of keys, in order
    key: Key
    count: int | None  # the number of questions that it states
    text: str
    outline: Outline
    keyed: set[int] = field(default_factory=set)  # numbers that its key, in it or beside it, answers
    unmatched: set[tuple[int, int]] = field(default_factory=set)  # (section, number) of them that it lacks
    gaps: list[Gap] = field(default_factory=list)
    mismatches: list[Mismatch] = field(default_factory=list)

    @property
    def questions(self) -> list[Draft]:
        """Items with options."""
        return [draft for draft in self.drafts if draft.options and not draft.entry]

    @property
    def items(self) -> list[Draft]:
        """Questions and items set aside."""
        return [draft for draft in self.drafts if not draft.entry]

    def roles(self) -> Iterable[tuple[ParsedLine, Role]]:
        """Its lines, each with what it is."""
        return zip(self.pieces, self.outline.roles, strict=True)

    @property
    def silent(self) -> list[Draft]:
        """Questions without an answer."""
        return [draft for draft in self.questions if draft.answer is None and draft.accepted is None]

    @property
    def is_key(self) -> bool:
        """True if it is a key alone: answers, no question with options, fewer other items than answers."""
        return max(self.key.size, len(self.key.numbers)) > len(self.items) and not self.questions


def read_paper(document: str, lines: Sequence[Line], pointings: Sequence[Pointing] = ()) -> ParsedPaper:
    """Read a document's lines, given in reading order; its own key is applied, gates are not yet checked."""
    parts = _numbered_once(answers_apart(in_one_script(parsed_lines(lines))))
    kept = {place_of(piece) for piece in parts}
    running = [line_part(line, line.text) for line in lines if (line.page, line.order) not in kept]
    outline = cut(parts, pointings)
    running += [piece for piece, role in zip(parts, outline.roles, strict=True) if role is Role.RUNNING]
    drafts = drafts_of(outline)
    fold_copies(drafts)
    _number_sections(drafts)
    text = "\n".join(piece.text for piece in parts)
    key = key_of(outline, drafts)
    for run in key.runs:
        run.source = document
    paper = ParsedPaper(document, parts, running, drafts, key, stated_total(text), text, outline)
    if paper.key.runs and not paper.is_key:
        apply_key(paper, paper.key)
    return paper


def _numbered_once(parts: Sequence[ParsedLine]) -> list[ParsedLine]:
    """The pieces without a heading that is nothing but the number with which the next one begins: 第3题 / 【第3题】."""
    marks = [number_candidate(index, part.text) for index, part in enumerate(parts)]
    kept = []
    for part, mark, after in zip_longest(parts, marks, marks[1:]):
        alone = mark is not None and mark.style is NumberStyle.TITLE and mark.end >= len(part.text)
        again = mark and after and (mark.value, mark.last) == (after.value, after.last)
        if not (alone and again):
            kept.append(part)
    return kept


def apply_key(paper: ParsedPaper, key: Key, *, replace: bool = False) -> Unmatched:
    """Apply a key, the paper's own or one from beside it, and return its entries without a question."""
    paper.keyed.update(number for run in key.runs for number in run.entries)
    unmatched = apply_entries(key, paper.items, _titles(paper), replace=replace)
    paper.unmatched.update(unmatched)
    return unmatched


TITLE_WITHIN = 3  # lines before a section's first question in which its title must stand: 第二套, （B卷）


def _titles(paper: ParsedPaper) -> dict[int, int]:
    """The numbers by which titles count the sections of a paper, where the line above names one."""
    first = {draft.section: draft for draft in reversed(paper.items) if draft.pieces}
    places = {place_of(piece): at for at, piece in enumerate(paper.pieces)}
    found: dict[int, int] = {}
    for section, draft in first.items():
        at = places.get(place_of(draft.all_pieces[0]), 0)
        above = [one.text for one in paper.pieces[max(0, at - TITLE_WITHIN) : at] if not has_label(one.text)]
        found[section] = next(filter(None, map(counted_place, reversed(above))), 0)
    return found if len({*found.values()}) == len(found) else {}


def check_gates(paper: ParsedPaper) -> None:
    """Check the structural gates, after all keys were applied: doubts, gaps, announced counts."""
    joint_answers(paper.drafts)
    gates.check_questions(paper)
    gates.check_answers(paper)
    paper.gaps = gates.find_gaps(paper)
    gates.check_shifts(paper)
    examine(paper)
    paper.mismatches = [
        *gates.count_mismatches(paper),
        *gates.unread_keys(paper),
        *gates.unread_questions(paper),
    ]


def _number_sections(drafts: Sequence[Draft]) -> None:
    """Sections are runs of the numbering that hold items, from 1: they survive an unread head.

    Numbered instructions on a cover are no section of their own.
    """
    numbered = [one for one in drafts if not one.entry and (one.set_aside or ("",))[0] != "instruction"]
    runs = sorted({draft.run for draft in numbered})
    section = {run: index + 1 for index, run in enumerate(runs)}
    for draft in drafts:
        draft.section = section.get(draft.run, 0)
