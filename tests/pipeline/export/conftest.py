"""A small release with everything that goes wrong in files: formulas, quotes, Markdown, other scripts."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from build_dataset.schemas.annotations import Correction, Label
from build_dataset.schemas.questions import Assignment, Cluster, Merge, Question
from build_dataset.schemas.release import BenchmarkFile, Leak
from build_dataset.schemas.taxonomy import dimensions

AWKWARD = [
    '=HYPERLINK("http://x","y")',
    "@SUM(1)|`code` <script>alert(1)</script>",
    "第一行\n---\n第二行，“引号”,逗号",
    "NA",
    "-1 的绝对值是 # 多少？",
    "10⁹/L 𝛼 ≥ 37.5℃",
    "*不*是_病因_的是 [x](y)",
]
SPLITS = ["train", "train", "train", "train", "validation", "test", "test"]


def question_rows() -> list[dict[str, Any]]:
    rows = []
    for number, stem in enumerate(AWKWARD):
        rows.append(
            {
                "question_id": f"abcdef01-1-{number:03d}",
                "document": "papers/`2021`|a.pdf" if number % 2 else "b.csv",
                "section": 1,
                "number": number,
                "question_type": "X" if number == 3 else "A1",
                "stem": stem,
                "options": [{"label": label, "text": f"{label} 选项 {number}"} for label in "ABCDE"],
                "answer": ["A", "C"] if number == 3 else ["B"],
                "explanation": None if number == 2 else f"解析 {stem}",
                "exam_class": "执业医师",
                "content_hash": str(number),
            }
        )
    rows[4] |= {"shared_stem": "患者，男，40岁。", "group_id": "g1"}
    return rows


def release_tables(status: str = "unreviewed") -> dict[str, pl.DataFrame]:
    questions = question_rows()
    labels = [
        {
            "question_id": row["question_id"],
            "dimension": name,
            "label": dimension.labels[number % len(dimension.labels)].zh,
            "label_en": dimension.labels[number % len(dimension.labels)].en,
            "status": status,
            "annotator": "human_accuracy" if name == "difficulty" and number == 0 else "lexicon",
            "estimate": name == "difficulty" and number != 0,
            "reviewers": [],
        }
        for number, row in enumerate(questions)
        for name, dimension in dimensions().items()
    ]
    return {
        "questions": pl.DataFrame(questions, schema=Question.polars_schema()),
        "clusters": pl.DataFrame([("abcdef01-1-001", "c1", "variant")], schema=Cluster.polars_schema(), orient="row"),
        "merges": Merge.to_frame([]),
        "labels": pl.DataFrame(labels, schema=Label.polars_schema()),
        "assignments": pl.DataFrame(
            [(row["question_id"], split, "s") for row, split in zip(questions, SPLITS, strict=True)],
            schema=Assignment.polars_schema(),
            orient="row",
        ),
        "corrections": Correction.to_frame([]),
        "leaks": Leak.to_frame([]),
        "benchmarks": BenchmarkFile.to_frame([]),
    }


@pytest.fixture
def tables() -> dict[str, pl.DataFrame]:
    return release_tables()


@pytest.fixture
def export(context, tmp_path) -> Callable[..., Any]:
    from build_dataset.pipeline.export.params import ExportParams
    from build_dataset.pipeline.export.stage import run

    def call(tables: dict[str, pl.DataFrame], dataset: dict[str, Any] | None = None, **params: Any) -> Any:
        given = {"releases": tmp_path / "releases"} | (dataset or {})
        context.dataset = context.dataset.model_copy(update=given)
        result = run(tables, ExportParams(**params), context)
        assert result.counts.balanced()
        outputs = {
            name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
            for name, data in result.files.items()
        }
        outputs |= {f"{name}.parquet": {"sha256": f"of {name}", "bytes": 1} for name in result.tables}
        result.described = result.describe(outputs)
        return result

    return call


@pytest.fixture
def publish():
    """Publishes a result as the runner does, beside the runner's own tables; the folder comes back."""
    from build_dataset.pipeline.runtime.publish import Publication
    from build_dataset.schemas.questions import Rejection, ReviewItem

    def write(result: Any, folder: Path) -> Path:
        folder.parent.mkdir(parents=True, exist_ok=True)
        publication = Publication(folder)
        for name, frame in result.tables.items():
            publication.table(name, frame)
        publication.table("rejects", Rejection.to_frame(result.rejects))
        publication.table("review", ReviewItem.to_frame([]))
        for name, data in result.files.items():
            publication.file(name, data)
        for name, data in result.describe(publication.outputs).items():
            publication.file(name, data)
        publication.commit({"facts": result.facts})
        return folder

    return write


@pytest.fixture
def folder(export, publish, tables, tmp_path) -> Path:
    """A release."""
    result = export(tables, {"title": '考题: "A" | `b` #1', "description": "--- \n# not a heading <b>"})
    return publish(result, tmp_path / "release")
