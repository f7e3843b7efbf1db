"""Unsure characters of recognised words, decided between their neighbours."""

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.ocr.interfaces import Doubt, Word
from build_dataset.pipeline.ocr.language.counts import Language
from build_dataset.pipeline.ocr.language.decoding import decode, sure_parts

LANGUAGE = Language()


def word(text: str, *doubts: Doubt) -> Word:
    return Word(text, (), 0.5, doubts)


def doubt(text: str, char: str, sure: float, *others: tuple[str, float]) -> Doubt:
    return Doubt(text.index(char), sure, others=others)


def decoded(*words: Word) -> list[str]:
    return [one.text for one in decode(words, LANGUAGE)]


def test_an_unsure_character_becomes_the_likely_one_that_fits_its_neighbours():
    text = "告知其冀便潛血檢查"
    (found,) = decode([word(text, doubt(text, "冀", 0.6, ("糞", 0.39)))], LANGUAGE)
    assert found.text == "告知其糞便潛血檢查"
    assert [(one.text, one.other) for one in found.unsure if one.at == text.index("冀")] == [("糞", "冀")]


def test_characters_that_touch_are_decided_together():
    text = "发生热性座奕时应"
    doubts = doubt(text, "座", 0.5, ("痉", 0.4)), doubt(text, "奕", 0.5, ("挛", 0.4))
    assert decoded(word(text, *doubts)) == ["发生热性痉挛时应"]


def test_a_traditional_page_keeps_its_script():
    text = "前面的敘速，下列"
    assert decoded(word("醫學診療藥劑"), word(text, doubt(text, "速", 0.5, ("述", 0.4))))[1] == "前面的敘述，下列"
    text = "無故量倒到醫院檢查"
    doubts = doubt(text, "量", 0.5, ("晕", 0.4), ("暈", 0.05))
    assert "晕" not in decoded(word("醫學診療藥劑"), word(text, doubts))[1], "simplified, on a page that is not"
    text = "全收縮期雑音明顯"
    assert "雜音" in decoded(word("醫學診療藥劑"), word(text, doubt(text, "雑", 0.7, ("雜", 0.29))))[1], "Japanese"


@pytest.mark.parametrize(
    ("text", "char", "other"), [("血压150毫米", "1", "7"), ("选择A组病人", "A", "B"), ("体温，升高", "，", "。")]
)
def test_digits_letters_and_marks_stay_as_they_were_read(text, char, other):
    assert decoded(word(text, doubt(text, char, 0.5, (other, 0.49)))) == [text]


def test_what_looks_otherwise_is_not_written_however_well_it_fits():
    text = "告知其甲便潛血檢查"
    assert decoded(word(text, doubt(text, "甲", 0.99, ("糞", 0.008)))) == [text]


@pytest.mark.parametrize(("text", "char", "other"), [("冀便潛血檢查", "冀", "糞"), ("D.倾④和⑤", "倾", "体")])
def test_nothing_is_decided_where_a_line_breaks_off_or_between_marks(text, char, other):
    assert decoded(word(text, doubt(text, char, 0.55, (other, 0.42)))) == [text]


def test_a_word_is_less_sure_the_less_sure_one_of_its_characters_is():
    text = "病人15岁"
    told = [decode([word(text, Doubt(3, sure))], LANGUAGE)[0].confidence for sure in (0.99, 0.9, 0.6)]
    assert told == sorted(told, reverse=True)
    assert told[0] > told[-1]


def test_a_strange_character_makes_its_word_less_sure():
    usual, strange = (decode([word(text)], LANGUAGE)[0].confidence for text in ("乾嘔；頭暈。", "乾嘔；頭睡。"))
    assert strange < usual


def test_a_stroke_that_may_be_another_is_doubtful_unless_a_digit_stands_beside_it():
    sure = [
        decode([word(text, Doubt(text.index("1"), 0.94, others=(("I", 0.03),)))], LANGUAGE)[0].confidence
        for text in ("下列1型急进", "下列15型急")
    ]
    assert sure[0] < sure[1]


def confidence(page: str, text: str, *doubts: Doubt) -> float:
    return decode([word(page), word(text, *doubts)], LANGUAGE)[1].confidence


@pytest.mark.parametrize(
    ("page", "text", "char", "other"),
    [
        ("醫學診療藥劑", "血中的鉀離子濃度", "鉀", "钾"),
        ("医学诊疗药剂", "血中的钾离子浓度", "钾", "鉀"),
        ("計數", "每mm3的", "3", "³"),
        ("醫學診療藥劑", "未摸到睪丸者", "睪", "睾"),
        ("醫學診療藥劑", "一般狀況尚可", "尚", "尙"),
        ("醫學診療藥劑", "腎病徵候群者", "徵", "徴"),
        ("醫學診療藥劑", "術後餵食之前", "餵", "喂"),
    ],
)
def test_another_form_of_a_character_is_no_doubt_of_it(page, text, char, other):
    form = confidence(page, text, doubt(text, char, 0.55, (other, 0.44)))
    assert form == pytest.approx(confidence(page, text, doubt(text, char, 0.99)), abs=0.01)
    assert form > confidence(page, text, doubt(text, char, 0.55, ("押", 0.44)))


def test_two_characters_of_one_script_are_two_though_they_have_one_simplified_form():
    text = "神經復位之後"
    one = confidence("醫學診療藥劑", text, doubt(text, "復", 0.55, ("複", 0.44)))
    assert one < confidence("醫學診療藥劑", text, doubt(text, "復", 0.99))


def test_an_l_that_begins_a_word_and_looks_like_a_one_is_an_l():
    text = "利尿劑（1oop diuretics）"
    (found,) = decode([word(text, doubt(text, "1", 0.7, ("l", 0.29)))], LANGUAGE)
    assert found.text == "利尿劑（loop diuretics）"
    assert ("l", "1") in [(one.text, one.other) for one in found.unsure]


@pytest.mark.parametrize("text", ["加入1atm的", "共1inch長", "約1mmol的", "第11aaa號", "約1.1aaa的"])
def test_a_one_before_a_unit_or_behind_a_digit_stays(text):
    at = text.rindex("1")
    assert decoded(word(text, Doubt(at, 0.6, others=(("l", 0.39),)))) == [text]


@pytest.mark.parametrize(("text", "char", "other"), [("该a受体阻断", "a", "α"), ("含y球蛋白", "y", "γ")])
def test_a_lone_letter_that_may_be_greek_is_doubtful(text, char, other):
    sure, unsure = (
        decode([word(text, doubt(text, char, 0.97, one))], LANGUAGE)[0].confidence
        for one in (("q", 0.02), (other, 0.02))
    )
    assert unsure < sure


def test_a_mark_or_space_that_may_be_a_digit_makes_its_word_unsure():
    text = "维生素B,缺乏"
    mark, digit = (
        decode([word(text, doubt(text, ",", 0.7, (one, 0.2)))], LANGUAGE)[0].confidence for one in ("，", "₁")
    )
    assert digit == pytest.approx(0.8 * mark, rel=0.02)


@given(st.text("冀便潜血检查12AB，", min_size=1, max_size=12), st.data())
def test_only_ideographs_change_and_places_stay(text, data):
    places = data.draw(st.sets(st.integers(0, len(text) - 1)))
    doubts = [Doubt(at, 0.5, others=(("粪", 0.3), ("7", 0.1), ("X", 0.1))) for at in sorted(places)]
    (written,) = decode([word(text, *doubts)], LANGUAGE)
    assert len(written.text) == len(text)
    changed = [(old, new) for old, new in zip(text, written.text, strict=True) if old != new]
    assert all(new == "粪" and old in "冀便潜血检查" for old, new in changed)
    assert {new for _, new in changed} <= {one.text for one in written.unsure}
    assert 0 <= written.confidence <= 1


def test_the_parts_of_a_word_between_its_doubts_are_sure():
    row = ["甲乙丙丁戊癸庚辛", *[0] * 9, [[3, 0.5, 0, []], [6, 0.99, 0, []]]]
    assert list(sure_parts(row)) == ["甲乙丙", "戊癸庚辛"]
    assert list(sure_parts(row[:10])) == []


def test_the_characters_that_make_a_word_unsure_are_told_with_what_else_they_may_be():
    text = "皮肤瘪痒伴有黄疸的病人"
    (found,) = decode(
        [word(text, doubt(text, "瘪", 0.6, ("痹", 0.01)), doubt(text, "黄", 0.97, ("廣", 0.02)))], LANGUAGE
    )
    first = found.unsure[0]
    assert (first.before, first.text, first.after, first.other, first.at) == ("皮肤", "瘪", "痒伴有黄疸的", "痹", 2)
    assert first.sure == min(one.sure for one in found.unsure) < 0.95


def test_a_character_that_the_language_decided_is_told_with_what_was_seen():
    text = "告知其冀便潛血檢查"
    (found,) = decode([word(text, doubt(text, "冀", 0.6, ("糞", 0.39)))], LANGUAGE)
    assert ("糞", "冀") in [(one.text, one.other) for one in found.unsure]


def test_of_a_sure_word_nothing_is_told_and_of_a_bad_one_no_more_than_eight_characters():
    (sure,) = decode([word("病人有黄疸")], LANGUAGE)
    text = "K3b7Q1m9Zx4Tf"
    (bad,) = decode([word(text, *(doubt(text, char, 0.3, ("口", 0.2)) for char in text))], LANGUAGE)
    assert (sure.unsure, len(bad.unsure)) == ((), 8)


@pytest.mark.parametrize("dash", ["—", "-", "→"])
def test_a_dash_that_reads_as_a_one_is_a_doubt_though_it_stays(dash):
    text = "腸蠕動增加一腹瀉"
    sure, unsure = (decode([word(text, doubt(text, "一", 0.7, (one, 0.29)))], LANGUAGE)[0] for one in ("二", dash))
    assert (sure.text, unsure.text) == (text, text)
    assert unsure.confidence <= 0.5
    text = "，下列那一組藥物最適合"
    assert confidence(text, text, doubt(text, "一", 0.7, (dash, 0.29))) > 0.9, "what stands around it says 一"


def test_the_letter_of_a_label_is_no_doubt_since_its_order_is_looked_at():
    for text in ("B. 甲状腺", "(B)甲状腺", "(b)甲状腺", "A.气虚\tB.血虚"):
        assert confidence(text, text, Doubt(text.lower().index("b"), 0.6, others=(("8", 0.39),))) > 0.97
    assert confidence("乙B型", "乙B型", Doubt(1, 0.6, others=(("8", 0.39),))) < 0.95
    assert confidence("8.血虚", "8.血虚", Doubt(0, 0.6, others=(("B", 0.39),))) > 0.97, "between A and C it is a B"
    assert confidence("8.血虚", "8.血虚", Doubt(0, 0.6, others=(("3", 0.39),))) < 0.95


@pytest.mark.parametrize(
    ("read", "printed"),
    [
        ("兩側踝部水睡明顯", "兩側踝部水腫明顯"),
        ("可能對病情有粼助", "可能對病情有幫助"),
        ("慢性臀衰竭病人之治療", "慢性腎衰竭病人之治療"),
    ],
)
def test_what_was_read_with_certainty_waits_where_a_look_alike_fits_far_better(read, printed):
    (found,) = decode([word(read)], LANGUAGE)
    assert (found.text, found.confidence <= 0.5) == (read, True), "a misprint may be what the paper says"
    assert found.unsure[0].other in printed


def test_a_character_is_less_sure_where_nothing_that_was_seen_fits():
    lost, printed = "气管隆峭受累，此时最", "气管分叉受累，此时最"
    sure = [
        decode([word(text, Doubt(3, 0.97, others=(("哨", 0.01),)))], LANGUAGE)[0].confidence for text in (lost, printed)
    ]
    assert 1 - sure[0] > 3 * (1 - sure[1])


def test_a_character_too_rare_to_be_told_stays_as_it_was_read():
    text = "腘动脉栓塞的症状"
    assert decoded(word(text, Doubt(0, 0.5, others=(("脑", 0.4),)))) == [text]


def test_words_that_end_in_the_next_line_are_read_whole():
    first, second = (
        Word("手术治疗的是下列敘", ((0, 0), (90, 0), (90, 10), (0, 10)), 0.5, (Doubt(8, 0.6, others=(("救", 0.3),)),)),
        Word("述何者正确", ((0, 15), (50, 15), (50, 25), (0, 25)), 0.5, ()),
    )
    other = Word("急性肾衰竭", ((0, -15), (50, -15), (50, -5), (0, -5)), 0.5, ())
    whole, alone = (decode(words, LANGUAGE)[-1].confidence for words in ([second, other, first], [other, first]))
    assert whole > alone


def test_an_unsure_place_may_have_been_read_as_two_letters():
    text = "肝豆状核变性病人"
    assert decoded(word(text, doubt(text, "核", 0.6, ("II", 0.2), ("接", 0.1)))) == [text]


def test_the_text_of_a_strange_character_does_not_speak_for_its_look_alike():
    text = "(A)白袍高血壓（white coat）"
    assert decode([word("下列何者為正確的診斷"), word(text)], Language(recognised=[text]))[1].confidence > 0.9


def test_a_misread_character_of_the_folder_is_no_evidence_of_itself():
    text = "可能對病情有粼助"
    assert decode([word(text)], Language(recognised=[text]))[0].confidence <= 0.5


@pytest.mark.parametrize(
    "text", ["病人容易入睡", "體內出現水睡", "会话侦听和劫持技术", "有，乙得訴請法院請求丙拆屋還地"]
)
def test_a_character_whose_look_alike_fits_one_place_alone_or_no_better_among_all_does_not_wait(text):
    assert decode([word(text)], LANGUAGE)[0].confidence > 0.5


def test_a_place_beside_ink_that_no_character_claims_waits():
    text = "直徑3公分之壓瘡（pressure sore）"
    assert confidence(text, text) > 0.9
    assert confidence(text, text, Doubt(len(text) - 1, 1.0, gap=1.0)) <= 0.5


def test_what_is_written_against_the_picture_waits():
    text = "B.定痫丸"
    (found,) = decode([word(text, doubt(text, "痫", 0.8882, ("痛", 0.1057)))], LANGUAGE)
    assert found.confidence < 0.95


def test_a_word_before_a_number_in_a_circle_is_decided_by_the_same_word_elsewhere():
    text = "D.催①③⑤"
    seen = word(text, doubt(text, "催", 0.35, ("僅", 0.6)))
    language = Language(recognised=["A.僅①②", "B.僅②③", "C.僅②④⑤"] * 3)
    assert decode([word("醫學診療藥劑"), seen], language)[1].text == "D.僅①③⑤"


def test_a_character_of_the_other_script_that_both_have_is_a_form_where_it_is_rare():
    text = "下列何者正确無誤"
    sure = confidence("醫學診療藥劑", text, doubt(text, "确", 0.5, ("確", 0.49)))
    assert sure == pytest.approx(confidence("醫學診療藥劑", text, doubt(text, "确", 0.99)), abs=0.01)


def test_what_fits_but_is_not_sure_is_suggested_and_not_written():
    text = "出現氣管隆蝶穿孔"
    (found,) = decode([word(text, doubt(text, "蝶", 0.6, ("峭", 0.39)))], LANGUAGE)
    assert found.text == text
    assert [(one.text, one.other) for one in found.unsure if one.at == text.index("蝶")] == [("蝶", "峭")]
    assert found.confidence <= 0.5


def test_a_simplified_form_speaks_for_the_character_that_a_traditional_page_prints():
    text = "右側頰舌肌"
    told = [confidence("醫學診療藥劑", text, doubt(text, "頰", 0.6, (other, 0.39))) for other in ("頦", "颏", "煩")]
    assert told[0] == told[1] < told[2]
