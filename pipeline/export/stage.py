"""The export stage: the release as Parquet, with a card, statistics and other people's formats."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from build_dataset.pipeline.export.card import card, changelog, croissant, distribution, statistics
from build_dataset.pipeline.export.changes import compare_with_previous
from build_dataset.pipeline.export.formats import FORMATS, task_files
from build_dataset.pipeline.export.images import image_files
from build_dataset.pipeline.export.params import ExportParams
from build_dataset.pipeline.export.release import release
from build_dataset.pipeline.export.story import tell, waiting_questions
from build_dataset.pipeline.releases import CHANGELOG
from build_dataset.pipeline.rendering.markdown import notes
from build_dataset.pipeline.stage import Context, Counts, Result, Tables
from build_dataset.schemas.taxonomy import dimensions


def run(tables: Tables, params: ExportParams, context: Context) -> Result:
    """Join questions, labels and assignments to the released splits, and compare them with the previous release."""
    splits, rejects = release(tables)
    kept = sum(rows.height for rows in splits.values())
    stands = compare_with_previous(context.dataset, splits, tables["merges"], waiting_questions(tables))
    story = tell(tables, splits, rejects)
    figures = statistics(splits)
    files = {
        item.path.format(split=split): item.write(rows)
        for item in FORMATS
        if getattr(params, item.option)
        for split, rows in splits.items()
    }
    files |= task_files(context.dataset, splits, params.tools())
    files |= image_files(splits, tables, context, of_all=params.images)
    content = {**figures, "labels": _labels(splits)}
    files["statistics.json"] = (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()
    files[CHANGELOG] = changelog(context.dataset, stands).encode()

    def describe(outputs: Mapping[str, Mapping[str, Any]]) -> dict[str, bytes]:
        metadata = croissant(context.dataset, splits, outputs)
        checksums = {name: str(entry["sha256"]) for name, entry in outputs.items()}
        # made here, so not among the outputs yet
        checksums["croissant.json"] = hashlib.sha256(metadata).hexdigest()
        page = card(context.dataset, splits, figures, stands, tables, checksums, story)
        return {"croissant.json": metadata, "README.md": page.encode()}

    sizes = {name: rows.height for name, rows in splits.items()}
    no_label = pl.all_horizontal(pl.col(list(dimensions())).is_null())
    unlabelled = sum(rows.filter(no_label).height for rows in splits.values())
    return Result(
        tables={**splits, "changes": stands.changes.rows},
        counts=Counts(n_input=kept + len(rejects), kept=kept, rejected=len(rejects)),
        rejects=rejects,
        files=files,
        describe=describe,
        facts={"splits": sizes, "release": stands.facts(), "story": story},
        notes=notes("build_dataset.pipeline.export", sizes=sizes, unlabelled=unlabelled, standing=stands),
    )


def _labels(splits: Mapping[str, pl.DataFrame]) -> dict[str, list[dict[str, object]]]:
    """Questions by dimension, label and split."""
    return {
        name: [
            {"label": label, "label_en": dimension.english(label), **counts}
            for label, counts in sorted(distribution(splits, name).items(), key=lambda item: item[0] or "")
        ]
        for name, dimension in dimensions().items()
    }
