"""Papers in other languages and forms of sites: heads of keys, marks of right options and furniture are read."""

import pytest

from build_dataset.pipeline.parse.paper import finish
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from tests.pipeline.parse.conftest import document_of, lines_of
from tests.pipeline.parse.short import FOUR, told

STEMS = ("脾的功能是", "肝的功能是", "肾的功能是")


def outcome(text: str) -> list[str]:
    paper = read_paper("paper.txt", lines_of(text))
    check_gates(paper)
    return told(finish(paper, document_of()))


def stems(text: str) -> list[str]:
    paper = read_paper("paper.txt", lines_of(text))
    check_gates(paper)
    found = finish(paper, document_of())
    return [one.stem for one in found.questions]


@pytest.mark.parametrize(
    "key",
    [
        "RESPUESTA OFICIAL: C",
        "Respuesta correcta: C",
        "Correct Option: (C)",
        "Ans. c",
        "Ответ: C",
        "Правильный ответ: C",
        "Đáp án: C",
        "정답: C",
        "正解：C",
    ],
)
def test_a_key_is_read_under_its_head_in_other_languages(key):
    assert outcome("\n".join(f"{at}. {stem}\n{FOUR}\n{key}" for at, stem in enumerate(STEMS, 1))) == ["1C", "2C", "3C"]


@pytest.mark.parametrize("head", ["參考解析:", "Justificación:", "Explicación:", "Explication :", "해설:"])
def test_an_explanation_is_read_under_its_head_in_other_languages(head):
    text = "\n".join(f"{at}. {stem}\n{FOUR}\n答案：A\n{head}见教材第{at}章。" for at, stem in enumerate(STEMS, 1))
    paper = read_paper("paper.txt", lines_of(text))
    check_gates(paper)
    found = finish(paper, document_of()).questions
    assert [one.explanation for one in found] == [f"见教材第{at}章。" for at in (1, 2, 3)]


def test_the_right_option_may_be_called_the_right_answer_of_the_item():
    right = FOUR.replace("B. 乙", "B. 乙 【此项为本题正确答案】")
    assert outcome("\n".join(f"{at}. {stem}\n{right}" for at, stem in enumerate(STEMS, 1))) == ["1B", "2B", "3B"]


def test_the_key_may_stand_behind_the_colon_of_the_stem():
    assert outcome("\n".join(f"{at}. {stem}：D\n{FOUR}" for at, stem in enumerate(STEMS, 1))) == ["1D", "2D", "3D"]


@pytest.mark.parametrize("word", ["EXCEPCIÓN", "TIÊU HÓA", "ÉCOLE ÂGÉE", "ÜBERSICHT"])
def test_words_in_capitals_with_accents_are_no_unreadable_characters(word):
    options = FOUR.replace("丁", word)
    assert outcome("\n".join(f"{at}. {stem}\n{options}\n答案：A" for at, stem in enumerate(STEMS, 1))) == [
        "1A",
        "2A",
        "3A",
    ]


@pytest.mark.parametrize("sign", ["3NFÌ2NF", "AÌB"])
def test_a_letter_of_another_font_between_signs_is_still_unreadable(sign):
    options = FOUR.replace("丁", sign)
    waits = [f"?{at} unreadable_characters" for at in (1, 2, 3)]
    assert outcome("\n".join(f"{at}. {stem}\n{options}\n答案：A" for at, stem in enumerate(STEMS, 1))) == waits


@pytest.mark.parametrize(
    ("before", "behind"), [("单选题", ""), ("單選", ""), ("", " 百度"), ("", "【score:1 分】"), ("Pregunta: ", "")]
)
def test_what_a_site_prints_at_each_stem_is_cut_off(before, behind):
    text = "\n".join(f"第{at}题 {before}{stem}（ ）。{behind}\n{FOUR}\n答案：A" for at, stem in enumerate(STEMS, 1))
    assert [one.rstrip("（ ）。") for one in stems(text)] == [*STEMS]


@pytest.mark.parametrize("head", ["ĐÁP ÁN", "CORRECTAS:", "Respuestas", "Ответы", "정답"])
def test_a_key_at_the_end_is_read_under_its_head_in_other_languages(head):
    asked = "\n".join(f"{at}. {stem}\n{FOUR}" for at, stem in enumerate(STEMS, 1))
    assert outcome(f"{asked}\n{head}\n1.C 2.A 3.B") == ["1C", "2A", "3B"]


def test_room_for_an_answer_before_a_number_hides_no_question():
    room = "答案 A B C D "
    text = "\n".join(f"{room}{at}. {stem}\n{FOUR}\n正确答案：B" for at, stem in enumerate(STEMS, 1))
    assert outcome(text) == ["1B", "2B", "3B"]


def test_a_shared_head_whose_questions_were_not_read_waits():
    text = f"1. 甲的功能是\n{FOUR}\n答案：A\n（2～3题共用备选答案）\n{FOUR}\n乙的功能是\n丙的功能是"
    assert any(one.endswith("text_left_over") for one in outcome(text))


def test_a_head_without_a_stop_behind_its_numeral_opens_a_section():
    text = f"一 是非题\n1. 脾统血。(√)\n2. 肝藏神。(×)\n二 单选题\n1. 脾的功能是：A\n{FOUR}\n2. 肝的功能是：B\n{FOUR}"
    assert outcome(text) == ["1A", "2B", "-1 true_false", "-2 true_false"]


COUNTED = {
    "問題{}：": ("{}.", "解答：{}", "頭痛 発熱 咳嗽 発疹"),
    "【問題{}】 ": ("{}. ", "正解 {}", "頭痛 発熱 咳嗽 発疹"),
    "문제 {}. ": ("{} ", "정답: {}", "두통 발열 기침 발진"),
    "{}. ": ("{}) ", "Ответ: {}", "кашель озноб сыпь отёк"),
}


@pytest.mark.parametrize("head", COUNTED)
@pytest.mark.parametrize("key_first", [False, True])
def test_counted_options_are_those_of_their_question_and_the_key_names_them_by_number(head, key_first):
    mark, key, words = COUNTED[head]
    lines = []
    for at, said in enumerate("241", 1):
        sign = "①②③④"[int(said) - 1] if "문제" in head else said
        options = [mark.format("①②③④"[n - 1] if "문제" in head else n) + one for n, one in enumerate(words.split(), 1)]
        asked, why = head.format(at) + STEMS[at - 1], [] if head.startswith("{") else ["1.(×)理由"]
        lines += [asked, key.format(sign), *options] if key_first else [asked, *options, key.format(sign), *why]
    assert outcome("\n".join(lines)) == ["1B", "2D", "3A"]
    assert stems("\n".join(lines)) == [*STEMS]


def test_statements_that_are_counted_above_lettered_options_stay_statements():
    counted = "1) 甲\n2) 乙\n3) 丙\n"
    lettered = "A. 1)2)\nB. 1)3)\nC. 2)3)\nD. 1)2)3)"
    text = "\n".join(f"{at}. {stem}\n{counted}{lettered}\n答案：C" for at, stem in enumerate(STEMS, 1))
    assert outcome(text) == ["1C", "2C", "3C"]


def test_the_address_of_a_site_glued_to_an_option_lets_the_question_wait():
    text = "\n".join(f"{at}. {stem}\n{FOUR}\n答案：A" for at, stem in enumerate(STEMS, 1))
    assert outcome(text.replace("乙", "某某医学网站www.site.example", 1)) == ["2A", "3A", "?1 foot_inside"]


@pytest.mark.parametrize("mark", ["", "."])
def test_web_text_in_one_line_with_keys_in_blanks_and_options_that_touch_is_read(mark):
    touching = "".join(
        f"{label}{mark}{text}" for label, text in zip("ABCD", ("甲状腺素", "胰岛素", "皮质醇", "生长素"), strict=True)
    )
    line = "".join(f"{at}.关于激素的叙述,下列各项中说法正确的是第{at}项({'BDA'[at - 1]}){touching}" for at in (1, 2, 3))
    assert outcome(line) == ["1B", "2D", "3A"]


def test_the_keys_of_a_group_may_stand_behind_its_questions_under_one_head():
    group = f"（2～3题共用备选答案）\n{FOUR}\n2. 乙的功能是\n3. 丙的功能是\n正确答案:2.D,3.A"
    text = f"1. 甲的功能是\n{FOUR}\n正确答案：C\n{group}"
    assert outcome(text) == ["1C", "2D", "3A"]


def test_a_stem_whose_beginning_stands_elsewhere_waits():
    text = "\n".join(f"{at}. {stem}\n{FOUR}\n答案：A" for at, stem in enumerate(STEMS, 1))
    assert outcome(text.replace("2. ", "2. 则该药的剂量及")) == ["1A", "3A", "?2 text_left_over"]


def test_greek_letters_that_count_nothing_label_no_options():
    items = [f"{at}. (α) {stem}\n(β) 脉\n(γ) 气\n{FOUR}\n答案：C" for at, stem in enumerate(STEMS, 1)]
    assert stems("\n".join(items))[0].startswith("(α) 脾的功能是")


@pytest.mark.parametrize("head", ["Pregunta {}", "Questão {}", "Frage {}", "Вопрос {}"])
@pytest.mark.parametrize("mark", ["La respuesta correcta es: ", "The correct answer is: ", "A resposta correta é: "])
def test_items_of_a_learning_platform_are_read_with_labels_on_lines_of_their_own(head, mark):
    words = ("uno", "dos", "tres", "cuatro")
    options = "\n".join(f"{label}.\n{word}" for label, word in zip("abcd", words, strict=True))
    text = "\n".join(f"{head.format(at)}\n¿Qué es {at}?\n{options}\n{mark}{words[at]}" for at in range(1, 4))
    assert outcome(text) == ["1B", "2C", "3D"]


@pytest.mark.parametrize("rules", range(13))
def test_rules_counted_on_a_cover_swallow_no_question(rules):
    cover = [f"{at}. Lea con atención la instrucción {at} antes de comenzar." for at in range(1, rules + 1)]
    items = [f"{at}) ¿Cuál es la conducta {at}?\na) uno {at}\nb) dos\nc) tres\nd) seis" for at in range(1, 13)]
    paper = read_paper("paper.txt", lines_of("\n".join([*cover, *items])))
    assert [draft.number for draft in paper.questions] == [*range(1, 13)]


@pytest.mark.parametrize("before", ["", "（中；单选题）", "（较难，单选题）"])
def test_a_number_with_a_colon_opens_a_stem_that_begins_with_a_year(before):
    items = [f"{at}：{1930 + at}年（）在会议上作了报告{at}。{before}\n{FOUR}\n正确答案：A" for at in range(1, 7)]
    assert outcome("\n".join(items)) == [f"{at}A" for at in range(1, 7)]
    assert stems("\n".join(items))[0] == "1931年（）在会议上作了报告1。"


def test_a_label_before_every_stem_is_no_part_of_it():
    items = [f"{at}. Clinical Scenario:\nA man of {50 + at} has fever.\n{FOUR}\nAnswer: A" for at in range(1, 5)]
    assert stems("\n".join(items)) == [f"A man of {50 + at} has fever." for at in range(1, 5)]


@pytest.mark.parametrize("marked", [0, 5, 60])
def test_blanks_that_give_the_answers_which_no_mark_gives_are_a_habit(marked):
    items = [f"{at}. 下列第{at}项是\n{FOUR}\n答案：B" for at in range(1, marked + 1)]
    items += [f"{at}. 下列（C）是第{at}项的工作。\n{FOUR}" for at in range(marked + 1, marked + 15)]
    assert outcome("\n".join(items)) == [f"{at}{'B' if at <= marked else 'C'}" for at in range(1, marked + 15)]


def test_an_explanation_in_a_stem_makes_it_wait():
    items = [f"{at}. 肝的功能是{at}\n{FOUR}\n答案：A" for at in range(1, 5)]
    items += [f"5. B项不符合定义，排除。故正确答案为B。例：下列属于定义的是\n{FOUR}\n答案：A"]
    assert outcome("\n".join(items))[:4] == ["1A", "2A", "3A", "4A"]
    assert "text_left_over" in outcome("\n".join(items))[4]


@pytest.mark.parametrize("sign", ["", "✅ ", "💡", "✔️ "])
@pytest.mark.parametrize("key", ["Correct Answer\n{0}. {1}", "Answer: {0}", "Correct answer: {0}. {1}"])
def test_a_sign_before_the_words_of_an_answer_says_nothing(sign, key):
    words = dict(zip("ABCD", "甲乙丙丁", strict=True))
    items = [
        f"Question {at}\n{stem}\n{FOUR}\n{sign}{key.format(label, words[label])}\nExplanation\n见教材第{at}章"
        for at, (stem, label) in enumerate(zip(STEMS, "BCD", strict=True), 1)
    ]
    assert outcome("\n".join(items)) == ["1B", "2C", "3D"]


def test_a_heading_of_the_options_is_no_answer():
    items = [f"{at}. {stem}\nAnswer\n{FOUR}\nCorrect answer: C" for at, stem in enumerate(STEMS, 1)]
    assert outcome("\n".join(items)) == ["1C", "2C", "3C"]


def test_numbers_in_pictures_of_keys_and_behind_bullets_open_items():
    numbers = [*(f"{at}\ufe0f\u20e3" for at in range(1, 10)), "\U0001f51f", "1\ufe0f\u20e31\ufe0f\u20e3"]
    asked = [f"{number} Which of these is number {at}?\n{FOUR}\nAnswer: B" for at, number in enumerate(numbers, 1)]
    assert outcome("\n".join(asked)) == [f"{at}B" for at in range(1, 12)]
    asked = [f"* Q{at}: Which of these is number {at}?\n{FOUR}\nAnswer: B" for at in range(1, 5)]
    assert outcome("\n".join(asked)) == [f"{at}B" for at in range(1, 5)]


def test_a_slanted_line_under_the_options_explains():
    marks = ("[ ]", "[x]", "[ ]")
    items = [
        f"{at}. {stem}\n"
        + "\n".join(f"{mark} {word}" for mark, word in zip(marks, ("甲", "乙", "丙"), strict=True))
        + "\n_This is told on the first pages of the book._"
        for at, stem in enumerate(STEMS, 1)
    ]
    assert outcome("\n".join(items)) == ["1B", "2B", "3B"]


def test_a_question_that_is_printed_in_several_tests_has_no_foot_under_its_options():
    item = "{}. 首选的药物是\nA. 甲\nB. 乙\nC. 丙\nD. 丁型的药物中\n作用最强的一种药物\n答案：A"
    others = [f"{at}. 第{at}种药物是\n{FOUR}\n答案：B" for at in range(2, 5)]
    text = "\n".join("\n".join([f"第{part}章", item.format(1), *others]) for part in "一二三")
    assert not any("foot_inside" in one for one in outcome(text))


@pytest.mark.parametrize(
    "key",
    [
        "Bonne réponse : B",
        "Resposta correta: b)",
        "Gabarito: B",
        "Richtige Antwort: B",
        "Jawaban: B",
        "Doğru cevap: B",
        "Risposta esatta: B",
        "Solución: B",
        "Prawidłowa odpowiedź: B",
        "Juiste antwoord: B",
        "الإجابة الصحيحة: B",
        "解答：B",
        "Answer = b) 乙",
        "Die richtige Antwort ist B.",
        "La respuesta correcta es la b.",
        "Doğru cevap B şıkkıdır.",
        "正解はBです。",
        "The correct answer is b. It lies there.",
        "Opción correcta: 乙",
        "[Antwort] B",
    ],
)
def test_a_key_under_every_item_is_read_and_is_no_furniture_in_any_language(key):
    text = "\n".join(f"{at}. {stem}\n{FOUR}\n{key}" for at, stem in enumerate(STEMS * 2, 1))
    assert outcome(text) == [f"{at}B" for at in range(1, 7)]


@pytest.mark.parametrize("key", ["Réponse : A ou C", "Resposta: a capital"])
def test_words_that_say_more_than_a_letter_are_no_key(key):
    found = outcome("\n".join(f"{at}. {stem}\n{FOUR}\n{key}" for at, stem in enumerate(STEMS, 1)))
    assert not [one for one in found if one[-1] in "ABCD"]


@pytest.mark.parametrize("key", ["Answers: A and C – both", "Answer: A, B, and C", "Réponse : a, b et c"])
def test_letters_joined_by_and_are_all_right(key):
    text = "\n".join(f"{at}. {stem}\n{FOUR}\n{key}" for at, stem in enumerate(STEMS, 1))
    assert {one[1:] for one in outcome(text)} == {"AC" if "both" in key else "ABC"}


def test_a_heading_over_the_options_is_no_part_of_the_stem():
    asked = [f"{at}. {stem} deve-se\nAlternativas:\n{FOUR}\nGabarito: B" for at, stem in enumerate(STEMS, 1)]
    assert stems("\n".join(asked)) == [f"{stem} deve-se" for stem in STEMS]


@pytest.mark.parametrize("key", ["ABD", "A B D"])
def test_a_key_stands_behind_an_empty_blank(key):
    text = "\n".join(f"{at}. {stem}(    ) {key}\n{FOUR}" for at, stem in enumerate(STEMS, 1))
    assert outcome(text) == ["1ABD", "2ABD", "3ABD"]


def test_a_tag_over_each_stem_numbers_what_has_no_number_and_a_title_stays_out_of_it():
    each = "".join(f"【单选题】\n{stem}\n{FOUR}\n【正确答案】：B\n" for stem in STEMS * 3)
    assert outcome(f"1. 以下题目出自《办法》\n{each}2. 以下题目出自《规程》\n{each}").count("?None no_options") == 0
    assert len([one for one in outcome(each) if one.endswith("B")]) == 9


def test_options_of_a_list_in_one_line_lose_its_signs():
    text = "\n".join(f"{at}. {stem}\n- A. 甲 - B. 乙\n- C. 丙 - D. 丁\n答案：C" for at, stem in enumerate(STEMS, 1))
    paper = read_paper("paper.txt", lines_of(text))
    check_gates(paper)
    found = finish(paper, document_of()).questions
    assert [[option.text for option in one.options] for one in found] == [["甲", "乙", "丙", "丁"]] * 3


@pytest.mark.parametrize("told", ["解析：见图。", "Explanation\n见图。"])
def test_a_picture_under_an_explanation_is_the_explanations(told):
    text = "\n".join(f"{at}. {stem}\n{FOUR}\n答案：C\n{told}\n[figure]" for at, stem in enumerate(STEMS, 1))
    paper = read_paper("paper.txt", lines_of(text))
    check_gates(paper)
    assert [one.attachments for one in finish(paper, document_of()).questions] == [None] * 3


def test_a_case_whose_quotation_was_opened_elsewhere_waits():
    assert "?1 text_left_over" in outcome(
        f"1. 常运行”主要与哪种属性相关\n{FOUR}\n答案：A\n2. 肝的功能是\n{FOUR}\n答案：B"
    )


def test_right_and_wrong_are_all_options_of_a_statement():
    text = "\n".join(f"{at}. 第{at}项对的是\n{FOUR}\n答案：A" for at in range(1, 13))
    assert outcome(f"{text}\n13. 脾能造血。\nA. 对\nB. 错\n答案：A")[-1] == "13A"


def test_an_item_that_its_tag_behind_calls_true_or_false_is_one():
    text = "\n".join(f"{at}. {stem}\n{FOUR}\n答案：A" for at, stem in enumerate(STEMS, 1))
    assert "-4 true_false" in outcome(f"{text}\n4. 脾能造血。(判断题)")


def test_the_words_that_fold_an_answer_are_no_part_of_an_option():
    text = "\n".join(f"{at}. {stem}\n{FOUR}✅ Click to see the answer\nAnswer: C" for at, stem in enumerate(STEMS, 1))
    paper = read_paper("paper.txt", lines_of(text))
    check_gates(paper)
    assert [one.options[-1].text for one in finish(paper, document_of()).questions] == ["丁"] * 3


def test_one_letter_or_another_is_no_key():
    found = outcome("\n".join(f"{at}. {stem}\n{FOUR}\nAnswer: A or C – both" for at, stem in enumerate(STEMS, 1)))
    assert all(one.startswith("?") for one in found)


def test_questions_and_options_may_both_be_numbered_where_a_key_by_number_ends_each(parse):
    options = "1.\tRed\n2.\tGreen\nand blue\n3.\tWhite\nCorrect Answer: "
    outcome = parse("\n".join(f"{at}. Which is right in case {at}?\n{options}{at % 3 + 1}" for at in range(1, 7)))
    assert [one.answer for one in outcome.questions] == [["B"], ["C"], ["A"]] * 2
    assert {one.options[1].text for one in outcome.questions} == {"Green and blue"}


ENDS = ("wall", "duct", "lobe", "disc")
TEXTS = [
    [f"{name} {end}" for end in (*ENDS[at:], *ENDS[:at])] for at, name in enumerate(("heart", "liver", "lung", "bone"))
]
KEYS = "CADB"
HEADS = [
    "Question {}\n{}",
    "Q.{} {}",
    "{}.- {}",
    "Soru {}: {}",
    "Question {} — Easy\nType: single\n{}",
    "Pytanie {}. {}",
]
TOLD = {  # how an option of an item is printed, by whether it is right, and what stands under the options
    "dash": ("{0}. {1}", "{0}. {1}", "\nCorrect Answer – {0}"),
    "solution": ("{0}) {1}", "{0}) {1}", "\nSolution - {0}"),
    "word": ("Option {0}: {1}", "Option {0}: {1}", "\nAnswer: Option {0}"),
    "caption": ("{0}. {1}", "{0}. {1}", "\n👉 Ver respuesta\n- Respuesta Correcta: {0}) {1}"),
    "bracket": ("- {0}. {1}", "- {0}. {1}", "\n(Kunci Jawaban: {0} | Skor: 1)"),
    "said": ("[ ] {1}", "[CORRECT] {1}", ""),
    "wrapped": ("[ ] well,\n{1}", "[CORRECT] well,\n{1}", ""),
    "round": ("( ) {1}", "(x) {1}", ""),
    "bullet": ("- {1}", "- {1} ✅", ""),
    "before": ("❌ Option 1: {0}. {1}", "✅ Option 1: {0}. {1}", ""),
    "behind": ("{0}. {1}", "{0}. {1} - Correct", ""),
}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("form", TOLD)
def test_a_sign_that_one_option_of_each_item_carries_is_the_key_in_any_form(form, head):
    plain, right, under = TOLD[form]
    text = ""
    for at, (key, texts) in enumerate(zip(KEYS, TEXTS, strict=True), 1):
        options = [
            (right if label == key else plain).format(label, one) for label, one in zip("ABCD", texts, strict=True)
        ]
        told_right = under.format(key, texts["ABCD".index(key)])
        text += (
            "\n".join([head.format(at, f"Which part number {'wxyz'[at - 1]} is meant?"), *options]) + told_right + "\n"
        )
    paper = read_paper("paper.txt", lines_of(text))
    check_gates(paper)
    found = finish(paper, document_of()).questions
    assert ["".join(one.answer or ()) for one in found] == [*KEYS]
    assert [[option.text.removeprefix("well, ") for option in one.options] for one in found] == TEXTS
    assert [one.stem for one in found] == [f"Which part number {at} is meant?" for at in "wxyz"]


@pytest.mark.parametrize("head", ["GABARITO", "Plantilla de respuestas", "Ключи к тесту:", "Answer Key & Explanations"])
@pytest.mark.parametrize("row", ["{}\t{}\tIt is so.", "{}. {}", "{} - {}"])
def test_keys_under_a_head_in_more_languages_are_no_part_of_the_last_option(head, row):
    items = (f"{at}. Which is {'wxyz'[at]}?\n{FOUR}" for at in range(1, 4))
    rows = (row.format(at, "BDA"[at - 1]) for at in range(1, 4))
    assert outcome("\n".join([*items, head, *rows])) == ["1B", "2D", "3A"]


@pytest.mark.parametrize(
    "head",
    [
        "Die Fragen 1–2 beziehen sich auf den folgenden Fall.",
        "Las preguntas 1 a 2 se refieren al siguiente caso.",
        "Вопросы 1–2 относятся к следующему случаю.",
        "1–2. soruları aşağıdaki vakaya göre yanıtlayınız.",
        "Tình huống sau dùng cho câu 1 đến câu 2.",
        "다음 사례를 읽고 1~2번 물음에 답하시오.",
    ],
)
def test_a_case_that_names_its_questions_is_theirs_in_any_language(head):
    items = [f"{at}. {stem}\n{FOUR}\nAnswer: B" for at, stem in enumerate(STEMS, 1)]
    paper = read_paper("paper.txt", lines_of("\n".join([head, "Ein Patient, 60 Jahre.", *items])))
    check_gates(paper)
    found = finish(paper, document_of()).questions
    assert [bool(question.shared_stem) for question in found] == [True, True, False]


@pytest.mark.parametrize(
    ("head", "lines"),
    [
        ("Lösungsschlüssel", ["1. b", "2. b", "3. b"]),
        ("Grille de réponses", ["1. b – parce que", "2. b – parce que", "3. b – parce que"]),
        ("مفتاح الإجابة", ["1. B", "2. B", "3. B"]),
    ],
)
def test_a_key_at_the_end_is_read_under_its_head(head, lines):
    text = "\n".join(f"{at}. {stem}\n{FOUR}" for at, stem in enumerate(STEMS, 1))
    assert outcome("\n".join([text, head, *lines])) == ["1B", "2B", "3B"]
