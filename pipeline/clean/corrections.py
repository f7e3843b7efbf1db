"""Texts of questions put right: tidied, column by column, and corrected by people. Pure.

Each text that tidying changed is kept as it was. A correction applies where a question still says what it said then.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from build_dataset.annotation.label_studio.editable import ANSWER, EXPLANATION, SHARED, STEM, VERDICT
from build_dataset.pipeline.characters import UNREADABLE
from build_dataset.pipeline.clean.filters import FilterVerdict
from build_dataset.pipeline.releases import hashes_of
from build_dataset.pipeline.stage import Tables
from build_dataset.pipeline.text import MARKED, TIDIABLE, tidy, tidy_together
from build_dataset.schemas.annotations import Correction, CorrectionStatus
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.places import OPTION
from build_dataset.schemas.questions import Option, Question, ReviewItem, TextChange

_OPTIONAL = ("shared_stem", "explanation", "comment")  # absent when nothing visible is left of them
_UNASKED = ("explanation", "comment")
"""Texts that ask nothing: □ takes the place of characters that cannot be read. Questions with such wait."""
_TEXTS = ("stem", *_OPTIONAL)
_UNHASHED = (ANSWER, EXPLANATION)


def tidy_questions(questions: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The questions with tidy texts and the hash of what they now say; and a ``TextChange`` table of what changed."""
    tidied = questions.with_columns(_tidy_column(questions[name]) for name in _TEXTS)
    options = questions.select("question_id", "options").explode("options").unnest("options")
    # Each option alone, but those of a question together where markup stands in them.
    marked = pl.col("text").str.contains(MARKED).any().over("question_id")
    together = options.with_row_index().filter(marked).group_by("question_id").agg("index", "text")
    joint = pl.Series([text for row in together["text"].to_list() for text in tidy_together(row)], dtype=pl.String)
    tidy_options = options.with_columns(_tidy_column(options["text"]).scatter(together["index"].explode(), joint))
    texts: list[tuple[pl.Series, str | pl.Series, pl.Series, pl.Series]] = [
        *((questions["question_id"], name, questions[name], tidied[name]) for name in _TEXTS),
        (options["question_id"], "option:" + options["label"], options["text"], tidy_options["text"]),
    ]
    schema, differing = TextChange.polars_schema(), pl.col("before").ne_missing(pl.col("after"))
    changes = [pl.DataFrame(dict(zip(schema, columns, strict=True)), schema).filter(differing) for columns in texts]
    differences = pl.concat(changes).sort("question_id", "part")
    changed = tidy_options.filter(pl.col("question_id").is_in(changes[-1]["question_id"].unique().implode()))
    again = changed.group_by("question_id", maintain_order=True).agg(options=pl.struct("label", "text"))
    tidied = tidied.update(again, on="question_id").select(questions.columns)
    changed = tidied.filter(pl.col("question_id").is_in(differences["question_id"].unique().implode()))
    hashes = changed.select("question_id", content_hash=hashes_of(changed))
    return tidied.update(hashes, on="question_id"), differences


def _tidy_column(texts: pl.Series) -> pl.Series:
    """Tidy what may need it: a glance at all texts takes a twentieth of tidying them."""
    doubtful = texts.str.contains(f"{TIDIABLE}|{UNREADABLE}") | (texts.str.normalize("NFC") != texts)
    if texts.name in _OPTIONAL:
        doubtful |= texts == ""  # "" becomes absent
    rows = doubtful.fill_null(value=False).arg_true()
    made: list[str | None] = [tidy(text) for text in texts.gather(rows).to_list()]
    if texts.name in _UNASKED:
        made = [text and re.sub(UNREADABLE, "□", text) for text in made]  # U+E123 → □
    if texts.name in _OPTIONAL:
        made = [text or None for text in made]  # " \u3000" → null
    return texts.clone().scatter(rows, pl.Series(made, dtype=pl.String))


OUTDATED, DROPPED = "correction_outdated", "dropped_by_expert"


@dataclass
class Patches:
    """A table of questions after corrections."""

    questions: pl.DataFrame
    applied: list[Correction] = field(default_factory=list)  # those that changed something or decided
    kept: set[str] = field(default_factory=set)
    """Questions that somebody verified: what doubts there were are answered."""
    verdicts: dict[str, FilterVerdict] = field(default_factory=dict)
    """Questions that somebody dropped, or whose correction was made on another text."""


def patch_questions(questions: pl.DataFrame, corrections: pl.DataFrame | None) -> Patches:
    """Apply the corrections that count."""
    patches = Patches(questions)
    if corrections is None or corrections.is_empty():
        return patches
    wanted = _accepted(corrections)  # rejected and superseded ones stay in the log
    _spread(questions, wanted)
    changed = []
    for question in Question.from_frame(questions.filter(pl.col("question_id").is_in(list(wanted)))):
        corrected, applied, outdated = _apply(question, wanted[question.question_id])
        patches.applied += applied
        if corrected != question:
            changed.append(corrected)
        _judge(question.question_id, applied, outdated, patches)
    if changed:
        again = Question.to_frame(changed).select(questions.columns)
        patches.questions = questions.update(again, on="question_id", include_nulls=True)
    return patches


def _accepted(corrections: pl.DataFrame) -> dict[str, list[Correction]]:
    """Corrections that count, by question; of several that say the same, the first, in the name of all."""
    accepted: dict[str, dict[tuple[str, str], Correction]] = {}
    for correction in Correction.from_frame(corrections):
        if correction.status is CorrectionStatus.ACCEPTED:
            mine, key = accepted.setdefault(correction.question_id, {}), (correction.field, correction.content_hash)
            first = mine.setdefault(key, correction)
            if correction.by not in (names := first.by.split(", ")):
                mine[key] = first.model_copy(update={"by": ", ".join([*names, correction.by])})
    return {question_id: list(corrected.values()) for question_id, corrected in accepted.items()}


def _apply(
    question: Question, corrections: Sequence[Correction]
) -> tuple[Question, list[Correction], list[Correction]]:
    """Apply corrections to a question whose texts are tidy."""
    # A correction goes onto the text that it was made on, or onto what others made of that text, unless the question
    # says so already. Everything else is outdated: better OCR, another file or key came after it, and a person has to
    # look. Returned are the question, the corrections that changed something or decided, in order, and the outdated.
    waiting = sorted(corrections, key=lambda patch: (patch.updated_at, patch.field))  # oldest first
    applied: list[Correction] = []
    while due := [patch for patch in waiting if patch.content_hash == question.content_hash]:
        fields = question_fields(question)  # no hash covers key and explanation: as they were, missing, or right
        fitting = [it for it in due if it.field not in _UNHASHED or fields[it.field] in (None, it.before, it.after)]
        unfit = [patch for patch in due if patch not in fitting]
        waiting = [patch for patch in waiting if patch not in due] + unfit
        changing = [patch for patch in fitting if _changes(question, patch)]
        applied += [patch for patch in fitting if patch in changing or patch.field == VERDICT]
        if not changing:
            break
        question = _changed(question, changing)  # its hash is another now: what others made of it may fit
    outdated = [patch for patch in waiting if _changes(question, patch)]
    outdated += [patch for patch in waiting if patch.field == VERDICT and patch.after == "drop"]
    return question, applied, outdated


def _changes(question: Question, correction: Correction) -> bool:
    """Return whether a correction of a text or a key differs from the question."""
    return correction.field != VERDICT and question_fields(question).get(correction.field) != correction.after


def question_fields(question: Question) -> dict[str, str | None]:
    """Return the texts of a question and its key, by the names that corrections call them, in reading order."""
    texts = {SHARED: question.shared_stem, STEM: question.stem}
    texts |= {f"{OPTION}{option.label}": option.text for option in question.options}
    return texts | {ANSWER: "".join(question.answer or ()) or None, EXPLANATION: question.explanation}


def _changed(question: Question, corrections: Sequence[Correction]) -> Question:
    texts = question_fields(question) | {correction.field: correction.after for correction in corrections}
    named = sorted((name, text) for name, text in texts.items() if name.startswith(OPTION) and text is not None)
    options = [Option(label=name.removeprefix(OPTION), text=text) for name, text in named]
    stem, shared = texts[STEM] or question.stem, texts[SHARED]
    changes: dict[str, object] = {"stem": stem, "shared_stem": shared, "options": options}
    if any(correction.field == ANSWER for correction in corrections):
        changes |= {"answer": list(texts[ANSWER] or "") or None, "accepted_answers": None}
    changes[EXPLANATION] = texts[EXPLANATION]
    changes["content_hash"] = content_hash(stem, [option.text for option in options], shared)
    return question.model_copy(update=changes)


def _short(text: str | None) -> str:
    return "nothing" if text is None else repr(text if len(text) <= 30 else text[:29] + "…")


def verified_questions(tables: Tables) -> pl.DataFrame:
    """Questions that waited in parse and that somebody verified or corrected since; a ``Question`` table."""
    if "corrections" not in tables or "review" not in tables:
        return Question.to_frame([])
    wanted = list(_accepted(tables["corrections"]))
    concerns = pl.col("question_ids").list.eval(pl.element().is_in(wanted)).list.any()
    items = ReviewItem.from_frame(tables["review"].filter(pl.col("item_id").is_in(wanted) | concerns))
    return Question.to_frame([question for question in _questions(items) if question.question_id in wanted])


def tidied_items(items: Iterable[ReviewItem]) -> dict[str, Question]:
    """The questions inside review items, tidy, by id; items that hold none are passed over."""
    tidy, _ = tidy_questions(Question.to_frame(_questions(items)))
    return {question.question_id: question for question in Question.from_frame(tidy)}


def _questions(items: Iterable[ReviewItem]) -> list[Question]:
    questions: dict[str, Question] = {}
    for item in items:
        content = json.loads(item.item) if item.item else None
        for fields in content if isinstance(content, list) and item.stage == "parse" else [content]:
            if isinstance(fields, dict) and fields.get("question_id") in (item.item_id, *item.question_ids):
                absent = dict.fromkeys(Question.model_fields)  # some stages leave out what is null
                questions.setdefault(fields["question_id"], Question.model_validate(absent | fields))
    return list(questions.values())


def _judge(question_id: str, applied: Sequence[Correction], outdated: Sequence[Correction], patches: Patches) -> None:
    """Record what people decided of a question: the last verdict counts."""
    verdict = next((patch.after for patch in reversed(applied) if patch.field == VERDICT), None)
    if verdict == "drop":
        who = ", ".join(dict.fromkeys(patch.by for patch in applied if patch.after == "drop"))
        notes = "; ".join(dict.fromkeys(patch.note for patch in applied if patch.note))
        detail = f"dropped by {who}{f': {notes}' if notes else ''}"
        patches.verdicts[question_id] = FilterVerdict(DROPPED, detail, "reject")
    elif outdated:
        said = "{} changed {} from {} to {}, and the question says something else now"
        told = ((patch.by, patch.field, _short(patch.before), _short(patch.after)) for patch in outdated)
        conflict = "; ".join(said.format(*parts) for parts in told)
        patches.verdicts[question_id] = FilterVerdict(OUTDATED, conflict, "review")
    elif verdict == "keep":
        patches.kept.add(question_id)


def _spread(questions: pl.DataFrame, wanted: dict[str, list[Correction]]) -> None:
    """A shared case that was corrected at one question is corrected at all that share it, in place."""
    for correction in [each for corrections in list(wanted.values()) for each in corrections if each.field == SHARED]:
        here = questions.filter(pl.col("question_id") == correction.question_id)
        if here.is_empty() or here["group_id"][0] is None:  # merged since, or no group
            continue
        same = pl.col("document").eq(here["document"][0]) & pl.col("group_id").eq(here["group_id"][0])
        shared = pl.col("shared_stem").eq_missing(here["shared_stem"][0])
        others = questions.filter(same & shared & (pl.col("question_id") != correction.question_id))
        for question_id, content in others.select("question_id", "content_hash").iter_rows():
            corrections: Sequence[Correction] = wanted.setdefault(question_id, [])
            if not any(each.field == SHARED for each in corrections):  # their own correction of the case counts first
                changes = {"question_id": question_id, "content_hash": content}
                wanted[question_id] = [*corrections, correction.model_copy(update=changes)]
