"""Letters, digits and marks that may be others of one shape: 1, I and l, a and α, a brace that is a lowered 1."""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from math import log
from string import ascii_lowercase

from build_dataset.pipeline.characters import conversion, simple_forms
from build_dataset.pipeline.ocr.glyphs import is_cjk
from build_dataset.pipeline.ocr.interfaces import Doubt

SURE = 0.9985  # Probability of a character of which nothing is noted: the mean of these
FLOOR, _LETTER_SHARE = 1e-5, 0.05  # The latter: of a mark, from which it may be a letter or digit
_ALONE = (
    (re.compile(r"(?<![0-9A-Za-z])(?<!\d\.)[1lI](?!atm|inch)(?=[aeiouy][a-z]{2}|ow|eg|ip)"), "l", "l1I|", 0.1),
    (re.compile(r"(?<=[a-z])1(?=[a-z]{2})|(?<=[a-z]{2})1(?=[a-z])"), "l", "l1", 0.02),
    (re.compile(r"(?<=[a-z]{3})1(?![0-9A-Za-z])"), "l", "l1", 0.5),
    (re.compile(r"(?<=[IVX]{2})[lI]"), "I", "lI1|", 0.002),
    (_NO_L := re.compile(r"(?<=[A-Z][ABD-Z])l(?![a-z(O])"), "I", "lI1|", 0.002),
    (re.compile(r"(?<![A-Za-z])[aα](?=-[A-Za-z])"), "α", "aα", 0.05),
    (re.compile(r"(?<![A-Za-z])[yγ](?=-[A-Za-z])"), "γ", "yγv", 0.02),
    (re.compile(r"(?<=C)[1lI](?=[⁻－-]?\s?[:：=]?\s?\d{2,3}\s?m(?:Eq|mol|M))"), "l", "l1I|", 0.02),
    (re.compile(r"(?<=^[(（])[①D](?=[)）])"), "D", "①⑩D", 0.05),
    (re.compile(r"(?<=[x×]10)[⁹°'](?=/L)"), "⁹", "⁹°'", 0.05),
)
"""Places where of a shape one character alone can stand, its shape, and its least probability: an l before a vowel and
more small letters (1oop), within a word (va1gus), at its end where the reader says so too (flai1, but type1); the last
I of VIIa and DAI, α and γ before a hyphen (a-fetoprotein, y-GT), the label (D), cells in a litre (10°/L)."""
_SHAPES = ("1IlⅠ", "0Oo", "5sS", "aα", "yγ", "vν", "Xχ")  # Letters and digits of one shape
_NEVER = re.compile(rf"(?<=HC|KC|aC|mo)I|(?<!\d)1(?=l[aeiou][a-z])|{_NO_L.pattern}")  # HCI for HCl, 1loop, DAl
_VARIANTS = dict(zip("睪尙痺塡髙", "睾尚痹填高", strict=True))  # Of one character in one script
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩"
_AS_LIKELY, _GREEK = 8.0, 100.0
"""Factors on the probability of another of the shape, which no language decides, and of one of another alphabet."""
_OF_UNIT = re.compile(r"(?<=[A-Za-z])/(?=[dmμn]?L(?![A-Za-z]))")  # Nothing but a slash makes a unit: IU/L, mg/dL
_BRACE = re.compile(r"(?<=[A-Za-z])\{(?=$|[^\x00-\x7f])(?![^}]*\})")  # It closes nowhere: the B{ of 维生素B₁
_OPTION = re.compile(r"(?:^|(?<=[\t ]))(?:[(（][A-Ha-h]|[A-H8])(?=[.．、)）:：])")
"""A label, whose letter is the next in order or no label to the parser; in brackets a capital may be read as small."""


def labels(text: str, doubts: Mapping[int, Doubt]) -> set[int]:
    """Return the places of letters that are known by their order; an 8 that may be the B between A and C is one."""
    found = {label.end() - 1 for label in _OPTION.finditer(text)}
    return {at for at in found if text[at] != "8" or (at in doubts and "B" in dict(doubts[at].others))}


def is_ideograph(char: str) -> bool:
    """Return whether a character is Chinese: no mark, letter or digit."""
    return "\u3400" <= char <= "\u9fff" or "\U00020000" <= char <= "\U0003ffff"


def alone(text: str, doubt: Doubt) -> tuple[str, str] | None:
    """Return the character that alone of its shape can stand in a place, where it is likely, and the shape."""
    for pattern, char, shape, least in _ALONE:
        if pattern.match(text, doubt.at) and (text[doubt.at] == char or dict(doubt.others).get(char, 0.0) >= least):
            return char, shape
    return None


def odds_of_letter(text: str, doubt: Doubt) -> float:
    """Return the odds of a letter or digit, low where it may be another of its shape: 1型 for Ⅰ型, a受体 for α."""
    at = doubt.at
    told = min(1.0, max(FLOOR, doubt.sure + sum(share for _, share in doubt.others)))
    if text[at] in _CIRCLED or alone(text, doubt):  # What is left is of no character: a peak between two steps
        return odds(share_of(text, doubt) / told)
    beside = text[max(0, at - 1) : at] + text[at + 1 : at + 2]
    if text[at] in "ⅡⅢ" and any(one in "1IlⅠⅡⅢ" for one in beside):
        return 0.0  # Nobody prints ⅡI: the two are II, or III
    if _NEVER.match(text, at):
        return 0.0
    own, shape = share_of(text, doubt), next((shape for shape in _SHAPES if text[at] in shape), "")
    alike = [(char, share) for char, share in doubt.others if char in shape and plain(char) != plain(text[at])]
    rivals = [(char, share) for char, share in alike if _may_stand(char, text, at)]
    if text[at].isalpha():  # Either case: IpSec
        own += sum(share for char, share in doubt.others if char == text[at].swapcase())
        own /= told
    if "II" in text[max(0, at - 1) : at + 2]:  # Read as one letter or as two, it is II
        own += dict(doubt.others).get("Ⅱ", 0.0)
    own += sum(share for _, share in alike) - sum(share for _, share in rivals)  # The l of lgA speaks for I
    weights = (share * (_GREEK if char in "αγχ" or text[at] == "ν" else _AS_LIKELY) for char, share in rivals)
    return odds(own / (1 + sum(weights)))


def _may_stand(char: str, text: str, at: int) -> bool:
    """Return whether a character may stand in the place of one of its shape: no l in BMI or I型, no O in 105."""
    before, after = text[max(0, at - 2) : at], text[at + 1 : at + 2]
    beside = before[-1:] + after
    if char == "χ":
        return after == "²"
    if text[at] in "αγχ" or text[at : at + 2] == "IU":  # Readers know the Latin letter and the digit better
        return False
    if text[at].isdigit() and any(one.isdigit() or one in ".．" for one in beside):
        return False
    small = [one for one in before + after if one in ascii_lowercase]
    if text[at].islower() and len(small) > 1:  # Within or at the end of a word
        return False
    capitals = sum(one.isupper() for one in before + after)
    if text[at].isupper() and capitals:  # IU, BMI, II: neither small nor two in one
        return char.isdigit() and capitals == 1
    if char == "l" and before[-1:] not in small:  # No word begins like lgA; alone an l is litres, behind a number
        return after in "aeiouy" if after in small else before.strip()[-1:].isdigit()
    return True


def chances_of_marks(text: str, doubts: Mapping[int, Doubt]) -> dict[int, float]:
    """Return the probability that marks and spaces are no letters or digits, by place: B{ for B₁, " V" for IV."""
    lost = dict.fromkeys((at for at in doubts if not text[at].isalnum() and not _OF_UNIT.match(text, at)), 0.0)
    for at in lost:  # No C for ℃, no kana, く for <
        likely = [(one, share) for one, share in doubts[at].others if one.isalnum() and one not in plain(text[at])]
        lost[at] = sum(share for one, share in likely if not is_cjk(plain(one)))
    braces = {found.start(): 0.5 for found in _BRACE.finditer(text)}
    return {at: max(0.0, 1 - share) for at, share in lost.items() if share >= _LETTER_SHARE} | braces


def share_of(text: str, doubt: Doubt) -> float:
    """Return the probability of a character in any form: 结 counts for 結, ³ for 3, and 1 for the l of loop.

    So does what cannot stand there: between ④ and ⑥ there is no ③.
    """
    own, (_, same) = plain(text[doubt.at]), alone(text, doubt) or ("", "")
    if text[doubt.at] in _CIRCLED:
        before, after = text[: doubt.at][-1:] or "-", text[doubt.at + 1 : doubt.at + 2] or "-"
        low, high = _CIRCLED.find(before), _CIRCLED.find(after) % (len(_CIRCLED) + 1)
        same += "".join(one for at, one in enumerate(_CIRCLED) if not low < at < high)
    return doubt.sure + sum(share for char, share in doubt.others if char in same or plain(char) == own)


@cache
def plain(char: str) -> str:
    """Return the form that a character is folded to: simplified, of half width, on the line; Japan's 歳 as 岁."""
    folded = unicodedata.normalize("NFKC", char)
    if is_ideograph(folded) and not folded.encode("big5", "ignore") + folded.encode("gb2312", "ignore"):
        folded = conversion("hk2t")(conversion("jp2t")(folded))
    return _VARIANTS.get(folded) or simple_forms().get(folded, folded)


def odds(share: float) -> float:
    """Return the natural logarithm of the odds, at most those of a sure character."""
    share = min(max(share, FLOOR), SURE)
    return log(share / (1 - share))
