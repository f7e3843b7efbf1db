"""How time grows with hostile text, in everything that foreign text meets.

Units that could make a pattern backtrack are taken from the patterns themselves: for every compiled expression of our
modules, an example of each part that repeats. Each unit, repeated to sizes that grow fourfold, goes through parsing,
cleaning, captions, answer keys, deduplication and answer reading; an exponent above the limit is printed with the unit.
Each target has its share of time: units are tried in a drawn order until it is spent; how many were tried is printed.
"""

from __future__ import annotations

import argparse
import importlib
import math
import pkgutil
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from re import _constants as c  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from pipeline.patterns import Patterns

COMMON = (
    *" \t\n_＿.。…·-—(（)【[<《、，A1①第不的|$\\图表K+=选",
    *(
        "()",
        "（ ）",
        "A.",
        "A、",
        "A B ",
        "1.",
        "1. ",
        "1\n",
        "12 ",
        "答案",
        "答案：",
        "答案是",
        "故选",
        "第1题",
        "解析：",
    ),
    *("option ", "the answer is ", "not ", "\\boxed{", "**", "见图"),
)
LIMIT = 1.2
_MANY = 8
"""A part that may stand more often than this is tried as a unit of its own."""
_NOTICED = 0.02
"""CPU seconds under which growth says nothing."""
_SCREENED, _SUSPECT = 32_000, 1.1
"""Texts of that many characters are tried with every unit; larger ones where growth is above n^1.1."""
_LONG = 2.0
"""CPU seconds of a text after which no larger one is tried."""


def patterns() -> dict[str, re.Pattern[str]]:
    """Return every compiled expression at the top of a module of ours, by module and name."""
    found: dict[str, re.Pattern[str]] = {}
    for package in ("pipeline", "annotation", "schemas"):
        root = importlib.import_module(package)
        for item in pkgutil.walk_packages(root.__path__, f"{package}."):
            try:
                module = importlib.import_module(item.name)
            except ImportError:  # an extra that is not installed
                continue
            for name, value in vars(module).items():
                compiled = enumerate(_compiled(value))
                found |= {f"{item.name}.{name}.{place}": one for place, one in compiled}
    return found


def _compiled(value: Any) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, Patterns):
        yield from (re.compile(value.whole(text)) for text in _written(value._rows))
    elif isinstance(value, dict):
        yield from (one for item in value.values() for one in _compiled(item))
    elif isinstance(value, tuple | list) and len(value) < 500:
        yield from (one for item in value for one in _compiled(item))


def _written(rows: Any) -> Iterator[str]:
    """Yield the texts of patterns in the rows of a TOML table; a list of strings is one pattern in pieces."""
    if isinstance(rows, str):
        yield rows
    elif isinstance(rows, list) and isinstance(rows[0], str):
        yield "".join(rows)
    elif isinstance(rows, list):
        yield from (row["pattern"] for row in rows)
    else:
        yield from (text for row in rows.values() for text in _written(row))


def units(pattern: re.Pattern[str]) -> set[str]:
    """Return an example of every part of an expression that may repeat without bound, and of the whole."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    found: set[str] = set()
    whole = _example(tree, found)
    found.add(whole[:40])
    found |= {whole[:at] for at in range(1, min(len(whole), 6))}
    return {unit for unit in found if unit}


def _example(tree: Any, found: set[str]) -> str:
    return "".join(_part(kind, value, found) for kind, value in tree)


def _part(kind: Any, value: Any, found: set[str]) -> str:
    if kind in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
        least, most, body = value
        text = _example(body, found)
        if most > _MANY:
            found.add(text)
        return text * max(1, min(least, 4))
    if kind is c.BRANCH:
        texts = [_example(branch, found) for branch in value[1]]
        found |= set(texts[:8])
        return texts[0]
    if kind in (c.SUBPATTERN, c.ATOMIC_GROUP):
        return _example(value[3] if kind is c.SUBPATTERN else value, found)
    if kind is c.IN:
        return _member(value)
    if kind is c.LITERAL:
        return chr(value)
    return "甲" if kind is c.ANY or kind is c.NOT_LITERAL else ""


def _member(items: Any) -> str:
    negated = items[0][0] is c.NEGATE
    categories = {c.CATEGORY_DIGIT: "1", c.CATEGORY_SPACE: " ", c.CATEGORY_WORD: "x"}
    for kind, value in items:
        if negated:
            break
        if kind is c.LITERAL:
            return chr(value)
        if kind is c.RANGE:
            return chr(value[0])
        if kind is c.CATEGORY:
            return categories.get(value, "甲")
    return "甲"


def targets() -> dict[str, Callable[[str], object]]:
    """Return what foreign text goes through, by name."""
    from pipeline.clean import validity
    from pipeline.clean.filters import judge as judge_question
    from pipeline.clean.params import CleanParams
    from pipeline.dedup.keys import with_keys
    from pipeline.evaluate.extraction import extract
    from pipeline.leaks.tokens import tokenise
    from pipeline.parse.answer_cells import Options, read_answer
    from pipeline.parse.keylines import grid, line_pairs
    from schemas.questions import Question

    options = {"A": "青霉素", "B": "链霉素", "C": "红霉素", "D": "四环素"}

    cells = Options(list(options.items()))
    captions = (validity.needs_figure, validity.needs_table, validity.needs_formula)

    def question(stem: str) -> Question:
        return Question.model_validate(
            {"question_id": "q", "document": "d", "section": 1, "number": 1, "question_type": "A1", "stem": stem,
             "content_hash": "x", "answer": ["A"],
             "options": [{"label": label, "text": text} for label, text in options.items()],
             "explanation": stem}
        )  # fmt: skip

    return {
        "parse, one line": lambda text: _paper(f"1. 下列正确的是\nA. 甲\nB. 乙\nC. {text}\nD. 丁\n答案：A\n"),
        "parse, stem": lambda text: _paper(
            f"1. {text}\nA. 甲\nB. 乙\nC. 丙\nD. 丁\n解析：{text}\n2. x\nA. 甲\nB. 乙\n"
        ),
        "parse, lines": lambda text: _paper(
            "1. 下列正确的是\n" + "\n".join(re.findall(r"(?s).{1,60}", text))
        ),
        "parse, key page": lambda text: _paper(
            "1. x\nA. 甲\nB. 乙\n2. y\nA. 甲\nB. 乙\n参考答案\n1. A 2. B\n"
            + "\n".join(re.findall(r"(?s).{1,60}", text))
        ),
        "keys, one line": lambda text: (line_pairs(text), grid([text, text])),
        "keys, a cell": lambda text: read_answer(text, cells),
        "captions": lambda text: [find(question(text), CleanParams()) for find in captions],
        "clean": lambda text: judge_question(question(text), CleanParams()),
        "dedup keys": lambda text: with_keys(Question.to_frame([question(text)])),
        "leaks tokens": lambda text: tokenise([text]),
        "answers, alone": lambda text: extract(text, options),
        "answers, then a letter": lambda text: extract(f"{text}B", options, multiple=True),
        "answers, after a cue": lambda text: extract(f"答案是{text}", options, multiple=False),
    }


def _paper(text: str) -> object:
    from pipeline.parse.finish import finish
    from pipeline.parse.paper import judge, read_paper
    from schemas.documents import Document, Line

    rows = [
        Line.model_validate(
            {"document": "p", "page": 1, "order": order, "text": line, "box": None, "confidence": None,
             "column": 0, "kind": "text"}
        )
        for order, line in enumerate(line for line in text.split("\n") if line.strip())
    ]  # fmt: skip
    paper = read_paper("p", rows)
    judge(paper)
    return finish(paper, Document(document="p", sha256="ab" * 32, format="pdf", pages=1, rows=None))


def exponent(work: Callable[[str], object], unit: str, most: int) -> tuple[float, int, float]:
    """Return the growth between the two largest sizes tried, the larger of them in characters, and its seconds.

    Sizes grow fourfold from 2,000. It stops early where a size is linear enough not to be a suspect.
    """
    size, took = 2_000, _seconds(work, unit, 2_000)
    grows = 0.0
    while size * 4 <= most and took < _LONG:
        before, size = took, size * 4
        took = _seconds(work, unit, size)
        grows = math.log(max(took, 1e-4) / max(before, 1e-4), 4) if took >= _NOTICED else 0.0
        if size >= _SCREENED and grows < _SUSPECT:
            break
    return grows, size, took


def _seconds(work: Callable[[str], object], unit: str, size: int) -> float:
    started = time.process_time()
    work((unit * (size // len(unit) + 1))[:size])
    return time.process_time() - started


def main() -> int:
    """Print what grows faster than the limit; the exit code says whether anything does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=128_000, help="characters of the largest text")
    parser.add_argument("--only", default="", help="targets whose name holds this")
    parser.add_argument("--seconds", type=float, default=120, help="CPU seconds for each target")
    parser.add_argument("--seed", type=int, default=1, help="of the order in which units are tried")
    given = parser.parse_args()
    hostile = sorted({unit for pattern in patterns().values() for unit in units(pattern)} | set(COMMON))
    random.Random(given.seed).shuffle(hostile)
    bad = 0
    for name, work in targets().items():
        if given.only not in name:
            continue
        began, tried, found = time.process_time(), 0, []
        for unit in hostile:
            if time.process_time() - began > given.seconds:
                break
            tried += 1
            grows, size, took = exponent(work, unit, given.most)
            found.append((grows, size, took, unit))
            if grows > LIMIT:
                bad += 1
                print(f"{name:24} n^{grows:.2f}  {took:6.2f} s at {size:7,}  {unit!r}", flush=True)
        grows, size, took, unit = max(found)
        worst = f"at most n^{grows:.2f} ({took:.2f} s at {size:,}, {unit!r})"
        print(f"{name:24} {tried:,} of {len(hostile):,} units tried, {worst}", flush=True)
    print(f"{bad} grow faster than n^{LIMIT}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
