"""Fingerprints of stages: hashes of their inputs, parameters and code."""

import ast
import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from build_dataset.schemas.identity import sha256

_NAME = "build_dataset."
OUR_PACKAGES = tuple(_NAME + name for name in ("schemas", "pipeline", "annotation"))
_HOME = Path(__file__).resolve().parents[2]  # what holds them: a clone's root, build_dataset/ of the wheel
_DOTTED = re.compile(r"[a-z_]+(\.[a-z_]\w*)+")
"""A name of a module in a string: ``pipeline.clean.stage`` of ``"build_dataset.pipeline.clean.stage:run"``."""


def fingerprint(target: str, params: Mapping[str, Any], inputs: Mapping[str, str], seed: int) -> str:
    """Return the hash of all that can change a result; ``inputs`` are hashes by table: ``{"ocr/lines": "…"}``."""
    plain = json.dumps([params, dict(inputs), seed], sort_keys=True, ensure_ascii=False)
    return sha256(code_hash(target.partition(":")[0]), plain)


def code_hash(module: str) -> str:
    """Return the hash of a module's code, of all of ours that it imports, and of the data files that they open.

    Comments, docstrings and layout are left out: they change no result. Reading all modules takes 2 s, so hashes
    are kept beside the bytecode that Python keeps, under a hash of every file of our packages. In one process the hash
    stays: under another one a run would not find the pages that it read a moment ago.
    """
    return _kept_hash(module, _state())


@cache
def _kept_hash(module: str, state: str) -> str:
    known = _read_cache()
    hashes = known.get("hashes", {}) if known.get("state") == state else {}
    if module not in hashes:
        hashes[module] = _code_hash(module)
        path = _cache_file()
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        if not sys.dont_write_bytecode:  # python -B, PYTHONDONTWRITEBYTECODE
            with suppress(OSError):  # an installation may be read-only
                path.parent.mkdir(exist_ok=True)
                temporary.write_text(json.dumps({"state": state, "hashes": hashes}), encoding="utf-8")
                temporary.replace(path)  # readers see one version or the other
    digest: str = hashes[module]
    return digest


@cache
def _state() -> str:
    """Return the hash of all files of our packages as they stand, and of the Python that compiles them."""
    digest = hashlib.sha256(sys.version.encode())  # another Python compiles another tree
    for package in OUR_PACKAGES:
        for file in sorted(_place(package).rglob("*")):
            if _is_content(file):
                digest.update(file.relative_to(_HOME).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _is_content(file: Path) -> bool:
    return file.suffix != ".pyc" and file.parent.name != "__pycache__" and file.is_file()


def _cache_file() -> Path:
    return _place(OUR_PACKAGES[0]) / "__pycache__" / "code-hashes.json"


def _read_cache() -> dict[str, Any]:
    content: Any = None
    with suppress(OSError, ValueError):
        content = json.loads(_cache_file().read_text(encoding="utf-8"))
    return content if isinstance(content, dict) else {}


def _code_hash(module: str) -> str:
    contents: dict[Path, bytes] = {}
    for read in _closure(module).values():
        contents[read.file] = read.digest
        homes = (source.parent for package in read.opens if (source := _source(package)))
        data = [file for home in homes for file in home.rglob("*") if file.suffix != ".py" and _is_content(file)]
        if read.file.name == "__init__.py":  # may have pages to render, which no call of ``files`` names
            data += [path for path in (read.file.parent / "templates").glob("*") if path.is_file()]
        contents |= {file: file.read_bytes() for file in data}
    digest = hashlib.sha256()
    for file, content in sorted(contents.items()):  # by path: the same on every machine
        digest.update(file.relative_to(_HOME).as_posix().encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


@dataclass(frozen=True)
class _Module:
    """A module of ours."""

    file: Path
    digest: bytes  # hash of its syntax tree without docstrings, which knows neither comments nor layout
    mentions: frozenset[str]
    """Names of modules that it imports or names in strings (``f"{__name__}.{one}"``: all beside it); some are none."""
    opens: frozenset[str]  # packages whose data files it opens with `files` or `shipped_toml`


@cache
def _module(name: str) -> _Module | None:
    """Return a module of ours; None for any other name, as that of a function."""
    file = _source(name)
    if file is None:
        return None
    tree = _DropDocstrings().visit(ast.parse(file.read_bytes()))
    mentions, opens = set[str](), set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):  # import pipeline.text
                mentions |= {imported.name for imported in names}
            case ast.ImportFrom(module=str(origin), names=names):  # may name a module or a function of one
                mentions |= {origin, *(f"{origin}.{imported.name}" for imported in names)}
            case ast.Call(func=ast.Name(id="files" | "shipped_toml"), args=[ast.Constant(value=str(package)), *_]):
                opens.add(package)
            case ast.Call(func=ast.Name(id="Patterns"), args=[ast.Name(id="__name__")]):
                opens.add(name.rpartition(".")[0])
            case ast.JoinedStr(values=[ast.FormattedValue(value=ast.Name(id="__name__")), *_]):  # any module beside it
                mentions |= {f"{name}.{path.stem}" for path in file.parent.glob("*.py")}
            case ast.Constant(value=str(text)) if _DOTTED.fullmatch(target := text.partition(":")[0]):
                mentions.add(target)
    digest = hashlib.sha256(ast.dump(tree).encode(errors="surrogatepass")).digest()
    return _Module(file, digest, frozenset(mentions), frozenset(opens))


class _DropDocstrings(ast.NodeTransformer):
    """Removes statements that are mere strings: docstrings, and those below fields."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(getattr(node.value, "value", None), str) else node


def _closure(module: str) -> dict[str, _Module]:
    """Return the modules of ours that a module reaches, itself included, by name."""
    reached: dict[str, _Module] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in reached and (read := _module(name)):
            reached[name] = read
            waiting.extend(read.mentions)  # names that are no module end there
    return reached


@cache
def _source(module: str) -> Path | None:
    """Return the file of a module of ours, or None; asking the import system would import packages on the way."""
    if not f"{module}.".startswith(tuple(f"{package}." for package in OUR_PACKAGES)):
        return None
    place = _place(module)
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


def _place(module: str) -> Path:
    """Return where a module lies, without the ending: ``pipeline/text`` of ``pipeline.text``."""
    return _HOME.joinpath(*module.removeprefix(_NAME).split("."))
