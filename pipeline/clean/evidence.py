"""Questions that can only be answered with a figure or a table at hand.

Evidence is the page's layout first, then phrases that point at a figure or table. The bare characters 图 and 表
are no evidence: of 3,400 sound questions of CMExam, 3 % contain 图 (心电图, 图案, 图谱) or 表 (表现, 表面, 列表).
"""

from __future__ import annotations

import re

from pipeline.clean.params import CleanParams
from schemas.questions import Question

_POINTING = "如|见|見|参见|參見|参考|參考|参照|根据|根據|依据|依據|按照|对照|對照|结合|結合|由"
_WHERE = "下|上|左|右|附|此|该|該|(?<!基)本|以下|以上|下列|所附|后|後"
_NUMBER = "[0-9A-Za-zⅠ-Ⅻ一二三四五六七八九十]"
# After 图: what makes another word of it (图谱, 图书, 图案 ...). After 表: only what shows that it is the noun, because
# 表 begins far more words (表现, 表面, 表皮, 表达, 表述 ...) than can be listed.
_IS_FIGURE = "[图圖](?![谱譜书書案章腾騰层層])"
_IS_TABLE = (
    r"表(?:格|所示|所列|所给|所給|中|内|內|示|为|為|是|列出|提供|资料|資料|数据|數據|计算|計算|回答|可"
    rf"|{_NUMBER}|\s|$|[，。；：、,;.:）)])"
)
_START = r"(?:^|(?<=[，。；：、,.;:（(【\[\s]))"

FIGURE = re.compile(
    rf"(?:{_POINTING})\s*(?:(?:{_WHERE})\s*)?{_IS_FIGURE}"
    rf"|(?:{_WHERE})\s*{_IS_FIGURE}(?!像|形|式)"
    rf"|{_START}[图圖]\s*(?:中|示|所示|内|內|上|{_NUMBER})"
    rf"|如[下上左右][^，。；,;]{{0,6}}(?<![企试試力意]){_IS_FIGURE}"
    r"|所附之?(?:影像|照片|相片|切片|X\s*光|心[电電])"
    r"|[（(]\s*[图圖]\s*[0-9]*\s*[）)]"
    r"|(?:as\s+)?shown\s+(?:in\s+(?:the\s+)?(?:figure|image|picture|fig\b)|below)|\bfig(?:ure|\.)\s*[0-9]",
    re.IGNORECASE,
)
"""Phrases that point at a figure: 如图所示, 见下图, 根据图1, （图）, 如圖, 附圖, ``shown in the figure``."""

_CHEMICAL = "(?:化学|化學|分子|母核|基本|核心|药物|藥物){0,2}"
_COMPOUND = "(?:药|藥|化合|物质|物質|成分|抗生素|激素|生物碱|名称|化学名)"
STRUCTURE = re.compile(
    rf"(?:如下|下图|上图)的?{_CHEMICAL}[结結][构構]|(?:下列|以下|下述|上述|下面|该|此)的?{_CHEMICAL}[结結][构構]式?的{_COMPOUND}"
    rf"|(?:下列|以下|下述|上述|下面)的?(?:化学|化學|分子)?[结結][构構]式(?!的?(?:中|特点|正确|错误|是|与|相))"
    rf"|[结結][构構]式?[为為是]\s*的(?:\S{{0,6}}){_COMPOUND}|(?:(?:化学|化學|分子)[结結][构構]式?|[结結][构構]式)[为為是]\s*[，。；]"
    rf"|[结結][构構]式?(?:如下|见下|如图|如上|所示如)|the following (?:chemical )?structure",
    re.IGNORECASE,
)
"""Phrases that a structural formula stood in, which the text has lost: 具有如下结构的药物, 化学结构为的药物,
结构式如下. 下列结构中，受损的是 and 的结构是 ask for anatomy."""

TABLE = re.compile(
    rf"(?:{_POINTING})\s*(?:(?:{_WHERE})\s*)?{_IS_TABLE}"
    rf"|(?:{_WHERE})\s*{_IS_TABLE}"
    rf"|{_START}表\s*(?:中|内|內|[0-9])"
    r"|[（(]\s*表\s*[0-9]*\s*[）)]"
    r"|shown\s+in\s+(?:the\s+)?table|\btable\s*[0-9]",
    re.IGNORECASE,
)
"""Phrases that point at a table: 如下表, 见表1, 下表所示, 根據上表, ``shown in the table``."""


_IN_GENERAL = re.compile(r"[表图圖]\s*[中内內]")
"""In an option it speaks of tables and figures as such: 表内数据不留空格."""


def needs_figure(question: Question, params: CleanParams) -> str | None:
    """A figure stands inside the question, or its text points at one."""
    if params.keep_figures:
        return None
    return _evidence(question, "figure", FIGURE) or _evidence(question, "figure", STRUCTURE)


def needs_table(question: Question, params: CleanParams) -> str | None:
    """A table stands inside the question, or its text points at one."""
    return None if params.keep_tables else _evidence(question, "table", TABLE)


def needs_formula(question: Question, params: CleanParams) -> str | None:
    """A formula that is a picture or an object stands inside the question: its text has an empty place there."""
    found = "formula" in (question.attachments or []) and not params.keep_formulas
    return "a formula that could not be read stands inside the question" if found else None


def _evidence(question: Question, kind: str, phrase: re.Pattern[str]) -> str | None:
    if kind in (question.attachments or []):
        return f"a {kind} stands inside the question on its page"
    parts = _parts(question)
    # One search over everything: all but a few in a thousand questions end here.
    if not phrase.search("\n".join(text for _, text in parts)):
        return None
    for part, text in parts:
        found = phrase.search(text)
        if found and not (part.startswith("option") and _IN_GENERAL.match(found.group())):
            return f"the {part} says “{_around(text, found)}”"
    return None


def _parts(question: Question) -> list[tuple[str, str]]:
    parts = [("shared stem", question.shared_stem or ""), ("stem", question.stem)]
    return parts + [(f"option {option.label}", option.text) for option in question.options]


def _around(text: str, found: re.Match[str]) -> str:
    return text[max(0, found.start() - 6) : found.end() + 6].replace("\n", " ")
