"""The workbook of what waits: decisions come back to the question that they were made on, or are told by row."""

import csv
import io
import re
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import openpyxl
import polars as pl
import pytest

from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.clean.corrections import patch_questions
from build_dataset.pipeline.clean.filters import low_confidence
from build_dataset.pipeline.clean.params import CleanParams
from build_dataset.pipeline.cli.language import MessageLanguage, choose, translated
from build_dataset.pipeline.config import load
from build_dataset.pipeline.review import decisions, folder, waiting
from build_dataset.pipeline.review.decisions import import_decisions
from build_dataset.pipeline.review.folder import count_by_reason
from build_dataset.pipeline.review.waiting import Waiting, waiting_rows, workbook
from build_dataset.pipeline.review.workbook import row_pixels
from build_dataset.pipeline.runtime.publish import find_table, read_table
from build_dataset.pipeline.runtime.runner import Runner
from build_dataset.pipeline.runtime.sources import SETTLED
from build_dataset.pipeline.set_aside import source_losses
from build_dataset.schemas.documents import UnsureCharacter
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Question, ReviewItem
from tests.conftest import ROOT

BY = "li"
NOT_ITS_OWN = "to be kept, but text, key or explanation are not its own"
SHOWN = {name: head for name, (head, _) in waiting.COLUMNS.items() if name != "proposal"}  # nobody proposed anything
COLUMNS, HEADS = [*SHOWN], [*SHOWN.values()]


@pytest.fixture(scope="module")
def strict_build(once, sample_build) -> Path:
    """The sample's build in which every question of a scan that is not quite sure waits."""

    def make(folder: Path) -> None:
        for name in ("ocr", "parse"):
            shutil.copytree(sample_build / name, folder / name)
        Runner(load(ROOT / "dataset.toml", {"dataset.build": str(folder), "clean.max_wrong": 0.0})).run(
            ["clean", "dedup"]
        )

    return once("strict", make)


@pytest.fixture
def build(context, strict_build):
    """A context whose build folder is a copy of it."""
    for name in ("ocr", "parse", "clean", "dedup"):
        shutil.copytree(strict_build / name, context.build / name)
    return replace(context, raw=ROOT / "raw" / "sample" / "papers")


@pytest.fixture
def book(build, tmp_path) -> Path:
    path = tmp_path / "waiting.xlsx"
    content, questions, without = workbook(build)
    assert (questions, without) == (len(waiting_rows(build.build)[0]), 0)
    path.write_bytes(content)
    return path


@pytest.fixture
def others(build) -> int:
    """The number of rows beside one."""
    return len(waiting_rows(build.build)[0]) - 1


@pytest.fixture
def own(build) -> Waiting:
    """The first question that waits for a character that may be misread."""
    return next(each for each in waiting_rows(build.build)[0] if each.found[0][0] == "low_confidence")


@pytest.fixture
def name(own) -> str:
    """Its id."""
    return own.question.question_id


def rewrite(build, own: Waiting, detail: str | None = None, **fields: object) -> Question:
    """Give the question that waits other fields, and its reason another detail; return it."""
    path = build.build / "clean" / "review.parquet"
    question = own.question.model_copy(update=fields)
    told = {"item": question.model_dump_json()} | ({"detail": detail} if detail else {})
    items = ReviewItem.from_frame(read_table(path))
    rows = [item.model_copy(update=told if item.item_id == question.question_id else {}) for item in items]
    ReviewItem.to_frame(rows).write_parquet(path)
    return question


def edit(path: Path, *changes: tuple[str, str, object]) -> None:
    """Write cells of a workbook: the question's id, the column, the value."""
    opened = openpyxl.load_workbook(path)
    sheet = opened[waiting.SHEET]
    rows = {sheet.cell(row, COLUMNS.index("id") + 1).value: row for row in range(2, sheet.max_row + 1)}
    for question_id, column, value in changes:
        sheet.cell(rows[question_id], COLUMNS.index(column) + 1).value = value
    opened.save(path)


def ids(build) -> dict[str, str]:
    """Return the waiting questions by their first reason; those of one reason in their order."""
    found: dict[str, str] = {}
    for each in waiting_rows(build.build)[0]:
        found.setdefault(each.found[0][0], each.question.question_id)
    return found


def said(build) -> dict[tuple[str, str], str | None]:
    """Return what corrections say, by question and field."""
    rows = read_table(build.build / folder.FOLDER / "corrections.parquet")
    assert set(rows["status"]) <= {"accepted"}
    return {(row["question_id"], row["field"]): row["after"] for row in rows.iter_rows(named=True)}


def take(build, path: Path) -> decisions.Decided:
    return import_decisions([path], BY, ReviewParams(), build)


def test_the_worst_file_comes_first_and_every_reason_says_what_to_do(book):
    sheet = openpyxl.load_workbook(book)[waiting.SHEET]
    rows = list(sheet.iter_rows(values_only=True))
    assert list(rows[0]) == HEADS
    files = [row[COLUMNS.index("file")].partition(" p. ")[0] for row in rows[1:]]
    assert files[:4] == ["scan-2024-03.pdf"] * 4
    for row in rows[1:]:
        chinese, english = row[COLUMNS.index("todo")].splitlines()[:2]
        assert not chinese.isascii()
        assert english.isascii() or "⁹" in english


def test_scanned_questions_show_their_page(book):
    sheet = openpyxl.load_workbook(book)[waiting.SHEET]
    assert len(sheet._images) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("word", ["保留 keep", "保留", "Keep", "√", "是", 1, True])
def test_a_kept_question_is_released_as_it_stands(build, book, others, name, word):
    edit(book, (name, "decision", word))
    outcome = take(build, book)
    assert (dict(outcome.decided), outcome.notes) == ({"keep": 1, "open": others}, [])
    assert said(build) == {(name, "verdict"): "keep"}


def test_a_correction_changes_the_question_and_nothing_else(build, book, others, own, name):
    edit(book, (name, "decision", "改正"), (name, "text", own.base.text.replace("\nA. ", "\nA. 改")))
    assert dict(take(build, book).decided) == {"correct": 1, "open": others}
    questions = read_table(build.build / "parse" / "questions.parquet")
    corrections = read_table(build.build / folder.FOLDER / "corrections.parquet")
    patched = patch_questions(questions, corrections).questions
    changed = [
        (before["question_id"], after["options"][0]["text"])
        for before, after in zip(questions.iter_rows(named=True), patched.iter_rows(named=True), strict=True)
        if before != after
    ]
    assert changed == [(name, f"改{own.question.options[0].text}")]


@pytest.fixture
def explained(build, own, name) -> Waiting:
    """A waiting question with an explanation, of a case that others share."""
    case, texts = "一段多余的病例", [option.text for option in own.question.options]
    hashed = content_hash(own.question.stem, texts, case)
    rewrite(build, own, explanation="别题的解析", shared_stem=case, content_hash=hashed)
    return next(each for each in waiting_rows(build.build)[0] if each.question.question_id == name)


@pytest.mark.slow
@pytest.mark.parametrize("word", ["无", "None", " – ", "-"])
def test_an_explanation_and_a_case_are_removed_by_a_word_in_their_place(build, explained, book, others, name, word):
    text = explained.base.text.replace("一段多余的病例", word)
    edit(book, (name, "decision", "改正"), (name, "explanation", word), (name, "text", text))
    assert dict(take(build, book).decided) == {"correct": 1, "open": others}
    assert said(build) == {(name, "verdict"): "keep", (name, "explanation"): None, (name, "shared_stem"): None}
    corrections = read_table(build.build / folder.FOLDER / "corrections.parquet")
    [after] = Question.from_frame(patch_questions(Question.to_frame([explained.question]), corrections).questions)
    assert (after.explanation, after.shared_stem, after.stem) == (None, None, explained.question.stem)


@pytest.mark.usefixtures("explained")
def test_an_emptied_explanation_is_as_it_was_and_the_row_says_how_to_remove_it(build, book, others, name):
    edit(book, (name, "decision", "改正"), (name, "explanation", None))
    outcome = take(build, book)
    assert (dict(outcome.decided), said(build)) == ({"open": others}, {})
    assert "write 无 in its cell" in outcome.notes[0]


@pytest.mark.usefixtures("explained")
def test_columns_by_one_of_their_two_names_below_a_title_are_read(build, book, others, name):
    edit(book, (name, "decision", "改正"), (name, "explanation", "无"))
    opened = openpyxl.load_workbook(book)
    sheet = opened[waiting.SHEET]
    for column, title in (("decision", "处理"), ("key", "Key"), ("explanation", "解析"), ("note", "备注")):
        sheet.cell(1, COLUMNS.index(column) + 1).value = title
    sheet.insert_rows(1)
    sheet.cell(1, 1).value = "待处理的题目"
    opened.save(book)
    assert decisions.is_waiting(book)
    assert dict(take(build, book).decided) == {"correct": 1, "open": others}
    assert said(build)[name, "explanation"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "title", "told"),
    [
        ("explanation", "说明", "has no column '解析 explanation"),  # what was written there would be lost
        ("decision", "意见", "has no column '处理 decision'"),
        ("note", "答案", "has two columns '答案 key'"),
    ],
)
def test_a_column_of_another_name_is_one_line(build, book, column, title, told):
    opened = openpyxl.load_workbook(book)
    opened[waiting.SHEET].cell(1, COLUMNS.index(column) + 1).value = title
    if column == "note":
        opened[waiting.SHEET].cell(1, COLUMNS.index("file") + 1).value = "备注"
    opened.save(book)
    assert decisions.is_waiting(book)
    with pytest.raises(UserError, match=re.escape(told)):
        take(build, book)


@pytest.mark.slow
@pytest.mark.parametrize("column", ["decision", "key"])
def test_of_a_workbook_in_which_a_column_was_sorted_alone_nothing_is_taken(build, book, column):
    rows = [each for each in waiting_rows(build.build)[0] if each.base.key][:4]
    others = {each.question.question_id: next(label for label in "AB" if label != each.base.key) for each in rows}
    corrected = [("decision", dict.fromkeys(others, "改正")), ("key", others)]
    edit(book, *((own, name, value) for name, cells in corrected for own, value in cells.items()))
    opened = openpyxl.load_workbook(book)
    sheet, at = opened[waiting.SHEET], COLUMNS.index(column) + 1
    cells = [sheet.cell(row, at).value for row in range(2, sheet.max_row + 1)]
    for row, value in enumerate(sorted(cells, key=str, reverse=column == "key"), start=2):
        sheet.cell(row, at).value = value
    opened.save(book)
    outcome = take(build, book)
    assert (dict(outcome.decided), said(build)) == ({}, {})
    assert "was a column sorted or moved alone?" in outcome.notes[-1]


def test_one_decision_for_all_of_a_kind_reaches_them_and_no_others(build, book, others, own, name):
    edit(book, (name, "decision", "保留"), (name, "scope", "同类全部"))
    waiting = [each for each in waiting_rows(build.build)[0] if {code for code, _ in each.found} == {"low_confidence"}]
    alike = [each for each in waiting if each.question.document == own.question.document]
    outcome = take(build, book)
    assert len(alike) > 2
    assert dict(outcome.decided) == {"keep": len(alike), "open": others + 1 - len(alike)}
    assert {key for key, _ in said(build)} == {each.question.question_id for each in alike}


def test_the_same_workbook_again_changes_nothing(build, book, others):
    edit(book, (ids(build)["erratum"], "decision", "剔除"))
    take(build, book)
    first = {path.name: path.read_bytes() for path in (build.build / folder.FOLDER).glob("*.parquet")}
    assert dict(take(build, book).decided) == {"drop": 1, "open": others}
    assert {path.name: path.read_bytes() for path in (build.build / folder.FOLDER).glob("*.parquet")} == first


@pytest.mark.slow
def test_a_file_saved_as_csv_with_rows_sorted_and_removed_is_read(build, book, others, name, tmp_path):
    edit(book, (name, "decision", "保留"))
    rows = [list(row) for row in openpyxl.load_workbook(book)[waiting.SHEET].iter_rows(values_only=True)]
    path = tmp_path / "saved.csv"
    with path.open("w", encoding="gb18030", newline="") as out:
        left = [row for row in rows[1:] if row[COLUMNS.index("id")] != ids(build)["erratum"]]
        csv.writer(out).writerows([rows[0], *sorted(left, key=lambda row: str(row[2]))])
    assert decisions.is_waiting(path)
    outcome = take(build, path)
    assert (dict(outcome.decided), outcome.notes) == ({"keep": 1, "open": others - 1}, [])


def test_a_text_that_was_sorted_away_from_its_question_is_refused(build, book, others):
    one, other = ids(build)["low_confidence"], ids(build)["erratum"]
    texts = {each.question.question_id: each.base.text for each in waiting_rows(build.build)[0]}
    edit(book, (one, "text", texts[other]), (one, "decision", "保留"), (other, "text", texts[one]))
    outcome = take(build, book)
    assert dict(outcome.decided) == {"open": others - 1}
    assert all(f"is that of {name}" in line for line, name in zip(outcome.notes, (other, one), strict=True))
    assert said(build) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ((("decision", "maybe"),), "the decision 'maybe' is none of 保留 keep"),
        ((("decision", "同类全部"),), "the decision '同类全部' is none of 保留 keep"),
        ((("decision", "改正"),), "to be corrected, but text, key and explanation are as they were"),
        ((("key", "C"),), "was changed, but not decided"),
        ((("text", "另一段毫不相干的文字"), ("decision", "保留")), "has little of the question's"),
        ((("version", "v0000000"), ("decision", "保留")), "has changed since the workbook was written"),
        ((("decision", "改正"), ("key", "甲")), "is no key"),
        ((("decision", "改正"), ("key", None)), "its key was emptied"),
        ((("decision", "改正"), ("key", "无")), "its key was emptied"),
        ((("decision", "保留"), ("key", "BD")), NOT_ITS_OWN),
        ((("decision", "保留"), ("explanation", "别处的解析")), NOT_ITS_OWN),
        ((("decision", "保留"), ("scope", "这些")), "the scope '这些' is not 同类全部"),
        ((("decision", "保留"), ("text", lambda text: text.replace("\n", "改\n", 1))), NOT_ITS_OWN),
        ((("decision", "保留"), ("text", lambda text: f"{text}改")), NOT_ITS_OWN),
        ((("decision", "改正"), ("text", lambda text: f"{text}改"), ("key", "K")), "names an option that is not there"),
    ],
)
def test_what_cannot_be_taken_is_told_by_row_and_not_applied(build, book, own, name, changes, told):
    cells = ((column, value(own.base.text) if callable(value) else value) for column, value in changes)
    edit(book, *((name, *cell) for cell in cells))
    outcome = take(build, book)
    [line] = outcome.notes
    assert {*outcome.decided} == {"open"}
    assert told in line
    assert f"{book}, row " in line
    assert said(build) == {}
    choose(MessageLanguage.ZH)
    chinese = translated(line)
    choose(None)
    assert f"{book} 第 " in chinese
    assert told not in chinese


def test_a_question_of_another_dataset_is_told_and_a_row_twice_counts_once(build, book, name):
    opened = openpyxl.load_workbook(book)
    sheet = opened[waiting.SHEET]
    _, *row = next(row for row in sheet.iter_rows(values_only=True) if row[COLUMNS.index("id")] == name)
    sheet.append(["剔除", *row])
    sheet.append(["保留", *("ffffffff-1-001" if cell == name else cell for cell in row)])
    opened.save(book)
    edit(book, (name, "decision", None))
    twice, other = take(build, book).notes
    assert f"{name} stands twice" in twice
    assert "ffffffff-1-001: no question that waits in this build" in other


def test_a_file_of_another_kind_is_one_line(build, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"has no column '处理 decision'"):
        take(build, path)
    assert not decisions.is_waiting(path)
    path = tmp_path / "broken.xlsx"
    path.write_bytes(b"PK not a workbook")
    with pytest.raises(UserError, match="is no workbook"):
        decisions.read_cells(path)


def test_decisions_are_counted_by_reason_and_false_alarms_are_named(build, book, name):
    edit(book, (name, "decision", "保留"), (name, "scope", "同类全部"), (ids(build)["erratum"], "decision", "剔除"))
    take(build, book)
    rows = count_by_reason(read_table(build.build / SETTLED))
    counts = {row["reason"]: (row["settled"], row["kept"], row["rejected"]) for row in rows}
    kept = counts["low_confidence"][0]
    assert counts == {"low_confidence": (kept, kept, 0), "erratum": (1, 0, 1)}
    assert kept > 2


@pytest.mark.parametrize(("kept", "dropped", "alarm"), [(19, 0, False), (19, 1, True), (18, 2, False)])
def test_a_reason_that_was_nearly_always_wrong_is_a_false_alarm(kept, dropped, alarm):
    decisions = ["keep"] * kept + ["drop"] * dropped
    [row] = count_by_reason(pl.DataFrame({"reason": ["x"] * len(decisions), "decision": decisions}))
    assert (row["settled"], row["false_alarm"]) == (kept + dropped, alarm)


def test_a_question_that_people_settled_is_not_offered_again(build, monkeypatch, others, name):
    monkeypatch.setattr(waiting, "settled_questions", lambda read: {name})
    content, questions, _ = workbook(build)
    sheet = openpyxl.load_workbook(io.BytesIO(content))[waiting.SHEET]
    assert name not in [row[COLUMNS.index("id")] for row in sheet.iter_rows(values_only=True)]
    assert questions == others


def test_a_missing_key_is_written_and_its_question_waits_no_more_and_counts_as_kept(build, book, others):
    question_id = ids(build)["no_answer"]
    edit(book, (question_id, "decision", "保留"), (question_id, "key", "B"))
    assert dict(take(build, book).decided) == {"correct": 1, "open": others}, "keep with a change is a correction"
    assert said(build) == {(question_id, "verdict"): "keep", (question_id, "answer"): "B"}
    settings = {"dataset.build": str(build.build), "clean.max_wrong": 0.0}
    before = sum(loss.waiting for loss in source_losses(partial(find_table, build.build)))
    Runner(load(ROOT / "dataset.toml", settings)).run(["clean"])
    left = {each.question.question_id for each in waiting_rows(build.build)[0]}
    assert (question_id in left, len(left)) == (False, others)
    assert sum(loss.waiting for loss in source_losses(partial(find_table, build.build))) == before - 1


def test_a_row_is_as_tall_as_its_longest_text():
    assert row_pixels([("解" * 400, 40), ("A", 8)]) > row_pixels([("解\n析", 40), ("A", 8)]) > row_pixels([("A", 8)])


def test_characters_that_may_be_misread_are_marked_in_the_text_and_named_in_the_reason(build, tmp_path, own):
    stem = own.question.stem
    before, char, after = stem[:2], stem[2], stem[3:6]
    unsure = UnsureCharacter(before=before, text=char, after=after, other="痹", sure=0.5, page=1)
    detail = low_confidence(own.question.model_copy(update={"unsure": [unsure]}), CleanParams(max_wrong=0.0))
    question = rewrite(build, own, detail, unsure=[unsure])
    book = tmp_path / "waiting.xlsx"
    book.write_bytes(workbook(build)[0])
    rows = openpyxl.load_workbook(book, rich_text=True)[waiting.SHEET].iter_rows(min_row=2, values_only=True)
    row = next(row for row in rows if row[COLUMNS.index("id")] == question.question_id)
    marked = [str(part) for part in row[COLUMNS.index("text")] if getattr(part, "font", None) and part.font.u]
    assert marked == [char]
    assert f"存疑字：题干的{char}（或痹）" in row[COLUMNS.index("why")]
    assert f"Unsure characters: {char} (or 痹) in the stem" in row[COLUMNS.index("why")]


def test_a_corrected_key_may_name_a_corrected_option(build, book, others, own, name):
    letter = chr(ord("A") + len(own.question.options))
    text = f"{own.base.text}\n{letter}. 另一项"
    edit(book, (name, "decision", "改正"), (name, "text", text), (name, "key", letter))
    assert dict(take(build, book).decided) == {"correct": 1, "open": others}
    assert said(build)[name, "answer"] == letter


def test_a_kept_question_that_cleaning_takes_out_all_the_same_is_told_by_row(build, book, others, name):
    edit(book, (name, "decision", "保留"))
    outcome = import_decisions([book], BY, ReviewParams(), build, CleanParams(min_options=9))
    assert dict(outcome.decided) == {"keep": 1, "open": others}
    (told,) = outcome.notes
    assert "stays out until it is corrected" in told
    assert "too_few_options" in told


def test_a_run_never_writes_over_decisions_that_were_not_imported(build, name):
    settings = {"dataset.build": str(build.build), "clean.max_wrong": 0.0}
    runner, reports = Runner(load(ROOT / "dataset.toml", settings)), []
    page = build.build / "report" / waiting.FILE

    def kept() -> list[Path]:
        runner.run(["report"], force=True, on_stage_done=reports.append)
        return sorted(page.parent.glob("waiting-*"))

    assert kept() == [], "nobody edited it"
    edit(page, (name, "decision", "保留"))
    edited = page.read_bytes()
    [saved] = kept()
    assert saved.read_bytes() == edited
    told = reports[-1].notes[-1]
    assert f"review sheet import {saved} --by NAME" in told
    choose(MessageLanguage.ZH)
    assert f"review sheet import {saved} --by 姓名" in translated(told)
    choose(None)
    again = saved.with_name("waiting-李.xlsx")  # a file of one's own
    shutil.copyfile(saved, again)
    edit(again, (name, "decision", "maybe"))
    assert kept() == [saved, again]
    assert take(build, saved).notes == []
    assert kept() == [again], "what was imported need not be kept"
    assert take(build, again).notes
    assert kept() == [again], "a row was not taken"


@pytest.fixture
def conflict(build) -> list[str]:
    """Two questions of different files that wait as one with different keys."""
    kept = read_table(build.build / "clean" / "questions.parquet").unique("document", keep="first").sort("document")
    first, *_, last = (Question.model_validate(row) for row in kept.to_dicts())
    copies = [first.model_copy(update={"answer": ["A"]}), last.model_copy(update={"answer": ["B"]})]
    path, names = build.build / "clean" / "questions.parquet", [copy.question_id for copy in copies]
    others = read_table(path).filter(~pl.col("question_id").is_in(names))
    folder.replace_table(path, pl.concat([others, Question.to_frame(copies)]))
    item = ReviewItem(item_id=names[0], question_ids=names, stage="dedup", reason="conflicting_answers", detail="A; B")
    folder.replace_table(build.build / "dedup" / "review.parquet", ReviewItem.to_frame([item]))
    return names


def test_copies_with_different_keys_stand_together_though_their_files_differ(build, conflict):
    rows = [each.question.question_id for each in waiting_rows(build.build)[0]]
    assert abs(rows.index(conflict[1]) - rows.index(conflict[0])) == 1


@pytest.mark.parametrize(("other", "waits"), [("", True), ("保留", True), ("剔除", False)])
def test_a_copy_that_is_kept_beside_another_key_is_told_to_go_on_waiting(build, conflict, tmp_path, other, waits):
    path = tmp_path / "conflict.xlsx"
    path.write_bytes(workbook(build)[0])
    edit(path, (conflict[0], "decision", "保留"), (conflict[1], "decision", other))
    told = [note for note in take(build, path).notes if "wait until all but one" in note]
    assert bool(told) is waits
    assert not told or all(name in told[0] for name in conflict)
