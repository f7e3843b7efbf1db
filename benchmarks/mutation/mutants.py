"""Small wrong changes of the code, and a random draw of them."""

from __future__ import annotations

import ast
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("pipeline", "annotation", "schemas")
COMPARED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
COUNTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*"}


@dataclass(frozen=True)
class Mutant:
    """One change: the text from ``start`` to ``end`` (character offsets) of a file becomes ``after``."""

    path: str
    line: int
    kind: str
    start: int
    end: int
    before: str
    after: str


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a module, in the order of its syntax tree."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def at(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def span(node: ast.expr) -> tuple[int, int]:
        return at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0)

    def text(node: ast.expr) -> str:
        return source[slice(*span(node))]

    without_effect = {id(inner) for node in ast.walk(tree) for inner in (*_annotation(node), *_declaration(node))}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    formatted = {id(inner) for node in texts for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in without_effect:
            continue
        for kind, after in _changes(node, text):
            assert isinstance(node, ast.expr)
            if id(node) not in formatted or _is(node, text(node)):
                yield Mutant(str(path.relative_to(ROOT)), node.lineno, kind, *span(node), text(node), after)


def _is(node: ast.expr, text: str) -> bool:
    """Return whether a text is that of a node: inside an f-string, Python 3.11 gives false places."""
    try:
        return ast.dump(ast.parse(f"({text})", mode="eval").body) == ast.dump(node)
    except SyntaxError:
        return False


def _annotation(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of type annotations: a change there changes nothing at run time."""
    for name in ("annotation", "returns"):
        found = getattr(node, name, None)
        if isinstance(found, ast.AST):
            yield from ast.walk(found)


DECLARATIONS = {"frozen", "slots", "strict", "maxsize"}
"""Keywords of ``dataclass``, ``zip`` and ``lru_cache`` that change no result of right code."""


def _declaration(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the values of such keywords."""
    if isinstance(node, ast.keyword) and node.arg in DECLARATIONS:
        yield node.value


def _joined(node: ast.BinOp) -> bool:
    """Return whether an operator joins texts, paths or lists: another one fails wherever the line runs."""
    return any(
        isinstance(side, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _changes(node: ast.AST, text: Callable[[ast.expr], str]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each change of a node."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        yield "comparison", f"({text(node.left)}) {COMPARED[type(node.ops[0])]} ({text(node.comparators[0])})"
    elif isinstance(node, ast.BoolOp):
        joined = " or " if isinstance(node.op, ast.And) else " and "
        yield "boolean", "(" + joined.join(f"({text(value)})" for value in node.values) + ")"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "negation", f"bool({text(node.operand)})"
    elif isinstance(node, ast.BinOp) and type(node.op) in COUNTED and not _joined(node):
        yield "arithmetic", f"({text(node.left)}) {COUNTED[type(node.op)]} ({text(node.right)})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", str(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield "constant", str(node.value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        yield "constant", repr(round(node.value * 1.2 or 0.1, 6))


def draw(under: Sequence[str], sample: int, seed: int) -> list[Mutant]:
    """Return mutants in random order, from each folder as many as its share of the lines of code."""
    folders: dict[str, list[Mutant]] = defaultdict(list)
    lines: Counter[str] = Counter()
    parts = [ROOT / part for part in under]
    for path in sorted({path for part in parts for path in ([part] if part.is_file() else part.rglob("*.py"))}):
        folder = str(path.parent.relative_to(ROOT))
        folders[folder].extend(mutants(path))
        lines[folder] += len(path.read_text(encoding="utf-8").splitlines())
    drawn: list[Mutant] = []
    for folder, found in folders.items():
        count = min(len(found), round(sample * lines[folder] / lines.total()))
        drawn.extend(random.Random(f"{seed} {folder}").sample(found, count))
    random.Random(seed).shuffle(drawn)
    return drawn
