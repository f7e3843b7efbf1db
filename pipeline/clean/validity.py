"""Checks that a question is whole: a stem, distinct options, a key among them, readable text, no figure missing."""

import re
import unicodedata
from importlib.resources import files

from pipeline.characters import UNREADABLE
from pipeline.clean.params import CleanParams
from pipeline.patterns import Patterns
from schemas.questions import Question
from schemas.wording import SPECIAL_TOKENS

_NO_CONTENT = re.compile(r"[\s\W_]+")  # spaces, signs, blanks: （ ）？____
_UNREADABLE = re.compile(UNREADABLE)
PATTERNS = Patterns("validity", files("pipeline.clean"))


def empty_stem(question: Question, _: CleanParams) -> str | None:
    """A stem of at most one character asks nothing; a blank's number does, where the text with the blank is shared."""
    content = _NO_CONTENT.sub("", (question.shared_stem or "") + question.stem)
    return f"the stem is “{question.stem}”" if len(content) <= 1 else None


def too_long(question: Question, params: CleanParams) -> str | None:
    """More text than a question has: a file that was cut wrong. CMExam's longest stem has 676 characters."""
    found = sum(len(text) for _, text in _parts(question))
    return (
        f"{found:,} characters, at most {params.max_characters:,}" if found > params.max_characters else None
    )


def too_few_options(question: Question, params: CleanParams) -> str | None:
    """Options without text do not count."""
    found = sum(bool(option.text) for option in question.options)
    return f"{found} of at least {params.min_options} options" if found < params.min_options else None


def truncated(question: Question, _: CleanParams) -> str | None:
    """The stem breaks off, or an option is missing or has no text."""
    if _breaks_off(question.stem):
        return f"the stem ends with “{question.stem[-8:]}”"
    if empty := [option.label for option in question.options if not option.text]:
        return f"option {', '.join(empty)} has no text"
    labels = [option.label for option in question.options]
    expected = [chr(ord("A") + place) for place in range(len(labels))]
    return f"options are labelled {' '.join(labels)}" if labels != expected else None


def _breaks_off(stem: str) -> bool:
    if stem.endswith(("“", "‘")):  # A mark that opens and closes, as typists have it: 称为“血府“.
        return stem.count(stem[-1]) % 2 == 1
    if PATTERNS.no_content.search(stem):
        return True
    return bool(
        PATTERNS.open_end.search(stem) and PATTERNS.case.search(stem) and not PATTERNS.asks.search(stem)
    )


def duplicate_options(question: Question, _: CleanParams) -> str | None:
    """Two options with one text cannot both be wrong or right."""
    seen: dict[str, str] = {}
    for option in question.options:
        text = unicodedata.normalize("NFKC", option.text)
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
    strange = sorted({letter for key in keys for letter in key} - labels)
    return f"the key {', '.join(strange)} is not among {''.join(sorted(labels))}" if strange else None


def garbled_text(question: Question, params: CleanParams) -> str | None:
    """Glyphs without meaning, or the marks of a wrong decoding."""
    text = " ".join(text for _, text in _parts(question))
    if found := PATTERNS.mojibake.search(text):
        return f"the text contains “{found.group()[:12]}”"
    if text.isascii():
        return None
    share = len(_UNREADABLE.findall(text)) / len(text)
    return f"{share:.0%} of the characters cannot be read" if share > params.max_garbled else None


def unreadable(question: Question, _: CleanParams) -> str | None:
    """Fail a text with an unreadable character; the question waits until somebody reads the print."""
    for _name, part in _parts(question):
        if found := _UNREADABLE.search(part):
            around = part[max(0, found.start() - 8) : found.end() + 8]
            return f"U+{ord(found.group()):04X} in “{around}” cannot be read; see the page and correct it"
    return None


SUSPICIOUS = f"{SPECIAL_TOKENS}|{PATTERNS.suspicious.pattern}"
"""Text that speaks to a model and not to a candidate."""


def suspicious_text(question: Question, _: CleanParams) -> str | None:
    """Fail a text that could steer a model that reads it; a person decides whether it belongs to the question."""
    for _name, part in [*_parts(question), ("explanation", question.explanation or "")]:
        if found := re.search(SUSPICIOUS, part):
            return f"“{found[0][:40]}” speaks to a model, not to a candidate"
    return None


def low_confidence(question: Question, params: CleanParams) -> str | None:
    """OCR was unsure of a line of it."""
    found = question.confidence
    if found is None or found >= params.min_confidence:
        return None
    return f"a line was recognised with confidence {found:.2f}, below {params.min_confidence:.2f}"


def needs_figure(question: Question, params: CleanParams) -> str | None:
    """A figure stands inside the question, or its text points at one."""
    return None if params.keep_figures else _evidence(question, "figure")


def needs_table(question: Question, params: CleanParams) -> str | None:
    """A table stands inside the question, or its text points at one."""
    return None if params.keep_tables else _evidence(question, "table")


def needs_formula(question: Question, params: CleanParams) -> str | None:
    """A formula that is a picture or an object stands inside the question: its text has an empty place there."""
    found = "formula" in (question.attachments or []) and not params.keep_formulas
    return "a formula that could not be read stands inside the question" if found else None


def _evidence(question: Question, kind: str) -> str | None:
    if kind in (question.attachments or []):
        return f"a {kind} stands inside the question on its page"
    parts, phrase = _parts(question), getattr(PATTERNS, f"needs_{kind}")
    # One search over everything: all but a few in a thousand questions end here.
    if not phrase.search("\n".join(text for _, text in parts)):
        return None
    for part, text in parts:
        found = phrase.search(text)
        if found and not (part.startswith("option") and PATTERNS.in_general.match(text, found.start())):
            around = text[max(0, found.start() - 6) : found.end() + 6].replace("\n", " ")
            return f"the {part} says “{around}”"
    return None


def _parts(question: Question) -> list[tuple[str, str]]:
    parts = [("shared stem", question.shared_stem or ""), ("stem", question.stem)]
    return parts + [(f"option {option.label}", option.text) for option in question.options]
