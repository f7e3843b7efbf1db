"""A paper that was read and parsed, as a build folder, in a second and without processes."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pymupdf
import pytest

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.stage import run as read
from build_dataset.pipeline.parse.params import ParseParams
from build_dataset.pipeline.parse.stage import run as parse
from build_dataset.pipeline.stage import Result
from build_dataset.schemas.documents import RawFile
from build_dataset.schemas.questions import Rejection, ReviewItem

TITLE = "内科学练习"
PROSE = "下列关于急性胃炎的叙述哪一项是正确的"


@dataclass(frozen=True)
class Built:
    """A paper's place and the results of reading it."""

    raw: Path
    build: Path


@pytest.fixture(scope="session")
def paper() -> tuple[list[str], bytes]:
    """The lines of five questions, one without options, and a PDF of two pages with one question over the break."""
    lines = [TITLE]
    for number in range(1, 6):
        lines.append(f"{number}. {PROSE}{'<b>&' if number == 1 else ''}")
        lines += [] if number == 3 else [f"{letter}. 选项{letter}{number}" for letter in "ABCDE"]
        lines.append("答案：B")
    document = pymupdf.open()
    write(document, lines[:22])
    write(document, lines[22:])
    document.subset_fonts()
    return lines, document.tobytes(garbage=3, deflate=True)


@pytest.fixture
def built(context, paper: tuple[list[str], bytes]) -> Built:
    """The paper as a PDF and as text, read and parsed."""
    lines, content = paper
    (context.raw / "paper.pdf").write_bytes(content)
    (context.raw / "notes.txt").write_text("\n".join(lines), encoding="utf-8")
    files = [file_row(path, context.raw) for path in sorted(context.raw.iterdir())]
    done = read({"files": RawFile.to_frame(files)}, OcrParams(), context)
    publish(context.build, "ocr", done)
    publish(context.build, "parse", parse(done.tables, ParseParams(), context))
    return Built(context.raw, context.build)


def write(document: pymupdf.Document, lines: list[str]) -> None:
    page = document.new_page(width=595, height=842)
    writer = pymupdf.TextWriter(page.rect)
    font = pymupdf.Font("cjk")
    for row, line in enumerate(lines):
        writer.append((80, 100 + 25 * row), line, font=font, fontsize=11)
    writer.write_text(page)


def file_row(path: Path, raw: Path) -> RawFile:
    content = path.read_bytes()
    name = path.relative_to(raw).as_posix()
    return RawFile(document=name, sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))


def publish(build: Path, stage: str, result: Result) -> None:
    """Write a result as the runner does, without its fingerprints."""
    folder = build / stage
    folder.mkdir()
    tables: dict[str, pl.DataFrame] = {
        **result.tables,
        "rejects": Rejection.to_frame(result.rejects),
        "review": ReviewItem.to_frame(result.review),
    }
    for name, frame in tables.items():
        frame.write_parquet(folder / f"{name}.parquet")
    (folder / "manifest.json").write_text(json.dumps({"facts": result.facts}), encoding="utf-8")


@pytest.fixture(scope="session")
def flips() -> Callable[..., list[object]]:
    """The values of a sweep at which a result differs from that of the value before."""

    def found(result: Callable[[float], object], values: Sequence[float]) -> list[object]:
        results = [result(value) for value in values]
        pairs = zip(results, results[1:], values[1:], strict=False)
        return [value for before, after, value in pairs if before != after]

    return found
