"""Items with numbered blanks: whether their numbers run on or begin anew, every blank is a question with its answer."""

from __future__ import annotations

import pytest

from tests.pipeline.parse.short import FOUR, items

ITEMS = (
    ("甲由{}构成。", ("一|二|三|四",), "A"),
    ("乙由{}决定，丙由{}决定。", ("五|六|七|八", "九|十|百|千"), "BC"),
    ("丁属于{}。", ("东|西|南|北",), "D"),
    ("戊{}、己{}、庚{}。", ("春|夏|秋|冬", "日|月|金|木", "水|火|土|石"), "ACB"),
)
ANSWERS = "ABCDACB"


def options(texts: str) -> str:
    return "\t".join(f"{label}．{text}" for label, text in zip("ABCD", texts.split("|"), strict=True))


def body(*, restart: bool, labelled: bool, after=lambda _first, _answers: "") -> str:
    """The items as lines: blanks from 1 in every item or running on, options behind their blank's number or not."""
    lines, blank = [], 0
    for number, (stem, runs, answers) in enumerate(ITEMS, 1):
        first = 1 if restart else blank + 1
        lines.append(f"{number}．" + stem.format(*(f"（{first + place}）" for place in range(len(runs)))))
        for place, texts in enumerate(runs):
            lines.append((f"（{first + place}）" if labelled else "") + options(texts))
        lines.append(after(first, answers))
        blank += len(runs)
    return "\n".join(line for line in lines if line)


def beside(first: int, answers: str) -> str:
    return "【答案】" + "　".join(f"（{first + place}）{letter}" for place, letter in enumerate(answers))


def read(outcome):
    assert outcome.review == outcome.rejects == []
    return [(question.number, "".join(question.answer or "-")) for question in outcome.questions]


@pytest.mark.parametrize("labelled", [True, False])
def test_blanks_that_run_on_number_the_questions_as_their_key_does(parse, labelled):
    key = "\n参考答案\n" + "  ".join(f"（{n}）{letter}" for n, letter in enumerate(ANSWERS, 1))
    outcome = parse(body(restart=False, labelled=labelled) + key)
    assert read(outcome) == list(enumerate(ANSWERS, 1))
    first, second, third = outcome.questions[:3]
    assert (first.stem, first.shared_stem) == ("甲由（1）构成。", None)
    assert (second.stem, second.shared_stem) == ("（2）", "乙由（2）决定，丙由（3）决定。")
    assert second.group_id == third.group_id is not None
    assert [option.text for option in third.options] == ["九", "十", "百", "千"]


@pytest.mark.parametrize("restart", [True, False])
def test_answers_beside_an_item_go_to_its_blanks(parse, restart):
    outcome = parse(body(restart=restart, labelled=True, after=beside))
    numbers = [1, 2, 2, 3, 4, 4, 4] if restart else [1, 2, 3, 4, 5, 6, 7]
    assert read(outcome) == list(zip(numbers, ANSWERS, strict=True))
    assert len({question.question_id for question in outcome.questions}) == len(ANSWERS)


@pytest.mark.parametrize("labelled", [True, False])
def test_blanks_that_begin_anew_name_the_parts_of_items(parse, labelled):
    key = "\n参考答案\n1.A\n2.（1）B（2）C\n3.D\n4.（1）A（2）C（3）B"
    outcome = parse(body(restart=True, labelled=labelled) + key)
    assert read(outcome) == list(zip([1, 2, 2, 3, 4, 4, 4], ANSWERS, strict=True))
    assert outcome.questions[6].stem == "（3）"


def test_an_item_whose_blanks_were_not_read_waits_and_shifts_nobody_elses_answer(parse):
    text = body(restart=False, labelled=True).replace("（3）A．九", "A．九")
    key = "\n参考答案\n" + "  ".join(f"（{n}）{letter}" for n, letter in enumerate(ANSWERS, 1))
    outcome = parse(text + key)
    found = {question.number: "".join(question.answer) for question in outcome.questions}
    assert found == {1: "A", 4: "D", 5: "A", 6: "C", 7: "B"}
    assert sorted(item.reason for item in outcome.review)[0] == "missing_number"


def test_more_answers_than_parts_wait(parse):
    key = "\n参考答案\n1.A\n2.BCD\n3.D\n4.ACB"
    outcome = parse(body(restart=True, labelled=True) + key)
    assert [item.reason for item in outcome.review] == ["parts_and_answers_differ"] * 2


def test_a_title_over_a_stem_that_stands_before_its_number_is_not_part_of_it(parse):
    text = "2019年下半年软件设计师上午试题\n" + "\n".join(
        f"概念{n}是（{n}）。\n（{n}）A. 甲\tB. 乙\tC. 丙\tD. 丁" for n in range(1, 5)
    )
    assert [question.stem for question in parse(text).questions] == [f"概念{n}是（{n}）。" for n in range(1, 5)]


def test_problems_of_an_afternoon_paper_are_one_item_each_whatever_stands_in_them(parse):
    problem = "阅读下列说明，回答问题。\n【说明】\n（1）登记：记录病人。\n（2）查询：返回记录。"
    problem += "\n【问题1】（5分）\n给出实体。\n参考答案\n（1）A （2）B"
    text = "\n".join(f"试题{n}（共15分）\n{problem}" for n in "一二三")
    outcome = parse(f"2018年下午试卷\n{text}")
    assert [(item.item_id.rsplit("-", 1)[1], item.reason) for item in outcome.rejects] == [
        ("001", "short_answer"), ("002", "short_answer"), ("003", "short_answer"),
    ]  # fmt: skip
    assert outcome.review == outcome.questions == []


SPANNED = "图中甲是()，乙是()。\nA. 一\tB. 二\tC. 三\nA. 四\tB. 五\tC. 六"


@pytest.mark.parametrize("head", ["2-3某图如下。", "2～3在图中，", "试题2-3\n"])
def test_an_item_of_several_numbers_has_a_run_of_options_for_each(parse, head):
    outcome = parse(f"{items(1)}\n{head}{SPANNED}\n{items(4)}")
    assert [(one.number, [option.text for option in one.options][:3]) for one in outcome.questions] == [
        (1, ["甲", "乙", "丙"]),
        (2, ["一", "二", "三"]),
        (3, ["四", "五", "六"]),
        (4, ["甲", "乙", "丙"]),
    ]


@pytest.mark.parametrize("line", ["3-5岁的儿童较多见", "2-3周后复查"])
def test_a_range_at_the_start_of_a_line_numbers_no_question(parse, line):
    outcome = parse(f"{items(1)}\n2. 第2项对的是\n{line}\n{FOUR}\n{items(3)}")
    assert [one.number for one in outcome.questions] == [1, 2, 3]


def test_parts_to_fill_in_after_the_options_of_one_part_have_no_options(parse):
    parts = "①甲是______。\n②下列叙述正确的有\nA. 一\nB. 二\nC. 三\nD. 四\n①乙的酶是______。\n②丙是______。"
    outcome = parse(f"{items(1)}\n2. 据图回答：\n{parts}\n{items(3)}")
    assert [one.number for one in outcome.questions] == [1, 3]
