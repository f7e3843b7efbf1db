"""Misreadings are shown to be such; every other difference makes another question."""

import pytest

from build_dataset.pipeline.dedup.grams import Vocabulary
from build_dataset.pipeline.dedup.misreading import TextPair, content_edits, edits, look_alike

WORDS = (
    "慢性肝炎的病因 慢性胃炎的病因 药物的不良反应是 药物的不良反应有 血压120mmhg 血压120mmhg 慢性肝炎 慢性胃炎",
    "急性肝炎 急性胃炎 泼尼松的结构 泼尼松龙的结构 泼尼松龙可用于 泼尼松可用于 已经治愈的患者 已经治愈",
)


def vocabulary_with(*more: str) -> Vocabulary:
    return Vocabulary([[word for line in WORDS for word in line.split()], more], enough=4)


@pytest.fixture
def vocabulary() -> Vocabulary:
    return vocabulary_with()


def misread(vocabulary, first: str, second: str, **known) -> bool:
    read = TextPair(first, second, vocabulary, **known)
    return all(map(read.looks_misread, content_edits(first, second)))


SCANNED = {"doubtful": (False, True)}


@pytest.mark.parametrize(
    ("first", "second", "scanned", "typed"),
    [
        ("慢性肝炎的病因", "慢性肟炎的病因", True, False),  # 肝 and 肟 are not alike
        ("已经治愈的患者", "己经治愈的患者", True, True),  # 已 and 己 are
        ("慢性胃炎的病因", "慢性胄炎的病因", True, True),
        ("慢性肝炎的病因", "慢性胃炎的病因", False, False),
        ("药物的不良反应是", "药物的态良反应是", True, False),
        ("药物的不良反应是", "药物的良反应是", False, False),
        ("血压120mmhg", "血压12銅mmhg", True, False),
        ("血压120mmhg", "血压130mmhg", False, False),
        ("含氟的药物", "含氯的药物", False, False),  # alike, but exchanged on purpose
        ("淡黄色处方", "淡红色处方", False, False),
    ],
)
def test_an_unsure_recognition_misreads_anything_and_a_table_only_what_looks_alike(
    vocabulary, first: str, second: str, scanned: bool, typed: bool
) -> None:
    assert misread(vocabulary, first, second, **SCANNED) is scanned
    assert misread(vocabulary, first, second) is typed


def test_what_was_read_surely_is_not_what_was_misread(vocabulary) -> None:
    assert not misread(vocabulary, "慢性肝炎的病因", "慢性肟炎的病因", doubtful=(True, False))


@pytest.fixture
def collection() -> Vocabulary:
    """A collection that knows 治疗, 血瘀证 and 血淤证 well."""
    texts = ["胃炎的治疗方法", "气滞血瘀证的治法", "口服降压药物治疗", "高血压患者"] * 30 + ["血疲证的治法", "寒湿证"]
    return Vocabulary([[f"\x1f{text}\x1f" for text in texts + ["治愈的标准"] * 9]], enough=4)


@pytest.mark.parametrize(
    ("first", "second", "agreed", "otherwise"),
    [
        ("气滞血瘀证的治法", "气滞血疲证的治法", True, True),  # alike, and nobody else writes it
        ("胃炎的治疗方法", "胃炎的治辽方法", True, False),  # a set phrase, whatever it was taken for
        ("胃炎的治疗方法", "胃炎的治愈方法", False, False),  # a word that the collection knows
        ("口服降压药物治疗", "口服升压药物治疗", False, False),
        ("高血压患者", "高血压惠者", True, True),
        ("高血压患者用药", "高血压惠济用药", False, False),  # two characters are no misprint
    ],
)
def test_equal_options_and_answers_vouch_for_misprints_and_for_no_other_word(
    collection, first: str, second: str, agreed: bool, otherwise: bool
) -> None:
    assert misread(collection, first, second, agreed=True) is agreed
    assert misread(collection, first, second) is otherwise


@pytest.mark.parametrize(
    ("known", "misread_as_other"),
    [
        ("腹部", True),  # nobody else writes 腰部
        ("腹部 腰部", False),  # both are words, whatever stands before them
        ("", False),  # the collection knows neither
    ],
)
def test_a_word_that_looks_like_another_is_a_misprint_only_where_one_of_them_is_known(
    known: str, misread_as_other: bool
) -> None:
    vocabulary = vocabulary_with(*known.split() * 3)
    first, second = "该患者腹部外伤", "该患者腰部外伤"
    assert look_alike("腹", "腰")
    assert misread(vocabulary, first, second, agreed=True) is misread_as_other


def test_a_place_that_stands_in_the_core_alone_shows_no_misprint() -> None:
    vocabulary = vocabulary_with(*["患者腰部外伤"] * 3)
    pair = TextPair("胃炎", "患者腰部外伤", vocabulary, agreed=True)  # 腹部 does not stand in the first key
    (edit,) = content_edits("患者腹部外伤", "患者腰部外伤")
    assert not pair.looks_misread(edit)


def test_without_enough_of_a_collection_nothing_looks_misread() -> None:
    assert not misread(Vocabulary(), "已经治愈", "己经治愈", **SCANNED)
    assert not misread(Vocabulary(), "血压120mmhg", "血压12銅mmhg", **SCANNED)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("引起肝炎的", "可引起肝炎", True),
        ("喷射性呕吐", "喷射状呕吐", True),
        ("肝脏肿大", "肝肿大", True),
        ("慢性胃炎", "慢性肝炎", False),
        ("左侧", "右侧", False),
        ("急性呕吐", "呕吐", False),
    ],
)
def test_particles_and_suffixes_are_no_content(first: str, second: str, same: bool) -> None:
    assert (not content_edits(first, second)) is same


def test_edits_name_both_readings() -> None:
    (edit,) = edits("慢性肝炎", "慢性肟炎")
    assert (edit.old, edit.new, edit.is_deliberate) == ("肝", "肟", False)
    (exchanged,) = edits("左侧", "右侧")
    assert exchanged.is_deliberate
    (longer,) = edits("用泼尼松龙者", "用地塞米松者")[:1]
    assert "泼" in longer.old


def test_characters_look_alike_or_do_not() -> None:
    pairs, others = "己已 髂骼 瘘瘦 胃胄 清消 菌茵 诊珍 0o 1l", "轻中 栓膜 雷依 支衣 黄红 初复 左右"
    assert [pair for pair in f"{pairs} {others}".split() if look_alike(*pair)] == pairs.split()


def test_a_vocabulary_counts_what_it_was_given(vocabulary) -> None:
    assert [vocabulary.count(*pair) for pair in ("慢性", "胃炎", "不良", "炎胃")] == [4, 3, 2, 0]


@pytest.mark.parametrize(("known", "strays"), [(2, False), (40, True)])
def test_a_frequent_word_can_have_one_misprint(known: int, strays: bool) -> None:
    for misprints, expected in ((1, strays), (5, False)):
        made = Vocabulary([["治疗"] * known + ["治辽"] * misprints], enough=4)
        assert misread(made, "治疗", "治辽", agreed=True) is expected


@pytest.mark.parametrize(("texts", "evidence"), [(10, False), (2000, True)])
def test_many_texts_are_evidence_and_few_are_none(texts: int, evidence: bool) -> None:
    assert Vocabulary([["胃炎"] * texts]).is_evidence is evidence


def test_differences_are_found_with_what_stands_beside_them() -> None:
    assert [tuple(edit) for edit in edits("左侧上肢", "右侧肢体")] == [
        ("左", "右", "左侧", "右侧"),
        ("上肢", "肢体", "侧上肢", "侧肢体"),
    ]
