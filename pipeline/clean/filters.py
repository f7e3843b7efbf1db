"""The filters of the clean stage, in order. The first that a question fails gives the reason.

A filter checks that a question is whole: a stem, distinct options, a key among them, readable text, no figure missing.
To add one: write a function that takes a question and the parameters and returns a sentence or None, and list it
in ``FILTERS`` under a reason code. A ``prefilter`` makes it fast; it needs none.
"""

import re
import unicodedata
from collections.abc import Callable, Collection
from functools import partial
from typing import Literal, NamedTuple

import polars as pl

from build_dataset.pipeline.characters import UNREADABLE as NO_MEANING
from build_dataset.pipeline.clean.params import PATTERNS, CleanParams
from build_dataset.schemas.places import unsure_told
from build_dataset.schemas.questions import Question
from build_dataset.schemas.wording import SPECIAL_TOKENS

POINTS_AT = {kind: PATTERNS.glance(f"needs_{kind}", f"needs_{kind}_latin") for kind in ("figure", "table")}
_UNREADABLE = re.compile(NO_MEANING)


def empty_stem(question: Question, _: CleanParams) -> str | None:
    """A stem of at most one character asks nothing; a blank's number does, where the text with the blank is shared."""
    # "（ ）？" has none, "12." has two
    content = PATTERNS.silent.sub("", (question.shared_stem or "") + question.stem)
    return f"the stem is “{question.stem}”" if len(content) <= 1 else None


def too_long(question: Question, params: CleanParams) -> str | None:
    """More text than a question has: a file that was cut wrong. CMExam's longest stem has 676 characters."""
    length, most = sum(len(text) for _, text in _parts(question)), params.max_characters
    return f"{length:,} characters, at most {most:,}" if length > most else None


def too_few_options(question: Question, params: CleanParams) -> str | None:
    """Options without text do not count."""
    count = sum(bool(option.text) for option in question.options)
    return f"{count} of at least {params.min_options} options" if count < params.min_options else None


def truncated(question: Question, _: CleanParams) -> str | None:
    """The stem breaks off, or an option is missing or has no text."""
    stem = question.stem
    open_ = PATTERNS.open_end.search(stem) and PATTERNS.case.search(stem) and not PATTERNS.asks.search(stem)
    broken = bool(open_ or PATTERNS.no_content.search(stem))  # 下列关于
    if stem.endswith(("“", "‘")):  # A mark that opens and closes, as typists have it: 称为“血府“.
        broken = "„" not in stem and stem.count(stem[-1]) % 2 == 1  # 称为“血府 breaks off, „Ein Satz“ does not
    if broken:
        return f"the stem ends with “{stem[-8:]}”"
    if empty := [option.label for option in question.options if not option.text]:
        return f"option {', '.join(empty)} has no text"
    labels = [option.label for option in question.options]
    expected = [chr(ord("A") + place) for place in range(len(labels))]
    return f"options are labelled {' '.join(labels)}" if labels != expected else None


def duplicate_options(question: Question, _: CleanParams) -> str | None:
    """Two options with one text cannot both be wrong or right."""
    seen: dict[str, str] = {}
    for option in question.options:
        raised = PATTERNS.raised.sub(lambda match: f"\x1f{ord(match[0])}", option.text)  # 2³ is not 23
        text = unicodedata.normalize("NFKC", raised)  # ５ml is 5ml
        if text in seen:
            return f"options {seen[text]} and {option.label} both say “{option.text[:30]}”"
        seen[text] = option.label
    return None


def every_answer_accepted(question: Question, _: CleanParams) -> str | None:
    """After appeals whatever is answered earns the mark (一律给分): the item is void and measures nothing."""
    singles = {letters[0] for letters in question.accepted_answers or [] if len(letters) == 1}
    void = singles and singles >= {option.label for option in question.options}
    return "the corrected key accepts every answer" if void else None


def no_answer(question: Question, _: CleanParams) -> str | None:
    """No key was found for the question."""
    return None if question.answer else "no key was found"


def answer_not_in_options(question: Question, _: CleanParams) -> str | None:
    """Every letter of the key, and of every accepted answer, must be an option's label."""
    labels = {option.label for option in question.options}
    keys = [question.answer or [], *(question.accepted_answers or [])]
    strange = sorted({letter for key in keys for letter in key} - labels)  # key E of four options A to D
    return f"the key {', '.join(strange)} is not among {''.join(sorted(labels))}" if strange else None


def garbled_text(question: Question, params: CleanParams) -> str | None:
    """Glyphs without meaning, or the marks of a wrong decoding."""
    text = " ".join(text for _, text in _parts(question))
    if match := PATTERNS.mojibake.search(text):
        return f"the text contains “{match.group()[:12]}”"
    if text.isascii():  # nothing was decoded wrongly
        return None
    share = len(_UNREADABLE.findall(text)) / len(text)
    return f"{share:.0%} of the characters cannot be read" if share > params.max_garbled else None


def unreadable(question: Question, _: CleanParams) -> str | None:
    """Fail a text with an unreadable character; the question waits until somebody reads the print."""
    for _name, part in _parts(question):
        if match := _UNREADABLE.search(part):
            around = part[max(0, match.start() - 8) : match.end() + 8]  # enough to find the place on the page
            return f"U+{ord(match.group()):04X} in “{around}” cannot be read; see the page and correct it"
    return None


SUSPICIOUS = f"{SPECIAL_TOKENS}|{PATTERNS.suspicious.pattern}"
"""Text that speaks to a model and not to a candidate."""


def suspicious_text(question: Question, _: CleanParams) -> str | None:
    """Fail a text that could steer a model that reads it; in a question about models only one that orders an answer."""
    parts = [part for _name, part in [*_parts(question), ("explanation", question.explanation or "")]]
    about_models = any(map(PATTERNS.about_models.search, parts))
    for match in filter(None, (re.search(SUSPICIOUS, part) for part in parts)):
        if not about_models or re.match(SPECIAL_TOKENS, match[0]) or PATTERNS.orders.match(match.string, match.end()):
            return f"“{match[0][:40]}” speaks to a model, not to a candidate"
    return None


def low_confidence(question: Question, params: CleanParams) -> str | None:
    """OCR was unsure of a letter or digit of it."""
    confidence = question.confidence
    if confidence is None or confidence >= (least := params.least_confidence):
        return None
    shown = f"{int(confidence * 100) / 100:.2f}"  # .899 is no 0.90
    detail = f"it was recognised with confidence {shown}, below {least:.2f}"
    return ". ".join(filter(None, [detail, unsure_told(question)]))


def erratum(question: Question, _: CleanParams) -> str | None:
    """The source's comment says that something is wrong with the question or its key."""
    comment = question.comment or ""
    return f"the source's comment says “{comment[:80]}”" if PATTERNS.wrong_key.search(comment) else None


def needs_formula(question: Question, params: CleanParams) -> str | None:
    """A formula that is a picture or an object stands inside the question: its text has an empty place there."""
    missing = "formula" in (question.attachments or []) and not params.keep_formulas
    return "a formula that could not be read stands inside the question" if missing else None


def _points_at(kind: str, question: Question, params: CleanParams) -> str | None:
    """A figure or table stands inside the question, or its text points at one."""
    if params.keep_tables if kind == "table" else params.figures == "text":
        return None
    if kind in (question.attachments or []):
        return f"a {kind} stands inside the question on its page"
    for part, text in _parts(question):
        match = POINTS_AT[kind].search(text, fitting=True)
        # an option that speaks of tables in general: 表内数据不留空格
        if match and not (part.startswith("option") and PATTERNS.in_general.match(text, match.start())):
            around = text[max(0, match.start() - 6) : match.end() + 6].replace("\n", " ")
            return f"the {part} says “{around}”"
    return None


needs_figure, needs_table = partial(_points_at, "figure"), partial(_points_at, "table")


def _parts(question: Question) -> list[tuple[str, str]]:
    parts = [("shared stem", question.shared_stem or ""), ("stem", question.stem)]
    return parts + [(f"option {option.label}", option.text) for option in question.options]


UNREADABLE, ABSENT = "unreadable_characters", "answer_not_in_options"
UNANSWERED = frozenset({UNREADABLE, ABSENT})  # Reasons that a correction settles, and nobody's word alone.

Action = Literal["reject", "review"]
Check = Callable[[Question, CleanParams], str | None]
"""One sentence for people when the question fails, None when it passes."""


class FilterVerdict(NamedTuple):
    """The reason for which a question is not kept."""

    reason: str
    detail: str
    action: Action


class Filter(NamedTuple):
    """A check under the reason code that its failures are counted by."""

    reason: str
    check: Check
    prefilter: pl.Expr = pl.lit(value=True)
    """An expression over a ``Question`` table with the options of ``[clean]`` as further columns: true or null for all
    rows that fail, and for few others (of CMExam's for one in twenty). Without it all are checked."""
    action: Action = "reject"


def _option(field: str) -> pl.Expr:
    return pl.col("options").list.eval(pl.element().struct.field(field))


_SHARED = pl.col("shared_stem").fill_null("")
_TEXT = pl.concat_str(_SHARED, "stem", _option("text").list.join("\n").fill_null(""), separator="\n")
"""All that a reader sees before answering."""
_SHOWN = pl.col("attachments").fill_null([]).list  # what the page shows inside the question
_IN_TURN = pl.lit("ABCDEFGHIJKLMNOPQRSTUVWXYZ").str.starts_with(_option("label").list.join("").fill_null(""))
_NO_TEXT = _option("text").list.contains("")  # an option that is a letter alone
_SEVERAL = pl.col("accepted_answers").is_not_null()  # keys that were corrected after appeals
_FORMS = pl.col("options").list.eval(pl.element().struct.field("text").str.normalize("NFKC")).list
# A character that is seldom part of a word: of a wrong decoding (锟斤拷, Ã©), or for private use.
_SIGNS = r"\(cid:|锟|烫|屯|[À-ÿ]|\?{5}|[\x{E000}-\x{F8FF}\x{FFF0}-\x{FFFF}\x{E0000}-\x{10FFFF}]"
_STEERS = pl.concat_str(_TEXT, pl.col("explanation").fill_null("")).str.contains(SUSPICIOUS)
_CUT = pl.col("stem").str.contains(PATTERNS.last_words.pattern) | _NO_TEXT | ~_IN_TURN
_STRANGE_KEY = pl.col("answer").list.set_difference(_option("label")).list.len().fill_null(0) > 0

FILTERS: tuple[Filter, ...] = (
    Filter("too_long", too_long, _TEXT.str.len_chars() > pl.col("max_characters")),
    Filter("needs_figure", needs_figure, _SHOWN.contains("figure") | _TEXT.str.contains(PATTERNS.figure_words.pattern)),
    Filter("needs_table", needs_table, _SHOWN.contains("table") | _TEXT.str.contains(PATTERNS.table_words.pattern)),
    Filter("needs_formula", needs_formula, _SHOWN.contains("formula")),
    Filter("garbled_text", garbled_text, _TEXT.str.contains(_SIGNS)),
    Filter(UNREADABLE, unreadable, _TEXT.str.contains(NO_MEANING), action="review"),
    Filter("suspicious_text", suspicious_text, _STEERS, action="review"),
    Filter("empty_stem", empty_stem, ~pl.concat_str(_SHARED, "stem").str.contains(r"(?s)[\p{L}\p{N}].*[\p{L}\p{N}]")),
    Filter("too_few_options", too_few_options, (pl.col("options").list.len() < pl.col("min_options")) | _NO_TEXT),
    Filter("truncated", truncated, _CUT),
    Filter("duplicate_options", duplicate_options, _FORMS.n_unique() < _FORMS.len()),
    Filter("every_answer_accepted", every_answer_accepted, _SEVERAL),
    Filter("no_answer", no_answer, pl.col("answer").list.len().fill_null(0) == 0),
    Filter(ABSENT, answer_not_in_options, _STRANGE_KEY | _SEVERAL, action="review"),
    Filter("low_confidence", low_confidence, pl.col("confidence").fill_null(1.0) < 1.0, action="review"),
    Filter("erratum", erratum, pl.col("comment").is_not_null(), action="review"),
)


def suspect_reasons(questions: pl.DataFrame, params: CleanParams) -> list[list[str]]:
    """The reasons for which each row of a ``Question`` table has to be looked at; none for most."""
    looks = {item.reason: item.prefilter.fill_null(value=True) for item in FILTERS}  # null: it cannot tell
    named = [pl.when(look).then(pl.lit(reason)) for reason, look in looks.items()]
    options = {name: pl.lit(value) for name, value in params if isinstance(value, int | float)}
    return questions.with_columns(**options).select(pl.concat_list(named).list.drop_nulls()).to_series().to_list()


def judge_question(
    question: Question, params: CleanParams, reasons: Collection[str] | None = None
) -> FilterVerdict | None:
    """Return the reason for which ``question`` is not kept, or None when it is; ``reasons`` are those to look at."""
    figure: FilterVerdict | None = None
    for item in FILTERS:
        if (reasons is None or item.reason in reasons) and (detail := item.check(question, params)):
            # Exported apart, if nothing else is wrong and the page shows the figure inside the question.
            if item.check is needs_figure and params.figures == "keep" and "figure" in (question.attachments or ()):
                figure = FilterVerdict("figure_item", detail, item.action)
                continue
            return FilterVerdict(item.reason, detail, item.action)
    return figure
