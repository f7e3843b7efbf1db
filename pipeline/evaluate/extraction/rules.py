"""The rules of answer extraction, from the surest to the weakest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from pipeline.evaluate.extraction.letters import Found, Reader

_COPULA = r"(?:应该?|就|只|可能|只能|最终|仍然?|依然|确实|也|都|还|均|只有)*(?:是|为|选择?|即|包括|有|成立)*"
_KEY = re.compile(
    rf"(?:答\s*案|正解)(?:选项|的?字母|编号)?[\"”』」】\])]*\s*{_COPULA}\s*[\"“』」】\])]*\s*[:=]?\s*(?:应?(?:是|为|选择?))?"
    r"|(?i:\b(?:final\s+|correct\s+|best\s+)?(?:answer|choice|option)\b[\"'\])]*\s*(?:is|are|:|=|should\s+be)+\s*:?)"
    r"|\\boxed\s*\{"
)
_CHOOSE = re.compile(
    r"(?:故|应该?|因此|所以|综上|可|当|宜|则|只能|我|本题|最终|必须|需|建议|首|会|而)*(?:此题|本题)?"
    r"(?:选(?!项|出|取|用)择?|选(?:取|用)|勾选)(?:的?(?:答案|选项)?(?:应该?)?(?:是|为))?\s*[:]?"
)
_THE_ONE_IS = re.compile(
    r"的(?:选项|一项|说法|叙述|描述|表述|做法|诊断|治疗|药物|措施|方法|检查|处理|是选项|因素|原因|疾病|组合|论述|陈述)*"
    r"(?:应该?)?(?:是|为|有|包括)\s*[:]?"
    r"|(?:正确|错误|不正确|符合题意|最佳|最合适|最恰当)(?:的)?选项(?:应该?)?(?:是|为)?\s*[:]?"
)
_CONCLUDE = re.compile(
    r"(?:因此|所以|故|综上(?:所述)?|总之|由此可见|可见|因而|综合(?:以上)?(?:分析)?|最终)\s*,?\s*"
    r"(?:本题|此题)?(?:正确)?(?:应该?)?(?:是|为)?\s*[:]?"
)
_CORRECT = re.compile(
    r"(?:而是|应该?是|应该?为|更正为|改为|改选|修正为|纠正为|实际上?(?:应该?)?(?:是|为)|其实(?:应该?)?(?:是|为))\s*[:]?"
)
_WRONG_BEFORE = re.compile(
    r"(?:不是|不对|并非|错了|有误|更正|等等|等一下|修正|抱歉|重新|再想|纠正|wait)[^\n]{0,24}\Z", re.IGNORECASE
)
_NOT_MEANT = re.compile(
    r"(?:不能?|不应该?|不宜|不可|不会|不要|勿|别|非|未|没有?|误|错|如果|若|假如|假设|假定|要是|倘若|即使|即便|有人|有的|有些"
    r"|为什么|为何|何不|是否|而非|而不|排除|干扰|许多人|很多人|考生|部分人|容易|易|曾|一开始|起初|最初|错误的?|原)[^,。;!?\n]{0,3}\Z"
)
_NOT_AFTER = re.compile(
    r"\s*(?:选?项)?\s*[,]?\s*(?:(?:的话|时)|(?:这?(?:是|为|则|就|也|都|均|显然|说法|表述))*\s*"
    r"(?:错误|错的|错了|不对|不正确|不合适|不妥|不符|不恰当|不成立|不是|并不|不能|不应|并非|有误|可以?排除|被排除|排除))"
)
_COPULA_NOT_AFTER = re.compile(r"\s*(?:选?项)?\s*,?\s*(?:这?(?:是|也|都)?(?:不对|不成立|错了|不是))")
_NEGATED = re.compile(r"(?:不|并非|非|不会|不可能|不应该?|不一定)(?:是|为|选|应)*\s*\Z")
_IS_KEY = re.compile(
    r"\s*(?:选?项|才|就|即|应该?|都|均|,)*(?:是|为|属于)(?:本题|该题|此题|唯一|的|最终)*"
    r"(?:正确|最佳|标准|参考|最终|最合适|最恰当|最准确)?的?答案"
)
_VERDICT = re.compile(
    r"(?:不正确|不对|不符合|不恰当|不合适|不准确|错误|错的|有误|不成立|正确|对的|符合题意|合适|恰当|准确|成立)"
)
_ALL = re.compile(
    r"(?:以上|上述|所有选项|全部)(?:选项|说法|各项|情况)*(?:都|均|全部?)?(?:是|对|正确|可以|符合|选|包括)|全选|全对|都选"
)
_FOLLOWS = re.compile(
    r"\s*(?:选?项)?\s*(?:\Z|[^\w\s=×÷/+*%]|\n|正确|(?:才|就|应该?)?(?:是|为)(?:最|正|本|错)|最|符合)"
)
_LINE_OF_LETTERS = re.compile(r"[\s\"'“”【\[(]*|[。.,!\s\"'”】\])]*")
_HEAD = re.compile(r"[\s,。.、:;!?)】\]-]*(?:(?:我的?)?(?:选择?|答|应选|故选)(?!项)\s*[:]?)?")
_HEAD_FOLLOWS = re.compile(r"\s*(?:选项|项)?\s*(?:\Z|[^\w\s]|\s|是|为|正确|说法|错误|不正确)")
_CLAUSE = re.compile(r"[^。!?;\n]+")
_ITEM = re.compile(
    r"(?:^|[\n。;]|\s\s?)\s*(?:选项\s*)?(?P<label>[A-Z])(?![A-Za-z0-9])\s*(?:选项|项)?\s*(?:[.:、,)]|\S{0,40}?(?:正确|错误))"
)

Rule = Callable[[Reader], Found | None]


def _last(found: Iterator[Found]) -> Found | None:
    last = None
    for item in found:
        if last is None or item.start >= last.start:
            last = item
    return last


def _clause_before(text: str, position: int, width: int = 12) -> str:
    return text[max(0, position - width) : position]


def _after_cue(reader: Reader, cue: re.Pattern[str], *, copula: bool) -> Iterator[Found]:
    """Letters that follow a cue and are not taken back."""
    taken_back = _COPULA_NOT_AFTER if copula else _NOT_AFTER
    for match in cue.finditer(reader.text):
        if _NOT_MEANT.search(_clause_before(reader.text, match.start())):
            continue
        found = reader.letters_at(match.end())
        if found is None or _NEGATED.search(match.group()):
            continue
        if taken_back.match(reader.text, found.end):
            continue
        yield Found(found.letters, match.start(), found.end)


def _copulative(match_text: str) -> bool:
    return bool(re.search(r"(?:是|为|选择?|[:=】])\W*\Z", match_text))


def _keyed(reader: Reader) -> Iterator[Found]:
    for match in _KEY.finditer(reader.text):
        if re.search(r"(?:错误的?|不是|并非|非|干扰)\Z", _clause_before(reader.text, match.start())):
            continue
        found = reader.letters_at(match.end())
        taken_back = _COPULA_NOT_AFTER if _copulative(match.group()) else _NOT_AFTER
        if found is not None and not taken_back.match(reader.text, found.end):
            yield Found(found.letters, match.start(), found.end)


def _is_the_key(reader: Reader) -> Iterator[Found]:
    for found in reader.free_letters():
        whole = reader.letters_at(found.start, opening=False)
        if whole is not None and _IS_KEY.match(reader.text, whole.end):
            yield whole


def _corrected(reader: Reader) -> Iterator[Found]:
    for match in _CORRECT.finditer(reader.text):
        if not _WRONG_BEFORE.search(reader.text, max(0, match.start() - 40), match.start()):
            continue
        found = reader.letters_at(match.end())
        if found is not None and _FOLLOWS.match(reader.text, found.end):
            yield Found(found.letters, match.start(), found.end)


def stated(reader: Reader) -> Found | None:
    """The last of: 答案是A, 故选A, A是正确答案, 不是A而是B, a boxed letter, the answer is A, 答案是青霉素."""
    statements = [
        found
        for source in (
            _keyed(reader),
            _after_cue(reader, _CHOOSE, copula=False),
            _is_the_key(reader),
            _corrected(reader),
            _quoted_after(reader, _KEY),
        )
        for found in source
    ]
    return None if _each_in_turn(reader, statements) else _last(iter(statements))


def _each_in_turn(reader: Reader, statements: list[Found]) -> bool:
    """Whether the text goes through the options and calls each of them the answer, which says nothing."""
    parts = {label: (start, end) for label, start, end in _listed(reader)}
    own = {
        found.letters
        for found in statements
        if len(found.letters) == 1
        and found.letters[0] in parts
        and parts[found.letters[0]][0] <= found.start < parts[found.letters[0]][1]
    }
    return len(own) > 2


def _quoted_after(reader: Reader, cue: re.Pattern[str]) -> Iterator[Found]:
    """An option's text where its letter is expected: 正确答案是青霉素."""
    for match in cue.finditer(reader.text):
        if _NOT_MEANT.search(_clause_before(reader.text, match.start())):
            continue
        start = match.end() + len(re.match(r"[\s\"'“‘「《(:,]*", reader.text[match.end() :]).group())  # type: ignore[union-attr]
        found = _quoted_list(reader, start)
        if found is not None:
            yield Found(found.letters, match.start(), found.end)


def _quoted_list(reader: Reader, start: int) -> Found | None:
    letters: list[str] = []
    end = start
    while True:
        label = _one_option(reader, end)
        if label is None or label[0] in letters:
            break
        letters.append(label[0])
        end = label[1]
        joined = re.compile(r"[\s\"'”’」》)]*(?:以及|[、,和与及])\s*").match(reader.text, end)
        if joined is None:
            break
        end = joined.end()
    return Found(tuple(letters), start, end) if letters else None


def _one_option(reader: Reader, start: int) -> tuple[str, int] | None:
    """The one option whose text stands at ``start``; None when none or two options are equally long."""
    found = reader.options_at(start)
    if not found or (len(found) > 1 and found[0][1] == found[1][1]):
        return None
    return found[0]


def everything(reader: Reader) -> Found | None:
    """以上都是 where several answers are allowed and no option says so itself."""
    if reader.multiple is False:
        return None
    for cue in (_KEY, _CHOOSE):
        for match in cue.finditer(reader.text):
            said = _ALL.match(reader.text, match.end())
            if said:
                return Found(tuple(sorted(reader.labels)), match.start(), said.end())
    return None


def concluded(reader: Reader) -> Found | None:
    """因此A正确, 说法错误的是D, 最佳选项为B."""
    return _last(
        found
        for cue in (_THE_ONE_IS, _CONCLUDE)
        for found in _after_cue(reader, cue, copula=True)
        if _FOLLOWS.match(reader.text, found.end)
    )


def head(reader: Reader) -> Found | None:
    """The text opens with the answer: "B", "B. 青霉素", "选项B:青霉素 …"."""
    start = _HEAD.match(reader.text).end()  # type: ignore[union-attr]
    found = reader.letters_at(start)
    if found is None or not _HEAD_FOLLOWS.match(reader.text, found.end) or len(_listed(reader)) > 2:
        return None
    if reader.text[found.start].islower() and not re.match(r"\s*(?:\Z|[.:、)])", reader.text[found.end :]):
        return None
    return found


def last_line(reader: Reader) -> Found | None:
    """The last line is nothing but letters."""
    text = reader.text.rstrip()
    start = text.rfind("\n") + 1
    found = reader.letters_at(start)
    if found is None or re.search(r"\w", text[found.end :]):
        return None
    return found


def quoted(reader: Reader) -> Found | None:
    """The text, its first line, or its conclusion is an option's text without the letter."""
    start = len(reader.text) - len(reader.text.lstrip(" \n\t\"'“。,"))
    opening = _quoted_list(reader, start)
    if opening is not None and re.match(r"[\s\"'”]*(?:\Z|[\n。])", reader.text[opening.end :]):
        return opening
    if len(_listed(reader)) > 2:
        return None
    return (
        _last(_quoted_after(reader, _CHOOSE))
        or _last(_quoted_after(reader, _THE_ONE_IS))
        or _conclusion(reader)
    )


def _conclusion(reader: Reader) -> Found | None:
    """The one option that the last clause with 因此, 所以, 综上 names."""
    for clause in reversed(list(_CLAUSE.finditer(reader.text))):
        if not _CONCLUDE.search(clause.group()) or re.search(r"不|非|排除|错", clause.group()):
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
    """Every option judged one by one: the odd one out, or, where several answers are asked for, the right ones."""
    judged = {}
    parts = _listed(reader)
    for label, start, end in parts:
        verdict = _VERDICT.search(reader.text, start, end)
        if verdict is not None:
            judged[label] = re.match(r"不|错|有误", verdict.group()) is None
    if set(judged) != reader.labels:
        return None
    right = tuple(label for label in sorted(judged) if judged[label])
    wrong = tuple(label for label in sorted(judged) if not judged[label])
    if reader.multiple:
        return Found(right, parts[0][1], parts[-1][2]) if right else None
    odd = right if len(right) == 1 else wrong if len(wrong) == 1 else None
    return Found(odd, parts[0][1], parts[-1][2]) if odd and len(judged) > 2 else None


def first_listed(reader: Reader) -> Found | None:
    """The first option of a text that opens with it, goes through others and never concludes.

    People who judged such answers took the opening for the answer (22 of 23 in the reference outputs).
    A text that breaks off, or that denies its first option, states nothing.
    """
    parts = _listed(reader)
    if reader.multiple or len(parts) < 2 or not re.search(r"[。.!！]\s*\Z", reader.text):
        return None
    label, start, end = parts[0]
    opening = reader.letters_at(start, opening=False)
    if reader.text[:start].strip() not in ("", "选项") or opening is None or len(opening.letters) > 1:
        return None
    return Found((label,), start, end)


def _listed(reader: Reader) -> list[tuple[str, int, int]]:
    """The options a text goes through one by one: label, and from where to where it speaks of it."""
    heads = list(_ITEM.finditer(reader.text))
    heads = [match for match in heads if match["label"] in reader.labels]
    ends = [match.start() for match in heads[1:]] + [len(reader.text)]
    found: dict[str, tuple[str, int, int]] = {}
    for match, end in zip(heads, ends, strict=False):
        found.setdefault(match["label"], (match["label"], match.start("label"), end))
    return list(found.values())


def only_letter(reader: Reader) -> Found | None:
    """The only letters in the text that stand by themselves, unless they are denied."""
    found = reader.free_letters()
    letters = {letter for item in found for letter in item.letters}
    if len(letters) != 1 or any(
        _NOT_MEANT.search(_clause_before(reader.text, item.start)) or _NOT_AFTER.match(reader.text, item.end)
        for item in found
    ):
        return None
    return Found(tuple(letters), found[0].start, found[-1].end)


RULES: Mapping[str, Rule] = {
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
