"""Places in texts that people are to look at: where unsure characters stand now, and texts in marked pieces. Pure."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup
from rapidfuzz.distance import Postfix, Prefix

from build_dataset.schemas import documents, questions

OPTION = "option:"  # begins the name of an option's field: option:A
_NAMES = {
    "shared_stem": ("共用题干", "the case"), "stem": ("题干", "the stem"), "answer": ("答案", "the key"),
    "explanation": ("解析", "the explanation"), "verdict": ("处理", "the decision"),
}  # fmt: skip
_NEIGHBOURS = 3  # Characters beside an unsure one that must be found with it, where there are so many
_TOLD = 8  # Unsure characters that a sentence names at most


class Place(NamedTuple):
    """A part of a text: characters ``start`` to before ``end`` of a field."""

    field: str
    start: int
    end: int
    other: str | None = None  # what an unsure character may be else


def fields_of_question(question: questions.Question) -> dict[str, str]:
    """Return the texts of a question by the names of their fields, those without any left out."""
    texts = {"shared_stem": question.shared_stem, "stem": question.stem}
    texts |= {f"{OPTION}{option.label}": option.text for option in question.options}
    return {name: text for name, text in (texts | {"explanation": question.explanation}).items() if text}


def field_name(field: str) -> tuple[str, str]:
    """Return a field's name in Chinese and in English: 选项 C, option C."""
    label = field.removeprefix(OPTION)
    return (f"选项 {label}", f"option {label}") if field != label else _NAMES.get(field, (field, field))


def find_unsure(
    texts: Mapping[str, str], unsure: Iterable[documents.UnsureCharacter]
) -> list[tuple[documents.UnsureCharacter, list[Place]]]:
    """Return unsure characters with the places of texts, by field, where they stand with the same neighbours.

    White space and width of characters do not matter. There are several places where they fit equally well, and none
    where the character was left out or changed since. The label of an option is a neighbour of its text.
    """
    folded = {name: _folded(text, f"{name[-1]}." if name.startswith(OPTION) else "") for name, text in texts.items()}
    found = []
    for sign in (sign for sign in unsure if len(sign.text) == 1):
        before, char, after = _fold(sign.before), _fold(sign.text), _fold(sign.after)
        by_nearness: dict[int, list[Place]] = {}
        for name, (text, origin) in folded.items():
            at = text.find(char) if char else -1
            while at >= 0:
                near = Postfix.similarity(text[:at], before) + Prefix.similarity(text[at + len(char) :], after)
                start = max(origin[at], 0)  # of a label nothing is part of the text
                by_nearness.setdefault(near, []).append(Place(name, start, origin[at] + 1, sign.other))
                at = text.find(char, at + 1)
        near = max(by_nearness, default=-1)
        found.append((sign, by_nearness[near] if near >= min(_NEIGHBOURS, len(before) + len(after)) else []))
    return found


def _folded(text: str, before: str) -> tuple[str, list[int]]:
    """Return a text as it is compared, and the index of each of its characters; -1 for those put ``before``."""
    pairs = [(char, -1) for char in _fold(before)]
    for at, char in enumerate(text):
        pairs += [(folded, at) for folded in _fold(char)]
    return "".join(char for char, _ in pairs), [at for _, at in pairs]


def _fold(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split()).casefold()


def unsure_of_key(question: questions.Question) -> bool:
    """Return whether a letter of its key may be misread: one that no text of the question holds."""
    unsure = find_unsure(fields_of_question(question), question.unsure or ())
    return any(not places and char.text in (question.answer or ()) for char, places in unsure)


def places_in(text: str, unsure: Iterable[documents.UnsureCharacter] | None) -> list[Place]:
    """Return the places of a text at which characters stand that may be misread."""
    return [place for _, places in find_unsure({"": text}, unsure or ()) for place in places]


def unsure_told(question: questions.Question) -> str:
    """Return a Chinese and an English sentence that name the unsure characters: 瘪 (or 痹) in option C."""
    whole = [char.text[:60] for char in question.unsure or () if len(char.text) > 1]
    if whole:
        return f"最不确定的一行 least sure line: '{whole[0]}'"
    texts = fields_of_question(question)
    named: dict[tuple[str, str], None] = {}
    for char, places in sorted(find_unsure(texts, question.unsure or ()), key=lambda pair: pair[0].sure):
        around = f"'{char.before}{char.text}{char.after}'"
        # One that the question's texts do not hold is its key's, or is named with what stands beside it.
        field = places[0].field if places else "answer" if char.text in (question.answer or ()) else ""
        zh, en = field_name(field) if field else (f"{around}中", around)
        zh_other, en_other = (f"（或{char.other}）", f" (or {char.other})") if char.other else ("", "")
        named[f"{zh}的{char.text}{zh_other}", f"{char.text}{en_other} in {en}"] = None
    if not named:
        return ""
    more = len(named) - _TOLD
    chinese, english = (list(told)[:_TOLD] for told in zip(*named, strict=True))
    rest = (f"；另有{more}处", f", and {more} more") if more > 0 else ("", "")
    return f"存疑字：{'；'.join(chinese)}{rest[0]}。Unsure characters: {', '.join(english)}{rest[1]}"


class Mark(NamedTuple):
    """The reason to mark a piece of a text."""

    unsure: bool  # it may be misread; otherwise a reason quotes it
    other: str | None = None  # what it may be else
    number: int = 0  # tells neighbours apart


def marked_pieces(text: str, quotes: Iterable[str], places: Iterable[Place] = ()) -> Iterator[tuple[str, Mark | None]]:
    """Yield a text in pieces, each with its mark; None where nothing is doubted.

    ``quotes`` are doubted wherever they stand, whatever their white space and width; ``places`` are those of
    characters of this text that may be misread.
    """
    marks: list[Mark | None] = [None] * len(text)
    bare, origin = _folded(text, "")
    for quote in filter(None, map(_fold, quotes)):
        at = bare.find(quote)
        while at >= 0:
            start, end = origin[at], origin[at + len(quote) - 1] + 1
            marks[start:end] = [Mark(unsure=False)] * (end - start)
            at = bare.find(quote, at + len(quote))
    for number, place in enumerate(places):
        size = place.end - place.start
        marks[place.start : place.end] = [Mark(unsure=True, other=place.other, number=number)] * size
    for mark, group in groupby(zip(text, marks, strict=True), key=lambda pair: pair[1]):
        yield "".join(char for char, _ in group), mark


def mark_places(text: str, quotes: Iterable[str], places: Iterable[Place] = ()) -> Markup:
    """Return a text as HTML in which the doubted pieces are marked, with what else may stand there on hover."""
    made = Markup("")
    for piece, mark in marked_pieces(text, quotes, places):
        title = "" if mark is None else f"或 or {mark.other}" if mark.other else "存疑 unsure" if mark.unsure else ""
        attributes = Markup(' class="unsure" title="{}"').format(title) if title else ""
        made += piece if mark is None else Markup("<mark{}>{}</mark>").format(attributes, piece)
    return made
