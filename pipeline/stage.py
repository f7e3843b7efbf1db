"""The interface of a stage: a function from named tables and parameters to named tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Protocol, TypeVar

import polars as pl
from rich import progress as bars
from rich.console import Console

from build_dataset.pipeline.runtime.store import ItemStore
from build_dataset.schemas import base, questions
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.params import Params

Item = TypeVar("Item")
Out = TypeVar("Out")


@dataclass(frozen=True)
class Counts:
    """Counts of a stage's input: every item ends in exactly one of the last four."""

    n_input: int  # items that came in
    kept: int
    merged: int = 0
    rejected: int = 0
    waiting: int = 0  # items that wait for a person or for a server to answer

    def balanced(self) -> bool:
        """Return whether no item was lost or invented."""
        return self.n_input == self.kept + self.merged + self.rejected + self.waiting


@dataclass
class Result:
    """Result of a stage."""

    tables: dict[str, pl.DataFrame]  # by table name; the runner writes each as Parquet
    counts: Counts
    rejects: list[questions.Rejection] = field(default_factory=list)
    review: list[questions.ReviewItem] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    """Further files by path relative to the stage's folder: cards, JSON, crops."""
    describe: Callable[[Mapping[str, Mapping[str, Any]]], dict[str, bytes]] | None = None
    """Makes files that state checksums of the others: called with ``sha256`` and ``bytes`` of each by name."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Further deterministic facts for the manifest: costs, agreement, the chosen engine."""
    complete: bool = True  # False when some items failed in a way that a further run may mend (a server was down).
    notes: list[str] = field(default_factory=list)
    """Lines for the user, printed after the counts: warnings, where to look."""


@dataclass(frozen=True)
class Failure:
    """A task of ``Context.map`` that gave no result."""

    reason: str  # `crashed`, `timeout`, `error` or an `UnreadableDocument`'s own
    detail: str


Results = Iterator[tuple[Item, Out | Failure]]  # as they arrive, each with its item


class Executor(Protocol):
    """Runs one function over many items; stages don't know where."""

    def map(self, function: Callable[[Item], Out], items: Iterable[Item], timeout: float | None) -> Results[Item, Out]:
        """Yield (item, result) as results arrive; what fails becomes a ``Failure`` of that item alone."""

    def close(self) -> None:
        """Free what it holds; a later ``map`` takes it again."""


@dataclass
class Context:
    """Services that the runner gives every stage."""

    raw: Path  # the folder with the exam papers
    build: Path  # the dataset's build folder, for reading alone
    dataset: DatasetParams  # the `[dataset]` section: name, title, licence and the rest
    store: ItemStore  # this stage's own
    executor: Executor
    console: Console = field(default_factory=lambda: Console(stderr=True))

    @property
    def seed(self) -> int:
        """The dataset's seed."""
        return self.dataset.seed

    def close(self) -> None:
        """Stop the workers and close the store."""
        self.executor.close()
        self.store.close()

    @contextmanager
    def progress(self, total: int | None, what: str) -> Iterator[Callable[[int], None]]:
        """A progress bar with an ETA, silent where nobody watches; call the yielded function to advance."""
        columns = (
            bars.TextColumn("  [progress.description]{task.description}"),
            bars.BarColumn(bar_width=30),
            bars.MofNCompleteColumn(),
            bars.TimeElapsedColumn(),
            bars.TextColumn("ETA"),
            bars.TimeRemainingColumn(),
        )
        with bars.Progress(*columns, console=self.console, transient=True, disable=not self.console.is_terminal) as bar:
            yield partial(bar.advance, bar.add_task(what, total=total))

    def map(
        self, function: Callable[[Item], Out], items: Iterable[Item], *, timeout: float | None = None
    ) -> Results[Item, Out]:
        """Apply a picklable module-level ``function`` to many items on the executor, in worker processes.

        Yields (item, result) as results arrive, in no order. A crash, a timeout (seconds an item) or an
        exception becomes a ``Failure`` of that item alone.
        """
        return self.executor.map(function, items, timeout)


def here(function: Callable[[Item], Out], items: Iterable[Item]) -> Results[Item, Out]:
    """Apply a function to items one after the other, in this process."""
    return ((item, function(item)) for item in items)


Each = Callable[[Callable[[Any], Any], Iterable[Any]], Results[Any, Any]]  # ``Context.map``, or ``here``
Tables = Mapping[str, pl.DataFrame]
StageFunction = Callable[[Tables, Any, Context], Result]


@dataclass(frozen=True)
class Stage:
    """A row of the catalogue."""

    name: str
    title: str  # one line for `--help` and docs
    unit: str  # unit of its counts: files, questions …
    reads: tuple[str, ...]  # tables as `stage/table`; the function gets them by table name
    writes: Mapping[str, type[base.Record]]  # its tables and their records
    params: type[Params]  # the options of its section in `dataset.toml`
    target: str  # `module:function`, imported when it runs
    examples: tuple[str, ...] = ()  # command lines for `--help`
    optional: tuple[str, ...] = ()
    """Tables that it reads where they are there, as ``stage/table``, rejects and review included; ``*`` is every stage
    before it. The function gets them by this whole reference; those of a stage that has not run are missing."""
    names_dataset: bool = False  # true if its result depends on name, licence, version … (`[dataset]`)
    parallel: bool = False  # true if it uses the executor
    uses_labels: bool = False  # true if its result depends on the label set (`dataset.labels`)
    check: str | None = None
    """``module:function`` of (params, dataset) → list of problems, asked before anything is read or spent:
    engines not installed, keys not set, servers that do not answer."""
    estimate: str | None = None
    """``module:function`` of (tables, params, context) → lines for ``--dry-run``: what it would ask, and the cost."""

    def function(self) -> StageFunction:
        """The stage's function, imported."""
        loaded: StageFunction = resolve_name(self.target)
        return loaded

    def problems(self, params: Params, dataset: DatasetParams) -> list[str]:
        """Return the problems that prevent a run, each with its remedy."""
        return list(resolve_name(self.check)(params, dataset)) if self.check else []

    def estimates(self, tables: Tables, params: Params, context: Context) -> list[str]:
        """Return the lines of a dry run; asks nobody."""
        return list(resolve_name(self.estimate)(tables, params, context)) if self.estimate else []
