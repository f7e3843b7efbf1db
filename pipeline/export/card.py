"""The release told: to people by a card (README.md) and a changelog, to machines by Croissant metadata.

The card's front matter is what ``datasets.load_dataset(folder)`` understands, the metadata what MLCommons' tools and
search engines read (https://docs.mlcommons.org/croissant). The words of all three stand in ``templates/``.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import polars as pl

from build_dataset.pipeline.export.changes import KINDS, ReleaseComparison
from build_dataset.pipeline.export.formats import FORMATS, WORDS, question_text
from build_dataset.pipeline.rendering.markup import rendered, text
from build_dataset.schemas.annotations import LabelStatus
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.questions import SPLIT_NAMES, SPLITS
from build_dataset.schemas.release import ReleaseRow, label_columns
from build_dataset.schemas.taxonomy import Dimension, dimensions
from build_dataset.schemas.wording import in_both_languages

_LISTED = 100  # Documents and files listed by name; the tables of a large release would hide the rest of the card.
_CHANGED = 20  # changed questions of a kind that the changelog names; `changes.parquet` has all
Splits = Mapping[str, pl.DataFrame]
Row = Sequence[object]
_COUNTED = (
    pl.len(), (pl.col("answer").list.len() > 1).sum(), pl.col("group_id").drop_nulls().n_unique(),
    pl.count("explanation"),
)  # fmt: skip
"""Questions of a split, those with several answers, groups, questions with an explanation."""
_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))


def card(
    dataset: DatasetParams,
    splits: Splits,
    figures: Mapping[str, Any],
    standing: ReleaseComparison,
    tables: Mapping[str, pl.DataFrame],
    checksums: Mapping[str, str],
    story: Mapping[str, Any],
) -> str:
    """Return the card as Markdown, with the release's ``statistics`` and how it stands to the previous one."""
    whole = pl.concat(splits.values())
    total, documents = whole.height, whole["document"].value_counts().sort("document")
    corrected = Counter(part for parts in whole["corrected"] for part in parts)
    types = distribution(splits, "question_type")
    licence = dataset.license.strip().lower()
    pictures = {top: [one for one in SPLITS if f"{top}/{one}.parquet" in checksums] for top in ("figures", "images")}
    made = rendered(
        "build_dataset.pipeline.export:card.md",
        dataset=dataset,
        story=story,
        found=sum(story["outcomes"].values()),
        reasons=[
            (title, [(text(in_both_languages(reason)), count) for reason, count in counts.items()])
            for title, counts in (("Rejected 剔除", story["rejected"]), ("Waiting 待审", story["waiting"]))
        ],
        splits=list(splits),
        total=total,
        size=size_category(total),
        licence=licence if re.fullmatch(r"[a-z0-9][a-z0-9.-]*", licence) else None,  # apache-2.0, cc-by-4.0
        pictured=[(folder, names) for folder, names in pictures.items() if names],
        loaded=[name for name, rows in splits.items() if rows.height],
        dimensions=dimensions(),
        statuses=[status.value for status in LabelStatus],
        split_rows=[(f"{name} {SPLIT_NAMES[name]}", *rows.select(_COUNTED).row(0)) for name, rows in splits.items()],
        type_rows=[(text(kind), *types[kind].values()) for kind in sorted(types, key=str)],
        leaks=dict(tables["leaks"]["kind"].value_counts().iter_rows()),
        benchmarks=tables["benchmarks"].to_dicts(),
        listed=_LISTED,
        status_rows=[
            (f"{each.en} {each.zh}", *map([*whole[f"{name}_status"]].count, LabelStatus), whole[name].null_count())
            for name, each in dimensions().items()
        ],
        annotators=Counter(name for names in whole["annotator"].drop_nulls() for name in names.split(", ")),
        labelled=any(whole[name].count() for name in dimensions()),
        corrected=", ".join(f"`{part}` {count:,}" for part, count in sorted(corrected.items())),
        changed=whole.filter(pl.col("corrected").list.len() > 0).height,
        guesses=whole.filter(pl.col("difficulty_estimate")).height,
        label_tables=[(each, *_labels(splits, each)) for each in dimensions().values()],
        figures={name: part for name, part in figures.items() if "questions" in part},
        column_rows=[(f"`{name}`", text(meaning)) for name, meaning in column_meanings().items()],
        formats=[item for item in FORMATS if item.path.format(split=SPLITS[0]) in checksums],
        standing=standing,
        change_rows=_change_rows(standing),
        documents=[(name, count, _licence_of(name, dataset.licenses)) for name, count in documents.iter_rows()],
        checksum_rows=[(text(name), f"`{value}`") for name, value in checksums.items()],
    )
    return re.sub(r"\n{3,}", "\n\n", made).rstrip("\n") + "\n"  # blank lines that empty sections leave


def changelog(dataset: DatasetParams, standing: ReleaseComparison) -> str:
    """Return the changelog as Markdown: this release's changes, the first of each kind named, then the history."""
    kinds = standing.changes.rows.partition_by("change", as_dict=True)
    listed = [(kind, kinds[kind,].to_dicts()) for kind in KINDS[1:] if (kind,) in kinds]
    rows = _change_rows(standing)
    values = {"dataset": dataset, "standing": standing, "listed": listed, "most": _CHANGED, "change_rows": rows}
    made = re.sub(r"\n{3,}", "\n\n", rendered("build_dataset.pipeline.export:changes.md", **values)).strip()
    return f"{made}\n\n{standing.history}".rstrip() + "\n"


def _licence_of(document: str, licences: Mapping[str, str]) -> str:
    """Return the licence of a source: of its file, else of the nearest folder that has one; "" where none is told."""
    parts = document.split("/")
    names = ("/".join(parts[:end]) for end in range(len(parts), 0, -1))  # a/b.pdf, a
    return next((licences[name] for name in names if name in licences), "")


def size_category(total: int) -> str:
    """Return the range of sizes that a number of questions is in, as Hugging Face names it."""
    return next((name for limit, name in _SIZES if total < limit), "n>1M")


def _change_rows(standing: ReleaseComparison) -> list[Row]:
    rows = standing.changes.rows.with_columns(of=pl.coalesce("split", "previous_split"))
    counts = Counter(rows.select("change", "of").iter_rows())
    totals = {kind: total for kind, total in standing.changes.counts().items() if total}
    by_split = {kind: [f"{counts[kind, split]:,}" for split in SPLITS] for kind in totals}
    return [(f"{kind}: {WORDS['kinds'][kind]}", *by_split[kind], f"{total:,}") for kind, total in totals.items()]


def _labels(splits: Splits, dimension: Dimension) -> tuple[list[Row], int]:
    """Return the questions of each label by split, and the number of labels that do not occur."""
    counts, unused = labels_by_split(splits, dimension)
    names = {zh: text(f"{zh} {dimension.english(zh) or ''}") if zh else "*no label 无标签*" for zh, _ in counts}
    return [(names[zh], *of.values()) for zh, of in counts], unused


def labels_by_split(splits: Splits, dimension: Dimension) -> tuple[list[tuple[str | None, dict[str, int]]], int]:
    """Return the labels that occur by split, in the set's order, null last; and how many do not occur."""
    counts = distribution(splits, dimension.name)
    places = {name: place for place, name in enumerate(dimension.zh_names())}
    order = sorted(counts, key=lambda zh: (zh is None, places.get(zh or "", len(places)), zh or ""))
    return [(zh, counts[zh]) for zh in order], len(places.keys() - counts.keys())


_MEDIA_TYPES = {
    **{f"{split}.parquet": "application/x-parquet" for split in (*SPLITS, "changes")},
    "statistics.json": "application/json",
    **{item.path.format(split=split): item.media_type for item in FORMATS for split in SPLITS},
}
"""Of the files with data, by path."""


def croissant(dataset: DatasetParams, splits: Splits, outputs: Mapping[str, Mapping[str, Any]]) -> bytes:
    """The metadata as JSON-LD: the files with their checksums, and the columns of each split that holds questions."""
    explained, schema = column_meanings(), ReleaseRow.polars_schema()
    licence = dataset.license.strip().lower()  # "Apache-2.0" → "apache-2.0", as Hugging Face and SPDX name it
    known = re.fullmatch(r"(apache|mit|cc0?|bsd|gpl|lgpl|agpl|odbl|odc|pddl|mpl|cdla|unlicense)([-.\w]*)", licence)
    made = rendered(
        "build_dataset.pipeline.export:croissant.json",
        dataset=dataset,
        licence=f"https://choosealicense.com/licenses/{licence}/" if known else dataset.license.strip(),
        files=[(name, _MEDIA_TYPES[name], outputs[name]) for name in sorted(outputs) if name in _MEDIA_TYPES],
        splits=[split for split, rows in splits.items() if rows.height],
        columns=[{"name": name, "about": explained[name], **_column(kind)} for name, kind in schema.items()],
    )
    given = {key: value for key, value in json.loads(made).items() if value is not None}  # absent is left out
    return (json.dumps(given, ensure_ascii=False, indent=2) + "\n").encode()


def _column(kind: Any) -> dict[str, Any]:
    """Return a column's type; of structs those of their parts."""
    repeated = isinstance(kind, pl.List)
    while isinstance(kind, pl.List):  # accepted_answers is a list of lists
        kind = kind.inner
    fields, types = kind.fields if isinstance(kind, pl.Struct) else (), WORDS["types"]
    parts = [(part.name, types[str(part.dtype)]) for part in fields]
    return {"repeated": repeated, "parts": parts, "type": types.get(str(kind))}


def column_meanings() -> dict[str, str]:
    """Return the meaning of each column of ``ReleaseRow``, in order; one that is not explained is a ``KeyError``."""
    explained: dict[str, str] = dict(WORDS["columns"])
    for dimension in dimensions().values():
        label, english, status = label_columns(dimension.name)
        explained[label] = f"{dimension.en}: the label's Chinese name; null when there is none"
        explained[english] = "The label's English name"
        explained[status] = "How far the label can be trusted: see “How the labels were made”"
    return {name: explained[name] for name in ReleaseRow.column_names()}


_TEXTS = ("question", "answer", "explanation")


def statistics(splits: Splits) -> dict[str, Any]:
    """Counts and lengths of each split and of all questions together.

    Lengths are in characters. A question's text is its shared case, if any, and its stem; the vocabulary is
    the set of characters of questions and explanations; quartiles interpolate linearly. As in CMExam, a
    missing explanation counts as length 0 (``explanation``); ``explanation_present`` leaves it out.

    ``total`` averages over all questions; ``total_as_published``, as CMExam's column "Total", over splits' means.
    """
    question, answer = question_text().alias("question"), pl.col("answer").list.join("")
    texts = {name: rows.select(question, answer, "explanation") for name, rows in splits.items()}
    described = {name: _describe(frame) for name, frame in texts.items()}
    filled = [part for part in described.values() if part["questions"]]  # an empty split has no mean
    means = {text: _rounded(fmean(part[text]["mean"] for part in filled)) if filled else None for text in _TEXTS}
    return {**described, "total": _describe(pl.concat(texts.values())), "total_as_published": {"mean": means}}


def distribution(splits: Splits, name: str) -> dict[str | None, dict[str, int]]:
    """Questions by label (null: no label yet) and split, in one dimension or column."""
    counts: dict[str | None, dict[str, int]] = {}
    for split, rows in splits.items():
        for label, count in rows[name].value_counts().sort(name).iter_rows():
            counts.setdefault(label, dict.fromkeys(splits, 0))[split] = count
    return counts


def _describe(texts: pl.DataFrame) -> dict[str, Any]:
    lengths = texts.select(pl.col(_TEXTS).str.len_chars())
    return {
        "questions": texts.height,
        "vocabulary": len(set().union(*texts["question"], *texts["explanation"].drop_nulls())),
        **{name: _lengths(lengths[name].fill_null(0)) for name in _TEXTS},
        "explanations": texts["explanation"].count(),
        "explanation_present": _lengths(lengths["explanation"].drop_nulls()),
    }


def _lengths(lengths: pl.Series) -> dict[str, float | int | None]:
    """Maximum, mean and quartiles; null where there is nothing to measure."""
    quartiles = {"median": 0.5, "q1": 0.25, "q3": 0.75}
    parts = {"mean": lengths.mean(), **{name: lengths.quantile(at, "linear") for name, at in quartiles.items()}}
    return {"max": max(lengths, default=None), **{name: _rounded(value) for name, value in parts.items()}}


def _rounded(value: Any) -> float | None:
    """To four places, so that the order of a sum cannot change the file."""
    return None if value is None else round(float(value), 4)
