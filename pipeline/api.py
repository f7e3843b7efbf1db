"""The five lines for notebooks and scripts: build a dataset, read a table of it.

Example:
    >>> from build_dataset import build, table
    >>> build("mydata/dataset.toml", last="export")
    >>> table("mydata/dataset.toml", "parse/questions").select("stem", "answer").head()
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.config import load
from build_dataset.schemas.errors import UserError

if TYPE_CHECKING:
    import polars as pl

    from build_dataset.pipeline.runtime.runner import Report


def build(
    config: str | Path, *, first: str | None = None, last: str | None = None, force: bool = False, **overrides: Any
) -> dict[str, Mapping[str, Any]]:
    """Run the stages of a dataset; finished ones are skipped.

    Args:
        config: path of ``dataset.toml``.
        first: the stage to begin with; the first of all when absent.
        last: the stage to end with; the last of all when absent.
        force: run finished stages again.
        **overrides: values by key with ``__`` for a dot, e.g. ``ocr__engine="paddleocr"``.

    Returns:
        The manifest of each stage by its name: counts, reasons, facts.

    Raises:
        UserError: something to put right; the message says what.
    """
    settings = {key.replace("__", "."): value for key, value in overrides.items()}  # ocr__engine: ocr.engine
    return copy_context().run(_build, Path(config), settings, stage_names(first, last), force)


def _build(config: Path, settings: dict[str, Any], names: list[str], force: bool) -> dict[str, Mapping[str, Any]]:
    """Run stages in a context of its own, so that the label set of one dataset does not reach the next."""
    from build_dataset.pipeline.doctor import preflight
    from build_dataset.pipeline.runtime.runner import Runner

    loaded = load(config, settings)
    runner = Runner(loaded)
    preflight(loaded, runner.due(names, force=force))
    done: list[Report] = []
    runner.run(names, force=force, on_stage_done=done.append)
    return {report.stage.name: report.manifest for report in done}


def table(config: str | Path, name: str) -> pl.DataFrame:
    """Read a table of a dataset's build folder.

    Args:
        config: path of ``dataset.toml``.
        name: stage and table, e.g. ``parse/questions``, ``clean/rejects``, ``export/train`` (docs/tables.md).

    Raises:
        UserError: there is no such table, or its stage has not run.
    """
    from build_dataset.pipeline.runtime.publish import read_table

    folder = copy_context().run(load, Path(config)).dataset.build.resolve()
    path = (folder / f"{name}.parquet").resolve()
    if not path.is_relative_to(folder) or not path.is_file():  # "../x" names no table
        raise UserError(f"no table {name} in {folder}: run its stage first; docs/tables.md lists all")
    return read_table(path)


def stage_names(first: str | None, last: str | None) -> list[str]:
    """Return the names of the stages from ``first`` to ``last``, in order; a ``UserError`` where that is none."""
    names = [stage.name for stage in STAGES]
    for name in (first, last):
        if name is not None and name not in names:
            raise UserError(f"no stage {name}; the stages are {', '.join(names)}")
    begin = names.index(first) if first else 0
    end = names.index(last) if last else len(names) - 1  # without --to: the last stage
    if begin > end:
        raise UserError(f"--from {first} comes after --to {last}; the stages are {', '.join(names)}")
    return names[begin : end + 1]
