from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from build_dataset.annotation.lexicon_annotator import (
    LabelTerms,
    Lexicon,
    LexiconAnnotator,
    lexicon,
    score_labels,
    scored_dimensions,
    shares_of,
)
from build_dataset.pipeline.inspect.bank import read_labelled
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import Dimension, LabelName, LabelSet, dimensions, use_label_set
from tests.making import make_question


def question(stem: str, options: str = "", answer: str | None = None, **more) -> Question:
    return make_question(stem, options, answer, **more)


def label(asked: Question):
    (found,) = LexiconAnnotator().annotate([asked], lambda count: None)
    return found.verdicts


def one_by_one(terms: set[str], text: str) -> list[str]:
    """The terms in a text, place by place: the longest at each, none inside another."""
    found, at = [], 0
    while at < len(text):
        here = max((term for term in terms if text.startswith(term, at)), key=len, default="")
        found += [here] if here else []
        at += len(here) or 1
    return found


@pytest.mark.parametrize("dimension", scored_dimensions())
def test_term_lists_and_hints_are_about_labels_of_the_taxonomy(dimension):
    names = [item.name for item in lexicon(dimension).labels]
    assert set(names) <= set(dimensions()[dimension].zh_names())
    assert len(names) == len(set(names))
    for item in lexicon(dimension).labels:
        for name, weights in item.links.items():
            assert set(weights) <= set(dimensions()[name].zh_names())


@pytest.mark.parametrize(
    ("stem", "options", "answer", "dimension", "expected"),
    [
        ("支气管哮喘急性发作时首选的药物是", "沙丁胺醇 阿托品", "A", "disease_group", "呼吸系统疾病"),
        ("幽门螺杆菌阳性的十二指肠溃疡应选用的方案", "三联疗法 手术", "A", "disease_group", "消化系统疾病"),
        ("患者舌红苔黄腻，脉滑数，其证候是", "肝胆湿热 脾虚", "A", "disease_group", "补充章传统医学病证-模块1"),
        ("正态分布的标准差说明", "离散程度 平均水平", "A", "disease_group", "不符合"),
        ("恒牙迟萌，拔牙后如何设计义齿的基牙与卡环", "", None, "clinical_department", "口腔科"),
        ("产后出血最常见的原因是", "宫缩乏力 胎盘残留", "A", "clinical_department", "妇产科"),
        ("精神分裂症患者出现被害妄想", "", None, "clinical_department", "精神科"),
        ("缓释片剂的辅料中用作包衣的是", "", None, "medical_discipline", "药学"),
        ("具有清热燥湿功效的药物，其药材断面呈菊花心", "黄芩 黄芪", None, "medical_discipline", "中药学"),
        ("队列研究中计算相对危险度", "", None, "medical_discipline", "公卫预防"),
        ("最可能的诊断是", "肺炎 肺结核", None, "competency", "疾病诊断和鉴别诊断"),
        ("首选的治疗药物是", "", None, "competency", "疾病治疗"),
        ("执业医师法规定，吊销其执业证书的行政处罚", "", None, "competency", "公共卫生法律伦理"),
    ],
)
def test_plain_cases(stem, options, answer, dimension, expected):
    assert label(question(stem, options, answer))[dimension].label.zh == expected


def test_the_exam_s_name_settles_the_discipline():
    plain = question("青霉素的作用机制是")
    dental = question("青霉素的作用机制是", exam_class="口腔执业医师")
    assert label(plain)["medical_discipline"].label.zh == "药学"
    assert label(dental)["medical_discipline"].label.zh == "口腔医学"


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=4))
def test_labels_are_of_the_set_with_confidences(stem, options):
    verdicts = label(question(stem, " ".join(options)))
    assert "difficulty" not in verdicts  # the text does not tell it
    for name, verdict in verdicts.items():
        assert verdict.label in dimensions()[name].labels
        assert 0.6 <= verdict.confidence <= 1
        assert not verdict.estimate


def test_the_longest_term_wins_and_width_and_case_do_not_matter():
    words = Lexicon((LabelTerms(name="a", strong="结核 肺结核 (牙合)关系 ＨＩＶ 胃 胃癌"),))
    assert words.find(["肺结核与hiv", "胃癌与胃", "(牙合)关系"]) == [["肺结核", "hiv"], ["胃癌", "胃"], ["(牙合)关系"]]


@given(st.lists(st.text(alphabet="肺结核胃炎癌 a(", max_size=20), max_size=5))
def test_terms_are_found_in_order_without_overlap(texts):
    strong, weak = "肺结核 结核 胃炎 胃癌 (a", "肺 胃 a"
    words = Lexicon((LabelTerms(name="a", strong=strong, weak=weak),))
    assert words.find(texts) == [one_by_one({*strong.split(), *weak.split()}, text) for text in texts]


def test_questions_are_labelled_together_as_each_is_alone():
    questions = [question("慢性胃炎首选的检查是"), question("肺结核的首选药物是"), question("")]
    together = LexiconAnnotator().annotate(questions, lambda count: None)
    assert [found.verdicts for found in together] == [label(each) for each in questions]


def test_every_output_says_that_it_is_the_lexicon():
    identity = LexiconAnnotator().identity
    assert identity.name == "lexicon"
    assert "offline by the lexicon" in identity.notes[0]


def test_it_beats_the_most_frequent_label_on_experts_labels(shared_data):
    items = read_labelled(shared_data / "cmexam" / "annotated_dev.jsonl")
    assert len(items) == 1000
    asked = [item.question for item in items]
    found = [each.verdicts for each in LexiconAnnotator().annotate(asked, lambda count: None)]
    for name in scored_dimensions():
        gold = [item.labels[name] for item in items]
        said = [(one[name].label, expert) for one, expert in zip(found, gold, strict=True) if name in one]
        accuracy = np.mean([label == expert for label, expert in said])
        assert len(said) > 0.65 * len(gold)
        baseline = Counter(gold).most_common(1)[0][1] / len(gold)
        assert accuracy > baseline + 0.3, f"{name}: {accuracy:.3f} against {baseline:.3f}"


def test_a_term_that_names_a_label_counts_three_times_one_that_goes_with_it():
    words = Lexicon((LabelTerms(name="a", strong="甲", weak="乙 甲", none="乙烯"), LabelTerms(name="b", weak="甲")))
    assert words.weights == {"甲": {"a": 3.0, "b": 1.0}, "乙": {"a": 1.0}, "乙烯": {}}


@pytest.fixture
def colours():
    red, blue = LabelName(zh="红", en="Red", words=("火",)), LabelName(zh="蓝", en="Blue")
    use_label_set(LabelSet(dimensions=(Dimension(name="colour", zh="颜色", en="Colour", labels=(red, blue)),)))


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"stem": "蓝"}, 2.0),
        ({"shared_stem": "蓝"}, 2.0),
        ({"options": "蓝 x", "answer": "A"}, 1.5),
        ({"options": "蓝 x", "answer": "B"}, 0.6),
        ({"options": "蓝 x"}, 0.6),
        ({"explanation": "蓝"}, 0.8),
        ({"options": "蓝 蓝", "explanation": "蓝"}, 0.8),
    ],
)
def test_a_term_counts_by_the_best_place_where_it_stands(colours, fields, place):
    asked = question(fields.pop("stem", ""), fields.pop("options", ""), fields.pop("answer", None), **fields)
    both = asked.model_copy(update={"stem": f"{asked.stem} 火"})
    [shares] = shares_of([both])
    red, blue = (3 * 2.0) ** 2, (3 * place) ** 2
    assert shares == {"colour": pytest.approx({"红": red / (red + blue), "蓝": blue / (red + blue)})}


def test_a_verdict_is_as_sure_as_its_share_of_the_score(colours):
    verdicts = label(question("蓝 火", "火 x", "B"))
    assert verdicts == {}
    assert label(question("火 火", "蓝 x", "B"))["colour"].confidence == round(6**2 / (6**2 + 1.8**2), 3)


@pytest.mark.parametrize("stem", ["", "下列说法正确的是", "以上都不是"])
def test_a_label_is_not_said_without_a_term_for_it_but_by_the_exam_s_name_alone(stem):
    assert label(question(stem)) == {}
    assert [*label(question(stem, exam_class="口腔执业医师"))] == ["medical_discipline"]


@pytest.mark.parametrize(
    ("stem", "dimension", "not_said"),
    [
        ("患者，女，25岁", "disease_group", "影响健康状态或与保健机构接触的因素"),
        ("X线片上", "medical_discipline", "中药学"),
        ("心率", "medical_discipline", "公卫预防"),
        ("下颌隆突", "clinical_department", "民族医学科"),
        ("检查方法", "competency", "公共卫生法律伦理"),
    ],
)
def test_a_character_of_a_common_word_is_no_term(stem, dimension, not_said):
    [shares] = shares_of([question(stem)])
    base = next(shares_of([question("")]))
    assert shares[dimension][not_said] <= base[dimension][not_said]


def test_labels_of_dimensions_decided_before_add_their_share():
    plain = score_labels("clinical_department", [], "", {})
    half = score_labels("clinical_department", [], "", {"disease_group": {"肿瘤": 0.5}})
    added = {name: half[name] - plain[name] for name in plain if half[name] != plain[name]}
    weights = {
        item.name: item.links["disease_group"]["肿瘤"]
        for item in lexicon("clinical_department").labels
        if "肿瘤" in item.links.get("disease_group", {})
    }
    assert added == pytest.approx({name: weight / 2 for name, weight in weights.items()})
    assert len(added) > 1
