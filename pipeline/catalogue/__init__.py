"""The catalogue of stages, ``stages.toml``. The commands, ``run``, ``status`` and the docs come from it."""

import tomllib
from collections.abc import Iterable
from importlib.resources import files
from pkgutil import resolve_name
from typing import Any

from pipeline.stage import Stage

_PREFIX = __name__.rpartition("pipeline")[0]  # of modules in the wheel: "build_dataset."


def _stage(name: str, row: dict[str, Any]) -> Stage:
    """Return a row with its classes imported; ``check`` and ``target`` are imported when they are called."""
    row |= {key: _PREFIX + row[key] for key in ("check", "target") if key in row}  # module:function
    row |= {key: tuple(_references(row.get(key, ()))) for key in ("reads", "optional")}
    row["examples"] = tuple(row.get("examples", ()))
    row["params"] = resolve_name(_PREFIX + row["params"])  # class of the options
    row["writes"] = {table: resolve_name(_PREFIX + record) for table, record in row.get("writes", {}).items()}
    return Stage(name=name, **row)


def _references(groups: Iterable[str]) -> Iterable[str]:
    """Yield ``dedup/merges`` and ``dedup/clusters`` for ``dedup/merges clusters``."""
    for group in groups:
        maker, _, tables = group.partition("/")
        yield from (f"{maker}/{table}" for table in tables.split())


_ROWS = tomllib.loads((files("pipeline.catalogue") / "stages.toml").read_text(encoding="utf-8"))
STAGES = tuple(_stage(name, row) for name, row in _ROWS.items())


def stage(name: str) -> Stage:
    """Return the stage of that name."""
    return next(row for row in STAGES if row.name == name)
