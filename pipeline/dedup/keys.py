"""Comparison keys of questions, and what the words of exam stems say (``phrases.toml``).

A key is what two copies of a question have in common, whatever typed or read them. It folds width, script
(traditional and simplified), white space, punctuation, the case of words, and how units, charges and percentages are
typed. Symbols keep their case (Aa, CO, mg), signs their place (a∪b, 1:2), numbers their points, ranges and lists. A
core is the key without the set phrases of exams. All vectorised: 280,000 questions pass through here.

Two stems that differ in numbers, units, sex, age or negation are twins. Similarity cannot tell: a 正确/不正确 twin has
a Jaccard similarity of .75–.98, two wordings of one question .55–.71.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache

import polars as pl

from build_dataset.pipeline.characters import simple_forms
from build_dataset.schemas.data import shipped_toml

WORDS = shipped_toml("build_dataset.pipeline.dedup", "phrases.toml")
EXCEPT = r"除(?:了|去)?(.{1,24}?)(?:以|之)?外"  # `除 X 外`, which asks for the exception
NEGATIVE_ASK, POSITIVE_ASK = ("|".join(WORDS[name].split()) for name in ("negative_ask", "positive_ask"))
FILLER = "|".join(word for key in ("filler", "negative_ask", "positive_ask", "copulas") for word in WORDS[key].split())
"""Everything that is taken out of a key to get its core."""
SYNONYMS = {other: words[0] for line in WORDS["synonyms"] for words in [line.split()] for other in words[1:]}
LIGHT, ASKED, OPPOSITES = (frozenset(WORDS[name].split()) for name in ("light", "asked", "opposites"))
FUNCTION, MODIFIERS = frozenset(WORDS["function"]), frozenset(WORDS["modifiers"])  # 的, 可能; 亚, 次, 上, 下
SUFFIXES = tuple(map(frozenset, WORDS["suffixes"].split()))  # 性 / 状
VARIANTS = {pair[0]: pair[1] for pair in WORDS["variants"].split()}  # 粘 → 黏
CLASSES: dict[str, str] = WORDS["classes"]
TYPED: list[tuple[str, str]] = WORDS["typed"]
UNITS: dict[str, str] = WORDS["units"]
SIGNS: list[tuple[str, str]] = WORDS["signs"]
_NEGATIVE, _POSITIVE, _EXCEPT = map(re.compile, (NEGATIVE_ASK, POSITIVE_ASK, EXCEPT))  # 错误的是; 正确的是; 除高血压外
_COMPILED = ("negation", "no_negation", "quantity", "chinese_number", "sex")
_NEGATION, _NO_NEGATION, _QUANTITY, _COUNTING, _SEX = (re.compile(WORDS[key]) for key in _COMPILED)
_AGE_UNITS = {"岁", "月", "天"}  # 8 月 is an age beside 岁, a term of treatment alone
_LETTER = "A-Za-zÀ-ɏͰ-ϿЀ-ӿ"
_RUN = re.compile(f"[{_LETTER}]+")  # hla, IL, α
_CAPITALS = re.compile(f"(?<![{_LETTER}])[a-z]*+[{_LETTER}]+")  # the same but for hla: IL, pH
_PROSE = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(WORDS['prose'].split())})(?=\s+[A-Za-z0-9])")  # In vitro, A 45-year
_SERIES = re.compile(r"(.)\1*(?:(.)(?:\1|\2)*)?|(?:(.)\3+)+|a?b?c?d?e?f?g?h?")
"""Letters that are symbols whatever their case: of two kinds (Gg, IAi), in pairs (AaBb), in a row (Abc)."""
_EITHER = tuple(frozenset(WORDS[name].split()) for name in ("either_case", "units_either_case"))
OPTION_BREAK = "\x1f"  # stands between the options in a joined text
_BETWEEN = "¦"  # keeps listed numbers and letters apart
_NUMERALS = dict(zip("一二两三四五六七八九", "1223456789", strict=True))
_COUNTED = {
    f"{numeral}{unit}": digit + UNITS.get(unit, unit)
    for numeral, digit in _NUMERALS.items()
    for unit in ("年", "个月", "周", "天", "日", "小时", "岁", "次")
} | {before + unit: before + UNITS[unit] for unit in sorted(UNITS, key=len, reverse=True) for before in "0123456789/"}
"""Numerals that count time and turns (近一年 is typed 近1年 too), and units in words; the longer first."""


def with_keys(questions: pl.DataFrame) -> pl.DataFrame:
    """Keys by question: ``key`` of case and stem, its ``core``, ``option_keys``; ``exact``: options in any order."""
    whole = pl.concat_str(*(_without_head(pl.col(part).fill_null("")) for part in ("shared_stem", "stem")))
    texts = pl.col("options").list.eval(pl.element().struct.field("text"))
    joined = comparison_key(texts.list.join(OPTION_BREAK).fill_null(""), keep=OPTION_BREAK)
    keyed = questions.select(key=comparison_key(whole), option_keys=joined.str.split(OPTION_BREAK))
    return keyed.with_columns(
        core=pl.col("key").str.replace_many(SYNONYMS).str.replace_all(EXCEPT, "${1}").str.replace_all(FILLER, ""),
        exact=pl.concat_str(pl.col("key"), pl.col("option_keys").list.sort().list.join(OPTION_BREAK), separator="\x1e"),
    )


def _without_head(text: pl.Expr) -> pl.Expr:
    """A text without what stands before stems: at most three such marks."""
    for _ in range(3):  # 【A1型题】12.（2019）
        text = text.str.replace(WORDS["head"], "${1}")
    return text.str.replace(WORDS["tail"], "").str.replace_all(WORDS["ask_number"], "${1}${2}")


def comparison_key(text: pl.Expr, keep: str = "") -> pl.Expr:
    """The comparison key of a text column; characters in ``keep`` stay."""
    text = _replaced(text, TYPED)  # before NFKC, which makes an o of the º in 38º
    # One by one: keys compare place by place, 軟體 and 软件 stay different.
    simple = simple_forms() | VARIANTS
    text = text.str.normalize("NFKC").str.replace_many(list(simple), list(simple.values()))
    text = folded_case(text).str.replace_all(r"\s+", "").str.replace_many(_COUNTED, leftmost=True)
    return (
        _replaced(text, SIGNS)
        .str.replace_all(WORDS["listed"], f"${{1}}${{2}}{_BETWEEN}")
        .str.replace_all(r"([0-9])\.([0-9])", "${1}·${2}")  # 2.5 is not 25
        .str.replace_all(r"([0-9])[~\-〜]([A-Za-z]?[0-9])", "${1}~${2}")  # 3-5, V1-V4
        .str.replace_all(r"(^|[^\p{L}0-9])-([0-9]|[)）])", "${1}−${2}")  # -5 is no 5, (-) no (+)
        .str.replace_all(rf"[^\p{{L}}\p{{M}}\p{{N}}\p{{Sm}}\p{{Sc}}{WORDS['kept']}{_BETWEEN}{keep}]", "")
    )


def folded_case(text: pl.Expr) -> pl.Expr:
    """A text column in lower case but for letters that are symbols: see ``symbols_kept``."""
    return text.map_batches(_folded_case, return_dtype=pl.String, is_elementwise=True)


def _folded_case(texts: pl.Series) -> pl.Series:
    rows = texts.str.contains(r"\p{Lu}").fill_null(value=False).arg_true()  # the others are in lower case already
    return texts.clone().scatter(rows, texts.gather(rows).map_elements(symbols_kept, return_dtype=pl.String))


def symbols_kept(text: str) -> str:
    """A text in lower case but for symbols, whose case is what they say: AaBb, CO, Mg, PaO2.

    Words of three letters and more, all in capitals or with one at the beginning, are written in either case
    (DNA / dna), unless the text itself tells two spellings apart; so are units after numbers (5mL).
    """
    if text == text.lower():  # most Chinese texts
        return text
    text = _PROSE.sub(lambda match: match[0].lower(), text)
    both = {run.lower() for run in _CAPITALS.findall(text) if run.isupper()}
    both &= {*_RUN.findall(text)} if both else both  # both spellings of a word stand in the text

    def kept(match: re.Match[str]) -> str:
        run, low = match[0], match[0].lower()
        is_unit = text[max(0, match.start() - 2) : match.start()].rstrip()[-1:] in set("0123456789/°")  # 5 mL
        is_word = len(low) == len(run) > 2 and (run.isupper() or run.istitle()) and low not in both
        return low if run in _EITHER[is_unit] or (is_word and not _SERIES.fullmatch(low)) else run

    return _CAPITALS.sub(kept, text)


def _replaced(text: pl.Expr, signs: list[tuple[str, str]]) -> pl.Expr:
    for pattern, written in signs:
        text = text.str.replace_all(pattern, written)
    return text


FIGURES = "[0-9·%°]"  # on which twins in letters turn
_ALPHABETIC = 40  # characters from which two texts in letters have much the same ones, whatever they say


@lru_cache(maxsize=1 << 16)
def in_letters(text: str) -> bool:
    """Return whether a text is long and written in an alphabet, mostly."""
    return len(text) >= _ALPHABETIC and sum(map(str.isascii, text)) > 0.8 * len(text)


@dataclass(frozen=True)
class Meaning:
    """The content of a key that a similarity does not see."""

    key: str

    @cached_property
    def _rest(self) -> str:
        return _POSITIVE.sub("", _NEGATIVE.sub("", _EXCEPT.sub(r"\1", _NO_NEGATION.sub("", self.key))))

    @cached_property
    def asks_for_wrong(self) -> int:
        """Count the phrases that ask for the wrong option or the exception: 不合理用药 ... 错误的是 has two."""
        return len(_EXCEPT.findall(self.key)) + len(_NEGATIVE.findall(_EXCEPT.sub(r"\1", self.key)))

    @cached_property
    def negations(self) -> int:
        """Negating characters outside the set phrases."""
        return len(_NEGATION.findall(self._rest))

    @cached_property
    def quantities(self) -> list[tuple[str, str]]:
        """Numbers with their units, sorted."""
        return sorted((number, WORDS["same_unit"].get(unit, unit)) for number, unit in _QUANTITY.findall(self.key))

    @cached_property
    def chinese_numbers(self) -> list[str]:
        """Chinese numerals where they count, sorted."""
        return sorted(_COUNTING.findall(self._rest))

    @cached_property
    def sexes(self) -> str:
        """男 and 女 in the order they are named."""
        return "".join(_SEX.findall(self.key))

    @cached_property
    def symbols(self) -> list[str]:
        """Latin and Greek words that are symbols, sorted: vitamins, types, genotypes. Longer ones get misread."""
        words = _RUN.findall(self.key)
        return sorted(word for word in words if len(word) <= 3 or not word.islower() or _SERIES.fullmatch(word))


meaning = lru_cache(maxsize=1 << 16)(Meaning)  # of a key, kept for the next comparison


def difference(first: Meaning, second: Meaning) -> tuple[str, str] | None:
    """The kind of twin (``Relation.kind``) and the reason, when two keys differ in what they turn on."""
    if first.key == second.key:
        return None
    if first.asks_for_wrong != second.asks_for_wrong or first.negations != second.negations:
        return "negation", "one asserts what the other negates"
    if first.sexes and second.sexes and first.sexes != second.sexes:  # one that names none may mean either
        return "sex", f"{first.sexes} / {second.sexes}"
    if first.quantities != second.quantities:
        reason = _both(*([number + unit for number, unit in of.quantities] for of in (first, second)))
        if sorted(number for number, _ in first.quantities) == sorted(number for number, _ in second.quantities):
            return "unit", reason
        first_counts, second_counts = Counter(first.quantities), Counter(second.quantities)
        units = {unit for _, unit in [*(first_counts - second_counts), *(second_counts - first_counts)]}
        return ("age" if "岁" in units and units <= _AGE_UNITS else "number"), reason
    if first.chinese_numbers != second.chinese_numbers:
        return "number", _both(first.chinese_numbers, second.chinese_numbers)
    return ("term", _both(first.symbols, second.symbols)) if first.symbols != second.symbols else None


def _both(first: list[str], second: list[str]) -> str:
    one, other = Counter(first), Counter(second)
    left = (" ".join(sorted(only.elements())).replace("·", ".") for only in (one - other, other - one))
    return " / ".join(side or "–" for side in left)


UNSURE = 0.95
"""Recognition confidence of the worst line below which characters of it may be misread: of questions above it one in a
hundred has a wrong character, of those below one in fourteen (benchmarks/ocr)."""


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """A question as it is compared."""

    key: str
    core: str
    labels: tuple[str, ...]  # letters of its options
    options: tuple[str, ...]  # comparison keys of its options, as `labels`
    keys: tuple[frozenset[str], ...]  # every set of letters that earns the mark; empty when it has no key
    group: str | None  # tie to other questions of its document: they are different questions by construction
    doubtful: bool = False  # whether recognition was unsure of a line of it; never for text layers and tables
    recognised: bool = False  # whether it was read from an image


def comparable_items(questions: pl.DataFrame, keys: pl.DataFrame, rows: list[int]) -> dict[int, Compared]:
    """The items of some ``rows`` of the questions, by row."""
    columns = questions[rows].select(
        pl.col("options").list.eval(pl.element().struct.field("label")).alias("labels"),
        "answer",
        "accepted_answers",
        pl.concat_str("document", "group_id", separator="\x1f").alias("group"),
        (pl.col("confidence") < UNSURE).fill_null(False).alias("doubtful"),
        pl.col("confidence").is_not_null().alias("recognised"),
    )
    compared = keys[rows].select("key", "core", "option_keys")
    made, known_rows = {}, zip(rows, columns.iter_rows(), compared.iter_rows(), strict=True)
    for row, (labels, answer, accepted, *known), (key, core, options) in known_rows:
        right = tuple(dict.fromkeys(map(frozenset, ([answer] if answer else []) + (accepted or []))))
        made[row] = Compared(key, core, tuple(labels), tuple(options[: len(labels)]), right, *known)
    return made
