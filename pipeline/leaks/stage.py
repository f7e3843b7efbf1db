"""The leaks stage: questions that are found again in another split, or in a public benchmark."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import polars as pl

from build_dataset.pipeline.leaks import overlap
from build_dataset.pipeline.leaks.files import read_texts
from build_dataset.pipeline.leaks.params import LeaksParams
from build_dataset.pipeline.rendering.markup import notes
from build_dataset.pipeline.stage import Context, Counts, Result, Tables
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import file_sha256
from build_dataset.schemas.questions import SPLITS
from build_dataset.schemas.release import BenchmarkFile, Leak

_SPAN = 200  # characters of a span that are shown


def run(tables: Tables, params: LeaksParams, context: Context) -> Result:
    """List the questions that are in two splits, exactly or nearly, and those that benchmarks have.

    Nothing is taken out: people judge. ``UserError``: no benchmarks where they should be, or one cannot be read.
    """
    questions = tables["questions"].join(tables["assignments"], on="question_id").sort("question_id")
    stem = pl.concat_str("shared_stem", "stem", separator="\n", ignore_nulls=True).alias("stem")
    texts = questions.select(stem, pl.col("options").list.eval(pl.element().struct.field("text")))
    listed = _across_splits(questions, texts, params)
    across = Counter(leak.kind for leak in listed)
    facts: dict[str, Any] = {"across_splits": {kind: across[kind] for kind in ("exact", "near")}}
    files: list[BenchmarkFile] = []
    if params.benchmarks is not None:
        leaks, files, facts["benchmarks"] = _in_benchmarks(questions, texts, params, context)
        listed += leaks
    made = {"leaks": Leak.to_frame(listed), "benchmarks": BenchmarkFile.to_frame(files)}
    counts = Counts(questions.height, questions.height)
    return Result(tables=made, counts=counts, facts=facts, notes=notes("build_dataset.pipeline.leaks", **facts))


def _across_splits(questions: pl.DataFrame, texts: pl.DataFrame, params: LeaksParams) -> list[Leak]:
    """Each question of the smaller split with the one that it is like."""
    ids, splits = questions["question_id"].to_list(), questions["split"].to_list()
    near = overlap.near_pairs(texts, [SPLITS.index(split) for split in splits], params.similar)
    kinds = {pair: ("near", score) for pair, score in near.items()}
    kinds |= dict.fromkeys(overlap.exact_pairs(questions), ("exact", 1.0))  # exact wins over near
    leaks = []
    for pair, (kind, score) in kinds.items():
        one, other = sorted(pair, key=lambda row: -SPLITS.index(splits[row]))  # test before validation before train
        there = {"other_id": ids[other], "other_split": splits[other]}
        leaks.append(Leak(question_id=ids[one], split=splits[one], kind=kind, score=score, **there))
    return sorted(leaks, key=lambda item: (item.question_id, item.other_id or ""))


def _in_benchmarks(
    questions: pl.DataFrame, texts: pl.DataFrame, params: LeaksParams, context: Context
) -> tuple[list[Leak], list[BenchmarkFile], dict[str, Any]]:
    if not (paths := params.files()):
        raise UserError(f"leaks.benchmarks = {params.benchmarks}: no JSON, JSONL, CSV, TSV or Parquet file there")
    whole = texts.select(pl.concat_str("stem", pl.col("options").list.join("\n"), separator="\n"))["stem"].to_list()
    index = overlap.Index(whole, params.ngram, params.common, params.copied)
    leaks, files = list[Leak](), list[BenchmarkFile]()
    with context.progress(len(paths), "benchmarks") as advance:
        for name, path in paths:
            matches, records = index.matches(read_texts(path))
            found = (_overlap(questions, whole, name, match, params) for match in matches)
            here = [leak for leak in found if leak is not None]
            overlaps, copies = _counted(here).values()
            files.append(BenchmarkFile(
                file=name, sha256=file_sha256(path), records=records, overlaps=sum(overlaps.values()),
                copies=sum(copies.values()), test_overlaps=overlaps["test"], test_copies=copies["test"],
            ))  # fmt: skip
            leaks += here
            advance(1)
    leaks.sort(key=lambda leak: (leak.question_id, leak.file or ""))
    facts = {"files": len(files), "ngram": params.ngram, "questions": _counted(leaks), "too_short": index.short}
    return leaks, files, facts


def _overlap(
    questions: pl.DataFrame, texts: Sequence[str], file: str, match: overlap.BenchmarkMatch, params: LeaksParams
) -> Leak | None:
    """A match as a leak; None where the two have no more in common than set phrases or a list of options."""
    text, stem = texts[match.row], questions["stem"][match.row]
    tokens = overlap.tokenise([text])
    start, end = int(tokens.starts[match.first]), int(tokens.ends[match.last - 1])
    share = max(match.share, overlap.lines_shared(text, match.text))
    copied = share >= params.copied and overlap.asks_the_same(stem, match.text)
    asked = text[start : min(end, text.index(stem) + len(stem))]
    if not copied and (match.records > params.common or overlap.is_phrase(asked)):
        return None
    question_id, split = questions.select("question_id", "split").row(match.row)
    return Leak(
        question_id=question_id, split=split, kind="copy" if copied else "overlap", score=round(share, 4),
        file=file, line=match.line, rows=match.records, span=text[start:end][:_SPAN], start=start, end=end,
    )  # fmt: skip


def _counted(leaks: Sequence[Leak]) -> dict[str, dict[str, int]]:
    """Questions by split: those that overlap at all, and the copies among them."""
    counted = {}
    for kind, kinds in (("overlap", {"overlap", "copy"}), ("copy", {"copy"})):
        ids = {(leak.question_id, leak.split) for leak in leaks if leak.kind in kinds}
        of_split = Counter(split for _, split in ids)
        counted[kind] = {split: of_split[split] for split in SPLITS}
    return counted
