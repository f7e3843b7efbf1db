"""Numbers in sentences; reasons for which items are rejected or wait, with their Chinese names and what to do."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, get_args

from build_dataset.schemas import data, dataset, grouping

SPECIAL_TOKENS = (
    r"<[|｜][\w▁ -]{1,40}[|｜]>|</?(?:think|tool_call|start_of_turn|end_of_turn)>|<(?:start|end)_of_turn>"
    r"|\[/?INST\]|<</?SYS>>"
)
"""Marks of turns in chat templates (``<|im_start|>``, ``[INST]``): a tokenizer may read it as such in a question."""


@dataclass(frozen=True)
class Notice:
    """A sentence for readers of a result, in both languages."""

    english: str
    chinese: str
    lost: int = 0  # Questions that are missing for it.


def counted(count: int, one: str, many: str | None = None) -> str:
    """``1 question``, ``2,000 questions``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def minute(moment: str) -> str:
    """``2026-11-22 08:15 UTC`` of a moment in ISO 8601."""
    return f"{datetime.fromisoformat(moment).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def tally_failures(failures: Iterable[tuple[str, str]]) -> str:
    """Return ``connection 25: no connection to http://…; timeout 1: …`` with the most frequent detail of each."""
    details = sorted(grouping.group_values(failures).items())
    told = (f"{reason} {len(details_of)}: {Counter(details_of).most_common(1)[0][0]}" for reason, details_of in details)
    return "; ".join(told)


_QUOTED = re.compile(r"'([^']{2,120})'|“([^“”]{2,120})”|\"([^\"]{2,120})\"")  # repr writes the last where ' is inside
_ELSE = "build-dataset inspect FILE shows them", "build-dataset inspect FILE 可查看"
"""Remedy of a reason that has none of its own."""


def reason_names() -> dict[str, str]:
    """Chinese names of all known reasons."""
    names: dict[str, str] = _read()["names"]
    return names


def in_both_languages(reason: str) -> str:
    """Return ``没有答案 no_answer``; a reason of one's own filter stays as it is."""
    name = reason_names().get(reason)
    return f"{name} {reason}" if name else reason


def findings(reason: str, detail: str) -> list[tuple[str, str]]:
    """Return the codes and the evidence of ``no_answer: the key lacks it; empty_option: no text at B``, one by one."""
    first, *others = _code().split(f"; {detail}")
    known = list(zip(others[::2], others[1::2], strict=True))
    return [(reason, first[2:]), *known] if first or not known else known


def quoted(detail: str) -> list[str]:
    """Return the places that evidence names: something is missing in stem: '1,2,3, ,n，其出栈序列'."""
    quotes = (next(filter(None, parts)) for parts in _QUOTED.findall(detail))
    return [quote.replace("\\n", "\n").replace("\\t", "\t") for quote in quotes]  # line breaks as two characters


def look_at(reason: str) -> list[str]:
    """Return where to look and what to do about a question that waits, in Chinese and in English."""
    known: list[str] = _read()["looks"].get(reason) or _read()["looks"]["else"]
    return known


def doubts_key(reason: str) -> bool:
    """Return whether a reason doubts a question's key."""
    return reason in _read()["places"]["key"]


def settling(reason: str, file: str) -> str | None:
    """Return the line of dataset.toml that settles a doubt where it does not hold; None where people decide each."""
    accept = f'[sources."FILE"] accept = ["{reason}"]' if reason in get_args(dataset.Acceptable) else None
    line: str | None = _read()["settling"].get(reason, accept)
    return line and line.replace('"FILE"', json.dumps(file, ensure_ascii=False))  # a quotation mark in a name


def remedy(reason: str, file: str) -> tuple[str, str]:
    """Return what to do about a reason, in English and in Chinese."""
    english, chinese = _read()["remedies"].get(reason, _ELSE)
    return english.replace("FILE", file), chinese.replace("FILE", file)


@cache
def _code() -> re.Pattern[str]:
    return re.compile(rf"; ({'|'.join(reason_names())}): ")


@cache
def _read() -> dict[str, Any]:
    return data.shipped_toml("build_dataset.schemas", "reasons.toml")
