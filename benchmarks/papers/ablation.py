"""Ablation: the parser reads papers with each of its patterns and functions switched off, one after the other.

python -m benchmarks.papers.ablation BUILD … [--papers 120] [--seed 0] [--documents 30] [--only NAME]

BUILD is a build folder whose ``ocr`` stage has run: of the sample, of real papers. Generated papers, whole and damaged,
come on top. A switch is tried on documents in which it acts (a pattern matches, a function returns something), up to
``--documents``; the first that is read otherwise shows that it is needed. What is listed changes nothing anywhere.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import build_dataset.pipeline.parse as package
from build_dataset.pipeline import patterns

NOTHING = re.compile(r"(?!)")
Read = Callable[[], str]


@dataclass
class Switch:
    """A pattern or a function that can be switched off."""

    name: str
    off: bool = False
    acted: dict[int, None] = field(default_factory=dict)
    """The documents in which it did something."""


class Trial:
    """All switches, and the document that is being read."""

    def __init__(self) -> None:
        self.switches: dict[str, Switch] = {}
        self.document = 0

    def switch(self, name: str) -> Switch:
        """Return the switch of that name."""
        return self.switches.setdefault(name, Switch(name))


TRIAL = Trial()


class SwitchedPattern:
    """A compiled pattern that matches nothing while its switch is off."""

    def __init__(self, name: str, pattern: re.Pattern[str]) -> None:
        self.compiled, self.own = pattern, TRIAL.switch(f"pattern {name}")

    def __getattr__(self, name: str) -> Any:
        if name not in ("search", "match", "fullmatch", "finditer", "findall", "sub"):
            return getattr(self.compiled, name)

        def call(*arguments: Any, **named: Any) -> Any:
            if self.own.off:
                return getattr(NOTHING, name)(*arguments, **named)
            found = getattr(self.compiled, name)(*arguments, **named)
            if name == "finditer":
                found = [*found]
            if found != arguments[1] if name == "sub" else found:
                self.own.acted[TRIAL.document] = None
            return iter(found) if name == "finditer" else found

        return call


def switched_patterns() -> None:
    """Put a switch into every pattern of ``patterns.toml``, also into those of its tables."""
    plain, compiled = patterns.Patterns.__getattr__, re.compile
    rows: dict[str, str] = {}

    def attribute(self: patterns.Patterns, name: str) -> Any:
        found = SwitchedPattern(f"{self._module}.{name}", plain(self, name))
        setattr(self, name, found)
        return found

    def table(self: patterns.Patterns, name: str) -> dict[str, Any]:
        whole = {key: compiled(self.whole(row)) for key, row in self._rows[name].items()}
        return {key: SwitchedPattern(f"{self._module}.{name}.{key}", one) for key, one in whole.items()}

    def listed(self: patterns.Patterns, name: str) -> list[dict[str, Any]]:
        whole = [{**row, "pattern": self.whole(row["pattern"])} for row in self._rows[name]]
        rows.update({row["pattern"]: f"{self._module}.{name}.{at}" for at, row in enumerate(whole)})
        return whole

    def compile_(pattern: Any, flags: int = 0) -> Any:
        name = rows.get(pattern) if isinstance(pattern, str) else None
        return SwitchedPattern(name, compiled(pattern, flags)) if name else compiled(pattern, flags)

    made = patterns.Patterns.__init__

    def init(self: patterns.Patterns, module: str, *rest: Any, **named: Any) -> None:
        made(self, module, *rest, **named)
        self._module = module.rpartition(".")[2]

    for name, function in (("__init__", init), ("__getattr__", attribute), ("table", table), ("rows", listed)):
        setattr(patterns.Patterns, name, function)
    re.compile = compile_  # type: ignore[assignment]


def neutral(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return what a function gives while it is switched off; None where nothing stands for "no finding"."""
    told = str(inspect.signature(function).return_annotation)
    first = next(iter(inspect.signature(function).parameters), "")
    whole = [str(one.annotation) for one in inspect.signature(function).parameters.values()][:1]
    if told == "None" or told.endswith("| None"):
        return lambda *_, **__: None
    if whole == [told] and first:  # lines in, lines out
        return lambda one, *_, **__: one
    names = {"bool": bool, "str": str, "int": int, "list": list, "set": set, "dict": dict, "tuple": tuple}
    names |= {"Iterable": tuple, "Iterator": tuple, "Sequence": tuple, "frozenset": frozenset, "Doubts": list}
    kind = names.get(told.partition("[")[0].strip("'\""))
    return (lambda *_, **__: kind()) if kind else None


def switched_functions(modules: list[Any]) -> None:
    """Put a switch into every function of the parser that returns a finding, wherever it was imported."""
    for module in modules:
        for name, function in [*vars(module).items()]:
            plain = inspect.unwrap(function) if callable(function) else None
            if not inspect.isfunction(plain) or plain.__module__ != module.__name__:
                continue
            if without := neutral(plain):
                wrapped = _switched(f"function {module.__name__.rpartition('.')[2]}.{name}", function, without)
                for other in modules:
                    for known, value in [*vars(other).items()]:
                        if value is function:
                            setattr(other, known, wrapped)
                        elif isinstance(value, tuple) and any(one is function for one in value):
                            setattr(other, known, tuple(wrapped if one is function else one for one in value))


def switched_checks(judge: Any) -> None:
    """Put a switch into every check of the table."""
    names = (f"check {at} {one.reason}" for at, one in enumerate(judge.CHECKS))
    judge.CHECKS = tuple(
        one._replace(function=_switched(name, one.function, lambda *_: ()))
        for name, one in zip(names, judge.CHECKS, strict=True)
    )


def _switched(name: str, function: Any, without: Callable[..., Any]) -> Any:
    own = TRIAL.switch(name)

    def call(*arguments: Any, **named: Any) -> Any:
        if own.off:
            return without(*arguments, **named)
        found = function(*arguments, **named)
        found = [*found] if inspect.isgenerator(found) else found
        if found is None or (found != without(*arguments, **named) and found != []):
            own.acted[TRIAL.document] = None
        return found

    call.cache_clear = getattr(function, "cache_clear", lambda: None)  # type: ignore[attr-defined]
    return call


def generated(papers: int, seed: int) -> Iterator[Read]:
    """Generated papers, whole and damaged."""
    from benchmarks.papers import habits, silent
    from benchmarks.papers.layouts import LAYOUTS

    random = Random(seed)
    drawn = [*LAYOUTS.values(), *(habits.random_paper(random) for _ in range(papers))]
    for at, paper in enumerate(drawn):
        damage = silent.INJECTIONS[at % len(silent.INJECTIONS)](random, paper)
        state, boxes = random.getstate(), at % 3 > 0

        def read(
            paper: Any = damage.paper or paper, damage: Any = damage, state: Any = state, boxes: bool = boxes
        ) -> str:
            random.setstate(state)
            silent.random = random  # type: ignore[attr-defined]
            return repr(silent.outcome_of(paper, damage, boxes=boxes))

        yield read


def built(folder: Path) -> Iterator[Read]:
    """The papers and banks that a build has read."""
    from build_dataset.pipeline.parse import paper, rows, stage
    from build_dataset.schemas.documents import Document, Line, SourceRow

    tables = {name: pl.read_parquet(folder / "ocr" / f"{name}.parquet") for name in ("documents", "lines", "rows")}
    for document in Document.from_frame(tables["documents"]):
        lines = tables["lines"].filter(document=document.document).sort("page", "order", maintain_order=True)
        found = tables["rows"].filter(document=document.document).sort("row", maintain_order=True)

        def read(document: Document = document, lines: pl.DataFrame = lines, found: pl.DataFrame = found) -> str:
            if found.height:
                return repr(rows.sources_of(SourceRow.from_frame(found), document, {}))
            one = stage.read_paper(document.document, [*Line.from_frame(lines)])
            stage.check_gates(one)
            return repr(paper.finish(one, document))

        yield read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*", type=Path)
    parser.add_argument("--papers", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--documents", type=int, default=30, help="the most documents that a switch is tried on")
    parser.add_argument("--only", default="", help="switches whose names hold this")
    options = parser.parse_args()
    switched_patterns()
    names = [one.name for one in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")]
    modules = [importlib.import_module(name) for name in names]
    switched_functions(modules)
    switched_checks(sys.modules[f"{package.__name__}.judge"])
    reads = [*generated(options.papers, options.seed), *(one for build in options.builds for one in built(build))]
    caches = [one for module in modules for one in vars(module).values() if hasattr(one, "cache_clear")]

    def read(place: int) -> str:
        TRIAL.document = place
        try:
            return reads[place]()
        except Exception as error:  # a function that others rely on is needed
            return f"{type(error).__name__}"

    whole = [read(place) for place in range(len(reads))]
    wanted = [one for name, one in sorted(TRIAL.switches.items()) if options.only in name]
    for one in wanted:
        documents = [*one.acted][:: max(1, len(one.acted) // options.documents)]  # of all kinds
        one.off = True
        for cache in caches:
            cache.cache_clear()
        needed = any(read(place) != whole[place] for place in documents)
        one.off = False
        for cache in caches:
            cache.cache_clear()
        if not needed:
            print(f"{one.name}: changes nothing in {len(documents)} documents", flush=True)
    print(f"{len(wanted)} switches, {len(reads)} documents", file=sys.stderr)


if __name__ == "__main__":
    main()
