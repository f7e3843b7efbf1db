"""Long texts of a table beside its questions: joined where stems rest on them, told or stopping the table elsewhere."""

import json

import pytest

from build_dataset.pipeline.parse.columns import Columns, Unclear
from build_dataset.pipeline.parse.passages import speaks_of_text
from build_dataset.pipeline.parse.rows import sources_of
from build_dataset.schemas.documents import Document, SourceRow

BANK = Document(document="x.jsonl", sha256="ab" * 32, format="jsonl", pages=None, rows=24)
ORGANS = "肝胆脾胃肺心肾脑骨皮眼耳鼻喉齿舌肌腱血脉筋膜腺管"
CASES = [
    f"患者因{organ}区不适就诊，既往有{ORGANS[-at]}病史{at}年，查体见{organ}部压痛，化验提示{organ}功能异常，"
    f"影像见{organ}内占位{at}毫米，余未见异常，家族中无类似情况。"
    for at, organ in enumerate(ORGANS, 1)
]


OWN = "{own}是哪一种"  # a stem that says something of its own


def table(told, stem, name="notes_x", behind=()):
    rows = []
    for at, (organ, text) in enumerate(zip(ORGANS, told, strict=True), 1):
        own = "".join(chr(0x5200 + 16 * at + place) for place in range(8))  # of no other stem
        fields = {"question": stem.format(at=at, organ=organ, own=own), name: text, "answer": "ABCD"[at % 4]}
        fields |= {letter: f"{organ}{letter}药{at}" for letter in "ABCD"}
        fields |= {other: fields.pop(other) for other in behind}
        rows.append(SourceRow(document="x.jsonl", row=at, fields=json.dumps(fields, ensure_ascii=False)))
    (source,) = sources_of(rows, BANK, {})
    return source


@pytest.mark.parametrize("stem", ["根据上述材料，首选第{at}项还是", "该患者首选的处理是"])
def test_a_text_that_stems_speak_of_joins_them(stem):
    source = table(CASES, stem)
    assert isinstance(source.columns, Columns)
    assert [found[0].shared_stem for _, found in source.rows] == CASES


def test_a_text_that_several_questions_in_a_row_share_joins_them():
    source = table([CASES[at // 4] for at in range(len(ORGANS))], "{organ}病在第{at}年的表现是")
    assert [found[0].shared_stem for _, found in source.rows] == [CASES[at // 4] for at in range(len(ORGANS))]


def test_a_text_that_stems_may_or_may_not_need_stops_the_table():
    source = table(CASES, OWN)
    assert isinstance(source.columns, Unclear)
    assert source.columns.reason == "column_left_over"
    assert table(CASES, OWN, behind=["notes_x"]).columns.unused == {"notes_x": "may explain the key"}


@pytest.mark.parametrize(
    ("text", "stem", "unclear"), [(CASES[0], OWN, 1), ("心血管系统", OWN, 0), (CASES[0], "该患者首选的处理是", None)]
)
def test_a_case_over_many_questions_that_none_needs_is_none(text, stem, unclear):
    """The introduction of a chapter stops the table; the chapter's name stays out; a case that stems need joins."""
    source = table([text] * len(ORGANS), stem, "案例")
    assert isinstance(source.columns, Unclear) is bool(unclear)
    assert unclear or {found[0].shared_stem for _, found in source.rows} == {text if unclear is None else None}


def test_a_text_that_quotes_the_key_explains_it():
    texts = [
        f"{case}因此应用{organ}{'ABCD'[at % 4]}药{at}。"
        for at, (organ, case) in enumerate(zip(ORGANS, CASES, strict=True), 1)
    ]
    source = table(texts, OWN)
    assert source.columns.unused == {"notes_x": "may explain the key"}
    assert all(found[0].shared_stem is None for _, found in source.rows)


def test_a_translation_of_the_stem_stays_out():
    texts = [
        f"In case {at} which of these is the most likely finding of organ number {at * 7} here" for at in range(24)
    ]
    source = table(texts, OWN)
    assert isinstance(source.columns, Columns)
    assert all(found[0].shared_stem is None for _, found in source.rows)


@pytest.mark.parametrize(("size", "stopped"), [(4, False), (24, True)])
def test_a_text_beside_stems_of_common_words_is_never_joined(size, stopped):
    """A comment at a few of 肝病最可能的诊断是, 胆病最可能的诊断是 stays out; at all of them it stops the table."""
    source = table(
        [text if at < size else None for at, text in enumerate(CASES)], "{organ}病最可能的诊断与首选的治疗是"
    )
    assert isinstance(source.columns, Unclear) is stopped
    assert stopped or all(found[0].shared_stem is None for _, found in source.rows)


@pytest.mark.parametrize("stem", [OWN, "{organ}病最可能的诊断与首选的治疗是"])
@pytest.mark.parametrize(
    ("name", "stopped"), [("body_x", True), ("teacher_remarks", False), ("阅卷备注", False), ("column_7", False)]
)
def test_long_texts_at_few_questions_stop_the_table_unless_they_are_remarks(name, stopped, stem):
    source = table([text if at % 3 == 0 else None for at, text in enumerate(CASES)], stem, name)
    assert isinstance(source.columns, Unclear) is stopped
    assert stopped or all(found[0].shared_stem is None for _, found in source.rows)


def test_pairs_to_be_matched_at_few_questions_are_no_material_of_others():
    pairs = [[{"left": text, "right": "是"}] if at % 3 == 0 else None for at, text in enumerate(CASES)]
    assert isinstance(table(pairs, OWN, "pairs").columns, Columns)


@pytest.mark.parametrize(
    ("stem", "outside"),
    [
        ("Who is the author of the first scientific romance?", False),
        ("The article about cabotage applies to", False),
        ("The author of the passage believes that", True),
        ("The author believes that", True),
    ],
)
def test_an_author_of_something_named_is_none_of_a_passage(stem, outside):
    assert bool(speaks_of_text(stem)) is outside
