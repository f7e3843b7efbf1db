"""Reasons for which items are rejected or wait: their Chinese names and what to do about them."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

_ELSE = "build-dataset inspect FILE shows them", "build-dataset inspect FILE 可查看"
"""Remedy of a reason that has none of its own."""


def reason_names() -> dict[str, str]:
    """Chinese names of all known reasons."""
    names: dict[str, str] = _read()["names"]
    return names


def in_both_languages(reason: str) -> str:
    """Return ``没有答案 no_answer``; a reason of one's own (``clean.comment_rules``) stays as it is."""
    name = reason_names().get(reason)
    return f"{name} {reason}" if name else reason


def findings(reason: str, detail: str) -> list[tuple[str, str]]:
    """Return the codes and the evidence of ``no_answer: the key lacks it; empty_option: no text at B``, one by one."""
    first, *others = _code().split(f"; {detail}")
    known = list(zip(others[::2], others[1::2], strict=True))
    return [(reason, first[2:]), *known] if first or not known else known


def remedy(reason: str, file: str) -> tuple[str, str]:
    """Return what to do about a reason, in English and in Chinese."""
    english, chinese = _read()["remedies"].get(reason, _ELSE)
    return english.replace("FILE", file), chinese.replace("FILE", file)


@cache
def _code() -> re.Pattern[str]:
    return re.compile(rf"; ({'|'.join(reason_names())}): ")


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads((files("schemas") / "reasons.toml").read_text(encoding="utf-8"))
