"""The rules of answer extraction, from the surest to the weakest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pipeline.evaluate.extraction import cues
from pipeline.evaluate.extraction.letters import Found, Reader
from pipeline.evaluate.extraction.opening import opening
from pipeline.evaluate.extraction.statements import (
    after_cue,
    clause_before,
    last,
    listed,
    quoted_after,
    quoted_list,
    stated,
)

_SENTENCE = re.compile(r"\s*(?P<said>[^。!?;\n]{1,80}[。!])\s*")
_RUN = re.compile("[A-Z]+")
_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE_ENDS = re.compile(r"\s*(?:\((?:选项)?[A-Z]\))?\s*(?:[。!\n]|\Z)")
Rule = Callable[[Reader], Found | None]


def everything(reader: Reader) -> Found | None:
    """以上都是 where several answers are allowed and no option says so itself."""
    if reader.multiple is False:
        return None
    for cue in (cues.KEY, cues.CHOOSE, cues.CONCLUDE):
        for match in cue.finditer(reader.text):
            said = cues.ALL.match(reader.text, match.end())
            if said:
                return Found(tuple(sorted(reader.labels)), match.start(), said.end())
    return None


def concluded(reader: Reader) -> Found | None:
    """因此A正确, 说法错误的是D, 最佳选项为B."""
    return last(
        found
        for cue in (cues.THE_ONE_IS, cues.CONCLUDE)
        for found in after_cue(reader, cue, copula=True)
        if cues.FOLLOWS.match(reader.text, found.end) and reader.text[found.end - 1].isupper()
    )


def head(reader: Reader) -> Found | None:
    """The text opens with the answer: "B", "B. 青霉素", "选项B:青霉素 …"."""
    start = cues.HEAD.match(reader.text).end()  # type: ignore[union-attr]
    found = reader.letters_at(start)
    if found is None or _goes_on(reader, found):
        return None
    opens = cues.HEAD_FOLLOWS.match(reader.text, found.end)
    if opens is None and not reader.followed_by_its_text("".join(found.letters), found.end):
        return None
    if reader.text[found.start].islower() and not re.match(r"\s*(?:\Z|[.:、)])", reader.text[found.end :]):
        return None
    return found


def _goes_on(reader: Reader, found: Found) -> bool:
    """Whether the opening is only the first of several options that the text goes through."""
    named = len(listed(reader))
    answers = len(found.letters) if reader.multiple and len(found.letters) < len(reader.labels) else 0
    return named > max(1 if reader.answer_first is False else 2, answers)


def last_line(reader: Reader) -> Found | None:
    """The last line, or the last lines, are nothing but letters."""
    text = reader.text.rstrip()
    start = len(text)
    found = None
    while start > 0:
        start = text.rfind("\n", 0, start - 1) + 1
        above = reader.letters_at(start)
        if above is None or above.start > len(text) or re.search(r"\w", text[above.end :]):
            break
        found = above
    return found


def quoted(reader: Reader) -> Found | None:
    """The text, its first line, or its conclusion is an option's text without the letter."""
    if cues.MARKED.search(reader.text):
        return None  # 常用的是青霉素(A错): the marks tell which is meant
    start = len(reader.text) - len(reader.text.lstrip(" \n\t\"'“。,"))
    opening = quoted_list(reader, start)
    if opening is not None and re.match(r"[\s\"'”]*(?:\Z|[\n。])", reader.text[opening.end :]):
        return opening
    parts = listed(reader)
    if len(parts) > 2:
        below = _PARAGRAPH.search(reader.text, parts[-1][1])
        return _conclusion(reader, below.end()) if below else None
    # 过敏者可选用红霉素: an alternative, not the choice.
    chosen = (found for found in quoted_after(reader, cues.CHOOSE) if reader.text[found.start] != "可")
    return (
        last(chosen)
        or last(quoted_after(reader, cues.THE_ONE_IS))
        or _conclusion(reader, 0)
        or _only_sentence(reader)
        or _enumerated(reader)
    )


def _only_sentence(reader: Reader) -> Found | None:
    """The one option that a text of one finished sentence names, as in 应使用青霉素治疗."""
    sentence = _SENTENCE.fullmatch(reader.text)
    if sentence is None or reader.free_letters(apart=False) or cues.DENIES.search(reader.text):
        return None
    named = _named(reader, 0, len(reader.text))
    return Found(tuple(named), *sentence.span("said")) if len(named) == 1 else None


def _enumerated(reader: Reader) -> Found | None:
    """Several options that a sentence ends with, as in 抑制细胞壁合成的有青霉素(A)、头孢唑林(B)."""
    if reader.multiple is False:
        return None
    named = (found for found in quoted_after(reader, cues.NAMES) if len(found.letters) > 1)
    return last(found for found in named if _SENTENCE_ENDS.match(reader.text, found.end))


def _conclusion(reader: Reader, start: int) -> Found | None:
    """The one option that the last clause with 因此, 所以, 综上 from ``start`` on names."""
    for clause in reversed(list(cues.CLAUSE.finditer(reader.text, start))):
        if not cues.CONCLUDE.search(clause.group()) or cues.DENIES.search(clause.group()):
            continue
        named = _named(reader, clause.start(), clause.end())
        return Found(tuple(named), clause.start(), clause.end()) if len(named) == 1 else None
    return None


def _named(reader: Reader, start: int, end: int) -> set[str]:
    """Labels of options whose text occurs between two offsets, not inside a longer option's text there."""
    hits = [
        (match.start(), match.end(), label)
        for label, pattern in reader.patterns.items()
        for match in pattern.finditer(reader.text, start, end)
        if match.end() - match.start() > 1
    ]
    return {
        label
        for low, high, label in hits
        if not any(other <= low and high <= last and last - other > high - low for other, last, _ in hits)
    }


def verdicts(reader: Reader) -> Found | None:
    """Options judged one by one: the odd one out, or, where several answers are asked for, the right ones."""
    for judged, start, end in (_marked(reader), _grouped(reader), _judged(reader)):
        right = tuple(label for label in sorted(judged) if judged[label])
        wrong = tuple(label for label in sorted(judged) if not judged[label])
        complete = set(judged) == reader.labels
        if reader.multiple:
            chosen = right if complete else ()
        elif len(right) == 1 and wrong:
            chosen = right
        else:
            chosen = wrong if len(wrong) == 1 and len(right) > 1 and complete else ()
        if chosen:
            return Found(chosen, start, end)
    return None


Verdicts = tuple[dict[str, bool], int, int]
"""Whether each judged option was called right, and from where to where."""


def _judged(reader: Reader) -> Verdicts:
    """Verdicts of a text that goes through the options."""
    parts = listed(reader)
    judged = {}
    for label, start, end in parts:
        verdict = cues.VERDICT.search(reader.text, start, end)
        if verdict is not None:
            judged[label] = cues.CALLED_WRONG.match(verdict.group()) is None
    return judged, parts[0][1] if parts else 0, parts[-1][2] if parts else 0


def _grouped(reader: Reader) -> Verdicts:
    """Verdicts on several options at once, if all are judged: A、B、D三项说法正确,C项错误."""
    judged: dict[str, bool] = {}
    said = [
        (found, verdict)
        for found in reader.free_letters(apart=False)
        if (verdict := cues.ALL_CALLED.match(reader.text, found.end))
    ]
    for found, verdict in said:
        for label in found.letters:
            judged.setdefault(label, cues.CALLED_WRONG.match(verdict["verdict"]) is None)
    if set(judged) != reader.labels or all(len(found.letters) == 1 for found, _ in said):
        return {}, 0, 0
    return judged, said[0][0].start, said[-1][1].end()


def _marked(reader: Reader) -> Verdicts:
    """Verdicts in brackets: 先洗后切(D错) … 现做现吃(E对)."""
    judged: dict[str, bool] = {}
    marks = list(cues.MARKED.finditer(reader.text))
    for mark in marks:
        for label in mark["labels"]:
            if label in reader.labels:
                judged[label] = not mark["verdict"].startswith("错")
    return judged, marks[0].start() if marks else 0, marks[-1].end() if marks else 0


def first_listed(reader: Reader) -> Found | None:
    """The first option of a text that opens with it, goes through others and never concludes.

    People who judged 106 such outputs took the opening for the answer in every one.
    A text that breaks off, or that denies its first option, states nothing.
    """
    parts = listed(reader)
    if reader.multiple or len(parts) < 2 or not re.search(r"[。.!！]\s*\Z", reader.text):
        return None
    label, start, end = parts[0]
    opening = reader.letters_at(start, opening=False)
    if reader.text[:start].strip() not in ("", "选项") or opening is None or len(opening.letters) > 1:
        return None
    if cues.NOT_AFTER.match(reader.text, opening.end):
        return None
    return Found((label,), start, end)


def only_letter(reader: Reader) -> Found | None:
    """The only letter, or the only list, in the text that stands by itself, unless it is denied."""
    found = reader.free_letters()
    if len({frozenset(item.letters) for item in found}) != 1 or any(
        cues.NOT_MEANT.search(clause_before(reader.text, item.start))
        or cues.NOT_AFTER.match(reader.text, item.end)
        or (len(item.letters) > 1 and not _is_list(reader, item))
        for item in found
    ):
        return None
    return Found(found[0].letters, found[0].start, found[-1].end)


def _is_list(reader: Reader, found: Found) -> bool:
    """Whether several letters are an answer: with something between them, as AD and CT are words, and a clause."""
    return (
        _RUN.fullmatch(reader.text, found.start, found.end) is None
        and cues.FOLLOWS.match(reader.text, found.end) is not None
    )


RULES: Mapping[str, Rule] = {
    "opening": opening,
    "stated": stated,
    "everything": everything,
    "last_line": last_line,
    "head": head,
    "concluded": concluded,
    "quoted": quoted,
    "verdicts": verdicts,
    "only_letter": only_letter,
    "first_listed": first_listed,
}
"""Rules by name, in the order in which they are tried."""
