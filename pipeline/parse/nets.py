"""Nets: all questions of a source, a paper or a table, are looked at together before any is kept.

A fault of a whole source shows at once there: furniture at the end of every last option, one stem again and again, a
rule that most of its questions break. Such a doubt is one item with all its questions; a line under ``[sources]``
settles it. Rows and papers hand over plain questions with the doubts about them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple, get_args

from build_dataset.pipeline.parse.heads import is_case
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.dataset import Acceptable, SourceParams
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Option, Question, QuestionType

_P = Patterns(__name__)
SEVERAL, KNOWN = 8, 3  # least number of questions for a fault of a source; of a kind of furniture that is known
OFTEN = 0.1  # share of a source's questions from which on a reason speaks of the source
REPEATED = 0.3  # share of a source's questions at which one text stands in one place
ELSEWHERE = 0.1  # the most that an end of last options may come at other options, of its times at the last
ALIKE, ONE_KEY = 0.3, 0.95  # share of questions with one stem, or with the same options; with one answer
MANY, MANY_KEYS = 12, 20  # least number of questions for that
PASSAGE = 60  # characters that a stem has beside "the passage above" where it holds the passage itself
NEARLY_ALL, LEAST = 0.8, 5  # share of stems that begin alike for that to be no part of them, least characters
LONGEST = 24  # characters of an end that is looked for


@dataclass
class Reading:
    """A question as it was read, and the doubts about it: reasons with details, the first one names it."""

    question: Question
    doubts: list[tuple[str, str]] = field(default_factory=list)


class SourceDoubt(NamedTuple):
    """A doubt about a source: its questions wait together until a person settles it."""

    reason: str
    detail: str
    readings: list[Reading]


class Caught(NamedTuple):
    """A source after all nets."""

    readings: list[Reading]  # those that no doubt about the source stops
    doubts: list[SourceDoubt]
    notes: list[str]  # what was cut off


def cast(name: str, readings: Sequence[Reading], settings: SourceParams | None = None) -> Caught:
    """Look at all questions of a source, in place: cut its furniture off, add doubts, gather those of the source."""
    settings = settings or SourceParams()
    notes = cut_furniture(readings, settings.furniture)
    for reading in readings:
        if why := lacks_case(reading.question):
            reading.doubts.append(("case_missing", why))
    found = {**repeated_texts(readings), **alike(readings)}
    accepted = {*settings.accept, *(["explanation_disagrees"] if settings.explanations == "ignore" else [])}
    for reading in readings:
        reading.doubts = [doubt for doubt in reading.doubts if doubt[0] not in accepted]
    told = {reason: detail for reason, detail in found.items() if reason not in accepted}
    if told:
        detail = "; ".join(told.values())
        whole = SourceDoubt(next(iter(told)), f"{name}: {detail}; {_remedy(name, next(iter(told)))}", [*readings])
        return Caught([], [whole], notes)
    return _gather(name, readings, notes)


def _gather(name: str, readings: Sequence[Reading], notes: list[str]) -> Caught:
    """Make one doubt of each reason that more than a tenth of the questions wait for."""
    times = Counter(reason for reading in readings for reason in {reason for reason, _ in reading.doubts})
    least = max(SEVERAL, OFTEN * len(readings))
    often = {reason for reason in get_args(Acceptable) if times[reason] >= least}
    own = group_values(
        (reading.doubts[0][0], reading)
        for reading in readings
        if reading.doubts and {reason for reason, _ in reading.doubts} <= often
    )
    doubts = []
    for reason, waiting in own.items():
        shown = "; ".join(f"no. {one.question.number}: {one.doubts[0][1]}" for one in waiting[:2])
        detail = f"{name}: {len(waiting)} of {len(readings)} questions: {shown}; {_remedy(name, reason)}"
        doubts.append(SourceDoubt(reason, detail, waiting))
    gathered = {id(reading) for doubt in doubts for reading in doubt.readings}
    return Caught([one for one in readings if id(one) not in gathered], doubts, notes)


def _remedy(name: str, reason: str) -> str:
    """Return the line of dataset.toml that settles a doubt about a source."""
    line = 'explanations = "ignore"' if reason == "explanation_disagrees" else f'accept = ["{reason}"]'
    return f'if they are right: [sources."{name}"] {line}'


# 1. Repetition


def cut_furniture(readings: Sequence[Reading], declared: Sequence[str]) -> list[str]:
    """Cut known and declared furniture off, in place, and tell what was cut: Answer, （4分）, 查看答案, 2．."""
    notes = []
    forms = [(row["name"], row["at"], re.compile(row["pattern"]), "comment" in row) for row in _P.rows("furniture")]
    forms += [(text, at, _edges(text), False) for text in declared for at in _PLACES]
    for name, at, form, comment in forms:
        cut = [(one, found) for one in readings if (found := form.search(_at(one, at)))]
        if len(cut) >= (1 if name in declared else KNOWN):
            for one, found in cut:
                _replace(one, at, form.sub("", found.string), found[0].strip() if comment else None)
            notes.append(f"{name} was cut off {_PLACES[at]} of {len(cut)} questions")
    return notes


def _edges(text: str) -> re.Pattern[str]:
    return re.compile(rf"\s*{re.escape(text)}\s*\Z|\A\s*{re.escape(text)}\s*")


_PLACES = {"last": "the last options", "stem": "the stems", "explanation": "the explanations"}


def _at(reading: Reading, place: str) -> str:
    """Return the text in a place: of the last option, the stem or the explanation."""
    question = reading.question
    if place == "last":
        return question.options[-1].text if question.options else ""
    return (question.stem if place == "stem" else question.explanation) or ""


def _replace(reading: Reading, place: str, text: str, comment: str | None) -> None:
    question = reading.question
    new: dict[str, Any] = {"comment": question.comment or comment}
    if place == "last":
        new["options"] = [*question.options[:-1], Option(label=question.options[-1].label, text=text)]
    else:
        new[place] = text
    changed = question.model_copy(update=new)
    hashed = content_hash(changed.stem, (option.text for option in changed.options), changed.shared_stem)
    reading.question = changed.model_copy(update={"content_hash": hashed})


def repeated_texts(readings: Sequence[Reading]) -> dict[str, str]:
    """Return the doubt about a text that stands at one place of many questions and is no known furniture."""
    found = [("ends of last options", *_repeated_end(readings))]
    found.append(("beginnings of stems", *_repeated_beginning(readings)))
    for place, unit in (("beginnings of stems", _P.first_unit), ("ends of stems", _P.last_unit)):
        units = (_masked(match[0]) for one in readings if (match := unit.search(one.question.stem)))
        found.append((place, *_commonest(units)))
    least = max(SEVERAL, REPEATED * len(readings))
    told = [f"{text!r} at {times} {place}" for place, text, times in found if times >= least]
    return {"repeated_text": "; ".join(told)} if told else {}


def _masked(text: str) -> str:
    return re.sub(r"\d+", "0", text.strip())


def _commonest(texts: Iterable[str]) -> tuple[str, int]:
    return next(iter(Counter(filter(_P.says.search, texts)).most_common(1)), ("", 0))


def _repeated_beginning(readings: Sequence[Reading]) -> tuple[str, int]:
    """Return the beginning that nearly all stems share: 某某网校：选择题; 下列关于 begins half of them at most."""
    stems = sorted(one.question.stem for one in readings)
    spare = int((1 - NEARLY_ALL) * len(stems))
    pairs = zip(stems, stems[len(stems) - 1 - spare :], strict=False) if len(stems) >= MANY else ()
    ends = (len(list(takewhile(lambda both: both[0] == both[1], zip(*pair, strict=False)))) for pair in pairs)
    size, first = max(((end, -at) for at, end in enumerate(ends)), default=(0, 0))
    shared = stems[-first][:size] if size >= LEAST else ""
    return (shared, len(stems) - spare) if re.search(r"[:：】\]）)|]", shared) else ("", 0)


def _repeated_end(readings: Sequence[Reading]) -> tuple[str, int]:
    """Return the longest end that many last options share, that other options lack, and how often it comes.

    A unit ends other options too, and 以上都不是 is a whole option; furniture follows texts of all kinds.
    """
    listed = [[_masked(option.text) for option in one.question.options] for one in readings]
    last = [texts[-1] for texts in listed if len(texts) > 1]
    least = max(SEVERAL, REPEATED * len(readings))
    if _commonest(text[-2:] for text in last)[1] < least:  # most sources
        return "", 0
    ends = Counter(text[-size:] for text in last for size in range(2, min(LONGEST, len(text) - 1) + 1))
    for end, times in sorted(ends.items(), key=lambda one: -len(one[0])):
        if times < least:
            continue
        before = {text.removesuffix(end) for text in last if text.endswith(end)}
        others = sum(text.endswith(end) for texts in listed for text in texts[:-1])
        if len(before) > times / 4 and others <= ELSEWHERE * times:
            return end, times
    return "", 0


# 3. Self-contained


def lacks_case(question: Question) -> str | None:
    """Return why a question cannot be answered by itself: it speaks of a case or passage that is not there."""
    if question.shared_stem or question.attachments or question.question_type is QuestionType.B1:
        return None
    stem = question.stem
    found = None if is_case(stem) or _P.tells.search(stem) else _P.refers.search(stem)
    width = 1 if re.search(r"[\u4e00-\u9fff]", stem) else 3  # a Chinese character says as much as three letters
    if found is None or len(stem) - len(found[0]) > PASSAGE * width:
        return None
    return f"{found[0]!r}: it is not there"


# 4. Alike


def alike(readings: Sequence[Reading]) -> dict[str, str]:
    """Return doubts about many questions that have one stem, the same options or one answer: they were misread."""
    own = [one.question for one in readings]
    apart = [question for question in own if question.group_id is None]
    texts = ("|".join(option.text for option in question.options) for question in apart)
    told: dict[str, str] = {}
    checks: Sequence[tuple[str, str, Iterable[str], float, int]] = (
        ("stems_alike", "one stem", (question.stem for question in apart if question.shared_stem is None), ALIKE, MANY),
        ("options_repeat", "the same options", (text for text in texts if not _P.codes.fullmatch(text)), ALIKE, MANY),
        ("keys_alike", "one answer", ("".join(one.answer) for one in own if one.answer), ONE_KEY, MANY_KEYS),
    )  # fmt: skip
    for reason, what, values, share, least in checks:
        value, times = _commonest(values)
        if times >= max(least, share * len(own)):
            told[reason] = f"{times} of {len(own)} questions have {what}: {value[:60]!r}"
    return told
