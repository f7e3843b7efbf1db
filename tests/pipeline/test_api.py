"""The five lines for notebooks: build a dataset, read a table."""

import pytest

from build_dataset.pipeline.api import build, stage_names, table
from build_dataset.schemas.errors import UserError

PAPER = "一、单项选择题\n1. 下列哪项正确\nA. 甲\nB. 乙\nC. 丙\nD. 丁\n答案：A\n"


@pytest.fixture
def config(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "paper.txt").write_text(PAPER, encoding="utf-8")
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\n[executor]\nworkers = 1\n')
    return tmp_path / "dataset.toml"


def test_a_dataset_is_built_and_a_table_of_it_read(config):
    manifests = build(config, last="clean", clean__min_options=4)
    assert list(manifests) == ["ocr", "parse", "clean"]
    assert manifests["clean"]["counts"]["kept"] == 1
    assert manifests["clean"]["params"]["min_options"] == 4
    assert table(str(config), "clean/questions")["stem"].to_list() == ["下列哪项正确"]


@pytest.mark.parametrize("name", ["parse/questions", "../dataset", "x"])
def test_a_table_that_is_not_there_is_told(config, name):
    with pytest.raises(UserError, match="no table"):
        table(config, name)


@pytest.mark.parametrize(("first", "last", "told"), [("x", None, "no stage x"), ("dedup", "ocr", "comes after")])
def test_stages_that_are_none_or_in_the_wrong_order_are_told(first, last, told):
    with pytest.raises(UserError, match=told):
        stage_names(first, last)


@pytest.mark.parametrize(
    ("first", "last", "names"),
    [
        (None, "parse", ["ocr", "parse"]),
        ("audit", None, ["audit", "report"]),
        ("split", "split", ["split"]),
        ("ocr", "clean", ["ocr", "parse", "clean"]),
    ],
)
def test_stages_from_one_to_another_are_named_both_included(first, last, names):
    assert stage_names(first, last) == names
