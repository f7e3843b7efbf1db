"""The code reads as plain English, each class has a name of its own, and files stay small."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("pipeline", "annotation", "schemas")
HALF_SENTENCE = re.compile(r'^ *"""(?:What|That|Those|How|Who|Whether|Where|When|As)\b.*', re.MULTILINE)
"""A docstring that names no thing and no action: ``What is left of a line``."""
CLASS = re.compile(r"^ *class (\w+)", re.MULTILINE)
MOST_LINES = 400


def modules(*folders: str) -> Iterator[tuple[str, str]]:
    """Yield names and texts of modules."""
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def test_docstrings_say_what_a_thing_is_or_does() -> None:
    code = modules(*PRODUCT, "benchmarks", "tests")
    assert [(name, found) for name, text in code for found in HALF_SENTENCE.findall(text)] == []


def test_a_class_name_is_defined_once() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for name, text in modules(*PRODUCT):
        for found in CLASS.findall(text):
            places[found].append(name)
    assert {found: names for found, names in places.items() if len(names) > 1} == {}


def test_files_are_small() -> None:
    lengths = {name: text.count("\n") for name, text in modules(*PRODUCT)}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}
