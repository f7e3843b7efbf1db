"""The dataset card: README.md with front matter that ``datasets.load_dataset(folder)`` understands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl

from pipeline.export.changes import ReleaseComparison, summary
from pipeline.export.formats import FORMATS
from pipeline.export.statistics import distribution, meanings
from pipeline.rendering.markdown import code, scalar, table, text
from schemas.annotations import LabelStatus
from schemas.dataset import DatasetParams
from schemas.taxonomy import Dimension, dimensions
from schemas.wording import counted

if TYPE_CHECKING:
    from jinja2 import Template

_LISTED = 100
"""Documents and files listed by name; the tables of a large release would hide the rest of the card."""
Splits = Mapping[str, pl.DataFrame]
Row = Sequence[object]

_NAMES_ZH = {"train": "训练集", "validation": "验证集", "test": "测试集"}
_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))


@dataclass(frozen=True)
class Facts:
    """The contents of a release.

    Attributes:
        dataset: name, title, licence and so on.
        splits: rows of each split.
        figures: see ``statistics.statistics``.
        standing: to the previous release.
        leaks: see ``schemas.release.Leak``.
        benchmarks: the files of public benchmarks that the questions were compared with.
    """

    dataset: DatasetParams
    splits: Splits
    figures: Mapping[str, Any]
    standing: ReleaseComparison
    leaks: pl.DataFrame
    benchmarks: pl.DataFrame


def card(facts: Facts, checksums: Mapping[str, str]) -> str:
    """Return the card as Markdown; its words stand in ``templates/card.md``.

    Args:
        facts: of the release.
        checksums: SHA-256 by file.
    """
    splits, whole = facts.splits, pl.concat(facts.splits.values())
    documents = whole["document"].value_counts().sort("document")
    corrected = Counter(part for parts in whole["corrected"] for part in parts)
    figures = {name: part for name, part in facts.figures.items() if "questions" in part}
    types = distribution(splits, "question_type")
    made = _template().render(
        _head(facts.dataset, splits),
        body=True,
        table=table,
        dimensions=dimensions(),
        statuses=[status.value for status in LabelStatus],
        split_rows=list(map(_split_row, splits, splits.values())),
        type_rows=[(text(kind), *types[kind].values()) for kind in sorted(types, key=str)],
        leaks=dict(facts.leaks["kind"].value_counts().iter_rows()),
        benchmarks=facts.benchmarks,
        benchmark_rows=list(map(_benchmark_row, facts.benchmarks.head(_LISTED).iter_rows(named=True))),
        listed=_LISTED,
        status_rows=[_status_row(whole, dimension) for dimension in dimensions().values()],
        annotators=Counter(name for names in whole["annotator"].drop_nulls() for name in names.split(", ")),
        labelled=any(whole[name].count() for name in dimensions()),
        corrected=", ".join(f"`{part}` {count:,}" for part, count in sorted(corrected.items())),
        changed=whole.filter(pl.col("corrected").list.len() > 0).height,
        guesses=whole.filter(pl.col("difficulty_estimate")).height,
        label_tables=[(each, *_labels(splits, each)) for each in dimensions().values()],
        figures=figures,
        figure_rows=_figures(list(figures.values())),
        column_rows=[(f"`{name}`", text(meaning)) for name, meaning in meanings().items()],
        empty=", ".join(name for name, rows in splits.items() if not rows.height),
        formats=[
            item for item in FORMATS if any(item.path.format(split=each) in checksums for each in splits)
        ],
        standing=facts.standing,
        summary=summary(facts.standing),
        documents=documents.height,
        document_rows=[(code(name), f"{count:,}") for name, count in documents.head(_LISTED).iter_rows()],
        checksum_rows=[(text(name), f"`{value}`") for name, value in checksums.items()],
    )
    return re.sub(r"\n{3,}", "\n\n", made).rstrip("\n") + "\n"


def front_matter(dataset: DatasetParams, splits: Splits) -> str:
    """Return the YAML block. Only files of splits that hold questions are named: readers stumble over empty ones."""
    return _template().render(_head(dataset, splits), body=False).rstrip("\n")


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    # Markdown: what is not ours is escaped by the filters ``text`` and ``code``.
    made = Environment(  # noqa: S701
        loader=PackageLoader("pipeline.export"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "text": text,
        "code": code,
        "scalar": scalar,
        "counted": counted,
        "number": "{:,}".format,
    }
    return made.get_template("card.md")


def _head(dataset: DatasetParams, splits: Splits) -> dict[str, Any]:
    total = sum(rows.height for rows in splits.values())
    return {
        "dataset": dataset,
        "splits": list(splits),
        "total": total,
        "size": next((name for limit, name in _SIZES if total < limit), "n>1M"),
        "licence": _licence(dataset.license.strip()),
        "loaded": [name for name, rows in splits.items() if rows.height],
    }


def _licence(name: str) -> str:
    """Return the licence as Hugging Face wants it: an identifier, or ``other`` with a name."""
    if re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name.lower()):
        return f"license: {scalar(name.lower())}"
    return f'license: "other"\nlicense_name: {scalar(name)}'


def _split_row(name: str, rows: pl.DataFrame) -> Row:
    several = rows.filter(pl.col("answer").list.len() > 1).height
    groups = rows["group_id"].drop_nulls().n_unique()
    return f"{name} {_NAMES_ZH[name]}", rows.height, several, groups, rows["explanation"].count()


def _benchmark_row(file: Mapping[str, Any]) -> Row:
    names = ("records", "overlaps", "copies", "test_overlaps", "test_copies")
    return code(file["file"]), *(f"{file[name]:,}" for name in names)


def _status_row(whole: pl.DataFrame, dimension: Dimension) -> Row:
    counts = Counter(whole[f"{dimension.name}_status"].to_list())
    missing = whole[dimension.name].null_count()
    return f"{dimension.en} {dimension.zh}", *(counts[status] for status in LabelStatus), missing


def _labels(splits: Splits, dimension: Dimension) -> tuple[list[Row], int]:
    """Return the questions of each label by split, and the number of labels that do not occur."""
    counts = distribution(splits, dimension.name)
    known = [(label.zh, label.en) for label in dimension.labels if label.zh in counts]
    others = sorted(label for label in counts if label and dimension.find(label) is None)
    rows: list[Row] = [(f"{text(zh)} {text(en)}", *counts[zh].values()) for zh, en in known]
    rows += [(text(label), *counts[label].values()) for label in others]
    if None in counts:
        rows.append(("*no label 无标签*", *counts[None].values()))
    return rows, len(dimension.labels) - len(known)


def _figures(parts: Sequence[Mapping[str, Any]]) -> list[Row]:
    rows: list[Row] = [
        ("Questions", *(f"{part['questions']:,}" for part in parts)),
        ("Vocabulary (characters)", *(f"{part['vocabulary']:,}" for part in parts)),
    ]
    for name in ("question", "answer", "explanation"):
        rows.append((f"Longest {name}", *(_number(part[name]["max"], 0) for part in parts)))
        rows.append((f"Mean {name}", *(_number(part[name]["mean"], 2) for part in parts)))
        rows.append((f"Median (Q1, Q3) {name}", *(_quartiles(part[name]) for part in parts)))
    return rows


def _number(value: float | None, places: int) -> str:
    return "–" if value is None else f"{value:,.{places}f}"


def _quartiles(part: Mapping[str, float | None]) -> str:
    if part["median"] is None:
        return "–"
    return "{:g} ({:g}, {:g})".format(*(part[name] for name in ("median", "q1", "q3")))
