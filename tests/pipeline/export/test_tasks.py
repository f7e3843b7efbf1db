"""Task files for other tools hold the questions as ``evaluate`` asks them, and are code that can be read."""

import ast
import json

import pytest
import yaml

from build_dataset.pipeline.evaluate.prompting import load_template, messages
from build_dataset.pipeline.export.formats import TASKS, task_files, task_name
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.release import ReleaseRow
from tests.pipeline.evaluate.conftest import make_question

ROWS = {
    "train": [],
    "validation": [make_question(10, "B")],
    "test": [make_question(1, "A"), make_question(2, "AC", question_type="X"), make_question(3, "B")],
}
DATASET = DatasetParams(name="my-exam", title='An "exam"\nof 2 lines')


def made(*wanted: str) -> dict[str, bytes]:
    frames = {name: ReleaseRow.to_frame(rows) for name, rows in ROWS.items()}
    return task_files(DATASET, frames, wanted)


def test_questions_are_put_as_evaluate_puts_them():
    lines = made("inspect")["tasks/questions/test.jsonl"].decode().splitlines()
    found = [json.loads(line) for line in lines]
    template = load_template("answer_only")
    asked = [messages(template, row, [])[0]["content"] for row in ROWS["test"]]
    assert [row["prompt"] for row in found] == asked
    assert [(row["answer"], row["several"]) for row in found] == [("A", False), ("AC", True), ("B", False)]
    assert [row["target"] for row in found] == ["A", "AC", "B"]


def test_every_tool_gets_code_of_the_datasets_name():
    files = made(*TASKS)
    assert "tasks/questions/train.jsonl" not in files, "an empty split has no file"
    readers = {f"tasks/{tool}/reader.py" for tool in ("inspect", "lm_eval")}
    code = [path for path in files if path.endswith(".py") and path not in readers]
    assert readers <= set(files)
    names = [f"tasks/{tool}/my_exam.py" for tool in ("inspect", "lighteval", "lm_eval", "opencompass")]
    assert sorted(code) == names
    for path in code:
        ast.parse(files[path].decode())
    told = yaml.load(files["tasks/lm_eval/my_exam.yaml"].decode().replace("!function ", ""), yaml.SafeLoader)
    assert (told["task"], told.get("fewshot_split"), told["target_delimiter"]) == ("my_exam", "validation", "\n")


def test_opencompass_gets_the_questions_with_one_answer():
    lines = made("opencompass")["tasks/opencompass/my_exam.jsonl"].decode().splitlines()
    assert [json.loads(line)["answer"] for line in lines] == ["A", "B"]


def test_without_tools_nothing_is_written():
    assert made() == {}


@pytest.mark.parametrize(("name", "module"), [("CMExam-2", "cmexam_2"), ("2024考试", "exam_2024"), ("考试", "exam")])
def test_a_dataset_of_any_name_has_a_module(name, module):
    assert task_name(name) == module
