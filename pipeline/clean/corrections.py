"""People's corrections, applied where a question still says what it said when they were made. Pure."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from annotation.label_studio.editable import ANSWER, OPTION, SHARED, STEM, VERDICT
from pipeline.clean.filters import FilterVerdict
from pipeline.clean.tidying import tidy_questions
from pipeline.stage import Tables
from schemas.annotations import Correction, CorrectionStatus
from schemas.identity import content_hash
from schemas.questions import Option, Question, ReviewItem

OUTDATED = "correction_outdated"


@dataclass(frozen=True)
class Corrected:
    """A question after corrections."""

    question: Question
    applied: Sequence[Correction]
    """Those that changed something, in the order in which they did."""
    outdated: Sequence[Correction]
    """Those that were made on another text."""
    verdict: str | None
    """``keep`` or ``drop``, where somebody decided."""

    def conflict(self) -> str:
        """Tell what does not fit, in one line."""
        return "; ".join(
            f"{each.by} changed {each.field} from {_short(each.before)} to {_short(each.after)},"
            f" and the question says something else now"
            for each in self.outdated
        )


def accepted_corrections(corrections: Iterable[Correction]) -> dict[str, list[Correction]]:
    """Corrections that count, by question; of several that say the same, the first."""
    found: dict[str, dict[tuple[str, str], Correction]] = {}
    for each in corrections:
        if each.status is CorrectionStatus.ACCEPTED:
            found.setdefault(each.question_id, {}).setdefault((each.field, each.content_hash), each)
    return {question_id: list(own.values()) for question_id, own in found.items()}


def apply_corrections(question: Question, corrections: Sequence[Correction]) -> Corrected:
    """Apply corrections to a question whose texts are tidy.

    A correction goes onto the text that it was made on, or onto what others made of that text; where the question
    says already what it is to say there is nothing to do. Everything else is outdated: better OCR, another file or
    another key came after it, and a person has to look.
    """
    waiting = sorted(corrections, key=lambda each: (each.updated_at, each.field))
    applied: list[Correction] = []
    while due := [each for each in waiting if each.content_hash == question.content_hash]:
        fitting = [each for each in due if _fits(question, each)]
        waiting = [each for each in waiting if each not in due] + [
            each for each in due if each not in fitting
        ]
        changing = [each for each in fitting if _changes(question, each)]
        applied += [each for each in fitting if each in changing or each.field == VERDICT]
        if not changing:
            break
        question = _changed(question, changing)
    outdated = [each for each in waiting if _changes(question, each)]
    outdated += [each for each in waiting if each.field == VERDICT and each.after == "drop"]
    verdicts = [each.after for each in applied if each.field == VERDICT]
    return Corrected(question, applied, outdated, verdicts[-1] if verdicts else None)


def _fits(question: Question, correction: Correction) -> bool:
    """Return whether the corrected part is unchanged since; the hash of a question does not cover its key."""
    known = (None, correction.before, correction.after)
    return correction.field != ANSWER or _fields(question)[ANSWER] in known


def _changes(question: Question, correction: Correction) -> bool:
    """Return whether a correction of a text or a key differs from the question."""
    return correction.field != VERDICT and _fields(question).get(correction.field) != correction.after


def _fields(question: Question) -> dict[str, str | None]:
    """Return the texts of a question and its key, by the names that corrections call them."""
    said = {STEM: question.stem, SHARED: question.shared_stem, ANSWER: "".join(question.answer or ()) or None}
    return said | {f"{OPTION}{option.label}": option.text for option in question.options}


def _changed(question: Question, corrections: Sequence[Correction]) -> Question:
    said = _fields(question) | {each.field: each.after for each in corrections}
    options = [
        Option(label=name.removeprefix(OPTION), text=text)
        for name, text in sorted(said.items())
        if name.startswith(OPTION) and text is not None
    ]
    stem, shared = said[STEM] or question.stem, said[SHARED]
    changes: dict[str, object] = {"stem": stem, "shared_stem": shared, "options": options}
    if any(each.field == ANSWER for each in corrections):
        changes |= {"answer": list(said[ANSWER] or "") or None, "accepted_answers": None}
    changes["content_hash"] = content_hash(stem, [option.text for option in options], shared)
    return question.model_copy(update=changes)


def _short(text: str | None) -> str:
    return "nothing" if text is None else repr(text if len(text) <= 30 else text[:29] + "…")


DROPPED = "dropped_by_expert"


@dataclass
class Patches:
    """A table of questions after corrections."""

    questions: pl.DataFrame
    applied: list[Correction] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    """Questions that somebody verified: what doubts there were are answered."""
    verdicts: dict[str, FilterVerdict] = field(default_factory=dict)
    """Questions that somebody dropped, or whose correction was made on another text."""


def patch_questions(questions: pl.DataFrame, corrections: pl.DataFrame | None) -> Patches:
    """Apply the corrections that count."""
    if corrections is None or corrections.is_empty():
        return Patches(questions)
    wanted = accepted_corrections(Correction.from_frame(corrections))
    _spread(questions, wanted)
    rows = questions.filter(pl.col("question_id").is_in(list(wanted)))
    found = Patches(questions)
    changed = []
    for question in Question.from_frame(rows):
        result = apply_corrections(question, wanted[question.question_id])
        found.applied += result.applied
        if result.question != question:
            changed.append(result.question)
        _judge(result, found)
    if changed:
        again = Question.to_frame(changed).select(questions.columns)
        found.questions = questions.update(again, on="question_id", include_nulls=True)
    return found


def verified_questions(tables: Tables) -> pl.DataFrame:
    """Questions that waited in parse and that somebody verified or corrected since; a ``Question`` table."""
    empty = Question.to_frame([])
    if "corrections" not in tables or "review" not in tables:
        return empty
    wanted = list(accepted_corrections(Correction.from_frame(tables["corrections"])))
    items = ReviewItem.from_frame(tables["review"].filter(pl.col("item_id").is_in(wanted)))
    return Question.to_frame(_questions(items)) if wanted else empty


def tidied_items(items: Iterable[ReviewItem]) -> dict[str, Question]:
    """The questions inside review items, tidy, by id; items that hold none are passed over."""
    tidy, _ = tidy_questions(Question.to_frame(_questions(items)))
    return {question.question_id: question for question in Question.from_frame(tidy)}


def _questions(items: Iterable[ReviewItem]) -> list[Question]:
    found: dict[str, Question] = {}
    for item in items:
        content = json.loads(item.item) if item.item else None
        if isinstance(content, dict) and content.get("question_id") == item.item_id:
            absent = dict.fromkeys(Question.model_fields)  # some stages leave out what is null
            found.setdefault(item.item_id, Question.model_validate(absent | content))
    return list(found.values())


def _judge(result: Corrected, found: Patches) -> None:
    question_id = result.question.question_id
    if result.verdict == "drop":
        who = ", ".join(dict.fromkeys(each.by for each in result.applied if each.after == "drop"))
        notes = "; ".join(dict.fromkeys(each.note for each in result.applied if each.note))
        found.verdicts[question_id] = FilterVerdict(
            DROPPED, f"dropped by {who}{f': {notes}' if notes else ''}", "reject"
        )
    elif result.outdated:
        found.verdicts[question_id] = FilterVerdict(OUTDATED, result.conflict(), "review")
    elif result.verdict == "keep":
        found.kept.add(question_id)


def _spread(questions: pl.DataFrame, wanted: dict[str, list[Correction]]) -> None:
    """A shared case that was corrected at one question is corrected at all that share it, in place."""
    for correction in [each for own in list(wanted.values()) for each in own if each.field == SHARED]:
        here = questions.filter(pl.col("question_id") == correction.question_id)
        if here.is_empty() or here["group_id"][0] is None:
            continue
        same = pl.col("document").eq(here["document"][0]) & pl.col("group_id").eq(here["group_id"][0])
        shared = pl.col("shared_stem").eq_missing(here["shared_stem"][0])
        others = questions.filter(same & shared & (pl.col("question_id") != correction.question_id))
        for question_id, said in others.select("question_id", "content_hash").iter_rows():
            own: Sequence[Correction] = wanted.setdefault(question_id, [])
            if not any(each.field == SHARED for each in own):
                changes = {"question_id": question_id, "content_hash": said}
                wanted[question_id] = [*own, correction.model_copy(update=changes)]
