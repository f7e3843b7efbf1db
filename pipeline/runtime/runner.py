"""Runs stages: skips finished ones, checks that counts add up, publishes results and reports on them."""

import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path
from typing import Any

from rich.console import Console

from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.config import ConfigBase
from build_dataset.pipeline.runtime import publish, ray_executor, sources, store
from build_dataset.pipeline.runtime.executor import relax_gc
from build_dataset.pipeline.runtime.fingerprint import fingerprint
from build_dataset.pipeline.set_aside import Documents, aside_rows, aside_workbook
from build_dataset.pipeline.stage import Context, Result, Stage
from build_dataset.schemas import errors, questions, taxonomy

_VERSIONS = ("build-dataset", "polars", "pyarrow", "pymupdf", "rapidfuzz", "rapidocr")


class LostItemsError(RuntimeError):
    """A stage's counts do not add up: something was lost or invented. Always a bug of ours."""


@dataclass(frozen=True)
class Report:
    """Outcome of one stage in a run."""

    stage: Stage
    manifest: dict[str, Any]
    fresh: bool  # false when the stage was already done
    seconds: float = 0.0
    reused: int = 0
    added: int = 0
    notes: Sequence[str] = ()


class Runner:
    """Runs stages of one dataset."""

    def __init__(self, config: ConfigBase, console: Console | None = None) -> None:
        self.config = config
        self.build: Path = config.dataset.build
        self.console = console or Console(stderr=True)
        self._inputs = sources.Inputs(config)
        self.tables = self._inputs.tables

    def run(
        self, names: Sequence[str], *, force: bool = False, on_stage_done: Callable[[Report], None] | None = None
    ) -> bool:
        """Run stages in the catalogue's order, also done ones if ``force``; return False when items wait for a run."""
        complete = True
        with publish.build_lock(self.build):
            for stage in STAGES:
                publish.recover(self.build / stage.name)  # of runs that were killed
                if self._is_off(stage):
                    publish.withdraw(self.build / stage.name)
            for stage in STAGES:
                if stage.name in names and not self._is_off(stage):
                    hashes = self._inputs.hashes(stage)
                    manifest = publish.intact_manifest(self.build / stage.name)
                    if manifest and not force and self.state(stage) == "done":
                        report = Report(stage, manifest, fresh=False)
                    else:
                        with closing(self.context(stage)) as context:
                            report = self._run_fresh(stage, self._fingerprint(stage, hashes), hashes, context)
                    complete &= report.manifest["complete"]
                    if on_stage_done:
                        on_stage_done(report)
        return complete

    def due(self, names: Sequence[str], *, force: bool = False) -> list[str]:
        """Return those of the named stages that will run: the first that is not done, and all that follow it."""
        chosen = [stage for stage in STAGES if stage.name in names and not self._is_off(stage)]
        done = [] if force else takewhile(lambda stage: self.state(stage) == "done", chosen)
        return [stage.name for stage in chosen[len(list(done)) :]]

    def states(self) -> dict[str, str]:
        """The state of every stage by name; what stands behind a stale stage is stale too."""
        states: dict[str, str] = {}
        for stage in STAGES:
            states[stage.name] = self.state(stage)
            behind = any(states.get(name) == "stale" for name in sources.upstream_stages(stage))
            if behind and states[stage.name] not in ("missing", "off"):
                states[stage.name] = "stale"
        return states

    def state(self, stage: Stage) -> str:
        """``missing``, ``stale`` (its inputs as they stand, parameters or code changed), ``incomplete``, ``done``.

        ``off`` is a stage that is not to run; while it has a result of earlier, it is stale.
        """
        manifest = publish.intact_manifest(self.build / stage.name)
        if self._is_off(stage):
            return "stale" if manifest else "off"
        if manifest is None:
            return "missing"
        try:
            current = self._fingerprint(stage, self._inputs.hashes(stage))
        except errors.UserError:  # an input is missing
            return "stale"
        if manifest["fingerprint"] != current:
            return "stale"
        return "done" if manifest["complete"] else "incomplete"

    def _is_off(self, stage: Stage) -> bool:
        return self.config.params(stage.name).off() is not None

    def _run_fresh(self, stage: Stage, mark: str, hashes: dict[str, str], context: Context) -> Report:
        """Run a stage, publish its result, and enter it in the ledger at once: stopping workers takes a while."""
        started, clock = datetime.now(UTC), time.perf_counter()
        outcome = "failed"  # until it is known better; Ctrl-C too
        try:
            params = self.config.params(stage.name)
            relax_gc()
            result = stage.function()(self.tables(stage), params, context)
            if not result.counts.balanced():
                raise LostItemsError(f"{stage.name}: {result.counts} does not add up")
            for name, record in stage.writes.items():
                if result.tables[name].schema != record.polars_schema():
                    raise TypeError(f"{stage.name}/{name} does not have the columns of {record.__name__}")
            manifest = self._publish(stage, result, mark, hashes)
            outcome = "done" if result.complete else "incomplete"
        except OSError as error:
            if error.errno is not None and error.filename is None:  # writing tells of no file
                error.filename = str(self.build / stage.name)
            raise
        finally:
            seconds = time.perf_counter() - clock  # monotonic
            reused, added = context.store.reused, context.store.added
            when, took = started.isoformat(timespec="seconds"), round(seconds, 3)
            publish.append_run(self.build, publish.LedgerEntry(stage.name, when, took, outcome, reused, added))
        return Report(stage, manifest, True, seconds, reused, added, result.notes)

    def context(self, stage: Stage) -> Context:
        """Return the context of a stage."""
        return Context(
            raw=self.config.dataset.raw,
            build=self.build,
            dataset=self.config.dataset,
            store=store.ItemStore(self.build / "store" / f"{stage.name}.sqlite"),
            executor=ray_executor.executor(self.config.executor, self.config.dataset.raw),
            console=self.console,
        )

    def _publish(self, stage: Stage, result: Result, mark: str, hashes: dict[str, str]) -> dict[str, Any]:
        publication = publish.Publication(self.build / stage.name)
        for name in stage.writes:
            publication.table(name, result.tables[name])
        publication.table("rejects", questions.Rejection.to_frame(result.rejects))
        publication.table("review", questions.ReviewItem.to_frame(result.review))
        publication.files(result.files)
        publication.files(result.describe(publication.outputs) if result.describe else {})
        documents = Documents.of_build(self.build)  # names of files, in the workbooks
        for name, items in (("rejects.xlsx", result.rejects), ("review.xlsx", result.review)):
            if items:
                publication.file(name, aside_workbook(aside_rows(items, documents)))
        outcomes = {name: count for name, count in vars(result.counts).items() if name != "n_input"}
        return publication.commit(
            {
                "stage": stage.name,
                "fingerprint": mark,
                "complete": result.complete,
                "counts": {"unit": stage.unit, "in": result.counts.n_input, **outcomes},
                "reasons": {
                    "rejected": _tally(item.reason for item in result.rejects),
                    "waiting": _tally(item.reason for item in result.review for _ in item.question_ids or "?"),
                },
                "facts": result.facts,
                "params": self.config.params(stage.name).semantic(),
                "inputs": hashes,
                "versions": {"python": platform.python_version()} | {name: version(name) for name in _VERSIONS},
            }
        )

    def _fingerprint(self, stage: Stage, hashes: dict[str, str]) -> str:
        params = self.config.params(stage.name).semantic()
        if stage.names_dataset:
            params = {**params, "dataset": self.config.dataset.semantic()}
        if stage.uses_labels and taxonomy.label_set() is not taxonomy.cmexam():  # a built-in set is code
            params = {**params, "labels": taxonomy.label_set().digest}
        return fingerprint(stage.target, params, hashes, self.config.dataset.seed)


def _tally(reasons: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(reasons).items(), key=lambda pair: (-pair[1], pair[0])))  # most frequent first
