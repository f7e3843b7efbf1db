"""Rules that others read answers by, written out from their descriptions.

Each takes a text and its options and gives letters, several ones only where several answers may be right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_LETTER = "[A-G]"


def cmb(text: str, options: Mapping[str, str], *, several: bool) -> str:  # noqa: ARG001 - every rule's form
    """CMB: the letters after 答案是 and its like up to the sentence's end, else every capital A to G of the text.

    Where one answer is asked for, the first of them.
    """
    stated = re.search(r"(?:答案[:：是为]|正确选项为|选)\s*(.*?)(?:。|\n|$)", text, re.DOTALL)
    letters = (re.findall(_LETTER, stated[1]) if stated else []) or re.findall(_LETTER, text)
    return "".join(sorted(set(letters))) if several else "".join(letters[:1])


_CUES = (
    r"答案(?:应该)?是?\s*[:：]?\s*(?:选项)?\s*{}",
    r"答案(?:选项)?(?:应|应该)?[为选]\s*[:：]?\s*{}",
    r"(?:故|因此|所以|应|我)?选择?\s*[:：]?\s*(?:选项)?\s*{}",
    r"(?:正确|合适)的?(?:选项|说法|答案)\s*[是为:：]*\s*{}",
    r"选项\s*{}\s*(?:是|为)?(?:正确|对的|符合)",
    r"{}\s*(?:选项)?是?(?:正确|对的)",
    r"(?i:answer|option|choice)\s*(?i:is)?\s*[:：]?\s*\(?{}",
)


def opencompass(text: str, options: Mapping[str, str], *, several: bool) -> str:
    """OpenCompass, for CMB: one answer, the first of its cues that matches anywhere, else the first option letter.

    Several answers: every capital letter of the first ten words; Chinese without blanks is one word.
    """
    if several:
        return "".join(sorted(set(re.findall("[A-Z]", " ".join(text.split()[:10])))))
    letter = f"([{''.join(options)}])"
    for cue in _CUES:
        if found := re.search(cue.format(letter), text):
            return found[1]
    found = re.search(letter, text)
    return found[1] if found else ""


def lm_eval(text: str, options: Mapping[str, str], *, several: bool) -> str:  # noqa: ARG001 - every rule's form
    """lm-evaluation-harness, multiple-choice filter: a letter in brackets, else an option's text, else a letter after
    a colon; it knows one answer only. Punctuation and case of texts do not count.
    """  # noqa: D205 - one sentence
    bracketed = re.search(r"[(（]([A-Z])[)）]", text)
    if bracketed:
        return bracketed[1]
    plain = {label: _plain(body) for label, body in options.items() if _plain(body)}
    whole = _plain(text)
    places = sorted((whole.find(body), -len(body), label) for label, body in plain.items() if body in whole)
    if places:
        return places[0][2]
    after = re.search(r"[:：]\s*([A-Z])", text)
    return after[1] if after else ""


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()
