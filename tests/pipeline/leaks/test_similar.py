import json
import random

import numpy as np
import polars as pl
import pytest
from rapidfuzz import fuzz

from build_dataset.pipeline.leaks.overlap import _folded, near_pairs

STEM = "患者男，65岁，突发胸骨后压榨样疼痛2小时，伴大汗，含服硝酸甘油不缓解，最可能的诊断是"


def pairs(result):
    rows = result.tables["leaks"].select("kind", "question_id", "split", "other_id", "other_split").rows()
    return sorted(rows)


def test_the_same_question_in_two_splits_is_listed(leaks):
    found = leaks({"a": ("train", STEM), "b": ("test", STEM), "c": ("test", STEM + "哪一种")})
    assert pairs(found)[0] == ("exact", "b", "test", "a", "train")
    assert found.facts["across_splits"] == {"exact": 1, "near": 1}
    assert any(note.startswith("warning: 1 exact") for note in found.notes)


def test_within_a_split_nothing_leaks(leaks):
    found = leaks({"a": ("train", STEM), "b": ("train", STEM), "c": ("train", STEM.replace("65", "56"))})
    assert found.tables["leaks"].is_empty()
    assert found.notes == ["no exact or near duplicates across splits"]


@pytest.mark.parametrize(
    "changed",
    [
        STEM.replace("65", "56"),
        STEM.replace("，", ", ").replace("2", "２"),
        STEM.replace("不缓解", "无缓解"),
        STEM.replace("最可能的诊断是", "最可能的诊断是什么"),
    ],
)
def test_a_question_with_a_few_other_characters_is_near(leaks, changed):
    found = leaks({"a": ("validation", changed), "b": ("train", STEM)})
    assert pairs(found)[0][1:] == ("a", "validation", "b", "train")


def test_the_order_of_options_makes_no_other_question(leaks):
    options = ("心肌梗死", "肺栓塞", "主动脉夹层", "气胸")
    found = leaks({"a": ("test", STEM, options), "b": ("train", STEM, options[::-1])})
    assert pairs(found) == [("near", "a", "test", "b", "train")]


@pytest.mark.parametrize(
    ("stem", "options"),
    [
        (STEM, ("肺炎", "肺结核", "胸膜炎", "肋间神经痛")),
        ("关于胸痛，下列叙述正确的是", ("心肌梗死", "肺栓塞", "主动脉夹层", "气胸")),
    ],
)
def test_another_stem_or_other_options_make_another_question(leaks, stem, options):
    found = leaks({"a": ("test", stem, options), "b": ("train", STEM)})
    assert found.tables["leaks"].is_empty()


def test_the_shared_case_counts(leaks):
    case = "患者女，28岁，停经50天，下腹疼痛伴阴道少量流血1天，查体子宫稍大，附件区压痛明显。"
    found = leaks(
        {"a": ("test", "下一步检查是", ("超声", "血常规"), case), "b": ("train", "下一步检查是", ("超声", "血常规"))}
    )
    assert found.tables["leaks"].is_empty()
    found = leaks(
        {
            "a": ("test", "下一步检查是", ("超声", "血常规"), case),
            "b": ("train", "下一步检查是", ("超声", "血常规"), case.replace("28", "29")),
        }
    )
    assert len(pairs(found)) == 1


def test_no_pair_is_missed_that_comparing_all_with_all_finds(shared_data):
    """Copies of real questions with up to a tenth of their characters changed, across two splits."""
    lots = random.Random(5)
    lines = (shared_data / "cmexam" / "val_dev.jsonl").read_text(encoding="utf-8").splitlines()[:400]
    rows = []
    for item in map(json.loads, lines):
        options = [line.partition(" ")[2] for line in item["Options"].split("\n")]
        rows.append((item["Question"], options))
        stem = list(item["Question"])
        for _ in range(lots.randrange(1 + len(stem) // 10)):
            stem[lots.randrange(len(stem))] = lots.choice("肝心脾肺肾")
        rows.append(("".join(stem), lots.sample(options, len(options))))
    texts = pl.DataFrame(rows, schema={"stem": pl.String, "options": pl.List(pl.String)}, orient="row")
    splits = [lots.randrange(3) for _ in rows]
    folded = _folded(texts)
    stems, options = folded["stem"].to_list(), folded["options"].to_list()
    expected = {
        (one, other)
        for one in range(len(rows))
        for other in range(one + 1, len(rows))
        if splits[one] != splits[other]
        and fuzz.ratio(stems[one], stems[other], score_cutoff=90)
        and fuzz.ratio(options[one], options[other], score_cutoff=90)
    }
    found = set(near_pairs(texts, splits, 0.9))
    assert len(expected) > 150
    assert found <= expected
    assert len(found) >= 0.99 * len(expected)


def test_no_questions_have_no_pairs():
    empty = pl.DataFrame(schema={"stem": pl.String, "options": pl.List(pl.String)})
    assert near_pairs(empty, np.empty(0), 0.9) == {}


@pytest.mark.parametrize(("changed", "found"), [(0, "exact"), (4, "near"), (5, None)])
def test_questions_are_near_from_nine_tenths_on(leaks, changed: int, found: str | None):
    """Of 40 characters four may be others; they stand at one end, so that runs are left."""
    stem = "".join(chr(0x5000 + place) for place in range(40))
    other = "".join(chr(0x6000 + place) for place in range(changed)) + stem[changed:]
    result = leaks({"a": ("test", other), "b": ("train", stem)})
    assert [row[0] for row in pairs(result)] == ([found] if found else [])
    if found:
        assert result.tables["leaks"]["score"].to_list() == [round(1 - changed / 40, 4)]
