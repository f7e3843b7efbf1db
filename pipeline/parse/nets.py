"""Nets: all questions of a source, a paper or a table, are looked at together before any is kept.

A fault of a whole source shows at once there. Five nets, each over all questions of a source:

1. ``Furniture`` cuts off what sites print at many questions; ``repetition`` doubts another text at one place of many.
2. ``passages.use_of`` looks for what is left over of a table; ``paper.left_over`` for lines of a paper.
3. ``self_contained`` doubts questions that speak of a case or a passage that is not there.
4. ``alike`` doubts one stem, one key or the same options at many questions.
5. ``too_often`` makes one doubt of a reason for which many questions wait: the rule may be wrong about the source.

A doubt about a source is one item with all its questions; a line under ``[sources]`` settles it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple, get_args

from build_dataset.pipeline.parse.edges import LONGEST, SHARED, repetition
from build_dataset.pipeline.parse.folding import without_digits
from build_dataset.pipeline.parse.heads import is_case
from build_dataset.pipeline.parse.passages import PERSON_OUTSIDE, TEXT_OUTSIDE, speaks_of_text
from build_dataset.pipeline.patterns import Glance, Patterns, is_latin
from build_dataset.schemas.columns import vocabulary
from build_dataset.schemas.dataset import Acceptable, SourceParams
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Question, QuestionType
from build_dataset.schemas.wording import quoted

_P = Patterns(__name__)
_ASKED_FOR, _PAIRED, _CONCLUDES = map(_P.glance, ("asked_for", "paired", "concludes"))
_FURNITURE = Glance(cache(lambda: [re.compile(row["pattern"]) for row in _P.rows("furniture")]))
Doubts = list[tuple[str, str]]  # open points of a question: reasons with details, the first one names it
MIN_FAULTY = 8  # least number of questions for a fault of a source
KNOWN, KNOWN_SHARE = 3, 0.02  # least number and share of questions with a known kind of furniture
OFTEN = 0.1  # share of a source's questions from which on a reason speaks of the source
CONTRADICTED = 0.03  # the same of explanations that speak against the key; of CMExam's 2,795 it is 0.003
SHIFTED = 0.3  # share of explanations that conclude a letter from which on all keys may be those of other questions
OPENED = 0.5  # share of questions with one explanation from which on it explains none
RISING = 0.8  # share of numbers behind options that are larger than the one before, for those of the next items
ALIKE, ONE_KEY = 0.3, 0.95  # share of questions with one stem, or with the same options; with one answer
MANY, MANY_KEYS = 10, 20  # least number of questions for that
LONG_END, RARER = 10, 4  # characters of an end that last options share; how much rarer a number is at another option
_NEAR = 600  # characters before the end of a text within which furniture of its end begins: nine tags are 380


@dataclass
class Reading:
    """A question as it was read, and the doubts about it."""

    question: Question
    doubts: Doubts = field(default_factory=list)


class SourceDoubt(NamedTuple):
    """A doubt about a source: its questions wait together until a person settles it."""

    reason: str
    detail: str  # with the count, two examples and what to write in dataset.toml
    readings: list[Reading]


class Caught(NamedTuple):
    """A source after all nets."""

    readings: list[Reading]  # those that no doubt about the source stops
    doubts: list[SourceDoubt]
    notes: list[str]  # what was cut off


def cast(name: str, readings: Sequence[Reading], settings: SourceParams | None = None) -> Caught:
    """Look at all questions of a source: cut its furniture off, add doubts, gather those of the source."""
    settings = settings or SourceParams()
    accepted = {*settings.accept, *(["explanation_disagrees"] if settings.explanations == "ignore" else [])}
    texts = [
        {"last": one.options[-1].text if one.options else "", "stem": one.stem, "explanation": one.explanation or ""}
        for one in (reading.question for reading in readings)
    ]
    values = {at: [text[at] for text in texts] for at in ("last", "stem", "explanation")}
    if settings.furniture:
        values["option"] = [option.text for reading in readings for option in reading.question.options[:-1]]
    furniture = Furniture(values, settings.furniture)
    for glance in (TEXT_OUTSIDE, PERSON_OUTSIDE, _ASKED_FOR, _PAIRED):
        glance.look([text["stem"] for text in texts])
    questions = [_bare(reading.question, text, furniture) for reading, text in zip(readings, texts, strict=True)]
    feet, each = feet_of(questions), zip(readings, questions, strict=True)
    opened = [(one, [*_open_doubts(reading, one), *feet.get(id(one), [])]) for reading, one in each]
    readings = [Reading(one, [doubt for doubt in doubts if doubt[0] not in accepted]) for one, doubts in opened]
    facts = {**repetition(questions), **alike(questions)}
    if whole := {reason: detail for reason, detail in facts.items() if reason not in accepted}:
        reason, why = next(iter(whole)), f"{name}: {'; '.join(whole.values())}"
        # One decision for all is none on what is doubted besides: an option that is empty, a key that names none.
        sure = [reading for reading in readings if not reading.doubts]
        doubted = [Reading(read.question, [(reason, why), *read.doubts]) for read in readings if read.doubts and sure]
        stopped = SourceDoubt(reason, f"{why}; {_remedy(name, reason)}", sure or readings)
        return Caught(doubted, [stopped], furniture.notes)
    doubts = too_often(name, readings)
    gathered = {id(reading) for doubt in doubts for reading in doubt.readings}
    return Caught([reading for reading in readings if id(reading) not in gathered], doubts, furniture.notes)


def _open_doubts(reading: Reading, bare: Question) -> Doubts:
    """Return the doubts about a question without its furniture: a foot that was cut off is none any more."""
    options, left = reading.question.options, bare.options
    foot = options[-1].text[len(left[-1].text) :].strip() if options and reading.doubts else ""
    cut = without_digits(foot)[:30]  # as the check quotes it: 'ShowAnswer'
    kept = [(reason, why) for reason, why in reading.doubts if reason != "foot_inside" or cut not in quoted(why)]
    return [*kept, *self_contained(bare), *asked_for(bare)]


def _remedy(name: str, reason: str) -> str:
    """Return the line of dataset.toml that settles a doubt about a source."""
    line = 'explanations = "ignore"' if reason == "explanation_disagrees" else f'accept = ["{reason}"]'
    cut = ', or furniture = ["…"] to cut it off' if reason == "repeated_text" else ""
    return f'if they are right: [sources."{name}"] {line}{cut}'


PLACES = {"last": "the last options", "stem": "the stems", "explanation": "the explanations", "option": "the options"}


class Furniture:
    """Known (``patterns.toml``) and declared texts at one place of many questions that are no part of them: （4分）."""

    def __init__(self, texts: Mapping[str, Sequence[str]], declared: Sequence[str]) -> None:
        """Look for furniture in the ``texts`` of each place."""
        self.found: dict[str, list[tuple[re.Pattern[str], bool]]] = {}
        self.notes: list[str] = []
        explained = texts.get("explanation", ())
        told, times = next(iter(Counter(explained).most_common(1)), ("", 0))
        alone = rf"\A{re.escape(told)}(?:\s?\S){{0,3}}\Z"  # a misread sign may stand behind it
        whole = {"name": repr(told[:LONGEST]), "at": ["explanation"], "pattern": alone, "any": True}
        again = times >= max(MIN_FAULTY, OPENED * len(explained)) and _P.explains_none.fullmatch(told)
        rows = [*_P.rows("furniture"), *([whole] if again else [])]  # one explanation for most explains none
        known = [row | {"least": KNOWN, "share": row.get("share", KNOWN_SHARE)} for row in rows]
        for text in declared:
            masked = _any_numbers(text)
            edges = rf"\s*{masked}\s*\Z|\A\s*{masked}\s*"
            known.append({"name": text, "at": PLACES, "pattern": edges, "least": 1, "share": 0, "any": True})
        _FURNITURE.look([*chain(*texts.values())])
        likely = {at: [it for it in values if _FURNITURE.starts.get(it, 0) is not None] for at, values in texts.items()}
        for at, row in ((place, form) for form in known for place in form["at"] if place in texts):
            form, chinese, seen = re.compile(row["pattern"]), "chinese" in row, texts if "any" in row else likely
            near = _NEAR if row["pattern"].endswith(r"\Z") else 10**9  # what ends a text is looked for at its end
            found = (form.search(it, max(0, len(it) - near)) for it in seen[at] if not (chinese and is_latin(it)))
            matches = [match[0] for match in found if match]
            # … in Passage 1., … in Zone 2. end with a number that is none of the next item
            numbers = [int(re.sub(r"\D", "", value)) for value in matches] if row.get("rises") else []
            rises = sum(before < after for before, after in pairwise(numbers)) >= RISING * (len(numbers) - 1)
            if len(matches) >= max(row["least"], row["share"] * len(texts[at])) and rises:
                self.found.setdefault(at, []).append((form, "comment" in row))
                self.notes.append(f"{row['name']} was cut off {PLACES[at]} of {len(matches)} questions")

    def cut(self, at: str, text: str) -> tuple[str, str | None]:
        """Return a text without the furniture of its place, and what of that is kept as a comment."""
        kept = None
        for form, comment in self.found.get(at, ()):
            if match := form.search(text):
                text, kept = form.sub("", text), match[0].strip() if comment else kept
        return text, kept


def _bare(question: Question, texts: Mapping[str, str], furniture: Furniture) -> Question:
    cut = {at: furniture.cut(at, text) for at, text in texts.items() if at in furniture.found}
    new: dict[str, str | None] = {at: text for at, (text, _) in cut.items() if text != texts[at]}
    new |= {"explanation": new["explanation"] or None} if "explanation" in new else {}
    case = question.shared_stem and furniture.cut("stem", question.shared_stem)[0]
    new |= {} if case == question.shared_stem else {"shared_stem": case}
    options = [*question.options]
    if "option" in furniture.found:
        options[:-1] = [one.model_copy(update={"text": furniture.cut("option", one.text)[0]}) for one in options[:-1]]
    if not new and options == question.options:
        return question
    if "last" in new:
        options[-1] = options[-1].model_copy(update={"text": new.pop("last") or ""})
    comment = question.comment or next((kept for _, kept in cut.values() if kept), None)
    changed = question.model_copy(update={**new, "options": options, "comment": comment})
    hashed = content_hash(changed.stem, (option.text for option in changed.options), changed.shared_stem)
    return changed.model_copy(update={"content_hash": hashed})


def _masked(text: str) -> str:
    return re.sub(r"\d+", "0", text.strip())


def _any_numbers(text: str) -> str:
    """Return a pattern with any number for digits and any word for a star: doubts show 0 and * for them."""
    return re.sub(r"\d+", r"\\d+", re.escape(text)).replace(r"\*", r"\S{1,8}")


def _commonest(texts: Iterable[str], *, codes: bool = True) -> tuple[str, int]:
    """Return the commonest text that says something, and its times; options that are ``codes`` or verdicts may not."""
    verdicts = {*vocabulary()["words"]["true_false"]}  # Vero|Falso
    for text, times in Counter(texts).most_common():
        plain = {it.strip(" .。") for it in text.casefold().split("|")} <= verdicts or _P.codes.fullmatch(text)
        if _P.says.search(text) and (codes or not plain):
            return text, times
    return "", 0


def feet_of(questions: Sequence[Question]) -> dict[int, Doubts]:
    """Return the doubts about last options that end as others do not: with a number, 防火牆 13, or one long text."""
    texts = [[option.text.strip() for option in one.options] for one in questions if one.options]
    numbered = [[text[-1:].isdecimal() and _P.behind_text.search(text) is not None for text in run] for run in texts]
    last, others = sum(run[-1] for run in numbered), sum(sum(run[:-1]) / max(1, len(run) - 1) for run in numbered)
    counted = last >= MIN_FAULTY and others <= last / RARER  # at one other option
    ends = Counter(text[-LONG_END:] for text in {_masked(run[-1]) for run in texts} if len(text) > LONG_END + 1)
    common = {end for end, times in ends.items() if MIN_FAULTY <= times < SHARED * len(texts)}  # else repeated_text
    common -= {end for end in common for run in texts for text in run[:-1] if _masked(text).endswith(end)}
    feet: dict[int, Doubts] = {}
    for one, run, signs in zip((one for one in questions if one.options), texts, numbered, strict=True):
        if counted and signs[-1] and not all(signs):
            feet[id(one)] = [("foot_inside", f"a number stands behind {last} last options: {run[-1][-20:]!r}")]
        elif common and (end := _masked(run[-1])[-LONG_END:]) in common:
            feet[id(one)] = [("foot_inside", f"{ends[end]} last options end in {end!r}")]
    return feet


def self_contained(question: Question) -> Doubts:
    """Return the doubt about a question that speaks of a case, a passage or a person that nothing shows."""
    if question.shared_stem or question.attachments or question.question_type is QuestionType.B1:
        return []
    words = "" if is_case(question.stem) else speaks_of_text(question.stem)
    return [("case_missing", f"{words!r} speaks of something outside of the question")] if words else []


def asked_for(question: Question) -> Doubts:
    """Return the doubt about a key with more or fewer letters than the stem asks for: （2つ選びなさい。） beside C."""
    match = _ASKED_FOR.search(question.stem) if question.answer and not question.accepted_answers else None
    size = {"two": 2, "three": 3, "four": 4}[match.lastgroup or ""] if match else len(question.answer or ())
    why = f"the stem asks for {size} answers, the key has {len(question.answer or ())}"
    return [("several_answers", why)] if size != len(question.answer or ()) else []


def alike(questions: Sequence[Question]) -> dict[str, str]:
    """Return doubts about many questions that have one stem, the same options or one answer: they were misread."""
    apart = [question for question in questions if question.group_id is None]
    texts = {id(question): "|".join(option.text for option in question.options) for question in apart}
    alone = {(item.stem, texts[id(item)]) for item in apart if not item.shared_stem and not item.attachments}
    choosing = [question for question in apart if not _PAIRED.search(question.stem)]
    printed = [item for item in questions if item.section is not None]  # in a table a key is a cell: some have A in all
    checks: Sequence[tuple[str, str, Iterable[str], float, int]] = (
        ("stems_alike", "one stem and other options", (stem for stem, _ in alone), ALIKE, MANY),
        ("options_repeat", "the same options", (texts[id(question)] for question in choosing), ALIKE, MANY),
        ("keys_alike", "one answer", ("".join(item.answer) for item in printed if item.answer), ONE_KEY, MANY_KEYS),
    )
    facts: dict[str, str] = {}
    for reason, what, values, share, least in checks:
        value, times = _commonest(values, codes=reason != "options_repeat")
        if times >= max(least, share * len(questions)):
            facts[reason] = f"{times} of {len(questions)} questions have {what}: {value[:60]!r}"
    return facts


def too_often(name: str, readings: Sequence[Reading]) -> list[SourceDoubt]:
    """Return one doubt for each reason that many questions wait for, and that a look can settle."""
    times = Counter(reason for reading in readings for reason in dict(reading.doubts))
    shares = dict.fromkeys(get_args(Acceptable), OFTEN) | {"explanation_disagrees": CONTRADICTED}
    often = {reason for reason, share in shares.items() if times[reason] >= max(MIN_FAULTY, share * len(readings))}
    doubted = (read for read in readings if read.doubts and {*dict(read.doubts)} <= often)
    groups = group_values((read.doubts[0][0], read) for read in doubted)
    if "explanation_disagrees" in often:
        explained = [reading.question.explanation or "" for reading in readings]
        _CONCLUDES.look(explained)
        concluding = sum(_CONCLUDES.search(text) is not None for text in explained)
        if times["explanation_disagrees"] >= SHIFTED * max(concluding, 1):  # keys may be of other questions
            groups = {"explanation_disagrees": [*readings]}
    doubts = []
    for reason, waiting in groups.items():
        told = [(draft.question.number, why) for draft in waiting if (why := dict(draft.doubts).get(reason))]
        shown = "; ".join(f"no. {number}: {why[:80]}" for number, why in told[:2])
        whole = "; all keys may be those of other questions" if len(waiting) > len(told) else ""
        detail = f"{name}: {len(told)} of {len(readings)} questions: {shown}{whole}; {_remedy(name, reason)}"
        doubts.append(SourceDoubt(reason, detail, waiting))
    return doubts
