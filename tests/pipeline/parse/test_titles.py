"""Papers whose questions are numbered 第1题 and answered under heads of their own, as web sites write them."""

import random

import pytest

from build_dataset.pipeline.parse.stage import check_gates, read_paper
from build_dataset.schemas.documents import Line, LineKind

FIRST = ["第1题", "【第1题】", "下列属于水果的是（  ）。", "A. 苹果", "B. 白菜", "C. 萝卜", "D. 土豆"]


def drafts(lines: list[str]):
    read = [
        Line(document="a.md", page=1, order=order, text=text, box=None, confidence=None, column=0, kind=LineKind.TEXT)
        for order, text in enumerate(lines)
    ]
    paper = read_paper("a.md", read)
    check_gates(paper)
    return [draft for draft in paper.drafts if not draft.entry]


def item(number: int, answer: str, told: list[str]) -> list[str]:
    stem = f"第{number}种说法中正确的是（  ）。"
    options = [f"{label}. {label * 2}{number}号" for label in "ABCD"]
    return [f"第{number}题", stem, *options, "答案", answer, "解析", *told]


@pytest.mark.parametrize("seed", range(20))
def test_lists_inside_explanations_are_no_questions(seed):
    draw = random.Random(seed)
    answers = [draw.choice("ABCD") for _ in range(12)]
    lists = [[f"{place}. 要点{draw.randrange(99)}：说明" for place in range(1, draw.randint(2, 6))] for _ in answers]
    lines = [
        line
        for number, (answer, told) in enumerate(zip(answers, lists, strict=True), 1)
        for line in item(number, answer, told)
    ]
    found = drafts(lines)
    assert [draft.number for draft in found] == list(range(1, 13))
    assert [draft.answer for draft in found] == answers
    assert not any(draft.flags for draft in found)
    assert [draft.options[-1][1] for draft in found] == [f"DD{number}号" for number in range(1, 13)]


def test_a_number_printed_twice_is_one():
    (first, second) = drafts([*FIRST, "答案", "A", *item(2, "B", [])])[:2]
    assert first.stem == "下列属于水果的是（  ）。"
    assert (first.answer, second.answer) == ("A", "B")
    assert "第2题" not in (first.explanation or "")


@pytest.mark.parametrize("heads", [("(1) ", "(2) "), ("（1）选项：\n", "（2）选项：\n"), ("问题1：\n", "问题2：\n")])
@pytest.mark.parametrize("told", [["C，C"], ["A、C"], ["B B"], ["问题1：B", "问题2：D"]])
def test_an_item_of_two_questions_gives_two(heads, told):
    options = [[f"{label}. {name}{label}" for label in "ABCD"] for name in ("甲", "乙")]
    parts = "\n".join(head + "\n".join(own) for head, own in zip(heads, options, strict=True))
    before = [line for number in range(1, 7) for line in item(number, "A", [])]
    lines = [
        *before,
        "第7-8题",
        "先（问题1），后（问题2）。",
        *parts.split("\n"),
        "答案",
        *told,
        "解析",
        "1. 说明",
        "2. 说明",
    ]
    found = [draft for draft in drafts(lines) if draft.number in (7, 8)]
    assert [draft.options[3][1] for draft in found] == ["甲D", "乙D"]
    assert [draft.answer for draft in found] == [line[-1] for line in told] if len(told) > 1 else list(told[0][::2])
    assert not any(draft.flags for draft in found)


def test_the_answer_shown_in_a_blank_does_not_stay_there():
    lines = [line for number in range(1, 5) for line in item(number, "C", [])]
    shown = [line.replace("（  ）", "（C），它") for line in lines]
    assert all("（C）" not in draft.stem and draft.answer == "C" for draft in drafts(shown))


def test_an_explanation_without_a_mark_under_the_options_waits():
    lines = item(1, "A", [])
    lines.insert(lines.index("答案"), "此题考查水果的分类。")
    (draft,) = drafts(lines)
    assert any(reason == "text_left_over" for reason, _ in draft.flags)


def test_words_that_announce_stem_and_options_are_no_part_of_them():
    (draft,) = drafts(["第1题", "题目：", "首选的是（  ）。", "选项：", "A. 甲", "B. 乙", "C. 丙", "答案：B"])
    assert (draft.stem, draft.options[2][1], draft.answer) == ("首选的是（  ）。", "丙", "B")


def test_an_answer_shown_in_the_text_that_parts_share_waits():
    before = [line for number in range(1, 7) for line in item(number, "A", [])]
    options = [f"{label}. {label * 2}" for label in "ABCD"]
    lines = [*before, "第7-8题", "先（B），后（问题2）。", "问题1：", *options, "问题2：", *options, "答案", "B、D"]
    found = [draft for draft in drafts(lines) if draft.number in (7, 8)]
    assert all("answer_in_text" in dict(draft.flags) for draft in found)
