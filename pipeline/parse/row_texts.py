"""Texts of a row: removal of parts that are neither stem nor option, and doubts about the rest."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from build_dataset.pipeline.claims.lexicon import beginnings_of
from build_dataset.pipeline.parse.cells import Options
from build_dataset.pipeline.parse.labels import Pairs, labels_before, without_announcement
from build_dataset.pipeline.parse.nets import Doubts
from build_dataset.pipeline.patterns import Patterns
from build_dataset.pipeline.text import tidy_together
from build_dataset.schemas.columns import vocabulary

_P = Patterns(__name__)
_FORMS = [(row, re.compile(row["pattern"])) for row in _P.rows("unusual")]  # texts that programs left
_FINDS = [((row["reason"], row["says"]), x.match if x.pattern.startswith(r"\A") else x.search) for row, x in _FORMS]
"""Texts that programs left: doubts and the searches for them; ``search`` looks for a beginning at every character."""
_IN_UNUSUAL = re.compile(r"[<(.:\[#_¾┐║ÚÝ±ß]|-[A-Z][a-z]{2}\Z").search  # one of them stands in every such text
_SIGNS = bytes(code for code in range(1, 128) if not chr(code).isalnum())
_WIDEST = 20  # most questions that such a range names; a wider range is a quantity
_LABELLED = frozenset(beginnings_of(_P.label_again.pattern, 1) | beginnings_of(_P.small.pattern, 1))
_NUMBERED = 0.9  # share of stems that must begin with rising numbers for these to be numbers of questions
_COPIED = 0.8  # share of the end of a stem that its options must make up for the stem to repeat them
_NOTHING = frozenset(("无", "無", "/", "-", "—", "None", "Null", "空"))  # fill unused cells at the end of options


def numbers_lead(stems: Sequence[str]) -> bool:
    """Return whether the stems of a table begin with their numbers: 1、…, 2、…."""
    bare = [_P.decoration.sub("", stem, count=1) for stem in stems]
    numbers = [int(mark[1]) for stem in bare if (mark := _P.number.match(stem))]
    steps = [before < after for before, after in pairwise(numbers)]
    # Numbers of questions rise, and begin again in the next paper.
    again = (numbers[at + 1] == 1 and at > 1 and all(steps[at - 2 : at]) for at, step in enumerate(steps) if not step)
    rising = sum(steps) + sum(again)
    return len(numbers) > 2 and len(numbers) >= _NUMBERED * len(stems) and rising >= _NUMBERED * (len(numbers) - 1)


def without_head(stem: str, row: int, *, numbered: bool) -> tuple[str, str | None]:
    """Return a stem without decoration, number and kind, and the kind that it names."""
    # Where stems are ``numbered``, a number before digits is that of the ``row``: 6.1型糖尿病.
    if match := _P.decoration.match(stem):
        stem = stem[match.end() :]
    number = _P.number.match(stem)
    kind = _P.kind.match(stem, number.end() if number else 0)
    if kind:
        return stem[kind.end() :], "判断题" if kind[1] else kind[2]
    if points := _P.score.match(stem, number.end() if number and numbered else 0):
        return stem[points.end() :], None  # 1．（6分）
    number = number or _P.before_digits.match(stem)
    quantity = number and number.re is _P.before_digits and not _P.before_year.match(stem)
    if numbered and number and quantity and int(number[1]) != row:
        return stem, None  # 1.5 mg
    return (stem[number.end() :] if numbered and number else stem), None


def without_range(stem: str, number: int) -> tuple[str, str | None]:
    """Return a stem without the range of other questions at its end, and that range: the options may be theirs."""
    # A range in round brackets or none counts where it begins after the row's ``number`` (疗程为（3-5）is none).
    match = _P.range.search(stem, max(0, len(stem) - 60))
    if not match or not match.start():
        return stem, None
    first, last = int(match[2]), int(match[3])
    named = match[1] in ("【", "[") or match[4] or match[5] or (match[1] and first == number + 1)
    if not named or not 0 < last - first < _WIDEST:
        return stem, None
    return stem[: match.start()].rstrip(), f"{first}–{last}"


def without_options(stem: str, options: Pairs) -> tuple[str, bool]:
    """Return a stem without the options that it ends with, and whether it may still repeat them in another form."""
    text, *texts = _bare("\0".join(it.replace("\0", "") for _, it in [("", stem), *options])).split("\0")
    ends = any(texts) and (text.endswith(texts[-1]) or text[-1:] == chr(96 + len(texts)))
    if not any(texts) or not (ends or any(map(text.__contains__, texts))):
        return stem, False
    places = [(at, char) for at, sign in enumerate(stem) for char in _bare(sign)]
    text = "".join(char for _, char in places)
    labels = [_bare(label) for label, _ in options]
    labelled = "".join(label + text for label, text in zip(labels, texts, strict=True))
    empty = ["".join(chr(97 + at) for at in range(len(texts), more)) for more in (0, 4, 5)]
    for tail in (end + labels_alone for end in (labelled, "".join(texts)) for labels_alone in empty):
        if len(texts) > 1 and text.endswith(tail) and len(text) > len(tail):
            before = places[len(text) - len(tail) - 1][0] + 1
            # parts of one sentence, one of which is wrong: There is | a lot of | mice in
            sentence = options[0][1][:1].isupper() and all(option[:1].islower() for _, option in options[1:])
            plain = texts[:-1] if tail.startswith("".join(texts)) else []
            starts = [*accumulate(map(len, plain), initial=len(text) - len(tail))][1:]
            # The domain of mail.google.com
            gaps = [stem[places[at - 1][0] + 1 : places[at][0]] for at in starts if at < len(places)]
            if (sentence and "\n" not in stem[before:].strip()) or any(map(_P.within_word.fullmatch, gaps)):
                return stem, False
            # Of （ ）》A、甲 the marks up to the label belong to the stem.
            end = next((at for at, char in enumerate(stem[before:], before) if char.isalnum()), before)
            bare = stem[:before] + stem[before:end].rstrip(" \t\n(（【[《")
            return without_announcement(bare), False
    places_of = [text.find(option) for option in texts if len(option) > 1]
    apart = len({*places_of}) == len(places_of)  # of A*B-C the letters alone are those of AB*C- and *AB-C
    start = min(places_of, default=-1) if apart else -1
    repeated = start > 0 and len(texts) > 2 and sum(map(len, texts)) >= _COPIED * (len(text) - start)
    return stem, repeated


def _bare(text: str) -> str:
    """A text, or several with a zero character between them, without space and punctuation, widths and case folded."""
    plain = unicodedata.normalize("NFKC", text).lower().encode().translate(None, _SIGNS).decode()
    return plain if plain.isascii() else re.sub(r"[^\w\0]+", "", plain)


def bare_stem(stem: str, number: int, options: Options, doubts: Doubts) -> str:
    """A stem without what stands behind it that is no part of it: a range of other questions, its own options."""
    stem, others = without_range(stem, number)
    blank = ("  " in stem or "\u3000" in stem) and not _P.asks.search(stem)
    stem = _P.wide.sub("____", stem) if blank else stem  # a blank of spaces would be lost
    if others:
        doubts.append(("options_of_others", f"the stem ends with the range {others}: the options may be theirs"))
    stem, repeated = without_options(stem, options.pairs)
    if repeated:
        doubts.append(("text_left_over", "the stem seems to end with its options, in another form"))
    return stem.strip()


def labelled_once(options: Options, doubts: Doubts) -> Options:
    """The options without labels of their own before their texts, ``a) 甲``; another's label there is a doubt."""
    texts = [text for _, text in options.pairs]
    if own := labels_before(texts):
        return replace(options, pairs=[(label, text) for (label, _), (_, text) in zip(options.pairs, own, strict=True)])
    begun = any(text[:1] in _LABELLED for text in texts)  # in few rows
    marks = [(label, text, _P.label_again.match(text)) for label, text in options.pairs] if begun else []
    # D. Lister under D, among other names; J.N. Bush, T.15 and I. Selim: letters far from the labels.
    marked = sum(mark is not None for *_, mark in marks)
    if marked < len(marks):  # [A]₀ among ln[A] and 1/k, (B)⁺ among (AC)⁺
        marks = [(label, it, None if mark and re.match(r"[(\[].*\S\Z", mark[0]) else mark) for label, it, mark in marks]
    if marked:
        last = max(ord(label[0]) for label, *_ in marks)
        foreign = any((sign := _P.lettered.match(text)) and ord(sign[1]) > last + 1 for text in texts)
        if foreign or marked == 1:
            marks = [(label, text, None if foreign or _P.initial.match(text) else mark) for label, text, mark in marks]
    small = [sign[1] for _, text, _ in marks if (sign := _P.small.match(text))]
    if len(small) > 1:  # a) 甲 | c) 乙 | c) 丙
        doubts.append(("label_inside_text", f"{' '.join(small)} before its texts are no labels in their order"))
    if others := [label for label, _, mark in marks if mark and mark[1] != label]:
        doubts.append(("label_inside_text", f"another label stands before the text of {' '.join(others)}"))
    if run := next((label for label, it in options.pairs if "A" in it and _P.options_inside.search(it)), None):
        doubts.append(("label_inside_text", f"labels A, B and C of another question stand in option {run}"))
    if any(map(_P.rule.search, texts)):
        doubts.append(("text_left_over", "a line between parts of a document stands in an option"))
    if not any(mark for *_, mark in marks):
        return options
    ends = (mark.end() if mark and mark[1] == label else 0 for label, _, mark in marks)
    pairs = [(label, text[end:]) for (label, text), end in zip(options.pairs, ends, strict=True)]
    return replace(options, pairs=pairs)


def without_placeholders(options: Options, key: Sequence[str]) -> Options:
    """The options without those at the end that stand for none (无此选项; 无, 无), unless they are the key."""
    absent = vocabulary()["options"]["absent"]
    texts = (text.strip("()（）[]【】 。.") for _, text in reversed(options.pairs))
    texts = (text if text == "NaN" else text.casefold() for text in texts)  # of JavaScript; pandas writes nan
    size = stated = next((len(options.pairs) - at for at, text in enumerate(texts) if text not in absent), 0)
    while size and options.pairs[size - 1][1] == options.pairs[stated - 1][1] in _NOTHING:
        size -= 1
    left = options.pairs[: size if stated - size > 1 else stated]
    fewer = len(left) < len(options.pairs) and set(key) <= {label for label, _ in left}
    return replace(options, pairs=left) if fewer else options


def unusual_texts(options: Options, usual: int, texts: Sequence[str]) -> Doubts:
    """Return doubts about pictures, dates and options that are not as in the other rows."""
    days = [_P.serial.fullmatch(text) or _P.date.fullmatch(text) for _, text in options.pairs if text[:1].isdigit()]
    if len(options.pairs) == len(days) > 1 and all(days) and any("/" not in day[0] for day in days if day):
        return [("text_became_date", "its options are days as a spreadsheet counts them: 44292 was 4-6")]
    looked_at = [text for text in texts if _IN_UNUSUAL(text)]
    if not looked_at and not options.cut_at_marks:
        return []
    doubts = list(dict.fromkeys(doubt for doubt, find in _FINDS if any(map(find, looked_at))))
    said, verdicts = (text.strip().casefold() for _, text in options.pairs), vocabulary()["words"]["true_false"]
    if options.cut_at_marks and len(options.pairs) != usual and not {*said} <= {*verdicts}:
        detail = f"{len(options.pairs)} options where most rows have {usual}"
        doubts.append(("options_too_many", f"{detail}: a text may hold a mark between them"))
    numbered = enumerate(options.pairs if looked_at else ())
    opened = [(match[1], at) for at, (_, text) in numbered if (match := _P.opening_tag.match(text))]
    left = tidy_together([text for _, text in options.pairs]) if len(opened) > 2 else []
    tags = {tag for tag, at in opened if left and tag not in left[at]}
    if len(tags) > 2:  # <p>, <p id="a">, <h1>: what a web page hides is what they say
        shown = " ".join(sorted(tags))[:60]
        doubts.append(("options_alike", f"the options differ in their markup, {shown}, which goes"))
    return doubts
