"""Comparison keys: what two copies of a question have in common, whatever typed or read them.

A key folds width, case, script (traditional and simplified), white space, punctuation, and how units, charges and
percentages are typed; numbers keep their decimal points, ranges and lists. A core is the key without the set phrases
of exams. All vectorised: 280,000 questions pass through here.
"""

from dataclasses import dataclass
from functools import cache

import polars as pl

from pipeline.dedup.meaning import EXCEPT, FILLER, SIGNS, SYNONYMS, TYPED, UNITS, VARIANTS, WORDS

OPTION_BREAK = "\x1f"
"""Stands between the options in a joined text."""

_BETWEEN = "¦"
"""Keeps listed numbers and letters apart."""
_NUMERALS = dict(zip("一二两三四五六七八九", "1223456789", strict=True))
_COUNTED = {
    f"{numeral}{unit}": digit + UNITS.get(unit, unit)
    for numeral, digit in _NUMERALS.items()
    for unit in ("年", "个月", "周", "天", "日", "小时", "岁", "次")
} | {
    before + unit: before + UNITS[unit]
    for unit in sorted(UNITS, key=len, reverse=True)
    for before in "0123456789/"
}
"""Numerals that count time and turns (近一年 is typed 近1年 too), and units in words; the longer first."""


def with_keys(questions: pl.DataFrame) -> pl.DataFrame:
    """Return comparison keys of questions, row by row.

    ``key`` is of shared stem and stem, ``core`` and ``option_keys`` (a list) are parts; ``exact`` is equal for
    questions that say the same, options in any order.
    """
    whole = pl.concat_str(*(_without_head(pl.col(part).fill_null("")) for part in ("shared_stem", "stem")))
    texts = pl.col("options").list.eval(pl.element().struct.field("text"))
    joined = texts.list.join(OPTION_BREAK).fill_null("")
    keyed = questions.select(
        key=comparison_key(whole),
        option_keys=comparison_key(joined, keep=OPTION_BREAK).str.split(OPTION_BREAK),
    )
    return keyed.with_columns(
        core=core_key(pl.col("key")),
        exact=pl.concat_str(
            pl.col("key"), pl.col("option_keys").list.sort().list.join(OPTION_BREAK), separator="\x1e"
        ),
    )


def _without_head(text: pl.Expr) -> pl.Expr:
    """A text without what stands before stems: at most three such marks."""
    for _ in range(3):
        text = text.str.replace(WORDS["head"], "${1}")
    return text.str.replace(WORDS["tail"], "").str.replace_all(WORDS["ask_number"], "${1}${2}")


def comparison_key(text: pl.Expr, keep: str = "") -> pl.Expr:
    """The comparison key of a text column; characters in ``keep`` stay."""
    text = _replaced(text, TYPED)
    simple = _simple_forms()
    text = text.str.normalize("NFKC").str.replace_many(list(simple), list(simple.values())).str.to_lowercase()
    text = text.str.replace_all(r"\s+", "").str.replace_many(_COUNTED, leftmost=True)
    return (
        _replaced(text, SIGNS)
        .str.replace_all(WORDS["listed"], f"${{1}}${{2}}{_BETWEEN}")
        .str.replace_all(r"([0-9])\.([0-9])", "${1}·${2}")
        .str.replace_all(r"([0-9])[~\-〜]([a-z]?[0-9])", "${1}~${2}")  # 3-5, V1-V4
        .str.replace_all(r"(^|[^\p{L}0-9])-([0-9]|[)）])", "${1}−${2}")
        .str.replace_all(rf"[^\p{{L}}\p{{N}}·~−%+<>≥≤±×↑↓°{_BETWEEN}{keep}]", "")
    )


@cache
def _simple_forms() -> dict[str, str]:
    """Traditional character → simplified one, by OpenCC's first choice; variants of one word.

    Character by character, so that keys stay comparable place by place; words that Taiwan and the mainland call
    otherwise (軟體 / 软件) stay different.
    """
    from opencc import OpenCC

    characters = [chr(code) for code in (*range(0x3400, 0x4DC0), *range(0x4E00, 0xA000))]
    converted = OpenCC("t2s").convert("\n".join(characters)).split("\n")
    pairs = zip(characters, converted, strict=True)
    return {old: new for old, new in pairs if old != new and len(new) == 1} | VARIANTS


def _replaced(text: pl.Expr, signs: list[tuple[str, str]]) -> pl.Expr:
    for pattern, written in signs:
        text = text.str.replace_all(pattern, written)
    return text


def core_key(key: pl.Expr) -> pl.Expr:
    """A key without the set phrases of exams."""
    return key.str.replace_many(SYNONYMS).str.replace_all(EXCEPT, "${1}").str.replace_all(FILLER, "")


_UNSURE = 0.95
"""Recognition confidence of the worst line below which characters of it may be misread: of questions above it one in a
hundred has a wrong character, of those below one in fourteen (benchmarks/ocr)."""


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """A question as it is compared.

    Attributes:
        letters: the characters of its core, sorted: what two cores have in common in any order.
        labels: letters of its options.
        options: comparison keys of its options, as ``labels``.
        keys: every set of letters that earns the mark; empty when it has no key.
        group: what ties it to other questions of its document: they are different questions by construction.
        doubtful: whether recognition was unsure of a line of it; never for text layers and tables.
    """

    key: str
    core: str
    letters: str
    labels: tuple[str, ...]
    options: tuple[str, ...]
    keys: tuple[frozenset[str], ...]
    group: str | None
    doubtful: bool = False


def comparable_items(questions: pl.DataFrame, keys: pl.DataFrame, rows: list[int]) -> dict[int, Compared]:
    """The items of some ``rows`` of the questions, by row."""
    columns = questions[rows].select(
        pl.col("options").list.eval(pl.element().struct.field("label")).alias("labels"),
        "answer",
        "accepted_answers",
        pl.concat_str("document", "group_id", separator="\x1f").alias("group"),
        (pl.col("confidence") < _UNSURE).fill_null(False).alias("doubtful"),
    )
    compared = keys[rows].select("key", "core", "option_keys")
    made = {}
    for row, (labels, answer, accepted, *known), (key, core, options) in zip(
        rows, columns.iter_rows(), compared.iter_rows(), strict=True
    ):
        right = tuple(dict.fromkeys(map(frozenset, ([answer] if answer else []) + (accepted or []))))
        texts = tuple(options[: len(labels)])
        made[row] = Compared(key, core, "".join(sorted(core)), tuple(labels), texts, right, *known)
    return made
