"""The export stage: the release as Parquet, with a card, its story, statistics and other people's formats."""

import hashlib
import io
import json
from base64 import b64decode
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.stats import poisson

from build_dataset.annotation.label_studio.editable import ANSWER, VERDICT
from build_dataset.pipeline.crop import crops
from build_dataset.pipeline.dedup.keys import UNSURE
from build_dataset.pipeline.export.card import card, changelog, croissant, distribution, statistics
from build_dataset.pipeline.export.changes import compare_with_previous
from build_dataset.pipeline.export.formats import FORMATS, task_files
from build_dataset.pipeline.export.params import ExportParams
from build_dataset.pipeline.export.release import release
from build_dataset.pipeline.releases import CHANGELOG
from build_dataset.pipeline.rendering.markup import notes
from build_dataset.pipeline.set_aside import LOSING, OUTCOMES, item_outcomes
from build_dataset.pipeline.split.units import twins_of
from build_dataset.pipeline.stage import Context, Counts, Result, Tables
from build_dataset.schemas.annotations import LabelStatus
from build_dataset.schemas.questions import Question, Rejection
from build_dataset.schemas.taxonomy import dimensions


def run(tables: Tables, params: ExportParams, context: Context) -> Result:
    """Join questions, labels and assignments to the released splits, and compare them with the previous release."""
    splits, rejects = release(tables)
    kept = sum(rows.height for rows in splits.values())
    stands = compare_with_previous(context.dataset, splits, tables["merges"], waiting_questions(tables))
    story = story_of(tables, splits, rejects)
    figures = statistics(splits)
    wanted = [one for one in FORMATS if getattr(params, one.option)]
    files = {one.path.format(split=name): one.write(rows) for one in wanted for name, rows in splits.items()}
    files |= task_files(context.dataset, splits, params.tools())
    files |= image_files(splits, tables, context, of_all=params.images)
    labels = {}
    for name, dimension in dimensions().items():
        own = sorted(distribution(splits, name).items(), key=lambda item: item[0] or "")
        labels[name] = [{"label": label, "label_en": dimension.english(label), **counts} for label, counts in own]
    content = {**figures, "labels": labels}
    files["statistics.json"] = (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()
    files[CHANGELOG] = changelog(context.dataset, stands).encode()

    def describe(outputs: Mapping[str, Mapping[str, Any]]) -> dict[str, bytes]:
        metadata = croissant(context.dataset, splits, outputs)
        checksums = {name: str(entry["sha256"]) for name, entry in outputs.items()}
        checksums["croissant.json"] = hashlib.sha256(metadata).hexdigest()  # made here, so not among the outputs yet
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


_WRONG = (1 / 100, 1 / 14)
"""Share of questions read by OCR in which a character is wrong, surely read and not (benchmarks/ocr)."""
_NONE = Rejection.to_frame([])


def story_of(tables: Tables, splits: Mapping[str, pl.DataFrame], rejects: Sequence[Rejection]) -> dict[str, Any]:
    """Return counts of all questions by what became of them, none without the parsed ones, and of those released."""
    whole = pl.concat(rows.with_columns(split=pl.lit(name)) for name, rows in splits.items())
    given = dict(tables) | {"dedup/merges": tables["merges"], "export/rejects": Rejection.to_frame(rejects)}
    counts: dict[str, Counter[str]] = {name: Counter() for name in OUTCOMES}
    for outcome in item_outcomes(given.get) if "parse/questions" in tables else ():
        counts.setdefault(outcome.name, Counter())[outcome.reason] += outcome.size
    read = tables["questions"].join(whole, on="question_id", how="semi")["confidence"].drop_nulls()
    unsure = int((read < UNSURE).sum())
    expected = (len(read) - unsure) * _WRONG[0] + unsure * _WRONG[1]
    decided = tables["corrections"].filter(pl.col("field").is_in([ANSWER, VERDICT]))
    twins = twins_of(tables["clusters"]).select("question_id", family="cluster_id").unique()
    families = twins.join(whole, on="question_id").group_by("family", "split").len().filter(pl.col("len") > 1)
    statuses = whole.select(pl.col([f"{name}_status" for name in dimensions()])).unpivot()["value"]
    return {
        "outcomes": {name: counts[name].total() for name in OUTCOMES},
        **{name: dict(counts[name].most_common()) for name in ("rejected", "waiting")},
        "refused": tables.get("ocr/rejects", _NONE).height,
        "read_by_ocr": len(read),
        "unsure": unsure,
        "wrong_expected": round(expected),
        "wrong_at_most": int(poisson.ppf(0.95, expected)) if expected else 0,  # not exceeded in 95 of 100 cases
        "labels": int(whole.select(pl.col(list(dimensions())).count()).sum_horizontal().sum()),
        "reviewed": int((statuses != LabelStatus.UNREVIEWED.value).sum()),
        "keys_by_people": decided.join(whole, on="question_id", how="semi")["question_id"].n_unique(),
        "twins": families["family"].n_unique(),  # families
        "twins_in_test": families.filter(split="test").height,
        "twins_left_out": tables.get("split/rejects", _NONE).filter(reason="twin_in_test").height,
    }


def waiting_questions(tables: Tables) -> set[str]:
    """Return the ids of the questions that wait for a person and are therefore not released."""
    frames = [frame for name in LOSING if (frame := tables.get(f"{name}/review")) is not None]
    rows = [row for frame in frames for row in frame.select("item_id", "question_ids").iter_rows()]
    return {name for item, questions in rows for name in (item, *(questions or ()))}


FIGURE_ITEM = "figure_item"  # Reason of questions that need a figure and are exported with it, apart from the others.
_MOST = 1_000_000  # bytes of a cut-out
_COLUMNS = ("question_id", "question_type", "shared_stem", "stem", "options", "answer", "explanation")
_PICTURE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])  # as `datasets` knows pictures
_TOLD = {"huggingface": json.dumps({"info": {"features": {"image": {"_type": "Image"}}}})}


def image_files(splits: dict[str, pl.DataFrame], tables: Tables, context: Context, *, of_all: bool) -> dict[str, bytes]:
    """Return ``figures/test.parquet`` of figure items set aside, and ``images/SPLIT.parquet`` of what pages show."""
    items = tables["clean/rejects"].filter(reason=FIGURE_ITEM)["item"] if "clean/rejects" in tables else ()
    wanted = {"figures/test.parquet": [Question.model_validate_json(item) for item in items]}
    for name, rows in splits.items() if of_all else ():
        part = tables["questions"].join(rows, on="question_id", how="semi").sort("question_id")
        wanted[f"images/{name}.parquet"] = list(Question.from_frame(part))
    made = {path: _with_images(some, context) for path, some in wanted.items() if some}
    return {path: content for path, content in made.items() if content}


def _with_images(questions: list[Question], context: Context) -> bytes | None:
    pictures = crops(questions, context, _MOST)
    shown = [question for question in questions if question.question_id in pictures]
    if not shown:
        return None
    addresses = [pictures[question.question_id].partition(",") for question in shown]  # data:image/png;base64,…
    images = [
        {"bytes": b64decode(data), "path": f"{question.question_id}.{'jpg' if 'jpeg' in head else 'png'}"}
        for question, (head, _, data) in zip(shown, addresses, strict=True)
    ]
    table = Question.to_frame(shown).select(_COLUMNS).to_arrow(compat_level=pl.CompatLevel.oldest())
    table = table.append_column("image", pa.array(images, _PICTURE)).replace_schema_metadata(_TOLD)
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd", row_group_size=100, write_page_index=True)  # 100 pictures
    return stream.getvalue()
