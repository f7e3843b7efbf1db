"""What a line could be: the start of a question, a section head, a head of shared text, the head of a key."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from pipeline.parse.text import CJK, true_digits


class Habit(StrEnum):
    """How question numbers are printed."""

    DOT = "dot"
    PAREN = "paren"
    TITLE = "title"
    BRACKET = "bracket"
    CIRCLED = "circled"
    BARE = "bare"


@dataclass(frozen=True, slots=True)
class Mark:
    """A place that may be the start of a question."""

    line: int
    """Index of its piece."""
    value: int
    habit: Habit
    end: int
    """Where the rest of the line begins."""
    weight: float
    """How much the place alone looks like a question number, about 0..1.2."""
    last: int
    """The last number where it covers several (2.3. or 18~21.); otherwise its value."""
    supported: bool = False
    """Whether options or an answer follow it before the next number."""
    options: bool = False
    """Whether options do."""
    given: str | None = None
    """The letters in the bracket before the number, as in （C）1."""


_CIRCLED = {
    **{chr(0x2460 + i): i + 1 for i in range(20)},
    **{chr(0x3251 + i): i + 21 for i in range(15)},
    **{chr(0x32B1 + i): i + 36 for i in range(15)},
}
CIRCLED_DIGITS = "".join(_CIRCLED)

_PAIR = re.compile(r"\s*(\d{1,4})\s?[.．、]\s?(\d{1,4})\s?[.．、]\s*(?!\d)")
_SPAN = re.compile(r"\s*[(（]?(\d{1,4})\s*[~～\-－—–至]\s*(\d{1,4})[)）]?\s?[.．、]\s*(?!\d)")
QUANTITY = -0.2
"""The weight of a quantity at the start of a line (15.2×10⁹/L, 30 mg): it numbers a question where one is missing."""
_UNIT = r"(?:×|mg|ml|mL|kg|g|cm|mm|μ|u|%|％|mmol|L|m²|m2|℃|[~～-]\s*\d)"
_FORMS: tuple[tuple[Habit, re.Pattern[str], float], ...] = (
    (
        Habit.TITLE,
        re.compile(r"\s*第\s*(\d{1,4})\s*[题題]\s*[.．、:：]?\s*(?!.{0,12}(?:给分|給分|更正|送分))"),
        1.2,
    ),
    (
        Habit.TITLE,
        re.compile(
            r"\s*(?:Question|[单單多][选選项項]*题|判断题|Q|No\.?)\s*(\d{1,4})\s*[.．、:：]?\s*(?![~～\-—、，,])",
            re.IGNORECASE,
        ),
        1.2,
    ),
    (
        Habit.TITLE,
        re.compile(
            r"\s*(?:试题|試題|题目|題目|问题|問題|题|題)\s*[(（]?\s*(\d{1,4})\s*[)）]?\s*[.．、:：]?\s*(?![~～\-—、，,]|.?分析)"
        ),
        1.2,
    ),
    (Habit.BRACKET, re.compile(r"\s*[【\[〔]\s*(\d{1,4})\s*[】\]〕]\s*[.．、]?\s*"), 1.1),
    (Habit.DOT, re.compile(r"\s*(\d{1,4})\s?[.．、]\s*(?!\d)"), 1.0),
    (Habit.DOT, re.compile(r"\s*(\d{1,4})[.．、]\s*(?=\d+\s*(?:岁|歲|个|個|名|例|位|年|月|天|日))"), 0.9),
    (Habit.DOT, re.compile(r"\s*(\d{1,4})[.．、](?=\d)(?!\d+(?:\.\d+)?\s*" + _UNIT + ")"), 0.6),
    (Habit.DOT, re.compile(r"\s*(\d{1,4})[.．](?=\d)"), QUANTITY),
    (Habit.DOT, re.compile(r"\s*(\d{1,4})\s?[,，](?!\d{3})\s*"), 0.6),
    (Habit.DOT, re.compile(r"\s*(\d{1,4})\s?[)）](?![-−–])\s*"), 0.7),
    (Habit.DOT, re.compile(r"\s*(\d{1,4})\s?[:：]\s*(?!\d)"), 0.6),
    (
        Habit.PAREN,
        re.compile(r"\s*[(（]\s*(\d{1,4})\s*[)）]\s*(?:[·•‧∙.．,，、'`]\s*)?(?=[A-K][.．、])"),
        1.1,
    ),
    (Habit.PAREN, re.compile(r"\s*[(（]\s*(\d{1,4})\s*[)）]\s*[.．、]?\s*"), 0.6),
    (Habit.BARE, re.compile(r"\s*(\d{1,3})\s*$"), 0.45),
    (Habit.BARE, re.compile(r"\s*(\d{1,3})\t\s*(?=\S)"), 0.7),
    (Habit.BARE, re.compile(r"\s*(\d{1,3}) +(?=" + _UNIT + r"|mm|次|h\b|min)"), QUANTITY),
    (Habit.BARE, re.compile(r"\s*(\d{1,3}) +(?=\d)"), 0.3),
    (Habit.BARE, re.compile(r"\s*(\d{1,3}) +(?=[" + CJK + r"A-Za-z(（「【“\"])"), 0.6),
    (
        Habit.BARE,
        re.compile(
            r"\s*(\d{1,3})(?=[" + CJK + r"])(?!\d*\s*(?:年|月|日|岁|歲|个|個|天|小时|分|次|周|例|名|位|种))"
        ),
        0.3,
    ),
)


_GIVEN = re.compile(
    r"\s*(?:[(（【\[]\s*([A-K](?:\s*[、,，]?\s*[A-K])*)?\s*[)）】\]]|([A-K])(?=\t|\s{2}))\s*"
    r"(?=\d{1,3}\s?[.．、)）]|[(（【\[]\d{1,3}[)）】\]]|第\d{1,3}[题題]|题\d{1,3}\s)"
)
"""An answer, or the room for it, before the number: （C）1. (  )2."""
_STARRED = re.compile(r"\s*[*※★☆▲△]\s*(?=\d)")


def number_mark(line: int, text: str) -> Mark | None:
    """The likeliest question number at the start of ``text``, if it could be one."""
    given = _GIVEN.match(text)
    before = given or _STARRED.match(text)
    start = before.end() if before else 0
    mark = _mark(line, true_digits(text[start:]))
    if mark is None or not before:
        return mark
    letters = re.sub(r"[^A-K]", "", (given[1] or given[2] or "") if given else "")
    return replace(mark, end=mark.end + start, given=letters or None)


def _mark(line: int, text: str) -> Mark | None:
    first = text.lstrip()[:1]
    if first in _CIRCLED:
        end = text.index(first) + 1
        return Mark(line, _CIRCLED[first], Habit.CIRCLED, end, 0.3, _CIRCLED[first])
    if not first.isdigit() and first not in "第试試问問题題【[〔(（QqNn单單多判":
        return None
    several = _PAIR.match(text) or _SPAN.match(text)
    if several and int(several[1]) < int(several[2]) <= int(several[1]) + (1 if _PAIR.match(text) else 9):
        return Mark(line, int(several[1]), Habit.DOT, several.end(), 1.1, int(several[2]))
    for habit, form, weight in _FORMS:
        found = form.match(text)
        if found and 0 < int(found[1]) < 5000:
            value = int(found[1])
            return Mark(line, value, habit, found.end(), weight if value < 1000 else weight / 2, value)
    return None


_CHINESE = "一二三四五六七八九十"
_SECTION = (
    re.compile(rf"\s*[{_CHINESE}]{{1,3}}\s*[、.．,，]\s*\S"),
    re.compile(r"\s*[甲乙丙丁]\s*[、.．]\s*\S{1,8}[题題]"),
    re.compile(r"\s*(?:[IVX]{1,4}|[\u2160-\u2169])\s*[.．、]?\s*[单單多複复是配选選简簡填问問]\S{0,6}[题題]"),
    re.compile(r"\s*[【\[(（]?\s*[题題][组組][题題]?\s*[】\])）]?\s*$"),
    re.compile(r"\s*(?:Part|Section)\s+(?:[IVX]+|[A-H]|\d{1,2})\b(?!\s+(?:of|is|was))", re.IGNORECASE),
    re.compile(rf"\s*[(（]\s*[{_CHINESE}]{{1,3}}\s*[)）]\s*\S"),
    re.compile(rf"\s*第\s*[{_CHINESE}百\d]+\s*(?:部分|章|节|節|单元|單元|篇|卷|大题|大題|科)"),
    re.compile(rf"\s*[试試][题題]\s*[{_CHINESE}]+\s*(?:[(（]|$)"),
    re.compile(r"\s*[【\[(（]?\s*(?:[ABCXK][1-4]?|A3\s*[/／、]\s*A4)\s*型\s*(?:选择|單選|选|多选)?\s*[题題]"),
    re.compile(
        r"\s*[【\[]?\s*(?:单项|單項|单|單|多项|多項|多|複|复|不定项|最佳)\s*选?選?(?:择|擇)?[题題](?!\s*\d{1,3}\s*[.．、:：])"
    ),
    re.compile(
        r"\s*[【\[]?\s*(?:判断|是非|填空|简答|簡答|问答|問答|论述|名词解释|名詞解釋|病例分析|案例分析|计算|综合应用|配伍|匹配)[题題]"
    ),
)
_KEY_HEAD = re.compile(
    r"(?:参考答案|參考答案|标准答案|標準答案|试题答案|試題答案|答案部分|答案\s*[与與及和]\s*(?:解析|详解|詳解|分析)|答案解析|^答案)"
    r"(?:\s*[与與及和]\s*[\u4e00-\u9fff]{1,8})?\s*(?:[(（][^)）]*[)）])?\s*[:：]?$"
)
_MAY_BE_KEY_HEAD = re.compile(
    r".{0,24}(?:答案|解析)(?:速查|汇总|彙總)?(?:表|页|頁|部分)?(?:[与與及和][\u4e00-\u9fff]{1,8})?(?:[(（][^)）]*[)）])?[:：]?"
    r"|(?:answer\s*keys?|answers?|keys?)(?:\s+(?:to|for)\s+[\w\s]{1,30})?[:：]?",
    re.IGNORECASE,
)
_NO_KEY_HEAD = re.compile(
    r"[。？?；;，,]|最佳|正确答案|正確答案|备选|備選|[选選](?:出|[择擇](?![题題]))|以上|我的|您的|考生"
)
_NUMERAL = re.compile(rf"\s*(?:[{_CHINESE}]{{1,3}}\s*[、.．]|[(（][{_CHINESE}]{{1,3}}[)）])\s*$")
_GIVES_ANSWER = re.compile(r"(?:答案|答)\s*[】\])）]?\s*[:：是为為]?\s*[(（【\[]?\s*[A-Ka-k#](?![a-z])")
_GROUP = re.compile(
    r"\s*[(（【\[]?\s*(?:第|题)?\s*(\d{1,4})\s*[题題]?\s*[~～\-－—–─至到、]+\s*(?:第)?\s*(\d{1,4})\s*(?:小)?[题題]?\s*"
    r"(?:[^。]{0,8}?)(?:共用|共享|公用|基于|根据|根據|使用|依据|依據|问题|選項|为|為题组|题组|題組)"
)
_BOOK_GROUP = re.compile(
    r"\s*[试試][题題]\s*[(（]?(\d{1,4})[)）]?\s*[~～\-－—–─至到]+\s*[(（]?(\d{1,4})[)）]?()\s*$"
)
_ANSWER_GROUP = re.compile(
    r"\s*[(（【\[]?\s*[请請]?(?:[^。？?]{0,16}(?:回答|作答|完成)[^\d。]{0,8}?)第?\s*(\d{1,4})\s*[题題]?\s*"
    r"(?:[~～\-－—–─至到、]|及|和|與|与)+\s*第?\s*(\d{1,4})\s*小?[题題]()"
)
_ASKED_GROUP = re.compile(
    r"\s*(?:下列|以下)?\s*第?\s*(\d{1,4})\s*[题題]?\s*[~～\-－—–─至到]+\s*第?\s*(\d{1,4})\s*[题題]\s*[,，]?\s*()[請请][依根回就參参]"
)
_QUESTIONS = re.compile(
    r"\s*[(\[]?\s*(?:for\s+)?(?:questions|items|q\.?)\s*(\d{1,4})\s*(?:-|–|—|~|to|through|and)\s*(\d{1,4})()",
    re.IGNORECASE,
)
_CASE = re.compile(
    rf"\s*[【\[(（]?\s*(?:案例|病例)\s*(?:[{_CHINESE}]+|\d{{1,2}})\s*[】\])）]?\s*[:：.．、]?\s*"
)
_GROUP_FORMS = (_GROUP, _BOOK_GROUP, _ANSWER_GROUP, _ASKED_GROUP, _QUESTIONS)
_SPAN_ALONE = re.compile(
    r"\s*[(（【\[〔]?\s*第?\s*(\d{1,4})\s*[题題]?\s*(?:[~～\-－—–─至到]+|\.{2,3})\s*第?\s*(\d{1,4})\s*小?[题題]?"
    r"\s*[)）】\]〕]?\s*[.．、:：]?\s*$"
)
_SHARED = re.compile(r"共用|共享|公用")


def is_section_head(text: str, *, centred: bool = False) -> bool:
    """Whether a line opens a section or is a heading between questions."""
    bare = text.strip()
    if any(form.match(bare) for form in _SECTION):
        return (
            len(bare) <= 24
            or re.search(r"^(?:Part|Section)\b.{0,60}$|[题題]|共\s*\d+", bare, re.IGNORECASE) is not None
        )
    return (
        centred
        and len(bare) <= 20
        and re.search(rf"[{CJK}]{{2}}", bare) is not None
        and re.search(r"[。？?！；;:：]$", bare) is None
    )


def is_key_head(text: str) -> bool:
    """Whether a line opens a key: 参考答案, 答案与解析 … without an answer of its own."""
    bare = text.strip()
    return len(bare) <= 40 and _KEY_HEAD.search(bare) is not None and _GIVES_ANSWER.search(bare) is None


def numeral_value(text: str) -> int | None:
    """The number of a head such as 二、 or （三）; None without one."""
    found = re.match(rf"\s*[(（]?\s*([{_CHINESE}]{{1,3}})\s*[)）、.．,，]", text)
    if not found:
        return None
    tens, _, ones = found[1].rpartition("十")
    if "十" not in found[1]:
        return _CHINESE.index(ones[-1]) + 1
    return 10 * (_CHINESE.index(tens) + 1 if tens else 1) + (_CHINESE.index(ones) + 1 if ones else 0)


def may_be_key_head(text: str) -> bool:
    """Whether a line opens a key if answers stand under it: 习题答案, 【参考答案】, 答 案, Answers."""
    if len(text) > 60:
        return False
    bare = re.sub(r"[【】\[\]《》〈〉]|(?<![A-Za-z])\s+|\s+(?![A-Za-z])", "", text)
    return _MAY_BE_KEY_HEAD.fullmatch(bare) is not None and _NO_KEY_HEAD.search(bare) is None


def numeral(text: str) -> bool:
    """Whether a line is a section's numeral and nothing else, as in 一、 alone."""
    return _NUMERAL.match(text) is not None


@dataclass(frozen=True, slots=True)
class GroupHead:
    """A head such as (1~3题共用题干) or (4~6题共用备选答案)."""

    first: int | None
    last: int | None
    options: bool
    """Whether options are shared; otherwise a case is."""
    end: int
    """Where the rest of the line begins."""


def group_head(text: str) -> GroupHead | None:
    """The head of shared text that a line is, if it is one."""
    found = next((found for form in _GROUP_FORMS if (found := form.match(text))), None)
    if found and int(found[1]) < int(found[2]) <= int(found[1]) + 30:
        closing = re.compile(r"[^。:：)）】\]]*[:：)）】\]]?").match(text, found.end())
        end = closing.end() if closing else len(text)
        return GroupHead(int(found[1]), int(found[2]), _about_options(text[:end]), end)
    case = _CASE.match(text)
    if case:
        return GroupHead(None, None, options=False, end=case.end())
    if _SHARED.search(text) and len(text.strip()) <= 24 and re.search(r"题干|題幹|备选答案|选项|選項", text):
        return GroupHead(None, None, _about_options(text), len(text))
    return None


def span_head(text: str) -> GroupHead | None:
    """A line that is nothing but a span of numbers: [71-75], （3～4题）."""
    found = _SPAN_ALONE.match(text)
    if not found or not int(found[1]) < int(found[2]) <= int(found[1]) + 30:
        return None
    return GroupHead(int(found[1]), int(found[2]), options=False, end=len(text))


def _about_options(text: str) -> bool:
    return re.search(r"备选|備選|选项|選項|答案", text) is not None
