"""Decisions on what waits: in its workbook, row by row like a verifier's, and of verifiers in Label Studio.

What a row says is compared with what the question says in this build; what no longer fits is told and not applied.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import polars as pl
from rapidfuzz import fuzz

from build_dataset.annotation.label_studio import editable, projects, screen
from build_dataset.annotation.label_studio.read import DROP, UNSURE, PulledRows, read_task
from build_dataset.annotation.label_studio.tasks import QUESTION_ID, choice, written
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.clean.filters import UNANSWERED, judge_question
from build_dataset.pipeline.clean.params import CleanParams
from build_dataset.pipeline.review import folder, sheets, waiting as room
from build_dataset.pipeline.review.folder import CORRECT, KEEP
from build_dataset.pipeline.review.workbook import legal, open_sheets
from build_dataset.pipeline.runtime.publish import find_table
from build_dataset.pipeline.runtime.sources import SETTLED
from build_dataset.pipeline.stage import Context
from build_dataset.schemas.annotations import Correction, SettledDoubt
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import file_sha256, sha256
from build_dataset.schemas.wording import in_both_languages

_REMOVED = {*room.FORM["removed"]["words"]}  # written in place of an explanation or a shared case, which is taken away
_REMOVABLE = (editable.EXPLANATION, editable.SHARED)
_NEEDED = ("decision", "text", "key", "id", "version")
_OWN = {"decision", "scope", "why", "todo", "version"}  # columns that an expert's workbook has not
_TITLES = 5  # rows among which the columns' names stand
_MANY = 3  # rows that contradict themselves: more than a slip
_ALIKE = 60  # of 100: a text less like its question than that was moved to another row


class ContradictoryRowError(ValueError):
    """A row that contradicts itself; the message says how."""


@dataclass
class Decided:
    """The effect of an imported workbook."""

    decided: Counter[str] = field(default_factory=Counter)  # Questions by decision; `open`: rows without one.
    notes: list[str] = field(default_factory=list)  # A line on each row that was not taken.


def import_decisions(
    paths: Sequence[Path], by: str, params: ReviewParams, context: Context, clean: CleanParams | None = None
) -> Decided:
    """Take in decisions of a person; the same workbook again changes nothing.

    A row counts where its question still waits, says what the workbook was written from, and was decided. What is not
    taken is told by row, and so is what ``clean`` takes out though it was kept. Raises ``UserError`` for a file that
    cannot be read or is no such workbook.
    """
    known = {each.question.question_id: each for each in room.waiting_rows(context.build)[0]}
    outcome, rows, settled, marks = Decided(), PulledRows(), list[SettledDoubt](), list[str]()
    for path in paths:
        cells = read_cells(path)
        moment = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        told = len(outcome.notes)
        judged = _judged(path, cells, known, outcome)
        whole = len(outcome.notes) == told
        for row in judged:
            answer = row.read(by, moment)
            refused = [each for each in answer.rejects if each.reason != UNSURE]
            outcome.notes += [f"{path}, row {row.number}: {each.detail}" for each in refused]
            rows.extend(answer)
            whole &= not refused
            if not refused:
                outcome.decided[row.decision] += 1
                outcome.notes += [f"{path}, row {row.number}: {why}" for why in row.taken_out(clean or CleanParams())]
                settled += row.settled(by, moment.isoformat())
        marks += [file_sha256(path)] * whole
    sheets.take_in([rows], params, context)
    folder.remember_settled(context.build, settled)
    folder.remember_imported(context.build, marks)
    outcome.notes += _open_conflicts(context.build, known)
    return outcome


def _open_conflicts(build: Path, known: Mapping[str, room.Waiting]) -> Iterator[str]:
    """Yield a line on copies of a question with different keys of which one was decided and all go on waiting."""
    settled = find_table(build, SETTLED.with_suffix("").as_posix(), ["question_id", "decision"])
    decided: dict[str, str] = {} if settled is None else dict(settled.iter_rows())
    conflicts = (item for each in known.values() for item in each.items if item.reason == room.CONFLICT)
    for names in dict.fromkeys(tuple(item.question_ids) for item in conflicts):
        left = [name for name in names if decided.get(name) not in (DROP, CORRECT)]
        keys = {known[name].base.key for name in left if name in known}
        if not decided.keys().isdisjoint(names) and len(left) > 1 and (left == [*names] or len(keys) > 1):
            names_left = ", ".join(left)
            yield f"{names_left}: one question, different keys: they wait until all but one are dropped or corrected"


@dataclass
class DecidedRow:
    """A row that was decided."""

    number: int
    waiting: room.Waiting
    decision: str
    text: str
    key: str
    note: str
    explanation: str = ""  # where it was edited

    @classmethod
    def of(cls, waiting: room.Waiting, decision: str, note: str = "") -> Self:
        """Return a decision on a question as it stands."""
        return cls(0, waiting, decision, waiting.base.text, waiting.base.key, note)

    def read(self, by: str, moment: datetime) -> PulledRows:
        """Return what a verifier's answer from the server would give; 无 in place of an explanation removes it."""
        question_id, base = self.waiting.question.question_id, self.waiting.base
        kind = KEEP if self.decision == CORRECT else self.decision
        verdict = next(offer.zh for offer in screen.VERDICTS if offer.kind == kind)
        texts = {screen.BASE: base.dumps(), screen.NOTE: self.note}
        if self.decision == CORRECT:
            texts |= {screen.CORRECTED: self.text, screen.CORRECTED_KEY: self.key}
            texts[screen.CORRECTED_EXPLANATION] = self.explanation
        number = -int(sha256("waiting", by, question_id)[:12], 16)  # none of the server's
        result = [choice(editable.VERDICT, [verdict]), *(written(name, text) for name, text in texts.items() if text)]
        given = {"id": number, "completed_by": 0, "updated_at": moment.isoformat(), "result": result}
        rows = read_task({QUESTION_ID: question_id}, [given], {0: by}, "verification")
        rows.corrections[:] = [
            each.model_copy(update={"after": None}) if each.field in _REMOVABLE and _removes(each.after or "") else each
            for each in rows.corrections
        ]
        return rows

    def taken_out(self, clean: CleanParams) -> Iterator[str]:
        """Yield why a question is taken out though it was kept as it is: it needs its figure."""
        verdict = judge_question(self.waiting.question, clean) if self.decision == KEEP else None
        if verdict and (verdict.action == "reject" or verdict.reason in UNANSWERED):
            name, why = self.waiting.question.question_id, f"{in_both_languages(verdict.reason)}: {verdict.detail}"
            yield f"{name} is noted as kept, but stays out until it is corrected, or [clean] says otherwise: {why}"

    def settled(self, by: str, at: str) -> list[SettledDoubt]:
        """Return what is remembered of it, a row for each reason."""
        question = self.waiting.question
        place = {"question_id": question.question_id, "document": question.document, "by": by, "at": at}
        codes = dict.fromkeys(code for code, _ in self.waiting.found)
        return [SettledDoubt(**place, reason=code, decision=self.decision) for code in codes if self.decision != UNSURE]


def _judged(
    path: Path, cells: Mapping[int, Mapping[str, str]], known: Mapping[str, room.Waiting], outcome: Decided
) -> list[DecidedRow]:
    """Return the rows that are decided, by themselves or by one of the same kind; tell what cannot be taken."""
    problems, rows, contradictory = dict[int, str](), list[DecidedRow](), 0
    seen, alike = set[str](), dict[tuple[str, tuple[str, ...]], str]()
    for number, row in cells.items():
        if problem := _misplaced(row, known, seen):
            problems[number] = problem
            continue
        try:
            rows.append(decided := _read_row(number, row, known))
        except ContradictoryRowError as contradiction:
            problems[number] = str(contradiction)
            contradictory += 1
            continue
        if decided.decision and _word(row["scope"]) == "like":
            alike[kind_of(decided.waiting)] = decided.decision
    outcome.notes += [f"{path}, row {number}: {problem}" for number, problem in problems.items()]
    # Where more rows contradict themselves than fit, a column was sorted or moved alone.
    if contradictory >= _MANY and contradictory > sum(bool(each.decision) for each in rows):
        why = "more rows contradict themselves than fit: was a column sorted or moved alone?"
        outcome.notes.append(f"{path}: nothing is taken, {why} Mend that, and import it again")
        return []
    for each in rows:
        general = alike.get(kind_of(each.waiting), "")
        each.decision = each.decision or (general if general in (KEEP, DROP) else "")
    outcome.decided += Counter(open=sum(not each.decision for each in rows))
    return [each for each in rows if each.decision]


def kind_of(waiting: room.Waiting) -> tuple[str, tuple[str, ...]]:
    """Return what makes two rows of one kind: the file and the reasons."""
    return waiting.question.document, tuple(sorted({code for code, _ in waiting.found}))


def _misplaced(row: Mapping[str, str], known: Mapping[str, room.Waiting], seen: set[str]) -> str | None:
    """Return why a row is none of this build's; None where it is, once."""
    name = row["id"]
    if name not in known:
        why = "settled already, changed since, or another dataset's"
        return f"{name or 'no ID'}: no question that waits in this build ({why})"
    if name in seen:
        return f"{name} stands twice: the first row counts"
    seen.add(name)
    if row["version"] != known[name].version:
        return f"{name} has changed since the workbook was written: export it again"
    return None


def _read_row(at: int, row: Mapping[str, str], known: Mapping[str, room.Waiting]) -> DecidedRow:
    """Return a row; its decision is empty where nobody decided."""
    name, word, text = row["id"], row["decision"], row["text"]
    waiting = known[name]
    decision = _word(word)
    if word and decision not in room.DECISIONS:
        raise ContradictoryRowError(f"{name}: the decision {word!r} is none of {', '.join(room.DECISIONS.values())}")
    if row["scope"] and _word(row["scope"]) != "like":
        raise ContradictoryRowError(f"{name}: the scope {row['scope']!r} is not {room.FORM['words']['like'][0]}")
    base = waiting.base
    owner = next((each for each in known.values() if each is not waiting and _same(each.base.text, text)), None)
    if not _same(base.text, text) and (owner or fuzz.ratio(base.text, text) < _ALIKE):
        whose = f"is that of {owner.question.question_id}" if owner else "has little of the question's"
        raise ContradictoryRowError(f"{name}: the text beside it {whose}; were single columns sorted? Not applied")
    key = "" if _removes(row["key"]) else row["key"]
    return _decided(DecidedRow(at, waiting, decision, text, key, row["note"], row["explanation"]))


def _decided(row: DecidedRow) -> DecidedRow:
    """Return a row whose decision fits what was edited."""
    base, name = row.waiting.base, row.waiting.question.question_id
    as_it_was = _same(legal(base.explanation or "")[: sheets.LONGEST], row.explanation)  # as much as a cell holds
    if as_it_was or (not base.explanation and _removes(row.explanation)):
        row = replace(row, explanation="")
    if row.decision == CORRECT and base.key and not row.key:
        others = f"{room.DECISIONS[DROP]} or {room.DECISIONS[UNSURE]}"
        raise ContradictoryRowError(f"{name}: its key was emptied: write it, or choose {others}")
    edited = (base.key and not _same(base.key, row.key)) or row.explanation or not _same(base.text, row.text)
    if row.decision == KEEP and edited:
        why = "to be kept, but text, key or explanation are not its own; was a column sorted alone?"
        raise ContradictoryRowError(f"{name}: {why} Choose {room.DECISIONS[CORRECT]} if they are meant so")
    labels = {line.strip()[:1] for line in row.text.split("\n")}
    if row.decision == KEEP and not {char for char in row.key.upper() if char.isalpha()} <= labels:
        raise ContradictoryRowError(
            f"{name}: its key {row.key} names no option: correct one of them, or choose {room.DECISIONS[DROP]}"
        )
    changed = not _same(base.text, row.text) or not _same(base.key, row.key) or bool(row.explanation)
    if row.decision == room.TAKE:
        if changed or not row.waiting.proposals:
            why = "it was edited, too" if row.waiting.proposals else "there is no proposal to take"
            raise ContradictoryRowError(f"{name}: {why}: edit it and choose {room.DECISIONS[CORRECT]}")
        try:
            new = row.waiting.proposed
        except editable.UnreadableTextError as error:
            edit = f"{name}: {error}: edit it and choose {room.DECISIONS[CORRECT]}"
            raise ContradictoryRowError(edit) from None
        explanation = (new.explanation or min(_REMOVED)) if new.explanation != base.explanation else ""
        row = replace(row, decision=CORRECT, text=new.text, key=new.key, explanation=explanation)
        changed = new != base
    if changed and not row.decision:
        raise ContradictoryRowError(f"{name} was changed, but not decided: choose {room.DECISIONS[CORRECT]}")
    if row.decision == CORRECT and not changed:
        remedy = f"; to remove the explanation, write {room.FORM['removed']['words'][0]} in its cell"
        how = remedy if base.explanation else ""
        raise ContradictoryRowError(f"{name}: to be corrected, but text, key and explanation are as they were{how}")
    return replace(row, decision=CORRECT) if row.decision == KEEP and changed else row


def _removes(text: str) -> bool:
    return text.strip().casefold() in _REMOVED


def _word(text: str) -> str:
    """Return the kind of a decision or scope; ``?`` where the word is unknown, nothing where there is none."""
    first = text.split(maxsplit=1)[0].casefold() if text.strip() else ""
    return room.WORDS.get(first, "?") if first else ""


def _same(one: str, other: str) -> bool:
    return one.split() == other.split()


def read_cells(path: Path) -> dict[int, dict[str, str]]:
    """Return the rows of a workbook or CSV file by their numbers, cells by the names of columns, and ``""`` for none.

    Raises ``UserError`` where a column is missing or there twice; one that people write into may have been removed,
    and not renamed.
    """
    rows, begin = _table(path)
    names = [_column(title) for title in (rows[begin] if rows else [])]
    needed = _NEEDED if all(names) else (*_NEEDED, "scope", "explanation", "note")
    if missing := [name for name in needed if name not in names]:
        heads_missing = ", ".join(repr(room.COLUMNS[name][0]) for name in missing)
        raise UserError(f"{path} has no column {heads_missing}: it is no workbook of `review sheet export --waiting`")
    if twice := [name for name in needed if names.count(name) > 1]:
        raise UserError(f"{path} has two columns {room.COLUMNS[twice[0]][0]!r}: remove one of them")
    empty = dict.fromkeys(room.COLUMNS, "")
    return {
        number: empty | {name: cell for name, cell in zip(names, row, strict=False) if name}
        for number, row in enumerate(rows[begin + 1 :], start=begin + 2)
        if any(row)
    }


def _table(path: Path) -> tuple[list[list[str]], int]:
    """Return the rows of the sheet, and which of them names its columns: a title may stand above."""
    sheets_of_book, _ = open_sheets(path)
    rows = sheets_of_book.get(room.SHEET) or next(iter(sheets_of_book.values()), [])
    heads = [len({*map(_column, row)} & _OWN) for row in rows[:_TITLES]]
    return rows, heads.index(max(heads)) if heads else 0


def _column(title: str) -> str:
    """Return the name of the column that a head names: ``解析``, ``Explanation`` or both; nothing where it is none."""
    names = [(name, re.split(r"[\s（]", head)[:2]) for name, (head, _) in room.COLUMNS.items()]
    heads = {word.casefold(): name for name, words in names for word in words}
    return next((heads[word] for word in re.split(r"[\s（(]", title.casefold()) if word in heads), "")


def is_waiting(path: Path) -> bool:
    """Return whether a file is a workbook of this kind, though a column may be missing, and not an expert's."""
    try:
        rows, begin = _table(path)
    except UserError:
        return False
    return bool(rows) and len({*map(_column, rows[begin])} & _OWN) > 1


def take_up(params: ReviewParams, context: Context) -> int:
    """Remember what verifiers decided of questions that still wait; return how many others were decided alike.

    Only keep and drop are given to others: those of the same file that wait for the same reasons and that nobody has
    decided. They are kept beside the decisions of workbooks, for they are no annotations of the server.
    """
    pulled = folder.read_pulled(context.build, projects.VERIFICATION)
    verdicts = list(Correction.from_frame(pulled.corrections.filter(pl.col("field") == editable.VERDICT)))
    if not verdicts:
        return 0
    known = {each.question.question_id: each for each in room.waiting_rows(context.build)[0]}
    corrected = {*pulled.corrections.filter(pl.col("field") != editable.VERDICT)["annotation_id"]}
    answers = pulled.annotations.select("annotation_id", "answer").drop_nulls().iter_rows()
    results = ((name, json.loads(answer)["result"]) for name, answer in answers)
    # the annotations that hold for all of their kind
    for_all = {name for name, result in results if any(item.get("from_name") == screen.SCOPE for item in result)}
    workbooks = folder.read_pulled(context.build, folder.SHEETS)
    decided = {*workbooks.corrections["question_id"], *(each.question_id for each in verdicts)}
    settled, alike = [], {}
    for verdict in verdicts:
        waiting = known.get(verdict.question_id)
        if waiting is None or waiting.question.content_hash != verdict.content_hash:
            continue
        kind = CORRECT if verdict.annotation_id in corrected else str(verdict.after)
        settled += DecidedRow.of(waiting, kind).settled(verdict.by, verdict.updated_at)
        if verdict.annotation_id in for_all and kind in (KEEP, DROP):
            alike[kind_of(waiting)] = verdict
    rows = PulledRows()
    for name, waiting in known.items():
        if name not in decided and (like := alike.get(kind_of(waiting))) is not None:
            row = DecidedRow.of(waiting, str(like.after), f"同 as {like.question_id}")
            rows.extend(row.read(like.by, datetime.fromisoformat(like.updated_at)))
            settled += row.settled(like.by, like.updated_at)
    folder.remember_settled(context.build, settled)
    if rows.corrections:
        sheets.take_in([rows], params, context)
    return len(rows.corrections)
