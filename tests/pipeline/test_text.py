"""Tidying changes nothing that a doctor would care about."""

import unicodedata

import polars as pl
import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.text import TIDIABLE, tidy, tidy_together

ALPHABET = (
    "高血压 \u3000\n\t（）()，。:：Ａ１ａ9．.%％⁹₂Ⅱ℃≥㎍_＿\uf061\uf0b3\ue18c\u200b\ufeff\u0301e\u00a0\uf967&<>/;subplt"
)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("Ｈｂ６０ｇ／Ｌ", "Hb60g／L"),
        ("0．9％氯化钠", "0.9%氯化钠"),
        ("高 血 压 病", "高血压病"),
        ("出现 ，发热", "出现，发热"),
        ("\uf061受体，\uf0b35年", "α受体，≥5年"),
        ("\uf967是", "不是"),
        ("肝\u200b炎\ufeff", "肝炎"),
        ("下列\u3000正确的是\u00a0", "下列正确的是"),
        ("\u200d高龄\u200c案卷", "高龄案卷"),
        ("a  \n\n b", "a\nb"),
        ("SpO<sub>2</sub>&lt;90%，10<sup>9</sup>/L", "SpO₂<90%，10⁹/L"),
        ('<p>题干<br/>&amp;nbsp;<b class="x">重</b></p>', "题干\n重"),
    ],
)
def test_traces_of_typesetting_are_taken_out(found: str, expected: str) -> None:
    assert tidy(found) == expected


@pytest.mark.parametrize(
    "text",
    [
        "白细胞10×10⁹/L，血红蛋白60g/L",
        "¹³¹I、SO₂、Ca²⁺、37℃、≥5㎍、Ⅱ型、½",
        "（ ）是局部振动病的特征",
        "由____制定",
        "（）行政部门",
        "四君子汤：人参 白术 茯苓 甘草",
        "acute myocardial infarction",
        "محسوب می\u200cشود",
        "ക്\u200dഷ",
        "第一行\n第二行",
        "标签 <b> 与 <i>，a<b 且 c>d，R&D",
    ],
)
def test_what_carries_meaning_stays(text: str) -> None:
    assert tidy(text) == text


@given(st.text(st.sampled_from(ALPHABET), max_size=30) | st.text(max_size=30))
def test_tidying_twice_changes_nothing(text: str) -> None:
    assert tidy(tidy(text)) == tidy(text)


@given(st.lists(st.text(st.sampled_from(ALPHABET), max_size=30) | st.text(max_size=30), max_size=20))
def test_what_a_glance_at_a_column_passes_over_is_tidy(texts: list[str]) -> None:
    looked_at = pl.Series(texts, dtype=pl.String).str.contains(TIDIABLE).to_list()
    passed = [text for text, look in zip(texts, looked_at, strict=True) if not look]
    assert [tidy(text) for text in passed] == [unicodedata.normalize("NFC", text) for text in passed]


def test_a_single_space_between_words_needs_no_second_look() -> None:
    assert not pl.Series(["A 45-year-old man has\nchest pain."]).str.contains(TIDIABLE).any()


@given(st.text(st.sampled_from("高血压 ，。\n（）Ⅱ⁹"), max_size=30))
def test_nothing_but_white_space_is_lost(text: str) -> None:
    assert "".join(tidy(text).split()) == "".join(text.split())


TAGS = st.sampled_from(["p", "b", "i", "br", "hr", "bold", "h1", "div", "strong", 'p class="x"'])
ASKED = st.builds("{}<{}>{}</{}>".format, st.sampled_from(["", "<"]), TAGS, st.sampled_from(["", "甲", "乙"]), TAGS)


@given(st.lists(st.sampled_from(["<br>", "<<br>>", "甲", "&lt;b&gt;甲&lt;/b&gt;"]) | ASKED, min_size=2, unique=True))
def test_options_that_tags_part_stay_apart(options: list[str]) -> None:
    shown = tidy_together(options)
    assert len(set(shown)) == len(options)
    assert all(any(map(str.isalnum, text)) for text in shown)


@given(st.sampled_from("pbi"), st.lists(st.text("甲乙丙", min_size=1), min_size=2))
def test_tags_around_every_option_are_typesetting(tag: str, texts: list[str]) -> None:
    assert tidy_together([f"<{tag}>{text}</{tag}>" for text in texts] + [""]) == [*map(tidy, texts), ""]


@given(st.lists(ASKED | st.text(st.sampled_from(ALPHABET), max_size=30), min_size=2))
def test_tidying_options_twice_changes_nothing(options: list[str]) -> None:
    assert tidy_together(tidy_together(options)) == tidy_together(options)
