"""A sheet of numbers and answers alone is the key of the paper beside it, as a text is."""

import csv

import openpyxl
import pytest

from build_dataset.pipeline.api import build, table
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.key_sheets import key_lines
from build_dataset.pipeline.ocr.tasks import FileTask, inspect_file

PAPER = "".join(f"{n}. 第{n}项首选\nA. 甲{n}\nB. 乙{n}\nC. 丙{n}\nD. 丁{n}\n" for n in range(1, 5))
DOWN = [["题号", "答案"], ["1", "B"], ["2", "C"], ["3", "A"], ["4", "D"]]
GRIDS = {
    "under a header": DOWN,
    "under a title and without a header": [["内科 参考答案", ""], *DOWN[1:]],
    "in two columns abreast": [["题号", "答案", "题号", "答案"], ["1", "B", "3", "A"], ["2", "C", "4", "D"]],
    "in one row under another": [["题号", "1", "2", "3", "4"], ["答案", "B", "C", "A", "D"]],
    "beside other columns": [["序号", "题型", "正确答案", "分值"], *([n, "单选", a, "2"] for n, a in DOWN[1:])],
}


def write(path, grid):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows(grid)
        return path
    book = openpyxl.Workbook()
    for record in grid:
        book.active.append([int(cell) if cell.isdecimal() else cell for cell in record])
    book.save(path)
    return path


def answers(folder, name, grid, paper="内科.txt"):
    write(folder / "raw" / name, grid)
    (folder / "raw" / paper).parent.mkdir(parents=True, exist_ok=True)
    (folder / "raw" / paper).write_text(PAPER, encoding="utf-8")
    (folder / "dataset.toml").write_text('[dataset]\nname = "x"\nraw = "raw"\nbuild = "build"\n', encoding="utf-8")
    build(folder / "dataset.toml", last="parse")
    rows = table(folder / "dataset.toml", "parse/questions").sort("number").to_dicts()
    return ["".join(row["answer"] or "-") for row in rows], [row["explanation"] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_a_sheet_of_keys_answers_the_paper_of_its_name(tmp_path, grid, suffix):
    assert answers(tmp_path, f"内科_答案.{suffix}", grid)[0] == [*"BCAD"]


@pytest.mark.slow
def test_a_key_that_is_called_nothing_else_answers_the_one_paper_in_its_folder(tmp_path):
    assert answers(tmp_path, "模考/答案.xlsx", DOWN, "模考/2024卫生法规.txt")[0] == [*"BCAD"]


def test_numbers_without_an_answer_are_left_out():
    abreast = [["题号", "答案", "题号", "答案"], ["1", "B", "3", ""], ["2", "", "4", "D"], ["5", "", "6", ""]]
    assert key_lines(abreast) == ["1\tB", "4\tD"]


@pytest.mark.slow
def test_explanations_of_a_key_stand_with_its_answers(tmp_path):
    grid = [[*DOWN[0], "解析"], *([n, a, f"见教材第{n}章"] for n, a in DOWN[1:])]
    assert answers(tmp_path, "内科_答案.xlsx", grid) == ([*"BCAD"], [f"见教材第{n}章" for n in range(1, 5)])


@pytest.mark.parametrize(
    "grid",
    [
        [["题目", "答案"], ["首选甲的是", "A"]],  # a bank
        [["题目", "A", "B", "答案"], ["1", "甲", "乙", "A"]],
        [["编号", "试题", "选项1", "选项2", "答案"], ["1", "首选甲的是", "甲", "乙", "A"]],
        [["No.", "Stem", "Options", "Answer"], ["1", "Which?", "A. x B. y", "A"]],
        [
            ["序号", "甲列", "正确答案"],
            ["1", "首选的治疗药物是下列哪项", "A"],
        ],  # what it asks, under a name nobody knows
        [["题号", "答案", "更正答案"], ["1", "A", "B"]],  # two keys
        [["题号", "A卷答案", "B卷答案"], ["1", "A", "B"]],
        [["学号", "姓名"], ["1", "王"]],
        [["1", "2"], ["3", "4"]],  # no answer
        [["A"], ["B"]],  # no numbers
    ],
)
def test_a_sheet_with_anything_else_is_no_key(grid):
    assert key_lines(grid) == []


def test_columns_that_were_declared_make_it_a_bank(tmp_path):
    path = write(tmp_path / "a.csv", DOWN)
    made = [inspect_file(FileTask("a.csv", path, OcrParams(columns=columns))).format for columns in ([], ["题号"])]
    assert made == ["key_sheet", "cmexam_csv"]
