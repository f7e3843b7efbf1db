"""A paper as lines of text, in its habits; and what must be read back of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.papers.content import traditional
from benchmarks.papers.model import ASIDE, Group, Item, Kind, Paper, Printed, Section, Style, Truth

BESIDE = ("inline", "blank", "before", "text")
"""Keys that stand at their questions."""
AT_END = ("list", "range", "grid", "vertical", "entries", "by_section")
"""Keys that follow the questions; ``separate_*`` are the same in a document of their own."""
KEYS = ("none", *BESIDE, *AT_END, "separate_list", "separate_grid", "separate_vertical", "explained_at_end")
NAMES = {
    Kind.A1: "A1型题",
    Kind.A2: "A2型题",
    Kind.A3: "A3/A4型题",
    Kind.B1: "B1型题",
    Kind.X: "X型题",
    Kind.C: "C型题",
    Kind.K: "K型题",
    Kind.TRUE_FALSE: "判断题",
    Kind.FILL_IN: "填空题",
    Kind.SHORT_ANSWER: "简答题",
}
_CHINESE = "一二三四五六七八九十"
_PER_LINE = {"one": 1, "two": 2, "four": 4, "inline": 99, "double": 99}
HALF_PAGE = 20
"""Characters on a line of one of two columns."""
_ROOM_FOR_TEN = 30
"""Characters on a line from which on a grid has ten cells a row."""
_GLUE = {"inline": " ", "double": "  "}
_COVER = [
    "二〇二四年度医学综合模拟考试试卷",
    "注意事项：1. 本试卷共若干题，考试时间120分钟。",
    "2. 请将答案填涂在答题卡上。",
]


def truths(paper: Paper) -> list[Truth]:
    """The items that must be read back, in order; numbers and sections as the parser counts them."""
    return [truth for _, _, truth in _numbered(paper)]


Tagged = tuple[str, Truth | None]
"""A line, and the item it belongs to."""


def render(paper: Paper, damage: Callable[[list[Tagged]], list[Tagged]] = list) -> Printed:
    """The lines of a paper and of its key, page by page; ``damage`` may change those of its questions."""
    style = paper.style
    body = [*(_COVER if style.cover else []), *(line for line, _ in damage(list(_body(paper))))]
    key = _key(paper)
    separate = style.key.startswith("separate")
    if style.traditional:
        body, key = [traditional(line) for line in body], [traditional(line) for line in key]
    return Printed(_pages(style, body + ([] if separate else key)), _pages(style, key) if separate else [])


def _numbered(paper: Paper) -> Iterator[tuple[int, Group, Truth]]:
    """Index of section, group and truth of every item."""
    number, run, group_id = paper.style.start - 1, 1, 0
    for index, section in enumerate(paper.sections):
        if paper.style.restart and index:
            number, run = 0, run + 1
        for group in section.groups:
            group_id += 1
            for item in group.items:
                number += 1
                yield index, group, _truth(paper.style, item, group, run, number, group_id)


def _truth(style: Style, item: Item, group: Group, run: int, number: int, group_id: int) -> Truth:
    beside = style.key in ("inline", "entries", "explained_at_end", "text")
    told = traditional if style.traditional else str
    return Truth(
        section=run,
        number=number,
        kind=item.kind,
        stem=told(_printed_stem(style, item)),
        options=tuple(map(told, item.options)),
        answer=None if style.key == "none" else item.answer,
        explanation=told(item.explanation) if item.explanation and beside else None,
        case=told(group.case) if group.case else None,
        group=group_id if len(group.items) > 1 else None,
    )


def _printed_stem(style: Style, item: Item) -> str:
    """The stem as it is told: a blank's ideographic spaces have no width of their own."""
    stem = item.stem.replace("\u3000", " ")
    return stem + ("（ ）" if style.key == "blank" and item.kind not in ASIDE else "")


def _body(paper: Paper) -> Iterator[Tagged]:
    style = paper.style
    section_now, group_now = -1, None
    for index, group, truth in _numbered(paper):
        section = paper.sections[index]
        if index != section_now:
            if section_now >= 0 and style.key == "by_section":
                yield from ((line, None) for line in _list_lines(paper, section_now))
            section_now = index
            yield from ((line, None) for line in _head(style, index, section))
        if group is not group_now:
            group_now = group
            yield from ((line, None) for line in _group_head(style, group, truth.number))
        item = group.items[truth.number - _first(paper, group)]
        yield from ((line, truth) for line in _item(style, item, truth.number, group))
    if style.key == "by_section":
        yield from ((line, None) for line in _list_lines(paper, section_now))


def _first(paper: Paper, group: Group) -> int:
    return next(truth.number for _, one, truth in _numbered(paper) if one is group)


def _head(style: Style, index: int, section: Section) -> Iterator[str]:
    if style.head:
        head = style.head.format(
            numeral=_CHINESE[index], name=NAMES[section.kind], count=len(section.items), index=index + 1
        )
        yield from wrapped(head, style.width)
    if section.kind is Kind.K:
        codes = "A. ①②③ B. ①③ C. ②④ D. ④ E. ①②③④"
        yield from wrapped(
            f"答题说明：每题列出①②③④四个选项，按下列组合选择：{codes}", 60 if style.width > HALF_PAGE else style.width
        )


def _group_head(style: Style, group: Group, first: int) -> Iterator[str]:
    if not (group.case or group.options):
        return
    last = first + len(group.items) - 1
    if group.case and style.case:
        for line in style.case.format(first=first, last=last, case=group.case).split("\n"):
            yield from wrapped(line, style.width)
        return
    what = "题干" if group.case else "备选答案"
    yield style.group_head.format(first=first, last=last, what=what)
    if group.case:
        yield from wrapped(group.case, style.width)
    if group.options:
        yield from _options(style, group.options)


def _number(style: Style, number: int) -> str:
    circled = chr(0x245F + number) if number <= 20 else f"{number}."
    return style.number.format(number, c=circled)


def _item(style: Style, item: Item, number: int, group: Group) -> Iterator[str]:
    before = f"（{item.answer}）" if style.key == "before" and item.options else ""
    stem = item.stem
    if style.key == "blank" and item.kind not in ASIDE:
        stem += f"（ {item.answer} ）"
    lead = before + _number(style, number)
    if style.number_alone:
        yield lead
        lead = ""
    for line in (lead + stem).split("\n"):
        yield from wrapped(line, style.width)
    if item.options and not group.options and item.kind is not Kind.K:
        yield from _options(style, item.options)
    if style.key == "inline" or (item.kind in ASIDE and style.key not in ("none", "entries")):
        yield from wrapped((style.mark if style.key == "inline" else "答案：{}").format(item.answer), 99)
    elif style.key == "text":
        words = [item.options["ABCDEFGHIJK".index(letter)] for letter in item.answer]
        yield from wrapped(f"答案：{words[0]}" if len(words) == 1 else f"答案：{item.answer}", 99)
    if style.key in ("inline", "text") and item.explanation:
        yield from wrapped(style.explain.format(item.explanation), style.width)


def _options(style: Style, options: tuple[str, ...]) -> Iterator[str]:
    labels = [style.label.format(chr(65 + place), c=chr(0x24B6 + place), l=chr(97 + place)) for place in range(11)]
    parts = [label + text for label, text in zip(labels, options, strict=False)]
    per_line = _PER_LINE[style.layout]
    glue = _GLUE.get(style.layout, "\t")
    for start in range(0, len(parts), per_line):
        line = glue.join(parts[start : start + per_line])
        yield from wrapped(line, style.width) if style.layout in ("one", "inline", "double") else [line]


def _key(paper: Paper) -> list[str]:
    style = paper.style
    kind = style.key.removeprefix("separate_")
    if kind not in AT_END or kind == "by_section":
        return list(_explanations(paper)) if style.key == "explained_at_end" else []
    lines = ["参考答案" if kind != "entries" else "参考答案与解析"]
    for index in range(len(paper.sections)):
        answers = _list_lines(paper, index, kind)
        lines += [*list(_head(style, index, paper.sections[index]))[:1], *answers] if answers else []
    return lines


def _list_lines(paper: Paper, index: int, kind: str = "by_section") -> list[str]:
    found = [
        (truth.number, truth.answer or "", truth.explanation)
        for at, _, truth in _numbered(paper)
        if at == index and (truth.kind not in ASIDE or kind == "entries")
    ]
    if not found:
        return []
    pairs = [f"{number}.{answer}" for number, answer, _ in found]
    if kind == "range":
        letters = "".join(answer for _, answer, _ in found)
        if len(letters) > len(found):
            letters = " ".join(answer for _, answer, _ in found)
        return wrapped(f"{found[0][0]}-{found[-1][0]} {letters}", 99)
    if kind == "grid":
        size = 10 if paper.style.width >= _ROOM_FOR_TEN else 4
        chunks = [found[start : start + size] for start in range(0, len(found), size)]
        rows = [
            ["\t".join(["题号", *(str(one[0]) for one in chunk)]), "\t".join(["答案", *(one[1] for one in chunk)])]
            for chunk in chunks
        ]
        return [line for row in rows for line in row]
    if kind == "vertical":
        return [f"{number}\t{answer}" for number, answer, _ in found]
    if kind == "entries":
        return [line for entry in found for line in _entry(paper.style, *entry)]
    head = ["答案："] if kind == "by_section" else []
    return head + ["  ".join(pairs[start : start + 5]) for start in range(0, len(pairs), 5)]


def _entry(style: Style, number: int, answer: str, explanation: str | None) -> list[str]:
    lines = [f"{_number(style, number)}【答案】{answer}"]
    return lines + (wrapped(f"【解析】{explanation}", style.width) if explanation else [])


def _explanations(paper: Paper) -> Iterator[str]:
    """A list of answers, then all explanations."""
    yield "参考答案"
    for index, section in enumerate(paper.sections):
        answers = _list_lines(paper, index, "list")
        if answers:
            yield from list(_head(paper.style, index, section))[: 1 if paper.style.restart else 0]
            yield from answers
    yield "答案解析"
    before = 0
    for index, _, truth in _numbered(paper):
        if paper.style.restart and index >= before and truth.explanation:
            yield from list(_head(paper.style, index, paper.sections[index]))[:1]
            before = index + 1
        if truth.explanation:
            yield from wrapped(f"{_number(paper.style, truth.number)}{truth.explanation}", paper.style.width)


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most ``width`` characters; Latin words and numbers are not cut."""
    lines, line = [], ""
    for word in _words(text):
        if line and len(line) + len(word) > width:
            lines.append(line)
            line = word.lstrip()
        else:
            line += word
    return [*lines, line] if line.strip() else lines


def _words(text: str) -> Iterator[str]:
    word = ""
    for character in text:
        joined = (character.isascii() and not character.isspace()) or character in "（　）"
        if joined:
            word += character
            continue
        if word:
            yield word
            word = ""
        yield character
    if word:
        yield word


def _pages(style: Style, lines: list[str]) -> list[list[str]]:
    size = style.page_lines
    pages = [lines[start : start + size] for start in range(0, len(lines), size)]
    if style.running:
        total = len(pages)
        pages = [["医学综合模拟试卷", *page, f"第 {place} 页 共 {total} 页"] for place, page in enumerate(pages, 1)]
    return pages
