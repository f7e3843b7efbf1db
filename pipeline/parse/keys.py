"""Keys: found in a paper or in a document of their own, applied to drafts; notes after appeals."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.fields import by_text
from build_dataset.pipeline.parse.folding import spaceless
from build_dataset.pipeline.parse.heads import announcement, numeral_value
from build_dataset.pipeline.parse.keylines import KeyLine
from build_dataset.pipeline.parse.labels import LABEL, LABELS
from build_dataset.pipeline.parse.outline import Outline
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import Part
from build_dataset.schemas.grouping import group_values

_P = Patterns(__name__)
NOTED = ("#", "*")  # cells whose answer is told in a note
Unmatched = list[tuple[int, int]]  # (section or 0, number) of entries without a question
Sections = dict[int, dict[int, list[Draft]]]  # drafts by number in each section


class AppealNote(NamedTuple):
    """A note on questions after appeals."""

    numbers: tuple[int, ...]
    accepted: tuple[str, ...]  # every answer that earns the mark; empty when everybody gets it
    note: str
    unread: bool = False  # the note says something about marks that was not understood


def corrections(text: str) -> list[AppealNote]:
    """The corrections in a note such as 第43題答A、C給分."""
    notes: list[AppealNote] = []
    for clause in _P.clause.finditer(_P.bracketed.sub(r"\1", spaceless(text))):
        numbers = tuple(int(number) for number in re.findall(r"\d+", clause["named"]))
        note, verdict = clause[0].strip("，,"), clause["verdict"]
        stated = _P.accepted.search(verdict) or _P.changed.search(verdict)
        read = bool(stated or _P.everybody.search(verdict))
        if read or _P.about_marks.search(verdict):
            letters = tuple(re.findall(rf"{LABEL}+", stated[1])) if stated else ()
            notes.append(AppealNote(numbers, letters, note, unread=not read))
    known = {number for note in notes for number in note.numbers}
    for line in _P.erratum.finditer(text):
        numbers = tuple(number for number in map(int, re.findall(r"\d{1,3}", line[0])) if number not in known)
        notes += [AppealNote(numbers, (), line[0].strip(), unread=True)] if numbers else []
    return notes


@dataclass(slots=True)
class KeyEntry:
    """The entry of a key for one question."""

    letters: str | None
    explanation: str | None = None
    head: str = ""  # the head it stands under
    of_parts: bool = False  # its letters answer the parts of an item: （1）A（2）C


@dataclass(slots=True)
class KeyRun:
    """One numbering of a key: the answers of one section or of the whole paper."""

    entries: dict[int, KeyEntry] = field(default_factory=dict)
    repeated: list[int] = field(default_factory=list)  # numbers with two different answers
    source: str = ""  # the document it stands in
    head: str = ""  # the head it stands under
    title: str = ""  # the whole line of that head
    rule: str = "key_list"  # its form: a list of answers, or an entry each
    after_section: int = 0  # the number of question sections before it
    counted: bool = False  # its letters stand in turn, without numbers
    noted: set[int] = field(default_factory=set)  # numbers whose cells refer to a note
    short: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """For every number of a grid row that has fewer answers than numbers, the numbers left without."""

    def add(self, number: int, letters: str | None, explanation: str | None = None) -> KeyEntry:
        """Add an entry; a second one for the same number completes the first or contradicts it."""
        known = self.entries.setdefault(number, KeyEntry(letters, explanation))
        if known.letters and letters and known.letters != letters:
            self.repeated.append(number)
        known.letters = known.letters or letters
        known.explanation = known.explanation or explanation
        return known


@dataclass(slots=True)
class Key:
    """All that a document says about answers."""

    runs: list[KeyRun] = field(default_factory=list)
    corrections: list[AppealNote] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The number of questions it answers."""
        return sum(len(run.entries) for run in self.runs)

    @property
    def letters(self) -> dict[int, str | None]:
        """The letters by number; of a number that comes again the last."""
        return {number: entry.letters for run in self.runs for number, entry in run.entries.items()}

    @property
    def numbers(self) -> set[int]:
        """The numbers it says something about."""
        return {*self.letters} | {number for note in self.corrections for number in note.numbers}


def key_of(outline: Outline, drafts: Sequence[Draft]) -> Key:
    """The key inside a document: its lines of answers, entries among its drafts, and notes on corrections."""
    key = Key()
    section_of_run = {draft.run: draft.section for draft in drafts if draft.section}
    begun = [0, *accumulate((section_of_run.get(item.run, 0) for item in outline.items), max)]
    for line in outline.keys:
        _add_line(key, line, begun[line.item])
    _add_entries(key, drafts)
    if key.runs or not any(draft.options for draft in drafts):
        key.corrections = corrections("\n".join(outline.prose))
    return key


def _add_line(key: Key, line: KeyLine, section: int) -> None:
    numbers = [pair.number for pair in line.pairs] or list(line.span)
    last = key.runs[-1] if key.runs else KeyRun(after_section=-1)
    below = last.head != line.head and numbers[0] <= max(last.entries, default=0)
    if last.after_section != section or numbers[0] in last.entries or below:  # a new numbering
        last = KeyRun(after_section=section, head=line.head, title=line.title, counted=line.counted)
        key.runs.append(last)
    for pair in line.pairs:
        if pair.letters in NOTED:  # 5.#
            last.noted.add(pair.number)
        letters = pair.letters if pair.letters[0] in LABELS else None
        last.add(pair.number, letters).head = line.head
    if unanswered := line.span[len(line.pairs) :]:
        last.short |= {pair.number: unanswered for pair in line.pairs}


def _add_entries(key: Key, drafts: Sequence[Draft]) -> None:
    runs: dict[int, KeyRun] = {}
    section = 0
    for draft in drafts:
        if not draft.entry:
            section = max(section, draft.section)  # entries follow the questions that they answer
        elif draft.number is not None:
            if draft.run not in runs:
                head, title = draft.block.name, "".join(draft.block.heads[:1])
                runs[draft.run] = KeyRun(after_section=section, head=head, title=title, rule="key_entries")
                key.runs.append(runs[draft.run])
            entry = runs[draft.run].add(draft.number, draft.answer, draft.explanation)
            entry.head, entry.of_parts = draft.block.name, draft.of_parts


def apply_entries(key: Key, drafts: Sequence[Draft], titles: Mapping[int, int], *, replace: bool) -> Unmatched:
    """Apply a key to the drafts of its paper, whose ``titles`` count its sections; corrections replace answers."""
    unmatched: Unmatched = []
    by_section: Sections = {}
    for draft in drafts:
        if draft.number is not None and not draft.entry:
            by_section.setdefault(draft.section, {}).setdefault(draft.number, []).append(draft)
    waiting: dict[str, list[int]] = defaultdict(lambda: sorted(by_section))
    noted: set[int] = set()
    heads = Counter(run.head for run in key.runs if run.head)
    places = _places(key.runs, {section: titles.get(section, 0) for section in sorted(by_section)})
    for run in key.runs:
        stated = places.get(run.title)  # 第二套答案
        targets = _targets(run, by_section, waiting[run.rule], heads) if stated is None else stated
        span = announcement(run.title).span
        if span and run.entries.keys().isdisjoint(range(span[0], span[1] + 1)):
            targets = []  # 答案（11～20题） over 1.A 2.B: nobody knows from which number it counts
        if run.counted and [{*by_section[section]} for section in targets] != [{*run.entries}]:
            targets = []  # as many letters as questions, or a letter too few shifts all behind it
        if not targets:
            unmatched.extend((0, number) for number in run.entries)
            continue
        waiting[run.rule] = [section for section in waiting[run.rule] if section not in targets]
        noted |= run.noted
        sections = {section: by_section[section] for section in targets}
        unmatched.extend(_apply_run(run, sections, replace=replace))
    for correction in key.corrections:
        _correct(correction, drafts)
        noted.difference_update(correction.numbers)
    for draft in drafts:  # whatever an earlier key says of them
        if draft.number in noted and draft.options:
            draft.flag("note_not_read", "the key refers to a note on this question that was not found")
    return unmatched


def _places(runs: Sequence[KeyRun], sections: Mapping[int, int]) -> dict[str, list[int]]:
    """The sections of every head of a key that counts the papers of a file: 第二套答案, 试卷一参考答案, 答案（B卷）."""
    # Of titles that count the sections, the one of the same count; else the order of heads, or they are nobody's.
    counted = {run.title: place for run in runs if (place := counted_place(run.title))}
    if len(sections) < 2 or not counted:  # one section needs no choice
        return {}
    if any(sections.values()):
        of_place = group_values((place, section) for section, place in sections.items())
        return {title: of_place.get(place, []) for title, place in counted.items()}
    order = list(counted.values())
    if max(order) == len(sections) and {run.title for run in runs} == {*counted}:
        return {title: [[*sections][place - 1]] for title, place in counted.items()}
    runs_on = order == list(range(1, len(order) + 1))  # the heads count 1, 2, 3 …
    return {} if runs_on else {title: [] for title in counted}


def counted_place(title: str) -> int:
    """Return the number by which a title counts its paper, from 1; 0 without one."""
    match = _P.counts_papers.search(title)
    place = next(filter(None, match.groups()), "") if match else ""
    if place.isdecimal():
        return int(place)
    return ord(place) - ord("A") + 1 if place.isascii() and place else numeral_value(place) or 0


def _targets(run: KeyRun, by_section: Sections, pending: list[int], heads: Counter[str]) -> list[int]:
    """The sections a run of a key belongs to."""
    # All where numbers do not repeat; else of those without a key (before this one, if any) whose numbers fit best.
    if not by_section:
        return []
    counts = Counter(number for numbers in by_section.values() for number in numbers)
    numbers = set(run.entries)
    if all(counts[number] <= 1 for number in numbers):  # numbers that run on over all sections
        return [section for section in sorted(by_section) if numbers & set(by_section[section])]
    fitting = pending or sorted(by_section)
    earlier = [section for section in fitting if section <= run.after_section] or fitting
    named = [section for section in earlier if run.head and run.head in _names(by_section[section])]
    if len(named) == 1:  # 一、单选题 over its questions and over its answers
        return named
    if len(named) > max(1, heads[run.head]):
        return []  # the head of one of these sections was not read, so it stands under that of the one before
    others = {head for head in heads if head != run.head}
    if run.head and not named and any(others & _names(numbers) for numbers in by_section.values()):
        return []  # other runs are named after their sections: the section of this one was not read
    if any(entry.letters for entry in run.entries.values()):
        asks = [one for one in fitting if any(draft.options for drafts in by_section[one].values() for draft in drafts)]
        fitting = asks or fitting  # letters answer items with options
    before = [section for section in fitting if section <= run.after_section] or fitting
    shared = {section: len(numbers & by_section[section].keys()) for section in before}
    best = max(before, key=lambda section: (shared[section] / len(numbers | by_section[section].keys()), -section))
    return [best] if shared[best] else []


def _names(numbers: dict[int, list[Draft]]) -> set[str]:
    """The heads a section of the paper stands under."""
    return {draft.block.name for drafts in numbers.values() for draft in drafts if not draft.block.is_key}


def _apply_run(run: KeyRun, sections: Sections, *, replace: bool) -> Unmatched:
    """Apply a run to the sections that it belongs to, and return its entries without a question."""
    unmatched: Unmatched = []
    for number, entry in run.entries.items():
        drafts = next((numbers[number] for numbers in sections.values() if number in numbers), None)
        if drafts is None:
            unmatched.append((max(sections), number))
            continue
        short = run.short.get(number, ())
        lacking = [at for at in short if any(draft.options for part in sections.values() for draft in part.get(at, ()))]
        for index, draft in enumerate(drafts):
            draft.key_head = entry.head
            letters = entry.letters
            if letters and lacking:
                # 题号 1 2 3 4 / 答案 A C D: which of the four has no answer cannot be known from the order.
                draft.flag("key_not_read", f"its row of the key has no answer for {lacking[0]}")
                letters = None
            if letters and ((draft.suffix and len(drafts) > 1) or entry.of_parts):
                if len(letters) == len(drafts):  # （1）A（2）C, or AC for two parts
                    letters = letters[index]
                else:
                    draft.flag("parts_and_answers_differ", f"{len(drafts)} parts, {letters} in the key")
                    letters = None
            _apply_entry(draft, letters, entry.explanation, run, replace=replace)
            if number in run.repeated:
                draft.flag("answers_disagree", f"the key answers {number} twice, differently")
    return unmatched


def _apply_entry(draft: Draft, letters: str | None, explanation: str | None, run: KeyRun, *, replace: bool) -> None:
    if explanation and draft.explanation is None:
        draft.explanation = explanation
        draft.add_trace(Part.EXPLANATION, run.rule, run.source)
    draft.answered = True
    if letters is None and explanation:  # 3. 青霉素。首选……
        letters = by_text((explanation,), draft.options)
    if letters is None or not draft.options:
        return
    if draft.answer and sorted(draft.answer) != sorted(letters) and not replace:
        draft.flag("answers_disagree", f"{draft.answer} at the question, {letters} in the key")
        return
    draft.answer = letters
    draft.add_trace(Part.ANSWER, run.rule, f"{letters} in {run.source}")
    draft.in_blank = False


def _correct(correction: AppealNote, drafts: Sequence[Draft]) -> None:
    named = [draft for draft in drafts if draft.number in correction.numbers and draft.options]
    unclear = len({(draft.section, draft.number) for draft in named}) > len({draft.number for draft in named})
    for draft in named:
        if correction.unread or unclear:
            draft.flag("note_not_read", correction.note)
            continue
        labels = [label for label, _ in draft.options]
        draft.add_trace(Part.KEY, "appeal", correction.note[:80])
        draft.accepted = list(correction.accepted) or labels  # 送分: everybody gets it
        draft.comment = correction.note
        if correction.accepted and (draft.answer is None or draft.answer not in correction.accepted):
            draft.answer = correction.accepted[0]
