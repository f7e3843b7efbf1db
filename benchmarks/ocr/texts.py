"""Exam questions to print: made from terms by a seeded generator, or read from a JSONL file of one's own."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TERMS = tomllib.loads(Path(__file__).with_name("terms.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Printed:
    """A question as it is printed."""

    stem: str
    options: tuple[tuple[str, str], ...]
    """Letter and text."""
    answer: str | None = None


def generated(seed: int = 0) -> Iterator[Printed]:
    """Endless questions of templates and terms, the same for the same seed. They make no medical sense."""
    rng = random.Random(seed)
    kinds = (TERMS["diseases"], TERMS["signs"], TERMS["drugs"], TERMS["places"])
    while True:
        stem = _filled(rng.choice(TERMS["stems"]), rng)
        texts = _options(rng, rng.choice(kinds))
        options = tuple(zip("ABCDE", texts, strict=False))
        yield Printed(stem, options, rng.choice("ABCDE") if rng.random() < 0.4 else None)


def _options(rng: random.Random, terms: list[str]) -> list[str]:
    chosen = rng.sample(terms, 5)
    style = rng.random()
    if style < 0.2:
        return [f"{term}{rng.choice(TERMS['endings'])}，{_filled(rng.choice(TERMS['tests']), rng)}" for term in chosen]
    if style < 0.3:
        return [f"{rng.randint(1, 99)}.{rng.randint(0, 9)}%" for _ in chosen]
    if style < 0.45:
        return [f"{one}和{rng.choice(terms)}" for one in chosen]
    return chosen


def _filled(template: str, rng: random.Random) -> str:
    def term(kind: str) -> str:
        return rng.choice(TERMS[kind])

    return template.format(
        disease=term("diseases"),
        sign=term("signs"),
        sign2=term("signs"),
        drug=term("drugs"),
        drug2=term("drugs"),
        place=term("places"),
        test=_numbers(term("tests"), rng),
        test2=_numbers(term("tests"), rng),
        age=rng.randint(18, 86),
        year=rng.randint(1998, 2023),
        **_digits(rng),
    )


def _numbers(template: str, rng: random.Random) -> str:
    return template.format(**_digits(rng))


def _digits(rng: random.Random) -> dict[str, int]:
    return {"a": rng.randint(2, 30), "b": rng.randint(60, 180), "c": rng.randint(20, 95), "d": rng.randint(3, 9),
            "e": rng.randint(0, 9)}  # fmt: skip


def read(path: Path) -> Iterator[Printed]:
    """Questions of a JSONL file in CMExam's form: ``Question``, ``Options`` as lines "A text", ``Answer``."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            options = tuple((text[0], text[1:].strip()) for text in row["Options"].split("\n") if text[:1].isalpha())
            yield Printed(row["Question"].strip(), options, None)
