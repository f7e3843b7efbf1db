"""The dataset card: README.md with front matter that ``datasets.load_dataset(folder)`` understands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from pipeline.export import trust
from pipeline.export.columns import meanings
from pipeline.export.formats import FORMATS
from pipeline.export.markdown import code, scalar, table, text
from pipeline.export.statistics import distribution
from pipeline.export.versions import Standing
from schemas.annotations import LabelStatus
from schemas.dataset import DatasetParams
from schemas.taxonomy import Dimension, dimensions
from schemas.wording import counted

Splits = Mapping[str, pl.DataFrame]

_NAMES_ZH = {"train": "训练集", "validation": "验证集", "test": "测试集"}
_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))
_STATUSES = {
    LabelStatus.UNREVIEWED: "no expert has looked at it; it is the annotator's",
    LabelStatus.SINGLE: "one expert has looked at it, a second has not",
    LabelStatus.AGREED: "two experts agree",
    LabelStatus.DISPUTED: "experts disagree; there is no label",
    LabelStatus.ADJUDICATED: "experts disagreed, and it was settled",
}
_ANNOTATORS = (
    (
        "lexicon",
        "an offline stand-in that counts key words: good for trying the pipeline, not for conclusions",
    ),
    ("human_accuracy", "measured: the share of people who answered correctly, cut into five bins"),
    ("llm:", "a large language model"),
)


@dataclass(frozen=True)
class Facts:
    """What the card tells of.

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
    standing: Standing
    leaks: pl.DataFrame
    benchmarks: pl.DataFrame


def card(facts: Facts, checksums: Mapping[str, str]) -> str:
    """The card as Markdown.

    Args:
        facts: of the release.
        checksums: SHA-256 by file.
    """
    dataset, splits = facts.dataset, facts.splits
    sections = [
        front_matter(dataset, splits),
        _head(dataset, splits),
        _splits(splits),
        trust.leaks(facts.leaks, facts.benchmarks),
        _labels_made(splits),
        _labels(splits),
        _statistics(facts.figures),
        _columns(),
        _files(splits, checksums),
        trust.changes(facts.standing),
        trust.provenance(dataset, splits),
        trust.checksums(checksums),
    ]
    return "\n\n".join(sections) + "\n"


def front_matter(dataset: DatasetParams, splits: Splits) -> str:
    """The YAML block. Only files of splits that hold questions are named: readers stumble over empty ones."""
    total = sum(rows.height for rows in splits.values())
    size = next((name for limit, name in _SIZES if total < limit), "n>1M")
    lines = [
        f"pretty_name: {scalar(dataset.title or dataset.name)}",
        f"language: {scalar([dataset.language])}",
        *_licence(dataset.license),
        f"size_categories: {scalar([size])}",
        'task_categories: ["multiple-choice", "question-answering"]',
        'tags: ["benchmark", "exam"]',
    ]
    named = [name for name, rows in splits.items() if rows.height]
    if named:
        lines += ["configs:", "- config_name: default", "  data_files:"]
        for name in named:
            lines += [f"  - split: {name}", f"    path: {name}.parquet"]
    return "\n".join(["---", *lines, "---"])


def _licence(name: str) -> list[str]:
    """The licence as Hugging Face wants it: an identifier, or ``other`` with a name."""
    identifier = name.strip().lower()
    if re.fullmatch(r"[a-z0-9][a-z0-9.-]*", identifier):
        return [f"license: {scalar(identifier)}"]
    return ['license: "other"', f"license_name: {scalar(name.strip())}"]


def _head(dataset: DatasetParams, splits: Splits) -> str:
    total = sum(rows.height for rows in splits.values())
    parts = [f"# {text(dataset.title or dataset.name)}"]
    if dataset.description:
        parts.append(text(dataset.description))
    parts.append(
        f"{counted(total, 'multiple-choice question')} with answers and labels in "
        f"{counted(len(dimensions()), 'dimension')}. "
        f"Name {code(dataset.name)}, version {dataset.version}, seed {dataset.seed}."
    )
    loaded = [name for name, rows in splits.items() if rows.height]
    if loaded:
        parts.append(
            "```python\nfrom datasets import load_dataset\n\n"
            f'questions = load_dataset("path/to/this/folder")  # {", ".join(loaded)}\n```'
        )
    return "\n\n".join(parts)


def _splits(splits: Splits) -> str:
    rows = []
    for name, frame in splits.items():
        several = frame.filter(pl.col("answer").list.len() > 1).height
        groups = frame["group_id"].drop_nulls().n_unique()
        rows.append(
            (f"{name} {_NAMES_ZH[name]}", frame.height, several, groups, frame["explanation"].count())
        )
    head = ("Split", "Questions", "With several answers", "Groups", "With explanation")
    types = distribution(splits, "question_type")
    return "\n\n".join(
        [
            "## Splits 划分",
            "No question, no group with a shared case or shared options, and no cluster of similar questions "
            "is in two splits.",
            table(head, rows),
            table(
                ("Item type 题型", *splits),
                ((text(kind), *types[kind].values()) for kind in sorted(types, key=str)),
            ),
        ]
    )


def _labels_made(splits: Splits) -> str:
    whole = pl.concat(splits.values())
    rows = []
    for name, dimension in dimensions().items():
        counts = Counter(whole[f"{name}_status"].to_list())
        missing = whole[name].null_count()
        rows.append((f"{dimension.en} {dimension.zh}", *(counts[status] for status in _STATUSES), missing))
    head = ("Dimension 维度", *(status.value for status in _STATUSES), "without label")
    parts = [
        "## How the labels were made 标注",
        "Every label carries its status, in the column `…_status`:",
        "\n".join(f"- **{status.value}**: {meaning}" for status, meaning in _STATUSES.items()),
        table(head, rows),
        _annotators(whole),
        *_corrected(whole),
    ]
    guesses = whole.filter(pl.col("difficulty_estimate")).height
    if guesses:
        parts.append(
            f"Difficulty was not measured on people for {counted(guesses, 'question')}; it is the annotator's guess "
            "there (`difficulty_estimate`)."
        )
    return "\n\n".join(parts)


def _corrected(whole: pl.DataFrame) -> list[str]:
    counts = Counter(part for parts in whole["corrected"] for part in parts)
    if not counts:
        return []
    changed = whole.filter(pl.col("corrected").list.len() > 0).height
    told = ", ".join(f"`{part}` {count:,}" for part, count in sorted(counts.items()))
    return [
        f"People corrected {counted(changed, 'question')} where reading, parsing or the source was wrong "
        f"(`corrected`): {told}."
    ]


def _annotators(whole: pl.DataFrame) -> str:
    counts = Counter(name for names in whole["annotator"].drop_nulls() for name in names.split(", "))
    if not counts:
        labelled = any(whole[name].count() for name in dimensions())
        return "All labels are experts'." if labelled else "No question has a label."
    lines = [
        f"- {code(name)} ({counted(count, 'question')}){_annotator(name)}"
        for name, count in sorted(counts.items())
    ]
    return "Labels that are no expert's come from:\n\n" + "\n".join(lines)


def _annotator(name: str) -> str:
    meaning = next((meaning for start, meaning in _ANNOTATORS if name.startswith(start)), None)
    return f": {meaning}" if meaning else ""


def _labels(splits: Splits) -> str:
    tables = [_label_table(splits, dimension) for dimension in dimensions().values()]
    return "\n\n".join(["## Labels 标签", *tables])


def _label_table(splits: Splits, dimension: Dimension) -> str:
    counts = distribution(splits, dimension.name)
    known = [(label.zh, label.en) for label in dimension.labels if label.zh in counts]
    others = sorted(label for label in counts if label and dimension.find(label) is None)
    rows = [(f"{text(zh)} {text(en)}", *counts[zh].values()) for zh, en in known]
    rows += [(text(label), *counts[label].values()) for label in others]
    if None in counts:
        rows.append(("*no label 无标签*", *counts[None].values()))
    unused = len(dimension.labels) - len(known)
    note = f"\n\nLabels of this dimension that do not occur: {unused}." if unused else ""
    return f"### {dimension.en} {dimension.zh}\n\n" + table(("Label 标签", *splits), rows) + note


def _statistics(figures: Mapping[str, Any]) -> str:
    parts = {name: part for name, part in figures.items() if "questions" in part}
    rows: list[tuple[object, ...]] = [
        ("Questions", *(f"{part['questions']:,}" for part in parts.values())),
        ("Vocabulary (characters)", *(f"{part['vocabulary']:,}" for part in parts.values())),
    ]
    for name in ("question", "answer", "explanation"):
        rows.append((f"Longest {name}", *(_number(part[name]["max"], 0) for part in parts.values())))
        rows.append((f"Mean {name}", *(_number(part[name]["mean"], 2) for part in parts.values())))
        rows.append((f"Median (Q1, Q3) {name}", *(_quartiles(part[name]) for part in parts.values())))
    return "\n\n".join(
        [
            "## Statistics 统计",
            "After CMExam's table 2: lengths in characters, a missing explanation counts as 0. "
            "`statistics.json` has more.",
            table(("", *parts), rows),
        ]
    )


def _number(value: float | None, places: int) -> str:
    return "–" if value is None else f"{value:,.{places}f}"


def _quartiles(part: Mapping[str, float | None]) -> str:
    if part["median"] is None:
        return "–"
    return "{:g} ({:g}, {:g})".format(*(part[name] for name in ("median", "q1", "q3")))


def _columns() -> str:
    rows = [(f"`{name}`", text(meaning)) for name, meaning in meanings().items()]
    return "## Columns 字段\n\n" + table(("Column", "Meaning"), rows, left=2)


def _files(splits: Splits, files: Collection[str]) -> str:
    empty = [name for name, rows in splits.items() if not rows.height]
    formats = [item for item in FORMATS if any(item.path.format(split=split) in files for split in splits)]
    lines = [
        "## Files 文件",
        "- `train.parquet`, `validation.parquet`, `test.parquet`: the release, sorted by `question_id`"
        + (f" ({', '.join(empty)}: no questions)" if empty else ""),
        *(f"- {item.about}" for item in formats),
        "- `statistics.json`: counts and lengths",
        "- `croissant.json`: the same in MLCommons' Croissant format, for tools that read that",
        "- `CHANGELOG.md`, `changes.parquet`: what changed since the previous release, question by question",
        "- `rejects.parquet`, `review.parquet`: what was left out here, and why",
        "- `manifest.json`: what was run on what, and the SHA-256 of every file",
    ]
    caution = (
        "The formats of others put a shared case before each of its questions, and know one answer a question: "
        "`accepted_answers`, groups and statuses are in the Parquet files alone."
    )
    return "\n\n".join([lines[0], "\n".join(lines[1:]), *([caution] if formats else [])])
