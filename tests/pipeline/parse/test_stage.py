"""The stage: every input ends in one place, the same tables every time, odd input does no harm."""

import json

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.parse.paper import finish
from build_dataset.pipeline.parse.params import ParseParams
from build_dataset.pipeline.parse.stage import check_gates, declared_for, read_paper, run
from build_dataset.schemas.dataset import SourceParams
from build_dataset.schemas.documents import Box, Document, Line, LineKind, Page, SourceRow
from build_dataset.schemas.questions import Question
from build_dataset.schemas.release import ReleasedId

OPTIONS = "A. 甲\tB. 乙\nC. 丙\tD. 丁"


def line(document: str, order: int, text: str, kind: LineKind = LineKind.TEXT, page: int = 1) -> Line:
    return Line(document=document, page=page, order=order, text=text, box=None, confidence=0.9, column=0, kind=kind)


def tables(texts: dict[str, str], rows: list[SourceRow]) -> dict[str, pl.DataFrame]:
    documents = [
        Document(document=name, sha256=f"{index:08x}" * 8, format="pdf", pages=1, rows=None)
        for index, name in enumerate(texts)
    ]
    if rows:
        documents.append(Document(document="rows.jsonl", sha256="f" * 64, format="jsonl", pages=None, rows=len(rows)))
    lines = [
        line(name, order, text) for name, body in texts.items() for order, text in enumerate(body.split("\n")) if text
    ]
    return {
        "documents": Document.to_frame(documents),
        "pages": Page.to_frame([]),
        "lines": Line.to_frame(lines),
        "rows": SourceRow.to_frame(rows),
        "ids": ReleasedId.to_frame([]),
    }


def paper(*numbers: int) -> str:
    return "\n".join(f"{number}. 第{number}问\n{OPTIONS}" for number in numbers)


TEXTS = {
    "paper.pdf": paper(1, 2, 4),
    "paper_key.pdf": "参考答案\n1.A 2.B 4.D",
    "lost_key.pdf": "参考答案\n1.A 2.B 3.C",
    "letter.pdf": "这里没有题目。",
    "silent.pdf": "",
}
ROWS = [
    SourceRow(
        document="rows.jsonl",
        row=1,
        fields=json.dumps({"question": "问", "option": {"A": "甲", "B": "乙"}, "answer": "A"}),
    ),
    SourceRow(document="rows.jsonl", row=2, fields="[]"),
    SourceRow(document="rows.jsonl", row=3, fields=json.dumps({"question": "问", "option": {"A": "甲", "C": "乙"}})),
]


def test_every_input_ends_in_exactly_one_place(context):
    result = run(tables(TEXTS, ROWS), ParseParams(), context)
    assert result.counts.balanced()
    assert (result.counts.kept, result.counts.merged) == (4, 1)
    assert sorted((item.item_id, item.reason) for item in result.rejects) == [
        ("letter.pdf", "no_questions"),
        ("rows.jsonl#2", "not_an_object"),
        ("silent.pdf", "no_questions"),
    ]
    assert sorted(item.reason for item in result.review) == [
        "key_without_paper",
        "missing_number",
        "options_not_contiguous",
    ]
    assert result.tables["questions"].schema == Question.polars_schema()


def test_a_file_that_holds_a_part_of_a_paper_says_so_once_and_a_person_settles_it(context):
    part = tables({"p.pdf": f"一、单选题（共9题）\n{paper(1, 2, 3)}"}, [])
    result = run(part, ParseParams(), context)
    lost, count = result.review
    assert (lost.reason, len(lost.question_ids), count.reason) == ("missing_number", 6, "count_differs")
    assert (result.counts.waiting, result.counts.balanced()) == (7, True)
    sources = {"p.pdf": SourceParams(accept=["missing_number", "count_differs"])}
    settled = run(part, ParseParams(sources=sources), context)
    assert (settled.review, settled.counts.kept, settled.counts.balanced()) == ([], 3, True)


def test_the_same_input_gives_the_same_tables_whatever_the_order_of_its_lines(context):
    first = run(tables(TEXTS, ROWS), ParseParams(), context)
    shuffled = {name: frame.sample(fraction=1.0, shuffle=True, seed=3) for name, frame in tables(TEXTS, ROWS).items()}
    second = run(shuffled, ParseParams(), context)
    assert first.tables["questions"].equals(second.tables["questions"])
    assert (first.rejects, first.review) == (second.rejects, second.review)


def test_an_empty_dataset_gives_an_empty_table(context):
    result = run(tables({}, []), ParseParams(), context)
    assert result.tables["questions"].height == 0
    assert result.counts.n_input == 0


def test_what_waits_carries_the_question_as_it_was_read(context):
    result = run(tables({"p.pdf": paper(1, 2, 2)}, []), ParseParams(), context)
    item = next(item for item in result.review if item.reason == "duplicate_number")
    assert item.question_ids == [item.item_id]
    assert Question.model_validate_json(item.item).number == 2


def test_running_heads_are_no_text_of_a_question():
    lines = []
    for page in (1, 2, 3, 4):
        lines.append(line("p.pdf", 0, f"某某考试试题 第{page + 109}页", page=page))
        lines.append(line("p.pdf", 1, "代号：1302", LineKind.HEADER, page=page))
        lines.append(line("p.pdf", 2, f"{page}. 下列第几问", page=page))
        lines.append(line("p.pdf", 3, "A. 甲\tB. 乙\tC. 丙", page=page))
        lines.append(line("p.pdf", 4, "内部资料", LineKind.FOOTER, page=page))
    read = read_paper("p.pdf", lines)
    assert [draft.options[-1] for draft in read.questions] == [("C", "丙")] * 4


def test_options_that_close_every_page_are_no_running_feet():
    lines = [
        line("p.pdf", order, text, page=page)
        for page in (1, 2, 3, 4)
        for order, text in enumerate((f"{page}. 最可能的诊断是", "A. 甲", "B. 乙", "C. 3个月"))
    ]
    read = read_paper("p.pdf", lines)
    assert [len(draft.options) for draft in read.questions] == [3] * 4


def test_the_lowest_confidence_and_all_pages_of_a_question_are_told(context):
    lines = [line("p.pdf", 0, "1. 问"), line("p.pdf", 1, "A. 甲"), line("p.pdf", 0, "B. 乙", page=2)]
    lines[1] = lines[1].model_copy(update={"confidence": 0.4})
    read = read_paper("p.pdf", lines)
    check_gates(read)
    document = Document(document="p.pdf", sha256="1" * 64, format="pdf", pages=2, rows=None)
    (question,) = finish(read, document).questions
    assert (question.pages, question.confidence) == ([1, 2], 0.4)


ALPHABET = "0123456789ABCDE.．、,()（）①②【】答案解析共用题干第题一二~- \t\n甲乙a:：#\ue18c\u3000"


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=ALPHABET, max_size=400))
def test_no_text_breaks_the_parser_and_nothing_is_counted_twice(text):
    lines = [line("p.pdf", order, part) for order, part in enumerate(text.split("\n"))]
    read = read_paper("p.pdf", lines)
    check_gates(read)
    outcome = finish(read, Document(document="p.pdf", sha256="1" * 64, format="pdf", pages=1, rows=None))
    items = len(read.items) + len(read.gaps) + len(read.mismatches)
    assert len(outcome.questions) + len(outcome.rejects) + len(outcome.review) == items
    names = [question.question_id for question in outcome.questions] + [
        item.item_id for item in (*outcome.rejects, *outcome.review)
    ]
    assert len(names) == len(set(names))


def test_a_long_document_is_read_in_linear_time():
    lines = [line("p.pdf", order, text) for order, text in enumerate(paper(*range(1, 2001)).split("\n"))]
    assert len(read_paper("p.pdf", lines).questions) == 2000


def test_rows_of_a_table_are_no_text_of_the_stem_but_its_key_still_is_read():
    def boxed(order: int, text: str, top: float, kind: LineKind = LineKind.TEXT) -> Line:
        bottom = top + (60 if kind is LineKind.TABLE else 10)
        return line("p.pdf", order, text, kind).model_copy(update={"box": Box(x0=50, y0=top, x1=400, y1=bottom)})

    lines = [
        boxed(0, "1. 下表中哪位患者最符合", 10),
        boxed(1, "", 25, LineKind.TABLE),
        boxed(2, "患者\t血清铁", 30),
        boxed(3, "甲\t18", 50),
        boxed(4, "A. 甲\tB. 乙\tC. 丙", 100),
        boxed(5, "参考答案", 120),
        boxed(6, "", 130, LineKind.TABLE),
        boxed(7, "题号\t1", 140),
        boxed(8, "答案\tB", 160),
    ]
    (draft,) = read_paper("p.pdf", lines).questions
    assert (draft.stem, draft.answer, draft.attachments) == ("下表中哪位患者最符合", "B", ["table"])


def test_options_inside_a_table_are_options():
    region = line("p.pdf", 1, "", LineKind.TABLE).model_copy(update={"box": Box(x0=0, y0=0, x1=500, y1=500)})
    box = {"box": Box(x0=10, y0=10, x1=100, y1=20)}
    lines = [line("p.pdf", 0, "1. 下列哪项正确"), region]
    lines += [
        line("p.pdf", 2 + n, text).model_copy(update=box) for n, text in enumerate(("A. 甲\tB. 乙", "C. 丙\tD. 丁"))
    ]
    (draft,) = read_paper("p.pdf", lines).questions
    assert [label for label, _ in draft.options] == list("ABCD")


def numbers(text):
    """The numbers of the items of a text, and the lines that are no part of them."""
    found = read_paper("x.pdf", [line("x.pdf", order, one) for order, one in enumerate(text.split("\n"))])
    return [draft.number for draft in found.items], [draft.section for draft in found.items], found


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"第3题\n【第3题】甲\n{OPTIONS}", 3),
        (f"第3题\n第3题 甲\n{OPTIONS}", 3),
        (f"第3题\n第4题 甲\n{OPTIONS}", 4),
        (f"第3题甲\n第3题 乙\n{OPTIONS}", 4),
        (f"3.\n第3题 甲\n{OPTIONS}", 4),
        (f"第3题\n甲\n{OPTIONS}", 4),
        ("第3题", 1),
    ],
)
def test_a_heading_that_is_the_number_of_the_next_line_is_left_out(text, lines):
    assert len(numbers(text)[2].pieces) == lines


def test_sections_count_from_one_and_instructions_are_none():
    two = f"一、单选题\n{paper(1, 2)}\n二、多选题\n{paper(1, 2)}"
    assert numbers(two)[:2] == ([1, 2, 1, 2], [1, 1, 2, 2])
    cover = f"1. 请将答案填涂在答题卡上\n2. 考试时间为两小时\n{paper(1, 2)}"
    assert numbers(cover)[1][-2:] == [1, 1]


def test_what_is_told_of_papers_rows_and_keys(context):
    result = run(tables(TEXTS, ROWS), ParseParams(), context)
    counts = result.counts
    assert (counts.n_input, counts.kept, counts.merged, counts.rejected, counts.waiting) == (11, 4, 1, 3, 3)
    assert result.facts["keys"] == {"paper_key.pdf": "paper.pdf"}
    assert sorted(result.facts) == ["columns", "keys", "left_over"]
    assert result.complete


def test_questions_without_a_key_are_told_once(context):
    notes = run(tables({"甲.pdf": paper(1, 2)}, []), ParseParams(), context).notes
    named = "甲.pdf: 2 questions without a key; put one beside it, named like it and _answers (甲_answers.pdf), "
    assert notes == [f"{named}or they are rejected as no_answer"]
    keyed = {"甲.pdf": paper(1, 2), "甲_key.pdf": "参考答案\n1.A 2.B"}
    assert run(tables(keyed, []), ParseParams(), context).notes == []
    half = {"甲.pdf": f"{paper(1)}\n答案：A\n{paper(2)}"}
    assert run(tables(half, []), ParseParams(), context).notes == []


def test_documents_without_text_or_rows_are_rejected(context):
    given = tables({"甲.pdf": "", "乙.pdf": "这里没有题目。"}, ROWS[:1])
    more = Document(document="z.jsonl", sha256="e" * 64, format="jsonl", pages=None, rows=0)
    given["documents"] = pl.concat([given["documents"], Document.to_frame([more])])
    result = run(given, ParseParams(), context)
    assert sorted(item.item_id for item in result.rejects) == ["z.jsonl", "乙.pdf", "甲.pdf"]
    assert {item.reason for item in result.rejects} == {"no_questions"}
    assert result.counts.n_input == 4


BANK, OTHER = SourceParams(stem="甲"), SourceParams(stem="乙")


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({"bank.xlsx": BANK}, {None: BANK}),
        ({"a/bank.xlsx": BANK}, {None: BANK}),
        ({"bank.xlsx": BANK, "a/bank.xlsx": OTHER}, {None: OTHER}),
        ({"a/bank.xlsx": OTHER, "bank.xlsx": BANK}, {None: OTHER}),
        ({"bank.xlsx#一": BANK, "bank.xlsx": OTHER}, {"一": BANK, None: OTHER}),
        ({"a/bank.xlsx#一": BANK}, {"一": BANK}),
        ({"bank.xlsxx": BANK, "ank.xlsx": BANK}, {}),
    ],
)
def test_the_declarations_of_a_document_and_its_sheets(entries, expected):
    assert declared_for("a/bank.xlsx", entries) == expected


@pytest.mark.parametrize(
    ("name", "told"), [("rows.jsonl", False), ("rows.jsonl#一", False), ("row.jsonl", True), ("row.jsonl#一", True)]
)
def test_declarations_of_no_file_are_told(context, name, told):
    params = ParseParams(sources={name: SourceParams()})
    notes = [f'[sources."{name}"] in dataset.toml names no file that was read'] if told else []
    assert run(tables({}, ROWS[:1]), params, context).notes == notes
