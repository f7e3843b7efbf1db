import re
import tomllib

import pytest

from build_dataset.schemas.wording import (
    SPECIAL_TOKENS,
    counted,
    findings,
    in_both_languages,
    minute,
    remedy,
    settling,
    tally_failures,
)


def test_one_is_told_in_the_singular_and_many_with_separators():
    assert counted(1, "question") == "1 question"
    assert counted(2000, "question") == "2,000 questions"
    assert counted(0, "stratum", "strata") == "0 strata"


def test_failures_are_told_by_reason_with_the_most_frequent_detail():
    failures = [("timeout", "no answer within 60 s"), *[("connection", "no connection to http://x/v1")] * 2]
    failures.append(("connection", "no connection; 6 attempts"))
    assert tally_failures(failures) == "connection 3: no connection to http://x/v1; timeout 1: no answer within 60 s"
    assert tally_failures([]) == ""


def test_moments_are_told_in_utc():
    assert minute("2026-11-22T08:15:59+02:00") == "2026-11-22 06:15 UTC"


@pytest.mark.parametrize(
    ("detail", "found"),
    [
        ("the key lacks it", [("no_answer", "the key lacks it")]),
        (
            "no_answer: the key lacks it; empty_option: no text at B",
            [("no_answer", "the key lacks it"), ("empty_option", "no text at B")],
        ),
        ("a; b: c", [("no_answer", "a; b: c")]),
        ("empty_option: no text at B", [("empty_option", "no text at B")]),
        ("", [("no_answer", "")]),
    ],
)
def test_findings_are_told_one_by_one(detail, found):
    assert findings("no_answer", detail) == found


def test_reasons_have_names_in_both_languages_and_ones_own_stays_as_it_is():
    assert in_both_languages("no_answer") == "没有答案 no_answer"
    assert in_both_languages("my_rule") == "my_rule"
    assert remedy("my_rule", "x.pdf")[0].startswith("build-dataset inspect x.pdf")


def test_the_line_that_settles_a_doubt_is_toml_whatever_the_file_is_called():
    line = settling("explanation_disagrees", '"甲" FILE\\b.xlsx')
    table, value = line.rsplit("] ", 1)
    assert tomllib.loads(f"{table}]\n{value}") == {"sources": {'"甲" FILE\\b.xlsx': {"explanations": "ignore"}}}


@pytest.mark.parametrize(
    ("text", "is_mark"),
    [
        ("<|im_start|>", True),
        ("<｜User｜>", True),
        ("</think>", True),
        ("<start_of_turn>", True),
        ("[/INST]", True),
        ("<<SYS>>", True),
        ("<</SYS>>", True),
        (f"<|{'a' * 40}|>", True),
        (f"<|{'a' * 41}|>", False),
        ("<p>", False),
    ],
)
def test_marks_of_turns_are_known(text, is_mark):
    assert bool(re.fullmatch(SPECIAL_TOKENS, text)) is is_mark
