"""Reading option letters: one, several with separators, ranges; never letters that belong to words."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from pipeline.evaluate.extraction.folding import fold

AFTER_IN_WORDS = (
    r"超(?!过|出)|型|族|细胞|淋巴|反应|蛋白|链|受体|抗原|抗体|波|线|峰|环|组|群|级|类|期|区|肽|淀粉|胶|座|照"
    r"|药|管|轮|病毒|肝|酶|因子|字|形|点|段|股|反射|药品|等位|基因|染色体|盒|方案|通道|复合|受精|小体"
)
"""What follows a letter that is part of a word: B超, T细胞, C反应蛋白, A型, D二聚体 …"""
_AFTER = re.compile(
    rf"\s?[-‑]?\s?(?:{AFTER_IN_WORDS}|二聚体)|(?:['′°%]|\+(?![A-Z]))|-(?=[^\W_])(?![A-Z](?![A-Za-z0-9])|\s)"
)
_ARTICLE = re.compile(r"\s(?!(?:is|are|and|or|as|but|because|since|would|should|was|for)\b)[a-z]{2,}")
"""What follows the English word A."""
_BEFORE = re.compile(
    r"(?:维生素|维他命|辅酶|素|碱|酶|酸|醇|苷|酮|蛋白|球蛋白|色素|复合体|复合物|因子|抗原|受体|方案|肝炎|图|表|附录"
    r"|血型|型|染色体|病毒|霉素|菌素|[A-Za-z0-9][-‑])[^\S\n]?\Z"
)
_OPENING = re.compile(
    r"(?:[\s\"'“”‘’「」『』《》\[\](){}<>【】$:,✅✔①-⑩]|\\(?:text|mathrm|mathbf|textbf|boxed|mbox)?\s*\{?"
    r"|选项|第(?=[A-Z]))*"
)
_CLOSING = re.compile(r"[\"'“”‘’」』》\])}>】$]*(?:选项|项)?")
_RANGE = re.compile(r"\s?(?:-|~|～|—|–|至|到){1,2}\s?(?=[A-Z](?![A-Za-z0-9]))")
_JOIN = re.compile(r"[^\S\n]*(?:以及|或者|\|(?!\s)|[、/;&+和与及跟或])[^\S\n]*(?:选项)?[(\"“【\[]?")
_LOOSE_JOIN = re.compile(r"(?:[^\S\n]*[,.][^\S\n]*|[^\S\n]+|\s*\n\s*)(?:选项|and\s+)?[(\"'“‘【\[①-⑩]?")
_LIST_GOES_ON = re.compile(
    r"[\"'”’」』》\])}>】$]*(?:选?项)?\s*(?:\Z|[^\w\s.:]|[.](?!\S)|\n|均|都|等|正确|符合|[两三四五六几]|[和与及](?=选?项?[A-Z])"
    r"|[A-Z](?!\w)|[①-⑩]|[.](?=[A-Z](?!\w)))"
)
_TIGHT = re.compile(r"[、/&+|和与及跟或]")
"""A separator that cannot end a clause."""
_ITEM_WORD = re.compile(r"\s?选?项")
_DENIED = re.compile(r"\s*(?:选?项)?\s*(?:均|都|也|则|就)?(?:不|错|有误|被?排除)")
_ALL_OF_THEM = re.compile(r"\s*(?:选?项)?\s*(?:均|都|皆)")
_LIST_OF_ITS_OWN = re.compile(r"、|[A-Z]{2}")
_DELIMITER = re.compile(r"\s?[.:、,)\]]?\s?(?:选项)?\s?")
_BRACKETED = re.compile(r"\s?\([^()\n]{1,40}\)")


@dataclass(frozen=True)
class Found:
    """Letters found in a text, and where: ``start`` and ``end`` are offsets into it."""

    letters: tuple[str, ...]
    """In the order in which the text names them."""
    start: int
    end: int


@dataclass(frozen=True)
class Reader:
    """Reads the labels of one question's options from one folded text."""

    text: str
    options: Mapping[str, str]
    """Option texts by label, as printed."""
    multiple: bool | None = None
    answer_first: bool | None = None

    @cached_property
    def labels(self) -> frozenset[str]:
        """The labels that an answer may consist of."""
        return frozenset(self.options)

    @cached_property
    def token(self) -> re.Pattern[str]:
        """A run of label letters that touches no other letter or digit."""
        letters = "".join(sorted(self.labels)) + "".join(sorted(self.labels)).lower()
        return re.compile(rf"(?<![A-Za-z0-9])[{re.escape(letters)}]{{1,{len(self.labels)}}}(?![A-Za-z0-9])")

    @cached_property
    def patterns(self) -> dict[str, re.Pattern[str]]:
        """What matches each option's text, whatever the white space and case."""
        return {
            label: re.compile(
                r"\s*".join(re.escape(char) for char in "".join(fold(text).split()).rstrip("。.")), re.I
            )
            for label, text in self.options.items()
            if text.strip()
        }

    def letters_at(self, position: int, *, opening: bool = True) -> Found | None:
        """The letters stated at ``position``, after quotes, brackets and the word 选项; None if there are none."""
        start = _OPENING.match(self.text, position).end() if opening else position  # type: ignore[union-attr]
        first = self._token_at(start)
        if first is None:
            return None
        letters, end = list(first.letters), first.end
        spread = self._range_after(first)
        if spread is not None:
            letters, end = list(spread.letters), spread.end
        clause, last = None, first
        while (more := self._next_in_list(end, letters)) is not None:
            if not _TIGHT.search(self.text, end, more.start):
                clause = Found(tuple(letters), start, end)
            letters.extend(more.letters)
            last, end = more, more.end
        return clause if clause and self._next_clause(clause.end, last) else Found(tuple(letters), start, end)

    def _next_clause(self, comma: int, last: Found) -> bool:
        """Whether what a comma or a blank adds is the next clause's subject: A,B和C用于…, A、B,C不对, C,ABDE均正确."""
        if not self._list_goes_on(last, newline=False) or _DENIED.match(self.text, last.end):
            return True
        own = _LIST_OF_ITS_OWN.search(self.text, comma, last.end)
        return own is not None and _ALL_OF_THEM.match(self.text, last.end) is not None

    def free_letters(self, *, apart: bool = True) -> list[Found]:
        """Capital letters in the text that belong to no word, in order, those of a list together.

        Args:
            apart: only those that touch no Chinese character either, unless it is 选项.
        """
        found: list[Found] = []
        for match in self.token.finditer(self.text):
            if not match.group().isupper() or (found and match.start() < found[-1].end):
                continue
            whole = self.letters_at(match.start(), opening=False)
            if whole is not None:
                found.append(whole)
        return [item for item in found if not apart or self._stands_apart(item)]

    def options_at(self, position: int) -> list[tuple[str, int]]:
        """Options whose text stands at ``position``, longest first, with where it ends."""
        found = [
            (label, match.end())
            for label, pattern in self.patterns.items()
            if (match := pattern.match(self.text, position))
        ]
        return sorted(found, key=lambda item: (-item[1], item[0])) or self._broken_off(position)

    def _broken_off(self, position: int, least: int = 2) -> list[tuple[str, int]]:
        """Options whose text the output breaks off in: ``least`` characters or more, up to the output's end."""
        if len(self.text) - position > 2 * self._longest:
            return []
        rest = _compact(self.text[position:])
        return [
            (label, len(self.text))
            for label, text in self.options.items()
            if len(rest) >= least and _compact(fold(text)).startswith(rest)
        ]

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.options.values()), default=0)

    def followed_by_its_text(self, letters: str, end: int) -> bool:
        """Whether the text of the option ``letters`` stands at ``end``."""
        pattern = self.patterns.get(letters)
        return pattern is not None and pattern.match(self.text, end) is not None

    def _stands_apart(self, found: Found) -> bool:
        start, end = found.start, found.end
        if self.text[max(0, start - 2) : start] == "选项" or _ITEM_WORD.match(self.text, end):
            return True
        return not any(
            "\u4e00" <= char <= "\u9fff" for char in (self.text[start - 1 : start], self.text[end : end + 1])
        )

    def _token_at(self, position: int) -> Found | None:
        match = self.token.match(self.text, position)
        if match is None:
            return None
        letters = match.group().upper()
        if len(set(letters)) != len(letters):
            return None
        if self._in_word(match) and not self.followed_by_its_text(letters, match.end()):
            return None
        return Found(tuple(letters), match.start(), match.end())

    def _in_word(self, match: re.Match[str]) -> bool:
        if _BEFORE.search(self.text, max(0, match.start() - 8), match.start()):
            return True
        if match.group() == "A" and _ARTICLE.match(self.text, match.end()):
            return True
        quoted = (
            match.start() > 0 and self.text[match.start() - 1] == self.text[match.end() : match.end() + 1]
        )
        after = None if quoted else _AFTER.match(self.text, match.end())
        return after is not None and not _RANGE.match(self.text, match.end())

    def _range_after(self, first: Found) -> Found | None:
        dash = _RANGE.match(self.text, first.end)
        last = self.token.match(self.text, dash.end()) if dash else None
        if last is None or len(first.letters) != 1 or len(last.group()) != 1:
            return None
        low, high = first.letters[0], last.group().upper()
        if low >= high:
            return None
        return Found(
            tuple(label for label in sorted(self.labels) if low <= label <= high), first.start, last.end()
        )

    def _next_in_list(self, end: int, seen: list[str]) -> Found | None:
        """The next letters of a list whose last letters end at ``end``."""
        end = self._past_option_text(_CLOSING.match(self.text, end).end(), seen)  # type: ignore[union-attr]
        joined = _JOIN.match(self.text, end)
        token = self._token_at(joined.end()) if joined else None
        if token is None:
            loose = _LOOSE_JOIN.match(self.text, end)
            token = self._token_at(loose.end()) if loose else None
            if token is not None and not self._list_goes_on(token, newline="\n" in loose.group()):  # type: ignore[union-attr]
                token = None
        return token if token is not None and not set(token.letters) & set(seen) else None

    def _list_goes_on(self, token: Found, *, newline: bool) -> bool:
        if newline and self.multiple is False:
            return False
        past = self._past_option_text(token.end, token.letters)
        if past > token.end:
            return not newline or self.multiple is True
        return _LIST_GOES_ON.match(self.text, token.end) is not None

    def _past_option_text(self, end: int, letters: Collection[str]) -> int:
        """Where the text of an option, quoted after its letter, ends; ``end`` if it is not quoted."""
        delimiter = _DELIMITER.match(self.text, end)
        start = delimiter.end() if delimiter else end
        # "A. C" is A and the first letter of its text where one answer is asked for.
        begun = self._broken_off(start, least=1) if self.multiple is False else []
        for label, past in (*self.options_at(start), *begun):
            if label in letters:
                return past
        bracketed = _BRACKETED.match(self.text, end)
        return bracketed.end() if bracketed else end


def _compact(text: str) -> str:
    return "".join(text.split()).lower()
