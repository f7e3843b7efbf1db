"""Letters and digits that may be others of one shape."""

import pytest

from build_dataset.pipeline.ocr.interfaces import Doubt
from build_dataset.pipeline.ocr.language.letters import alone, chances_of_marks, odds_of_letter


def odds(text: str, char: str, other: str, share: float) -> float:
    return odds_of_letter(text, Doubt(text.index(char), 1 - share, others=((other, share),)))


@pytest.mark.parametrize(
    ("text", "char", "other"),
    [
        ("身體質量（BMI）", "I", "l"),
        ("血中IgA沉積", "I", "l"),
        ("RF:29 IU/mL", "I", "l"),
        ("780IU/L", "I", "1"),
        ("（α-fetoprotein）", "α", "a"),
        ("仅①③④⑥", "③", "①"),
        ("factor VIIa", "I", "l"),
        ("属于I型肾炎", "I", "l"),
        ("（bowel）", "l", "1"),
        ("normal的", "l", "I"),
        ("C.liver disease", "l", "I"),
        ("约105次", "0", "O"),
        ("15岁", "1", "l"),
        ("Ⅰ型", "Ⅰ", "I"),
        ("X线", "X", "χ"),
        ("B. ESP 协议", "P", "p"),
        ("IPSec", "P", "p"),
    ],
)
def test_what_cannot_stand_there_is_no_doubt(text, char, other):
    assert odds(text, char, other, 0.2) > odds(text, char, "@", 0.2)


@pytest.mark.parametrize(
    ("text", "char", "other"),
    [
        ("下列1型急进", "1", "Ⅰ"),
        ("该a受体阻断", "a", "α"),
        ("含y球蛋白", "y", "γ"),
        ("作X²检验", "X", "χ"),
        ("在TO时刻", "O", "0"),
        ("结点ν之后", "ν", "v"),
        ("称LDso为", "s", "5"),
        ("輸液3 l後", "l", "1"),
    ],
)
def test_another_of_the_shape_is_a_doubt(text, char, other):
    assert odds(text, char, other, 0.03) < odds(text, char, "@", 0.03) - 0.15


@pytest.mark.parametrize(("text", "sure"), [("产物HCI是", False), ("21mmoI/L", False), ("ICI杂志", True)])
def test_an_i_in_the_place_of_an_l_that_ends_a_formula_or_a_unit_waits(text, sure):
    at = text.rindex("I")
    assert (odds_of_letter(text, Doubt(at, 0.999)) > 3) is sure


def test_an_l_that_was_read_twice_or_stands_behind_capitals_waits():
    assert odds_of_letter("以DAl評估", Doubt(3, 0.999)) < odds_of_letter("加NaCl後", Doubt(4, 0.999))
    assert odds_of_letter("利尿劑（1loop diuretics）", Doubt(4, 0.99)) < odds_of_letter("約1l（升）", Doubt(1, 0.99))


def test_one_letter_in_either_case_or_as_a_numeral_of_two_is_no_doubt():
    assert odds("D. IpSec", "p", "P", 0.45) > odds("D. IpSec", "p", "@", 0.1)
    assert odds("angiotensin II", "I", "Ⅱ", 0.3) > odds("angiotensin I", "I", "Ⅱ", 0.3)
    assert odds_of_letter("Na、Cl", Doubt(4, 0.7)) > odds("Na、Cl", "l", "1", 0.3), "what is left is no character"


@pytest.mark.parametrize(("text", "char"), [("K：2.6、C1：80 mEq/L", "l"), ("K：2.6、C1：80 cm", "1")])
def test_a_one_in_the_place_of_chlorides_is_an_l(text, char):
    doubt = Doubt(text.index("C1") + 1, 0.9, others=(("l", 0.09),))
    assert (alone(text, doubt) or ("1", ""))[0] == char


@pytest.mark.parametrize(
    ("text", "share", "char"),
    [
        ("（va1gus）", 0.1, "l"),
        ("f1ail chest", 0.1, "l"),
        ("flai1 chest", 0.8, "l"),
        ("type1 的", 0.1, "1"),
        ("m1 的", 0.8, "1"),
    ],
)
def test_a_one_within_a_word_of_small_letters_is_an_l_and_at_its_end_where_that_is_likelier(text, share, char):
    doubt = Doubt(text.index("1"), 1 - share, others=(("l", share),))
    assert (alone(text, doubt) or ("1", ""))[0] == char


@pytest.mark.parametrize(("text", "told"), [("A.维生素B{", {6: 0.5}), ("令S={x}", {}), ("集合A{x}", {})])
def test_a_brace_behind_a_letter_that_closes_nowhere_may_be_a_lowered_digit(text, told):
    assert chances_of_marks(text, {}) == told


def test_a_numeral_of_two_kinds_of_letters_is_a_doubt_however_sure():
    assert odds_of_letter("仅ⅡI正确", Doubt(1, 0.99)) < odds_of_letter("仅Ⅱ正确", Doubt(1, 0.99))


@pytest.mark.parametrize(
    ("text", "char", "other", "written"),
    [
        ("B.factor VIla", "l", "I", "I"),
        ("以DAl評估", "l", "I", "I"),
        ("A.a-adrenergic", "a", "α", "α"),
        ("serum y-GT", "y", "γ", "γ"),
        ("a波", "a", "α", "a"),
    ],
)
def test_the_one_letter_of_a_shape_that_can_stand_there_is_written(text, char, other, written):
    at = text.index(char) if char != "a" else text.index("a")
    char, _ = alone(text, Doubt(at, 0.9, others=((other, 0.06),))) or (text[at], "")
    assert char == written


@pytest.mark.parametrize(
    ("text", "mark", "other", "lost"),
    [
        ("正常值<5", "<", "く", False),
        ("39℃", "℃", "C", False),
        ("780IU/L", "/", "L", False),
        ("B{缺乏", "{", "₁", True),
    ],
)
def test_a_mark_may_be_a_letter_only_where_one_can_stand(text, mark, other, lost):
    at = text.index(mark)
    assert (at in chances_of_marks(text, {at: Doubt(at, 0.8, others=((other, 0.1),))})) is lost


def test_a_circled_1_in_the_brackets_that_begin_an_option_is_the_label_d():
    doubt = Doubt(1, 0.6, others=(("D", 0.3),))
    assert alone("(①)因長期反覆", doubt)[0] == "D"
    assert alone("(①)因長期反覆", Doubt(1, 0.99)) is None
    assert alone("则(①)处", Doubt(2, 0.6, others=(("D", 0.3),))) is None


def test_nothing_but_a_raised_nine_counts_cells_in_a_litre():
    text = "白细胞12×10⁹/L"
    seen = Doubt(text.index("⁹"), 0.2, others=(("°", 0.1), ("3", 0.002)))
    assert odds_of_letter(text, seen) > 3
    assert odds_of_letter(text.replace("/L", "m"), seen) < 0
