"""Papers of schools and boards: heads in English, passages, consent forms, code; each class over all its questions."""

import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.parse.pairing import pair_keys
from build_dataset.pipeline.parse.paper import finish
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from build_dataset.schemas.documents import LineKind
from tests.pipeline.parse.conftest import document_of, lines_of
from tests.pipeline.parse.short import FOUR, items, told

LETTERS = st.lists(st.sampled_from("ABCD"), min_size=3, max_size=12)
PASSAGE = "Bees carry pollen from flower to flower, and without them many fruits would not grow at all."


def outcome(text: str, headings: tuple[str, ...] = ()):
    heading = {"kind": LineKind.HEADING}
    lines = [one.model_copy(update=heading) if one.text in headings else one for one in lines_of(text)]
    paper = read_paper("paper.txt", lines)
    check_gates(paper)
    return finish(paper, document_of())


@settings(max_examples=20, deadline=None)
@given(LETTERS, st.sampled_from(["{}. {} — because", "{}. The correct answer is {}. It follows."]), st.booleans())
def test_an_english_key_in_another_file_answers_every_question(letters: list[str], form: str, titled: bool) -> None:
    head = "Practice Test 05 — Answer Key\nPart A: Multiple Choice" if titled else "ANSWERS AND EXPLANATIONS"
    key = "\n".join([head, *(form.format(at, letter) for at, letter in enumerate(letters, 1))])
    paper = read_paper("test.txt", lines_of(items(*range(1, len(letters) + 1)), "test.txt"))
    own = read_paper("test_key.txt", lines_of(key, "test_key.txt"))
    pair_keys([paper, own])
    assert [draft.answer for draft in paper.questions] == letters


def test_items_of_a_board_are_numbered_by_item_and_share_the_case_that_counts_them():
    case = "The following vignette applies to the next 2 items.\nA man with a cough has a hilar mass."
    text = "\n".join(f"Item {at}\nWhich is likely?\n{FOUR}" for at in (1, 2, 3, 4)).replace("Item 2", f"{case}\nItem 2")
    found = outcome(f"{text}\nAnswers and Explanations\n1. A\n2. B\n3. C\n4. D")
    assert told(found) == ["1A", "2B", "3C", "4D"]
    assert [bool(one.shared_stem) for one in found.questions] == [False, True, True, False]


def test_a_line_that_the_file_calls_a_heading_is_no_part_of_the_last_option():
    text = f"{items(1, 2)}\nDigestive System\n{items(3)}\n参考答案：1.A 2.B 3.C"
    assert told(outcome(text)) == ["1A", "3C", "?2 text_left_over"]
    assert told(outcome(text, ("Digestive System",))) == ["1A", "2B", "3C"]


def test_a_cloze_and_the_questions_on_a_passage_share_their_text_and_one_line_answers_both():
    cloze = f"三、完形填空\n{PASSAGE} Bees are __1__ and __2__.\n1. A. big B. small\n2. A. old B. new"
    reading = f"四、阅读理解\n{PASSAGE}\n3. What do they carry?\nA. Pollen\nB. Water"
    found = outcome(f"{cloze}\n{reading}\n答案：三、1-2 AB 四、3. A")
    assert told(found) == ["1A", "2B", "3A"]
    assert all(PASSAGE in (one.shared_stem or one.stem) for one in found.questions)


def test_a_consent_form_and_instructions_are_no_questions():
    form = "□A 同意 □B 不同意"
    consent = f"知情同意书\n1．您是否同意参加本次测验？\n{form}\n2．您是否愿意公开数据？\n{form}"
    rules = "答题说明\n1．请用黑色签字笔作答。\n2．每题只有一个正确答案，例如：A．正确 B．错误。\n3．测验时间为30分钟。"
    found = told(outcome(f"{consent}\n{rules}\n正式试题\n{items(1, 2, 3)}\n参考答案：1.A 2.B 3.C"))
    assert [one for one in found if not one.startswith("-")] == ["1A", "2B", "3C"]


@pytest.mark.parametrize(
    "options",
    [
        "A. <title>\nB. <caption>\nC. <head>\nD. <html>",
        'A. <img src="img/logo.gif"/>\nB. <img src="../logo.gif"/>\nC. <a>\nD. <b>',
        "A. 53\nB. 5 3\nC. 8\nD. 2",
        "A. *\nB. %\nC. _\nD. .",
        "A．DEBCA　B．DBECA　C．EDBCA　D．DECBA",
    ],
)
def test_code_signs_and_orders_of_letters_are_options(options):
    assert told(outcome(f"1. 正确的是（ ）\n{options}\n答案：B\n2. 对的是\n{FOUR}\n答案：C")) == ["1B", "2C"]


def test_what_is_lost_before_a_sign_still_waits():
    text = "1. 剂量是\nA. 每日剂量 ＝\nB. 体重 >\nC. 年龄\nD. 身高\n答案：C"
    assert told(outcome(text)) == ["?1 empty_place"]


def test_an_argument_in_brackets_is_no_numbered_blank():
    text = "\n".join(f"{at}. 复杂度是O({at + 1})的操作是\n{FOUR}\n答案：A" for at in (1, 2, 3))
    assert told(outcome(text)) == ["1A", "2A", "3A"]


@pytest.mark.parametrize(("answer", "kept"), [("ABE", True), ("AB", False)])
def test_a_fifth_option_stands_where_the_answer_names_it(answer, kept):
    head = "一、多项选择题\n"
    text = "\n".join(f"{at}. 第{at}项\n{FOUR}\n答案：AB" for at in range(1, 12))
    found = told(outcome(f"{head}{text}\n12. 第12项\n{FOUR}\nE. 戊\n答案：{answer}"))
    assert ("12ABE" in found) == kept
    assert ("?12 options_too_many" in found) != kept


def test_a_key_that_says_the_same_after_many_questions_is_no_refrain():
    text = "\n".join(f"問{at}\n第{at}の臓器は\n1. 心\n2. 肝\n3. 脾\n4. 腎\n正解：2" for at in range(1, 9))
    assert told(outcome(text)) == [f"{at}B" for at in range(1, 9)]


def test_lines_of_a_program_keep_their_ends():
    stem = 'num = 1\nif num > 0:\nprint("正数")'
    assert outcome(f"1. 输出是？\n{stem}\n{FOUR}\n答案：A").questions[0].stem.endswith(stem)


def test_two_answers_of_a_multiple_choice_question_are_not_those_of_the_question_before():
    text = f"一、多项选择题\n1. 要做到甲与乙相统一\n{FOUR}\n2. 对的是\n{FOUR}\n答案：BC\n3. 又对的是\n{FOUR}\n答案：AD"
    assert {"2BC", "3AD"} <= {*told(outcome(text))}


@pytest.mark.parametrize(
    "form", ["{}【单选题】第{}项对的是", "{}\n【单选题】第{}项对的是", "{}.【单选题】第{}项对的是"]
)
def test_the_type_of_an_item_behind_its_number_is_no_head_and_no_part_of_its_stem(form):
    found = outcome("\n".join(f"{form.format(at, at)}\n{FOUR}\n正确答案：B" for at in range(1, 9)))
    assert told(found) == [f"{at}B" for at in range(1, 9)]
    assert [one.stem for one in found.questions] == [f"第{at}项对的是" for at in range(1, 9)]
