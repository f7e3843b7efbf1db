"""Patterns kept as data: each compiles, each is used, and a name that is none is an error."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from pipeline.patterns import Patterns
from pipeline.runtime.fingerprint import _module

HOME = Path(__file__).resolve().parents[2]
AREAS = ("pipeline.parse", "pipeline.ocr", "pipeline.ocr.readers")
TABLES = {
    f"{area}.{name}": rows
    for area in AREAS
    for name, rows in tomllib.loads(
        HOME.joinpath(*area.split("."), "patterns.toml").read_text("utf-8")
    ).items()
    if name != "fragments"
}


@pytest.mark.parametrize("module", sorted(TABLES))
def test_every_pattern_of_a_module_compiles_and_is_used(module):
    patterns, rows = Patterns(module), TABLES[module]
    source = HOME.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")
    for name, row in rows.items():
        if name == "fragments":
            used = [str(rows)] * len(row)
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
        _ = Patterns("pipeline.parse.heads").not_there


@pytest.mark.parametrize("area", AREAS)
def test_a_changed_pattern_makes_the_stages_that_use_it_stale(area):
    modules = {module for module in TABLES if module.rpartition(".")[0] == area}
    assert {area} == {package for module in modules for package in _module(module).opens}
