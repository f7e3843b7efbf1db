"""Patterns kept as data: each compiles, each is used, and a name that is none is an error."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from pipeline.patterns import Patterns
from pipeline.runtime.fingerprint import _module

FOLDER = Path(__file__).resolve().parents[2] / "pipeline" / "parse"
TABLES = tomllib.loads((FOLDER / "patterns.toml").read_text(encoding="utf-8"))
MODULES = sorted(TABLES.keys() - {"fragments"})


@pytest.mark.parametrize("module", MODULES)
def test_every_pattern_of_a_module_compiles_and_is_used(module):
    patterns, rows = Patterns(module), TABLES[module]
    source = (FOLDER / f"{module}.py").read_text(encoding="utf-8")
    for name, row in rows.items():
        if name == "fragments":
            used = [str(TABLES[module])] * len(row)
            assert all(f"@{part}@" in text or part in source for part, text in zip(row, used, strict=True))
        elif isinstance(row, dict):
            assert patterns.table(name)
            assert f'"{name}"' in source
        elif isinstance(row, list) and isinstance(row[0], dict):
            assert all(re.compile(one["pattern"]) for one in patterns.rows(name))
            assert f'"{name}"' in source
        else:
            assert getattr(patterns, name).pattern
            assert f"_P.{name}" in source, f"{module}.{name} has no user"


def test_a_pattern_that_is_not_there_is_an_error():
    with pytest.raises(AttributeError):
        _ = Patterns("heads").not_there


def test_a_changed_pattern_makes_the_stages_that_use_it_stale():
    assert _module("pipeline.patterns").opens == {"pipeline.parse"}
