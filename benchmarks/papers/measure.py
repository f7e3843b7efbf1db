"""Measure the parser on papers that have a reference: questions, options, answers, stems, figures.

    python -m benchmarks.papers.measure EXAMS REFERENCE.jsonl [--engine rapidocr] [--errors 5]

EXAMS is a folder with papers and their keys; REFERENCE has one question a line: ``年份`` (民國105年), ``題號``,
``題目``, ``選項A`` …, ``正確答案``, ``答案來源`` (原始, or changed after appeals), ``圖片`` (a list of images).
A paper belongs to a reference when ``YEAR-`` is in its name (tw_med_105-1_…). White space and widths are folded.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from rapidfuzz.distance import Levenshtein

from build_dataset.pipeline.clean.filters import needs_figure
from build_dataset.pipeline.clean.params import CleanParams
from build_dataset.pipeline.config import load
from build_dataset.pipeline.runtime.runner import Runner
from build_dataset.schemas.questions import Question

DIGITAL_STEM, NOISY_TEXT = 0.0, 0.1
"""Character error from which on a stem is listed; and up to which an option counts as read after OCR."""


@dataclass
class Score:
    """Counts over one paper."""

    printed: int = 0
    found: int = 0
    options: int = 0
    answers: int = 0
    both: int = 0
    characters: int = 0
    errors: int = 0
    figures: set[int] = field(default_factory=set)
    flagged: set[int] = field(default_factory=set)
    listed: list[str] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exams", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--engine", help="OCR engine, for papers that are images")
    parser.add_argument("--errors", type=int, default=5, help="how many differences to list for each paper")
    options = parser.parse_args()
    reference = [json.loads(line) for line in options.reference.read_text(encoding="utf-8").splitlines()]
    questions = read(options.exams, options.engine)
    print(f"{'paper':44s} printed found options answers both  stem CER  figures: found/in reference, flagged")
    for document in sorted({question.document for question in questions}):
        rows = [row for row in reference if f"_{row['年份'].strip('民國年')}-" in document]
        if rows:
            own = {question.number: question for question in questions if question.document == document}
            show(document, compare(rows, own), options.errors)


def read(exams: Path, engine: str | None) -> list[Question]:
    """The questions of all papers in a folder, read and parsed in a temporary one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(exams, folder / "raw")
        chosen = f'[ocr]\nengine = "{engine}"\n' if engine else ""
        text = f'[dataset]\nname = "papers"\nraw = "raw"\nbuild = "build"\n{chosen}'
        (folder / "dataset.toml").write_text(text, encoding="utf-8")
        Runner(load(folder / "dataset.toml", {})).run(["ocr", "parse"])
        return list(Question.from_frame(pl.read_parquet(folder / "build" / "parse" / "questions.parquet")))


def compare(rows: Sequence[dict[str, Any]], found: dict[int | None, Question]) -> Score:
    """A paper's questions against its reference."""
    score = Score()
    for row in rows:
        number = row["題號"]
        score.printed += 1
        score.figures |= {number} if row["圖片"] else set()
        question = found.get(number)
        if question is None:
            score.listed.append(f"{number}: not found")
            continue
        score.found += 1
        score.flagged |= {number} if needs_figure(question, CleanParams()) else set()
        _stem(score, number, row["題目"], question.stem)
        options = _options(score, row, question)
        answer = _answer(score, row, question)
        score.options += options
        score.answers += answer
        score.both += options and answer
    return score


def _stem(score: Score, number: int, expected: str, stem: str) -> None:
    wrong = Levenshtein.distance(fold(expected), fold(stem))
    score.characters += len(fold(expected))
    score.errors += wrong
    if wrong > DIGITAL_STEM:
        score.listed.append(f"{number}: stem, {wrong} characters: {_difference(fold(expected), fold(stem))}")


def _options(score: Score, row: dict[str, Any], question: Question) -> bool:
    """Return whether the labels are right and every text is, up to a tenth of its characters."""
    texts = {option.label: fold(option.text) for option in question.options}
    right = list(texts) == list("ABCD")
    for letter in "ABCD":
        expected = fold(str(row[f"選項{letter}"] or ""))
        wrong = Levenshtein.distance(expected, texts.get(letter, ""))
        if wrong > max(1, NOISY_TEXT * len(expected)):
            right = False
            score.listed.append(f"{row['題號']}: option {letter}: reference {expected!r}, read {texts.get(letter)!r}")
    return right


def _answer(score: Score, row: dict[str, Any], question: Question) -> bool:
    """Return whether the answer is that of the reference, or one of those accepted after appeals."""
    stated = set(row["正確答案"] or "") & set("ABCD")
    accepted = {"".join(letters) for letters in question.accepted_answers or []} | {"".join(question.answer or [])}
    right = bool(accepted & stated) if row["答案來源"] == "原始" else question.accepted_answers is not None
    if not right:
        score.listed.append(f"{row['題號']}: answer {row['正確答案']} ({row['答案來源']}), read {sorted(accepted)}")
    return right


def fold(text: str) -> str:
    """Without white space and widths."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def _difference(expected: str, found: str) -> str:
    edits = Levenshtein.editops(expected, found)
    at = max(0, edits[0].src_pos - 8)
    return f"reference …{expected[at : at + 24]}…, read …{found[at : at + 24]}…"


def show(document: str, score: Score, listed: int) -> None:
    """One row, and the first differences under it."""
    flagged = f"{len(score.figures & score.flagged)}/{len(score.figures)}, {len(score.flagged)}"
    extra = sorted(score.flagged - score.figures)
    rate = score.errors / max(score.characters, 1)
    counts = f"{score.printed:7d} {score.found:5d} {score.options:7d} {score.answers:7d} {score.both:4d}"
    print(f"{document:44s} {counts} {rate:8.2%}   {flagged}" + (f" (also {extra})" if extra else ""))
    for line in _first(score.listed, listed):
        print(f"    {line}")


def _first(lines: Iterable[str], count: int) -> list[str]:
    return list(lines)[:count]


if __name__ == "__main__":
    main()
