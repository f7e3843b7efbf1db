"""A renderer of papers, and the property: what is printed in any habit is read back."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.parse.finish import finish
from pipeline.parse.paper import judge, read_paper
from schemas.documents import Document, Line, LineKind

HABITS = ["{}. ", "{}.", "{}、", "{}．", "（{}）", "({})", "第{}题 ", "【{}】"]
LAYOUTS = ["one_a_line", "two_a_line", "four_a_line", "inline", "tight"]
LABELS = ["{}. ", "{}.", "{}．", "{}、", "({})", "（{}）", "【{}】"]
KEYS = ["none", "inline", "bracket", "list", "range", "grid", "entries", "blank"]
TYPES = ["single", "multiple", "case", "options"]
WIDTH = 30
_STEMS = [
    "下列关于休克的叙述，正确的是",
    "首选的检查是",
    "最可能的诊断是",
    "其作用机制为",
    "属于该病表现的是",
    "错误的叙述是",
]
_TEXTS = [
    "肾小球肾炎",
    "口服阿司匹林",
    "静脉滴注",
    "胸部X线检查",
    "acute nephritis",
    "80×10⁹/L",
    "立即手术",
    "维生素C",
    "0.5 mg",
    "左心衰竭",
]
CASE = "男，45岁。上腹痛3天，伴黄疸1天。"


@dataclass(frozen=True)
class Printed:
    stem: str
    options: tuple[str, ...]
    answer: str
    explanation: str | None


@dataclass(frozen=True)
class Style:
    habit: str
    layout: str
    label: str
    key: str
    kind: str
    page_lines: int


@st.composite
def questions(draw, size: int, count: int, kind: str):
    options = tuple(
        f"{text}{draw(st.sampled_from(_TEXTS))}"[:14]
        for text in draw(st.permutations("甲乙丙丁戊己庚辛"))[:size]
    )
    letters = [chr(65 + index) for index in range(size)]
    if kind == "multiple":
        answer = "".join(
            sorted(draw(st.lists(st.sampled_from(letters), min_size=2, max_size=size, unique=True)))
        )
    else:
        answer = draw(st.sampled_from(letters))
    explanation = draw(st.sampled_from([None, "因为第一项符合定义，其余各项均不符合。"]))
    return Printed(draw(st.sampled_from(_STEMS)) + f"第{count}种", options, answer, explanation)


@st.composite
def papers(draw):
    style = Style(
        draw(st.sampled_from(HABITS)),
        draw(st.sampled_from(LAYOUTS)),
        draw(st.sampled_from(LABELS)),
        draw(st.sampled_from(KEYS)),
        draw(st.sampled_from(TYPES)),
        draw(st.integers(5, 40)),
    )
    size = draw(st.integers(3, 6))
    total = draw(st.integers(3, 12))
    found = [draw(questions(size, number, style.kind)) for number in range(1, total + 1)]
    if style.kind == "options":
        found = [Printed(q.stem, found[0].options, q.answer, q.explanation) for q in found]
    return style, found


def wrapped(text: str) -> list[str]:
    return [text[start : start + WIDTH] for start in range(0, len(text), WIDTH)]


def printed_options(style: Style, options: tuple[str, ...]) -> list[str]:
    parts = [style.label.format(chr(65 + index)) + text for index, text in enumerate(options)]
    per_line = {"one_a_line": 1, "two_a_line": 2, "four_a_line": 4, "inline": 9, "tight": 9}[style.layout]
    glue = {"inline": "  ", "tight": " "}.get(style.layout, "\t")
    return [glue.join(parts[start : start + per_line]) for start in range(0, len(parts), per_line)]


def printed_question(style: Style, number: int, question: Printed) -> list[str]:
    stem = question.stem + (f"（ {question.answer} ）" if style.key == "blank" else "")
    lines = wrapped(style.habit.format(number) + stem)
    if style.kind != "options":
        lines += printed_options(style, question.options)
    if style.key in ("inline", "bracket"):
        mark = "答案：" if style.key == "inline" else "【答案】"
        lines.append(mark + question.answer)
        if question.explanation:
            lines += wrapped(("解析：" if style.key == "inline" else "【解析】") + question.explanation)
    return lines


def printed_key(style: Style, found: list[Printed]) -> list[str]:
    numbered = list(enumerate(found, 1))
    if style.key == "list":
        pairs = [f"{number}.{question.answer}" for number, question in numbered]
        return ["参考答案", *(" ".join(pairs[start : start + 5]) for start in range(0, len(pairs), 5))]
    if style.key == "range":
        return ["参考答案", f"1-{len(found)} " + " ".join(question.answer for question in found)]
    if style.key == "grid":
        rows = [
            "\t".join(["题号", *(str(n) for n, _ in numbered)]),
            "\t".join(["答案", *(q.answer for q in found)]),
        ]
        return ["参考答案", *rows]
    if style.key == "entries":
        lines = ["参考答案与解析"]
        for number, question in numbered:
            lines.append(f"{style.habit.format(number)}【答案】{question.answer}")
            if question.explanation:
                lines += wrapped(f"【解析】{question.explanation}")
        return lines
    return []


def render(style: Style, found: list[Printed]) -> list[Line]:
    """Lines of a paper, broken into pages wherever a page is full."""
    texts = []
    if style.kind == "case":
        texts += [f"（1～{len(found)}题共用题干）", CASE]
    if style.kind == "options":
        texts += [f"（1～{len(found)}题共用备选答案）", *printed_options(style, found[0].options)]
    for number, question in enumerate(found, 1):
        texts += printed_question(style, number, question)
    texts += printed_key(style, found)
    return [
        Line(
            document="p.pdf",
            page=index // style.page_lines + 1,
            order=index % style.page_lines,
            text=text,
            box=None,
            confidence=None,
            column=0,
            kind=LineKind.TEXT,
        )
        for index, text in enumerate(texts)
    ]


@settings(max_examples=150, deadline=None)
@given(papers())
def test_what_is_printed_is_read_back(paper):
    style, found = paper
    read = read_paper("p.pdf", render(style, found))
    judge(read)
    document = Document(document="p.pdf", sha256="ef" * 32, format="pdf", pages=1, rows=None)
    outcome = finish(read, document)
    assert [item.detail for item in outcome.review] == []
    assert outcome.rejects == []
    assert [question.number for question in outcome.questions] == list(range(1, len(found) + 1))
    for question, printed in zip(outcome.questions, found, strict=True):
        assert question.stem == printed.stem + ("（ ）" if style.key == "blank" else "")
        assert tuple(option.text for option in question.options) == printed.options
        assert question.answer == (None if style.key == "none" else list(printed.answer))
        if style.key in ("inline", "bracket", "entries"):
            assert question.explanation == printed.explanation
        assert question.shared_stem == (CASE if style.kind == "case" else None)
        assert (question.group_id is not None) == (style.kind in ("case", "options"))
