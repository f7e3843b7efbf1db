"""Workbooks as people handle them: sorted, copied, in other words, saved in other formats. Nothing is mixed up."""

import random
import shutil
import subprocess
from functools import partial

import pytest
from openpyxl import load_workbook

from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import sheets
from build_dataset.pipeline.runtime.publish import read_table
from build_dataset.schemas.annotations import Annotation, ExpertReview
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation import records

PARAMS = ReviewParams(bootstrap=100)
COUNT = 40
MAIN, HEAD = "复核 review", "改正题干与选项 corrected text"
soffice = pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")


DRAWN = random.Random(7)
PROPOSED = {
    f"q{number:02}": {name: DRAWN.choice(each.zh_names()) for name, each in dimensions().items()}
    for number in range(COUNT)
}


@pytest.fixture
def path(context):
    """The workbook of an expert, all rows confirmed as they are."""
    questions = [records.question(name, number=n, stem=f"第{n}题，哪项正确") for n, name in enumerate(PROPOSED)]
    rows = [
        records.annotation(dimension, label, question_id=name)
        for name, labels in PROPOSED.items()
        for dimension, label in labels.items()
    ]
    tables = {"questions": Question.to_frame(questions), "annotations": Annotation.to_frame(rows)}
    tables["pulled"] = ExpertReview.to_frame([])
    out = context.build / "zhang.xlsx"
    out.parent.mkdir(parents=True, exist_ok=True)
    sheets.export(tables, PARAMS, context, expert="zhang", path=out, count=None)
    changed(out, lambda rows: [row | {"完成 done": "是"} for row in rows])
    return out


def changed(path, work):
    """Rewrite the rows of answers, each as a mapping of column heads to cells."""
    book = load_workbook(path)
    sheet = book[MAIN]
    heads = [cell.value for cell in sheet[1]]
    rows = [dict(zip(heads, row, strict=True)) for row in sheet.iter_rows(min_row=2, values_only=True)]
    rows = work(rows)
    sheet.delete_rows(2, sheet.max_row)
    heads = list(rows[0])
    for place, head in enumerate(heads, start=1):
        sheet.cell(1, place).value = head
        for number, row in enumerate(rows, start=2):
            sheet.cell(number, place).value = row.get(head)
    book.save(path)


def labels_of(context):
    pulled = read_table(context.build / "reviews" / "pulled.parquet")
    return {(row["question_id"], row["dimension"]): row["label"] for row in pulled.iter_rows(named=True)}


def take_in(context, path):
    """Import a workbook; return it, the lines about it and the labels that count."""
    [(_, sheet, told)] = sheets.import_sheets([path], PARAMS, context)
    return sheet, told, labels_of(context)


def assert_right(found):
    wrong = {key: label for key, label in found.items() if PROPOSED[key[0]][key[1]] != label}
    assert not wrong


def heads_from(rows, first):
    heads = list(rows[0])
    return heads[heads.index(first) :]


def in_order(rows, moved, by):
    """Rows in which only the cells of some columns were sorted, as the protection of locked columns leads to."""
    ordered = sorted(rows, key=lambda row: str(row[by] or ""))
    return [row | {head: other[head] for head in moved} for row, other in zip(rows, ordered, strict=True)]


def label_heads(rows):
    return [head for head in rows[0] if head[0] in "①②③④⑤"]


@pytest.mark.parametrize("by", range(5), ids=lambda place: f"by column {place}")
def test_sorting_all_that_is_not_locked_gives_no_question_anothers_labels(path, context, by):
    def sort(rows):
        heads = label_heads(rows)
        return in_order(rows, heads_from(rows, heads[0]), heads[by])

    changed(path, sort)
    sheet, told, found = take_in(context, path)
    assert_right(found)
    assert len(sheet.answers) + len(sheet.refused) == COUNT
    assert len(told) == len(sheet.refused) > COUNT // 2
    assert "row 2" in told[0] or "row 3" in told[0]


def sort_labels(rows, columns):
    heads = label_heads(rows)[:columns]
    return in_order(rows, heads, heads[0])


def shift_labels(rows):
    """Labels pasted one row too low."""
    return [row | {head: rows[place - 1][head] for head in label_heads(rows)} for place, row in enumerate(rows)]


@pytest.mark.parametrize(
    "work", [partial(sort_labels, columns=1), partial(sort_labels, columns=5), shift_labels], ids=["1", "5", "shifted"]
)
def test_columns_of_labels_that_were_sorted_or_shifted_alone_are_refused(path, context, work):
    changed(path, work)
    with pytest.raises(UserError, match=r"other rows.*①"):
        take_in(context, path)
    assert not (context.build / "reviews" / "pulled.parquet").exists()


def test_an_expert_who_changes_half_of_the_labels_is_no_sort(path, context):
    drawn = random.Random(3)
    wanted = {}

    def change(rows):
        for row in rows:
            for head, (name, each) in zip(label_heads(rows), dimensions().items(), strict=True):
                if drawn.random() < 0.5:
                    row[head] = drawn.choice(each.zh_names())
                wanted[row["题目编号 ID"], name] = row[head]
        return rows

    changed(path, change)
    _, told, found = take_in(context, path)
    assert (told, found) == ([], wanted)


def test_sorting_whole_rows_changes_nothing(path, context):
    changed(path, lambda rows: sorted(rows, key=lambda row: row[label_heads(rows)[0]]))
    _, told, found = take_in(context, path)
    assert told == []
    assert len(found) == COUNT * 5
    assert_right(found)


def test_a_row_whose_text_is_anothers_is_named_and_not_taken(path, context):
    def swap(rows):
        texts = [rows[at]["题干与选项 question"] for at in (9, 3)]
        rows[3]["题干与选项 question"], rows[9]["题干与选项 question"] = texts
        return rows

    changed(path, swap)
    sheet, told, found = take_in(context, path)
    assert len(sheet.answers) == COUNT - 2
    assert [line.split(":")[0] for line in told] == [f"sheet '{MAIN}', row 5", f"sheet '{MAIN}', row 11"]
    assert {key[0] for key in found} == PROPOSED.keys() - {"q03", "q09"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "yes", ["是", "√", "✓", "✔", "Y", "y", "yes", 1, "1", True, "TRUE", "已完成", "完成", "OK", " 是 ", "ｙ"]
)
def test_a_row_is_confirmed_in_the_words_of_people(path, context, yes):
    changed(path, lambda rows: [rows[0] | {"完成 done": yes, "题干有误": yes}, *rows[1:]])
    sheet, told, _ = take_in(context, path)
    assert (len(sheet.answers), told) == (COUNT, [])
    pulled = read_table(context.build / "reviews" / "pulled.parquet")
    assert [*pulled.filter(question_id="q00")["flags"][0]] == ["wrong_stem"]


@pytest.mark.parametrize("no", ["", "否", 0, "N", "FALSE", False, "未完成", "×"])
def test_a_row_is_left_open_in_the_words_of_people(path, context, no):
    changed(path, lambda rows: [rows[0] | {"完成 done": no}, *rows[1:]])
    sheet, told, _ = take_in(context, path)
    assert (len(sheet.answers), sheet.open, told) == (COUNT - 1, 1, [])


@pytest.mark.parametrize("head", ["完成 done", "答案有误"])
def test_a_mark_that_nobody_understands_is_named_with_its_row(path, context, head):
    changed(path, lambda rows: [rows[0] | {head: "大概"}, *rows[1:]])
    sheet, [told], _ = take_in(context, path)
    assert len(sheet.answers) == COUNT - 1
    assert "row 2" in told
    assert "'大概'" in told
    assert head in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dimension", "written", "label"),
    [
        ("competency", "Disease Treatment", "疾病治疗"),
        ("competency", "treat", "疾病治疗"),
        ("competency", " 疾病治疗 ", "疾病治疗"),
        ("difficulty", 5, "极难"),
        ("difficulty", "5 极难", "极难"),
        ("disease_group", "08", "神经系统疾病"),
        ("disease_group", 8, "神经系统疾病"),
        ("disease_group", "H", "神经系统疾病"),
        ("disease_group", "h", "神经系统疾病"),
        ("clinical_department", "C", "内科"),
        ("clinical_department", "C 内科", "内科"),
    ],
)
def test_a_label_is_read_by_its_code_and_its_english_name(path, context, dimension, written, label):
    place = list(dimensions()).index(dimension)
    changed(path, lambda rows: [rows[0] | {label_heads(rows)[place]: written}, *rows[1:]])
    _, told, found = take_in(context, path)
    assert (told, found["q00", dimension]) == ([], label)


def test_a_code_that_means_two_labels_is_named_and_the_other_labels_count(path, context):
    changed(path, lambda rows: [rows[0] | {label_heads(rows)[0]: "V"}, *rows[1:]])
    _, [told], found = take_in(context, path)
    assert "row 2" in told
    assert "'V'" in told
    assert ("q00", "disease_group") not in found
    assert ("q00", "competency") in found


def test_columns_of_ones_own_and_columns_in_another_order_do_no_harm(path, context):
    changed(path, lambda rows: [{"我的备注": "x"} | dict(reversed(row.items())) for row in rows])
    _, told, found = take_in(context, path)
    assert (told, len(found)) == ([], COUNT * 5)
    assert_right(found)


def test_a_row_that_stands_there_twice_with_two_answers_is_not_taken_at_all(path, context):
    other = dimensions()["competency"].zh_names()

    def double(rows):
        label = next(name for name in other if name != rows[0][label_heads(rows)[3]])
        return [*rows, rows[0] | {label_heads(rows)[3]: label}, rows[1]]

    changed(path, double)
    sheet, told, found = take_in(context, path)
    assert len(sheet.answers) == COUNT - 1, "the same answer twice counts once"
    assert [line.split(":")[0] for line in told] == [f"sheet '{MAIN}', row 2", f"sheet '{MAIN}', row {COUNT + 2}"]
    assert "q00" not in {key[0] for key in found}


def test_a_workbook_without_its_hidden_sheets_is_known_by_its_rows(path, context):
    book = load_workbook(path)
    for name in book.sheetnames:
        if name != MAIN:
            book.remove(book[name])
    book.save(path)
    sheet, told, found = take_in(context, path)
    assert (sheet.expert, told, len(found)) == ("zhang", [], COUNT * 5)
    assert_right(found)


def test_the_protection_allows_no_sort(path):
    sheet = load_workbook(path)[MAIN]
    assert sheet.protection.sheet
    assert sheet.protection.sort, "openpyxl says True where it is forbidden"


@pytest.mark.slow
@soffice
@pytest.mark.parametrize("suffix", ["xlsx", "ods", "csv"])
def test_a_workbook_saved_by_libreoffice_in_another_format_says_the_same(path, context, tmp_path, suffix):
    note, text = '第一行\n第二行，有"引号"', "改好的题干\nA. 甲\nB. 丙"
    changed(path, lambda rows: [rows[0] | {"备注 note": note, "题干有误": "是", HEAD: text}, *rows[1:]])
    text_export = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,2"
    kind = {"xlsx": "xlsx:Calc MS Excel 2007 XML", "csv": text_export}
    saved = converted(path, tmp_path, kind.get(suffix, suffix))
    sheet, told, found = take_in(context, saved)
    assert (sheet.expert, told, len(found)) == ("zhang", [], COUNT * 5)
    assert_right(found)
    pulled = read_table(context.build / "reviews" / "pulled.parquet")
    assert pulled.filter(question_id="q00")["note"][0] == note
    corrections = read_table(context.build / "reviews" / "corrections.parquet")
    assert dict(corrections.select("field", "after").iter_rows()) == {"stem": "改好的题干", "option:B": "丙"}
    if suffix == "xlsx":
        book = load_workbook(saved)
        sheet = book[MAIN]
        assert sheet.protection.sheet
        assert sheet["B2"].protection.locked
        assert len(sheet.data_validations.dataValidation) == len(dimensions()) + 4
        assert book["data"].sheet_state != "visible"


def converted(path, tmp_path, kind):
    folder = tmp_path / "saved"
    command = ["soffice", "--headless", "--norestore", f"-env:UserInstallation=file://{tmp_path}/profile"]
    command += ["--convert-to", kind, "--outdir", str(folder), str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    [found] = folder.iterdir()
    return found
