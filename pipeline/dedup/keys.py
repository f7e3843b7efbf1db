"""Comparison keys: what two copies of a question have in common, whatever typed or read them.

A key folds width, case, script (traditional and simplified), white space and punctuation; numbers keep their decimal
points, ranges and lists. A core is the key without the set phrases of exams. All vectorised: 280,000 questions pass
through here.
"""

from __future__ import annotations

import polars as pl

from pipeline.dedup.phrases import EXCEPT, FILLER, SYNONYMS
from pipeline.dedup.scripts import simplified

OPTION_BREAK = "\x1f"
"""Stands between the options in a joined text."""

_LISTED = r"([0-9])、(?-u:\b)|([a-zα-ω])[、,](?-u:\b)"
_BETWEEN = "¦"
"""Keeps listed numbers and letters apart: Ⅰ、Ⅳ导联 and Ⅱ、Ⅴ导联 would both be iiv."""

_CLAUSE = r"([^，。；;！!\n]*[^，。；;！!：:？?（()）\s_.]{2})[，。；;！!：:？?（()）\s_.]*$"

_HEAD = (
    r"^\s*(?:第?\s*[0-9０-９]{1,4}\s*[题題]|[0-9０-９]{1,4}\s*(?:[．、)）]|\.\s)"
    r"|[【\[（(〔][^】\]）)〕0-9]{0,4}(?:[0-9]+\s*分|[A-Za-z][0-9]型[题題]|[题題]|[选選])[】\]）)〕])\s*([^0-9０-９\s])"
)
"""What papers and question banks put before a stem: its number, its kind, its marks. A list of numbers is none."""


def with_keys(questions: pl.DataFrame) -> pl.DataFrame:
    """Comparison keys of questions, row by row.

    Args:
        questions: a ``Question`` table.

    Returns:
        Columns ``key`` (shared stem and stem), ``core``, ``ask`` (core of the last clause), ``option_keys`` (list),
        ``exact`` (equal for questions that say the same, options in any order).
    """
    stem = _without_head(pl.col("stem"))
    whole = pl.concat_str(_without_head(pl.col("shared_stem").fill_null("")), stem)
    texts = pl.col("options").list.eval(pl.element().struct.field("text"))
    joined = texts.list.join(OPTION_BREAK).fill_null("")
    keyed = questions.select(
        key=folded(whole),
        ask=core(folded(stem.str.extract(_CLAUSE, 1).fill_null(stem))),
        option_keys=folded(joined, keep=OPTION_BREAK).str.split(OPTION_BREAK),
    )
    return keyed.with_columns(
        core=core(pl.col("key")),
        exact=pl.concat_str(
            pl.col("key"), pl.col("option_keys").list.sort().list.join(OPTION_BREAK), separator="\x1e"
        ),
    )


def _without_head(text: pl.Expr) -> pl.Expr:
    """A text without what stands before stems: at most three such marks."""
    for _ in range(3):
        text = text.str.replace(_HEAD, "${1}")
    return text


def folded(text: pl.Expr, keep: str = "") -> pl.Expr:
    """The comparison key of a text column; characters in ``keep`` stay."""
    return (
        simplified(text.str.normalize("NFKC"))
        .str.to_lowercase()
        .str.replace_all(r"\s+", "")
        .str.replace_all(_LISTED, f"${{1}}${{2}}{_BETWEEN}")
        .str.replace_all(r"([0-9])\.([0-9])", "${1}·${2}")
        .str.replace_all(r"([0-9])[~\-–—〜]([0-9])", "${1}~${2}")
        .str.replace_all(r"(^|[^\p{L}0-9])[-−–—]([0-9])", "${1}−${2}")
        .str.replace_all(rf"[^\p{{L}}\p{{N}}·~−%+<>≥≤±×↑↓°{_BETWEEN}{keep}]", "")
    )


def core(key: pl.Expr) -> pl.Expr:
    """A key without the set phrases of exams."""
    return key.str.replace_many(SYNONYMS).str.replace_all(EXCEPT, "${1}").str.replace_all(FILLER, "")
