from __future__ import annotations

import pytest

from build_dataset.pipeline.claims.explanations import SURE, Stated, contradiction, read_explanation
from tests.growth import exponent

OPTIONS = {"A": "阿司匹林", "B": "布洛芬", "C": "可待因", "D": "地塞米松", "E": "以上都是"}


def read(explanation: str | None, *, stem="下列药物属于激素的是", options=None, several=False) -> Stated | None:
    return read_explanation(explanation, stem, options or OPTIONS, several=several)


@pytest.mark.parametrize(
    ("explanation", "answer", "rule"),
    [
        ("地塞米松（D对）是激素。阿司匹林（A错）、布洛芬（B错）、可待因（C错）不是，E错误（E错）。", "D", "all judged"),
        ("属于激素的是地塞米松（D对ABCE错）。", "D", "all judged"),
        ("糖皮质激素的一种（D对）。", "D", "marked"),
        ("三者均可（A对）（B对）（C对）（D对）。", "E", "marked"),
        ("地塞米松（A对）是激素。", "A", "slipped"),
        ("它抑制炎症，故选D。", "D", "stated"),
        ("A项错误，B、C项错误，D项正确，E错误。", "D", "all judged"),
        ("本题答案为D。A错误。", "D", "stated"),
        ("【答案】D 【解析】能抑制炎症。", "D", "stated"),
        ("【正确答案】D【试题分析】参见教材。", "D", "stated"),
        ("（上题选B）本题选D。", "D", "stated"),
        ("B的叙述有误，故为正确答案。", "B", "stated"),
    ],
)
def test_verdicts_and_statements_are_read(explanation, answer, rule):
    found = read(explanation)
    assert found is not None
    assert ("".join(sorted(found.answer or ())), found.rule) == (answer, rule)


@pytest.mark.parametrize("explanation", ["理由同上题（上题选B）。", "前一题答案是B，供对照。", "下题应选C。"])
def test_the_answer_of_another_question_is_none_of_this_one(explanation):
    assert read(explanation) is None


def test_what_is_asked_for_decides_between_right_and_wrong():
    asked = "关于用药的叙述，错误的是"
    found = read("（A对）（B对）（C错）（D对）。", stem=asked)
    assert found is not None
    assert found.answer == {"C"}
    told = read("（B错，为本题正确答案）（A对）", stem=asked)
    assert told is not None
    assert told.answer == {"B"}


def test_where_the_wrong_one_is_asked_for_the_one_that_is_not_called_right_is_the_answer():
    found = read("A、B、C、E正确；D应为口服。", stem="关于用药的叙述，错误的是")
    assert found is not None
    assert found.answer == {"D"}
    assert read("B正确。", stem="关于用药的叙述，错误的是") is None


def test_chu_wai_hai_asks_for_what_is_right():
    found = read("配地塞米松（D对），配可待因无效（C错）。", stem="除休息外，还应选用的药物是")
    assert found is not None
    assert found.answer == {"D"}


def test_several_options_called_right_where_one_is_asked_for_speak_for_none():
    found = read("（A对）（B对）（C错）（D错）")
    assert found is not None
    assert found.answer is None
    assert found.rule == "several"


def test_several_answers_are_what_is_right_of_all_or_wrong_where_that_is_asked():
    options = {label: OPTIONS[label] for label in "ABCD"}
    said = "（A对）（B错）（C错）（D对）"
    right = read(said, options=options, several=True)
    wrong = read(said, options=options, several=True, stem="下列叙述不正确的有")
    assert right is not None
    assert right.answer == {"A", "D"}
    assert wrong is not None
    assert wrong.answer == {"B", "C"}


@pytest.mark.parametrize("explanation", [None, "", "本题考查激素。", "维生素A缺乏与（T细胞）无关。"])
def test_what_says_nothing_says_nothing(explanation):
    assert read(explanation) is None


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["（", "（A对", "A、", "（A对）", "不", "除外"])
def test_hostile_text_takes_linear_time(unit):
    assert exponent(lambda count: read(unit * count, stem=unit * 50)) <= 1.4


WRONG = "Answer A: it is seen in other diseases.\nAnswer B: it is too early for this step."


@pytest.mark.parametrize(
    ("told", "key"),
    [
        (f"The drug is well known.\n\nIncorrect Answers:\n{WRONG}", "D"),
        ("Incorrect Answers:\nAnswer C: Ultrasound is the most accurate test of all.", "D"),
        ("Answers A-C: none of them explains the fever of the patient.", "D"),
    ],
)
def test_an_explanation_that_goes_through_the_wrong_options_speaks_against_no_key(told, key):
    options = dict(zip("ABCD", ("Ultrasound", "CT", "MRI", "Biopsy"), strict=True))
    assert contradiction(told, "Which test is next?", options, [key]) is None


def test_one_answer_that_is_stated_still_speaks_against_another_key():
    options = dict(zip("ABCD", ("Ultrasound", "CT", "MRI", "Biopsy"), strict=True))
    assert contradiction("The correct answer is B: it is fast.", "Which test is next?", options, ["D"])


@pytest.mark.parametrize(
    ("told", "speaks"),
    [
        ("正解は Math.floor(3.9) は 3 です。", False),
        ("print(B) is correct.", False),
        ("Answer: (B)", True),
        ("答案是(B)", True),
    ],
)
def test_code_in_an_explanation_speaks_against_no_key(told, speaks):
    options = dict(zip("ABCD", ("Date", "Math", "String", "Number"), strict=True))
    assert (contradiction(told, "Which object is it?", options, ["A"]) is not None) is speaks


@pytest.mark.parametrize(
    ("explanation", "stem", "answer"),
    [
        ("復号の方式である。よってウが正しい。アのDESは暗号であり、イのDNSは名前解決である。", "方式はどれか。", "C"),
        ("イのDNSは名前解決である。エが適切である。", "方式はどれか。", "D"),
        ("最も長い経路はA→C→Eであり、答えの日数はこれによる。", "所要日数は何日か。", None),
    ],
)
def test_the_place_of_a_japanese_option_is_its_answer_and_a_way_through_a_plan_is_none(explanation, stem, answer):
    found = read(explanation, stem=stem, options={"A": "DES", "B": "DNS", "C": "RADIUS", "D": "IDS"})
    assert (found and "".join(found.answer or ())) == answer


@pytest.mark.parametrize(
    "verdict",
    [
        "{}错误。",
        "{}正确。",
        "除{}外均错误。",
        "除{}外均正确。",
        "选{}。",
        "排除{}。",
        "({}错)",
        "故不选{}。",
        "{}错误，故选C。",
    ],
)
@pytest.mark.parametrize("stem", ["下列药物属于激素的是", "下列药物不属于激素的是", "Each is a hormone EXCEPT"])
@pytest.mark.parametrize("named", ["B", "布洛芬", "选项B", "b"])
@pytest.mark.parametrize("labels", ["ABC", "ABCDE"])
def test_a_text_speaks_against_a_key_beside_it_as_it_does_without(verdict, stem, named, labels):
    told, options = verdict.format(named), {label: OPTIONS[label] for label in labels}
    stated = read(told, stem=stem, options=options)
    against = stated is not None and stated.rule in SURE and stated.answer not in (None, {"B"})
    assert against == (contradiction(told, stem, options, "B") is not None)
