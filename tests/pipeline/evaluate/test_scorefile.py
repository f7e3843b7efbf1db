import json

import pytest

from build_dataset.pipeline.evaluate.params import ScoreParams
from build_dataset.pipeline.evaluate.submission import score_file, score_row
from build_dataset.schemas.errors import UserError

OPTIONS = {"A": "心率加快", "B": "血压升高", "C": "瞳孔缩小", "D": "支气管扩张"}


def row(number: int, answer: str, output: str | None, **more):
    return {"id": number, "question": "下列哪项", "options": OPTIONS, "answer": answer, "raw_output": output, **more}


def write(path, rows):
    path.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in rows), encoding="utf-8")
    return path


def test_rows_come_back_with_what_was_read(tmp_path):
    rows = [
        row(1, "B", "答案是B", model="m1"),
        row(2, "B", "答案是A", question_type="A1"),
        row(3, "B", "不知道"),
        row(4, "BA", "A、B", question_type="X"),
        row(5, "A", None),
    ]
    counts = score_file(write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl")
    out = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert counts == {"rows": 5, "correct": 2, "wrong": 1, "no_answer": 2}
    assert [(item["extracted"], item["correct"]) for item in out] == [
        ("B", True),
        ("A", False),
        (None, None),
        ("AB", True),
        (None, None),
    ]
    assert out[0]["rule"] == "opening"
    assert out[0]["model"] == "m1"
    assert [{key: item[key] for key in before} for item, before in zip(out, rows, strict=True)] == rows


def test_an_answer_may_be_a_list_or_be_written_with_separators(tmp_path):
    rows = [row(1, ["A", "C"], "AC"), row(2, "A,C", "CA"), row(3, "Ａ、Ｃ", "A和C")]
    assert score_file(write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl")["correct"] == 3


CHANGES_ITS_MIND = "选项A：心率加快，最先出现。选项B：血压升高，随后出现。选项C：瞳孔缩小，不出现。故正确答案为B。"


def read_of(tmp_path, rows):
    score_file(write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl")
    return [json.loads(line)["extracted"] for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_row_may_say_whether_its_answer_comes_first(tmp_path):
    rows = [row(n, "B", CHANGES_ITS_MIND, answer_first=first) for n, first in enumerate([True, False, None])]
    assert read_of(tmp_path, rows) == ["A", "B", "B"]


def test_an_output_among_outputs_that_answer_first_is_read_as_they_are(tmp_path):
    others = [row(number, "D", "D. 支气管扩张\n解析：略。") for number in range(30)]
    assert read_of(tmp_path, [*others, row(31, "B", CHANGES_ITS_MIND)])[-1] == "A"
    said = [item | {"answer_first": False} for item in others]
    assert read_of(tmp_path, [*said, row(31, "B", CHANGES_ITS_MIND)])[-1] == "B"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{nope}\n", "line 1: is not JSON"),
        ('[\n{"id": 1}\n]\n', "is a JSON array, not rows line by line; CMB's form needs --key"),
        ("1\n", "line 1: the row"),
        (json.dumps({"id": 1, "answer": "A", "raw_output": "A"}) + "\n", "line 1: options is missing"),
        (json.dumps({"id": 1, "options": OPTIONS, "answer": "A"}) + "\n", "line 1: raw_output"),
        (json.dumps({"id": 1, "options": OPTIONS, "answer": "", "raw_output": ""}) + "\n", "answer"),
        (json.dumps({"id": 1, "options": {"": "甲"}, "answer": "A", "raw_output": "A"}) + "\n", "options"),
        (json.dumps({"id": 1, "options": {}, "answer": "A", "raw_output": "A"}) + "\n", "options"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_written(tmp_path, text, says):
    path = tmp_path / "in.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as error:
        score_file(path, tmp_path / "out.jsonl")
    assert says in str(error.value)
    assert not (tmp_path / "out.jsonl").exists()


def test_an_output_cut_inside_a_character_comes_back_as_it_came(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(row(1, "A", "答案：A \ud83d")) + "\n", encoding="utf-8")
    score_file(path, tmp_path / "out.jsonl")
    out = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    assert (out["raw_output"], out["correct"]) == ("答案：A \ud83d", True)


def test_a_file_that_is_missing_or_not_utf8_is_one_line(tmp_path):
    path = tmp_path / "gbk.jsonl"
    with pytest.raises(UserError, match="cannot be read: No such file"):
        score_file(path, tmp_path / "out.jsonl")
    path.write_bytes("答案".encode("gbk"))
    with pytest.raises(UserError, match="is not UTF-8"):
        score_file(path, tmp_path / "out.jsonl")


SINGLE = ("A1", "A2型题", "A3/A4", "A1/A2型题", "B1", "单选题", "单项选择题", "single_choice")
MULTIPLE = ("X", "X型题", "多选题", "多项选择题", "multiple", "multi-select", "Multiple answers")
NEITHER = (None, "", "不定项选择题", "案例分析", "multiple choice", "Xylitol", "Bonus")


@pytest.mark.parametrize(
    ("name", "everything", "judged"),
    [
        *((name, None, None) for name in SINGLE),
        *((name, "ABCD", "AB") for name in MULTIPLE),
        *((name, "ABCD", None) for name in NEITHER),
    ],
)
def test_item_types_are_known_by_the_names_that_exams_give_them(name, everything, judged):
    def read(output: str) -> str | None:
        return score_row(row(1, "AB", output, question_type=name))["extracted"]

    assert read("答案是以上都正确") == everything
    assert read("A正确；B正确；C错误；D错误。") == judged


def test_strict_scoring_takes_explicit_and_concluded_readings_alone(tmp_path):
    rows = [row(1, "B", "【答案】B"), row(2, "C", "A错，B错，C对，D错。"), row(3, "D", "不知道")]
    source, out = write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl"
    assert score_file(source, out)["correct"] == 2
    assert score_file(source, out, ScoreParams(strict=True)) == {"rows": 3, "correct": 1, "wrong": 0, "no_answer": 2}


def test_outputs_read_weakly_or_not_at_all_stand_in_a_file_of_their_own(tmp_path):
    rows = [row(1, "B", "【答案】B"), row(2, "B", "不知道"), row(3, "B", None)]
    score_file(write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl")
    unsure = (tmp_path / "out.unsure.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in unsure] == [2]


def test_end_tokens_and_answer_marks_can_be_named():
    named = ScoreParams(end_tokens=["[FIN]"], answer_marks=["Réponse"])
    assert score_row(row(1, "B", "A est faux. Réponse : B [FIN]"), params=named)["extracted"] == "B"
