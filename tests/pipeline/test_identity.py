"""After a release, edits of a bank move no question between splits, and the changelog tells them exactly."""

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from openpyxl import Workbook

from build_dataset.pipeline.export.changes import compare_releases
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import find_reader
from build_dataset.pipeline.parse.row_ids import with_former_names, with_ids
from build_dataset.pipeline.parse.rows import sources_of
from build_dataset.pipeline.releases import hashes_of
from build_dataset.pipeline.split.units import find_splits
from build_dataset.schemas.documents import Document, SourceRow
from build_dataset.schemas.questions import SPLITS, Merge, Question
from build_dataset.schemas.release import ReleasedId, ReleaseRow

TOPICS = ("心绞痛", "肺结核", "胃溃疡", "肾结石", "脑出血", "贫血", "甲亢", "痛风", "骨折", "湿疹", "白内障", "中耳炎")
ASKED = ("首选的药物", "最常见的病因", "确诊的依据", "典型的体征", "主要的并发症", "最有效的预防措施")
Row = dict[str, str]


def bank(size: int, rng: random.Random, start: int = 0) -> list[Row]:
    """Questions that differ in more than a number, with short ids."""
    found = []
    for at in range(start, start + size):
        person = f"患者{rng.randint(20, 80)}岁，{rng.choice(('男', '女'))}性，住院号{rng.randint(10**7, 10**8)}"
        stem = f"{person}，诊断为{rng.choice(TOPICS)}合并{rng.choice(TOPICS)}，{rng.choice(ASKED)}是哪一项？"
        options = [f"{rng.choice(TOPICS)}的处理方案{rng.randint(100, 999)}" for _ in range(4)]
        found.append(
            {"id": str(at + 1), "题目": stem, **dict(zip("ABCD", options, strict=True)), "答案": rng.choice("ABCD")}
        )
    return found


def write(path: Path, rows: Sequence[Row]) -> Path:
    """The bank as CSV or XLSX, by its name."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = [names, *([row.get(name, "") for name in names] for row in rows)]
    if path.suffix == ".xlsx":
        book = Workbook()
        for line in table:
            book.active.append(line)
        book.save(path)
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(table)
    return path


def questions(paths: Sequence[Path], released: pl.DataFrame) -> pl.DataFrame:
    """Run the parse stage on the files."""
    found = []
    for path in paths:
        rows = [*find_reader(path, OcrParams()).rows(path, OcrParams(), [])]
        document = Document(document=path.name, sha256="ab" * 32, format="x", pages=None, rows=len(rows))
        numbered = [SourceRow(document=path.name, row=at, **row._asdict()) for at, row in enumerate(rows, 1)]
        found += sources_of(numbered, document, {})
    named = with_ids(with_former_names(found, released))
    return Question.to_frame(one[0] for source in named for _, one in source.rows)


def release(frame: pl.DataFrame, splits: dict[str, str]) -> dict[str, pl.DataFrame]:
    """The rows of a release, by split."""
    status = {name: "unreviewed" for name in ReleaseRow.polars_schema() if name.endswith("_status")}
    own = frame.select([name for name in ReleaseRow.column_names() if name in frame.columns])
    rows = [{**row, **status} for row in own.iter_rows(named=True)]
    schema = ReleaseRow.polars_schema()
    return {
        split: pl.DataFrame([row for row in rows if splits[row["question_id"]] == split], schema=schema)
        for split in SPLITS
    }


class Edited:
    """A bank under edits, with what a changelog must say of them."""

    def __init__(self, rows: list[Row], rng: random.Random) -> None:
        self.rows, self.rng = rows, rng
        self.name = "bank.csv"
        self.added: set[str] = set()
        self.removed: set[str] = set()
        self.changed: set[str] = set()

    def sort(self) -> None:
        self.rng.shuffle(self.rows)

    def add(self) -> None:
        at = 1000 + len(self.added)
        (row,) = bank(1, self.rng, start=at)
        self.added.add(row["id"])
        self.rows.insert(self.rng.randrange(len(self.rows)), row)

    def remove(self) -> None:
        row = self.rows.pop(self.rng.randrange(len(self.rows)))
        if row["id"] in self.added:
            self.added.discard(row["id"])
            self.added.add(f"gone {row['id']}")  # its number is never dealt again
        else:
            self.changed.discard(row["id"])
            self.removed.add(row["id"])

    def correct(self) -> None:
        row = self.rng.choice(self.rows)
        part = self.rng.choice(("题目", "A", "D"))
        row[part] += self.rng.choice(("（更正）", "。", "等"))
        if row["id"] not in self.added:
            self.changed.add(row["id"])

    def column(self) -> None:
        name = f"备注{self.rng.randint(1, 5)}"
        self.rows[:] = [{name: "x", **row} for row in self.rows]

    def rename(self) -> None:
        self.name = f"题库{self.rng.randint(1, 10**6)}{self.rng.choice(('.csv', '.xlsx'))}"


@pytest.mark.parametrize("own_ids", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_200_edits_move_no_question_and_are_told_exactly(tmp_path, seed, own_ids):
    rng = random.Random(seed)
    rows = bank(150, rng)
    other = write(tmp_path / "other.csv", bank(40, rng))

    def on_disk(name: str, content: Sequence[Row]) -> Path:
        kept = content if own_ids else [{key: cell for key, cell in row.items() if key != "id"} for row in content]
        return write(tmp_path / name, kept)

    first = questions([on_disk("bank.csv", rows), other], ReleasedId.to_frame([]))
    splits = {name: rng.choice(SPLITS) for name in first["question_id"].to_list()}
    parts = release(first, splits)
    old = pl.concat(part.with_columns(split=pl.lit(split)) for split, part in parts.items())
    released = first.select("document", "question_id", hashes_of(first).alias("content_hash"))

    edited = Edited([dict(row) for row in rows], rng)
    steps = (edited.sort, edited.add, edited.remove, edited.correct, edited.column, edited.rename)
    for _ in range(200):
        rng.choice(steps)()
    now = questions([on_disk(edited.name, edited.rows), other], released)

    found = find_splits(now, Merge.to_frame([]), old)
    known = {now["question_id"][at]: SPLITS[number] for at, number in found.items()}
    after = {name: known.get(name, "train") for name in now["question_id"].to_list()}
    counts = compare_releases(old, release(now, after), Merge.to_frame([])).counts()
    added = {name for name in edited.added if not name.startswith("gone")}
    assert counts["moved"] == counts["renamed"] == 0
    expected = (len(added), len(edited.removed), len(edited.changed))
    assert (counts["added"], counts["removed"], counts["changed"]) == expected
    unchanged = set(now["question_id"].to_list()) & splits.keys()
    assert all(known[name] == splits[name] for name in unchanged)


def test_another_bank_with_the_same_short_ids_takes_no_id_of_one_that_is_gone(tmp_path):
    rng = random.Random(7)
    first = questions([write(tmp_path / "bank.csv", bank(30, rng))], ReleasedId.to_frame([]))
    released = first.select("document", "question_id", hashes_of(first).alias("content_hash"))
    now = questions([write(tmp_path / "new.csv", bank(30, rng))], released)
    assert not set(now["question_id"]) & set(first["question_id"])
