"""White space in a key or a conclusion, however much of it, takes linear time."""

import re
import time
from collections.abc import Callable

import pytest

from benchmarks.attack.growth import PAPERS, paper_growth
from build_dataset.pipeline.parse import fields, heads, keylines, labels, parts

_SECONDS = 1.0
"""CPU time for 200,000 characters, which take some ten milliseconds; quadratic time would be minutes."""
CASES: list[tuple[str, Callable[[str], object], str, str]] = [
    ("parts of an answer", fields.stated_answers, "（1）A", "x"),
    ("a part without letters", fields.stated_answers, "（1）", "x"),
    ("codes of choices", fields.is_coded, "A", "x"),
    ("letters", fields.leading_letters, "A", "/"),
    ("a small letter over lines", fields.leading_letters, "a\n", "/"),
    ("an opened bracket", fields.leading_letters, "（", "x"),
    ("a conclusion", fields.concluded_answer, "故选", "x"),
    ("a conclusion with a letter", fields.concluded_answer, "故选A", "x"),
    ("a head that gives an answer", heads._P.gives_answer.search, "答案", "x"),
    ("letters of a key", re.compile(keylines._P.whole("@letters@")).match, "A", "x"),
    ("an answered item", parts._P.answered.search, "答案", "x"),
]


@pytest.mark.parametrize("space", [" ", "\n", "\t "])
@pytest.mark.parametrize(("read", "before", "after"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_much_white_space_takes_linear_time(read, before: str, after: str, space: str) -> None:
    text = before + space * (200_000 // len(space)) + after
    started = time.thread_time()
    read(text)
    assert time.thread_time() - started < _SECONDS


@pytest.mark.parametrize("unit", ["account", "Aaa A、 "])
def test_a_long_run_of_letters_takes_linear_time(unit: str) -> None:
    started = time.thread_time()
    labels.find_labels(unit * 5_000)
    assert time.thread_time() - started < _SECONDS


def test_a_long_run_of_digits_takes_linear_time() -> None:
    started = time.thread_time()
    heads.is_case("20" * 10_000)
    assert time.thread_time() - started < _SECONDS


@pytest.mark.slow
def test_many_marks_of_answers_in_one_line_take_linear_time() -> None:
    started = time.thread_time()
    fields.split_fields("答：" * 200_000)  # 2 s; 22 s when every mark counted the lines before it
    assert time.thread_time() - started < 8


@pytest.mark.parametrize("unit", ["答案:", "甲 ", "甲\t ", "甲(A "])
def test_a_line_that_may_be_a_stem_with_its_answer_takes_linear_time(unit: str) -> None:
    started = time.thread_time()
    parts._P.answered_stem.match(unit * 40_000)
    assert time.thread_time() - started < _SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("part", PAPERS.values(), ids=PAPERS)
def test_a_paper_of_many_lines_takes_linear_time(part: str) -> None:
    # Each box against all others took n^1.9. Processor time is a third off at times, so a long one is measured again.
    assert any(paper_growth(part, 1_600)[0] < 1.5 for _ in range(4))


def test_what_is_read_is_as_before() -> None:
    assert fields.stated_answers("（1） A ；（2） 、 CD。 因为") == (["A", "CD"], "因为")
    assert fields.leading_letters(" （ A 、 B ）。解释") == ("AB", "解释")
    assert fields.is_coded(" A） ： （③")
    assert fields.concluded_answer("……，故选 ： （ A 、 B ）") == "AB"
