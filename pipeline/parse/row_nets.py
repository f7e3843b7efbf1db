"""Nets over all questions of a source: what is wrong in the whole of it is seen as a whole, and told once.

They work on plain ``Question`` records with their doubts, whatever these were read from.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from build_dataset.pipeline.parse.passages import speaks_of_text
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.questions import Question

_P = Patterns(__name__)
Doubts = list[tuple[str, str]]  # open points of a question: (reason, detail)
Judged = tuple[Question, Doubts]
FEW = 5  # questions from which a rule that fires says something of the source
_TENTH = 0.1  # share of a source that one reason may stop before it is the source that is in doubt
_TYPICAL = 10  # questions that must repeat a text, or a stem, for it to be no chance
_REPEATED = 0.3  # share of stems with one piece at their end, which asks nothing, for it to be none of them
_OPENED = 0.5  # the same of a piece before a mark at their beginning
_ENDED = 0.5  # share of last options with one ending that hardly any other option has
_ALIKE = 0.2  # share of questions with one stem and other options from which the stem is not all that is asked
_CONTRADICTED = 0.03  # share of questions whose explanation speaks against the key; of CMExam's 2,795 it is 0.003
_SHIFTED = 0.3  # share of explanations that conclude a letter from which the keys, not the explanations, may be wrong
_LONGEST = 40  # characters of a repeated text


class BankDoubt(NamedTuple):
    """A doubt about a source that holds for some of its questions, or all, and is settled for all of them at once."""

    reason: str
    detail: str  # with the count, two examples and what to write in dataset.toml
    ids: frozenset[str]


class Repeated(NamedTuple):
    """A text that stands at the same place of many questions."""

    place: str
    text: str  # digits as 0
    times: int


def repeated_texts(stems: Sequence[str], options: Sequence[Sequence[str]]) -> list[Repeated]:
    """Return the texts that stems begin or end with, or last options end with, and that are no part of them.

    查看答案 behind stems that have asked already; " Answer" behind the last option of each question.
    """
    found = []
    ends, starts = Counter(map(stem_end, stems)), Counter(map(stem_start, stems))
    for place, counted, share in (("end of the stem", ends, _REPEATED), ("beginning of the stem", starts, _OPENED)):
        text, count = max(counted.items(), key=lambda one: (bool(one[0]), one[1]), default=("", 0))
        if text and count >= max(_TYPICAL, share * len(stems)) and len({*stems}) > 1:
            found.append(Repeated(place, text, count))
    last = [row[-1] for row in options if len(row) > 1]
    others = [text for row in options for text in row[:-1]]
    for size in range(_LONGEST, 1, -1):
        text, count = next(iter(Counter(one[-size:] for one in last if len(one) > size).most_common(1)), ("", 0))
        if count >= max(_TYPICAL, _ENDED * len(last)) and any(map(str.isalnum, text)):
            if sum(one.endswith(text) for one in others) <= _TENTH * len(others):
                found.append(Repeated("end of the last option", text, count))
            break
    return found


def stem_end(stem: str) -> str:
    """Return what stands behind the question of a stem and asks nothing itself, digits as 0; mostly nothing."""
    found = _P.behind_question.search(stem)
    if (
        found is None
        or len(found["piece"]) > _LONGEST
        or (not found["asked"] and _P.asks.search(found["piece"].strip()))
    ):
        return ""
    return re.sub(r"\d", "0", found["piece"].strip())


def stem_start(stem: str) -> str:
    """Return what stands before a mark at the beginning of a stem, digits as 0: 题目：, [Item 00]; mostly nothing."""
    found = _P.before_stem.match(stem)
    return re.sub(r"\d", "0", found[0].strip()) if found else ""


def outside_text(question: Question) -> str | None:
    """Return why a question cannot stand alone: its stem speaks of a text or a person that nothing shows."""
    if question.shared_stem or question.attachments:
        return None
    said = speaks_of_text(question.stem)
    return f"{said!r} speaks of something outside of the question" if said else None


def source_doubts(judged: Iterable[Judged]) -> list[BankDoubt]:
    """Return the doubts about a source; questions that are in none keep their own."""
    judged = list(judged)
    return [*_stems_alike([question for question, _ in judged]), *_contradicted(judged), *_too_often(judged)]


def _stems_alike(questions: Sequence[Question]) -> list[BankDoubt]:
    """One stem at many questions with other options: a passage or another part of the stem was not read."""
    alone = [one for one in questions if not one.shared_stem and not one.attachments]
    by_stem = group_values((one.stem, one) for one in alone)
    stem, same = max(by_stem.items(), key=lambda pair: len({_said(one) for one in pair[1]}), default=("", []))
    other = len({_said(one) for one in same})
    if other < max(_TYPICAL, _ALIKE * len(questions)):
        return []
    told = f"{other} of {len(questions)} questions have one stem, {stem[:60]!r}, and other options: a part may be lost"
    ids = frozenset(one.question_id for one in questions)
    return [BankDoubt("stems_alike", f'{told}; write shared = "…" or accept = ["stems_alike"]', ids)]


def _said(question: Question) -> tuple[str, ...]:
    return tuple(sorted(option.text for option in question.options))


def _contradicted(judged: Sequence[Judged]) -> list[BankDoubt]:
    """Explanations that speak against many keys: they list wrong options, or the keys are those of other questions."""
    reason = "explanation_disagrees"
    against = [(question, dict(doubts)[reason]) for question, doubts in judged if reason in dict(doubts)]
    if len(against) < max(FEW, _CONTRADICTED * len(judged)):
        return []
    concluding = sum(bool(_P.concludes.search(question.explanation or "")) for question, _ in judged)
    all_of_them = len(against) >= _SHIFTED * max(concluding, 1)
    concerned = [question for question, _ in judged] if all_of_them else [question for question, _ in against]
    whole = "; its keys may be those of other questions" if all_of_them else ""
    told = f"in {len(against)} of {len(judged)} questions the explanation speaks against the key{whole}"
    shown = _shown(against)
    ids = frozenset(question.question_id for question in concerned)
    return [BankDoubt(reason, f'{told} ({shown}); if the keys are right, write explanations = "ignore"', ids)]


def _too_often(judged: Sequence[Judged]) -> list[BankDoubt]:
    """Reasons that let more than a tenth of a source wait: the rule may be wrong about it."""
    found = []
    by_reason = group_values((reason, (one, told)) for one, doubts in judged for reason, told in dict(doubts).items())
    for reason, stopped in by_reason.items():
        if reason != "explanation_disagrees" and len(stopped) > max(FEW, _TENTH * len(judged)):
            told = f"{len(stopped)} of {len(judged)} questions wait for one reason ({_shown(stopped)})"
            how = f'if the source is right, write accept = ["{reason}"]'
            found.append(BankDoubt(reason, f"{told}; {how}", frozenset(one.question_id for one, _ in stopped)))
    return found


def _shown(found: Sequence[tuple[Question, str]]) -> str:
    return "; ".join(f"{question.number}: {told[:80]}" for question, told in found[:2])
