"""Numbers in sentences."""

from __future__ import annotations


def counted(count: int, one: str, many: str | None = None) -> str:
    """``1 question``, ``2,000 questions``.

    Args:
        count: how many.
        one: what one is called.
        many: what several are called; ``one`` with an s when absent.
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
