"""The tables that CMExam and CMB printed of themselves, of any dataset."""

import json
import statistics

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.report.content import cmb_table1, cmb_table2, table2

from .conftest import released, splits

TEXTS = st.text(alphabet="甲乙丙丁戊a 。", min_size=1, max_size=30)
ROWS = st.lists(st.tuples(TEXTS, st.none() | TEXTS), max_size=6)


def cells(table, row):
    return dict(zip(table.head[1:], next(cells for name, *cells in table.rows if name.startswith(row)), strict=True))


def rows_of(found, name):
    return [released(f"{name}{n}", stem, explanation=said) for n, (stem, said) in enumerate(found)]


@settings(max_examples=40, deadline=None)
@given(ROWS.filter(bool), ROWS)
def test_table_2_says_what_counting_by_hand_says(train, test):
    table = table2(splits(train=rows_of(train, "a"), test=rows_of(test, "b")))
    data = {row["split"]: row for row in table.data.iter_rows(named=True)}
    for name, rows in (("train", train), ("test", test), ("total", train + test)):
        lengths = [len(stem) for stem, _ in rows]
        assert data[name]["questions"] == len(rows)
        assert data[name]["vocabulary"] == len(set("".join(stem + (said or "") for stem, said in rows)))
        if rows:
            assert data[name]["question_max"] == max(lengths)
            assert data[name]["question_mean"] == pytest.approx(statistics.fmean(lengths), abs=1e-4)
            assert data[name]["question_q1"] == pytest.approx(np.quantile(lengths, 0.25), abs=1e-4)
            assert data[name]["explanation_mean"] == pytest.approx(
                statistics.fmean(len(said or "") for _, said in rows), abs=1e-4
            )


def test_the_papers_total_is_the_mean_of_splits_and_ours_the_mean_of_questions():
    table = table2(splits(train=[released(f"q{n}", "甲" * 10) for n in range(3)], test=[released("q9", "甲" * 30)]))
    mean = cells(table, "Mean Q 题目平均")
    assert mean["total 总计"] == "15.00"
    assert mean["Total as published 论文口径"] == "20.00"


def test_table_2_of_cmexams_validation_questions(shared_data):
    """Against numpy, by other code than ours; the published figures where the whole split is there."""
    path = shared_data / "cmexam" / "val_dev.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    asked = [row["Question"] for row in rows]
    said = [row["Explanation"] or "" for row in rows]
    table = table2(
        splits(
            validation=[
                released(str(n), row["Question"], answer=list(row["Answer"]), explanation=row["Explanation"])
                for n, row in enumerate(rows)
            ]
        )
    )
    found = {row[0]: dict(zip(table.head[1:], row[1:], strict=True))["validation 验证集"] for row in table.rows}
    quartiles = "{1:g} ({0:g}, {2:g})".format(*np.percentile([len(text) for text in asked], [25, 50, 75]))
    assert found["Questions 题数"] == f"{len(rows):,}"
    assert found["Vocabulary 字表"] == f"{len({*''.join(asked), *''.join(said)}):,}"
    assert found["Max Q 题目最长"] == str(max(map(len, asked)))
    assert found["Mean Q 题目平均"] == f"{np.mean([len(text) for text in asked]):.2f}"
    assert found["Mean E 解析平均"] == f"{np.mean([len(text) for text in said]):.2f}"
    assert found["Median (Q1, Q3) Q 题目中位数"] == quartiles == "18 (12, 32)"
    assert found["Median (Q1, Q3) A 答案中位数"] == "1 (1, 1)"


def exam(question_id, kind, name, subject=None, **more):
    return released(question_id, exam_type=kind, exam_class=name, exam_subject=subject, **more)


EXAMS = splits(
    train=[
        exam("1", "药师考试", "执业西药师", "执业西药师", explanation="解"),
        exam("2", "医师考试", "执业医师", "临床执业医师"),
        exam("3", "医师考试", "执业医师", "口腔执业医师"),
        exam("4", "兽医考试", "兽医师"),
        exam("5", None, None),
    ],
    test=[exam("6", "医师考试", "执业医师", "临床执业医师", answer=["A", "B"], question_type="X")],
)


def test_cmbs_table_1_follows_its_catalogue_and_adds_up():
    table = cmb_table1(EXAMS)
    assert table is not None
    assert [row[:3] for row in table.rows] == [
        ("医师考试 Physician", "执业医师 Licensed physician", "2"),
        ("药师考试 Pharmacist", "执业西药师 Licensed pharmacist", "1"),
        ("兽医考试", "兽医师", "0"),
        ("未注明 not stated", "未注明 not stated", "0"),
        ("总计 Total", "3", "3"),
    ]
    assert table.rows[-1][-1] == "6"
    assert table.data["total"].sum() == 6


def test_cmbs_table_2_counts_questions_a_subcategory():
    table = cmb_table2(EXAMS)
    assert table is not None
    assert table.rows[0] == ("train 训练集", "3", "1–2", "5", "1")
    assert table.rows[1] == ("validation 验证集", "0", "–", "0", "0")
    assert table.rows[2] == ("test 测试集", "1", "1", "1", "0")


def test_datasets_that_say_nothing_of_exams_have_no_table_of_them():
    plain = splits(train=[released("1")])
    assert cmb_table1(plain) is None
    assert cmb_table2(plain) is None


def test_tables_of_nothing_are_tables():
    assert table2(splits()).data["questions"].to_list() == [0, 0, 0, 0]
    assert isinstance(table2(splits()).data, pl.DataFrame)
