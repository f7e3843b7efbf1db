"""Questions with the cut-out from their page: Parquet with an image column, as ``datasets`` shows pictures."""

import io
import json
from base64 import b64decode

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from build_dataset.pipeline.crop import crops
from build_dataset.pipeline.stage import Context, Tables
from build_dataset.schemas.questions import Question

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
