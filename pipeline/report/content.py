"""Sections on exams, lengths, labels, splits and leaks; the agreement of experts.

With them table 2 and figure 2 of CMExam (Liu et al. 2023), tables 1 and 2 of CMB (Wang et al. 2023), of any dataset.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from build_dataset.pipeline.export import card, formats
from build_dataset.pipeline.rendering.figures import COLOURS, INK, both_formats, figure
from build_dataset.pipeline.rendering.markup import number
from build_dataset.pipeline.rendering.tables import Table
from build_dataset.pipeline.report.build import WORDS, Build, Section, notice
from build_dataset.pipeline.stats import ENOUGH
from build_dataset.schemas import questions, taxonomy
from build_dataset.schemas.annotations import LabelStatus

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Splits = Mapping[str, pl.DataFrame]

_TEXTS = (("question", "Q", "题目"), ("answer", "A", "答案"), ("explanation", "E", "解析"))
_EXAM = ("exam_type", "exam_class", "exam_subject")  # from folders or columns of the source
_MANY = 12  # labels from which a dimension has a column of its own
_LONGEST = 13  # characters of a label's Chinese name; the abbreviation beside it is unique


def text_lengths(rows: pl.DataFrame) -> pl.Series:
    """Return the characters of each question, its case and its stem."""
    return rows.select(formats.question_text().str.len_chars().cast(pl.Int64).alias("n"))["n"]


def table2(splits: Splits) -> Table:
    """CMExam's table 2, with the average over all questions beside the one that the paper prints."""
    parts = card.statistics(splits)
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
        quartiles = ([part[name][each] for each in ("median", "q1", "q3")] for part in every)
        shown = ("–" if median is None else f"{median:g} ({q1:g}, {q3:g})" for median, q1, q3 in quartiles)
        rows.append((f"Median (Q1, Q3) {short} {zh}中位数", *shown, ""))
    data = pl.DataFrame([_flat(name, part) for name, part in parts.items()], infer_schema_length=None)
    return titled("table2", data, map(_split_name, parts), rows)


def titled(name: str, data: pl.DataFrame, heads: Iterable[str], rows: Sequence[Sequence[str]], left: int = 1) -> Table:
    """Return a table with the caption and the heads around ``heads`` that ``words.toml`` has for it."""
    words = WORDS["tables"][name]
    return Table(name, words["caption"], data, (*words["before"], *heads, *words.get("after", ())), rows, left)


def _flat(name: str, part: Mapping[str, Any]) -> dict[str, Any]:
    texts = {  # train, question_max, question_mean …
        f"{text}_{measure}": None if value is None else float(value)
        for text, measures in part.items()
        if isinstance(measures, dict)
        for measure, value in measures.items()
    }
    return {"split": name, "questions": part["questions"], "vocabulary": part["vocabulary"], **texts}


def _split_name(name: str) -> str:
    return f"{name} {'总计' if name == 'total' else questions.SPLIT_NAMES[name]}"


def cmb_table1(splits: Splits) -> Table | None:
    """CMB's table 1: questions by category and subcategory, with their subjects; None where no exam is stated."""
    whole = pl.concat([rows.select(_EXAM) for rows in splits.values()])
    if whole["exam_type"].null_count() == whole.height == whole["exam_class"].null_count():  # none at all
        return None
    subjects = whole.group_by(_EXAM[:2]).agg(subjects=pl.col("exam_subject").drop_nulls().n_unique())
    parts = pl.concat(rows.select(*_EXAM[:2], split=pl.lit(name)) for name, rows in splits.items())
    sizes = {name: (pl.col("split") == name).sum().cast(pl.Int64) for name in splits}
    counts = parts.group_by(_EXAM[:2]).agg(**sizes).with_columns(total=pl.sum_horizontal(*splits))
    counts = counts.join(subjects, on=_EXAM[:2], how="left", nulls_equal=True)
    # In the order of CMB's catalogue, with English names; what it does not list comes last.
    names = taxonomy.exam_names()
    places = {name: place for place, name in enumerate(names)}
    columns = [pl.col(name) for name in _EXAM[:2]]
    english = [column.replace_strict(names, default=None, return_dtype=pl.String) for column in columns]
    order = [key for column in columns for key in (column.replace_strict(places, default=None), column)]
    counts = counts.with_columns(*(each.name.suffix("_en") for each in english)).sort(order, nulls_last=True)
    counts = counts.select("exam_type", "exam_type_en", "exam_class", "exam_class_en", "subjects", *splits, "total")
    rows: list[tuple[str, ...]] = []
    for category, group in groupby(counts.iter_rows(), lambda row: _both(*row[:2])):  # a category stands once
        lines = ((_both(subcategory, english), *map(number, figures)) for _, _, subcategory, english, *figures in group)
        rows += [("" if at else category, *line) for at, line in enumerate(lines)]
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
        shown.append((_split_name(name), number(len(sizes)), each, number(rows.height), number(explained)))
    if not any(subcategories for _, subcategories, *_ in records):
        return None
    columns = ("split", "subcategories", "fewest", "most", "questions", "explanations")
    data = pl.DataFrame(records, columns, schema_overrides=dict.fromkeys(("fewest", "most"), pl.Int64), orient="row")
    return titled("cmb_table2", data, (), shown)


def _both(chinese: str | None, english: str | None) -> str:
    return " ".join(filter(None, (chinese, english))) if chinese else "未注明 not stated"


def figure2(splits: Splits) -> dict[str, bytes]:
    """``figures/figure2.svg`` and ``.png``; counts are stacked split by split."""
    from matplotlib.patches import Patch

    tall = [dimension.name for dimension in taxonomy.dimensions().values() if len(dimension.labels) > _MANY]
    small = {name: len(dimension.labels) for name, dimension in taxonomy.dimensions().items() if name not in tall}
    right = ("length", *small)  # one below the other
    with figure(4.5 * (len(tall) + 1), max(2.15 * len(right), 6 * bool(tall))) as drawn:
        axes: dict[str, Axes] = drawn.subplot_mosaic(
            [[*tall, name] for name in right],
            width_ratios=[*(1 for _ in tall), 0.9],
            height_ratios=[1.1, *(1.2 if labels > 5 else 1 for labels in small.values())],
        )
        # Questions by length in characters, from the first to the third quartile of all.
        lengths = {name: text_lengths(rows) for name, rows in splits.items()}
        whole, by_length = pl.concat(lengths.values()), axes["length"]
        low, high = (whole.quantile(share, "linear") or 0 for share in (0.25, 0.75))  # the middle half
        by_length.set_title("Question length within the interquartile range\n四分位距内的题目字数", fontsize=9)
        places = list(range(math.ceil(low), int(high) + 1))  # whole characters between the quartiles
        counts = {name: dict(values.value_counts().iter_rows()) for name, values in lengths.items()}
        _bars(by_length, places, [[counts[name].get(place, 0) for place in places] for name in splits])
        by_length.set_xlabel("characters 字数", fontsize=7.5)
        by_length.set_ylabel("questions 题数", fontsize=7.5)
        by_length.grid(visible=False, axis="x")
        for name, dimension in taxonomy.dimensions().items():
            _draw_labels(axes[name], dimension, splits)
        names = (f"{name} {questions.SPLIT_NAMES[name]}" for name in splits)
        handles = [Patch(color=colour, label=name) for name, colour in zip(names, COLOURS, strict=False)]
        drawn.legend(handles=handles, loc="outside upper right", ncols=len(handles))
        return both_formats("figure2", drawn)


def _draw_labels(axes: Axes, dimension: taxonomy.Dimension, splits: Splits) -> None:
    """Questions by label, the most frequent at the top; difficulty in its own order."""
    axes.set_title(f"{dimension.en}\n{dimension.zh}", fontsize=9)
    counts = {label: sizes for label, sizes in card.distribution(splits, dimension.name).items() if label}
    if not counts:
        axes.text(0.5, 0.5, "no label 无标签", ha="center", transform=axes.transAxes)
        axes.set_axis_off()
        return
    order = {label: place for place, label in enumerate(dimension.zh_names())}
    if dimension.name == "difficulty":  # an ordinal scale, the easiest on top
        labels = sorted(counts, key=lambda label: -order.get(label, len(order)))
    else:
        labels = sorted(counts, key=lambda label: (sum(counts[label].values()), -order.get(label, 0), label))
    _bars(axes, range(len(labels)), [[counts[label][name] for label in labels] for name in splits], level=True)
    entries = {label: dimension.find(label) for label in labels}
    short = {label: label if len(label) <= _LONGEST else f"{label[:_LONGEST]}…" for label in labels}
    names = [f"{short[label]} {entry.abbr if entry else ''}".strip() for label, entry in entries.items()]
    # ``$`` would begin a formula
    axes.set_yticks(range(len(labels)), [name.replace("$", r"\$") for name in names], fontsize=7.5, color=INK)
    axes.set_ylim(-0.7, len(labels) - 0.3)
    axes.set_xlabel("questions 题数", fontsize=7.5)
    axes.grid(visible=False, axis="y")


def _bars(axes: Axes, places: Sequence[int], parts: Sequence[Sequence[int]], *, level: bool = False) -> None:
    below = [0] * len(places)  # stacked split by split
    for part, colour in zip(parts, COLOURS, strict=False):
        if level:
            axes.barh(places, part, left=below, color=colour, height=0.75)
        else:
            axes.bar(places, part, bottom=below, color=colour, width=0.85)
        below = [one + other for one, other in zip(below, part, strict=True)]


_SETTLED = (LabelStatus.AGREED.value, LabelStatus.ADJUDICATED.value)  # two experts agree, or a third decided
_EDGES = (0, 10, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500)
"""Characters: bins are (edge, next edge]; the last is open. Half of CMExam's questions are within 12 to 32."""
_BINS = [f"{low + 1}–{high}" for low, high in pairwise(_EDGES)] + [f"> {_EDGES[-1]}"]
_STRATA = 60  # strata listed
_SPLIT_FACTS = ("pooled_strata_count", "strata_off_by_more_than_one_count", "retired")
"""Facts about the split that notices of their names tell."""
_ACROSS = ("exact", "near")
"""Kinds of leaks from one split into another; all others are overlaps with public benchmarks."""

_TENTATIVE = 0.667
"""Below this alpha Krippendorff (Content Analysis, 2nd ed., 11.4) would draw not even tentative conclusions."""
_ALL = "all"  # reviewers of a row that is about all experts together


def exams(build: Build) -> Section | None:
    """CMB's tables 1 and 2; None where nothing says of which exams the questions are."""
    if not (splits := build.splits):
        return None
    tables = [table for table in (cmb_table1(splits), cmb_table2(splits)) if table]
    files = {name: data for table in tables for name, data in table.files().items()}
    return Section({"tables": tables}, files=files) if tables else None


def lengths(build: Build) -> Section | None:
    """Lengths of the released questions and CMExam's table 2; None before the export."""
    if not (splits := build.splits):
        return None
    table = table2(splits)
    filled = {name: text_lengths(rows) for name, rows in splits.items() if rows.height}
    bins = {name: Counter(bisect_left(_EDGES, size, 1) for size in sizes) for name, sizes in filled.items()}
    places = range(1, len(_EDGES) + 1)
    shares = {name: [counts[at] / len(filled[name]) for at in places] for name, counts in bins.items()}
    largest = max(share for shares_of in shares.values() for share in shares_of)
    return Section({"table": table, "shares": shares, "bins": _BINS, "largest": largest}, files=table.files())


def labels(build: Build) -> Section | None:
    """Distribution of every dimension, split by split; None before the export."""
    if not (splits := build.splits):
        return None
    shown, notices = [], []
    whole = pl.concat(splits.values())  # all splits have the same columns
    for name, dimension in taxonomy.dimensions().items():
        labels, unused = card.labels_by_split(splits, dimension)
        reviewed = whole.filter(pl.col(f"{name}_status").is_in(_SETTLED))[name]
        settled: dict[str | None, int] = dict(reviewed.value_counts().iter_rows())
        rows: list[dict[str, Any]] = [
            {
                "chinese": label or "无标签",
                "english": (dimension.english(label) or "") if label else "no label",
                "counts": counts,
                "shares": {split: counts[split] / max(frame.height, 1) for split, frame in splits.items()},
                "total": sum(counts.values()),
                "settled": settled.get(label, 0),
            }
            for label, counts in labels
        ]
        item = {
            "name": name,
            "chinese": dimension.zh,
            "english": dimension.en,
            "rows": rows,
            "largest": max((share for row in rows for share in row["shares"].values()), default=0) or 1,
            "unused": unused,
            "few": sum(0 < counts.get("test", 0) < ENOUGH for _, counts in labels),  # an unused label is not few
        }
        shown.append(item)
    if few := [item for item in shown if item["few"]]:
        english = ", ".join(f"{item['english']} {item['few']}" for item in few)
        chinese = "，".join(f"{item['chinese']} {item['few']}" for item in few)
        notices.append(notice("few_questions", few=ENOUGH, english=english, chinese=chinese))
    values = {"dimensions": shown, "splits": {name: rows.height for name, rows in splits.items()}}
    return Section(values, notices, figure2(splits) if build.params.figures else {})


def splitting(build: Build) -> Section | None:
    """Method, seed and the strata that did not get their share; None before the split."""
    stage = build.stage("split")
    if not stage.manifest:
        return None
    notices = [notice(name, n=count) for name in _SPLIT_FACTS if (count := stage.facts.get(name))]
    moved = build.filled("export/changes", pl.col("previous_split") == "test", pl.col("split") == "train")
    notices += [] if moved is None else [notice("moved", n=moved.height)]
    return Section({"facts": stage.facts, "params": stage.params, "most": _STRATA}, notices)


def leaking(build: Build) -> Section | None:
    """Leaks by kind, and the benchmarks compared with; None before the check has run."""
    leaks = build.table("leaks/leaks")
    if leaks is None:
        return None
    inside = pl.col("kind").is_in(_ACROSS)  # leaks that we made ourselves
    across, outside = leaks.filter(inside), leaks.filter(~inside)
    counts = {"across": across.height, "published": outside["question_id"].n_unique()}
    files = build.filled("leaks/benchmarks")
    kinds = leaks.group_by("kind").len().sort("kind").rows()
    notices = [notice(name, n=count) for name, count in counts.items() if count]
    if files is None:
        notices.append(notice("no_benchmark"))
    return Section({**counts, "files": 0 if files is None else files.height, "kinds": kinds}, notices)


def agreement(build: Build) -> Section | None:
    """Agreement by dimension and pair; None where no question was judged by two."""
    table = build.table("review/agreement")
    if table is None:
        return None
    names = list(taxonomy.dimensions())
    place = pl.col("dimension").replace_strict(names, list(range(len(names))), default=len(names))
    of_all = pl.col("label").is_null() & pl.col("slice").is_null() & (pl.col("items") > 0)
    # all experts before pairs; pairs that share no question are left out
    whole = table.filter(of_all).sort(place, pl.col("reviewers") != _ALL, "reviewers")
    if whole.is_empty():
        return None
    weak = whole.filter((pl.col("reviewers") == _ALL) & (pl.col("alpha") < _TENTATIVE))
    english, chinese = [], []
    for name, alpha in weak.select("dimension", "alpha").iter_rows():
        known = taxonomy.dimensions().get(name)  # of another label set: none
        english.append(f"{known.en if known else name} {number(alpha, 2)}")
        chinese.append(f"{known.zh if known else ''} {number(alpha, 2)}")
    said: dict[str, Any] = {"english": ", ".join(english), "chinese": "，".join(chinese)}
    notices = [notice("weak_agreement", limit=_TENTATIVE, **said)] if english else []
    return Section({"known": taxonomy.dimensions(), "rows": whole.to_dicts()}, notices)
