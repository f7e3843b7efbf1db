"""Corrections that count, and the flags that they answer. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from annotation.label_studio.editable import ANSWER, OPTION, SHARED, STEM, VERDICT
from schemas.corrections import Correction, CorrectionStatus

ALONE = frozenset({"adjudication", "verification"})
"""Projects in which one person decides."""
_ENOUGH = 2
_ACCEPTED, _PROPOSED, _DECLINED = (
    CorrectionStatus.ACCEPTED,
    CorrectionStatus.PROPOSED,
    CorrectionStatus.DECLINED,
)


def judged(
    corrections: Iterable[Correction], ruled: Iterable[str], adjudicators: Iterable[str] = ()
) -> list[Correction]:
    """Corrections with their status, in the order of question, field and person.

    A person who decides alone (the adjudicator, who saw what the experts proposed; whoever verified what was read)
    has the last word. Without one, what two experts write alike counts; what one writes is a proposal.

    Args:
        corrections: at most one a question, field, person and project.
        ruled: questions that an adjudicator has dealt with: what nobody took up there is declined.
        adjudicators: people whose word is final wherever they say it.
    """
    closed, final = set(ruled), set(adjudicators)
    groups: dict[tuple[str, str, str], list[Correction]] = {}
    for correction in corrections:
        key = (correction.question_id, correction.field, correction.content_hash)
        groups.setdefault(key, []).append(correction)
    found = []
    for (question_id, _, _), group in sorted(groups.items()):
        winner = _winner(group, final, closed=question_id in closed)
        for each in sorted(group, key=lambda c: (c.by, c.origin, c.annotation_id)):
            status = _ACCEPTED if winner is not None and each.after == winner.after else _DECLINED
            if winner is None and question_id not in closed:
                status = _PROPOSED
            found.append(each.model_copy(update={"status": status}))
    return found


def answered_flags(corrections: Iterable[Correction]) -> dict[str, set[str]]:
    """Kinds of flags, by question, that an accepted correction has answered."""
    found: dict[str, set[str]] = {}
    for correction in corrections:
        if correction.status is _ACCEPTED:
            found.setdefault(correction.question_id, set()).update(_flags(correction))
    return found


def _winner(group: Sequence[Correction], final: set[str], *, closed: bool) -> Correction | None:
    rulings = [each for each in group if each.origin in ALONE or each.by in final]
    if rulings:
        return max(rulings, key=lambda each: (each.updated_at, each.annotation_id))
    if closed:
        return None
    people = {each.by for each in group}
    alike = len({each.after for each in group}) == 1
    return group[0] if len(people) >= _ENOUGH and alike else None


def _flags(correction: Correction) -> set[str]:
    if correction.field == ANSWER:
        return {"wrong_key"}
    if correction.field in (STEM, SHARED) or correction.field.startswith(OPTION):
        return {"wrong_stem"}
    assert correction.field == VERDICT
    # Whoever verifies sees what is flagged, corrects it in the same step and says that the question is sound.
    whole = {"wrong_key", "wrong_stem"} if correction.origin == "verification" else set()
    return {"out_of_scope", *whole}
