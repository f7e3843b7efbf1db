"""People's corrections, applied where a question still says what it said when they were made. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.label_studio.editable import ANSWER, OPTION, SHARED, STEM, VERDICT
from schemas.corrections import Correction, CorrectionStatus
from schemas.identity import content_hash
from schemas.questions import Option, Question

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


def accepted(corrections: Iterable[Correction]) -> dict[str, list[Correction]]:
    """Corrections that count, by question; of several that say the same, the first."""
    found: dict[str, dict[tuple[str, str], Correction]] = {}
    for each in corrections:
        if each.status is CorrectionStatus.ACCEPTED:
            found.setdefault(each.question_id, {}).setdefault((each.field, each.content_hash), each)
    return {question_id: list(own.values()) for question_id, own in found.items()}


def apply(question: Question, corrections: Sequence[Correction]) -> Corrected:
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
        changing = [
            each for each in fitting if each.field != VERDICT and _value(question, each.field) != each.after
        ]
        applied += [each for each in fitting if each in changing or each.field == VERDICT]
        if not changing:
            break
        question = _changed(question, changing)
    outdated = [
        each for each in waiting if each.field != VERDICT and _value(question, each.field) != each.after
    ]
    outdated += [each for each in waiting if each.field == VERDICT and each.after == "drop"]
    verdicts = [each.after for each in applied if each.field == VERDICT]
    return Corrected(question, applied, outdated, verdicts[-1] if verdicts else None)


def _fits(question: Question, correction: Correction) -> bool:
    """Return whether what is corrected is still what it was; the hash of a question leaves its key out."""
    return correction.field != ANSWER or _value(question, ANSWER) in (
        None,
        correction.before,
        correction.after,
    )


def _value(question: Question, field: str) -> str | None:
    if field == STEM:
        return question.stem
    if field == SHARED:
        return question.shared_stem
    if field == ANSWER:
        return "".join(question.answer) if question.answer else None
    texts = {f"{OPTION}{option.label}": option.text for option in question.options}
    return texts.get(field)


def _changed(question: Question, corrections: Sequence[Correction]) -> Question:
    values: Mapping[str, str | None] = {each.field: each.after for each in corrections}
    texts = {f"{OPTION}{option.label}": option.text for option in question.options}
    texts |= {name: text for name, text in values.items() if name.startswith(OPTION) and text is not None}
    gone = {name for name, text in values.items() if name.startswith(OPTION) and text is None}
    options = [
        Option(label=name.removeprefix(OPTION), text=text)
        for name, text in sorted(texts.items())
        if name not in gone
    ]
    changes: dict[str, object] = {
        "stem": values.get(STEM) or question.stem,
        "shared_stem": values.get(SHARED, question.shared_stem),
        "options": options,
    }
    if ANSWER in values:
        changes |= {"answer": list(values[ANSWER] or "") or None, "accepted_answers": None}
    changed = question.model_copy(update=changes)
    texts_now = [option.text for option in changed.options]
    return changed.model_copy(
        update={"content_hash": content_hash(changed.stem, texts_now, changed.shared_stem)}
    )


def _short(text: str | None) -> str:
    return "nothing" if text is None else repr(text if len(text) <= 30 else text[:29] + "…")
