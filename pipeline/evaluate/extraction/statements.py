"""Stated answers: 答案是A, 故选A, 不是A而是B, 答案是青霉素."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pipeline.evaluate.extraction import cues
from pipeline.evaluate.extraction.letters import Found, Reader

_QUOTE_GOES_ON = re.compile(r"[\s\"'”’」》)]*(?:\((?:选项)?[A-Z]\))?(?:以及|[、,和与及])\s*")
"""Between the texts of two options, the first one's letter in brackets perhaps."""


def last(found: Iterable[Found]) -> Found | None:
    """What stands furthest down in the text."""
    return max(found, key=lambda item: item.start, default=None)


def clause_before(text: str, position: int, width: int = 12) -> str:
    """The few characters before ``position``."""
    return text[max(0, position - width) : position]


def after_cue(reader: Reader, cue: re.Pattern[str], *, copula: bool) -> Iterator[Found]:
    """Letters that follow a cue and are not taken back.

    Args:
        reader: of the text.
        cue: what the letters follow.
        copula: whether the cue ends with 是 or 为: then 错误 before or after it is what the question asks for.
    """
    taken_back, denied = (
        (cues.COPULA_NOT_AFTER, cues.HYPOTHETICAL) if copula else (cues.NOT_AFTER, cues.NOT_MEANT)
    )
    for match in cue.finditer(reader.text):
        if denied.search(clause_before(reader.text, match.start())):
            continue
        found = reader.letters_at(match.end())
        if found is None:
            continue
        if taken_back.match(reader.text, found.end):
            continue
        yield Found(found.letters, match.start(), found.end)


def _copulative(match_text: str) -> bool:
    return bool(re.search(r"(?:是|为|选择?|[:=】])\W*\Z", match_text))


def _keyed(reader: Reader) -> Iterator[Found]:
    """Letters after 答案; without 是 or a colon they must stand as a clause, or before their option's text."""
    for match in cues.KEY.finditer(reader.text):
        if re.search(
            r"(?:错误的?|不是|并非|非|干扰|误选择?|误以为|误认为)\Z",
            clause_before(reader.text, match.start()),
        ):
            continue
        found = reader.letters_at(match.end())
        if found is None:
            continue
        taken_back = cues.NOT_AFTER
        if _copulative(match.group()):
            taken_back = cues.COPULA_NOT_AFTER
        elif not _stands(reader, found):
            continue
        if not taken_back.match(reader.text, found.end):
            yield Found(found.letters, match.start(), found.end)


def _stands(reader: Reader, found: Found) -> bool:
    """Whether letters are a clause by themselves, or stand before the text of their option."""
    if cues.FOLLOWS.match(reader.text, found.end) or reader.text[found.end : found.end + 1].isspace():
        return True
    return reader.followed_by_its_text("".join(found.letters), found.end)


def _is_the_key(reader: Reader) -> Iterator[Found]:
    """Letters that are called the answer; where several are asked for, all that are called so together."""
    called = []
    for found in reader.free_letters(apart=False):
        if cues.IS_KEY.match(reader.text, found.end):
            called.append(found)
    if reader.multiple and called:
        letters = dict.fromkeys(letter for found in called for letter in found.letters)
        yield Found(tuple(letters), called[0].start, called[-1].end)
    else:
        yield from called


def _corrected(reader: Reader) -> Iterator[Found]:
    for match in cues.CORRECT.finditer(reader.text):
        if not match["sure"] and not cues.WRONG_BEFORE.search(
            reader.text, max(0, match.start() - 40), match.start()
        ):
            continue
        found = reader.letters_at(match.end())
        if found is None or not cues.FOLLOWS.match(reader.text, found.end):
            found = quoted_list(reader, match.end())
        if found is not None:
            yield Found(found.letters, match.start(), found.end)


def stated(reader: Reader) -> Found | None:
    """The last of: 答案是A, 故选A, A是正确答案, 不是A而是B, a boxed letter, the answer is A, 答案是青霉素."""
    statements = [
        found
        for source in (
            _keyed(reader),
            after_cue(reader, cues.CHOOSE, copula=False),
            _is_the_key(reader),
            _corrected(reader),
            quoted_after(reader, cues.KEY),
        )
        for found in source
    ]
    return None if _each_in_turn(reader, statements) else last(statements)


def _each_in_turn(reader: Reader, statements: list[Found]) -> bool:
    """Whether the text goes through the options and calls each of them the answer, which says nothing."""
    parts = {label: (start, end) for label, start, end in listed(reader)}
    own = {
        found.letters
        for found in statements
        if len(found.letters) == 1
        and found.letters[0] in parts
        and parts[found.letters[0]][0] <= found.start < parts[found.letters[0]][1]
    }
    return len(own) > 2


def quoted_after(reader: Reader, cue: re.Pattern[str]) -> Iterator[Found]:
    """An option's text where its letter is expected: 正确答案是青霉素."""
    for match in cue.finditer(reader.text):
        if cues.NOT_MEANT.search(clause_before(reader.text, match.start())):
            continue
        start = match.end() + len(re.match(r"[\s\"'“‘「《(:,]*", reader.text[match.end() :]).group())  # type: ignore[union-attr]
        found = quoted_list(reader, start)
        if found is not None:
            yield Found(found.letters, match.start(), found.end)


def quoted_list(reader: Reader, start: int) -> Found | None:
    """Options quoted by their texts one after the other from ``start`` on."""
    letters: list[str] = []
    end = start
    while True:
        label = _one_option(reader, end)
        if label is None or label[0] in letters:
            break
        letters.append(label[0])
        end = label[1]
        joined = _QUOTE_GOES_ON.match(reader.text, end)
        if joined is None:
            break
        end = joined.end()
    return Found(tuple(letters), start, end) if letters else None


def _one_option(reader: Reader, start: int) -> tuple[str, int] | None:
    """The one option whose text stands at ``start``; None when none or two options are equally long."""
    found = reader.options_at(start)
    if not found or (len(found) > 1 and found[0][1] == found[1][1]):
        return None
    return found[0]


def listed(reader: Reader) -> list[tuple[str, int, int]]:
    """The options a text goes through one by one: label, and from where to where it speaks of it."""
    heads = [
        (match[match.lastgroup or 0], match)
        for match in cues.ITEM.finditer(reader.text)
        if match[match.lastgroup or 0] in reader.labels
    ]
    ends = [match.start() for _, match in heads[1:]] + [len(reader.text)]
    found: dict[str, tuple[str, int, int]] = {}
    for (label, match), end in zip(heads, ends, strict=False):
        found.setdefault(label, (label, match.start(match.lastgroup or 0), end))
    return list(found.values())
