import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.evaluate.extraction import RULES, Extraction, answers_first, extract

HERE = Path(__file__).parent
OPTIONS = json.loads((HERE / "extraction_options.json").read_text(encoding="utf-8"))
CASES = [json.loads(line) for line in (HERE / "extraction_cases.jsonl").read_text(encoding="utf-8").splitlines()]
DRUGS, FOUR = OPTIONS["drugs"], OPTIONS["four"]


def read(
    text: str, options: dict[str, str] = FOUR, multiple: bool | None = None, answer_first: bool | None = None
) -> str | None:
    letters = extract(text, options, multiple, answer_first).letters
    return None if letters is None else "".join(letters)


def read_case(case) -> Extraction:
    settings = (case["multiple"], case.get("answer_first"))
    return extract(case["text"], OPTIONS[case["options"]], *settings, stem=case.get("stem"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['group']}-{case['text'][:24]!r}")
def test_the_answer_is_the_one_a_careful_reader_takes(case):
    found = read_case(case)
    assert ("".join(found.letters) if found.letters else None) == case["answer"], found


def test_every_rule_decides_some_hand_labelled_case():
    fired = {read_case(case).rule for case in CASES}
    assert fired - {None} == set(RULES)


def test_the_span_points_at_the_words_that_were_read():
    text = "<think>选A？</think>分析：患者心率加快。所以答案是Ｂ。"
    found = extract(text, FOUR, multiple=False)
    assert found.rule == "stated"
    assert text[slice(*found.span)] == "答案是Ｂ"


def test_two_options_with_the_same_text_are_not_told_apart_by_it():
    assert read("答案是心率加快", {"A": "心率加快", "B": "心率加快", "C": "血压升高"}) is None


def test_the_longer_of_two_options_that_begin_alike_is_quoted():
    assert read("答案是左心室肥大伴劳损", {"A": "左心室肥大", "B": "左心室肥大伴劳损"}) == "B"


def test_letters_beyond_the_options_are_no_answer():
    assert read("答案是E", FOUR) is None
    assert read("答案是E", DRUGS) == "E"


def test_ten_options_are_read_too():
    options = {label: f"选项文字{label}" for label in "ABCDEFGHIJ"}
    assert read("故选J。", options, multiple=False) == "J"
    assert read("答案：B、G、J", options, multiple=True) == "BGJ"


KNOWN = st.sampled_from([None, True, False])


@given(st.text(), KNOWN, KNOWN)
def test_any_text_gives_labels_of_the_options_or_nothing(text, multiple, answer_first):
    found = extract(text, DRUGS, multiple, answer_first)
    if found.letters is None:
        assert found.rule is None
        assert found.span is None
    else:
        assert found.letters == tuple(sorted(set(found.letters)))
        assert set(found.letters) <= set(DRUGS)
        assert found.rule in RULES
        start, end = found.span
        assert 0 <= start < end <= len(text)


PAIR = st.permutations("ABCD").map(lambda letters: letters[:2])


@given(PAIR, st.sampled_from(["{}\n{}", "{}。{}。", "答案：{}\n答案：{}", "{}\n\n答案：{}", "Answer: {}\nAnswer: {}"]))
def test_two_answers_that_contradict_each_other_are_none(pair, frame):
    assert read(frame.format(*pair), multiple=False) is None


@given(
    PAIR, st.sampled_from(["{}\n最终答案：{}", "答案：{}\n\n最后答案是{}。", "{}\n\nFinal answer: {}", "{}\n更正：{}"])
)
def test_of_two_answers_the_one_that_is_marked_as_final_counts(pair, frame):
    assert read(frame.format(*pair), multiple=False) == pair[1]


@given(
    PAIR,
    st.sampled_from(
        ["题目1：{}／题目2：{}", "第一题：{}\n第二题：{}", "Q1: {}\nQ2: {}", "1. {}\n2. {}", "(1) {}; (2) {}"]
    ),
)
def test_the_answers_of_several_questions_are_none_to_one(pair, frame):
    assert read(frame.format(*pair), multiple=False) is None


@given(
    PAIR,
    st.sampled_from(["若为夜间，则选{1}；", "如果没有发热，应选{1}。", "If he had fever, the answer would be {1}. "]),
)
def test_an_answer_under_a_condition_is_not_the_answer(pair, condition):
    assert read((condition + "本例的答案是{0}。").format(*pair), multiple=False) == pair[0]
    assert read(("答案是{0}。" + condition).format(*pair), multiple=False) == pair[0]


@given(
    st.sets(st.sampled_from("ABCD"), min_size=1, max_size=3),
    st.sampled_from([("✅", "❌"), ("√", "×"), ("- [x]", "- [ ]"), ("（正确）", "（错误）"), ("☑", "✗")]),
    st.sampled_from(["{} {}. {}", "{}{}：{}"]),
)
def test_a_mark_at_the_beginning_of_a_line_is_about_its_own_option(right, marks, line):
    text = "\n".join(line.format(marks[label not in right], label, body) for label, body in FOUR.items())
    assert read(text, multiple=True) == "".join(sorted(right))
    assert len(right) > 1 or read(text, multiple=False) == "".join(right)


@given(
    st.permutations("ABCD"),
    st.sampled_from(
        ["{}均与本病有关，而{}与本病无关。", "{}都可以见到，{}则见不到。", "{} can all be seen here, while {} cannot."]
    ),
)
def test_one_option_against_a_list_of_all_others_is_the_answer_to_one(order, frame):
    text = frame.format("、".join(sorted(order[:3])), order[3])
    assert read(text, multiple=False) == order[3]
    assert read("、".join(order) + "都有可能。", multiple=False) is None
    assert read(text + "还不能确定。", multiple=False) != order[3]


ASKED = {
    True: ["下列叙述错误的是", "下列哪项不正确", "Which of these is NOT true?"],
    False: ["下列叙述正确的是", "最可能的诊断是"],
}
JUDGED = {True: ["{}正确", "{}项的说法是对的"], False: ["{}错误", "{}项的说法不对"]}


@given(st.data(), st.booleans(), st.sets(st.sampled_from("ABCD"), min_size=1, max_size=3))
def test_verdicts_on_all_options_are_read_by_what_the_stem_asks_for(data, wrong, answer):
    stem = data.draw(st.sampled_from(ASKED[wrong]))
    text = "；".join(
        data.draw(st.sampled_from(JUDGED[(label in answer) is not wrong])).format(label) for label in "ABCD"
    )
    assert extract(text + "。", FOUR, multiple=True, stem=stem).letters == tuple(sorted(answer))


@given(st.permutations("ABCD"), st.sampled_from(ASKED[True]))
def test_where_the_wrong_one_is_asked_for_the_others_being_right_is_the_answer(order, stem):
    text = "、".join(sorted(order[:3])) + "均为正确的叙述。"
    assert extract(text, FOUR, multiple=False, stem=stem).letters == (order[3],)
    assert extract(f"{order[0]}是正确的。", FOUR, multiple=False, stem=stem).letters is None


@given(PAIR, st.sampled_from(["{}（{}%），{}（{}%）", "{}：{}%；{}：{}%"]), st.permutations([70, 20]))
def test_the_likeliest_of_options_with_their_shares_is_the_answer(pair, frame, shares):
    text = frame.format(pair[0], shares[0], pair[1], shares[1])
    assert read(text, multiple=False) == pair[shares.index(70)]


@pytest.mark.parametrize("asks", ["请选择正确的答案。", "请回答：", "Please choose the correct option."])
def test_a_repeated_question_is_no_answer(asks):
    assert read("\n".join(f"{label}. {body}" for label, body in FOUR.items()) + f"\n{asks}", multiple=False) is None


@given(st.sampled_from(["ACE inhibitors cause it: ", "DBA患者常见。", "AC抑制剂无效。"]), st.sampled_from("ABCD"))
def test_capitals_that_are_a_word_name_no_options(word, letter):
    assert read(word, multiple=True) is None
    assert read(f"{word}答案：{letter}", multiple=True) == letter


WORDS = """答案 是 为 ： 选 故 不 而是 选项 A B C D 、 ， 。 正确 错误 排除 因此 应该 心率加快 血压升高 维生素 超 细胞
如果 以上都 <think> </think> ( ) ."""
FRAGMENTS = [*WORDS.split(), "\n", " "]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join), KNOWN, KNOWN)
def test_any_mixture_of_cues_and_letters_gives_labels_or_nothing(text, multiple, answer_first):
    found = extract(text, FOUR, multiple, answer_first)
    assert found.letters is None or set(found.letters) <= set(FOUR)
    assert found.letters is None or found.letters == tuple(sorted(set(found.letters)))


@given(
    st.sets(st.sampled_from("ABCD"), min_size=1).flatmap(lambda letters: st.permutations(sorted(letters))),
    st.sampled_from(["", "、", ",", "，", "和", "/", " ", "；", "以及"]),
    st.sampled_from(["答案是{}", "答案：{}", "故选{}。", "【答案】{}", "正确选项为{}", "{}"]),
)
def test_order_and_separators_do_not_change_the_set(letters, separator, frame):
    assert read(frame.format(separator.join(letters)), multiple=True) == "".join(sorted(letters))


@given(st.sampled_from("ABCD"), st.text(alphabet="患者心率血压的，。 ", max_size=60))
def test_what_goes_before_a_conclusion_does_not_change_it(letter, before):
    assert read(f"{before}\n所以答案是{letter}。", multiple=False) == letter


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["选项A：正确。\n" * 5000, "答案是" * 20000, "A、" * 30000, "是" * 50000 + "A", "<think>" * 10000, "因此" * 20000],
    ids=["listed", "cues", "letters", "copulas", "thinking", "conclusions"],
)
@pytest.mark.timeout(30)  # a rule that is not linear takes minutes
def test_long_texts_are_read_in_linear_time(text):
    found = extract(text, FOUR)
    assert found.letters is None or set(found.letters) <= set(FOUR)


ANSWERS = [f"答案：{letter} {FOUR[letter]}\n解析：略。" for letter in "ABCD"] * 5
ANALYSES = [f"{letter}. {FOUR[letter]}：错误。\nB. 血压升高：正确。\nC. 瞳孔缩小：错误。" for letter in "AD"] * 10


@pytest.mark.parametrize(
    ("texts", "habit"),
    [
        (ANSWERS * 2, True),
        (ANSWERS * 2 + ANALYSES[:4], True),
        (ANSWERS + ANALYSES, None),
        (ANSWERS[:9], None),
        ([*ANSWERS[:9], *[" "] * 40], None),
        (["交感神经兴奋，所以选B。"] * 40, None),
        ([], None),
    ],
)
def test_outputs_that_open_with_their_answers_are_a_habit_when_most_of_many_do(texts, habit):
    assert answers_first((text, FOUR) for text in texts) is habit


@pytest.mark.parametrize(
    "opening",
    [
        "正确答案是{}。",
        "本题的正确答案是{}。",
        "【参考答案】{}",
        "答案选{}",
        "答案应为{}",
        "正确选项：{}. {text}",
        "选项{}：{text}",
        "The correct answer is {}. {text}",
        "最佳答案是{}",
        "{}选项是正确的",
        "答：{}",
        "该题应选{}",
        "**{}. {text}**",
    ],
)
def test_a_run_whose_outputs_open_with_an_answer_in_any_manner_is_read_by_its_openings(opening):
    text = opening.format("D", text=FOUR["D"]) + "\n解析：A仅见于早期。因此选B。"
    habit = answers_first([(text, FOUR)] * 40)
    assert habit is True
    assert [read(text, FOUR, multiple, habit) for multiple in (False, None)] == ["D", "D"]


def judged(folder: Path) -> list[tuple[str, dict[str, str], str, bool]]:
    """Raw output, options, key and whether people judged it right."""
    found = []
    for name in ("explaincpe_gpt3.json", "explaincpe_chatglm.json"):
        for item in json.loads((folder / "outputs" / name).read_text(encoding="utf-8")):
            options = dict(zip("ABCDE", item["options"], strict=False))
            for key in item:
                if key.endswith("_response"):
                    right = item[key.replace("_response", "_judge")] == "正确"
                    found.append((item[key], options, item["answer"], right))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("multiple", [False, None])
@pytest.mark.parametrize(("as_a_run", "least"), [(True, 0.995), (False, 0.987)])
def test_right_and_wrong_agree_with_people_who_judged_real_outputs(shared_data, multiple, as_a_run, least):
    # What remains is listed in docs/evaluation.md; three outputs hold neither a letter nor an option's text.
    outputs = judged(shared_data)
    habit = answers_first((text, options) for text, options, _, _ in outputs) if as_a_run else None
    agreed = Counter((read(text, options, multiple, habit) == key) == right for text, options, key, right in outputs)
    assert agreed[True] / len(outputs) >= least


@pytest.mark.slow
def test_answers_stated_in_real_explanations_are_the_keys(shared_data):
    # People wrote these for other readers; in the six that disagree the letters contradict the text or the key.
    agreed: Counter[bool] = Counter()
    for line in (shared_data / "cmexam" / "val_dev.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        options = dict(re.findall(r"^([A-Z])\s+(.*)$", item["Options"], re.MULTILINE))
        found = extract(item["Explanation"] or "", options, len(item["Answer"]) > 1)
        if found.rule in ("stated", "verdicts"):
            agreed["".join(found.letters) == item["Answer"]] += 1
    assert agreed.total() > 1400
    assert agreed[True] / agreed.total() >= 0.995


@pytest.mark.parametrize("named", range(5))
def test_an_output_that_goes_through_three_options_opens_with_no_answer(named):
    text = "B。" + "".join(f"{label}：甲不对。" for label in "ABCD"[:named])
    assert answers_first([(text, "ABCD")] * 20) is (True if named < 3 else None)
