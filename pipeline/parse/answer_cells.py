"""Answers in the cells of a tabular source: letters, numbers, or texts of options. Pure."""

import html
import re
from collections.abc import Sequence
from enum import StrEnum
from functools import cache, lru_cache
from statistics import median
from typing import Any, NamedTuple

from build_dataset.pipeline.parse.cells import Options, string, unpacked
from build_dataset.pipeline.parse.folding import fold
from build_dataset.pipeline.parse.labels import LABEL, LABELS, Pairs, label_at, labels_in
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.columns import plain_header, roles_of, vocabulary

_P = Patterns(__name__)
_BETWEEN_HEADERS = r"[,，、;；|・]"  # marks between the headers that an answer names: option1,option3
_BETWEEN_TEXTS = ("\n", "|", "&", ";", "；")  # marks between the texts of several right options: 甲;丙
_FOLDED = 8  # characters, spaces and stops included, of a text that may be one letter
MOST = 0.95  # share of a column's values that must read as answers; the rest are typing errors
ENOUGH = 20  # numbered answers of which a number that never occurs (2 of 0–3) shows that they name no places


def cut_explanations(rows: Sequence[dict[str, Any]]) -> None:
    """Cut off, in place, an explanation below keys: B⏎【解析】…."""
    for name in [name for name in (rows[0] if rows else ()) if "answer" in roles_of(name)]:
        given = [row for row in rows if isinstance(row.get(name), str)]
        for row, match in [(row, match) for row in given if (match := _P.explained.fullmatch(row[name]))]:
            row[name] = match[1]
            row["解析"] = "\n".join(filter(None, [match[2], string(row.get("解析"))]))


class AnswerEncoding(StrEnum):
    """The form in which a source gives its answers."""

    LETTERS = "letters"
    TEXTS = "texts"
    FROM_0 = "index_from_0"
    FROM_1 = "index_from_1"
    UNKNOWN = "unknown"  # letters or texts, decided row by row: each row allows only one reading


class Given(NamedTuple):
    """An answer as its cell gives it."""

    value: Any
    options: Options


def encoding_of(given: Sequence[Given], *, printed: bool) -> AnswerEncoding | str:
    """Return the encoding of a column's answers; where it is open, an example with its readings and what to write."""
    # ``printed``: labels stand before the options, and are not the headers of columns.
    if 2 * sum(is_number(cell.value) for cell in given) <= len(given):
        # By those that can be read in one way only.
        seen = {counts for cell in given if (counts := _only_reading(cell.value, cell.options))}
        numbers = [cell for cell in given if is_number(cell.value)] if seen == {AnswerEncoding.LETTERS} else []
        counted = encoding_of(numbers, printed=printed) if len(numbers) >= ENOUGH else AnswerEncoding.UNKNOWN
        if counted in (AnswerEncoding.FROM_0, AnswerEncoding.FROM_1):  # B, 2, D: letters are read in it as well
            return counted
        return seen.pop() if len(seen) == 1 else AnswerEncoding.UNKNOWN
    if printed and all(cell.options.printed for cell in given):
        return AnswerEncoding.UNKNOWN  # the options carry the very numbers
    places = [(answer_numbers(cell.value), len(cell.options.pairs)) for cell in given]
    zero, last = sum(0 in numbers for numbers, _ in places), sum(size in numbers for numbers, size in places)
    beyond = sum(not numbers or max(numbers) > size for numbers, size in places)
    if sum(quoted_of(str(cell.value), cell.options.pairs) is not None for cell in given) >= MOST * len(given):
        text_alone = beyond >= (1 - MOST) * len(given)
        return AnswerEncoding.TEXTS if text_alone else _readings(given[0], "or the text of an option")
    if min(zero, last) * 50 > len(given):  # one in fifty may be a typing error
        return _readings(given[0], f"both 0 and the number of options occur, {zero} and {last} times")
    if zero != last:
        counts = AnswerEncoding.FROM_0 if zero > last else AnswerEncoding.FROM_1
        return _no_places(given, counts) or counts
    return _readings(given[0], "neither 0 nor the number of options occurs")


def _no_places(given: Sequence[Given], encoding: AnswerEncoding) -> str | None:
    """Return why numbers may not be places of options: 8 of four options, or many 1, 2, 4 and never 3 (bits)."""
    if readable_share(given, encoding) < MOST:
        odd = next(cell for cell in given if read_answer(cell.value, cell.options, encoding) is None)
        return _readings(odd, "of several numbers no option stands in that place")
    read = (cell for cell in given if read_answer(cell.value, cell.options, encoding))
    seen = {number for cell in read for number in answer_numbers(cell.value)}
    usual = median(len(cell.options.pairs) for cell in given)  # the tenth option of few rows is seldom the key
    places = {number for number in range(min(seen), max(seen)) if number < usual + (encoding is AnswerEncoding.FROM_1)}
    never = sorted(places - seen) if len(given) >= ENOUGH else []
    return _readings(given[0], f"{never[0]} is never a key, and {max(seen)} is") if never else None


def readable_share(given: Sequence[Given], encoding: AnswerEncoding) -> float:
    """The share of answers that can be read in an encoding."""
    read = [read_answer(cell.value, cell.options, encoding) for cell in given]
    accepted = [accepted_of(cell.value, [label for label, _ in cell.options.pairs]) for cell in given]
    return sum(either != (None, None) for either in zip(read, accepted, strict=True)) / len(given)


def _only_reading(value: Any, options: Options) -> AnswerEncoding | None:
    text = string(value)
    if text is None or isinstance(value, int | float):
        return None
    letters, quoted = letters_of(text, options.pairs), quoted_of(text, options.pairs)
    return (AnswerEncoding.LETTERS if letters else AnswerEncoding.TEXTS) if bool(letters) != bool(quoted) else None


def _readings(cell: Given, why: str) -> str:
    """Return the readings of a number: ``1 may be B counted from 0 or A counted from 1 (why); write answer_as = …``."""
    bare, counts = Options(cell.options.pairs), (AnswerEncoding.FROM_0, AnswerEncoding.FROM_1)
    answers = [read_answer(cell.value, bare, encoding) for encoding in counts]
    readings = [f"{''.join(answer)} counted from {base}" for base, answer in enumerate(answers) if answer]
    problem = f"{cell.value!r:.20} may be {' or '.join(readings) or 'anything'} ({why})"
    return f'{problem}; write answer_as = "index_from_0", "index_from_1" or "texts"'


def is_number(value: Any) -> bool:
    """Return whether an answer is given as a number, or several: 2, "2", "1,3", [0, 2]."""
    value = unpacked(value)
    if isinstance(value, list):  # an index stands once: [0, 1, 0, 0] marks the right option
        return bool(value) and len({str(item) for item in value}) == len(value) and all(map(is_number, value))
    if isinstance(value, str):
        return bool(_P.digits.fullmatch(value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def answer_numbers(value: Any) -> list[int]:
    """The whole numbers of an answer; -1 is none."""
    value = unpacked(value)
    if isinstance(value, list):
        return [number for item in value for number in answer_numbers(item)]
    text = str(value)
    numbers = [float(part) for part in re.findall(r"\d+(?:\.\d+)?", text)] if text[:1] != "-" else []
    return [int(part) for part in numbers if part.is_integer()]


def read_answer(value: Any, options: Options, encoding: AnswerEncoding = AnswerEncoding.UNKNOWN) -> list[str] | None:
    """Letters, in order, of an answer given as ``ABD``, ``(D)``, ``opb``, ``B. text``, a text, a number, or a list."""
    # None when there is no answer, or when two readings remain that the encoding does not settle: ``AB`` where an
    # option's text is AB, a number that may count options from 0, from 1, or be a text.
    value = unpacked(value)
    if isinstance(value, dict) and len(value) == 1:  # {"q": "B"}
        return read_answer(next(iter(value.values())), options, encoding)
    if not isinstance(value, list):
        return _read_one(value, options, encoding)
    if len(value) == len(options.pairs) and not is_number(value) and all(flag in (0, 1) for flag in value):
        return [label for (label, _), flag in zip(options.pairs, value, strict=True) if flag] or None
    parts = [_read_one(item, options, encoding) for item in value]
    return sorted({letter for part in parts if part for letter in part}) if parts and all(parts) else None


def _read_one(value: Any, options: Options, encoding: AnswerEncoding) -> list[str] | None:
    if (text := string(value)) is None:
        return None
    verdicts = {_verdict(option): label for label, option in options.pairs} if len(options.pairs) == 2 else {}
    if {*verdicts} == {True, False} and (said := _verdict(text)) is not None:  # 错 beside 正确 and 错误
        return [verdicts[said]]
    if encoding is not AnswerEncoding.TEXTS and text not in LABELS:
        if is_number(value):
            return _counted(value, options, encoding)
        if options.printed and is_number(bare := _words().sub("", fold(text))):  # option2, 选项3
            return _counted(bare, options, AnswerEncoding.UNKNOWN)
    quoted, letters = quoted_of(text, options.pairs), letters_of(text, options.pairs)
    # Columns that it names, option3, 选1;选4, ②; not B(甲): what stands beside a letter has to be its text.
    parts = () if letters or re.search("[(（]", text) else re.split(_BETWEEN_HEADERS, text)
    named = {options.named.get(plain_header(part)) for part in parts}
    letters = letters or sorted(label for label in named if label and None not in named)
    if letters and quoted and letters != quoted:
        return {AnswerEncoding.LETTERS: letters, AnswerEncoding.TEXTS: quoted}.get(encoding)
    return letters or quoted or None


@lru_cache(1 << 10)
def _verdict(text: str) -> bool | None:
    words, said = vocabulary()["words"], text.strip().casefold()
    return None if is_number(said) or said not in {*words["right"], *words["wrong"]} else said in words["right"]


def _counted(value: Any, options: Options, encoding: AnswerEncoding) -> list[str] | None:
    """Letters of numbers: as printed before the options, else counted as the source counts."""
    numbers = answer_numbers(value)
    if options.printed and all(str(number) in options.printed for number in numbers):
        return sorted({options.printed[str(number)] for number in numbers}) or None
    labels = [label for label, _ in options.pairs]
    if encoding not in (AnswerEncoding.FROM_0, AnswerEncoding.FROM_1):
        quoted = quoted_of(str(value), options.pairs)
        return quoted if quoted and not all(0 <= number <= len(labels) for number in numbers) else None
    letters = {label_at(number - (encoding is AnswerEncoding.FROM_1)) for number in numbers if number < 26}
    return sorted(letters) if numbers and letters <= set(labels) else None


@lru_cache(1 << 12)
def _bare(text: str) -> str:
    """Fold a text for comparison with answers: width, case, spaces, marks around it and &lt; for < do not count."""
    return "".join(fold(html.unescape(text)).split()).strip("。．.'\"“”").casefold()


def quoted_of(text: str, options: Pairs) -> list[str] | None:
    """Return the label of the only option with that text; for several texts between marks, their labels."""
    if len(text) == 1:  # A letter is no text of many characters or of Chinese ones, whatever is folded.
        latin = text.isascii()
        options = [(of, it) for of, it in options if len(it) <= _FOLDED and not (latin and _P.chinese.search(it))]
    stripped, bare = text.strip(), _bare(text)
    exact = [label for label, option in options if option.strip() == stripped]
    hits = exact or [label for label, option in options if _bare(option) == bare]
    if len(hits) == 1:
        return hits
    for mark in _BETWEEN_TEXTS if options else ():
        parts = [part for part in text.split(mark) if part.strip()]
        if len(parts) > 1:
            quotes = [quoted_of(part, options) for part in parts if mark not in part]
            return sorted({label for labels in quotes if labels for label in labels}) if all(quotes) else None
    return None


@cache
def _words() -> re.Pattern[str]:
    """Words before the letters or number of an answer: 答案：B, 选项C, Option D, opb, option2."""
    words = sorted(vocabulary()["words"]["answer"], key=len, reverse=True)
    ends = rf"(?=[(（\[【]?{LABEL}[^A-Za-z]*$|\d{{1,2}}$)"
    return re.compile(rf"^\s*(?:{'|'.join(map(re.escape, words))})[\s_:：.\-是为]*{ends}", re.IGNORECASE)


def letters_of(text: str, options: Pairs) -> list[str] | None:
    """The letters that an answer's text gives; None where it is anything else."""
    if (len(text) == 1 and text in LABELS) or any(text == label for label, _ in options):  # L of a word bank A … O
        return [text]
    text = _words().sub("", fold(text))
    if _P.letters_only.fullmatch(text) and _P.letters.search(text):
        return sorted({*map(str.upper, _P.letters.findall(text))})
    both = _P.letter_and_text.fullmatch(text)
    printed, given = (_bare(dict(options).get(both[1].upper(), "")), _bare(both[2])) if both else ("", "")
    return [both[1].upper()] if both and printed and printed in (given, given.strip("()（）")) else None


def accepted_of(value: Any, labels: Sequence[str]) -> tuple[list[str] | None, list[list[str]]] | None:
    """The key and every accepted answer, where a cell states that several earn the mark."""
    # ``送分(原:D)``: everybody gets it, the key was D. ``A或C``: either.
    text = fold(value) if isinstance(value, str) and len(value) > 1 else ""
    everybody = bool(text) and any(word in text for word in vocabulary()["words"]["everybody"])
    if everybody and (not _P.letters.search(text) or any(word in text for word in ("原", "送", "一律"))):
        named = {*map(str.upper, _P.letters.findall(text))} & {*labels}
        return sorted(named) or None, [[label] for label in labels]
    if _P.either.fullmatch(text):
        letters = sorted({*labels_in(text.upper().replace("OR", " "))})
        return letters, [[letter] for letter in letters]
    return None
