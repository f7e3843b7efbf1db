"""Markdown papers: rendered as a web page, so that marks of layout never end in a question."""

from __future__ import annotations

import re

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?:[^\n]*\n){0,60}?---[ \t]*\n")
_REPAIRS = (
    (re.compile(r"(\*\*|__)(?=[^\s_*])([^\n]{1,2000}?)(?<=[^\s_*])\1"), r"\2"),  # **1.** 题干, **答案：A**
    (
        re.compile(r"^([ \t>]{0,12})[-*+][ \t]{1,4}(?=[(（]?[A-K][)）.．、:：])", re.MULTILINE),
        r"\1",
    ),  # - A. 选项
    (re.compile(r"^([ \t>]{0,12}(?:\d{1,4}|[A-K]))\\(?=[.)])", re.MULTILINE), r"\1"),  # 1\. 题干
    (re.compile(r"^([(（]\d{1,3}[)）])[ \t]?>[ \t]?(?=[A-K][.．、])", re.MULTILINE), r"\1 "),  # (1)> A. 选项
)
"""Marks that CommonMark would not read as the author meant them, and what is left of them."""
_OFF = ("list", "code", "lheading", "emphasis", "escape", "reference")
"""Rules that would change a paper: a list renumbers its items, a rule under an option would make it a heading,
``2*3*4`` would lose its signs, ``\\{`` in a formula its stroke."""


def html_of(text: str) -> str:
    """Return Markdown as HTML, every line of a paragraph on a line of its own."""
    from markdown_it import MarkdownIt

    text = _FRONT_MATTER.sub("", text)
    for mark, left in _REPAIRS:
        text = mark.sub(left, text)
    parser = MarkdownIt("commonmark", {"html": True, "breaks": True}).enable("table").disable(_OFF)
    return str(parser.render(text))
