"""Measure how time grows with the length of hostile text, in all code that reads foreign text.

Units that could make a pattern backtrack are taken from the patterns themselves: for every compiled expression of our
modules, an example of each part that repeats. Every unit goes through parsing, cleaning, captions, answer keys,
deduplication and answer reading twice, repeated to 1,000 and to 4,000 characters. Units that grow there, and one drawn
unit in eighty, go on to sizes that grow fourfold; an exponent above the limit is printed with the unit. Whole papers of
many lines, with places on pages, are measured in the same way.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import math
import pkgutil
import random
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from re import (
    _constants as c,  # type: ignore[attr-defined]
    _parser,  # type: ignore[attr-defined]
)
from typing import Any

from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import Box, Document, Line, LineKind

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
_SMALL, _SUSPECT, _DRAWN = 1_000, 1.15, 80
"""Texts of 1,000 and 4,000 characters are tried with every unit; larger ones where growth is above n^1.15 or time above
three times the usual, and for one unit in eighty."""
_LONG = 2.0
"""CPU seconds of a text after which no larger one is tried."""


def patterns() -> dict[str, re.Pattern[str]]:
    """Return every compiled expression at the top of a module of ours, by module and name."""
    found: dict[str, re.Pattern[str]] = {}
    for package in ("build_dataset.pipeline", "build_dataset.annotation", "build_dataset.schemas"):
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
    from build_dataset.pipeline.clean import filters
    from build_dataset.pipeline.clean.params import CleanParams
    from build_dataset.pipeline.dedup.keys import with_keys
    from build_dataset.pipeline.evaluate.extraction import extract
    from build_dataset.pipeline.leaks.overlap import tokenise
    from build_dataset.pipeline.parse.answer_cells import Options, read_answer
    from build_dataset.pipeline.parse.keylines import grid, line_pairs
    from build_dataset.schemas.questions import Question

    options = {"A": "青霉素", "B": "链霉素", "C": "红霉素", "D": "四环素"}

    cells = Options(list(options.items()))
    captions = (filters.needs_figure, filters.needs_table, filters.needs_formula)

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
        "parse, lines": lambda text: _paper("1. 下列正确的是\n" + "\n".join(re.findall(r"(?s).{1,60}", text))),
        "parse, key page": lambda text: _paper(
            "1. x\nA. 甲\nB. 乙\n2. y\nA. 甲\nB. 乙\n参考答案\n1. A 2. B\n"
            + "\n".join(re.findall(r"(?s).{1,60}", text))
        ),
        "keys, one line": lambda text: (line_pairs(text), grid([text, text])),
        "keys, a cell": lambda text: read_answer(text, cells),
        "captions": lambda text: [find(question(text), CleanParams()) for find in captions],
        "clean": lambda text: filters.judge_question(question(text), CleanParams()),
        "dedup keys": lambda text: with_keys(Question.to_frame([question(text)])),
        "leaks tokens": lambda text: tokenise([text]),
        "answers, alone": lambda text: extract(text, options),
        "answers, then a letter": lambda text: extract(f"{text}B", options, multiple=True),
        "answers, after a cue": lambda text: extract(f"答案是{text}", options, multiple=False),
    }


MEETS = {
    "parse": ("build_dataset.pipeline.parse", "build_dataset.pipeline.claims", "build_dataset.pipeline.text"),
    "keys": ("build_dataset.pipeline.parse",),
    "captions": ("build_dataset.pipeline.clean",),
    "clean": ("build_dataset.pipeline.clean", "build_dataset.pipeline.text"),
    "dedup": ("build_dataset.pipeline.dedup", "build_dataset.pipeline.text"),
    "leaks": ("build_dataset.pipeline.leaks", "build_dataset.pipeline.text"),
    "answers": ("build_dataset.pipeline.evaluate", "build_dataset.pipeline.claims"),
}
"""Modules whose patterns a target's text meets, by the target's first word; their units are tried with it."""


def _paper(text: str) -> None:
    rows = [
        Line(document="p", page=1, order=at, text=line, box=None, confidence=None, column=0, kind=LineKind.TEXT)
        for at, line in enumerate(line for line in text.split("\n") if line.strip())
    ]
    _parse(rows)


def _parse(rows: list[Line]) -> None:
    from build_dataset.pipeline.parse.paper import finish
    from build_dataset.pipeline.parse.stage import check_gates, read_paper

    paper = read_paper("p", rows)
    check_gates(paper)
    finish(paper, Document(document="p", sha256="ab" * 32, format="pdf", pages=1, rows=None))


def suspect(work: Callable[[str], object], unit: str, usual: list[float]) -> bool:
    """Return whether a unit may grow faster than its length: by two small sizes, measured again where they say so."""
    small, large = _seconds(work, unit, _SMALL), _seconds(work, unit, 4 * _SMALL)
    usual.append(large)
    slow = large > 3 * statistics.median(usual)
    if not slow and large < small * 4**_SUSPECT:
        return False
    small, large = (min(_seconds(work, unit, size) for _ in range(3)) for size in (_SMALL, 4 * _SMALL))
    return large > 3 * statistics.median(usual) or (large > _NOTICED and large > small * 4**_SUSPECT)


def exponent(work: Callable[[str], object], unit: str, most: int) -> tuple[float, int, float]:
    """Return the growth between the two largest sizes tried, the larger of them in characters, and its seconds.

    Sizes grow fourfold. Where the last growth is above the limit both sizes are measured again: others may be at work.
    """
    size, took, before = _SMALL, _seconds(work, unit, _SMALL), 0.0
    while size * 4 <= most and took < _LONG:
        before, size = took, size * 4
        took = _seconds(work, unit, size)
    if took > _NOTICED and math.log(took / max(before, 1e-4), 4) > LIMIT:
        before = min(before, *(_seconds(work, unit, size // 4) for _ in range(2)))
        took = min(took, *(_seconds(work, unit, size) for _ in range(2)))
    return math.log(took / max(before, 1e-4), 4) if took >= _NOTICED else 0.0, size, took


def _seconds(work: Callable[[str], object], unit: str, size: int) -> float:
    text = (unit * (size // len(unit) + 1))[:size]
    return _timed(lambda: work(text))


def _timed(work: Callable[[], object]) -> float:
    """Return the CPU seconds of a call that finds nothing remembered of the texts before it."""
    for name, module in list(sys.modules.items()):
        for value in vars(module).values() if name.startswith("build_dataset.pipeline.") else ():
            if isinstance(value, functools._lru_cache_wrapper) and value.cache_parameters()["maxsize"]:
                value.cache_clear()
    started = time.thread_time()
    work()
    return time.thread_time() - started


_OPTIONS = "A. 甲{0}\nB. 乙{0}\nC. 丙{0}\nD. 丁{0}"
PAPERS = {
    "numbers that run on": "{0}. 关于甲{0}\n" + _OPTIONS,
    "one number": "1. 甲\nA. 甲\nB. 乙",
    "every third number": "{3}. 关于甲{0}\n" + _OPTIONS,
    "answers, explanations": "{0}. 关于甲{0}\n" + _OPTIONS + "\n答案：A\n解析：因为甲",
    "sections": "一、单选题\n1. 关于甲{0}\n" + _OPTIONS + "\n3. 关于甲{0}\n" + _OPTIONS,
    "shared cases": "（{0}～{1}题共用题干）\n男，45岁。上腹痛\n{0}. 关于甲\nA. 甲\nB. 乙\n{1}. 乙\nA. 甲\nB. 乙",
    "numbers of others": "{7}. 关于甲{0}\nA. 甲{0}\nB. 乙{0}\nC. 丙",
    "blanks": "（{7}）甲乙丙（{7}）A. 甲",
    "as above": "{0}. 承第1题，甲{0}\n" + _OPTIONS,
    "feet": "{0}. 关于甲{0}\n" + _OPTIONS + "\n本站版权所有归我",
    "keys": "{0}. A {1}. B",
    "problems": "试题一（共15分）\n甲\n乙",
}
"""Parts of papers: {0} is the number of the part, {1} the next, {3} three times and {7} the rest by seven."""


def paper_lines(part: str, lines: int) -> list[Line]:
    """Return a paper of a part repeated, forty lines a page, each with its place."""
    size = part.count("\n") + 1
    parts = (part.format(at, at + 1, 0, 3 * at, 0, 0, 0, at % 7) for at in range(1, lines // size + 2))
    return [
        Line(
            document="p", page=1 + at // 40, order=at, text=text, confidence=None, column=0, kind=LineKind.TEXT,
            box=Box(x0=50, x1=50 + 10 * min(len(text), 40), y0=20 + 18 * (at % 40), y1=34 + 18 * (at % 40)),
        )
        for at, text in enumerate("\n".join(parts).split("\n")[:lines])
    ]  # fmt: skip


def paper_growth(part: str, lines: int) -> tuple[float, float]:
    """Return the growth of parsing from a quarter of so many lines to all of them, and the seconds of all."""
    small, large = paper_lines(part, lines // 4), paper_lines(part, lines)
    before, took = (min(_timed(lambda rows=rows: _parse(rows)) for _ in range(2)) for rows in (small, large))
    return math.log(took / before, 4), took


def main() -> int:
    """Print what grows faster than the limit; the exit code says whether anything does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=128_000, help="characters of the largest text")
    parser.add_argument("--lines", type=int, default=6_000, help="of the largest paper")
    parser.add_argument("--only", default="", help="targets whose name holds this")
    parser.add_argument("--seed", type=int, default=1, help="of the units that are drawn")
    given = parser.parse_args()
    known = {name: units(pattern) for name, pattern in patterns().items()}
    bad = 0
    for name, work in targets().items():
        met = MEETS[name.split(",")[0].split()[0]]
        hostile = sorted({unit for at, found in known.items() if at.startswith(met) for unit in found} | {*COMMON})
        drawn = set(random.Random(given.seed).sample(hostile, len(hostile) // _DRAWN))
        usual: list[float] = []
        if given.only in name:
            work(hostile[0])  # what is compiled or loaded once
            looked = [unit for unit in hostile if suspect(work, unit, usual) or unit in drawn]
            found = [(*exponent(work, unit, given.most), unit) for unit in looked]
            bad += sum(grows > LIMIT for grows, *_ in found)
            for grows, size, took, unit in sorted(found)[-3:]:
                print(f"{name:24} n^{grows:.2f}  {took:6.2f} s at {size:7,}  {unit!r}", flush=True)
            high = sum(grows > LIMIT for grows, *_ in found)
            print(f"{name:24} {len(hostile):,} units, {len(looked)} at full size, {high} above n^{LIMIT}", flush=True)
    for name, part in PAPERS.items() if given.only in "papers" else ():
        grows, took = paper_growth(part, given.lines)
        bad += grows > LIMIT
        print(f"papers, {name:24} n^{grows:.2f}  {took:6.2f} s at {given.lines:,} lines", flush=True)
    print(f"{bad} grow faster than n^{LIMIT}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
