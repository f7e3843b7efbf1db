"""The language of what the terminal shows: English, or Chinese by ``--lang`` or the locale; texts are in ``zh.toml``.

Code writes English. What is printed passes through ``translated`` (sentences), ``word`` (headings) or ``either``.
Scripts see no difference: exit codes and ``--json`` are the same.
"""

import os
import re
from enum import StrEnum
from functools import cache
from typing import Any

from build_dataset.schemas.data import shipped_toml

_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set counts, as for other programs
_PLACE = re.compile(r"\{(\d+)\}")
_PIECES = re.compile(r"(\{\d+\})")
_DEPTH = 2  # sentences within sentences: the reason of a refusal inside its advice


class MessageLanguage(StrEnum):
    """A language of messages."""

    ZH = "zh"
    EN = "en"


_chosen: list[MessageLanguage] = []  # by --lang, for the command that runs


def choose(language: MessageLanguage | None) -> None:
    """Take the language of ``--lang``; None: the locale's."""
    _chosen[:] = [language] if language else []


def is_chinese() -> bool:
    """Return whether messages are Chinese."""
    locale = next((value for name in _VARIABLES if (value := os.environ.get(name))), "")
    return _chosen[0] is MessageLanguage.ZH if _chosen else locale.lower().startswith("zh")


def either(english: str, chinese: str) -> str:
    """Return one of two texts."""
    return chinese if is_chinese() else english


def word(english: str, kind: str = "words") -> str:
    """Return a heading, a state or an outcome, ``kept`` → 保留, or a line of ``help``."""
    return str(_texts()[kind].get(english, english)) if is_chinese() else english


def stage_name(stage: str) -> str:
    """Return ``解析 parse`` of a stage; in English its name alone."""
    names = shipped_toml("build_dataset.pipeline.report", "words.toml")["stages"]  # as the report says it
    return either(stage, f"{names.get(stage) or word(stage)} {stage}")


def translated(text: str) -> str:
    """Return a message line by line; a line that the catalogue does not know stays as it is."""
    return "\n".join(map(_line, text.split("\n"))) if is_chinese() else text


def _line(line: str, depth: int = _DEPTH) -> str:
    bare = line.strip()
    unit = re.fullmatch(r"(\d[\d,]*) ([a-z ]+)", bare)  # 3 questions
    if unit and (chinese := _texts()["units"].get(unit[2].removesuffix("s"))):
        return f"{unit[1]} {chinese}"
    for pattern, chinese in _messages():
        if match := pattern.fullmatch(bare):
            parts = {f"{{{at}}}": _line(part, depth - 1) if depth else part for at, part in enumerate(match.groups())}
            return line.replace(bare, "".join(parts.get(piece, piece) for piece in _PIECES.split(chinese)), 1)
    return line


@cache
def _messages() -> list[tuple[re.Pattern[str], str]]:
    """Patterns of the English messages with their Chinese texts, those with most letters of their own first."""
    known: dict[str, str] = _texts()["messages"]
    ordered = sorted(known, key=lambda text: -len(_PLACE.sub("", text)))
    # A group for each placeholder, in the order of their numbers in the English text.
    patterns = ("(.*?)".join(map(re.escape, _PLACE.split(english)[::2])) for english in ordered)
    return [(re.compile(each, re.DOTALL), known[english]) for each, english in zip(patterns, ordered, strict=True)]


@cache
def _texts() -> dict[str, Any]:
    return shipped_toml("build_dataset.pipeline.cli", "templates/zh.toml")
