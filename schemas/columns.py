"""Headers under which tabular sources keep the parts of a question; the names are data, in ``columns.toml``."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

from build_dataset.schemas.data import shipped_toml

_BRACKETS = re.compile(r"[(（\[【<][^)）\]】>]{0,40}[)）\]】>]")  # 题干（必填）
_ACCENTS = re.compile("[\u0300-\u036f]")
_MARKS = re.compile(r"[\W_]+")  # correct_answer, 选项-A
_WHOLE = str.maketrans("ıłđø", "ildo")  # letters that no accent is split off from: Açıklama, đáp án
_MISSPELT = re.compile("awnser|anwser|asnwer|answear")  # Correct_Awnser
_LABEL = re.compile(r"(?P<label>[a-k]|\d{1,2}|[一二三四五六七八九十])")  # opA, 选项3, 选项三
_NAMES = "arabic|bengali|chinese|english|french|german|hindi|japanese|korean|portuguese|russian|spanish|urdu"
_LANGUAGE = re.compile(  # question_de, questionEn, English Question
    r"(.{2,})(?:[ _-]|(?<=[a-z])(?=[A-Z]))((?i:ar|bn|cn|de|en|es|fr|hi|it|ja|jp|ko|kr|pl|pt|ru|th|tr|tw|uk|vi|zh"
    rf"|{_NAMES}))|((?i:{_NAMES}))[ _-](.{{2,}})"
)
_CHINESE = "一二三四五六七八九十"  # numbers of options


@cache
def vocabulary() -> dict[str, Any]:
    """The content of ``columns.toml``."""
    return shipped_toml("build_dataset.schemas", "columns.toml")


@cache
def plain_header(header: str) -> str:
    """A header as it is compared: ``Correct_Answer`` → ``correctanswer``, ``题干（必填）`` → ``题干``."""
    # Accents do not count, nor how a cell is written: ``Réponse`` is ``reponse``, ``optionsJson`` is ``options``.
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", header))
    text = unicodedata.normalize("NFKC", bare).strip().casefold().translate(_WHOLE)
    bare = _MARKS.sub("", _BRACKETS.sub("", text))
    return _MISSPELT.sub("answer", bare.removesuffix("json").removesuffix("html") or bare or _MARKS.sub("", text))


@cache
def _roles() -> dict[str, tuple[str, ...]]:
    roles: dict[str, tuple[str, ...]] = {}
    for role, known in vocabulary()["roles"].items():
        for name in map(plain_header, known):
            roles[name] = (*roles.get(name, ()), role)
    return roles


def roles_of(header: str) -> tuple[str, ...]:
    """The parts of a question that a header names; ``correct`` may be an answer or a number of people."""
    return _roles().get(plain_header(header), ())


@cache
def in_language(header: str) -> tuple[str, str] | None:
    """Return the header and the language of one that ends with its code: ``question_de`` → (``question``, ``de``)."""
    found = _LANGUAGE.fullmatch(header)
    return (found[1] or found[4], (found[2] or found[3]).lower()) if found else None


@cache
def option_of(header: str) -> tuple[str, str] | None:
    """Return a header of one option as word and label: ``opA`` → (``op``, ``A``); None for a number alone."""
    name = plain_header(header)
    for word in sorted(map(plain_header, vocabulary()["options"]["words"]), key=len, reverse=True):
        rest = name.removeprefix(word) if name.startswith(word) else name.removesuffix(word)
        if rest != name and _LABEL.fullmatch(rest):
            return word, _upper(rest)
    return ("", name.upper()) if len(name) == 1 and name.upper() in vocabulary()["options"]["labels"] else None


def option_groups(headers: Sequence[str]) -> dict[str, dict[str, str]]:
    """Headers of one option each by their word, each group by letter in order: option0 is A, option1 is B."""
    # Numbers must run on from 0 or 1; letters may begin anywhere and have gaps.
    groups: dict[tuple[str, bool], dict[str, str]] = {}
    signs = [header for header in headers if len(plain_header(header)) == 1]  # 甲 乙 丙, as of another alphabet
    if any(alphabet.startswith("".join(signs)) for alphabet in vocabulary()["options"]["alphabets"] if len(signs) > 1):
        return {"": {chr(65 + at): header for at, header in enumerate(signs)}}
    for header in headers:
        named = ("", name) if (name := plain_header(header)).isdecimal() else option_of(header)  # 1, 2, 3
        if named and not roles_of(header):
            groups.setdefault((named[0], named[1].isdigit()), {}).setdefault(named[1], header)
    by_word: dict[str, dict[str, str]] = {}
    for (word, numbered), labels in groups.items():
        if not numbered:
            by_word[word] = {label: labels[label] for label in sorted(labels)}
            continue
        numbers = sorted(map(int, labels))
        in_turn = numbers == list(range(numbers[0], numbers[0] + len(numbers))) and numbers[0] in (0, 1)
        if in_turn and len(numbers) <= len(vocabulary()["options"]["labels"]):  # 1 … 80 are numbers of questions
            by_word[f"{word}1"] = {chr(65 + at - numbers[0]): labels[str(at)] for at in numbers}
    return by_word


def _upper(label: str) -> str:
    return str(_CHINESE.index(label) + 1) if label in _CHINESE else label.upper()


STEM, OPTIONS, SHARED = (
    tuple(vocabulary()["roles"][role]) for role in ("stem", "options", "shared")
)  # the strongest first

_FORMULA = re.compile(r"'*[=+\-@\t\r]")  # =1+1, @SUM, also escaped already


def guarded(cell: str) -> str:
    """A cell of a CSV file as no spreadsheet runs it: ``=1+1`` → ``'=1+1``. ``unguarded`` gives it back."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """Return the text of a guarded cell; other cells are returned unchanged."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell) else cell
