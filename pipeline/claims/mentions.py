"""Where a text names options: by letter, by their own text, by ordinal; several in a list, or a range."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

IN_WORDS = (
    r"超(?!过|出)|型|族|细胞|淋巴|反应|蛋白|链|受体|抗原|抗体|波|线|峰|环|组|群|级|类|期|区|肽|淀粉|胶|座|照"
    r"|药|管|轮|病毒|肝|酶|因子|字|形|点|段|股|反射|药品|等位|基因|染色体|盒|方案|通道|复合|受精|小体|二聚体"
)
_AFTER = re.compile(
    rf"\s?[-‑]?\s?(?:{IN_WORDS})|'(?=[A-Za-z])|[′°%]|\.\s?(?:coli|difficile|aureus|albicans|fragilis|pneumoniae|cepacia|botulinum|perfringens|diphtheriae|burgdorferi|pertussis)(?![a-z])|\+(?![A-Z])|-(?=[^\W_])(?![A-Z](?![A-Za-z0-9])|\s)"
)
"""A letter is part of a word before these: B超, T细胞, C反应蛋白, D-二聚体, A's, C+."""
_SPEAKS = (
    r"(?:is|are|was|were|and|or|as|but|because|since|would|should|for|does|do|has|have|can|cannot|could|may|might|must"
    r"|seems?|looks?|fits?|matches|refers?|describes?|represents?|states?|says?|suggests?|correctly|incorrectly|nor|only)\b"
)
_ARTICLE = re.compile(rf"[ ]{{1,2}}(?!{_SPEAKS})(?:[a-z]{{2}}|\d|[A-Z][A-Za-z])")
"""The English word A stands before these: A patient, A 45-year-old, A CT scan; not "A is right"."""
_PRONOUN = re.compile(r"\s[a-z]|'")
"""The English word I stands before these."""
_BEFORE = re.compile(
    r"(?:维生素|维他命|辅酶|素|碱|酶|酸|醇|苷|酮|蛋白|球蛋白|色素|复合体|复合物|因子|抗原|受体|方案|肝炎|图|表|附录"
    r"|血型|型|染色体|病毒|霉素|菌素|(?:[A-Za-z0-9]{2}|[0-9a-z])[-‑]"
    r"|(?i:\b(?:vitamins?|hepatitis|type|group|protein|class|stage|grade|influenza|factor|coenzyme|figure|table|strain|phase)))"
    r"[^\S\n]?\Z"
)
"""A letter is part of a word after these: 维生素A, IL-A, vitamin C, group A."""
_LABELLED = re.compile(r"(?:选项|(?i:\b(?:option|answer|choice))|[(【\[{])\s?\Z")
"""What says that the letter after it is a label: option A 45-year-old …"""
_ORDINAL = re.compile(
    r"(?:第([一二三四五六七八九十]|\d)个?(?:选项|项)|\b(?i:the\s(first|second|third|fourth|fifth|last)\s(?:option|choice|answer)))"
)
"""第三个选项, the third option."""
_NTH = {word: at for at, word in enumerate("一二三四五六七八九十")} | {
    word: at for at, word in enumerate(("first", "second", "third", "fourth", "fifth"))
}
_CLOSE = r"[\"'”’」』》\])}>】$]{0,5}(?:选项|项)?"
_BRACKET = r"[\"'“”‘’「『《\[({【$①-⑩]|\\boxed\{|\\text\{|\\\("
_OPEN = rf"(?:选项|(?i:options?\s)|the\s)?(?:{_BRACKET}){{0,4}}(?:选项|(?i:options?\s))?"
_AND = r"以及|或者|,?\s?\b(?:and|or|as\swell\sas)\b|\|(?!\s)|[、/&+和与及跟或]|,\s?[和与及以]"
_TIGHT = re.compile(rf"{_CLOSE}[^\S\n]{{0,2}}(?:{_AND})[^\S\n]{{0,2}}{_OPEN}")
"""Between two options that surely belong together: A、B, (A) and (B)."""
_TOUCHING = re.compile(r"[)\]}】」』》$]{1,4}(?:\s|,\s?)?(?:\\boxed)?[(\[{【「『《$]{1,4}")
"""Between options in brackets of their own: (A)(B), 【A】【B】, \\boxed{A},\\boxed{B}."""
_LOOSE = re.compile(
    rf"{_CLOSE}(?:[^\S\n]{{0,2}}[,.;][^\S\n]{{0,2}}|[^\S\n]{{1,3}}|[^\S\n]{{0,3}}\n\s{{0,3}}(?:[-•·]\s)?){_OPEN}"
)
"""Between two options that may belong together, or to two clauses: A,B or A B."""
_GOES_ON = re.compile(
    r"[\"'”’」』》\])}>】$]{0,5}(?:选?项)?\s{0,3}(?:\Z|[^\w\s.:]|[.](?!\S)|\n|均|都|等|正确|符合|[两三四五六几]"
    r"|[和与及]\s?(?=选?项?[A-Z])|[A-Z](?!\w)|[①-⑩]|[.](?=[A-Z](?!\w))|and\b|or\b|are\b|[是为](?:本题)?的?(?:正确|答案|对的))"
)
"""After a letter that goes on a loose list."""
_DENIED = re.compile(r"\s?(?:选?项)?\s?[均都也则就]?(?:不|错|有误|被?排除)")
_ALL_OF_THEM = re.compile(r"\s?(?:选?项)?\s?[均都皆]")
_RANGE = re.compile(r"[^\S\n]?(?:-|~|～|—|–|至|到){1,2}\s?(?=[A-Z](?![A-Za-z0-9]))")
_DELIMITER = re.compile(r"[\"'”’」』》\])}>】$]{0,4}\s?(?:选项|项)?\s?[.:、,)-]?\s?[\"'“‘「『(]?\s?")
"""Between a letter and the text of its option."""
_BRACKETED = re.compile(
    r"\s?\((?![^()\n]{0,6}(?:正确|错|对|[√×✓✗✅❌]|(?i:correct|wrong|true|false)))[^()\n]{1,40}\)"
)
_LETTER_AFTER = re.compile(
    r"[\"'”’」』》.,]{0,3}\s?\((?:选项|(?i:option\s))?\s?(?P<label>[A-Z])\s?(?:选?项)?\)"
)
"""The letter after the text of its option: 青霉素(A)."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Options named together at one place; ``start`` and ``end`` are offsets into the text."""

    labels: tuple[str, ...]
    """In the order in which the text names them."""
    start: int
    end: int
    text: bool = False
    """By their texts alone."""
    weak: bool = False
    """A small letter, or an option's text that may be an ordinary word: counts where an answer is expected."""
    letters: int = 0
    """Where the letters themselves end, without the text of the option that follows them."""
    own: bool = False
    """With its letter and the text of its option."""


def mentions(text: str, options: Mapping[str, str], multiple: bool | None = None) -> list[Mention]:
    """All options that a folded text names, in order; those of a list together.

    Args:
        text: folded, see ``fold``.
        options: folded option texts by capital letter.
        multiple: whether several can be meant; letters in lines of their own are then one list.
    """
    quotes = _quotes(text, options)
    letters = list(_letters(text, options, quotes))
    ordinals = list(_ordinals(text, tuple(options)))
    found = _with_letters(text, list(_apart([*letters, *ordinals, *quotes.values()])))
    return list(_lists(text, list(_ranges(text, list(found), tuple(options))), multiple))


def _apart(found: list[Mention]) -> Iterator[Mention]:
    """Those that no longer one covers; a letter with its text comes before the text alone."""
    last = -1
    for each in sorted(found, key=lambda each: (each.start, -each.end, each.text)):
        if each.start >= last:
            yield each
            last = each.end


def _quotes(text: str, options: Mapping[str, str]) -> dict[int, Mention]:
    """Options named by their texts, whatever the white space and case, by where they begin."""
    kept = [at for at, char in enumerate(text) if not char.isspace()]
    compact = "".join(text[at] for at in kept).lower()
    if len(compact) != len(kept):  # lower() of a few letters is longer
        compact = "".join(text[at] if len(text[at].lower()) > 1 else text[at].lower() for at in kept)
    hits: dict[tuple[int, int], list[str]] = {}
    broken = []
    for label, body in options.items():
        needle = _compact(body).rstrip("。.")
        at = compact.find(needle) if needle else -1
        while at >= 0:
            start, end = kept[at], kept[at + len(needle) - 1] + 1
            if _whole(text, start, end):
                hits.setdefault((start, end), []).append(label)
            at = compact.find(needle, at + len(needle))
        if len(needle) > 1 and (short := _broken(compact, needle)):
            broken.append((kept[-short], label))
    whole = {start for start, _ in hits}
    for start in {start for start, _ in broken} - whole:
        hits[start, len(text)] = [label for at, label in broken if at == start]
    found = {}
    last = -1
    for (start, end), labels in sorted(hits.items(), key=lambda hit: (hit[0][0], -hit[0][1])):
        if start >= last and len(labels) == 1:
            weak = end - start < 2 or _common(text[start:end])
            found[start] = Mention((labels[0],), start, end, text=True, weak=weak, letters=start)
        last = max(last, end)
    return found


def _broken(compact: str, needle: str) -> int:
    """How many characters of an option's beginning a text that breaks off ends with; 0 if fewer than two."""
    for length in range(min(len(needle) - 1, len(compact)), 1, -1):
        if compact.endswith(needle[:length]):
            return length
    return 0


def _compact(text: str) -> str:
    return "".join(text.split()).lower()


def _common(text: str) -> bool:
    """Whether an option's text is an ordinary word or a number, which a text may use without meaning the option."""
    return text.lower() in ("正确", "错误", "是的", "不是", "yes", "no", "true", "false") or text.isdigit()


def _whole(text: str, start: int, end: int) -> bool:
    """Whether a stretch is not cut out of a word of Latin letters, or of a number."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_latin(before) and _latin(text[start])) and not (
        _latin(after) and _latin(text[end - 1]) and text[end : end + 2].rstrip(" .,)\n") not in ("s", "es")
    )


def _latin(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _letters(text: str, options: Mapping[str, str], quotes: Mapping[int, Mention]) -> Iterator[Mention]:
    """Runs of labels that touch no other letter or digit and belong to no word, with their own text if it follows."""
    labels = "".join(sorted(options))
    token = re.compile(
        rf"(?<![A-Za-z0-9_])(?<![A-Za-z]')[{re.escape(labels + labels.lower())}]{{1,{len(labels)}}}(?![A-Za-z0-9_])"
    )
    starts = sorted(quotes)
    for match in token.finditer(text):
        run = tuple(match.group().upper())
        if len(set(run)) != len(run) or not (match.group().isupper() or match.group().islower()):
            continue
        quote = _quote_after(text, match.end(), quotes)
        own = quote is not None and quote.labels[0] == run[-1]
        covering = bisect_right(starts, match.start()) - 1
        if covering >= 0 and quotes[starts[covering]].end > match.start() and not (own and len(run) == 1):
            continue
        if not own and _in_word(text, match):
            continue
        end = quote.end if own and quote is not None else match.end()
        weak = match.group().islower()
        yield Mention(run, match.start(), end, weak=weak, letters=match.end(), own=own)


def _quote_after(text: str, end: int, quotes: Mapping[int, Mention]) -> Mention | None:
    return quotes.get(_DELIMITER.match(text, end).end())  # type: ignore[union-attr]


def _in_word(text: str, match: re.Match[str]) -> bool:
    start, end = match.span()
    before = text[max(0, start - 14) : start]
    if _LABELLED.search(before):
        return False
    if _BEFORE.search(before) or (match.group() in "Aa" and _ARTICLE.match(text, end)):
        return True
    if match.group() in "Ii" and _PRONOUN.match(text, end):
        return True
    quoted = start > 0 and text[start - 1] == text[end : end + 1]
    return not quoted and _AFTER.match(text, end) is not None and not _RANGE.match(text, end)


def _ordinals(text: str, labels: tuple[str, ...]) -> Iterator[Mention]:
    for match in _ORDINAL.finditer(text):
        word = (match[1] or match[2]).lower()
        at = len(labels) - 1 if word == "last" else int(word) - 1 if word.isdigit() else _NTH[word]
        if 0 <= at < len(labels):
            yield Mention((sorted(labels)[at],), match.start(), match.end(), letters=match.end())


def _ranges(text: str, found: list[Mention], labels: tuple[str, ...]) -> Iterator[Mention]:
    """A-D, A至C: every label from the one to the other."""
    skip = False
    for each, after in pairwise([*found, None]):
        if each is None or skip:
            skip = False
            continue
        low, high = each.labels[0], after.labels[0] if after else ""
        dash = _RANGE.match(text, each.end) if len(each.labels) == 1 and low < high else None
        skip = dash is not None and after is not None and dash.end() == after.start
        spread = tuple(label for label in sorted(labels) if low <= label <= high)
        yield replace(each, labels=spread, end=after.end, letters=after.letters) if skip and after else each


def _with_letters(text: str, found: list[Mention]) -> Iterator[Mention]:
    """Each option's text and the letter in brackets after it made one: 青霉素(A)."""
    skip = -1
    for each in found:
        after = _LETTER_AFTER.match(text, each.end) if each.text else None
        if after is not None and after["label"] == each.labels[0]:
            skip = after.end()
            yield replace(each, end=skip, text=False, own=True, letters=skip)
        elif each.start >= skip:
            yield each


def _lists(text: str, found: list[Mention], multiple: bool | None) -> Iterator[Mention]:
    """Neighbours that are parts of one list, made one."""
    at = 0
    while at < len(found):
        members, loose = [found[at]], 0
        for each in found[at + 1 : at + 27]:
            joined = _join(text, members, each, multiple)
            if joined is None:
                break
            loose = len(members) if joined is _LOOSE else loose
            members.append(each)
        if loose and _next_clause(text, members[loose - 1].end, members[-1]):
            members = members[:loose]
        labels = tuple(label for each in members for label in each.labels)
        yield replace(members[-1], labels=labels, start=members[0].start)
        at += len(members)


def _join(text: str, members: list[Mention], each: Mention, multiple: bool | None) -> re.Pattern[str] | None:
    """The kind of joint between a list and what comes next; None where the list ends."""
    last = members[-1]
    seen = {label for member in members for label in member.labels}
    if (
        last.text != each.text
        or last.weak != each.weak
        or seen & set(each.labels)
        or each.start - last.end > 60
    ):
        return None
    bracketed = None if last.own else _BRACKETED.match(text, last.end)
    for end in (last.end, bracketed.end() if bracketed else last.end):
        gap = text[end : each.start]
        if _TIGHT.fullmatch(gap) or _TOUCHING.fullmatch(gap):
            return _TIGHT
        if _LOOSE.fullmatch(gap) and _goes_on(text, each, newline="\n" in gap, multiple=multiple):
            return None if each.text and "," not in gap else _LOOSE
    return None


def _goes_on(text: str, each: Mention, *, newline: bool, multiple: bool | None) -> bool:
    if (newline or each.own) and (multiple is False or (newline and each.own and not multiple)):
        return False
    return each.own or _GOES_ON.match(text, each.end) is not None


def _next_clause(text: str, comma: int, last: Mention) -> bool:
    """Whether what a comma or a blank adds is the next clause's subject: A,B和C用于…, A、B,C不对, C,ABDE均正确."""
    if not (last.own or _GOES_ON.match(text, last.end)) or _DENIED.match(text, last.end):
        return True
    added = text[comma : last.end]
    return ("、" in added or len(last.labels) > 1) and _ALL_OF_THEM.match(text, last.end) is not None
