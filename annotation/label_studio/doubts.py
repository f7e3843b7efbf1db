"""Why a question waits, in words for those who verify it. Pure."""

from __future__ import annotations

import re

from schemas.questions import ReviewItem
from schemas.reasons import reason_names

NAMES = reason_names()
"""Reasons in Chinese."""
_CODE = re.compile(rf"(?:^|; )({'|'.join(NAMES)}): ")


def told(item: ReviewItem) -> str:
    """The doubts of an item, one a line, in both languages."""
    named = item.detail.startswith(f"{item.reason}: ")
    detail = item.detail if named or not item.detail else f"{item.reason}: {item.detail}"
    return _CODE.sub(lambda found: f"\n{NAMES[found[1]]} {found[1]}：", detail or item.reason).strip()
