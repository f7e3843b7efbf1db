"""From items to questions: where each part was read, by which rule, and what is doubted."""

import re

import pytest

from build_dataset.pipeline.parse.assemble import _is_entry
from build_dataset.pipeline.parse.fields import split_fields
from build_dataset.pipeline.parse.paper import finish
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from tests.pipeline.parse import short
from tests.pipeline.parse.conftest import lines_of
from tests.pipeline.parse.short import CASE, DOCUMENT, FOUR, items


def told(text):
    """For each item its number, stem, labels and answer, the rules by their lines, and the doubts."""
    paper = read_paper("x.pdf", lines_of(text))
    check_gates(paper)
    found = []
    for one in paper.items:
        steps = [
            f"{step.rule}({step.detail or ''})" + "".join(f"@{span.first}-{span.last}" for span in step.spans)
            for step in one.steps
        ]
        stem = "".join((one.shared_stem or "", "|" if one.shared_stem else "", one.stem))
        labels = "".join(label for label, _ in one.options)
        head = f"{one.number}{one.suffix} {stem} {labels}={one.answer or ''}"
        aside = [f"-{': '.join(one.set_aside)}"] if one.set_aside else []
        found.append((head, " ".join(steps), [*aside, *(f"{reason}: {why}" for reason, why in one.flags)]))
    return found


PLAIN = re.compile(r"(\d+) 第\1项对的是 ABCD=(\w*) dot\(\1\.\)@(\d+)-\3( \S+\(\S+\))? dotted\(ABCD\)@\d+-(\d+)")


def briefly(text):
    """Return what is told, a line each, doubts behind their item; ``2B@5-9`` is a plain question by its lines."""
    return [
        line
        for head, steps, doubts in told(text)
        for line in (PLAIN.sub(r"\1\2@\3-\5\4", f"{head} {steps}"), *(f"? {doubt}" for doubt in doubts))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            f"1. 甲是\nA. 甲\nB. 乙\nC. 丙\nA. 五\nB. 六\nC. 七\n{items(2)}",
            [
                "1 甲是 ABC= dot(1.)@0-0 dotted(ABC)@1-6",
                "? several_option_runs: options start again after C: '五'",
                "? label_inside_text: a line after option C begins with C: 'C. 七'",
                "? label_inside_text: labels stand in option C: ABC of 'A. 五B. 六C. 七'",
                "2@7-11",
            ],
        ),
        (
            f"1. 甲是\nA. 一\nB. 二\nC. 三\n第二题乙是\n{FOUR}\n{items(2)}",
            [
                "1 甲是A. 一B. 二C. 三第二题乙是 ABCD= dot(1.)@0-0 dotted(ABCD)@5-8",
                "? label_inside_text: labels stand in stem: ABC of 'A. 一B. 二C. 三第二题乙是'",
                "2@9-13",
            ],
        ),
        (f"1. 甲是\n{FOUR}\nE 型\n{items(2)}", ["1 甲是 ABCDE= dot(1.)@0-0 dotted(ABCDE)@1-5", "2@6-10"]),
        (
            f"1. 甲是\n{FOUR}\n（D）型\n{items(2)}",
            [
                "1 甲是 ABCD= dot(1.)@0-0 dotted(ABCD)@1-5",
                "? label_inside_text: a line after option D begins with D: '（D）型'",
                "2@6-10",
            ],
        ),
        (
            f"1. 甲是1.\n{FOUR}\n2. 乙是3.\n{FOUR}\n3. . 丙是\n{FOUR}",
            [
                "1 甲是1. ABCD= dot(1.)@0-0 dotted(ABCD)@1-4",
                "2 乙是3. ABCD= dot(2.)@5-5 dotted(ABCD)@6-9",
                "3 丙是 ABCD= dot(3.)@10-10 dotted(ABCD)@11-14",
            ],
        ),
        (
            "一、B1型题\nA. 一\nB. 二\nC. 三\n1. 属于甲\n2. 属于乙\nA. 四\nB. 五\nC. 六\n3. 属于丙",
            [
                "1 属于甲 ABC= dot(1.)@4-4 B1(一、B1型题) shared(ABC) shared_options()@1-3",
                "2 属于乙 ABC= dot(2.)@5-5 B1(一、B1型题) shared(ABC) shared_options()@1-3",
                "3 属于丙 ABC= dot(3.)@9-9 B1(一、B1型题) shared(ABC) shared_options()@6-8",
            ],
        ),
        (
            "B1型题\nA. 一\nB. 二\nC. 三\n1. 属于甲\nA. 四\nB. 五\nC. 六\n2. 属于丙\nA. 七\nB. 八\nC. 九\n3. 属于丁",
            [
                "1 属于甲 ABC= dot(1.)@4-4 B1(B1型题) shared(ABC)",
                "? parts_and_options_differ: options follow every question, so none may be shared",
                "2 属于丙 ABC= dot(2.)@8-8 B1(B1型题) shared(ABC)",
                "? parts_and_options_differ: options follow every question, so none may be shared",
                "3 属于丁 ABC= dot(3.)@12-12 B1(B1型题) shared(ABC)",
                "? parts_and_options_differ: options follow every question, so none may be shared",
            ],
        ),
        (
            f"（1～2题共用题干）\n{CASE}\n{items(1, 2)}\n（3～4题共用备选答案）\n{FOUR}\n3. 丙是\n4. 丁是\n{items(5)}",
            [
                "1 男，45岁。上腹痛3天，伴黄疸。|第1项对的是 ABCD= dot(1.)@2-2 dotted(ABCD)@3-6 shared_stem()@1-1",
                "2 男，45岁。上腹痛3天，伴黄疸。|第2项对的是 ABCD= dot(2.)@7-7 dotted(ABCD)@8-11 shared_stem()@1-1",
                "3 丙是 ABCD= dot(3.)@17-17 shared(ABCD) shared_options()@13-16",
                "4 丁是 ABCD= dot(4.)@18-18 shared(ABCD) shared_options()@13-16",
                "5@19-23",
            ],
        ),
        (
            f"{items(1, 2, 3)}\n参考答案\n1. A\n解析：甲对。\n2～3. BC\n解析：乙丙对。",
            [
                "1A@0-4 key_entries(x.pdf) key_entries(A in x.pdf)",
                "2B@5-9 key_list(B in x.pdf)",
                "3C@10-14 key_list(C in x.pdf)",
            ],
        ),
        (
            f"{items(1, 2, 3)}\n参考答案与解析\n1.【答案】A\n【解析】甲。\n2～3．【答案】BD【解析】见教材。",
            [
                "1A@0-4 key_entries(x.pdf) key_entries(A in x.pdf)",
                "2B@5-9 key_entries(x.pdf) key_entries(B in x.pdf)",
                "3D@10-14 key_entries(x.pdf) key_entries(D in x.pdf)",
            ],
        ),
        (
            f"{items(1, 2, 3)}\n参考答案与解析\n1. 解析：甲对，故选A。\n2. 【答案】B 乙对。\n3. （1）A（2）C",
            [
                "1A@0-4 key_entries(x.pdf) key_entries(A in x.pdf)",
                "2B@5-9 key_entries(x.pdf) key_entries(B in x.pdf)",
                "3@10-14",
                "? parts_and_answers_differ: 1 parts, AC in the key",
            ],
        ),
        (
            f"{items(1, 2, 3, 4, 5)}\n1.A\n2.B\n3.C\n4.D 丁对\n5.A",
            [
                "1A@0-4 key_list(A in x.pdf)",
                "2B@5-9 key_list(B in x.pdf)",
                "3C@10-14 key_list(C in x.pdf)",
                "4D@15-19 key_entries(x.pdf) key_entries(D in x.pdf)",
                "5A@20-24 key_entries(A in x.pdf)",
            ],
        ),
        (
            f"{items(1, 2, 3, 4, 5)}\n1.A 甲对\n2.B 乙对\n3.C 丙对\n4.D 丁对\n5. 戊对",
            [
                "1@0-4",
                "? may_hold_another: a line begins like number 1: '1.A 甲对'",
                "2@5-9",
                "3@10-14",
                "4@15-19",
                "5@20-29",
                "? text_left_over: '1.A 甲对' stands under the last option",
                "? may_hold_another: a line begins like number 1: '1.A 甲对'",
            ],
        ),
        (
            f"一、单选题\n{items(1, 2)}\n参考答案\n1.A 2.B\n一、单选题\n1. 甲对。\n2. 乙对。",
            [
                "1A@1-5 single(一、单选题) key_list(A in x.pdf) key_entries(x.pdf)",
                "2B@6-10 single(一、单选题) key_list(B in x.pdf) key_entries(x.pdf)",
            ],
        ),
        (
            f"（C）1. 甲是\n{FOUR}\n答案：B\n2. 乙是\n{FOUR}\n答案：C\n解析：乙对，故选B。\n（D）3. 丙是（ ）\n{FOUR}",
            [
                "1 甲是 ABCD=B dot(（C）1.)@0-0 mark(答案：)@5-5 dotted(ABCD)@1-4 inline(B)",
                "? answers_disagree: the paper states B and C",
                "2 乙是 ABCD=C dot(2.)@6-6 mark(答案：)@11-11 mark(解析：)@12-12 dotted(ABCD)@7-10 inline(C)",
                "? explanation_disagrees: answer C, but the explanation says '故选B'",
                "3 丙是（ ） ABCD=D dot(（D）3.)@13-13 dotted(ABCD)@14-17 beside(D)",
            ],
        ),
        (
            f"1. 甲是\n{FOUR}\n答案：乙\n解析：乙。因为乙。\n2. 乙是（B）\n{FOUR}\n答案：B\n"
            f"3. 丙是（B）\n{FOUR}\n答案：C",
            [
                "1 甲是 ABCD=B dot(1.)@0-0 mark(答案：)@5-5 mark(解析：)@6-6 dotted(ABCD)@1-4 option_text(B)",
                "2 乙是（ ） ABCD=B dot(2.)@7-7 mark(答案：)@12-12 dotted(ABCD)@8-11 inline(B)",
                "3 丙是（B） ABCD=C dot(3.)@13-13 mark(答案：)@18-18 dotted(ABCD)@14-17 inline(C)",
                "? answers_disagree: B in its blank, C behind the mark",
            ],
        ),
        (
            f"1. [多选题]甲是\n{FOUR}\n答案：AB\n2. 乙是（ ）[单选题]\n{FOUR}\n"
            f"3. （2分）丙是\n{FOUR}\n4. 甲是乙。（ ）\n5. 甲是____。",
            [
                "1 甲是 ABCD=AB dot(1.)@0-0 mark(答案：)@5-5 dotted(ABCD)@1-4 inline(AB)",
                "2 乙是（ ） ABCD= dot(2.)@6-6 dotted(ABCD)@7-10",
                "3 丙是 ABCD= dot(3.)@11-11 dotted(ABCD)@12-15",
                "4 甲是乙。（ ） = dot(4.)@16-16",
                "? no_options: no run of options was found",
                "5 甲是____。 = dot(5.)@17-17",
                "? -fill_in: an item with blanks to fill in",
            ],
        ),
        (
            "二、简答题\n一、试述甲\n二、试述乙\n答案：略",
            [
                "1 试述甲 = title(一、)@1-1 short_answer(二、简答题)",
                "? -short_answer: an item to be answered in words",
                "2 试述乙 = title(二、)@2-2 short_answer(二、简答题) mark(答案：)@3-3",
                "? -short_answer: an item to be answered in words",
            ],
        ),
        (
            "1. 题\nA. （2分）甲\nB. （3分）乙\nC. （1分）丙",
            [
                "1 题 ABC= dot(1.)@0-0 dotted(ABC)@1-3",
                "? -short_answer: its parts earn marks of their own, so they are no options",
            ],
        ),
        (
            "C型题\n1. 甲\n2. 乙",
            [
                "1 甲 = dot(1.)@1-1 C(C型题)",
                "? -c_type: a C-type item whose shared options were not found",
                "2 乙 = dot(2.)@2-2 C(C型题)",
                "? -c_type: a C-type item whose shared options were not found",
            ],
        ),
        (
            f"2.3. 甲\nA. 一 B. 二 C. 三\nA. 四 B. 五 C. 六\n答案：AB\n{items(4)}",
            [
                "2 甲| ABC=A dot(2.3.)@0-0 mark(答案：)@3-3 parts_of_an_item() letter_each(A)",
                "3 甲| ABC=B dot(2.3.)@0-0 mark(答案：)@3-3 parts_of_an_item() letter_each(B)",
                "4@4-8",
                "? no_answer: most other questions have one",
            ],
        ),
        (
            "K型题 A. ①②③ B. ①③ C. ②④ D. ④\n1. 甲\n①一②二③三④四\n2. 乙\n①一②二③三④四",
            [
                "1 甲\n①一②二③三④四 ABCD= dot(1.)@1-1 K(K型题 A. ①②③ B. ①③ C. ②④ D. ④) codes_of_head(ABCD)",
                "2 乙\n①一②二③三④四 ABCD= dot(2.)@3-3 K(K型题 A. ①②③ B. ①③ C. ②④ D. ④) codes_of_head(ABCD)",
            ],
        ),
        (
            f"1. 甲是\nA.甲(正确答案)\nB.乙\nC.丙\n答案：B\n2. 乙是\n{FOUR}\n答案：戊\n"
            f"3. 丙是\n{FOUR}\n解析：丙对，故选C。",
            [
                "1 甲是 ABC=B dot(1.)@0-0 mark(答案：)@4-4 dotted(ABC)@1-3 inline(B)",
                "? answers_disagree: the paper states A and B",
                "2 乙是 ABCD= dot(2.)@5-5 mark(答案：)@10-10 dotted(ABCD)@6-9",
                "? answer_not_read: answer given as '戊'",
                "3 丙是 ABCD=C dot(3.)@11-11 mark(解析：)@16-16 dotted(ABCD)@12-15 concluded(C)",
            ],
        ),
        (
            "\n".join(f"{at}. 第{at}项是\nA. 甲\nB. 乙\nC. 丙（难度系数{'ABC'[at - 1]}）" for at in (1, 2, 3)),
            [
                "1 第1项是 ABC= dot(1.)@0-0 dotted(ABC)@1-3",
                "2 第2项是 ABC= dot(2.)@4-4 dotted(ABC)@5-7",
                "3 第3项是 ABC= dot(3.)@8-8 dotted(ABC)@9-11",
            ],
        ),
    ],
)
def test_the_parts_of_questions_and_their_doubts(text, expected):
    assert briefly(text) == expected


def outcome(text):
    """Numbers with their answers, what is set aside and what waits."""
    paper = read_paper("x.pdf", lines_of(text))
    check_gates(paper)
    return short.told(finish(paper, DOCUMENT))


def entries(total, count):
    """Entries of a key in four forms, the first of the numbers, with explanations; others say no answer."""
    forms = ("{}、B\n解析：乙对。", "{}.C丙是常见的一种", "{}. D\n丁是这样的", "{}.A甲与此有关")
    told = (forms[at % 4] if at < count else "{}. 说明在此" for at in range(total))
    return "\n".join(form.format(at) for at, form in enumerate(told, 1))


@pytest.mark.parametrize(("total", "count", "read"), [(20, 15, False), (20, 16, True), (28, 22, False), (28, 23, True)])
def test_four_fifths_of_entries_make_a_key_without_a_head(total, count, read):
    assert (outcome(f"{items(*range(1, total + 1))}\n{entries(total, count)}")[1] == "2C") is read


@pytest.mark.parametrize(("asked", "read"), [(15, False), (16, True), (20, True)])
def test_a_key_without_a_head_repeats_four_fifths_of_its_numbers(asked, read):
    assert (outcome(f"{items(*range(1, asked + 1))}\n{entries(20, 20)}")[1] == "2C") is read


KEYED = f"一、单选题\n{items(1, 2)}\n参考答案\n1.A 2.B\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{KEYED}一、单选题\n1. 甲对。\n2. 乙对。", ["1A", "2B"]),
        (f"{KEYED}二、说明\n1. 甲对。\n2. 乙对。", ["1A", "2B", "-1 no_options", "-2 no_options"]),
        (f"{KEYED}二、试题解析\n1. 甲对。\n2. 乙对。", ["1A", "2B"]),
        (
            f"一、单选题\n{items(1, 2)}\n二、多选题\n{items(3)}\n一、单选题\n1. 甲对。\n"
            "2. 乙对。\n参考答案\n1.A 2.B 3.C",
            ["1A", "2B", "3C", "-1 no_options", "-2 no_options"],
        ),
        (f"一、解析几何\n{items(1, 2)}\n二、单选题\n{items(3)}\n参考答案\n1.A 2.B 3.C", ["1A", "2B", "3C"]),
    ],
)
def test_what_stands_behind_a_key_under_a_head_seen_before_explains(text, expected):
    assert outcome(text) == expected


def drafted(text):
    """Number, stem, options, answer and the names of the doubts of each draft, before gates."""
    return [
        (one.number, one.stem, "|".join(option for _, option in one.options), one.answer, [why for why, _ in one.flags])
        for one in read_paper("x.pdf", lines_of(text)).drafts
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"问\n{FOUR}\nA. 一\nB. 二", ("问", "甲|乙|丙|丁A. 一B. 二", None, [])),
        (f"问\n{FOUR}\nA. 一\nB. 二\nC. 三", ("问", "甲|乙|丙|丁A. 一B. 二C. 三", None, ["several_option_runs"])),
        (
            "问\nA. 甲\nB. 乙\nA. 一\nB. 二",
            ("问", "甲|乙A. 一B. 二", None, ["several_option_runs", "label_inside_text"]),
        ),
        (f"问 A. 一 B. 二 C. 三 的\n{FOUR}", ("问 A. 一 B. 二 C. 三 的", "甲|乙|丙|丁", None, ["several_option_runs"])),
        (f"问 A. 一 B. 二 的\n{FOUR}", ("问 A. 一 B. 二 的", "甲|乙|丙|丁", None, [])),
        (f"问\n{FOUR}\nD. 戊", ("问", "甲|乙|丙|丁D. 戊", None, ["label_inside_text"])),
        (f"问？（1）\n{FOUR}", ("问？", "甲|乙|丙|丁", None, [])),
        (f"问？（2）\n{FOUR}", ("问？（2）", "甲|乙|丙|丁", None, [])),
        (f".问\n{FOUR}", ("问", "甲|乙|丙|丁", None, [])),
        (f"问（B）的\n{FOUR}\n答案：B", ("问（ ）的", "甲|乙|丙|丁", "B", [])),
        (f"问（C）的\n{FOUR}\n答案：B", ("问（C）的", "甲|乙|丙|丁", "B", ["answers_disagree"])),
        (f"问\n{FOUR}\n答案：乙", ("问", "甲|乙|丙|丁", "B", [])),
        (f"问\n{FOUR}\n答案：己", ("问", "甲|乙|丙|丁", None, ["answer_not_read"])),
    ],
)
def test_an_item_and_what_is_doubtful_about_it(text, expected):
    assert drafted(f"1. {text}") == [(1, *expected)]


@pytest.mark.parametrize(("letters", "answers"), [("ABC", "ABC"), ("AB", "---"), ("ABCD", "---")])
def test_letters_for_a_range_of_numbers_answer_one_each(letters, answers):
    found = drafted(f"{items(9, 10, 11)}\n参考答案\n9～11．{letters}")[:3]
    assert "".join(answer or "-" for *_, answer, _ in found) == answers


def test_a_numbered_line_of_a_key_says_only_an_answer_or_an_explanation():
    entries = ["【解析】略", "\n【解析】略", "【答案】A", "A", "A．", "K.", "ABCDEFGHIJK"]
    texts = [*entries, "", "甲", "甲【解析】略", "L", "ABCDEFGHIJKA"]
    assert [text for text in texts if _is_entry(split_fields(text))] == entries


@pytest.mark.parametrize("again", ["（A）五 （B）六 （C）七", "A五\nB六\nC七", "A 五\nB 六\nC 七", "A. 五 B. 六 C. 七"])
def test_options_that_start_again_are_told_however_labelled(again):
    (first, *_) = told(f"1. 甲是\nA. 甲\nB. 乙\nC. 丙\n{again}\n{items(2)}")
    assert "several_option_runs: options start again after C: '五'" in first[2]


def test_bare_letters_of_one_line_are_no_second_options():
    (first, *_) = told(f"1. 甲是\nA. 甲\nB. 乙\nC. 丙\nA 五 B 六 C 七\n{items(2)}")
    assert first[2] == []


def test_an_explanation_is_traced_to_the_line_of_its_mark():
    (first, *_) = told(f"1. 甲是\n{FOUR}\n答案：B\n解析：乙对。\n{items(2)}")
    assert [step for step in first[1].split() if step.startswith("mark")] == ["mark(答案：)@5-5", "mark(解析：)@6-6"]
