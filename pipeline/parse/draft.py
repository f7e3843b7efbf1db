"""The text of an item, read once, and the draft of its question before it is judged."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import dropwhile

from build_dataset.pipeline.ocr.emphasis import CHOSEN
from build_dataset.pipeline.parse.fields import Fields, is_coded, letter_line, letters_inside, opens_explanation
from build_dataset.pipeline.parse.heads import INSTRUCTION, SET_ASIDE, announcement
from build_dataset.pipeline.parse.labels import LABEL, ascend
from build_dataset.pipeline.parse.lines import REGIONS, ParsedLine, line_spans, place_of
from build_dataset.pipeline.parse.options import find_run
from build_dataset.pipeline.parse.outline import Block, NumberedItem
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import Box, LineKind, Part, Step
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.questions import Region

_P = Patterns(__name__)
BLANKS = 0.6  # share of stems with one bracket of letters for the paper to print its answers there
MANY_BLANKS = 10  # least number of them where items with their answer behind a mark do not count
MARKED = 0.8  # share of questions with a marked option for the marks to be the key
SHOWN = 3  # least number of stems whose bracket repeats the answer behind the mark of answers (答案：C)
LABELLED = 2.3  # the mean strength of labels with a mark of their own at the starts of lines or columns
DASHES = ("---", "———", "–––")  # ends of a text with a mark of dashes


class Habits:
    """Habits that the items of a paper share, from their texts and what stands in them."""

    def __init__(self, texts: Sequence[str], fields: Sequence[Fields]) -> None:
        ends = sum(_P.letter_end.search(text) is not None for text in texts)
        self.single_letters = 3 * ends >= len(texts) and (ends > 1 or len(texts) == 1)
        asked = [item.head for item in fields if find_run(item.head)]
        self.titled = sum(map(bool, map(_P.subtitle.match, asked))) >= max(SHOWN, MARKED * len(asked))
        filled = [item for item in fields if letters_inside(item.head)]  # 首选的是（C）
        open_items = [(item, run) for item in fields if not item.answers and (run := find_run(item.head))]
        runs = [run for _, run in open_items]
        silent = sum(not item.answers for item in filled)
        shown = [letters_inside(item.head) in item.answers for item in filled if item.answers]
        repeats = sum(shown) >= SHOWN and sum(shown) > BLANKS * len(shown)
        marks = [[_P.marked_option.search(text) is not None for _, text in run.options] for run in runs]
        marked = [any(some) and not all(some) for some in marks]
        # letters stand behind most stems: 另一个伟大发现是  C
        behind = sum(_P.letters_behind.search(item.head, 0, run.start) is not None for item, run in open_items)
        self.letters_behind = behind >= max(MANY_BLANKS, BLANKS * len(open_items))
        # dashes behind last options alone part items
        dashes = [text for run in runs for _, text in run.options[:-1] if text.endswith(DASHES)]
        ruled = not dashes and any(run.options[-1][1].endswith(DASHES) for run in runs)
        self.marks = not ruled and sum(marked) >= SHOWN and sum(marked) >= MARKED * len(runs)
        mixed = silent >= MANY_BLANKS and silent > BLANKS * len(runs)  # others have their answer behind a mark
        self.blanks_inside = repeats or mixed or len(filled) > BLANKS * len(fields)


class ItemText:
    """An item's text, read once: its head, options, blanks."""

    def __init__(self, item: NumberedItem, pieces: list[ParsedLine], fields: Fields, habits: Habits) -> None:
        self.item, self.pieces, self.fields, self.habits = item, pieces, fields, habits
        self.head, letters = fields.head, None
        if not fields.answers and not item.given:
            self.head, letters = letter_line(fields.head, single=habits.single_letters)
        title = _P.subtitle if habits.titled else _P.title_before
        self.head = title.sub(lambda match: "\n" * match[0].count("\n"), self.head)
        self.run = None if item.worded else find_run(self.head)
        self.beside = item.given or (letters if self.run is not None else None)


def text_of(pieces: list[ParsedLine]) -> str:
    """An item's text, a line a piece, without rows of a table and labels in a figure, unless these are options."""
    drawn = [bool(piece.in_table and "\t" in piece.text) or piece.kind in REGIONS for piece in pieces]
    if any(drawn):
        run = find_run("\n".join(piece.text for piece, inside in zip(pieces, drawn, strict=True) if inside))
        if run is not None and run.strength >= LABELLED:
            drawn = [False] * len(pieces)
    return "\n".join("" if inside else piece.text for piece, inside in zip(pieces, drawn, strict=True))


@dataclass(slots=True)
class Draft:
    """A candidate question, an item that is set aside, or an entry of a key."""

    number: int | None
    run: int
    pieces: list[ParsedLine]
    block: Block
    stem: str = ""
    suffix: str = ""  # a, b … for parts of a numbered item
    options: list[tuple[str, str]] = field(default_factory=list)
    answer: str | None = None  # letters without separators, as printed
    accepted: list[str] | None = None
    comment: str | None = None
    explanation: str | None = None
    shared_stem: str | None = None
    group: str | None = None  # name of its group within the paper
    group_headed: bool = False  # a head opens its group
    group_first: int | None = None
    group_last: int | None = None  # the first and the last number that the head of its group names
    options_in_cells: bool = False  # every table in it begins with one of its options' labels
    shared_options: bool = False
    options_belong_to_next: bool = False  # options follow it that are taken for those of the next questions
    shared_pieces: list[ParsedLine] = field(default_factory=list)  # the pieces of its shared stem or options
    section: int = 0
    entry: bool = False  # it is an entry of a key: an answer or explanation without a stem
    answered: bool = False
    of_parts: bool = False  # the letters of an entry answer the parts of an item, one each
    key_head: str = ""  # the head that its answer stands under in a key
    in_blank: bool = False  # its answer was read from a blank in its stem
    tag: str = ""  # the item type printed at its stem: [多选题]
    set_aside: tuple[str, str] | None = None  # why it is no multiple-choice question: reason, detail
    flags: list[tuple[str, str]] = field(default_factory=list)  # reasons and details for a person
    steps: list[Step] = field(default_factory=list)  # why it was cut as it was

    def flag(self, reason: str, detail: str) -> None:
        """Send it to review."""
        self.flags.append((reason, detail))

    def add_trace(self, part: Part, rule: str, detail: str | None = None, pieces: Sequence[ParsedLine] = ()) -> None:
        """Note why it was cut as it was, and where."""
        self.steps.append(Step(part=part, rule=rule, detail=detail, spans=line_spans(pieces)))

    def take_answer(self, letters: str | None, rule: str) -> None:
        """Set its answer, if there is one, and note by which rule it was found."""
        if letters:
            self.answer = letters
            self.add_trace(Part.ANSWER, rule, letters)

    @property
    def announced(self) -> str | None:
        """The kind that its tag or its head announces."""
        return announcement(self.tag or self.block.text).kind

    @property
    def all_pieces(self) -> list[ParsedLine]:
        """Its own pieces after the shared ones."""
        return [*self.shared_pieces, *self.pieces]

    @property
    def regions(self) -> list[Region] | None:
        """One box around its lines on every page; None without layout."""
        boxes = group_values((piece.page, piece.box) for piece in self.all_pieces if piece.box)
        return [Region(page=page, box=reduce(Box.union, boxes[page])) for page in sorted(boxes)] or None

    @property
    def attachments(self) -> list[str] | None:
        """Kinds of regions inside it; a table whose cells are its options is read, so it is none."""
        behind = dropwhile(lambda piece: not opens_explanation(f"{piece.text}\n."), self.pieces)  # Explanation alone
        told = {place_of(piece) for piece in behind if piece.box is None}  # of its explanation, in running text
        kinds = {piece.kind for piece in self.all_pieces if piece.kind in REGIONS and place_of(piece) not in told}
        return sorted(kind.value for kind in kinds - ({LineKind.TABLE} if self.options_in_cells else set())) or None


def strip_item_type(draft: Draft) -> None:
    """[多选题]（2分） before a stem says what the item is and earns, 题目： what follows: no parts of it."""
    if draft.options:
        draft.stem = _P.options_follow.sub("", _P.stem_follows.sub("", draft.stem))
    if match := _P.tag.match(draft.stem):
        draft.tag, draft.stem = match[1], draft.stem[match.end() :]
    elif draft.options and (match := _P.tag_behind.search(draft.stem)):
        draft.tag, draft.stem = match[1], draft.stem[: match.start()].rstrip()
    if draft.options:
        draft.stem = _P.score.sub("", draft.stem)


def take_marks(draft: Draft, *, habit: bool) -> str:
    """Take the marks off the right options, and return their letters: A.甲(正确答案), A.甲 √ where it is the habit."""
    forms = [_P.right_option, *([_P.marked_option] if habit else [])]
    marked = [label for label, text in draft.options if any(form.search(text) for form in forms)]
    for form in forms:
        draft.options = [(label, form.sub("", text).rstrip()) for label, text in draft.options]
    behind = [text.partition(CHOSEN)[2].strip() for _, text in draft.options if CHOSEN in text]
    if habit and behind:  # ==B. 乙== 应为丙
        draft.flag("answer_in_text", f"a text stands behind an option that is set apart: {behind[0][:40]!r}")
    draft.options = [(label, text.replace(CHOSEN, "")) for label, text in draft.options]
    return "".join(marked)


def set_aside(draft: Draft, fields: Fields, *, worded: bool) -> tuple[str, str] | None:
    """Return the reason and the detail for which an item is no multiple-choice question."""
    announced = draft.announced
    if announced in ("C", "K") and not draft.options:
        return f"{announced.lower()}_type", SET_ASIDE[announced]
    if any(map(is_coded, fields.answer_texts)):
        return "coded_answer", SET_ASIDE["coded_answer"]
    if any(_P.marked.match(text) for _, text in draft.options):
        return "short_answer", "its parts earn marks of their own, so they are no options"
    match = len(draft.options) < 3 and not (draft.answer or fields.answers) and INSTRUCTION.search(draft.stem)
    reason = "instruction" if match else None if draft.options else _kind_in_words(draft, fields, worded=worded)
    return (reason, SET_ASIDE[reason]) if reason else None


def _kind_in_words(draft: Draft, fields: Fields, *, worded: bool) -> str | None:
    """Return the kind of an item without options, by its number, words, head or answer."""
    if worded:
        return "short_answer"
    if _P.true_false.search(draft.stem) or fields.verdict:
        return "true_false"
    if _P.fill_in.match(draft.stem) or _P.blank.search(draft.stem):
        return "fill_in"
    if draft.announced in ("true_false", "fill_in", "short_answer"):
        return draft.announced
    if INSTRUCTION.search(draft.stem):
        return "instruction"
    letters = [text.strip(".。") for text in fields.answer_texts if re.fullmatch(rf"{LABEL}{{1,6}}[.。]?", text)]
    # Letters in order alone: options were there and were not read.
    explained = fields.answered and not any(map(ascend, letters))
    return "short_answer" if explained or _P.worth.match(draft.stem) else None
