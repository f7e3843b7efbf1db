"""Questions inside an item, and what questions share."""

from copy import deepcopy

import pytest

from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.fields import Fields, split_fields
from build_dataset.pipeline.parse.options import find_run
from build_dataset.pipeline.parse.outline import Block, NumberedItem
from build_dataset.pipeline.parse.paper import finish
from build_dataset.pipeline.parse.parts import (
    Parts,
    SubItem,
    continue_cases,
    merge_copies,
    part_drafts,
    parts_with_options,
    share_joint_answers,
    split_off,
    stems_after_options,
)
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from tests.pipeline.parse.conftest import lines_of
from tests.pipeline.parse.short import CASE, DOCUMENT, FOUR, items


def story(text):
    """Each draft in a line: ``2a stem one|two=A (explanation) <shared text>``, with its doubts, or why it is none."""
    paper = read_paper("x.pdf", lines_of(text))
    check_gates(paper)
    finish(paper, DOCUMENT)
    return [
        f"{one.number or ''}{one.suffix} {one.stem} {'|'.join(text for _, text in one.options)}={one.answer or ''}"
        + ("" if one.explanation is None else f" ({one.explanation})")
        + ("" if one.shared_stem is None else f" <{one.shared_stem}>")
        + "".join(f" {reason}" for reason, _ in (one.flags if one.set_aside is None else []))
        + (f" -{one.set_aside[0]}" if one.set_aside else "")
        for one in paper.drafts
        if not one.entry
    ]


def inside(found):
    """Lead, stems with their options, answers and explanations, whether options are shared, and the doubt."""
    parts = [
        f"{part.stem} {''.join(text for _, text in part.options)}={part.answer or ''}"
        + (f" ({part.explanation})" if part.explanation else "")
        for part in (found.parts if found else ())
    ]
    return found and (found.lead, parts, found.shared_options, found.doubt)


def after_options(head):
    run = find_run(head)
    return inside(run and stems_after_options(head, run))


@pytest.mark.parametrize(
    ("head", "answers", "expected"),
    [
        ("甲① 乙 A.一 B.二\n② 丙 A.三 B.四", ["AB"], None),
        ("甲\n① 乙 A.一 B.二\n② 丙 A.三 B.四", ["AB"], ("甲", ["乙 一二=A", "丙 三四=B"], False, None)),
        ("甲\n① 乙 A.一 B.二\n② 丙 A.三 B.四", ["A", "B"], ("甲", ["乙 一二=A", "丙 三四=B"], False, None)),
        ("甲\n① 乙 A.一 B.二\n② 丙 A.三 B.四", ["ABC"], ("甲", ["乙 一二=", "丙 三四="], False, "2 parts, 3 answers")),
        ("甲\n① 乙 A.一 B.二\n② 丙 A.三 B.四", [], ("甲", ["乙 一二=", "丙 三四="], False, None)),
        ("甲\n① 乙\n② 丙 A.三 B.四", ["AB"], None),
        ("甲①和②\n①A.一 B.二\n②A.三 B.四", ["AB"], ("甲①和②", ["① 一二=A", "② 三四=B"], False, None)),
        ("甲\n① 乙 A.一 B.二", ["A"], None),
    ],
)
def test_parts_with_options_of_their_own(head, answers, expected):
    assert inside(parts_with_options(head, Fields("", tuple(answers), (), None, False))) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("A.一\nB.二\nC.三\n属于甲的是 A\n属于乙的是 B", None),
        (
            "A.一\nB.二\nC.三\n属于甲的是（A）\n因为甲\n属于乙的是（B）",
            ("", ["属于甲的是 一二三=A (因为甲)", "属于乙的是 一二三=B"], True, None),
        ),
        ("领\nA.一\nB.二\nC.三\n属于甲的是（A）", ("领", ["属于甲的是 一二三=A"], True, "'属于甲的是' may be no stem")),
        ("A.一\nB.二\nC.三\n属于甲的是（D）", None),
        ("A.一\nB.二\nC.三\n第二题\nA.四\nB.五（B）\nC.六\n第三题（C）", None),
        ("A.一\nB.二\nC.三\n① 属于甲 ② 属于乙\nA C", ("", ["属于甲 一二三=A", "属于乙 一二三=C"], True, None)),
        (
            "A.一\nB.二\nC.三\n① 属于甲 ② 属于乙\nA",
            ("", ["属于甲 一二三=", "属于乙 一二三="], True, "2 stems, answers A"),
        ),
        ("A.一\nB.二\nC.三\n① 属于甲 ② 属于乙", ("", ["属于甲 一二三=", "属于乙 一二三="], True, None)),
        ("A.一\nB.二\nC.三\n① 属于甲", None),
        (
            "A.一\nB.二\nC.三\n① 属于甲 ② 属于乙\nA D",
            ("", ["属于甲 一二三=", "属于乙 一二三="], True, "2 stems, answers A D"),
        ),
        ("A.一\nB.二\nC.三", None),
        ("A.一\nB.二\nC.三\n属于甲的是（AA）", None),
    ],
)
def test_stems_after_options(head, expected):
    assert after_options(head) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "甲\nA.一\nB.二\n答案：A\nA.三\nB.四\nC.五\n属于甲的是（A）",
            ("甲\nA.一\nB.二\n答案：A", "A.三\nB.四\nC.五\n属于甲的是（A）"),
        ),
        (
            "甲\nA.一\nB.二\n答案：A\nA.三\nB.四\n属于甲的是（A）",
            ("甲\nA.一\nB.二\n答案：A\nA.三\nB.四\n属于甲的是（A）", None),
        ),
        (
            "甲\nA.一\nB.二\nA.三\nB.四\nC.五\n属于甲的是（A）",
            ("甲\nA.一\nB.二\nA.三\nB.四\nC.五\n属于甲的是（A）", None),
        ),
        ("甲\n答案：A", ("甲\n答案：A", None)),
    ],
)
def test_options_that_run_on_after_an_answer(text, expected):
    assert split_off(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            f"2.3. 甲\nA. 一 B. 二 C. 三\nA. 四 B. 五 C. 六\n答案：AB\n{items(4)}",
            ["2  一|二|三=A <甲>", "3  四|五|六=B <甲>", "4 第4项对的是 甲|乙|丙|丁= no_answer"],
        ),
        (
            f"2. 甲是（ ），乙是（ ）。\nA. 一\nB. 二\nC. 三\n》\nA. 四\nB. 五\nC. 六\n解答：答案选择B|A。\n{items(3)}",
            [
                "2a （1） 一|二|三=B (答案选择B|A。) <甲是（ ），乙是（ ）。>",
                "2b （2） 四|五|六=A (答案选择B|A。) <甲是（ ），乙是（ ）。>",
                "3 第3项对的是 甲|乙|丙|丁= no_answer",
            ],
        ),
        (
            f"2.3. 甲\nA. 一 B. 二 C. 三\n答案：AB\n{items(4)}",
            [
                "2  一|二|三=A <甲> parts_and_options_differ",
                "3  一|二|三=B <甲> parts_and_options_differ",
                "4 第4项对的是 甲|乙|丙|丁= no_answer",
            ],
        ),
        (
            f"第4-5题 甲\n（4）A. 一 B. 二\n（5）A. 三 B. 四\n答案：A B\n{items(6)}",
            [
                "4  一|二= joint_answer no_stem",
                "5  三|四=AB (6. 第6项对的是A. 甲B. 乙C. 丙D. 丁) "
                "joint_answer no_stem several_answers may_hold_another",
            ],
        ),
        (
            f"第4-5题 甲\n（1）A. 一 B. 二\n（2）A. 三 B. 四\n答案：（1）A（2）B\n{items(6)}",
            ["1  一|二=A no_stem", "2  三|四=B no_stem"],
        ),
        (
            f"1. 甲乙丙\n① 乙 A.一 B.二\n② 丙 A.三 B.四\n答案：AB\n{items(2)}",
            ["1a 乙 一|二=A <甲乙丙>", "1b 丙 三|四=B <甲乙丙>", "2 第2项对的是 甲|乙|丙|丁= no_answer"],
        ),
        (
            f"1. 甲\n{FOUR}\n答案：A\n属于\nA.三\nB.四\nC.五\n属于甲的是（A）\n属于乙的是（B）\n{items(2)}",
            [
                "1 甲 甲|乙|丙|丁=A (属于)",
                "001a 属于甲的是 三|四|五=A",
                "001b 属于乙的是 三|四|五=B",
                "2 第2项对的是 甲|乙|丙|丁= no_answer",
            ],
        ),
        (
            f"1. {CASE}诊断是\n{FOUR}\n2. 该患者首选\n{FOUR}\n3. 该患者忌用\n{FOUR}\n答案：ABC",
            [
                f"1 {CASE}诊断是 甲|乙|丙|丁= joint_answer",
                "2 该患者首选 甲|乙|丙|丁= joint_answer",
                "3 该患者忌用 甲|乙|丙|丁=ABC joint_answer several_answers",
            ],
        ),
        (
            f"1. {CASE}伴发热2天。诊断是\n{FOUR}\n2. 该患者首选\n{FOUR}\n3. 该患者忌用\n{FOUR}\n答案：ABC",
            [
                f"1 {CASE}伴发热2天。诊断是 甲|乙|丙|丁=A",
                f"2 该患者首选 甲|乙|丙|丁=B <{CASE}伴发热2天。诊断是>",
                f"3 该患者忌用 甲|乙|丙|丁=C <{CASE}伴发热2天。诊断是>",
            ],
        ),
        (
            f"1. 甲是\n{FOUR}\n2. 乙是\n{FOUR}\n3. 丙是\n{FOUR}\n答案：ABC",
            [
                "1 甲是 甲|乙|丙|丁= joint_answer",
                "2 乙是 甲|乙|丙|丁= joint_answer",
                "3 丙是 甲|乙|丙|丁=ABC joint_answer several_answers",
            ],
        ),
        (
            f"1. 甲是\n{FOUR}\n2. 乙是\n{FOUR}\n3. 丙是\n{FOUR}\n答案：AB",
            ["1 甲是 甲|乙|丙|丁=", "2 乙是 甲|乙|丙|丁=", "3 丙是 甲|乙|丙|丁=AB joint_answer several_answers"],
        ),
        (
            f"1. {CASE}诊断是\n{FOUR}\n2. 承上題，首选\n{FOUR}\n3. 承第1題，忌用\n{FOUR}",
            [
                f"1 {CASE}诊断是 甲|乙|丙|丁=",
                f"2 承上題，首选 甲|乙|丙|丁= <{CASE}诊断是>",
                f"3 承第1題，忌用 甲|乙|丙|丁= <{CASE}诊断是>",
            ],
        ),
        (
            f"{items(1, 2, 3)}\n答案与解析\n" + "\n".join(f"{at}. 第{at}项对的是\n{FOUR}\n答案：A" for at in (1, 2, 3)),
            ["1 第1项对的是 甲|乙|丙|丁=A", "2 第2项对的是 甲|乙|丙|丁=A", "3 第3项对的是 甲|乙|丙|丁=A"],
        ),
        (
            f"{items(1, 2)}\n答案与解析\n" + "\n".join(f"{at}. 第{at}项对的是\n{FOUR}\n答案：A" for at in (1, 2)),
            [
                "1 第1项对的是 甲|乙|丙|丁= no_answer",
                "2 第2项对的是 甲|乙|丙|丁= no_answer",
                "1 第1项对的是 甲|乙|丙|丁=A",
                "2 第2项对的是 甲|乙|丙|丁=A",
            ],
        ),
        (
            f"{items(1, 2, 3)}\n答案与解析\n"
            + "\n".join(f"{at}. 第{at}项正确的是\n{FOUR}\n答案：A" for at in (1, 2, 3)),
            [
                "1 第1项对的是 甲|乙|丙|丁=A copies_differ",
                "2 第2项对的是 甲|乙|丙|丁=A copies_differ",
                "3 第3项对的是 甲|乙|丙|丁=A copies_differ",
            ],
        ),
        (
            f"1. 甲型（2分）是[多选题]\n{FOUR}\n答案：AB\n"
            f"2. [单选题]（1分）乙是\n{FOUR}\n答案：C\n3. 题目：丙是（ C ）。选项：\n{FOUR}",
            ["1 甲型（2分）是 甲|乙|丙|丁=AB", "2 乙是 甲|乙|丙|丁=C", "3 丙是（ ）。 甲|乙|丙|丁=C"],
        ),
        (
            f"1. 甲是\nA.甲(正确答案)\nB.乙\nC.丙\n2. 乙是\n{FOUR}\nB\n3. 丙是\n{FOUR}\nC",
            ["1 甲是 甲|乙|丙=A", "2 乙是 甲|乙|丙|丁=B", "3 丙是 甲|乙|丙|丁=C"],
        ),
        (
            f"1. 甲是（C）\n{FOUR}\n答案：C\n2. 乙是（D）\n{FOUR}\n答案：D\n"
            f"3. 丙是（A）\n{FOUR}\n答案：A\n4. 丙是（A）\n{FOUR}\n答案：B",
            [
                "1 甲是（ ） 甲|乙|丙|丁=C",
                "2 乙是（ ） 甲|乙|丙|丁=D",
                "3 丙是（ ） 甲|乙|丙|丁=A",
                "4 丙是（A） 甲|乙|丙|丁=B answers_disagree",
            ],
        ),
        (
            "B1型题\nA. 一\nB. 二\nC. 三\n1. 属于甲\n2. 属于乙\nA. 四\nB. 五\nC. 六\n3. 属于丙",
            ["1 属于甲 一|二|三=", "2 属于乙 一|二|三=", "3 属于丙 四|五|六="],
        ),
        (
            "（1～2题共用备选答案）\nA. 一\nB. 二\nC. 三\n1. 属于甲\n2. 属于乙\n参考答案\n1.A 2.C",
            ["1 属于甲 一|二|三=A", "2 属于乙 一|二|三=C"],
        ),
        (
            "K型题 A. ①②③ B. ①③ C. ②④ D. ④\n1. 甲\n①一②二③三④四\n2. 乙\n①一②二③三④四",
            ["1 甲\n①一②二③三④四 ①②③|①③|②④|④=", "2 乙\n①一②二③三④四 ①②③|①③|②④|④="],
        ),
        (
            "判断题\n1. 甲是乙。\n答案：√\n填空题\n2. 甲是____。\n简答题\n3. 试述甲。\n答案：略",
            ["1 甲是乙。 = (√) -true_false", "2 甲是____。 = -fill_in", "3 试述甲。 = (略) -short_answer"],
        ),
        (
            f"1. 甲是\n{FOUR}\n答案：乙\n解析：乙\n2. 乙是\n{FOUR}\n解析：甲对，故选A。\n3. 丙是\n{FOUR}\n答案：戊",
            [
                "1 甲是 甲|乙|丙|丁=B",
                "2 乙是 甲|乙|丙|丁=A (甲对，故选A。)",
                "3 丙是 甲|乙|丙|丁= (戊) answer_not_read",
            ],
        ),
        (
            f"1. 甲是\nA. 甲\nB. 乙\nC. 丙\nD. 丁\nA. 五\nB. 六\nC. 七\nD. 八\n{items(2)}",
            [
                "1 甲是 甲|乙|丙|丁A. 五B. 六C. 七D. 八= several_option_runs label_inside_text label_inside_text",
                "2 第2项对的是 甲|乙|丙|丁=",
            ],
        ),
        (f"1. 甲是\nA. 甲\nB. 乙\n丙\nD. 丁\n{items(2)}", ["1 甲是 甲|乙|丙|丁=", "2 第2项对的是 甲|乙|丙|丁="]),
    ],
)
def test_questions_that_share_an_item_a_case_or_an_answer(text, expected):
    assert story(text) == expected


def drafted(number, run=0, stem="甲", answer=None, *, options="一 二", **more):
    draft = Draft(number, run, [], more.pop("block", None) or Block(), stem=stem, answer=answer)
    draft.options = list(zip("ABCDEF", options.split(), strict=False))
    for name, value in more.items():
        setattr(draft, name, value)
    return draft


STEM = "甲乙丙丁戊己"  # with A一B二 ten characters


def copied(stems, answers):
    """The places of copies that become entries, and of questions whose copy reads otherwise."""
    first = [drafted(number, stem=STEM) for number in range(1, len(stems) + 1)]
    second = [
        drafted(number, 1, stem, answer) for number, (stem, answer) in enumerate(zip(stems, answers, strict=True), 1)
    ]
    merge_copies([*first, *second])
    assert not any(one.entry for one in first)
    return [one.number for one in second if one.entry], [one.number for one in first if one.flags]


@pytest.mark.parametrize(
    ("stems", "answers", "expected"),
    [
        ([STEM] * 3, "AAA", ([1, 2, 3], [])),
        ([STEM] * 2, "AA", ([], [])),
        ([STEM] * 3, "AA-", ([1, 2, 3], [])),
        ([STEM] * 3, "A--", ([], [])),
        ([STEM] * 4, "AA--", ([], [])),
        ([STEM] * 4, "AAA-", ([1, 2, 3, 4], [])),
        ([STEM] * 3 + ["庚辛壬癸子丑"] * 3, "AAAAAA", ([1, 2, 3], [])),
        ([STEM] * 3 + ["庚辛壬癸子丑"] * 4, "AAAAAAA", ([], [])),
        ([STEM] * 3 + ["甲乙丙丁戊庚"], "AAAA", ([1, 2, 3, 4], [4])),
        ([STEM] * 3 + ["甲乙丙丁庚辛"], "AAAA", ([1, 2, 3], [])),
        ([STEM] * 2 + ["甲乙丙丁戊庚"], "AAA", ([1, 2, 3], [3])),
        ([STEM] * 2 + ["甲乙丙丁庚辛"], "AAA", ([], [])),
        (["（ ）甲乙 丙丁戊己"] * 3, "AAA", ([1, 2, 3], [])),
    ],
)
def test_three_questions_printed_again_with_their_answers_are_entries(stems, answers, expected):
    assert copied(stems, [letter.strip("-") or None for letter in answers]) == expected


def test_what_differs_in_a_copy_is_told_by_sixty_characters():
    first = [drafted(number, stem="长" * 70) for number in (1, 2, 3)]
    second = [drafted(number, 1, "短" + "长" * 69, "A") for number in (1, 2, 3)]
    merge_copies([*first, *second])
    assert first[0].flags == [("copies_differ", f"printed again, it reads otherwise: {'短' + '长' * 59!r}")]


def test_parts_and_entries_are_no_copies():
    first = [drafted(number, stem=STEM) for number in (1, 2, 3)]
    for more in ({"suffix": "a"}, {"entry": True}, {"options": ""}):
        second = [drafted(number, 1, STEM, "A", **more) for number in (1, 2, 3)]
        merge_copies([*first, *second])
        assert [one.entry for one in second] == [more.get("entry", False)] * 3
    explained = [drafted(number, 1, STEM, explanation="因为") for number in (1, 2, 3)]
    merge_copies([*first, *explained])
    assert [one.entry for one in explained] == [True] * 3


def joint(*drafts):
    """Answers, and the places of questions that wait, that share a group and that have a case."""
    share_joint_answers(drafts)
    places = [
        [at for at, one in enumerate(drafts) if told(one)]
        for told in (lambda one: one.flags, lambda one: one.group, lambda one: one.shared_stem)
    ]
    return "".join(one.answer or "-" for one in drafts), *places


NEXT_STEM = "该患者首选的检查是"
FIRST_STEM = f"{CASE}最可能的诊断是"


@pytest.mark.parametrize(
    ("drafts", "expected"),
    [
        ([drafted(1, stem=FIRST_STEM), drafted(2, stem=NEXT_STEM, answer="AB")], ("AB", [], [0, 1], [1])),
        (
            [drafted(1, stem=FIRST_STEM), drafted(2, stem=NEXT_STEM), drafted(3, stem=NEXT_STEM, answer="ABA")],
            ("ABA", [], [0, 1, 2], [1, 2]),
        ),
        ([drafted(1, stem=FIRST_STEM), drafted(2, stem="甲", answer="AB")], ("-AB", [0, 1], [], [])),
        ([drafted(1, stem="甲"), drafted(2, stem=NEXT_STEM, answer="AB")], ("-AB", [0, 1], [], [])),
        ([drafted(1, stem=FIRST_STEM), drafted(2, stem=NEXT_STEM, answer="ABA")], ("-ABA", [], [], [])),
        ([drafted(1), drafted(2), drafted(3, answer="AB")], ("--AB", [2], [], [])),
        ([drafted(1), drafted(2), drafted(3, answer="A")], ("--A", [], [], [])),
        ([drafted(1), drafted(2), drafted(3, answer="AB", key_head="一")], ("--AB", [], [], [])),
        ([drafted(1), drafted(2), drafted(3, answer="AB", block=Block(["二、X型题"]))], ("--AB", [], [], [])),
        ([drafted(1), drafted(2, entry=True), drafted(3, answer="AB")], ("--AB", [], [], [])),
        ([drafted(1), drafted(2, suffix="a"), drafted(3, answer="AB")], ("--AB", [], [], [])),
        ([drafted(1), drafted(2, options=""), drafted(3, answer="AB")], ("--AB", [], [], [])),
        ([drafted(1), drafted(2, answered=True), drafted(3, answer="AB")], ("--AB", [], [], [])),
        ([drafted(1), drafted(2, answer="A"), drafted(3, answer="AB")], ("-AAB", [], [], [])),
        ([drafted(1, answer="AB")], ("AB", [], [], [])),
    ],
)
def test_letters_for_each_of_the_questions_before(drafts, expected):
    assert joint(*deepcopy(drafts)) == expected


@pytest.mark.parametrize(
    ("stem", "shared"),
    [
        ("承上题，首选的检查是", (1, "乙")),
        ("承第1题，首选的检查是", (0, "甲")),
        ("承第9题，首选的检查是", None),
        ("首选的检查是", None),
    ],
)
def test_a_question_shares_the_case_of_the_one_it_names(stem, shared):
    drafts = [drafted(1, stem="甲"), drafted(2, stem="乙"), drafted(3, stem=stem)]
    continue_cases(drafts)
    named = [at for at in (0, 1) if drafts[at].group]
    found = (named[0], drafts[2].shared_stem) if named else None
    assert found == shared
    assert drafts[2].group == (drafts[named[0]].group if named else None)


def test_a_question_shares_no_case_of_an_entry_or_an_item_without_options():
    for more in ({"entry": True}, {"options": ""}):
        drafts = [drafted(1, stem="乙", **more), drafted(2, stem="承上题，首选的检查是")]
        continue_cases(drafts)
        assert (drafts[1].group, drafts[1].shared_stem) == (None, None)
    own = [drafted(1, stem="乙"), drafted(2, stem="承上题，首选的检查是", shared_stem="丙")]
    continue_cases(own)
    assert (own[1].group, own[1].shared_stem) == (None, "丙")
    both = [drafted(1, stem="乙", shared_stem="丙", group="g"), drafted(2, stem="承上题，首选的检查是")]
    continue_cases(both)
    assert (both[1].group, both[1].shared_stem) == ("g", "丙")


def test_twenty_six_parts_have_letters_and_later_ones_numbers():
    item = NumberedItem(7, 7, 0, [], Block())
    found = Parts("", tuple(SubItem("甲", (("A", "一"),), None) for _ in range(28)), shared_options=False)
    suffixes = [draft.suffix for draft in part_drafts(item, [], found, split_fields(""))]
    assert suffixes == [*"abcdefghijklmnopqrstuvwxyz", "z26", "z27"]
