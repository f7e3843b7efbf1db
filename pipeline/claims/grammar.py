"""Claims about options: which option a text asserts, denies or doubts, by what words, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from pipeline.claims.lexicon import CODES, LEXICON
from pipeline.claims.mentions import Mention, mentions

DELIMITED = re.compile(r"[\"')\]」】]{0,3}\s?(?:选项|项)?[\"')\]]{0,2}\s?(?:[.:、,)|-]|\n)")
"""What stands between a letter and what is said of its option: A. or A）"""
_MASK = "\ue000"
"""Stands for every character of a mention while the words between mentions are looked up."""


class Stance(StrEnum):
    """How a text stands to an option."""

    ASSERTED = "asserted"
    DENIED = "denied"
    HEDGED = "hedged"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a text says of some options at one place."""

    labels: tuple[str, ...]
    stance: Stance
    kind: str
    """``stated`` (答案是A, 故选A), ``concluded`` (正确的是A, 因此A), ``judged`` (A错误, A is right)."""
    start: int
    end: int
    mention: Mention


class Production(NamedTuple):
    """A row of the grammar: a pattern over the codes of words in which group ``m`` is the mention."""

    kind: str
    stance: Stance
    pattern: re.Pattern[str]


_NO = r"(?<![nqopXZ])(?<![nqop][xi:])(?<![nqop][xi][xi])(?<![qop],)"
"""Nothing before it that denies, supposes, or ascribes it to others."""
_M = r"(?P<m>[LTlt])"


_EXCEPT = re.compile(
    r"(?P<out>X)?E(?P<m>[LT])[xiO,]{0,3}(?P<said>[RAWX]|(?=[./]|$))"
    r"|(?P<one>[LT])D?(?P<is>[WR])[,.]?O[xD,]{0,2}[WRA]"
)
"""除C外均正确, all except C can be ruled out, we rule out all but C, C错误,其余正确, C不选,其余全选."""
_SUPPOSED = re.compile(r"Q[^./]*\Z")
"""What makes a whole sentence another question's."""


def _row(kind: str, stance: Stance, pattern: str) -> Production:
    return Production(kind, stance, re.compile(pattern))


_YES, _DENY, _MAYBE = Stance.ASSERTED, Stance.DENIED, Stance.HEDGED
PRODUCTIONS = (
    # 答案是A · 答案选A · 答案：⏎A · the correct answer is option B · \boxed{A}
    _row("stated", _YES, rf"{_NO}K(?:x:|[iC:S])[iCKR:|]{{0,3}}/{{0,3}}{_M}(?!,?V)"),
    _row("stated", _YES, rf"{_NO}(?<!i)K[KR|]{{0,2}}/{{0,3}}{_M}(?=[./,:RCK|]|$)(?!,?x?D?[VW])"),
    # 故选A · 我选A · I would go with A
    _row("stated", _YES, rf"{_NO}C[iC:]{{0,2}}/?(?P<m>[Ll])(?![VX]|W(?!K)|h?V)"),
    # A是正确答案 · A错误,为本题答案 · A is the correct answer
    _row("called", _YES, r"(?P<m>[LTt])(?:D?[WR],)?[iR]{1,3}K(?![i:LT])"),
    # 不是A而是B · 不对,应该是C · 更正为D · not A but B
    _row("stated", _YES, rf"B(?:n[LT])?[iKC:]{{0,2}}{_M}(?![RWV])"),
    _row("stated", _YES, rf"V[,.x]{{0,3}}[iC]{{1,2}}{_M}"),
    _row("stated", _YES, rf"n[LT][,.]?[iBb]{_M}"),
    # 正确的是A · 最佳选项为B · the most likely diagnosis is:⏎B
    _row("concluded", _YES, rf"{_NO}S(?:x:|[iCh:,]{{0,2}})/{{0,2}}{_M}(?!V)"),
    _row("concluded", _YES, r"(?<![nqop])M[xyLTR,]{0,5}[i:][:R/]{0,4}(?P<m>[LT])"),
    # 因此A正确 · 综上,A · Therefore, A
    _row("concluded", _YES, rf"{_NO}c[,:iRC]{{0,3}}(?P<m>[LT])(?=D?[R./,]|DW|$|i[RM])"),
    # 应选青霉素
    _row("quoted", _YES, rf"{_NO}C[i:]{{0,2}}(?P<m>[Tt])(?![VX])"),
    # 参考答案有误,应为C
    _row("stated", _YES, rf"KW[,.]?[iC]{{1,2}}{_M}"),
    # D更合适 · D is more likely · D优于C · C不如D · A, not B
    _row("concluded", _YES, r"(?<!>)(?P<m>[LT])[xDi,]{0,2}(?:G|>[LT])"),
    _row("concluded", _YES, r"<(?P<m>[LT])"),
    _row("concluded", _YES, rf"{_NO}(?P<m>[LT]),?n[LT](?=[./]|$)"),
    # 错误的是C
    _row("counter", _YES, rf"{_NO}U[iCh:,]{{0,2}}/{{0,2}}{_M}(?!V)"),
    # 正确:A、B;错误:C
    _row("concluded", _YES, r"R:(?P<m>[LT])"),
    _row("judged", _DENY, r"W:(?P<m>[LT])"),
    # A、B四项正确
    _row("judged", _YES, r"(?P<m>[LT])x?A"),
    # 排除A · 不选A · 不是A · rule out A · A可排除
    _row("judged", _DENY, rf"[Xn][CKi:x]{{0,2}}{_M}"),
    _row("judged", _DENY, rf"{_M}[xD,]{{0,2}}X(?!{_M.replace('?P<m>', '')})"),
    # A错误 · A is wrong · A说法正确
    _row("judged", _DENY, r"(?P<m>[LT])(?:[|:](?:[xy]?[|,])?)?[xDi]{0,2}[WVZ]"),
    _row("judged", _YES, r"(?P<m>[LT])(?:[|:](?:[xy]?[|,])?)?[xDi]{0,2}R"),
    # A是,B是,C不是
    _row("judged", _YES, r"(?P<m>[LT])i(?=[,./|]|$)"),
    # 可能是A
    _row("hedged", _MAYBE, rf"h[iC]{{0,1}}{_M}"),
)
"""Later rows do not undo earlier ones: claims are weighed by who decides, see ``pipeline.evaluate.extraction``."""


class Item(NamedTuple):
    """What a text says of one option that it goes through with others."""

    label: str
    start: int
    end: int
    first: int
    """Its place among the words."""
    last: int


class Judged(NamedTuple):
    """Options that a text calls right and wrong, in order, and from where to where it does."""

    right: tuple[str, ...]
    wrong: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Text:
    """A folded text with its mentions and words."""

    text: str
    options: Mapping[str, str]
    multiple: bool | None = None

    @cached_property
    def mentions(self) -> list[Mention]:
        """Where options are named."""
        return mentions(self.text, self.options, self.multiple)

    @cached_property
    def words(self) -> list[tuple[str, int, int, Mention | None]]:
        """Codes with their offsets; codes are those of the lexicon, L T l t for mentions, x y for other text."""
        return list(self._words())

    @cached_property
    def codes(self) -> str:
        """The codes alone, one character a word."""
        return "".join(word[0] for word in self.words)

    def _words(self) -> Iterator[tuple[str, int, int, Mention | None]]:
        end = 0
        for code, start, stop, mention in sorted(self._found(), key=lambda each: each[1]):
            other = _other(self.text[end:start])
            if other:
                yield other, end, start, None
            if code:
                yield code, start, stop, mention
            end = stop
        other = _other(self.text[end:])
        if other:
            yield other, end, len(self.text), None

    def _found(self) -> Iterator[tuple[str, int, int, Mention | None]]:
        parts, end = [], 0
        for mention in self.mentions:
            parts += [self.text[end : mention.start], _MASK * (mention.end - mention.start)]
            end = mention.end
            code = "T" if mention.text else "L"
            yield code.lower() if mention.weak else code, mention.start, mention.end, mention
        masked = "".join([*parts, self.text[end:]])
        for match in LEXICON.finditer(masked):
            if match.end() > match.start():
                yield CODES[match.lastgroup or ""], match.start(), match.end(), None

    @cached_property
    def claims(self) -> list[Claim]:
        """All claims, in the order of the text."""
        found = [claim for row in PRODUCTIONS for claim in self._claims(row)]
        return sorted(found, key=lambda claim: (claim.mention.start, claim.start))

    def _claims(self, row: Production) -> Iterator[Claim]:
        for match in row.pattern.finditer(self.codes):
            first, mention = self.words[match.start()], self.words[match.start("m")][3]
            if mention is not None and not _SUPPOSED.search(
                self.codes, max(0, match.start() - 12), match.start()
            ):
                end = max(mention.end, self.words[match.end() - 1][2])
                yield Claim(mention.labels, row.stance, row.kind, first[1], end, mention)

    @cached_property
    def items(self) -> list[Item]:
        """The options that the text goes through one by one, each at its first place."""
        heads = [at for at, word in enumerate(self.words) if self._is_item(at, word[3])]
        below = self.codes.find("//", heads[-1]) if heads else -1
        ends = [*heads[1:], len(self.words) if below < 0 else below]
        found: dict[str, Item] = {}
        for at, end in zip(heads, ends, strict=False):
            mention = self.words[at][3]
            stop = self.words[end - 1][2]
            if mention is not None:
                found.setdefault(mention.labels[0], Item(mention.labels[0], mention.start, stop, at, end))
        return list(found.values())

    def _is_item(self, at: int, mention: Mention | None) -> bool:
        codes = self.codes
        if mention is None or codes[at] != "L" or len(mention.labels) > 1:
            return False
        before = codes[at - 1] if at else "/"
        if before in "/|." and DELIMITED.match(self.text, mention.letters):
            return True
        return before in "/|.,xcBRWV" and re.match(r"[:|]?[Dix]{0,2}[WR]", codes[at + 1 : at + 5]) is not None

    @cached_property
    def judged(self) -> Judged:
        """What is said of each option's own text; where it is said twice, what is said in the option's own item."""
        said: dict[str, bool] = {}
        places = []
        for item in self.items:
            verdict = re.search(r"[WRXV]", self.codes[item.first : item.last])
            if verdict:
                said[item.label] = verdict.group() == "R"
                places += [item.start, item.end]
        for claim in (claim for claim in self.claims if claim.kind == "judged"):
            for label in claim.labels:
                said.setdefault(label, claim.stance is Stance.ASSERTED)
            places += [claim.start, claim.end]
        for match in _EXCEPT.finditer(self.codes):
            mention = self.words[match.start("m") if match["m"] else match.start("one")][3]
            if mention is not None:
                excepted_is_right = match["said"] in ("W", "X") or match["is"] == "R" or bool(match["out"])
                said = {label: (label in mention.labels) is excepted_is_right for label in self.options}
                places += [mention.start, mention.end]
        right, wrong = (
            tuple(sorted(label for label in said if said[label] is value)) for value in (True, False)
        )
        return Judged(right, wrong, min(places, default=0), max(places, default=0))

    @cached_property
    def answer(self) -> tuple[str, ...] | None:
        """The answer that the text states last, as in 故选B or the answer is B; None where it states none."""
        stated = [
            claim for claim in self.claims if claim.kind in ("stated", "called") and claim.stance is _YES
        ]
        return tuple(sorted(set(stated[-1].labels))) if stated else None


def _other(gap: str) -> str:
    """X for a few other characters, y for more, nothing for blanks and signs."""
    said = sum(char.isalnum() for char in gap)
    weight = said if not gap.isascii() else said / 2.5
    return "" if not said else "x" if weight <= 6 else "y"
