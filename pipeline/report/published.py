"""The statistics that CMExam and CMB published of themselves, of any dataset.

CMExam (Liu et al. 2023), table 2; CMB (Wang et al. 2023), tables 1 and 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from pipeline.export.formats import MULTIPLE, SINGLE
from pipeline.export.statistics import statistics
from pipeline.report import words
from pipeline.tables import Table, number
from schemas.questions import QuestionType
from schemas.taxonomy import cmb_catalogue

Splits = Mapping[str, pl.DataFrame]

_TEXTS = (("question", "Q", "题目"), ("answer", "A", "答案"), ("explanation", "E", "解析"))
_TYPES = {SINGLE: "one right answer", MULTIPLE: "several right answers"}
_NOT_STATED = "未注明"
_EXAM = ("exam_type", "exam_class", "exam_subject")


def table2(splits: Splits) -> Table:
    """CMExam's table 2, with the average over all questions beside the one that the paper prints.

    Args:
        splits: released rows by split.
    """
    found = statistics(splits)
    parts = {name: found[name] for name in (*splits, "total")}
    paper = found["total_as_published"]["mean"]
    rows = [
        ("Questions 题数", *(number(part["questions"]) for part in parts.values()), ""),
        ("Vocabulary 字表", *(number(part["vocabulary"]) for part in parts.values()), ""),
    ]
    for name, short, chinese in _TEXTS:
        rows.append(
            (f"Max {short} {chinese}最长", *(number(part[name]["max"]) for part in parts.values()), "")
        )
    for name, short, chinese in _TEXTS:
        rows.append(
            (
                f"Mean {short} {chinese}平均",
                *(number(part[name]["mean"], 2) for part in parts.values()),
                number(paper[name], 2),
            )
        )
    for name, short, chinese in _TEXTS:
        quartiles = (_quartiles(part[name]) for part in parts.values())
        rows.append((f"Median (Q1, Q3) {short} {chinese}中位数", *quartiles, ""))
    return Table(
        "table2",
        "Lengths in characters after CMExam's table 2. Q: question, A: answer, E: explanation, a missing one counting "
        "0. Total averages over questions; “as published” is the unweighted mean of the splits' means, which is what "
        "the paper prints as its total.",
        pl.DataFrame([_flat(name, part) for name, part in parts.items()], infer_schema_length=None),
        ("", *(_split_name(name) for name in parts), "Total as published 论文口径"),
        rows,
    )


def _flat(name: str, part: Mapping[str, Any]) -> dict[str, Any]:
    row = {"split": name, "questions": part["questions"], "vocabulary": part["vocabulary"]}
    for text, measures in part.items():
        if isinstance(measures, dict):
            row |= {
                f"{text}_{measure}": None if value is None else float(value)
                for measure, value in measures.items()
            }
    return row


def _quartiles(part: Mapping[str, float | None]) -> str:
    if part["median"] is None:
        return "–"
    return "{:g} ({:g}, {:g})".format(*(part[name] for name in ("median", "q1", "q3")))


def _split_name(name: str) -> str:
    chinese = words.SPLITS.get(name, "总计" if name == "total" else "")
    return f"{name} {chinese}".strip()


def question_types(splits: Splits) -> Table:
    """Questions by item type and split, and as CMB counts them: one right answer, or several."""
    several = (pl.col("question_type") == QuestionType.X.value) | (pl.col("answer").list.len() > 1)
    counts = _counts(
        splits,
        {
            "type": pl.col("question_type"),
            "cmb_type": pl.when(several).then(pl.lit(MULTIPLE)).otherwise(pl.lit(SINGLE)),
        },
    )
    rows = [
        (
            f"{row['type']} · {row['cmb_type']} {_TYPES[row['cmb_type']]}",
            *(number(row[name]) for name in (*splits, "total")),
        )
        for row in counts.iter_rows(named=True)
    ]
    head = ("Item type 题型", *(_split_name(name) for name in (*splits, "total")))
    return Table("question_types", "Questions by item type", counts, head, rows)


def cmb_table1(splits: Splits) -> Table | None:
    """CMB's table 1: questions by category and subcategory, with their subjects; None where no exam is stated."""
    whole = pl.concat([rows.select(_EXAM) for rows in splits.values()])
    if whole["exam_type"].null_count() == whole.height == whole["exam_class"].null_count():
        return None
    subjects = whole.group_by("exam_type", "exam_class").agg(
        pl.col("exam_subject").drop_nulls().n_unique().alias("subjects")
    )
    counts = _counts(splits, {name: pl.col(name) for name in _EXAM[:2]})
    counts = counts.join(subjects, on=_EXAM[:2], how="left", nulls_equal=True)
    counts = _in_catalogue_order(counts).select(
        "exam_type", "exam_type_en", "exam_class", "exam_class_en", "subjects", *splits, "total"
    )
    rows: list[tuple[str, ...]] = []
    above: Any = ""
    for row in counts.iter_rows(named=True):
        category = _both(row["exam_type"], row["exam_type_en"])
        figures = (number(row[name]) for name in ("subjects", *splits, "total"))
        rows.append(
            ("" if category == above else category, _both(row["exam_class"], row["exam_class_en"]), *figures)
        )
        above = category
    sums = counts.select(pl.col("subjects", *splits, "total").sum()).row(0)
    rows.append(("总计 Total", number(counts["exam_class"].count()), *map(number, sums)))
    head = (
        "Category 类别",
        "Subcategory 子类",
        "Subjects 科目",
        *(_split_name(name) for name in (*splits, "total")),
    )
    return Table(
        "cmb_table1", "Questions by category and subcategory, after CMB's table 1", counts, head, rows, 2
    )


def cmb_table2(splits: Splits) -> Table | None:
    """CMB's table 2: subcategories of each split and questions a subcategory; None where no exam is stated."""
    records = []
    for name, rows in splits.items():
        sizes = rows.group_by("exam_class").len().drop_nulls()["len"]
        records.append(
            {
                "split": name,
                "subcategories": sizes.len(),
                "fewest": sizes.min(),
                "most": sizes.max(),
                "questions": rows.height,
                "explanations": int(rows["explanation"].count()),
            }
        )
    data = pl.DataFrame(records, schema_overrides={"fewest": pl.Int64, "most": pl.Int64})
    if not data["subcategories"].sum():
        return None
    shown = [
        (
            _split_name(row["split"]),
            number(row["subcategories"]),
            _range(row["fewest"], row["most"]),
            number(row["questions"]),
            number(row["explanations"]),
        )
        for row in data.iter_rows(named=True)
    ]
    head = (
        "Split 划分",
        "Subcategories 子类",
        "Questions each 每类题数",
        "Questions 题数",
        "With explanation 有解析",
    )
    return Table("cmb_table2", "Splits after CMB's table 2", data, head, shown)


def _range(fewest: int | None, most: int | None) -> str:
    return number(fewest) if fewest == most else f"{number(fewest)}–{number(most)}"


def _counts(splits: Splits, keys: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """Questions by ``keys``, a column a split and their total, sorted by the keys."""
    parts = [rows.select(**keys).with_columns(pl.lit(name).alias("split")) for name, rows in splits.items()]
    return (
        pl.concat(parts)
        .group_by(*keys)
        .agg(*((pl.col("split") == name).sum().cast(pl.Int64).alias(name) for name in splits))
        .with_columns(pl.sum_horizontal(*splits).alias("total"))
        .sort(*keys, nulls_last=True)
    )


def _in_catalogue_order(counts: pl.DataFrame) -> pl.DataFrame:
    """Rows in the order of CMB's catalogue, with English names; what it does not list comes last."""
    categories = {category.zh: category.en for category in cmb_catalogue()}
    entries = [
        {"exam_type": category.zh, "exam_class": entry.zh, "exam_class_en": entry.en, "place": place}
        for place, (category, entry) in enumerate(
            (category, entry) for category in cmb_catalogue() for entry in category.subcategories
        )
    ]
    known = pl.DataFrame(entries)
    english = pl.col("exam_type").replace_strict(categories, default=None, return_dtype=pl.String)
    return (
        counts.join(known, on=["exam_type", "exam_class"], how="left")
        .with_columns(english.alias("exam_type_en"))
        .sort(
            pl.col("exam_type").replace_strict(list(categories), list(range(len(categories))), default=None),
            "exam_type",
            "place",
            "exam_class",
            nulls_last=True,
        )
        .drop("place")
    )


def _both(chinese: str | None, english: str | None) -> str:
    return " ".join(
        part for part in (chinese or _NOT_STATED, english or ("" if chinese else "not stated")) if part
    )
