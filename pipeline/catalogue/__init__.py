"""The catalogue of stages, ``stages.toml``. The commands, ``run``, ``status`` and the docs come from it."""

from pkgutil import resolve_name
from typing import Any

from build_dataset.pipeline.stage import Stage
from build_dataset.schemas.data import shipped_toml


def _stage(name: str, row: dict[str, Any]) -> Stage:
    """Return a row with its classes imported; ``check`` and ``target`` are imported when they are called."""
    for key in ("reads", "optional"):  # dedup/merges and dedup/clusters of "dedup/merges clusters"
        parts = (group.partition("/") for group in row.get(key, ()))
        row[key] = tuple(f"{maker}/{table}" for maker, _, tables in parts for table in tables.split())
    row["examples"] = tuple(row.get("examples", ()))
    row["params"] = resolve_name(row["params"])  # class of the options
    row["writes"] = {table: resolve_name(record) for table, record in row.get("writes", {}).items()}
    return Stage(name=name, **row)


_ROWS = shipped_toml("build_dataset.pipeline.catalogue", "stages.toml")
STAGES = tuple(_stage(name, row) for name, row in _ROWS.items())


def stage(name: str) -> Stage:
    """Return the stage of that name."""
    return next(row for row in STAGES if row.name == name)
