"""Sections of the card that say why a release can be trusted: leaks, changes, origin, checksums."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from pipeline.export.changelog import summary
from pipeline.export.markdown import code, table, text
from pipeline.export.versions import Standing
from schemas.dataset import DatasetParams
from schemas.wording import counted

_LISTED = 100
"""Documents and files listed by name; the tables of a large release would hide the rest of the card."""
_RULE = (
    "**major**: a validation or test question was removed or asks something else, a question moved to another split "
    "or has another id, or a column is gone: results on the old release do not compare. **minor**: questions or "
    "columns were added, training questions removed or changed, labels changed. **patch**: anything else. Before "
    "1.0.0 a major change raises the second number and any other the third. No question that stays moves to "
    "another split."
)


def leaks(found: pl.DataFrame, benchmarks: pl.DataFrame) -> str:
    """What is in two splits, and what public benchmarks have."""
    kinds = dict(found["kind"].value_counts().iter_rows())
    parts = [
        "## Leaks and contamination 泄漏与污染检查",
        f"Exact duplicates across splits: {kinds.get('exact', 0):,}. Near duplicates (stems and options at least nine "
        f"tenths alike): {kinds.get('near', 0):,}.",
    ]
    if benchmarks.is_empty():
        return "\n\n".join([*parts, "The questions were not compared with public benchmarks."])
    rows = [
        (
            code(row["file"]),
            *(f"{row[name]:,}" for name in ("records", "overlaps", "copies", "test_overlaps", "test_copies")),
        )
        for row in benchmarks.head(_LISTED).iter_rows(named=True)
    ]
    head = ("Public benchmark", "Records", "Overlapping", "Copies", "Overlapping, test", "Copies, test")
    parts += [
        "Questions that share a run of tokens with public benchmarks (overlapping), and those of which a benchmark has "
        "most (copies). A token is a Chinese character, a Latin word or a number; set phrases do not count.",
        table(head, rows),
    ]
    if benchmarks.height > _LISTED:
        parts.append(f"… and {benchmarks.height - _LISTED:,} more files.")
    return "\n\n".join(parts)


def changes(standing: Standing) -> str:
    """What changed since the previous release."""
    return "\n\n".join(
        ["## Version and changes 版本与变更", f"Version {standing.version}.", summary(standing), _RULE]
    )


def provenance(dataset: DatasetParams, splits: Mapping[str, pl.DataFrame]) -> str:
    """Licence, makers, and the files that the questions come from."""
    counts = pl.concat(splits.values())["document"].value_counts().sort("document")
    rows = [(code(name), f"{count:,}") for name, count in counts.head(_LISTED).iter_rows()]
    parts = [
        "## Provenance and licence 来源与许可",
        f"Licence: {text(dataset.license)}."
        + (f" Homepage: {text(dataset.homepage)}" if dataset.homepage else ""),
        *([f"Made by {', '.join(map(text, dataset.creators))}."] if dataset.creators else []),
        *([f"Cite as: {text(dataset.citation)}"] if dataset.citation else []),
        f"The questions come from {counted(counts.height, 'file')}:",
        table(("File", "Questions"), rows),
    ]
    if counts.height > _LISTED:
        parts.append(f"… and {counts.height - _LISTED:,} more (column `document`).")
    return "\n\n".join(parts)


def checksums(checksums: Mapping[str, str]) -> str:
    """SHA-256 by file."""
    rows = [(text(name), f"`{value}`") for name, value in checksums.items()]
    return "## Checksums (SHA-256) 校验和\n\n" + table(("File", "SHA-256"), rows, left=2)
