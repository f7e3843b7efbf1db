"""Results of the stages before the report, as far as they have run; sections, notices and words of the page."""

import json
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import polars as pl

from build_dataset.pipeline.report.params import ReportParams
from build_dataset.pipeline.set_aside import settled_questions
from build_dataset.pipeline.stage import Tables
from build_dataset.schemas import base, data, wording
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.questions import SPLIT_NAMES, SPLITS

Row = TypeVar("Row", bound=base.Record)
WORDS: dict[str, Any] = data.shipped_toml("build_dataset.pipeline.report", "words.toml")
WORDS["splits"] = SPLIT_NAMES  # names in both languages, by what they name: `stages`, `splits`, `merged` …


class _Counting(string.Formatter):
    """Formats numbers with the name of what they count: ``{n:question}``."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return ``2 questions`` for a name, and the usual form for other specifications."""
        if format_spec[:1].isalpha() and isinstance(value, int):  # "{n:question}", not "{share:.2f}"
            return wording.counted(value, *format_spec.split("/"))
        return str(super().format_field(value, format_spec))


def notice(name: str, /, *, lost: int = 0, **values: Any) -> wording.Notice:
    """Return a notice of ``words.toml`` with its placeholders filled in; ``lost`` questions are missing for it."""
    english, chinese = (_Counting().format(text, lost=lost, **values) for text in WORDS["notices"][name])
    return wording.Notice(english, chinese, lost)


@dataclass(frozen=True)
class Section:
    """A part of the page; its template ``templates/<name>.html`` shows ``values`` as ``it``."""

    values: Mapping[str, Any]
    notices: Sequence[wording.Notice] = ()
    """Sentences to know before trusting the result; all of them stand at the head of the page."""
    files: Mapping[str, bytes] = field(default_factory=dict)  # figures and tables beside the page, by path


class StageRun:
    """A stage and, if it has run, its manifest."""

    def __init__(self, name: str, title: str = "", manifest: str | None = None) -> None:
        self.name, self.title = name, title
        self.manifest: dict[str, Any] = json.loads(manifest) if manifest else {}
        """Empty when it has not run, as are its parts."""
        self.counts: dict[str, Any] = self.manifest.get("counts", {})  # `unit, in, kept, merged, rejected, waiting`.
        self.facts: dict[str, Any] = self.manifest.get("facts", {})
        self.params: dict[str, Any] = self.manifest.get("params", {})
        self.reasons: dict[str, dict[str, int]] = self.manifest.get("reasons", {"rejected": {}, "waiting": {}})
        """Items by outcome and reason."""

    def table(self, name: str) -> dict[str, Any]:
        """Return the entry of one of its tables in the manifest; an empty one when there is no such table."""
        entry: dict[str, Any] = self.manifest.get("outputs", {}).get(f"{name}.parquet", {})
        return entry


class Build:
    """The stages' manifests and the tables that are there."""

    def __init__(self, tables: Tables, params: ReportParams, dataset: DatasetParams) -> None:
        """Take the input of the report stage: ``manifests``, and optional tables by ``stage/table``."""
        self._tables = tables
        self.params = params
        self.dataset = dataset
        self.stages = tuple(StageRun(*row) for row in tables["manifests"].select("stage", "title", "manifest").rows())
        self._by_name = {stage.name: stage for stage in self.stages}

    @property
    def ran(self) -> tuple[StageRun, ...]:
        """The stages that have run."""
        return tuple(stage for stage in self.stages if stage.manifest)

    def stage(self, name: str) -> StageRun:
        """Return the stage of that name; one without a manifest when it is unknown."""
        return self._by_name.get(name, StageRun(name))

    def table(self, reference: str) -> pl.DataFrame | None:
        """Return the table ``stage/table``; None when it was not made."""
        return self._tables.get(reference)

    def filled(self, reference: str, *where: pl.Expr) -> pl.DataFrame | None:
        """Return the rows of the table ``stage/table``, those ``where`` all is true; None when there are none."""
        frame = self.table(reference)
        rows = frame.filter(*where) if where and frame is not None else frame
        return None if rows is None or rows.is_empty() else rows

    def records(self, reference: str, record: type[Row]) -> list[Row]:
        """Return the rows of the table ``stage/table``; none when it was not made."""
        frame = self.table(reference)
        return [] if frame is None else list(record.from_frame(frame))

    @cached_property
    def settled(self) -> set[str]:
        """Questions that the parser let wait and people settled since."""
        return settled_questions(self.table)

    def waiting(self, stage: StageRun) -> Counter[str]:
        """Return what waits of a stage by reason, without what people settled since."""
        counts, review = Counter(stage.reasons["waiting"]), self.filled(f"{stage.name}/review")
        if stage.name == "parse" and review is not None:
            questions = review.explode("question_ids").filter(pl.col("question_ids").is_in(list(self.settled)))
            counts -= Counter(questions["reason"])
        return counts

    @cached_property
    def splits(self) -> dict[str, pl.DataFrame]:
        """The released rows of each split; empty when there is no row."""
        frames = {name: frame for name in SPLITS if (frame := self.table(f"export/{name}")) is not None}
        return frames if any(rows.height for rows in frames.values()) else {}

    @cached_property
    def outdated(self) -> dict[str, list[str]]:
        """Stages whose inputs were made anew since they ran: stage → the stages that made them."""
        makers_of: dict[str, set[str]] = {}
        for stage in self.ran:
            for reference, used in stage.manifest.get("inputs", {}).items():
                maker, _, table = reference.partition("/")
                if self.stage(maker).table(table).get("sha256", used) != used:  # raw files have no manifest
                    makers_of.setdefault(stage.name, set()).add(maker)
        return {name: sorted(makers) for name, makers in makers_of.items()}
