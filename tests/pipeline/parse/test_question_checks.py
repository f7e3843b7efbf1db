"""Cross-examination: what contradicts itself, or may hold what was not found, waits with its evidence."""

import re

import pytest

from benchmarks.papers.silent import HOLE, printed_lines
from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.keys import Key
from build_dataset.pipeline.parse.layout_checks import BESIDE, INSIDE
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.pipeline.parse.outline import Block, Outline
from build_dataset.pipeline.parse.paper import ParsedPaper, finish
from build_dataset.pipeline.parse.paper_checks import COMPARED
from build_dataset.pipeline.parse.question_checks import CONTENT
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from build_dataset.schemas.documents import LineKind, Part, Step
from tests.pipeline.parse.conftest import lines_of
from tests.pipeline.parse.short import CASE, DOCUMENT, FOUR, THREE, check, items, told


def waits(outcome, number):
    """Why a question waits: names of gates."""
    name = f"{number:03d}"
    found = [item.detail for item in outcome.review if item.item_id.endswith(name)]
    return [reason for detail in found for reason in re.findall(r"(?:^|; )([a-z_]+): ", detail)]


@pytest.mark.parametrize(
    ("stem", "explanation", "key", "against"),
    [
        ("下列哪项对", "乙最常见，故选B。", "B", False),
        ("下列哪项对", "乙最常见，故选B。", "A", True),
        ("下列正确的是", "A错误，B正确，C错误，D错误。", "D", True),
        ("下列错误的是", "A、B、D项正确，C项错误。", "C", False),
        ("下列错误的是", "A、B、D项正确，C项错误。", "A", True),
        ("下列哪项不符合", "B错误。", "B", False),
        ("下列哪项符合", "本题考查基本概念。", "A", False),
    ],
)
def test_a_key_against_its_explanation_waits(parse, stem, explanation, key, against):
    outcome = parse(f"1. {stem}\n{FOUR}\n答案：{key}\n解析：{explanation}")
    assert ("explanation_disagrees" in waits(outcome, 1)) == against


def test_the_question_before_a_lost_number_waits_unless_it_is_shown_to_be_alone(parse):
    swallowed = parse(f"{THREE}\n第4项的题干没有编号\n{items(5, 6)}")
    assert waits(swallowed, 3) == ["text_left_over", "may_hold_another"]
    assert told(parse(f"{THREE}\n{items(5, 6)}")) == ["1-", "2-", "3-", "5-", "6-", "? missing_number"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("A. 甲\nB. 乙\nC. 丙\nD. 丁 8～9题共用备选答案", "case_inside"),
        ("A. 甲\nB. 乙\nC. 丙\nD. 丁 第3页", "foot_inside"),
        ("A. 甲\nB. 乙\nC. 丙\nD. 丁【B1型题】", "text_left_over"),
        ("A. 甲\nB. 乙\nC. 丙\nD. 丁F. 己", "label_inside_text"),
        ("C. 丙\nD. 丁\n其中属于这一类的是\nA. 甲\nB. 乙\nC. 丙\nD. 丁", "label_inside_text"),
        ("A. 甲\nB. 乙\nC. 乙\nD. 丁", "options_alike"),
        ("A. 甲\nB. 乙\nC. 丙\ufffd\nD. 丁", "unreadable_characters"),
        ("A. 1-(1-R)3\nB. 乙\nC. 丙\nD. 丁", "flat_power"),
        ("A. O(n2)\nB. 乙\nC. 丙\nD. 丁", "flat_power"),
        ("A. x＝，y\nB. 乙\nC. 丙\nD. 丁", "empty_place"),
        ("A. 甲\nB. 乙\nC. 丙\nD. 丁\nD. 戊", "label_inside_text"),
        ("(A)甲\n(B)乙\n(C)丙 与（E）丁", "label_inside_text"),
        ("A. 甲\tB. 乙\tC. 丙\tD. 丁\t戊己庚", "label_inside_text"),
        ("A. 甲\tB. 乙\tC. 丙\tD. 丁\tIDC网", "label_inside_text"),
        (f"A. 甲\nB. 乙\nC. 丙\nD. 丁{'后面的文字' * 20}", "option_too_long"),
    ],
)
def test_what_looks_strange_inside_a_question_waits(parse, options, reason):
    assert reason in waits(parse(f"1. 下列何者正确\n{options}"), 1)


def test_a_question_that_speaks_of_a_patient_whom_nobody_presented_waits(parse):
    outcome = parse(f"{items(1, 2)}\n3. 该患者首选的检查是\n{FOUR}")
    assert waits(outcome, 3) == ["case_missing"]


def test_room_for_a_line_inside_a_question_tells_of_one_that_was_not_read():
    page = items(1, 2, 3, 4, 5).split("\n")
    page[13] = "C. 丙之后还有很长很长的一行文字一直写到右边为止的内容，它在下一行继续"
    whole = printed_lines([page], "x.pdf", boxes=True)
    torn = [line if line.order <= 13 else line.model_copy(update={"box": _lower(line.box)}) for line in whole]
    kept = []
    for lines in (whole, torn):
        paper = read_paper("x.pdf", lines)
        check_gates(paper)
        kept.append([question.number for question in finish(paper, DOCUMENT).questions])
    assert kept == [[1, 2, 3, 4, 5], [1, 2, 4, 5]]


def _lower(box):
    return box.model_copy(update={"y0": box.y0 + 16, "y1": box.y1 + 16})


def read_torn(text):
    """The numbers kept of a paper whose lines marked with a cross were lost and left their room."""
    lines = printed_lines([[HOLE if line == "×" else line for line in text.split("\n")]], "x.pdf", boxes=True)
    paper = read_paper("x.pdf", lines)
    check_gates(paper)
    return [question.number for question in finish(paper, DOCUMENT).questions]


def test_options_that_several_share_wait_where_one_of_them_was_lost():
    shared = "（{}～{}题共用备选答案）\nA. 甲\nB. 乙\n{}\nD. 丁\n{}. 符合第{}种的是\n{}. 符合第{}种的是"
    whole = shared.format(6, 7, "C. 丙", 6, 6, 7, 7)
    torn = whole.replace("D. 丁", "×").replace("C. 丙", "×")
    before = items(1, 2, 3, 4, 5)
    assert read_torn(f"{before}\n{whole}") == [1, 2, 3, 4, 5, 6, 7]
    assert read_torn(f"{before}\n{torn}") == [1, 2, 3, 4, 5]


def test_a_full_last_line_before_a_head_may_go_on_where_there_is_room():
    full = "D. " + "丁" * 45
    paper = f"{items(1, 2, 3)}\n4. 第4项\nA. 甲\nB. 乙\nC. 丙\n{{}}\n×\n参考答案\n1.A 2.B 3.C 4.D"
    assert read_torn(paper.format("D. 丁")) == [1, 2, 3, 4]
    assert read_torn(paper.format(full)) == [1, 2, 3]


def test_a_line_inside_a_question_that_may_be_the_next_number_makes_both_wait(parse):
    lower = "a. 甲\nb. 乙\nc. 丙\nd. 丁"
    one = items(1, 2, 3, 4, options=lower)
    other = "（4～5题共用备选答案）\na. 戊\nb. 己\nc. 庚\nd. 辛\n4. 下列符合的是\n5. 下列不符合的是"
    merged = parse(f"一、单选题\n{one}\n{other}")
    assert [question.number for question in merged.questions] == [1, 2]
    assert {"may_hold_another"} <= set(waits(merged, 3)) & set(waits(merged, 4)) & set(waits(merged, 5))


@pytest.mark.parametrize("inside", ["1. 甲种\n2. 乙种", "（2）甲种", "38.5℃时", "38支/日时"])
def test_lists_and_quantities_inside_a_stem_are_no_next_number(parse, inside):
    number = 37 if "38" in inside else 1
    outcome = parse(f"{number}. 关于下列各种的说法是\n{inside}\n{FOUR}\n{items(number + 1, number + 2)}")
    assert waits(outcome, number) == []


def test_lines_left_of_another_question_make_it_wait(parse):
    left = "3. 第3项对的是\n（E）戊\n（A）甲\n（B）乙\n（C）丙\n（D）丁"
    assert "label_inside_text" in waits(parse(f"{items(1, 2)}\n{left}"), 3)
    roman = "3. 属于这一类的是\nI. 甲\nII. 乙\nA. 仅I\nB. 仅II\nC. I和II\nD. 都不是"
    assert waits(parse(f"{items(1, 2)}\n{roman}"), 3) == []


@pytest.mark.parametrize("foot", ["扫码关注获取更多真题", "好题在微信公众号某某"])
def test_what_a_site_prints_once_makes_its_question_wait(parse, foot):
    assert waits(parse(f"{items(1, 2)}\n{foot}\n{items(3)}"), 2) == ["foot_inside"]


@pytest.mark.parametrize(
    "glued", ["注射液3～4题共用题干", "注射液（3～4题共用题干）", "注射液二、A3/A4型题（共2题）（3～4题共用题干）"]
)
def test_a_head_behind_an_option_opens_what_it_names(parse, glued):
    outcome = parse(f"{items(1)}\n2. 第2项对的是\nA. 甲\nB. 乙\nC. 丙\nD. 0.9%氯化钠{glued}\n{CASE}\n{items(3, 4)}")
    asked = {question.number: question for question in outcome.questions}
    assert asked[2].options[-1].text == "0.9%氯化钠注射液"
    assert [asked[number].shared_stem for number in (2, 3, 4)] == [None, CASE, CASE]


def test_digits_before_a_glued_head_make_its_questions_wait(parse):
    outcome = parse(f"{items(1)}\n2. 第2项对的是\nA. 甲\nB. 乙\nC. 丙\nD. IL-63～4题共用题干\n{CASE}\n{items(3, 4)}")
    assert "case_inside" in waits(outcome, 2)


@pytest.mark.parametrize("lost", ["（3～4题共用备选答案）", "（3～4题共用题干）"])
def test_questions_without_a_case_wait_behind_what_lost_questions_share(parse, lost):
    own = f"（7～8题共用题干）\n{CASE}\n{items(7, 8, 9)}"
    outcome = parse(f"{items(1, 2)}\n{lost}\n{CASE}\n{items(5, 6)}\n{own}")
    assert [number for number in range(1, 10) if "case_missing" in waits(outcome, number)] == [5, 6]


@pytest.mark.parametrize("text", ["首选\uf0b7 的是", "首选（\uf0b7 ）"])
def test_the_code_of_a_bullet_inside_a_text_is_unreadable(parse, text):
    assert waits(parse(f"1. {text}\n{FOUR}"), 1) == ["unreadable_characters"]


def test_questions_wait_where_their_key_says_that_they_are_on_a_case(parse):
    key = "参考答案\n一、A1型题\n1.A 2.B\n二、A3/A4型题\n3.C 4.D"
    outcome = parse(f"一、A1型题\n{items(1, 2, 3, 4)}\n{key}")
    assert [waits(outcome, number) for number in (2, 3, 4)] == [[], ["case_missing"], ["case_missing"]]


def test_each_answer_of_a_key_document_stands_under_its_own_head():
    key = "参考答案\n一、A1型题\n1\tA\n2\tB\n二、A3/A4型题\n3\tC\n4\tD\n三、X型题\n5\tAB\n6\tCD"
    (run,) = read_paper("key.pdf", printed_lines([key.split("\n")], "key.pdf", boxes=False)).key.runs
    assert [entry.head for entry in run.entries.values()] == ["一、A1型题"] * 2 + ["二、A3/A4型题"] * 2 + [
        "三、X型题"
    ] * 2


def test_a_long_last_option_is_sound_where_its_lines_are_full():
    page = items(1, 2, 3).split("\n")
    page[4:5] = ["D. " + "长" * 45, "长" * 40]
    page[0] = "1. " + "问" * 45 + "？"
    for full, expected in ((True, [1, 2, 3]), (False, [2, 3])):
        lines = printed_lines([page], "x.pdf", boxes=full)
        paper = read_paper("x.pdf", lines)
        check_gates(paper)
        assert [question.number for question in finish(paper, DOCUMENT).questions] == expected


def test_sound_papers_do_not_wait(parse):
    assert parse(items(*range(1, 11))).review == []


@pytest.mark.parametrize(
    ("stem", "flat"),
    [
        ("白细胞12×109/L，下列哪项对", True),
        ("可靠度为1-(1-R)3，下列哪项对", True),
        ("浓度为3×10-6，下列哪项对", True),
        ("白细胞12×10⁹/L，下列哪项对", False),
        ("占3×100，共5×10个，下列哪项对", False),
        ("乘积为2.5×10.5，下列哪项对", False),
    ],
)
def test_an_exponent_as_large_as_its_line_waits(parse, stem, flat):
    assert ("flat_power" in waits(parse(f"1. {stem}\n{FOUR}\n答案：B"), 1)) == flat


def test_two_readings_of_a_line_that_differ_wait_with_both():
    lines = lines_of(f"1. 每次用5mg的是\n{FOUR}\n答案：B")
    lines[0] = lines[0].model_copy(update={"other": "1.每次用5μg的是"})
    paper = read_paper("x.pdf", lines)
    check_gates(paper)
    (item,) = finish(paper, DOCUMENT).review
    assert "5mg" in item.detail
    assert "5μg" in item.detail
    assert waits(finish(paper, DOCUMENT), 1) == ["readings_differ"]


def question(number=1, options="甲 乙 丙 丁", *, stem="下列说法正确的是", pieces=(), **more):
    """A question with options from A on; its lines are those of a text, or none."""
    lines = [ParsedLine(text, page, None, None, LineKind.TEXT) for page, text in pieces]
    draft = Draft(number, 0, lines, more.pop("block", None) or Block(), stem=stem, section=1)
    draft.options = list(zip("ABCDEFGH", options.split(" "), strict=False))
    for name, value in more.items():
        setattr(draft, name, value)
    return draft


def examined(*drafts, **outline):
    """The doubts of cross-examination, by the place of their question."""
    blocks = list({id(draft.block): draft.block for draft in drafts}.values())
    preamble = [ParsedLine(text, 1, None, None, LineKind.TEXT) for text in outline.pop("before", [])]
    whole = Outline(blocks=blocks, preamble=preamble, **outline)
    paper = ParsedPaper("x.pdf", [], [], list(drafts), Key(), None, "", whole)
    check(paper, [*CONTENT, *COMPARED, *INSIDE, *BESIDE])
    return [draft.flags for draft in drafts]


def reasons(*drafts, **outline):
    return [[reason for reason, _ in flags] for flags in examined(*drafts, **outline)]


def lines(*texts):
    return [(1, text) for text in texts]


LINES = lines("下列", "A. 甲")


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        ([*LINES, (2, "B. 乙")], []),
        ([*LINES, (2, "内科学试卷"), (2, "B. 乙")], ["foot_inside"]),
        ([*LINES, (1, "内科学试卷"), (2, "B. 乙")], ["foot_inside"]),
        ([*LINES, (1, "- 12 -"), (2, "B. 乙")], ["foot_inside"]),
        ([*LINES, (2, "12"), (2, "B. 乙")], ["foot_inside"]),
        ([*LINES, (1, "内科学试卷"), (1, "B. 乙")], []),
        ([(1, "内科学试卷"), (2, "A. 甲")], []),
        ([(1, "下列"), (2, "12甲"), (2, "A. 甲")], []),
    ],
)
def test_a_title_or_a_number_at_the_edge_of_a_page_inside_a_question(pieces, found):
    assert reasons(question(pieces=pieces)) == [found]


@pytest.mark.parametrize(
    ("before", "answer", "found"),
    [
        (["答案：C"], None, ["answers_disagree"]),
        (["答案：C"], "A", []),
        (["答案：C", "解析：甲"], None, []),
        (["A. 甲", "B. 乙", "C. 丙"], "A", ["parts_and_options_differ"]),
        (["A. 甲", "B. 乙"], "A", []),
        (["A. 甲", "B. 乙", "C. 丙", "一", "二"], "A", ["parts_and_options_differ"]),
        (["A. 甲", "B. 乙", "C. 丙", "一", "二", "三"], "A", []),
        ([], None, []),
    ],
)
def test_an_answer_or_options_before_the_first_question(before, answer, found):
    assert reasons(question(1), question(2, answer=answer), before=before) == [found, found]


@pytest.mark.parametrize(("first", "found"), [(7, []), (2, []), (1, ["parts_and_options_differ"])])
def test_options_before_a_number_that_is_not_the_first_are_of_the_question_cut_off_before_it(first, found):
    before = ["A. 甲", "B. 乙", "C. 丙"]
    assert reasons(question(first), question(first + 1, answer="A"), before=before) == [found, found]


@pytest.mark.parametrize(("first", "found"), [(7, []), (1, ["answers_disagree"])])
def test_an_answer_behind_options_before_a_later_number_is_of_the_question_cut_off_before_it(first, found):
    assert reasons(question(first), question(first + 1), before=["E. 戊", "答案：C"]) == [found, found]


def test_what_stands_before_the_first_question_is_of_its_section():
    other = question(1, answer="A")
    other.run = 1
    assert reasons(question(1), other, before=["答案：C"]) == [["answers_disagree"], []]


PART = [Step(part=Part.SHARED, rule="parts_of_an_item", detail=None, spans=[])]


@pytest.mark.parametrize(
    ("case", "steps", "found"),
    [("患有（A）病", PART, ["answer_in_text"]), ("患有（E）病", PART, []), ("患有（A）病", [], []), (None, PART, [])],
)
def test_an_answer_in_the_text_that_parts_share(case, steps, found):
    assert reasons(question(shared_stem=case, steps=[*steps])) == [found]


def test_twenty_characters_on_both_sides_show_what_cannot_be_read():
    found = [("unreadable_characters", f"U+FFFD in stem: '{'长' * 20}\ufffd{'短' * 20}'")]
    assert examined(question(stem="长" * 30 + "\ufffd" + "短" * 30)) == [found]
    assert examined(question(stem="长\ufffd短")) == [[("unreadable_characters", "U+FFFD in stem: '长\ufffd短'")]]


@pytest.mark.parametrize(
    ("draft", "found"),
    [
        ({"options": "甲\ufffd 乙\ufffd"}, ["unreadable_characters"]),
        ({"options": "甲\ufffd 乙", "set_aside": ("a", "b")}, []),
        ({"options": "甲= 乙= 丙"}, ["empty_place", "empty_place"]),
        ({"stem": "3×10-6", "options": "3×10-6 乙"}, ["flat_power"]),
        ({"options": "甲 ，乙 丙"}, ["text_left_over"]),
        ({"explanation": "，甲"}, ["text_left_over"]),
        ({"explanation": "的甲"}, ["text_left_over"]),
        ({"explanation": "甲的"}, []),
        ({"options": "B.甲乙 丙"}, ["label_inside_text"]),
        ({"options": "甲 乙 甲 丁"}, ["options_alike"]),
        ({"options": "甲 乙 丙 丁"}, []),
    ],
)
def test_what_a_text_of_a_question_holds(draft, found):
    assert reasons(question(**draft)) == [found]


PATIENT = "患者，男，45岁，上腹痛三天伴黄疸发热寒战呕吐"
LISTED = "甲\nA. 一\nB. 二\nC. 三"


@pytest.mark.parametrize(
    ("options", "more", "found"),
    [
        (f"甲 乙 {PATIENT}", {}, ["case_inside"]),
        (f"甲 {PATIENT}", {}, []),
        (f"甲 {PATIENT} {PATIENT}的", {}, []),
        (f"甲 {PATIENT} 丙", {}, []),
        ("甲 乙 丙", {"shared_stem": LISTED}, ["case_inside"]),
        ("甲 乙 丙", {"shared_stem": "甲\nA. 一\nB. 二"}, []),
        ("甲 乙 丙", {"shared_stem": "甲 A. 一 B. 二 C. 三"}, []),
        ("甲 乙 丙", {"shared_stem": LISTED, "shared_options": True}, []),
        ("甲 乙 丙", {"shared_stem": "甲是（ ）"}, ["case_inside"]),
        ("甲 乙 丙", {"shared_stem": "甲是（ ）", "stem": ""}, []),
    ],
)
def test_a_case_that_holds_a_question_or_stands_in_one(options, more, found):
    assert reasons(question(1, options, **more)) == [found]


def test_a_label_up_to_four_letters_behind_the_last_option():
    found = [label for label in "ABCDEFGHIJ" if reasons(question(1, f"甲 乙 丙 丁{label}.己")) != [[]]]
    assert "".join(found) == "EFGH"
    assert examined(question(1, "甲 " + "乙" * 40 + "D.己")) == [
        [("label_inside_text", f"a label stands in option B: {'乙' * 27 + 'D.己'!r}")]
    ]


@pytest.mark.parametrize(
    ("text", "form", "found"),
    [
        ("丁（F）己", "dotted", []),
        ("丁（F）己", "paren", ["label_inside_text"]),
        ("丁F.己", "dotted", ["label_inside_text"]),
        ("丁F.己", "paren", []),
        ("丁F.己", "bare", ["label_inside_text"]),
        ("丁（F）己", "bare", ["label_inside_text"]),
    ],
)
def test_labels_inside_options_are_of_their_form_where_it_is_known(text, form, found):
    steps = [Step(part=Part.OPTIONS, rule=form, detail=None, spans=[])]
    assert reasons(question(1, f"甲 乙 丙 {text}", steps=steps)) == [found]


@pytest.mark.parametrize(
    ("draft", "found"),
    [
        ({"stem": "甲A.一B.二"}, ["label_inside_text"]),
        ({"stem": "甲A.一C.二"}, []),
        ({"stem": "甲B.一A.二"}, []),
        ({"shared_stem": "甲A.一B.二"}, []),
        ({"options": "甲 乙A.一B.二 丙"}, ["label_inside_text"]),
    ],
)
def test_two_labels_in_order_inside_a_text(draft, found):
    assert reasons(question(**draft)) == [found]


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["甲", "C. 丙", "A. 甲"], ["label_inside_text"]),
        (["甲 A. 甲", "C. 丙"], []),
        (["C. 丙", "A. 甲"], []),
        (["甲", "A. 丙", "C. 丁"], []),
        (["甲", "乙"], []),
        (["甲 A 乙", "C. 丙"], ["label_inside_text"]),
    ],
)
def test_a_line_before_option_a_begins_with_another_label(texts, found):
    assert reasons(question(pieces=lines(*texts))) == [found]


@pytest.mark.parametrize(
    ("longest", "second", "waits"),
    [(60, 1, False), (61, 1, True), (61, 15, True), (61, 16, False), (64, 16, False), (65, 16, True)],
)
def test_an_option_of_more_than_sixty_characters_and_four_times_the_next(longest, second, waits):
    expected = [["option_too_long"]] if waits else [[]]
    assert reasons(question(1, f"{'长' * longest} {'短' * second} 丙 丁")) == expected
    assert reasons(question(1, f"甲 乙 {'短' * second} {'长' * longest}")) == expected
    assert reasons(question(1, f"{'长' * longest} {'短' * second}", shared_options=True)) == [[]]
    assert reasons(question(1, "长" * longest)) == [[]]


ANSWERED = lines("下列", "答案：A", "A. 甲", "B. 乙", "C. 丙", "答案：B")


@pytest.mark.parametrize(
    ("options", "pieces", "suffix", "found"),
    [
        ("甲 乙 丙 丁", ANSWERED, "", ["several_option_runs"]),
        ("甲 乙 丙 丁", [*ANSWERED[:4], *ANSWERED[5:]], "", []),
        ("甲 乙", [*ANSWERED[:4], *ANSWERED[5:]], "", ["several_option_runs"]),
        ("甲 乙 丙 丁", ANSWERED[:5], "", []),
        ("甲 乙 丙 丁", ANSWERED, "a", []),
    ],
)
def test_options_between_two_answers(options, pieces, suffix, found):
    assert reasons(question(1, options, pieces=pieces, suffix=suffix)) == [found]


@pytest.mark.parametrize(
    ("answer", "explanation", "waits"),
    [
        ("A", "（乙）", True),
        ("B", "（乙）", False),
        ("A", "（B）", True),
        ("B", "（B）", False),
        ("A", "B", True),
        ("A", "乙", True),
        ("A", "甲", False),
        ("C", "AB", True),
        ("A", "戊", False),
        (None, "乙", False),
        ("A", None, False),
    ],
)
def test_the_text_or_the_letter_of_another_option_beside_an_answer(answer, explanation, waits):
    found = [["answers_disagree"]] if waits else [[]]
    assert reasons(question(answer=answer, explanation=explanation)) == found


@pytest.mark.parametrize(
    ("answer", "steps", "waits"), [("A", [], True), ("B", [], False), (None, [], False), ("A", PART, False)]
)
def test_an_explanation_that_concludes_another_answer(answer, steps, waits):
    found = [["explanation_disagrees"]] if waits else [[]]
    assert reasons(question(answer=answer, explanation="甲最常见，故选B。", steps=[*steps])) == found


@pytest.mark.parametrize(
    ("more", "waits"),
    [
        ({"key_head": "二、A3/A4型题", "shared_stem": "甲"}, False),
        ({"key_head": "二、A3/A4型题", "shared_options": True}, False),
        ({"key_head": "二、A3/A4型题"}, True),
        ({"key_head": "二、A2型题"}, False),
        ({"tag": "A3/A4型题"}, True),
        ({"stem": PATIENT, "key_head": "二、A3/A4型题"}, False),
    ],
)
def test_a_question_on_a_patient_without_a_case(more, waits):
    assert reasons(question(**more)) == [["case_missing"] if waits else []]


def on_a_case(count, heads, **outline):
    """The numbers that wait of questions under some heads."""
    block = Block(list(heads))
    found = reasons(*[question(number, block=block) for number in range(1, count + 1)], **outline)
    return [number for number, why in enumerate(found, 1) if why]


def test_a_case_under_a_head_may_be_that_of_nine_questions():
    told = "男，45岁，上腹痛"
    assert on_a_case(12, ["一、单选题", told]) == [*range(1, 10)]
    assert on_a_case(12, ["一、单选题", "说明", told]) == [*range(1, 10)]
    assert on_a_case(3, ["一、单选题"], before=[told]) == [1, 2, 3]
    assert on_a_case(3, [told]) == []
    assert on_a_case(3, ["一、单选题", "说明"]) == []


@pytest.mark.parametrize(
    ("more", "waits"),
    [({}, [1, 2, 3]), ({"stem": "男，45岁"}, [1]), ({"stem": f"有位{PATIENT}"}, [1]), ({"group": "g"}, [1])],
)
def test_a_case_ends_where_another_begins(more, waits):
    block = Block(["一", "男，45岁，上腹痛"])
    found = reasons(question(1, block=block), question(2, block=block, **more), question(3, block=block))
    assert [number for number, why in enumerate(found, 1) if why] == waits


@pytest.mark.parametrize(("group", "last"), [(None, 10), ("g", 1)])
def test_a_case_behind_the_options_of_a_question_may_be_that_of_nine(group, last):
    block = Block()
    held = question(1, f"甲 乙 {PATIENT}", block=block, group=group)
    found = reasons(held, *[question(number, block=block) for number in range(2, 13)])
    assert [number for number, why in enumerate(found, 1) if why] == [*range(1, last + 1)]


@pytest.mark.parametrize(
    ("stem", "waits"),
    [("根据材料回答2-3题", [1, 2, 3]), ("根据材料回答1-2题", [1, 2]), ("回答3-4", [1, 3, 4]), ("甲", [])],
)
def test_questions_that_another_names_lack_their_case(stem, waits):
    found = reasons(question(1, stem=stem), *[question(number) for number in (2, 3, 4)])
    assert [number for number, why in enumerate(found, 1) if why] == waits


def test_questions_with_a_case_are_not_looked_for():
    piece = ParsedLine("甲", 1, None, None, LineKind.TEXT)
    named = [question(1, stem="根据材料回答2-3题"), question(2, shared_pieces=[piece]), question(3)]
    assert reasons(*named) == [["case_inside"], [], ["case_missing"]]


@pytest.mark.parametrize(("text", "waits"), [("甲，回答2-3题", True), ("答：2-3分钟", False)])
def test_an_item_without_options_names_questions_too(text, waits):
    aside = question(1, pieces=lines(text), set_aside=("short_answer", "in words"))
    aside.options = []
    found = ["case_missing"] if waits else []
    assert reasons(aside, question(2), question(3)) == [[], found, found]
