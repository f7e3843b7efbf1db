"""Recognise lines that are heads: of a section, of a shared text, of a key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from pipeline.parse.text import CJK

CHINESE = "一二三四五六七八九十"
_OPEN, _CLOSE = r"[【\[(（〔]?\s*", r"\s*[】\])）〕]?"
_TYPE = r"[ABCXK][1-4]?|A3\s*[/／、]\s*A4"


def _forms(*forms: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rf"\s*{form}", re.IGNORECASE) for form in forms)


_SECTIONS = _forms(
    # 一、单项选择题, （二）多选
    rf"[{CHINESE}]{{1,3}}\s*[、.．,，]\s*\S",
    rf"[(（]\s*[{CHINESE}]{{1,3}}\s*[)）]\s*\S",
    # 甲、申論題, II. 选择题, [題組], Part II
    r"[甲乙丙丁]\s*[、.．]\s*\S{1,8}[题題]",
    r"(?:[IVX]{1,4}|[\u2160-\u2169])\s*+[.．、]?\s*+[单單多複复是配选選简簡填问問]\S{0,6}[题題]",
    rf"{_OPEN}[题題][组組][题題]?{_CLOSE}\s*$",
    r"(?:Part|Section)\s+(?:[IVX]+|[A-H]|\d{1,2})\b(?!\s+(?:of|is|was))",
    # 第一部分, 第2章, 试题一
    rf"第\s*[{CHINESE}百\d]+\s*(?:部分|章|节|節|单元|單元|篇|卷|大题|大題|科)",
    rf"[试試][题題]\s*[{CHINESE}]+\s*(?:[(（]|$)",
    # A1型题, 【X型选择题】, 单选题, 判断题; 单选题1. is a number
    rf"{_OPEN}(?:{_TYPE})\s*型\s*(?:选择|單選|选|多选)?\s*[题題]",
    r"[【\[]?\s*(?:单项|單項|单|單|多项|多項|多|複|复|不定项|最佳)\s*选?選?(?:择|擇)?[题題](?!\s*\d{1,3}\s*[.．、:：])",
    r"[【\[]?\s*(?:判断|是非|填空|简答|簡答|问答|問答|论述|名词解释|名詞解釋|病例分析|案例分析|计算|综合应用|配伍|匹配)[题題]",
)
"""Beginnings of heads of sections."""

_KEY_HEAD = re.compile(
    r"(?:参考答案|參考答案|标准答案|標準答案|试题答案|試題答案|答案部分|答案\s*[与與及和]\s*(?:解析|详解|詳解|分析)|答案解析|^答案)"
    r"(?:\s*[与與及和]\s*[\u4e00-\u9fff]{1,8})?\s*(?:[(（][^)）]*[)）])?\s*[:：]?$"
)
"""The end of a head that opens a key."""
_MAY_BE_KEY_HEAD = re.compile(
    r".{0,24}(?:答案|解析)(?:速查|汇总|彙總)?(?:表|页|頁|部分)?(?:[与與及和][\u4e00-\u9fff]{1,8})?(?:[(（][^)）]*[)）])?[:：]?"
    r"|(?:answer\s*keys?|answers?|keys?)(?:\s+(?:to|for)\s+[\w\s]{1,30})?[:：]?",
    re.IGNORECASE,
)
"""The whole of a line, brackets and spaces aside, that opens a key if answers stand under it."""
_NO_KEY_HEAD = re.compile(
    r"[。？?；;，,]|最佳|正确答案|正確答案|备选|備選|[选選](?:出|[择擇](?![题題]))|以上|我的|您的|考生"
)
_GIVES_ANSWER = re.compile(r"(?:答案|答)\s*+[】\])）]?\s*+[:：是为為]?\s*+[(（【\[]?\s*+[A-Ka-k#](?![a-z])")
_NUMERAL = re.compile(rf"\s*(?:[{CHINESE}]{{1,3}}\s*[、.．]|[(（][{CHINESE}]{{1,3}}[)）])\s*$")

_SPAN = r"[第题題]?\s*(\d{1,4})\s*[题題]?\s*(?:[~～\-－—–─至到、]+|\.{2,3}|及|和|與|与)\s*第?\s*(\d{1,4})\s*小?[题題]?"
"""1～3题, 第1題至第3題: the first and the last question of a group."""
_GROUPS = _forms(
    # （1～3题共用题干）, 1至3题基于以下病例
    rf"{_OPEN}{_SPAN}\s*[^。]{{0,8}}?(?:共用|共享|公用|[备備]选|题组|題組)",
    rf"{_OPEN}(?:下列|以下)?{_SPAN}(?<=[题題])\s*[^。]{{0,8}}?(?:基于|根据|根據|使用|依据|依據|问题|選項|为|為)",
    # （共用题干 1～3题）
    rf"{_OPEN}(?:共用|共享|公用)[^\d。]{{0,8}}?{_SPAN}",
    # 试题（1）～（3）
    r"[试試][题題]\s*[(（]?(\d{1,4})[)）]?\s*[~～\-－—–─至到]+\s*[(（]?(\d{1,4})[)）]?\s*$",
    # 请依下列叙述回答第1题至第3题
    rf"{_OPEN}[请請]?[^。？?]{{0,16}}(?:回答|作答|完成)[^\d。]{{0,8}}?{_SPAN}",
    # 下列第1~3題，請依…
    rf"(?:下列|以下)?\s*{_SPAN}\s*+[,，]?\s*+[請请][依根回就參参]",
    # Questions 1-3; Use this to answer questions 1 to 3
    r"[(\[]?\s*(?:(?:for|[\w\s,]{1,60}?\banswer)\s+)?(?:questions|items|q\.?)\s*(\d{1,4})\s*(?:-|–|—|~|to|through|and)\s*(\d{1,4})",
)
"""Beginnings of heads of shared texts that name their questions."""
_OPENS_CASE = re.compile(
    rf"\s*{_OPEN}(?:情況|情况|病例|病史|案例|個案|个案|資料|资料|材料|[题題]干|[题題]幹|[题題][组組]|case|passage|scenario)\s*(?:[{CHINESE}]+|\d{{1,2}})?{_CLOSE}\s*[:：]\s*",
    re.IGNORECASE,
)
"""The word before a case that names its questions at its end: 情況：一位60歲…依此回答下列第4題至第5題."""
_TELLS = re.compile(
    r"\s*(?:[【(（]?(?:以下|下列|根[据據]|[阅閱][读讀]|依[据據下]|[请請][依根就]|某|有?[一1][位名]|[患病][者人儿兒]|[男女][性，,]|\d{1,3}\s*[岁歲])|(?:An?|The)\s)",
)
"""The beginning of a case without such a word."""
_ASKS_FOR = re.compile(
    rf"(?:[请請]?(?:依此|以此|[据據]此|(?:依[据據]?|根[据據])[^。；;，,]{{0,12}})?[，,]?\s*)(?:(?:回答|作答|完成|解答|答)[^\d。？?]{{0,10}}?{_SPAN}|[(（]\s*(?:回答)?{_SPAN}\s*[)）])"
    r"(?:[^。？?]{0,6}[问問][题題])?\s*[。.:：]?\s*$"
)
"""The end of a case that names its questions: 依此回答下列第4題至第5題：, （第4～6题）."""
CASE_LINES = 15
"""The most lines that such a case may have."""
_CASE = re.compile(rf"\s*{_OPEN}(?:案例|病例)\s*(?:[{CHINESE}]+|\d{{1,2}}){_CLOSE}\s*[:：.．、]?\s*")
_SPAN_ALONE = re.compile(rf"\s*{_OPEN}(?:问题|問題)?{_SPAN}{_CLOSE}\s*[.．、:：]?\s*$")
_SHARED = re.compile(r"共用|共享|公用")
_SPAN_LATER = re.compile(r"\d\s?[~～\-－—–至到]\s?\d")
"""A span that does not open its line stands behind the end of an option: 注射液4～5题共用题干."""


_WHAT = r"(?:共用|共享|公用)[^\d()（）\[\]【】。]{2,8}"
_GLUED_GROUP = re.compile(
    # …预后差。（11～13题共用题干）, …肝炎[共用备选答案 4-6题]
    rf"(?<=\S)[(（\[【]\s?(?:第?\s?\d{{1,3}}\s?[~～\-－—–至到]\s?第?\s?\d{{1,3}}\s?[题題]?\s?{_WHAT}"
    rf"|{_WHAT}\s?\d{{1,3}}\s?[~～\-－—–至到]\s?\d{{1,3}}\s?[题題]?)\s?[)）\]】]\s*"
    # …氯化钠注射液4～5题共用题干, but not IL-64～5, where nobody knows which digits are whose
    rf"|(?<=[{CJK}）)。])\d{{1,3}}\s?[~～\-－—–至到]\s?\d{{1,3}}\s?[题題]{_WHAT}$"
)
"""The head of a shared text behind other text on its line."""
_GLUED_SECTION = re.compile(
    rf"(?<=[{CJK}A-Za-z\d）)。.])(?<![第其])[{CHINESE}]{{1,2}}、\s?[^，。、]{{1,12}}(?:[题題]|[选選][择擇])(?=\s*(?:[(（：:]|$))"
)
"""The head of a section behind other text on its line: 立即手术二、X型题（共5题）."""


def split_heads(text: str) -> list[str]:
    """Return the parts of a line that has heads behind other text: each head begins a part.

    Text behind the head of a shared text is that text.
    """
    section = _GLUED_SECTION.search(text) if "题" in text or "題" in text else None
    cuts = [section.start()] if section else []
    if re.search("共用|共享|公用", text):
        cuts += [found.start() for found in _GLUED_GROUP.finditer(text)]
    edges = [0, *sorted(cuts), len(text)]
    return [text[start:end].strip(" ") for start, end in pairwise(edges)]


def is_section_head(text: str, *, centred: bool = False) -> bool:
    """Return whether a line opens a section or is a heading between questions."""
    bare = text.strip()
    if any(form.match(bare) for form in _SECTIONS):
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


def is_type_head(text: str) -> bool:
    """Return whether a head names items or a part of a paper: 一、单项选择题, 第一部分, not 一、二线药物."""
    return re.search(r"[题題]|型|部分|[章节節篇卷]|[选選][择擇]", text) is not None or len(text.strip()) <= 4


def is_key_head(text: str) -> bool:
    """Return whether a line opens a key: 参考答案, 答案与解析 … without an answer of its own."""
    bare = text.strip()
    return len(bare) <= 40 and _KEY_HEAD.search(bare) is not None and _GIVES_ANSWER.search(bare) is None


def numeral_value(text: str) -> int | None:
    """The number of a head such as 二、, （三） or 试题四; None without one."""
    found = re.match(rf"\s*(?:[试試][题題]|[(（])?\s*([{CHINESE}]{{1,3}})\s*(?:[)）、.．,，(（]|$)", text)
    if not found:
        return None
    tens, _, ones = found[1].rpartition("十")
    if "十" not in found[1]:
        return CHINESE.index(ones[-1]) + 1
    return 10 * (CHINESE.index(tens) + 1 if tens else 1) + (CHINESE.index(ones) + 1 if ones else 0)


def may_be_key_head(text: str) -> bool:
    """Return whether a line opens a key if answers stand under it: 习题答案, 【参考答案】, 答 案, Answers."""
    if len(text) > 60:
        return False
    bare = re.sub(r"[【】\[\]《》〈〉]|(?<![A-Za-z])\s+|\s+(?![A-Za-z])", "", text)
    return _MAY_BE_KEY_HEAD.fullmatch(bare) is not None and _NO_KEY_HEAD.search(bare) is None


def numeral(text: str) -> bool:
    """Return whether a line is a section's numeral and nothing else, as in 一、 alone."""
    return _NUMERAL.match(text) is not None


@dataclass(frozen=True, slots=True)
class GroupHead:
    """A head such as (1~3题共用题干) or (4~6题共用备选答案)."""

    first: int | None
    last: int | None
    options: bool
    """True if options are shared; otherwise a case is."""
    end: int
    """The place at which the rest of the line begins."""


def group_head(text: str) -> GroupHead | None:
    """The head of shared text that a line is, if it is one."""
    found = next((found for form in _GROUPS if (found := form.match(text))), None)
    if found and int(found[1]) < int(found[2]) <= int(found[1]) + 30:
        closing = re.compile(r"[^。:：)）】\]]*[)）】\]]?\s*[。:：]?").match(text, found.end())
        end = closing.end() if closing else len(text)
        return GroupHead(int(found[1]), int(found[2]), _about_options(text[:end]), end)
    case = _CASE.match(text)
    if case:
        return GroupHead(None, None, options=False, end=case.end())
    shared = _SHARED.search(text) and re.search(r"题干|題幹|备选答案|选项|選項", text)
    if shared and len(text.strip()) <= 24 and not _SPAN_LATER.search(text):
        return GroupHead(None, None, _about_options(text), len(text))
    return None


def case_end(text: str) -> tuple[int, int, int] | None:
    """The questions a case names at its end, and where its words for that begin; None where it names none."""
    found = _ASKS_FOR.search(text)
    numbers = [int(number) for number in found.groups() if number] if found else []
    if not found or not numbers[0] < numbers[1] <= numbers[0] + 30:
        return None
    return numbers[0], numbers[1], found.start()


def opens_case(text: str, *, named: bool) -> int | None:
    """Return the place at which a line opens a case, by a word (情況：) or without (一位60歲…); else None.

    Args:
        text: the line.
        named: whether only a word counts.
    """
    found = _OPENS_CASE.match(text)
    if found:
        return found.end()
    return 0 if not named and _TELLS.match(text) else None


def span_head(text: str) -> GroupHead | None:
    """A line that is nothing but a span of numbers: [71-75], （3～4题）."""
    found = _SPAN_ALONE.match(text)
    if not found or not int(found[1]) < int(found[2]) <= int(found[1]) + 30:
        return None
    return GroupHead(int(found[1]), int(found[2]), options=False, end=len(text))


def _about_options(text: str) -> bool:
    return re.search(r"备选|備選|选项|選項|答案", text) is not None
