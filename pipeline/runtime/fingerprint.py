"""What a stage's result depends on: its inputs, its parameters and the code that it reaches."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from schemas.identity import sha256

_PREFIX = __name__.removesuffix("pipeline.runtime.fingerprint")
OUR_PACKAGES = tuple(f"{_PREFIX}{name}" for name in ("schemas", "pipeline", "annotation"))
"""In the wheel they lie below ``build_dataset``."""
_ROOT = Path(__file__).resolve().parents[2]
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_DOTTED = re.compile(r"[a-z_]+(\.[a-z_]\w*)+")


def fingerprint(target: str, params: Mapping[str, Any], inputs: Mapping[str, str], seed: int) -> str:
    """Hash of everything that can change a stage's result.

    Args:
        target: ``module:function`` of the stage.
        params: semantic parameters.
        inputs: content hash by table, e.g. ``{"ocr/lines": "…"}``.
        seed: of the dataset.
    """
    plain = json.dumps([params, dict(inputs), seed], sort_keys=True, ensure_ascii=False)
    return sha256(code_hash(target.partition(":")[0]), plain)


@cache
def code_hash(module: str) -> str:
    """Return the hash of a module's code, of all of ours that it imports, and of the data files that they open.

    Comments, docstrings and layout are left out: they change no result.
    """
    names = _closure(module)
    reached = {path for name in names if (path := _source(name))}
    reached |= {file for name in names for package in _reached(name).data for file in _data_files(package)}
    reached |= {file for name in names for file in _templates(name)}
    digest = hashlib.sha256()
    for file in sorted(reached):
        content = _code(file) if file.suffix == ".py" else file.read_bytes()
        digest.update(os.path.relpath(file, _ROOT).encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_bytes())


@cache
def _code(file: Path) -> bytes:
    """The syntax tree of a source file without docstrings."""
    tree = _tree(file)
    for node in ast.walk(tree):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree, annotate_fields=False).encode(errors="surrogatepass")


def _closure(module: str) -> set[str]:
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in reached or not _source(name):
            continue
        reached.add(name)
        waiting.extend(_reached(name).modules)
    return reached


@dataclass(frozen=True)
class _Reached:
    """What a module's source mentions."""

    modules: tuple[str, ...]
    data: tuple[str, ...]
    """Packages whose data files it opens with ``importlib.resources.files``."""


@cache
def _reached(module: str) -> _Reached:
    source = _source(module)
    if source is None:
        return _Reached((), ())
    nodes = [*ast.walk(_tree(source))]
    return _Reached(tuple(_imports(nodes)), tuple(_opened(nodes)))


def _imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if _is_ours(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.module and _is_ours(node.module):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]  # a registry's "module:function", imported when needed
            if _DOTTED.fullmatch(name) and _is_ours(name):
                yield name


def _opened(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="files"), args=[ast.Constant(value=str(package))]):
                yield package


def _data_files(package: str) -> Iterator[Path]:
    source = _source(package)
    if source is None:
        return
    for path in source.parent.rglob("*"):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            yield path


def _templates(package: str) -> Iterator[Path]:
    """Those of pages that a package renders (``pipeline.html``), which no call of ``files`` names."""
    source = _source(package)
    if source is not None and source.name == "__init__.py":
        yield from (path for path in (source.parent / "templates").glob("*") if path.is_file())


def _is_ours(module: str) -> bool:
    return f"{module}.".startswith(tuple(f"{package}." for package in OUR_PACKAGES))


@cache
def _source(module: str) -> Path | None:
    """The file of a module of ours; None for what is not a module (a function's name)."""
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin) if spec and spec.origin else None
