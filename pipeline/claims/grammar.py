"""Claims about options: which option a text asserts, denies or doubts, by what words, and where."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from build_dataset.pipeline.claims.lexicon import NAMES, Token, WordFinder, beginnings_of
from build_dataset.pipeline.claims.mentions import Mention, mentions
from build_dataset.pipeline.patterns import Patterns

BLANK_LINE = Token.LINE * 2
_MENTIONED = ((Token.LETTERS.value, Token.SMALL.value), (Token.TEXT.value, Token.ORDINARY.value))
_SHORT, _LONG = Token.SHORT.value, Token.LONG.value  # a look-up of a member takes as long as that of ten names
_MASK = "\ue000"  # stands for every character of a mention while the words between mentions are looked up


class Stance(StrEnum):
    """The stance of a text to an option."""

    ASSERTED = "asserted"
    DENIED = "denied"


class Claim(NamedTuple):
    """A statement of a text about some options at one place."""

    labels: tuple[str, ...]
    stance: Stance
    kind: str  # ``stated`` (答案是A, 故选A), ``concluded`` (正确的是A, 因此A), ``judged`` (A错误, A is right)
    start: int
    end: int
    mention: Mention


class Production(NamedTuple):
    """A row of the grammar: a pattern over the codes of words in which group ``m`` is the mention."""

    kind: str
    stance: Stance
    pattern: re.Pattern[str]
    begins: frozenset[str]  # the codes of two words that it can begin with


_P = Patterns(__name__, names=NAMES)
_WORDS = _P.rows("words")
CODES = [Token[row["token"]].value if row["token"] else "" for row in _WORDS]
LEXICON = WordFinder([row["pattern"] for row in _WORDS])
_FORBIDDEN = [(Token[row["token"]].value, re.compile(row["pattern"])) for row in _P.rows("forbidden")]
_CLAIMS = _P.rows("claims")
PRODUCTIONS = [
    Production(row["kind"], Stance(row["stance"]), re.compile(row["pattern"]), frozenset(beginnings_of(row["pattern"])))
    for row in _CLAIMS
]


class Item(NamedTuple):
    """The passage about one option in a text that goes through several."""

    label: str
    start: int
    end: int
    first: int  # its place among the words
    last: int


class OptionVerdicts(NamedTuple):
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
    wrong: bool | None = None  # true if its question asks for what is wrong; None if unknown
    stem: str = ""  # of its question, folded; empty where that is not known

    @cached_property
    def mentions(self) -> list[Mention]:
        """The mentions of options, in order."""
        return mentions(self.text, self.options, self.multiple)

    @cached_property
    def words(self) -> list[tuple[str, int, int, Mention | None]]:
        """The tokens' characters with their offsets, and the mentions."""
        words, end = list[tuple[str, int, int, Mention | None]](), 0
        known = sorted(self._found(), key=lambda word: word[1])
        for code, start, stop, mention in [*known, ("", len(self.text), len(self.text), None)]:
            if gap := _other(self.text[end:start]):
                words.append((gap, end, start, None))
            if code:
                words.append((code, start, stop, mention))
            end = stop
        return words

    @cached_property
    def codes(self) -> str:
        """The codes alone, one character a word."""
        return "".join(word[0] for word in self.words)

    def _found(self) -> Iterator[tuple[str, int, int, Mention | None]]:
        parts, end = [], 0  # the text with every mention masked, so that 正确 within an option is no verdict
        for mention in self.mentions:
            parts += [self.text[end : mention.start], _MASK * (mention.end - mention.start)]
            end = mention.end
            yield _MENTIONED[mention.text][mention.weak], mention.start, mention.end, mention
        masked = _P.blanks.sub(lambda match: _MASK * len(match.group()), "".join([*parts, self.text[end:]]))
        if _P.forbids.search(self.stem):  # 禁用的是: 禁用A is no verdict against A
            for code, pattern in _FORBIDDEN:
                for match in pattern.finditer(masked):
                    yield code, match.start(), match.end(), None
                masked = pattern.sub(lambda match: _MASK * len(match.group()), masked)
        for at, start, end in LEXICON.words(masked):
            yield CODES[at], start, end, None

    def mention_at(self, match: re.Match[str]) -> Mention | None:
        """Return the mention that the group ``m`` of a match over the codes stands for."""
        return self.words[match.start("m")][3]

    @cached_property
    def claims(self) -> list[Claim]:
        """All claims, in the order of the text."""
        pairs = {*self.codes, *map("".join, pairwise(self.codes)), ""}
        claims = [claim for row in PRODUCTIONS if not pairs.isdisjoint(row.begins) for claim in self._claims(row)]
        return sorted(claims, key=lambda claim: (claim.mention.start, claim.start))

    def _claims(self, row: Production) -> Iterator[Claim]:
        for match in row.pattern.finditer(self.codes):
            first, mention = self.words[match.start()], self.mention_at(match)
            before = self.codes[max(0, match.start() - 12) : match.start()]  # codes: far enough for 如果 … 则
            # A claim may be about another question, or hold only under a condition.
            conditional = row.kind != "judged" and _P.conditional.search(before)
            denied = _P.denied_after.match(self.codes, match.start("m") + 1)
            denies = denied and row.kind == "stated" and not self.wrong  # Answer: B is incorrect
            if mention is not None and not conditional and not denies:
                end = max(mention.end, self.words[match.end() - 1][2])
                kind, stance = row.kind, row.stance
                if kind == "counter" and self.wrong is False:  # 错误的是D, where the right one is asked for
                    kind, stance = "judged", Stance.DENIED
                elif kind == "concluded" and self.wrong and self.calls_right(first[1], mention):
                    kind, stance = "judged", Stance.ASSERTED
                yield Claim(mention.labels, stance, kind, first[1], end, mention)

    def calls_right(self, start: int, mention: Mention) -> bool:
        """Return whether words from ``start`` call options right, where the question asks for what is wrong."""
        match = _P.calls_right.search(self.text, start, mention.start)
        # 正确的选项有A、B、D; 正确的选项是C is the answer
        several = len(mention.labels) > 1 and not self.multiple
        return match is not None and (several or bool(match["statement"] or match["statement_en"]))

    @cached_property
    def marked(self) -> dict[int, bool]:
        """Places of the options in lines that begin with a mark (✅ A … ❌ B …), and whether it means right."""
        marks = {match.start("m"): match["said"] == Token.RIGHT for match in _P.marked.finditer(self.codes)}
        return marks if len(marks) > 1 else {}  # one mark alone may be a bullet

    @cached_property
    def heads(self) -> list[int]:
        """The places among the words of the options that passages begin with."""
        return [at for at, word in enumerate(self.words) if self._is_item(at, word[3])]

    @cached_property
    def items(self) -> list[Item]:
        """The options that the text goes through one by one, each at its first place."""
        heads = self.heads
        below = self.codes.find(BLANK_LINE, heads[-1]) if heads else -1  # a blank line ends the last passage
        ends = [*heads[1:], len(self.words) if below < 0 else below]
        items: dict[str, Item] = {}
        for at, end in zip(heads, ends, strict=False):
            mention = self.words[at][3]
            stop = self.words[end - 1][2]
            if mention is not None:
                items.setdefault(mention.labels[0], Item(mention.labels[0], mention.start, stop, at, end))
        return list(items.values())

    @cached_property
    def below(self) -> int:
        """The place among the words of what stands below options that are gone through and concludes; 0 for no such."""
        if len(self.items) < 3:
            return 0
        below = self.codes.find(BLANK_LINE, self.items[-1].first)
        return len(self.codes) if below < 0 else below

    def _is_item(self, at: int, mention: Mention | None) -> bool:
        codes = self.codes
        if mention is None or codes[at] != Token.LETTERS or len(mention.labels) > 1:
            return False
        # "A. …" at the beginning of a line, a cell or a sentence
        own = mention.full or _P.delimited.match(self.text, mention.letters)
        if (own and _P.item_starts.search(codes, max(0, at - 1), at)) or at in self.marked:
            return True
        return _P.verdict_item.match(codes, max(0, at - 1), at + 5) is not None

    @cached_property
    def judged(self) -> OptionVerdicts:
        """The verdicts on each option's own text; where there are two, that of the option's own item."""
        verdicts: dict[str, bool] = {}
        places = []
        for at, marked_right in self.marked.items():
            if (mention := self.words[at][3]) is not None:
                verdicts |= dict.fromkeys(mention.labels, marked_right)
                places += [mention.start, mention.end]
        for item in self.items:
            # the first verdict within its passage
            verdict = _P.verdict.search(self.codes, item.first, item.last)
            if verdict and not self.marked:
                verdicts[item.label] = verdict.group() == Token.RIGHT
                places += [item.start, item.end]
        for claim in (claim for claim in self.claims if claim.kind == "judged"):
            for label in claim.labels:
                verdicts.setdefault(label, claim.stance is Stance.ASSERTED)
            places += [claim.start, claim.end]
        for match in _P.all_except.finditer(self.codes):
            mention = self.words[max(match.start(name) for name in ("m", "behind", "one", "odd", "only", "none"))][3]
            if mention is not None:
                # 除A外均错误; A是对的，其余不对
                called = match["said"] in (Token.WRONG, Token.EXCLUDE) or match["is"] == Token.RIGHT
                excepted = called or match["out"] or match["not"]
                verdicts = {label: (label in mention.labels) is bool(excepted) for label in self.options}
                places += [mention.start, mention.end]
        verdicts |= self._others(verdicts)
        right, wrong = (tuple(sorted(key for key in verdicts if verdicts[key] is value)) for value in (True, False))
        return OptionVerdicts(right, wrong, min(places, default=0), max(places, default=0))

    def _others(self, verdicts: Mapping[str, bool]) -> dict[str, bool]:
        """Return the verdict on a list of all that nothing was said of: A、B、E均属于β-内酰胺类,C、D不属于."""
        for mention in self.mentions if self.multiple is not False else ():
            of_all = _P.of_all.match(self.text, mention.end)
            rest = set(self.options) - set(mention.labels)
            if len(mention.labels) > 1 and rest == set(verdicts) and of_all and not of_all["negated"]:
                return dict.fromkeys(mention.labels, not any(verdicts.values()))
        return {}

    @cached_property
    def answer(self) -> tuple[str, ...] | None:
        """The answer that the text states last, as in 故选B or the answer is B; None where it states none."""
        asserted = (claim for claim in self.claims if claim.stance is Stance.ASSERTED)
        stated = [claim.labels for claim in asserted if claim.kind in ("stated", "called")]
        return tuple(sorted(set(stated[-1]))) if stated else None


def _other(gap: str) -> str:
    """Return the token of other text; nothing for blanks and signs."""
    length = sum(map(str.isalnum, gap))
    # a Chinese word is two characters, an English one five
    weight = length if not gap.isascii() else length / 2.5
    # "D in fact is wrong" is short, a clause is long
    return "" if not length else _SHORT if weight <= 6 else _LONG
