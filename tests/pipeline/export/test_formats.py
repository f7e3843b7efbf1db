import csv
import io
import json

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.export.formats import cmb_json, cmexam_csv
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import find_reader
from build_dataset.pipeline.parse.rows import questions_of
from build_dataset.schemas.columns import guarded, unguarded
from build_dataset.schemas.documents import Document, SourceRow
from build_dataset.schemas.release import ReleaseRow

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30)
LINE = TEXT.filter(lambda text: "\n" not in text and "\r" not in text)


def released(stem, texts, explanation=None, shared_stem=None, **more):
    row = {
        "question_id": "q",
        "question_type": "A1",
        "stem": stem,
        "shared_stem": shared_stem,
        "options": [{"label": label, "text": text} for label, text in zip("ABCDE", texts, strict=False)],
        "answer": ["B"],
        "explanation": explanation,
        "document": "d",
        **more,
    }
    return pl.DataFrame([row], schema=ReleaseRow.polars_schema())


def read_csv(data):
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))


@given(TEXT, st.lists(LINE, min_size=2, max_size=5), st.none() | TEXT)
@settings(deadline=None)
def test_a_cmexam_csv_reads_back_equal(stem, texts, explanation):
    (row,) = read_csv(cmexam_csv(released(stem, texts, explanation)))
    assert unguarded(row["Question"]) == stem
    assert row["Options"].split("\n") == [f"{label} {text}" for label, text in zip("ABCDE", texts, strict=False)]
    assert unguarded(row["Explanation"]) == (explanation or "")
    assert row["Answer"] == "B"


def test_pandas_reads_the_csv_as_cmexam_does():
    import pandas as pd

    data = cmexam_csv(released("=1+1 等于“几”？", ["一", "二"], None, difficulty="较难", competency="疾病治疗"))
    frame = pd.read_csv(io.BytesIO(data))
    dimensions = "Disease Group,Clinical Department,Medical Discipline,Area of Competency,Difficulty level"
    assert ",".join(frame.columns) == f"Question,Options,Answer,Explanation,{dimensions}"
    row = frame.iloc[0]
    assert (row["Question"], row["Options"], row["Difficulty level"]) == ("'=1+1 等于“几”？", "A 一\nB 二", 4)
    assert row["Area of Competency"] == "疾病治疗"
    assert pd.isna(row["Explanation"])


def test_a_line_break_inside_an_option_does_not_make_two():
    (row,) = read_csv(cmexam_csv(released("题", ["上\n下", "右"])))
    assert row["Options"] == "A 上 下\nB 右"


def test_a_shared_case_stands_before_its_question():
    rows = released("诊断是", ["甲", "乙"], shared_stem="患者，男。")
    assert json.loads(cmb_json(rows))[0]["question"] == "患者，男。\n诊断是"
    assert read_csv(cmexam_csv(rows))[0]["Question"] == "患者，男。\n诊断是"


def test_cmb_keys_and_types_are_cmbs():
    one = released("题", ["甲", "乙"], exam_class="执业医师")
    (item,) = json.loads(cmb_json(one))
    keys = ["id", "exam_type", "exam_class", "exam_subject", "question", "answer", "question_type", "option"]
    assert list(item) == keys
    assert (item["question_type"], item["answer"], item["exam_type"]) == ("单项选择题", "B", None)
    (item,) = json.loads(cmb_json(released("题", ["甲", "乙"], answer=["A", "B"])))
    assert (item["question_type"], item["answer"]) == ("多项选择题", "AB")


@given(TEXT)
def test_no_cell_is_a_formula_and_every_cell_reads_back_as_it_was(cell):
    assert guarded(cell)[:1] not in tuple("=+-@\t\r")
    assert unguarded(guarded(cell)) == cell


WORDS = st.text(alphabet="甲乙丙丁肺炎心abc=+-@'1.", min_size=2, max_size=12).filter(
    lambda text: text.strip() == text and any(char.isalnum() for char in text)
)


@st.composite
def split(draw):
    """A split of questions, with what spreadsheets run and case texts."""
    rows = []
    for number in range(draw(st.integers(2, 6))):
        texts = draw(st.lists(WORDS, min_size=2, max_size=5, unique=True))
        answer = draw(st.lists(st.sampled_from("ABCDE"[: len(texts)]), min_size=1, max_size=2, unique=True))
        case = draw(st.none() | st.just("患者，男，40岁。"))
        about = draw(st.none() | WORDS.filter(lambda text: not text.startswith("-")))
        more = {"question_id": f"q{number}", "answer": sorted(answer)}
        rows.append(released(f"物质{number}是{draw(WORDS)}", texts, about, case, **more))
    return pl.concat(rows)


@given(split())
@settings(deadline=None, max_examples=60)
@pytest.mark.parametrize(("write", "name"), [(cmb_json, "a.json"), (cmexam_csv, "a.csv")])
def test_what_is_exported_reads_back_as_the_same_questions(tmp_path_factory, write, name, rows):
    path = tmp_path_factory.mktemp("out") / name
    path.write_bytes(write(rows))
    fields = [*find_reader(path, OcrParams()).rows(path, OcrParams(), [])]
    about = Document(document=name, sha256="a" * 64, format="x", pages=None, rows=len(fields))
    read = questions_of(
        [SourceRow(document=name, row=at, fields=one.fields, sheet=one.sheet) for at, one in enumerate(fields, 1)],
        about,
    )
    assert len(read.rows) == rows.height
    for (_, (question, doubts)), row in zip(read.rows, rows.iter_rows(named=True), strict=True):
        assert question.stem == "\n".join(filter(None, (row["shared_stem"], row["stem"])))
        assert [option.model_dump() for option in question.options] == row["options"]
        assert (question.answer, question.explanation, doubts) == (row["answer"], row["explanation"], [])


def test_a_question_of_the_kind_with_several_answers_is_multiple_for_cmb_with_one_answer_too(export, tables):
    questions = tables["questions"].with_columns(
        answer=pl.when(pl.col("question_type") == "X").then(pl.lit(["B"])).otherwise("answer")
    )
    rows = export({**tables, "questions": questions}).tables["train"]
    kinds = {item["id"]: item["question_type"] for item in json.loads(cmb_json(rows))}
    assert kinds["abcdef01-1-003"] == "多项选择题"
    assert kinds["abcdef01-1-000"] == "单项选择题"
