"""Characters that a text layer loses come from the picture of their line, or stay lost and say so."""

import re

import pymupdf
import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.characters import UNREADABLE
from build_dataset.pipeline.ocr import engines, mending, stage, tasks
from build_dataset.pipeline.ocr.interfaces import Word
from build_dataset.pipeline.ocr.mending import (
    compare_readings,
    lost_boxes,
    lost_lines,
    mend_line,
    mend_page,
    readings_differ,
)
from build_dataset.pipeline.ocr.model import PageLine, PageRead, Rect
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.stage import Failure
from build_dataset.schemas.documents import Line, LineKind, ReadMethod

WORDS = "单纯疱疹病毒感染者的首选药物为何下列叙述正确肝炎胃溃疡高血压糖尿病"


@pytest.mark.parametrize(
    ("text", "seen", "mended"),
    [
        ("单纯\uef43疹病毒", "单纯疱疹病毒", "单纯疱疹病毒"),
        ("患有\ufffd\ufffd病、高血压", "患有 糖尿 病、高血压", "患有糖尿病、高血压"),
        ("（A）硬\ue2c8（palate）\t（B）软骨", "(A)硬腭(palate)(B)软骨", "（A）硬腭（palate）\t（B）软骨"),
        ("丙\x03", "丙", "丙\x03"),
        ("扩张性心\x03肌病", "扩张性心肌病", "扩张性心肌病"),
        ("单纯\uef43疹病毒", "单纯疱症病毒", "单纯\uef43疹病毒"),
        ("单纯\uef43疹病毒", "", "单纯\uef43疹病毒"),
        ("的甲\uef43乙是", "的甲一乙是的甲二乙是", "的甲\uef43乙是"),
        ("一二三四\uef43五六七八", "九二三四疱五六七九", "一二三四疱五六七八"),
        ("一二三四\uef43五六七八", "一九三四疱五六七八", "一二三四\uef43五六七八"),
        ("一二三四\uef43五六七八", "一二三四疱五六九八", "一二三四\uef43五六七八"),
        ("甲\uef43乙", "甲疱乙", "甲疱乙"),
        ("甲\uef43", "甲疱", "甲\uef43"),
        ("甲乙\uef43", "甲乙疱", "甲乙疱"),
        ("甲乙\uef43", "甲乙", "甲乙\uef43"),
        ("\uef43甲乙", "疱甲乙", "疱甲乙"),
        ("\uef43甲乙", "一二三疱甲乙", "\uef43甲乙"),
        ("甲乙\uef43丙丁", "甲乙一二三丙丁", "甲乙一二三丙丁"),
        ("甲乙\uef43丙丁", "甲乙一二三四丙丁", "甲乙\uef43丙丁"),
        ("甲乙\uef43\uef43丙丁", "甲乙一二三四五六丙丁", "甲乙一二三四五六丙丁"),
        ("甲乙\uef43\uef43丙丁", "甲乙一二三四五六七丙丁", "甲乙\uef43\uef43丙丁"),
        ("甲乙\uef43丙丁", "甲乙\ufffd丙丁", "甲乙\uef43丙丁"),
        ("甲乙\uef43丙\ufffd丁", "甲乙疱丙\ufffd丁", "甲乙\uef43丙\ufffd丁"),
        ("甲乙\x03丙丁", "甲乙丙丁", "甲乙丙丁"),
        ("甲乙\x03丙丁", "甲乙一丙丁", "甲乙一丙丁"),
        ("甲乙\x03\uef43丙丁", "甲乙丙丁", "甲乙\x03\uef43丙丁"),
        ("甲乙\uef43丙丁", "甲 乙 疱 丙 丁", "甲乙疱丙丁"),
        ("甲²\uef43丙丁", "甲2疱丙丁", "甲²\uef43丙丁"),
        ("㎎乙\uef43丙丁", "㎎乙疱丙丁", "㎎乙疱丙丁"),
    ],
)
def test_a_lost_character_is_what_stands_between_its_neighbours(text, seen, mended):
    assert mend_line(text, seen) == mended


@given(st.lists(st.sampled_from(WORDS), min_size=8, max_size=20, unique=True), st.data())
def test_mending_gives_back_what_was_printed_and_changes_nothing_else(letters, data):
    printed = "".join(letters)
    place = data.draw(st.integers(3, len(printed) - 4))
    lost = f"{printed[:place]}\uef43{printed[place + 1 :]}"
    assert mend_line(lost, printed) == printed
    assert mend_line(printed, printed[::-1]) == printed


@given(st.text("甲乙丙\uef43\ufffd\x03(A)", max_size=12), st.text("甲乙丙\uef43\ufffd(A)", max_size=12))
def test_what_is_readable_stays_whatever_was_seen(text, seen):
    kept = re.sub(f"{UNREADABLE}+", ".*", re.escape(text).replace("\\\x03", "\x03"))
    assert re.fullmatch(kept, mend_line(text, seen), re.DOTALL)


def test_glyphs_that_open_a_part_are_left_to_the_parser():
    box = Rect(0, 0, 10, 10)
    lines = [PageLine("\ue18c甲\t\ue18d乙", box), PageLine("单\ue18c甲", box), PageLine("\ue18c单\ufffd", None)]
    assert lost_lines(lines) == [1]


class Reader:
    """An engine that reads one line whatever it sees."""

    text = "1. 单纯疱疹病毒的叙述何者正确"

    def recognise(self, pixels):
        height, width = pixels.shape[:2]
        return [Word(self.text, ((0, 2), (width, 2), (width, height - 2), (0, height - 2)), 0.91)]


@pytest.fixture
def paper(context, make_pdf, monkeypatch):
    """A paper whose layer does not tell one character of a line."""
    document = pymupdf.open(make_pdf([[(60, 100, "1. 单纯疱疹病毒的叙述何者正确"), (60, 130, "A.甲")]]))
    path = context.raw / "paper.pdf"
    document.save(path)
    plain = tasks.read_pages

    def damaged(task):
        values = plain(task)
        for line in values[0]["lines"]:
            line[0] = line[0].replace("疱", "\uef43")
        return values

    damaged.__module__ = plain.__module__
    monkeypatch.setattr(stage, "read_pages", damaged)
    monkeypatch.setattr(engines, "load", lambda params: Reader())
    return path


def lines(result):
    return [(line.text, line.confidence) for line in Line.from_frame(result.tables["lines"])]


def test_the_stage_reads_lost_characters_from_the_page_and_stores_that(paper, context, files_table, monkeypatch):
    files = files_table(context.raw)
    result = stage.run({"files": files}, OcrParams(), context)
    assert lines(result) == [("1. 单纯疱疹病毒的叙述何者正确", 0.9944), ("A.甲", None)]
    assert result.tables["pages"]["method"].to_list() == [ReadMethod.TEXT_LAYER.value]
    monkeypatch.setattr(stage, "recognise_page", None)
    assert lines(stage.run({"files": files}, OcrParams(), context)) == lines(result)


def test_a_line_whose_picture_cannot_be_read_keeps_its_page(paper, context, files_table, monkeypatch):
    plain = context.map

    def fail(function, items, *, timeout=None):
        if function is not tasks.recognise_page:
            yield from plain(function, items, timeout=timeout)
            return
        for item in items:
            yield item, Failure("crashed", "")

    monkeypatch.setattr(context, "map", fail)
    result = stage.run({"files": files_table(context.raw)}, OcrParams(), context)
    assert lines(result)[0] == ("1. 单纯\uef43疹病毒的叙述何者正确", None)


def test_two_readings_make_a_line_surer_or_stand_beside_each_other():
    def compared(text: str, other: str) -> tuple[float | None, str | None]:
        first, second = (
            PageRead(1, 1, ReadMethod.OCR, "e", "v", None, [PageLine(one, None, confidence=sure)])
            for one, sure in ((text, 0.9), (other, 0.8))
        )
        (line,) = compare_readings(first, second).lines
        return line.confidence, line.other

    assert compared("血压12mg", "血压12mg") == (pytest.approx(0.98), None)
    assert compared("血压12mg", "血压13mg") == (0.9, "血压13mg")
    assert compared("血压", "血压高") == (0.9, None)
    assert compared("宜用", "不宜用") == (0.9, "不宜用")  # what only the second begins with


def page_of(*lines: PageLine, method: ReadMethod = ReadMethod.TEXT_LAYER) -> PageRead:
    return PageRead(1, 1, method, "e", "v", None, list(lines))


BOX = Rect(0, 0, 1, 1)


def test_lost_characters_count_in_lines_of_text_that_have_a_place():
    kinds = [PageLine("甲\ufffd", BOX), PageLine("甲\ufffd", BOX, LineKind.FIGURE), PageLine("甲\ufffd", None)]
    assert lost_lines([PageLine("甲", BOX), *kinds]) == [1]
    value = page_of(PageLine("甲", BOX), PageLine("乙\ufffd", Rect(1, 2, 3, 4)), *kinds[1:]).to_json()
    assert lost_boxes(value) == (Rect(1, 2, 3, 4),)
    assert lost_boxes(page_of(PageLine("甲", BOX)).to_json()) == ()
    assert lost_boxes({"needs_ocr": "no_text_layer"}) == ()


def test_what_stays_lost_is_shown_as_unreadable_and_other_digits_are_kept_beside_a_line():
    def mended(text: str, seen: str, sure: float = 0.9) -> tuple[str, float | None, str | None]:
        (line,) = mend_page(page_of(PageLine(text, BOX)), [[seen, sure]]).lines
        return line.text, line.confidence, line.other

    assert mended("丙\x03甲\uef43", "") == ("丙\ufffd甲\uef43", None, None)
    assert mended("5mg\ufffd", "") == ("5mg\ufffd", None, None)
    assert mended("5mg\ufffd", "6mg甲") == ("5mg\ufffd", None, "6mg甲")
    assert mended("5mg甲\ufffd丙丁", "5mg甲乙丙丁") == ("5mg甲乙丙丁", 0.9857, None)
    assert mended("10⁹甲\ufffd丙", "10⁹甲乙丙") == ("10⁹甲乙丙", 0.9833, None)
    assert mended("10⁹乙甲丁\ufffd丙", "109乙甲丁癸丙") == ("10⁹乙甲丁癸丙", 0.9875, None)
    assert mended("甲乙\ufffd\ufffd丙", "甲乙一二丙", 0.87654) == ("甲乙一二丙", 0.9506, None)


@pytest.mark.parametrize(
    ("text", "other", "differ"),
    [
        ("血压12mg", "血压 12 mg", False),
        ("血压12mg", "血压12μg", True),
        ("10⁹", "109", True),
        ("10⁹", "10⁹", False),
        ("（5）", "(5)", False),
        ("5mg", "5MG", False),
        ("何者不正确", "何者正确", True),
        ("何者正确", "何者无误的说法", True),
        ("甲", "乙", False),
    ],
)
def test_readings_differ_in_what_changes_an_answer(text, other, differ):
    assert readings_differ(text, other) == differ


def compared(texts: list[PageLine], others: list[PageLine]) -> list[tuple[float | None, str | None]]:
    first, second = page_of(*texts, method=ReadMethod.OCR), page_of(*others, method=ReadMethod.OCR)
    return [(line.confidence, line.other) for line in compare_readings(first, second).lines]


def test_lines_of_figures_and_lines_without_confidence_are_not_made_surer():
    def line(text: str, sure: float | None = 0.9, kind: LineKind = LineKind.TEXT) -> PageLine:
        return PageLine(text, None, kind, confidence=sure)

    assert compared([line("血压")], [line("血压", None)]) == [(pytest.approx(0.9), None)]
    assert compared([line("血压", None)], [line("血压")]) == [(None, None)]
    figure = line("12", 0.5, LineKind.FIGURE)
    assert compared([figure, line("血压12")], [line("血压12", 0.5)]) == [(0.5, None), (pytest.approx(0.95), None)]
    assert compared([line("血压12")], [figure, line("血压12", 0.5)]) == [(pytest.approx(0.95), None)]
    assert compared([line("血 压")], [line("血压")]) == [(pytest.approx(0.99), None)]


@pytest.mark.parametrize(
    ("texts", "others", "counterparts"),
    [
        (["血压12", "mg高"], ["血压1", "3mg高"], ["血压13", "mg高"]),
        (["甲乙", "丙丁"], ["甲乙戊丙丁"], ["甲乙戊", "丙丁"]),
        (["甲乙", "丙丁"], ["甲", "丁"], ["甲", "丁"]),
        (["甲乙", "丙丁戊"], ["己乙丙丁", "庚"], ["己乙", "丙丁庚"]),
        (["甲 乙", " ", "丙"], ["甲乙丙"], ["甲乙", "", "丙"]),
        (["甲乙丙丁", "戊己"], ["甲乙辛壬戊己"], ["甲乙辛壬", "戊己"]),
        ([" "], [], [""]),
    ],
)
def test_a_second_reading_is_broken_into_the_lines_of_the_first(texts, others, counterparts):
    second = page_of(*(PageLine(text, None) for text in others))
    assert list(mending._counterparts([PageLine(text, None) for text in texts], second)) == counterparts
