"""Table 2 of CMExam (Liu et al. 2023), tables 1 and 2 of CMB (Wang et al. 2023), of any dataset."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import polars as pl

from build_dataset.pipeline.export.card import statistics
from build_dataset.pipeline.export.formats import question_text
from build_dataset.pipeline.rendering.markdown import number
from build_dataset.pipeline.rendering.tables import Table
from build_dataset.pipeline.report.build import WORDS
from build_dataset.schemas.questions import SPLIT_NAMES
from build_dataset.schemas.taxonomy import exam_names

Splits = Mapping[str, pl.DataFrame]

_TEXTS = (("question", "Q", "题目"), ("answer", "A", "答案"), ("explanation", "E", "解析"))
_EXAM = ("exam_type", "exam_class", "exam_subject")  # from folders or columns of the source


def text_lengths(rows: pl.DataFrame) -> pl.Series:
    """Return the characters of each question, its case and its stem."""
    return rows.select(question_text().str.len_chars().cast(pl.Int64).alias("n"))["n"]


def table2(splits: Splits) -> Table:
    """CMExam's table 2, with the average over all questions beside the one that the paper prints."""
    parts = statistics(splits)
    paper = parts.pop("total_as_published")["mean"]  # only its means differ
    every = parts.values()
    rows = [
        ("Questions 题数", *(number(part["questions"]) for part in every), ""),
        ("Vocabulary 字表", *(number(part["vocabulary"]) for part in every), ""),
    ]
    for name, short, zh in _TEXTS:
        rows.append((f"Max {short} {zh}最长", *(number(part[name]["max"]) for part in every), ""))
    for name, short, zh in _TEXTS:
        means = (number(part[name]["mean"], 2) for part in every)
        rows.append((f"Mean {short} {zh}平均", *means, number(paper[name], 2)))
    for name, short, zh in _TEXTS:
        rows.append((f"Median (Q1, Q3) {short} {zh}中位数", *(_quartiles(part[name]) for part in every), ""))
    data = pl.DataFrame([_flat(name, part) for name, part in parts.items()], infer_schema_length=None)
    return titled("table2", data, map(_split_name, parts), rows)


def titled(
    name: str, data: pl.DataFrame, columns: Iterable[str], rows: Sequence[Sequence[str]], left: int = 1
) -> Table:
    """Return a table with the caption and the heads around ``columns`` that ``words.toml`` has for it."""
    words = WORDS["tables"][name]
    return Table(name, words["caption"], data, (*words["before"], *columns, *words.get("after", ())), rows, left)


def _flat(name: str, part: Mapping[str, Any]) -> dict[str, Any]:
    texts = {  # train, question_max, question_mean …
        f"{text}_{measure}": None if value is None else float(value)
        for text, measures in part.items()
        if isinstance(measures, dict)
        for measure, value in measures.items()
    }
    return {"split": name, "questions": part["questions"], "vocabulary": part["vocabulary"], **texts}


def _quartiles(part: Mapping[str, float | None]) -> str:
    if part["median"] is None:
        return "–"
    return "{:g} ({:g}, {:g})".format(*(part[name] for name in ("median", "q1", "q3")))


def _split_name(name: str) -> str:
    return f"{name} {'总计' if name == 'total' else SPLIT_NAMES[name]}"


def cmb_table1(splits: Splits) -> Table | None:
    """CMB's table 1: questions by category and subcategory, with their subjects; None where no exam is stated."""
    whole = pl.concat([rows.select(_EXAM) for rows in splits.values()])
    if whole["exam_type"].null_count() == whole.height == whole["exam_class"].null_count():  # none at all
        return None
    subjects = whole.group_by(_EXAM[:2]).agg(subjects=pl.col("exam_subject").drop_nulls().n_unique())
    counts = _counts(splits, {name: pl.col(name) for name in _EXAM[:2]})
    counts = counts.join(subjects, on=_EXAM[:2], how="left", nulls_equal=True)
    counts = _in_catalogue_order(counts).select(
        "exam_type", "exam_type_en", "exam_class", "exam_class_en", "subjects", *splits, "total"
    )
    rows: list[tuple[str, ...]] = []
    for names, group in groupby(counts.iter_rows(), lambda row: _both(*row[:2])):  # a category stands once
        lines = ((_both(subcategory, english), *map(number, figures)) for _, _, subcategory, english, *figures in group)
        rows += [("" if at else names, *line) for at, line in enumerate(lines)]
    sums = counts.select(pl.col("subjects", *splits, "total").sum()).row(0)
    rows.append(("总计 Total", number(counts["exam_class"].count()), *map(number, sums)))
    return titled("cmb_table1", counts, map(_split_name, (*splits, "total")), rows, 2)


def cmb_table2(splits: Splits) -> Table | None:
    """CMB's table 2: subcategories of each split and questions a subcategory; None where no exam is stated."""
    records, shown = [], []
    for name, rows in splits.items():
        sizes = rows.group_by("exam_class").len().drop_nulls()["len"].to_list()
        fewest, most = min(sizes, default=None), max(sizes, default=None)
        explained = int(rows["explanation"].count())
        records.append((name, len(sizes), fewest, most, rows.height, explained))
        each = number(fewest) if fewest == most else f"{number(fewest)}–{number(most)}"  # CMB: 400
        figures = (number(len(sizes)), each, number(rows.height), number(explained))
        shown.append((_split_name(name), *figures))
    if not any(subcategories for _, subcategories, *_ in records):
        return None
    columns = ("split", "subcategories", "fewest", "most", "questions", "explanations")
    integers = dict.fromkeys(("fewest", "most"), pl.Int64)
    data = pl.DataFrame(records, columns, schema_overrides=integers, orient="row")
    return titled("cmb_table2", data, (), shown)


def _counts(splits: Splits, keys: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """Questions by ``keys``, a column a split and their total, sorted by the keys."""
    parts = [rows.select(**keys, split=pl.lit(name)) for name, rows in splits.items()]
    return (
        pl.concat(parts)
        .group_by(*keys)
        .agg(**{name: (pl.col("split") == name).sum().cast(pl.Int64) for name in splits})
        .with_columns(total=pl.sum_horizontal(*splits))
        .sort(*keys, nulls_last=True)
    )


def _in_catalogue_order(counts: pl.DataFrame) -> pl.DataFrame:
    """Rows in the order of CMB's catalogue, with English names; what it does not list comes last."""
    names = exam_names()
    places = {name: place for place, name in enumerate(names)}  # unknown names have none: nulls last
    columns = [pl.col(name) for name in _EXAM[:2]]
    english = (column.replace_strict(names, default=None, return_dtype=pl.String) for column in columns)
    order = [key for column in columns for key in (column.replace_strict(places, default=None), column)]
    return counts.with_columns(*(name.name.suffix("_en") for name in english)).sort(order, nulls_last=True)


def _both(chinese: str | None, english: str | None) -> str:
    return " ".join(filter(None, (chinese, english))) if chinese else "未注明 not stated"
