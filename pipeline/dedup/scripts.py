"""Traditional and simplified characters as one, for comparison alone: a Taiwanese and a mainland bank share items.

Character by character, so that keys stay comparable place by place; words that the two sides call otherwise
(軟體 / 软件) stay different.
"""

from __future__ import annotations

from functools import cache

import polars as pl

_IDEOGRAPHS = (*range(0x3400, 0x4DC0), *range(0x4E00, 0xA000))


_VARIANTS = dict(zip("粘髙査窿孢䓬绐眛裏線蹠", "黏高查隆胞卓给昧里线跖", strict=True))
"""Characters that one word is written with in two ways: 粘膜 / 黏膜, 穹窿 / 穹隆, 芽孢 / 芽胞, and old forms in new
fonts (髙)."""


def simplified(text: pl.Expr) -> pl.Expr:
    """A text column with every traditional or variant character in its simplified form."""
    table = _table()
    return text.str.replace_many(list(table), list(table.values()))


@cache
def _table() -> dict[str, str]:
    """Traditional character → simplified one, by OpenCC's first choice."""
    from opencc import OpenCC

    characters = [chr(code) for code in _IDEOGRAPHS]
    converted = OpenCC("t2s").convert("\n".join(characters)).split("\n")
    pairs = zip(characters, converted, strict=True)
    return {old: new for old, new in pairs if old != new and len(new) == 1} | _VARIANTS
