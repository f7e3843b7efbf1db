"""A parsed document, its key applied, and its records: questions, rejections, review items, traces of every line."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import groupby
from typing import Any, NamedTuple

from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.heads import INSTRUCTION, announcement, question_type
from build_dataset.pipeline.parse.keys import Key, Unmatched, apply_entries, counted_place
from build_dataset.pipeline.parse.labels import has_label
from build_dataset.pipeline.parse.lines import REGIONS, ParsedLine, line_spans, place_of
from build_dataset.pipeline.parse.nets import Caught, Reading, cast
from build_dataset.pipeline.parse.outline import Outline, Role
from build_dataset.pipeline.parse.running import TITLE
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.dataset import SourceParams
from build_dataset.schemas.documents import Document, Part, Step, Trace, UnsureCharacter
from build_dataset.schemas.identity import content_hash, question_id
from build_dataset.schemas.places import find_unsure
from build_dataset.schemas.questions import Option, Question, Rejection, ReviewItem

_P = Patterns(__name__)
Mismatch = tuple[str, str, str]  # (reason, the head that states what is wrong, detail)
TITLE_WITHIN = 3  # lines before a section's first question in which its title must stand: 第二套, （B卷）
_HEADS = {Role.SECTION: "section", Role.HEADING: "heading", Role.GROUP: "group"}
STAGE = "parse"
MOST_UNSURE, SURE_LINE = 24, 0.99  # unsure characters that a question keeps; a line that is sure as a whole


class Gap(NamedTuple):
    """A number that the paper must have and that was not found."""

    section: int
    number: int
    detail: str


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


def apply_key(paper: ParsedPaper, key: Key, *, replace: bool = False) -> Unmatched:
    """Apply a key, the paper's own or one from beside it, and return its entries without a question."""
    paper.keyed.update(number for run in key.runs for number in run.entries)
    unmatched = apply_entries(key, paper.items, _titles(paper), replace=replace)
    paper.unmatched.update(unmatched)
    return unmatched


def _titles(paper: ParsedPaper) -> dict[int, int]:
    """The numbers by which titles count the sections of a paper, where the line above names one."""
    first = {draft.section: draft for draft in reversed(paper.items) if draft.pieces}
    places = {place_of(piece): at for at, piece in enumerate(paper.pieces)}
    by_section: dict[int, int] = {}
    for section, draft in first.items():
        at = places.get(place_of(draft.all_pieces[0]), 0)
        above = [piece.text for piece in paper.pieces[max(0, at - TITLE_WITHIN) : at] if not has_label(piece.text)]
        by_section[section] = next(filter(None, map(counted_place, reversed(above))), 0)
    return by_section if len({*by_section.values()}) == len(by_section) else {}


def trace_of_paper(paper: ParsedPaper) -> Trace:
    """The trace of the lines that belong to no item: every one of them stands in a step."""
    causes = list(_traced(paper))
    lines = line_spans(piece for _, _, pieces, _ in causes for piece in pieces)
    steps = [Step(part=part, rule=rule, detail=why, spans=line_spans(pieces)) for part, rule, pieces, why in causes]
    return Trace(item_id=paper.document, document=paper.document, spans=lines, steps=steps)


def _traced(paper: ParsedPaper) -> Iterator[tuple[Part, str, Sequence[ParsedLine], str | None]]:
    claimed, outline = _claimed(paper), paper.outline
    for piece, role in paper.roles():
        if role in _HEADS and place_of(piece) not in claimed:
            kind = announcement(piece.text).kind or "unknown"
            yield Part.HEAD, _HEADS[role], [piece], f"{piece.text[:40]} → {kind}"
        elif role is Role.KEY_HEAD:
            yield Part.KEY, "key_head", [piece], piece.text[:40]
    for part, rule, pieces in (
        (Part.KEY, "key_list", [piece for piece, role in paper.roles() if role is Role.ANSWERS]),
        (Part.KEY, "key_entries", [piece for draft in paper.drafts if draft.entry for piece in draft.all_pieces]),
        (Part.HEAD, "instructions", outline.instructions),
        (Part.COVER, "before_first", list(filter(_is_cover, outline.preamble))),
        (Part.COVER, "after_key", list(filter(_is_cover, outline.after_keys))),
        *((Part.LEFT_OVER, rule, pieces) for rule, pieces in left_over(paper).items()),
        (Part.RUNNING, "running", paper.running),
    ):
        if pieces:
            yield part, rule, pieces, pieces[0].text[:40] or None


def left_over(paper: ParsedPaper) -> Mapping[str, Sequence[ParsedLine]]:
    """Text that is part of no item and is not known to be anything else, by where it stands."""
    outline, claimed = paper.outline, _claimed(paper)
    groups = [piece for group in outline.groups for piece in group.pieces if place_of(piece) not in claimed]
    parts = (outline.preamble, outline.after_keys)
    before, behind = ([piece for piece in part if not _is_cover(piece)] for part in parts)
    return {"before_first": before, "after_key": behind, "group_without_items": groups}


def _is_cover(piece: ParsedLine) -> bool:
    """Return whether a line outside the items is a title, an instruction or a field of a form, or no text."""
    known = any(form.search(piece.text) for form in (TITLE, INSTRUCTION, _P.cover))
    return piece.kind in REGIONS or piece.centred or known


def _claimed(paper: ParsedPaper) -> set[tuple[int, int]]:
    return {place_of(piece) for draft in paper.items for piece in draft.all_pieces}


@dataclass
class ParseOutcome:
    """The fate of all candidates: each is in exactly one list."""

    questions: list[Question] = field(default_factory=list)
    rejects: list[Rejection] = field(default_factory=list)
    review: list[ReviewItem] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    left_over: dict[str, int] = field(default_factory=dict)
    """Lines of papers that are part of no item and not known to be anything else: paper → how many."""
    keys: dict[str, str] = field(default_factory=dict)  # key document → the paper it went into
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The roles found for the columns of tabular documents."""
    notes: list[str] = field(default_factory=list)
    into: int = 0  # the number of candidates, counted before their fate

    def reject(self, name: str, reason: str, detail: str, item: str | None = None) -> None:
        """Reject an item, a row or a document."""
        self.rejects.append(Rejection(item_id=name, stage=STAGE, reason=reason, detail=detail, item=item))

    def take_source(self, name: str, caught: Caught) -> None:
        """Keep the questions of a source, or let them wait: with their own doubts, or with one of the source."""
        for question, doubts in ((reading.question, reading.doubts) for reading in caught.readings):
            if doubts:  # the first one names it
                why = "; ".join(f"{reason}: {detail}" for reason, detail in doubts)
                self.review.append(waiting_item(question.question_id, doubts[0][0], why, question))
            else:
                self.questions.append(question)
        for doubt in caught.doubts:  # a doubt about a source is one item with all its questions
            questions = [reading.question for reading in doubt.readings]
            item = f"[{','.join(question.model_dump_json(exclude_none=True) for question in questions)}]"
            names = [question.question_id for question in questions]
            whole = waiting_item(f"{name}#{doubt.reason}", doubt.reason, doubt.detail)
            self.review.append(whole.model_copy(update={"question_ids": names, "item": item}))
        self.notes += [f"{name}: {note}" for note in caught.notes]

    def extend(self, outcome: "ParseOutcome") -> None:
        """Add another's."""
        for part in fields(self):
            values, more = getattr(self, part.name), getattr(outcome, part.name)
            if isinstance(values, list):
                values.extend(more)
            else:
                setattr(self, part.name, values | more if isinstance(values, dict) else values + more)


def finish(paper: ParsedPaper, document: Document, settings: SourceParams | None = None) -> ParseOutcome:
    """The records of a judged paper; ``settings`` are what ``[sources]`` says of it."""
    outcome, readings = ParseOutcome(), list[Reading]()
    ids = _Ids(document.sha256)
    groups: dict[str, str] = {}
    sizes = Counter(draft.group for draft in paper.items if draft.group)
    for draft in paper.items:
        number = f"{draft.number:03d}" if draft.number is not None else ""
        name = ids.take(draft.section, number + draft.suffix)
        if draft.group and sizes[draft.group] > 1:
            groups.setdefault(draft.group, f"{name}-g")
        elif draft.group:  # a group of one is no group: its case is its stem where it has none of its own
            draft.group = None
            if draft.shared_stem and not draft.shared_options:
                draft.stem = f"{draft.shared_stem}\n{draft.stem}".strip() if draft.stem else draft.shared_stem
                draft.shared_stem = None
        question = _question(draft, name, groups.get(draft.group or ""), document)
        if draft.set_aside:
            outcome.reject(name, *draft.set_aside, question.model_dump_json())
        else:
            readings.append(Reading(question, [*draft.flags]))
        lines = line_spans(draft.all_pieces)
        outcome.traces.append(Trace(item_id=name, document=paper.document, spans=lines, steps=draft.steps))
    outcome.take_source(document.document, cast(document.document, readings, settings))
    outcome.traces.append(trace_of_paper(paper))
    unknown = sum(map(len, left_over(paper).values()))
    outcome.left_over = {paper.document: unknown} if unknown else {}
    outcome.review.extend(_missing_numbers(paper, ids))
    for place, (reason, head, detail) in enumerate(paper.mismatches, 1):
        name = f"{document.sha256[:8]}-head{place}"
        outcome.review.append(waiting_item(name, reason, f"{document.document}: {head}: {detail}"))
    return outcome


def _missing_numbers(paper: ParsedPaper, ids: "_Ids") -> Iterator[ReviewItem]:
    """Yield one item for numbers in turn that were not found: 5 to 29 of a paper whose end is lost."""
    runs = groupby(enumerate(paper.gaps), lambda gap: (gap[1].section, gap[1].detail, gap[1].number - gap[0]))
    for (section, detail, _), run in runs:
        numbers = [gap.number for _, gap in run]
        last = f"–{numbers[-1]}" if len(numbers) > 1 else ""
        told = f"{paper.document}: number {numbers[0]}{last} of section {section} was not found; {detail}"
        names = [ids.take(section, f"{number:03d}") for number in numbers]
        yield waiting_item(names[0], "missing_number", told).model_copy(update={"question_ids": names})


class _Ids:
    """Ids of questions of a document; a collision gets a letter."""

    def __init__(self, sha256: str) -> None:
        self.sha256 = sha256
        self.taken: set[str] = set()
        self.extra: Counter[str] = Counter()  # letters tried for each name

    def take(self, section: int, number: str) -> str:
        """Return the id of a place, with the first letter that makes it unique where it was taken."""
        name = free = question_id(self.sha256, section, number)
        while free in self.taken:
            extra = self.extra[name]
            free = f"{name}{chr(98 + extra)}" if extra < 25 else f"{name}z{extra}"  # b, c … z, then z25
            self.extra[name] += 1
        self.taken.add(free)
        return free


def _question(draft: Draft, name: str, group: str | None, document: Document) -> Question:
    stem = draft.stem or (f"（{draft.number}）" if draft.shared_stem else "")  # （12） in a text
    answer = "".join(sorted(set(draft.answer))) if draft.answer else None
    options = draft.shared_options
    case = draft.shared_stem is not None and not options
    known = (piece.confidence for piece in draft.all_pieces if piece.confidence is not None)
    kind = question_type(draft.announced, stem, answer, shared_case=case, shared_options=options)
    return Question(
        question_id=name,
        document=document.document,
        section=draft.section,
        number=draft.number,
        question_type=kind,
        stem=stem,
        shared_stem=draft.shared_stem,
        group_id=group,
        options=[Option(label=label, text=text) for label, text in draft.options],
        answer=list(answer) if answer else None,
        accepted_answers=[list(letters) for letters in draft.accepted] if draft.accepted else None,
        explanation=draft.explanation,
        comment=draft.comment,
        pages=sorted({piece.page for piece in draft.all_pieces}),
        regions=draft.regions,
        attachments=draft.attachments,
        confidence=min(known, default=None),
        unsure=_unsure(draft.all_pieces),
        exam_type=document.exam_type,
        exam_class=document.exam_class,
        exam_subject=document.exam_subject,
        content_hash=content_hash(stem, (text for _, text in draft.options), draft.shared_stem),
    )


def _unsure(pieces: Iterable[ParsedLine]) -> list[UnsureCharacter] | None:
    """Return the least sure characters of lines, as they stand there; else the least sure line, where it is not sure.

    A line may hold more than the piece of it that is the question's.
    """
    recognised = [piece for piece in pieces if piece.confidence is not None]
    unsure = [character for piece in recognised for character, at in find_unsure({"": piece.text}, piece.unsure) if at]
    if unsure:
        least_sure = {*sorted(dict.fromkeys(unsure), key=lambda character: character.sure)[:MOST_UNSURE]}
        return [character for character in dict.fromkeys(unsure) if character in least_sure]
    line = min(recognised, key=lambda piece: piece.confidence or 0.0, default=None)
    if line is None or (sure := line.confidence or 0.0) >= SURE_LINE:
        return None
    return [UnsureCharacter(before="", text=line.text, after="", other=None, sure=sure, page=line.page, box=line.box)]


def waiting_item(name: str, reason: str, detail: str, question: Question | None = None) -> ReviewItem:
    """A question that waits for a person, or something of a document that is none."""
    names, item = ([name], question.model_dump_json()) if question else ([], None)
    return ReviewItem(item_id=name, question_ids=names, stage=STAGE, reason=reason, detail=detail, item=item)
