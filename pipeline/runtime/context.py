"""The context that the runner passes to a stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from pipeline.runtime.executor import Executor
from pipeline.runtime.store import ItemStore
from pipeline.stage import Failure
from schemas.dataset import DatasetParams

Item = TypeVar("Item")
Out = TypeVar("Out")


@dataclass
class RunContext:
    """See ``pipeline.stage.Context``."""

    raw: Path
    build: Path
    dataset: DatasetParams
    store: ItemStore
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
        """A progress bar on a terminal; silent where nobody watches."""
        columns = (
            TextColumn("  [progress.description]{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("ETA"),
            TimeRemainingColumn(),
        )
        with Progress(
            *columns, console=self.console, transient=True, disable=not self.console.is_terminal
        ) as bar:
            task = bar.add_task(what, total=total)

            def advance(count: int = 1) -> None:
                bar.advance(task, count)

            yield advance

    def map(
        self, function: Callable[[Item], Out], items: Iterable[Item], *, timeout: float | None = None
    ) -> Iterator[tuple[Item, Out | Failure]]:
        """Apply ``function`` to ``items`` on the executor."""
        return self.executor.map(function, items, timeout)
