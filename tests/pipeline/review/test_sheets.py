"""Experts without a login review in a workbook; what comes back counts like what the server sends."""

import pytest
from openpyxl import load_workbook

from build_dataset.annotation.label_studio import screen
from build_dataset.annotation.label_studio.projects import REVIEW
from build_dataset.annotation.label_studio.pull import Pulled
from build_dataset.annotation.label_studio.tasks import ReviewTask
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import sheets, stage as review, workbook
from build_dataset.pipeline.review.folder import write_pulled
from build_dataset.pipeline.runtime.publish import read_table
from build_dataset.schemas.annotations import Annotation, ExpertReview
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation import records

FIRST = {name: dimension.zh_names()[0] for name, dimension in dimensions().items()}
OTHER = dimensions()["competency"].zh_names()[1]
TEXT = "改好的题干\nA. 甲\nB. 丙"
PARAMS = ReviewParams(bootstrap=100)


@pytest.fixture
def tables(context):
    questions = [records.question(f"q{n}", number=n, stem=f"=第{n}题\x07") for n in range(4)]
    annotations = [
        records.annotation(name, label, question_id=each.question_id)
        for each in questions
        for name, label in FIRST.items()
    ]
    return {
        "questions": Question.to_frame(questions),
        "annotations": Annotation.to_frame(annotations),
        "pulled": ExpertReview.to_frame([]),
    }


def exported(tables, context, expert="zhang", count=None):
    path = context.build / f"{expert}.xlsx"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    done = sheets.export(tables, PARAMS, context, expert=expert, path=path, count=count)
    return path, done


def fill(path, rows):
    """Write into rows as an expert does; every key is the beginning of a column's head."""
    book = load_workbook(path)
    sheet = book[workbook.MAIN]
    heads = {str(cell.value): cell.column for cell in sheet[1]}
    numbers = {sheet.cell(row, 1).value: row for row in range(2, sheet.max_row + 1)}
    for question_id, cells in rows.items():
        for name, value in cells.items():
            [column] = [place for head, place in heads.items() if name in head]
            sheet.cell(numbers[question_id], column).value = value
    book.save(path)


def take_in(context, *paths):
    found = sheets.import_sheets(paths, PARAMS, context)
    return found, read_table(context.build / "reviews" / "pulled.parquet")


def test_what_an_expert_confirms_becomes_a_review_with_flags_and_corrections(tables, context):
    path, done = exported(tables, context)
    heights = [load_workbook(path)[workbook.MAIN].row_dimensions[row].height for row in range(2, 6)]
    assert (done, min(heights) >= 4 * 12) == (4, True), "rows are as tall as their four lines"
    corrected = {"能力维度": OTHER, "题干有误": "是", "改正题干": TEXT, "备注": "错字", "完成": "是"}
    fill(path, {"q0": {"完成": "是"}, "q1": corrected, "q2": {"能力维度": OTHER}})
    [(_, sheet, rejects)], pulled = take_in(context, path)
    assert (len(sheet.answers), sheet.unconfirmed, sheet.open, rejects) == (2, 1, 1, [])
    rows = {(row["question_id"], row["dimension"]): row for row in pulled.to_dicts()}
    assert set(pulled["question_id"]) == {"q0", "q1"}
    confirmed = rows["q0", "competency"]
    assert (confirmed["label"], confirmed["origin"]) == (FIRST["competency"], "prediction")
    changed = rows["q1", "competency"]
    assert (changed["label"], changed["origin"], changed["flags"]) == (OTHER, "prediction-changed", ["wrong_stem"])
    assert (changed["reviewer"], changed["note"], changed["shown_by"]) == ("zhang", "错字", "lexicon")
    corrections = read_table(context.build / "reviews" / "corrections.parquet").to_dicts()
    assert {row["field"]: row["after"] for row in corrections} == {"stem": "改好的题干", "option:B": "丙"}
    result = review.run({**tables, "pulled": pulled}, PARAMS, context)
    assert {item.reason for item in result.review} == {"one_of_two", "flagged"}


def test_the_same_workbook_again_changes_nothing_and_an_older_one_takes_nothing_back(tables, context):
    path, _ = exported(tables, context)
    fill(path, {"q0": {"完成": "是"}})
    early = path.read_bytes()
    _, once = take_in(context, path)
    assert take_in(context, path)[1].equals(once)
    book = load_workbook(path)
    book.properties.modified = book.properties.modified.replace(year=2030)
    fill(path, {"q0": {"能力维度": OTHER}, "q1": {"完成": "是"}})
    _, later = take_in(context, path)
    assert later.height == 2 * len(FIRST)
    path.write_bytes(early)
    assert set(take_in(context, path)[1]["question_id"]) == {"q0", "q1"}


def test_two_people_get_each_question_and_a_third_none(tables, context):
    assert exported(tables, context, "zhang")[1] == 4
    assert exported(tables, context, "li", count=3)[1] == 3
    assert exported(tables, context, "wang")[1] == 1
    with pytest.raises(UserError, match="nothing waits for zhao"):
        exported(tables, context, "zhao")
    assert exported(tables, context, "zhang")[1] == 4, "what is out and did not come back is written again"


def test_a_lost_workbook_is_cancelled_and_its_open_questions_are_dealt_out_again(tables, context):
    path, _ = exported(tables, context, "zhang")
    exported(tables, context, "li")
    fill(path, {"q0": {"完成": "是"}})
    _, pulled = take_in(context, path)
    with pytest.raises(UserError, match="of workbooks that are out, li holds 4, zhang holds 3"):
        exported({**tables, "pulled": pulled}, context, "zhang-new")
    with pytest.raises(UserError, match=r"--expert says whose workbook is lost; .* held by: li 4, zhang 3"):
        sheets.cancel(pulled, context.build, "")
    assert sheets.cancel(pulled, context.build, "zhang") == 3
    assert sheets.held_by(pulled, context.build) == {"li": 4}
    assert exported({**tables, "pulled": pulled}, context, "zhang-new")[1] == 3, "what was answered is not asked again"
    fill(path, {"q1": {"完成": "是"}})
    assert set(take_in(context, path)[1]["question_id"]) == {"q0", "q1"}, "the workbook turns up: its answers count"


def test_a_workbook_shows_its_expert_the_rulings_that_differ_from_earlier_answers(tables, context):
    rows = [records.review("zhang", FIRST["competency"], dimension="competency", question_id="q0")]
    rows += [records.review("li", OTHER, dimension="competency", question_id="q0")]
    more = {"project": "adjudication", "note": "=看题干", "at": 9}
    rows += [records.review("wang", OTHER, dimension="competency", question_id="q0", **more)]
    tables = {**tables, "pulled": ExpertReview.to_frame(rows)}
    path, _ = exported(tables, context, "zhang")
    [_, row] = load_workbook(path)["仲裁 rulings"].iter_rows(values_only=True)
    assert row[0] == "q0"
    assert row[-3:] == (FIRST["competency"], OTHER, "=看题干")
    assert "仲裁 rulings" not in load_workbook(exported(tables, context, "li")[0]).sheetnames


@pytest.fixture
def disputed(tables, context):
    """Two experts disagree on q0, and one of them proposes another key; they agree on the rest."""
    paths = [exported(tables, context, who)[0] for who in ("zhang", "li")]
    for path, label in zip(paths, (FIRST["competency"], OTHER), strict=True):
        fill(path, {f"q{n}": {"完成": "是"} for n in range(4)} | {"q0": {"能力维度": label, "完成": "是"}})
    fill(paths[0], {"q0": {"答案有误": "是", "改正答案": "A"}})
    _, pulled = take_in(context, *paths)
    return {**tables, "pulled": pulled, "corrections": read_table(context.build / "reviews" / "corrections.parquet")}


def test_a_third_expert_rules_in_a_workbook_that_shows_both_opinions_and_no_names(disputed, context):
    path = context.build / "adjudicate-wang.xlsx"
    assert sheets.export_cases(disputed, PARAMS, context, expert="wang", path=path) == 1
    heads, row = load_workbook(path)[workbook.MAIN].iter_rows(values_only=True)
    shown = dict(zip(heads, row, strict=True))
    told = shown["机器建议 proposal"]
    assert all(word in told for word in (FIRST["competency"], OTHER, "甲", "乙", "B → A"))
    assert not any(name in told for name in ("zhang", "li"))
    assert (shown["答案 key"], shown["④ 能力维度"] or "", shown["⑤ 难度"]) == ("B", "", FIRST["difficulty"])
    fill(path, {"q0": {"能力维度": OTHER, "改正答案": "A", "备注": "见教材", "完成": "是"}})
    [(_, _, problems)], pulled = take_in(context, path)
    assert problems == []
    tables = {**disputed, "pulled": pulled}
    tables["corrections"] = read_table(context.build / "reviews" / "corrections.parquet")
    settled = review.settle_questions(tables, PARAMS)
    [label] = [each for each in settled.labels if (each.question_id, each.dimension) == ("q0", "competency")]
    assert (label.label, label.status) == (OTHER, "adjudicated")
    found = {(row.by, row.after, row.status) for row in settled.corrections}
    assert found == {(who, "A", "accepted") for who in ("wang", "zhang")}
    assert review.run(tables, PARAMS, context).counts.waiting == 0


def test_nobody_rules_in_a_workbook_on_what_they_labelled_or_without_being_asked(disputed, context):
    path = context.build / "adjudicate.xlsx"
    with pytest.raises(UserError, match="nothing waits for a ruling by li"):
        sheets.export_cases(disputed, PARAMS, context, expert="li", path=path)
    chosen = ReviewParams(adjudicators=["chen"])
    with pytest.raises(UserError, match=r"wang is none of review\.adjudicators"):
        sheets.export_cases(disputed, chosen, context, expert="wang", path=path)
    assert sheets.export_cases(disputed, chosen, context, expert="chen", path=path) == 1
    fill(path, {"q0": {"能力维度": OTHER, "完成": "是"}})
    with pytest.raises(UserError, match=r"chen is none of review\.adjudicators"):
        sheets.import_sheets([path], ReviewParams(adjudicators=["wang"]), context)
    [(_, sheet, _)] = sheets.import_sheets([path], chosen, context)
    assert len(sheet.answers) == 1


def test_the_workbook_offers_lists_hides_its_data_and_protects_what_is_not_to_be_written(tables, context):
    path, _ = exported(tables, context)
    book = load_workbook(path)
    sheet = book[workbook.MAIN]
    assert (sheet.freeze_panes, sheet.protection.sheet, book["data"].sheet_state) == ("C2", True, "veryHidden")
    assert len(sheet.data_validations.dataValidation) == len(FIRST) + 4
    assert sheet["B2"].protection.locked
    assert not sheet["F2"].protection.locked
    assert (sheet["B2"].data_type, sheet["B2"].value[:2]) == ("s", "=第"), "no formula"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda book: book[workbook.MAIN].delete_cols(3), "columns .* were changed"),
        (lambda book: book["data"].__setitem__("C1", "ffffffffffff"), "of another folder"),
        (lambda book: book.remove(book[workbook.MAIN]), "no workbook of"),
    ],
    ids=["columns", "folder", "sheet"],
)
def test_a_workbook_that_cannot_be_trusted_is_refused_in_one_line(tables, context, change, says):
    path, _ = exported(tables, context)
    book = load_workbook(path)
    change(book)
    book.save(path)
    with pytest.raises(UserError, match=says):
        take_in(context, path)
    path.write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(UserError, match="is no workbook"):
        take_in(context, path)


def test_a_label_that_is_none_does_not_count_and_the_others_do(tables, context):
    path, _ = exported(tables, context)
    fill(path, {"q0": {"能力维度": "随便", "完成": "是"}})
    [(_, _, told)], pulled = take_in(context, path)
    [line] = told
    assert line.startswith("sheet '复核 review', row 2: unknown_label (")
    assert "'随便'" in line
    assert line.endswith("; the rest of the row counts")
    assert pulled.height == len(FIRST) - 1
    rejects = context.build / "reviews" / "rejects.parquet"
    assert read_table(rejects).select("item_id", "reason").rows() == [("q0", "unknown_label")]
    take_in(context, path)
    assert read_table(rejects).height == 1, "the same workbook again"
    fill(path, {"q0": {"能力维度": OTHER}})
    assert take_in(context, path)[1].height == len(FIRST)
    assert read_table(rejects).is_empty(), "it was mended"


@pytest.mark.parametrize(
    ("people", "told"),
    [
        (ReviewParams(adjudicators=["zhang"]), "zhang is an adjudicator"),
        (ReviewParams(reviewers=["li", "wang"]), r"zhang is none of review\.reviewers"),
    ],
)
def test_who_rules_or_does_not_count_gets_no_workbook_and_none_of_theirs_is_taken(tables, context, people, told):
    path, _ = exported(tables, context)
    fill(path, {"q0": {"完成": "是"}})
    with pytest.raises(UserError, match=told):
        sheets.import_sheets([path], people, context)
    with pytest.raises(UserError, match=told):
        sheets.export(tables, people, context, expert="zhang", path=path, count=None)


def test_a_workbook_that_is_there_is_never_written_over(tables, context):
    path, _ = exported(tables, context)
    fill(path, {"q0": {"完成": "是"}})
    before = path.read_bytes()
    with pytest.raises(UserError, match="there already"):
        sheets.export(tables, PARAMS, context, expert="zhang", path=path, count=None)
    assert path.read_bytes() == before


def test_nobody_gets_a_workbook_under_a_second_name(tables, context):
    path = context.build / "second.xlsx"
    write_pulled(context.build, REVIEW, Pulled(project="p", people={"1 then": "zhang@example.org"}))
    with pytest.raises(UserError, match=r"zhang has the login zhang@example\.org"):
        sheets.export(tables, PARAMS, context, expert="zhang", path=path, count=None)
    assert sheets.export(tables, PARAMS, context, expert="zhang@example.org", path=path, count=None) == 4


def test_an_assigned_expert_gets_their_own_questions_alone(tables, context):
    people = ReviewParams(reviewers=["zhang", "li", "wang"], assign=True, overlap=0.0)
    found = []
    for expert in people.reviewers:
        path = context.build / f"{expert}.xlsx"
        try:
            sheets.export(tables, people, context, expert=expert, path=path, count=None)
        except UserError:
            continue
        found += [row[0] for row in load_workbook(path)[workbook.MAIN].iter_rows(min_row=2, values_only=True)]
    assert sorted(found) == ["q0", "q1", "q2", "q3"]


@pytest.mark.parametrize(("length", "fits"), [(15_999, True), (16_000, False)])
@pytest.mark.parametrize("name", ["text", "explanation", "base"])
def test_a_question_too_long_for_a_cell_is_not_written(name, length, fits):
    assert sheets.fits_cells(ReviewTask("q", {name: "x" * length}, None)) is fits


def test_a_row_is_read_as_an_annotation_of_the_server():
    cells = dict.fromkeys(workbook.columns(), "")
    names = {dimension.name: f"{numeral} {dimension.zh}" for numeral, dimension in screen.numbered_dimensions()}
    chosen = {"competency": "疾病治疗", "difficulty": "易", "disease_group": "肿瘤"}
    cells |= {names[name]: label for name, label in chosen.items()}
    cells |= {"答案有误": "是", "改正答案 corrected key": "B", "备注 note": "n"}
    found = list(workbook.result_of(cells, {"competency": "疾病治疗", "difficulty": "难"}))
    origins = {item["from_name"]: item["origin"] for item in found if "origin" in item}
    manual = dict.fromkeys(("disease_group", "flags"), "manual")
    assert origins == manual | {"competency": "prediction", "difficulty": "prediction-changed"}
    texts = [(item["from_name"], item["type"], item["value"]) for item in found if item["type"] == "textarea"]
    assert texts == [("corrected_key", "textarea", {"text": ["B"]}), ("note", "textarea", {"text": ["n"]})]
