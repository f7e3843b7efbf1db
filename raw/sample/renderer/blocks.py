"""The printed blocks of a paper and of its keys."""

from __future__ import annotations

from dataclasses import dataclass

from renderer.model import LETTERS, Group, Item, Paper, Section
from renderer.typeset import Block, Cells, Figure, Table, Text, width_of


@dataclass(frozen=True)
class Style:
    """Habits of a printed paper.

    Attributes:
        number: format of a question's number.
        label: format of an option's letter.
        measure: width of a column in points, for deciding how many options fit on a line.
        answer: format of an inline answer, None where answers stand elsewhere.
        explanation: format of an inline explanation.
    """

    number: str = "{}．"
    label: str = "{}．"
    size: float = 10.5
    measure: float = 471.0
    answer: str | None = None
    explanation: str = "【解析】{}"


def paper_blocks(paper: Paper, style: Style) -> list[Block]:
    """The whole paper: title, sections, questions, answers where they stand inline."""
    blocks: list[Block] = [Text(paper.title, size=style.size + 5, centred=True, spanning=True)]
    for section in paper.sections:
        blocks.append(Text(_heading(section), size=style.size + 0.5, before=12))
        blocks += [block for group in section.groups for block in _group(group, style)]
    return blocks


def _heading(section: Section) -> str:
    return f"{section.title}（本题共{len(section.items)}小题。{section.note}）"


def _group(group: Group, style: Style) -> list[Block]:
    blocks: list[Block] = []
    if group.stem or group.options:
        first, last = group.items[0].number, group.items[-1].number
        shared = "共用题干" if group.stem else "共用备选答案"
        blocks.append(Text(f"（{first}～{last}题{shared}）", size=style.size, before=6))
    if group.stem:
        blocks.append(Text(group.stem, size=style.size, indent=2))
    blocks += _options(group.options, style)
    for item in group.items:
        blocks += _question(item, style, with_options=not group.options)
    return blocks


def _question(item: Item, style: Style, *, with_options: bool) -> list[Block]:
    stem = style.number.format(item.number) + item.stem
    blocks: list[Block] = [Text(stem, size=style.size, hang=1.6, before=4)]
    if item.figure:
        blocks.append(Figure(item.figure))
    if item.table:
        blocks.append(Table(item.table))
    if with_options:
        blocks += _options(item.options, style)
    if style.answer and item.answer:
        blocks.append(Text(style.answer.format(item.answer), size=style.size, indent=1.6))
    if style.answer and item.explanation:
        text = style.explanation.format(item.explanation)
        blocks.append(Text(text, size=style.size, indent=1.6, hang=1.6))
    return blocks


def _options(options: tuple[str, ...], style: Style) -> list[Block]:
    if not options:
        return []
    texts = labelled(options, style.label)
    widest = max(width_of(text, style.size) for text in texts) + 1.2 * style.size
    room = style.measure - 1.6 * style.size
    for columns in (len(texts), 2):
        if widest * columns <= room:
            return [Cells(tuple(texts), columns, size=style.size)]
    return [Text(text, size=style.size, indent=1.6, hang=3.2) for text in texts]


def labelled(options: tuple[str, ...], label: str) -> list[str]:
    """Options behind their letters."""
    return [label.format(letter) + text for letter, text in zip(LETTERS, options, strict=False)]


def end_key(paper: Paper, size: float) -> list[Block]:
    """The key at the end of a paper: ranges where a section has single letters in a row, else one by one."""
    blocks: list[Block] = [Text("参考答案", size=size + 3, before=16)]
    for section in paper.sections:
        blocks.append(Text(section.title, size=size, before=4))
        blocks.append(Text(_section_key(section), size=size))
    return blocks


def _section_key(section: Section) -> str:
    items = section.items
    if section.type == "short_answer":
        return "　".join(f"{item.number}. {item.answer_text}" for item in items)
    if section.type in ("A1", "A2"):
        letters = "".join(item.answer or "" for item in items)
        return f"{items[0].number}-{items[-1].number} {letters}"
    return "　".join(f"{item.number}.{item.answer}" for item in items if item.answer)


def grid_key(paper: Paper, columns: int = 6) -> list[Block]:
    """A key as a grid of its own: rows of numbers above rows of letters."""
    blocks: list[Block] = [Text(f"{paper.title}参考答案", size=15, centred=True)]
    items = paper.items
    for start in range(0, len(items), columns):
        part = items[start : start + columns]
        rows = (("题号", *(str(item.number) for item in part)), ("答案", *(item.answer or "" for item in part)))
        blocks.append(Table(rows, size=11, wide_first=1.2))
    return blocks
