"""Words of the report in both languages, from ``words.toml``."""

import string
import tomllib
from importlib.resources import files
from typing import Any

from schemas.questions import SPLIT_NAMES
from schemas.wording import Notice, counted

_WORDS: dict[str, Any] = tomllib.loads((files("pipeline.report") / "words.toml").read_text(encoding="utf-8"))
STAGES: dict[str, str] = _WORDS["stages"]
UNITS: dict[str, str] = _WORDS["units"]
OUTCOMES: dict[str, str] = _WORDS["outcomes"]
SPLITS = SPLIT_NAMES
FIELDS: dict[str, str] = _WORDS["fields"]
CHANGES: dict[str, str] = _WORDS["changes"]
MERGED: dict[str, str] = _WORDS["merged"]
TWINS: dict[str, str] = _WORDS["twins"]
STATUSES: dict[str, list[str]] = _WORDS["statuses"]


class _Counting(string.Formatter):
    """Formats numbers with the name of what they count: ``{n:question}``."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return ``2 questions`` for a name, and the usual form for other specifications."""
        if format_spec[:1].isalpha() and isinstance(value, int):
            return counted(value, *format_spec.split("/"))
        return str(super().format_field(value, format_spec))


def notice(name: str, *, lost: int = 0, **values: Any) -> Notice:
    """Return the notice of that name.

    Args:
        name: in ``words.toml``.
        lost: questions that are missing for it.
        **values: of its placeholders, beside ``lost``.
    """
    english, chinese = (_Counting().format(said, lost=lost, **values) for said in _WORDS["notices"][name])
    return Notice(english, chinese, lost)
