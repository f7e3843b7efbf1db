"""A dataset that is not medical: its own label set, from the prompt to the release."""

import json

import polars as pl
import pytest

from build_dataset.annotation.label_studio.screen import review_config
from build_dataset.annotation.lexicon_annotator import _ours as lexicon_of_cmexam, lexicon
from build_dataset.annotation.llm_annotator import label_prompt
from build_dataset.annotation.params import AnnotateLlmOptions
from build_dataset.pipeline.api import build, table
from build_dataset.pipeline.config import load, read_label_set
from build_dataset.pipeline.runtime.runner import Runner
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.release import ReleaseRow
from build_dataset.schemas.taxonomy import cmexam, dimensions, use_label_set

LAW = """
subject = "法学"

[[dimensions]]
name = "area_of_law"
zh = "法律部门"
en = "Area of law"
definition = "题目主要考查的法律部门。"
labels = [
  { zh = "民法", en = "Civil law", words = ["合同", "物权"], not_words = ["人民法院"] },
  { zh = "刑法", en = "Criminal law", words = ["犯罪", "刑罚"] },
]

[[dimensions]]
name = "difficulty"
zh = "难度"
en = "Difficulty"
labels = [
  { zh = "易", en = "Easy" }, { zh = "较易", en = "Manageable" }, { zh = "中等", en = "Moderate" },
  { zh = "较难", en = "Difficult" }, { zh = "极难", en = "Extra difficult" },
]
"""
SUBJECTS = ("合同的效力", "犯罪的构成", "最高人民法院的职权")


@pytest.fixture(autouse=True)
def _medical_again():
    yield
    use_label_set(None)


@pytest.fixture
def law(tmp_path):
    (tmp_path / "labels.toml").write_text(LAW, encoding="utf-8")
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "law"\nlabels = "labels.toml"\n', encoding="utf-8")
    return tmp_path


TEXTS = ("甲可以得到第{}份", "乙等了{}天", "丙没有来过{}次以上", "丁要问{}个人才行")


def paper(folder):
    (folder / "raw").mkdir()
    rows = [
        {
            "question": f"关于{SUBJECTS[number % 3]}，第{number}种情形下列哪一选项是正确的",
            "option": {letter: text.format(number) for letter, text in zip("ABCD", TEXTS, strict=True)},
            "answer": "ABCD"[number % 4],
            "exam_class": "国家统一法律职业资格考试",
            "accuracy": 0.95 if number == 0 else None,
        }
        for number in range(30)
    ]
    (folder / "raw" / "law.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


@pytest.mark.slow
def test_a_law_exam_goes_from_the_paper_to_the_report_with_its_own_labels(law):
    paper(law)
    config = load(law / "dataset.toml")
    runner = Runner(config)
    assert runner.run(["ocr", "parse", "clean", "dedup", "annotate", "review", "calibrate", "split", "leaks", "export"])
    assert runner.run(["evaluate", "report"])
    rows = pl.concat(
        pl.read_parquet(law / "build" / "export" / f"{name}.parquet") for name in ("train", "validation", "test")
    )
    assert rows.height == 30
    assert rows.columns == ReleaseRow.column_names()
    assert "disease_group" not in rows.columns
    counts = dict(rows["area_of_law"].value_counts().iter_rows())
    assert counts == {"民法": 10, "刑法": 10, None: 10}  # of the third kind the lexicon knows no word
    assert rows["difficulty"].drop_nulls().to_list() == [
        "易"
    ]  # measured where people's accuracy is known, never guessed
    assert "Area of law 法律部门" in (law / "build" / "export" / "README.md").read_text(encoding="utf-8")
    assert "Area of law" in (law / "build" / "report" / "index.html").read_text(encoding="utf-8")
    assert pl.read_csv(law / "build" / "export" / "cmexam" / "train.csv").columns[-2:] == [
        "area_of_law",
        "Difficulty level",
    ]
    scores = pl.read_parquet(law / "build" / "evaluate" / "scores.parquet")
    assert {"area_of_law", "overall"} <= set(scores["dimension"])


def test_another_label_makes_what_labels_stale_and_nothing_before(law):
    paper(law)
    Runner(load(law / "dataset.toml")).run(["ocr", "parse", "clean", "dedup", "annotate"])
    (law / "labels.toml").write_text(LAW.replace('"犯罪"', '"罪名"'), encoding="utf-8")
    runner = Runner(load(law / "dataset.toml"))
    assert runner.due(["ocr", "parse", "clean", "dedup", "annotate"]) == ["annotate"]


def test_models_and_experts_are_asked_in_the_dimensions_of_the_set(law):
    load(law / "dataset.toml")
    prompt = label_prompt(AnnotateLlmOptions(response_format="json_schema"))
    assert "你是一位法学教育与法学考试领域的专家" in prompt.system
    assert "## 法律部门\n题目主要考查的法律部门。\n1民法；2刑法" in prompt.system
    assert "{{" not in prompt.system
    assert list(prompt.form["json_schema"]["schema"]["properties"]) == ["法律部门", "难度"]
    screen = review_config()
    assert "民法" in screen
    assert "疾病组" not in screen


SIXTH = """
extends = "cmexam"

[[dimensions]]
name = "setting"
zh = "诊疗场所"
en = "Setting"
labels = [
  { zh = "门诊", en = "Outpatient", words = ["门诊"] }, { zh = "急诊", en = "Emergency", words = ["急诊", "抢救"] },
]
"""


def test_a_sixth_dimension_keeps_cmexams_own_with_their_lexicon_and_prompt(law):
    (law / "labels.toml").write_text(SIXTH, encoding="utf-8")
    paper(law)
    config = load(law / "dataset.toml")
    assert list(dimensions()) == [*cmexam().by_name, "setting"]
    assert lexicon("competency") is lexicon_of_cmexam("competency"), "its terms stay"
    prompt = label_prompt(AnnotateLlmOptions(response_format="json_schema"))
    assert "在六个维度各选一个类别" in prompt.system
    assert "## 诊疗场所\n1门诊；2急诊" in prompt.system
    assert config.params("split").stratify_by == ["exam_class", "medical_discipline", "question_type"]
    Runner(config).run(["ocr", "parse", "clean", "dedup", "annotate"])
    labelled = pl.read_parquet(law / "build" / "annotate" / "annotations.parquet")
    assert {"competency", "difficulty", "disease_group"} <= set(labelled["dimension"])
    (law / "labels.toml").write_text(SIXTH.replace('"setting"', '"competency"'), encoding="utf-8")
    with pytest.raises(UserError, match="competency is there twice"):
        load(law / "dataset.toml")


def test_from_python_the_label_set_of_one_dataset_does_not_reach_the_next(law):
    paper(law)
    build(law / "dataset.toml", last="parse")
    assert table(law / "dataset.toml", "parse/questions").height == 30
    assert list(dimensions()) == list(cmexam().by_name)


def test_the_next_configuration_without_a_set_is_medical_again(law, tmp_path):
    load(law / "dataset.toml")
    assert list(dimensions()) == ["area_of_law", "difficulty"]
    (tmp_path / "other.toml").write_text('[dataset]\nname = "other"\n', encoding="utf-8")
    load(tmp_path / "other.toml")
    assert len(dimensions()) == 5


def test_strata_may_be_named_after_the_sets_own_dimensions(law):
    text = (law / "dataset.toml").read_text(encoding="utf-8")
    (law / "dataset.toml").write_text(text + '[split]\nstratify_by = ["area_of_law"]\n', encoding="utf-8")
    load(law / "dataset.toml")
    (law / "dataset.toml").write_text(text + '[split]\nstratify_by = ["competency"]\n', encoding="utf-8")
    with pytest.raises(UserError, match="cannot stratify by 'competency'"):
        load(law / "dataset.toml")


ONE_LABEL = '[[dimensions]]\nname = "a"\nzh = "甲"\nen = "A"\nlabels = [{ zh = "乙" }]\n'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('zh = "刑法"', 'zh = "民法"', "a label is there twice"),
        ('en = "Criminal law"', 'en = "civil law"', "names both 民法 and 刑法"),
        ('name = "area_of_law"', 'name = "stem"', "two columns would be called stem"),
        ('name = "area_of_law"', 'name = "Area of law"', "dimensions.0.name"),
        ('name = "area_of_law"', 'name = "difficulty"', "difficulty is there twice|needs 5 labels"),
        ('zh = "极难"', "zh = ", "is not TOML"),
        ("subject", "topic", r"unknown key topic; known here: extends, subject, dimensions$"),
        ("民法", " ", r"dimensions\.0\.labels\.0\.zh"),
        (LAW, ONE_LABEL, r"^\S+ dimensions\.0\.labels\.0\.en is missing: add it$"),  # not that labels are too few, too
    ],
)
def test_what_is_wrong_with_a_label_set_is_told_in_a_line(tmp_path, old, new, said):
    path = tmp_path / "labels.toml"
    path.write_text(LAW.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError, match=said):
        read_label_set(path)


def test_a_label_set_that_is_not_there_is_told(law):
    (law / "labels.toml").unlink()
    with pytest.raises(UserError, match=r"no file .*labels\.toml: correct dataset\.labels"):
        load(law / "dataset.toml")


@pytest.mark.parametrize("name", ["area_of_law_status", "area_of_law_en", "label"])
def test_dimensions_whose_columns_would_be_called_alike_are_refused(law, name):
    second = LAW.split("[[dimensions]]")[2].replace('name = "difficulty"', f'name = "{name}"')
    (law / "labels.toml").write_text(f"{LAW}\n[[dimensions]]{second}", encoding="utf-8")
    with pytest.raises(UserError, match="two columns would be called"):
        read_label_set(law / "labels.toml")
