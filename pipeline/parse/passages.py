"""Find long texts of a table that no part of a question was read from: a case or a passage that the stems rest on.

The decision comes from what cells say, not from headers: a text goes into the questions where stems cannot stand alone
(most repeat, or speak of a text that is not there) or where questions in a row share it; a copy, an explanation and a
translation stay out and are told; what may be either stops the table.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from build_dataset.pipeline.parse.cells import Fields, whole_text
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.columns import in_language, plain_header, roles_of, vocabulary

_P = Patterns(__name__)
TEXT_OUTSIDE, PERSON_OUTSIDE = (_P.glance(name, f"{name}_latin") for name in ("text_outside", "person_outside"))
PASSAGE, SENTENCE = 60, 24  # least weight of a text that may be a passage, and of one that stems are seen to lack
_CHECKED = 300  # rows whose texts are compared
_SHARE = 0.3  # of stems that repeat, or speak of a text outside, from which they cannot stand alone
_DERIVED = 0.3  # how much more of a text its own row says already than another row does: facts of a case, one by one
_PICTURES = ("image", "picture", "figure", "图片", "圖片", "画像")  # how headers of what a picture shows begin
_COMMON = 2  # other stems in which a pair of characters stands that says nothing of a stem's own
_ON_ONE_TEXT = 20  # questions that rest on one case or passage, at most
_TELLS_KEY = 0.25  # how much oftener a text quotes the key's option than the others, for it to explain the key


class Use(StrEnum):
    """The part of a text in the questions of its row."""

    JOINS = "joins the stem"
    UNCLEAR = "unclear"
    COPY = "repeats other columns"
    EXPLAINS = "may explain the key"
    OTHER = "in another script, or of few questions"


class Asked(NamedTuple):
    """The question of a row, as far as it was read."""

    stem: str
    case: str
    options: list[tuple[str, str]]
    key: Sequence[str]


def weight(text: str) -> int:
    """Return the length of a text; an ideograph counts as two and a half letters."""
    return len(text) + sum(char > "\u2e7f" for char in text) * 3 // 2


def speaks_of_text(stem: str) -> str:
    """Return the words of a stem that speak of a text or a person outside of it; nothing where there are none."""
    # 因此该患者首选 speaks of somebody; 男，45岁。… 该患者首选 tells who it is.
    match = TEXT_OUTSIDE.search(stem, fitting=True)
    if match and not _P.told_here.search(stem, match.end()) and weight(stem[: match.start()]) < PASSAGE:
        return match[0]
    person = PERSON_OUTSIDE.search(stem, fitting=True)
    if person and not _P.person_told.search(stem[: person.start()]) and weight(stem[: person.start()]) < 2 * PASSAGE:
        return person[0]
    return ""


def use_of(
    name: str, rows: Sequence[Fields], ask: Callable[[Fields], Asked], least: int = SENTENCE, *, behind: bool = False
) -> Use | None:
    """Return the use of a column that is no part of a question yet; None where it is short, or alike in all rows."""
    # ``least``: the least median weight of its texts; ``behind``: it stands behind the key, as cases seldom do.
    filled = [(row, text) for row in rows if (text := whole_text(row.get(name)))]
    # Of an object the longest part counts: {"code": "F17", "title": "Pharmakologie"} is no text.
    parts = (text.split("\n") if isinstance(row[name], dict) else [text] for row, text in filled)
    sizes = [max(map(weight, lines)) for lines in parts]
    if len(filled) < 3 or median(sizes) < least or all(" " not in text and text.isascii() for _, text in filled):
        return None  # addresses, paths, codes
    texts = [text for _, text in filled]
    runs = [len(list(group)) for _, group in groupby(texts)]
    if len({*texts}) < max(3, 0.05 * len(texts)):
        return None  # a category, an instruction
    checked = [(ask(row), text) for row, text in filled[:: max(1, len(filled) // _CHECKED)]]
    rests = [_rest(asked, text) for asked, text in checked]
    known = [f"{asked.stem}\n{asked.case}" for asked, _ in checked]
    held = _gain(rests, known)
    few = len({*rests}) < max(3, 0.05 * len(rests))
    if held >= _DERIVED or few or median(map(weight, rests)) < min(least, SENTENCE):
        return Use.COPY
    words = vocabulary()["words"]
    if any(word in plain_header(name) for word in words["of_answer"]):
        return Use.EXPLAINS
    long = median(sizes) >= PASSAGE
    shared = long and len(runs) <= 0.7 * len(texts) and max(runs) <= 0.5 * len(texts)
    lacking, bare = _lacking([asked for asked, _ in checked])
    told = explains(checked)
    # Long texts of few rows may be material: no remark, pairs to match, or ends of rows (column_7).
    remark = name.startswith("column_") or any(word in plain_header(name) for word in words["remark"])
    material = not remark and all(isinstance(row[name], str) for row, _ in filled)
    open_ = len(filled) >= 0.5 * len(rows) or (long and material)
    if _is_apart(name, rows[0]) or (plain_header(name).endswith(tuple(words["cited"])) and not (lacking and long)):
        return Use.OTHER  # Driver Guide §2.5, lines 71–75, of several questions
    if not (shared or lacking or bare) and behind and long:
        return Use.EXPLAINS  # detail, beside stems that say all themselves
    if bare and not (shared or lacking or told):
        return None if not long else Use.UNCLEAR if open_ else Use.OTHER
    if shared or lacking:
        prompts = sum(rest != text for rest, (_, text) in zip(rests, checked, strict=True)) > 0.5 * len(checked)
        # Without a key nobody sees what explains it, but for a column whose name is one of stems.
        keyed = not least or any(asked.key for asked, _ in checked)
        return Use.UNCLEAR if told or prompts or not keyed else Use.JOINS
    if told or not long:
        return Use.EXPLAINS if told else None
    distinct = len({*texts}) >= 0.5 * len(texts)
    east = [[3 * sum(char > "\u2e7f" for char in one) > len(one) for one in (own.stem, it)] for own, it in checked]
    foreign = sum(one is not other for one, other in east) > 0.5 * len(checked)
    return Use.UNCLEAR if open_ and distinct and not foreign else Use.OTHER


def over_many(name: str, rows: Sequence[Fields], ask: Callable[[Fields], Asked]) -> Use | None:
    """Return the use of a column named as a case that holds titles, or texts over many questions that need none."""
    # 第一章 心血管系统; the introduction of a chapter, 本章介绍…, over its 50 questions.
    texts = [text for row in rows if (text := whole_text(row.get(name)))]
    times = Counter(texts)
    checked = [ask(row)._replace(case="") for row in rows[:: max(1, len(rows) // _CHECKED)]]
    if len(texts) <= _ON_ONE_TEXT or any(_lacking(checked)):
        return None
    many, long = median(times[text] for text in texts) > _ON_ONE_TEXT, median(map(weight, texts)) >= PASSAGE
    titles = not long and not any(map(_P.sentence.search, times))
    return Use.OTHER if titles or (many and not long) else Use.UNCLEAR if many else None


def lists_statements(name: str, rows: Sequence[Fields], ask: Callable[[Fields], Asked]) -> bool:
    """Return whether a column lists texts that options name by their number: nur die Aussagen 1 und 3, ①③."""
    lists = [row for row in rows if isinstance(row.get(name), list) and len(row[name]) > 2]
    listed = [row for row in lists if all(isinstance(text, str) for text in row[name])][:_CHECKED]
    named = [[_P.ordinal.findall(text) for _, text in ask(row).options] for row in listed]
    told = [2 * sum(map(bool, places)) > len(places) and max(map(len, places)) > 1 for places in named if places]
    return 2 * sum(told) > len(listed)


def _is_apart(name: str, row: Fields) -> bool:
    """Return whether a header names a translation of another column, question_english, or what a picture shows."""
    base = (in_language(name) or ("",))[0]
    bases = {*row, *(found[0] for key in row if key != name and (found := in_language(key)))}
    return (base in bases and bool({*roles_of(base)} - {"shared"})) or plain_header(name).startswith(_PICTURES)


def _lacking(asked: Sequence[Asked]) -> tuple[bool, bool]:
    """Return whether stems cannot stand alone: many are alike beside other options, or speak of a text outside."""
    # And whether they say nothing of their own: 最可能的诊断是, 该病首先考虑的诊断是. Those with a case lack nothing.
    rows, asked = len(asked), [draft for draft in asked if not draft.case]
    times = Counter(draft.stem for draft in {(draft.stem, str(draft.options)): draft for draft in asked}.values())
    alike = sum(times[draft.stem] > 1 for draft in asked)
    # Short ones may have looser words of a text outside: 由此，可以推断出, the author.
    short = [draft.stem if weight(draft.stem) < 2 * PASSAGE else "" for draft in asked]
    lean = [(word := _P.leaning.search(stem)) and not _P.person_told.search(stem[: word.start()]) for stem in short]
    outside = sum(bool(speaks_of_text(draft.stem) or leans) for draft, leans in zip(asked, lean, strict=True))
    pairs = [_pairs(draft.stem) for draft in asked]
    known = Counter(pair for bigrams in pairs for pair in bigrams)
    common = max(_COMMON, 0.05 * len(asked))
    bare = sum(sum(known[pair] > common for pair in bigrams) >= 0.5 * len(bigrams) for bigrams in pairs)
    return max(alike, outside) >= _SHARE * rows, bare >= 0.5 * rows


def _rest(asked: Asked, text: str) -> str:
    """Return what a text says beside the stem and the options: a prompt repeats both."""
    for known in (asked.stem, *(option for _, option in asked.options)):
        text = text.replace(known, "") if len(known) > 1 else text
    return text


def explains(checked: Iterable[tuple[Asked, str]]) -> bool:
    """Return whether texts quote or conclude the key's option much oftener than the others."""
    gains = []
    for asked, text in checked:
        right = [label in asked.key for label, _ in asked.options]
        quoted = [len(option) > 1 and option in text for _, option in asked.options]
        concluded = {letter for match in _P.concluded.finditer(text) for letter in match[1]}
        if any(right) and not all(right):
            hits = [whole or label in concluded for whole, (label, _) in zip(quoted, asked.options, strict=True)]
            pairs = [*zip(hits, right, strict=True)]
            inside, outside = ([hit for hit, is_key in pairs if is_key is k] for k in (True, False))
            gains.append(sum(inside) / len(inside) - sum(outside) / len(outside))
    return bool(gains) and sum(gains) >= _TELLS_KEY * len(gains)


def _gain(texts: Sequence[str], others: Sequence[str]) -> float:
    """Return how much more of texts their own rows' other text holds than that of the next row does."""
    wanted, held = [*map(_pairs, texts)], [*map(_pairs, others)]
    both = (zip(wanted, rows, strict=False) for rows in (held, held[1:]))
    own, next_ = ([len(pairs & other) / max(1, len(pairs)) for pairs, other in rows] for rows in both)
    return sum(own) / max(1, len(own)) - sum(next_) / max(1, len(next_))


def _pairs(text: str) -> set[tuple[str, ...]]:
    """Return the pairs of words, or of ideographs, of a text."""
    return {*pairwise(_P.word.findall(text.casefold()))}
