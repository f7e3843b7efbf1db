import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.evaluate.prompting import Examples, failed_item, load_template, messages
from build_dataset.schemas.errors import UserError
from tests.pipeline.evaluate.conftest import make_question


def test_the_answer_only_prompt_names_the_exam_and_the_kind_of_question():
    (turn,) = messages(load_template("answer_only"), make_question(7, "AC"), [])
    lines = turn["content"].splitlines()
    assert turn["role"] == "user"
    assert lines[0] == "以下是中国医师考试中执业医师考试的一道多项选择题，不需要做任何分析和解释，直接输出答案选项。"
    assert lines[1] == "第7题：下列哪项正确"
    assert lines[2:] == ["A. 说法A7", "B. 说法B7", "C. 说法C7", "D. 说法D7"]


def test_an_exam_that_is_not_known_is_not_invented():
    (turn,) = messages(load_template("answer_only"), make_question(1, exam_type=None, exam_class=None), [])
    assert turn["content"].startswith("以下是一道单项选择题，")


def test_a_shared_stem_stands_before_the_stem():
    (turn,) = messages(load_template("answer_only"), make_question(1, shared_stem="男，50岁。"), [])
    assert turn["content"].splitlines()[1:3] == ["男，50岁。", "第1题：下列哪项正确"]


def test_chain_of_thought_examples_end_with_the_answer():
    example = make_question(1, "B", explanation="因为说法B1。")
    asked = messages(load_template("chain_of_thought"), make_question(2), [example])
    assert [turn["role"] for turn in asked] == ["user", "assistant", "user"]
    assert asked[1]["content"] == "因为说法B1。\n所以答案是B"


def test_an_example_without_an_explanation_states_its_answer():
    asked = messages(load_template("chain_of_thought"), make_question(2), [make_question(1, "B")])
    assert asked[1]["content"] == "所以答案是B"


@given(st.text(min_size=1))
def test_text_of_a_paper_is_never_read_as_a_template(stem):
    (turn,) = messages(load_template("answer_only"), make_question(1, stem=stem), [])
    assert stem in turn["content"]


@pytest.mark.parametrize("name", ["answer_only", "chain_of_thought"])
def test_the_prompt_never_holds_the_key_of_the_question_asked(name):
    question = make_question(1, "B", explanation="答案秘密")
    asked = messages(load_template(name), question, [])
    assert "答案秘密" not in str(asked)
    assert asked == messages(load_template(name), make_question(1, "C", explanation="答案秘密"), [])


def test_examples_come_from_the_validation_split_of_the_same_subcategory():
    other = [make_question(number, exam_class="主管护师", exam_type="护理考试") for number in range(20)]
    same = [make_question(100 + number) for number in range(5)]
    chosen = Examples(3, [[*other, *same], []], seed=1).of(make_question(999))
    assert len(chosen) == 3
    assert {row.question_id for row in chosen} <= {row.question_id for row in same}


def test_examples_come_from_train_where_validation_has_too_few():
    validation, train = [make_question(1)], [make_question(number) for number in range(10, 20)]
    chosen = Examples(3, [validation, train], seed=1).of(make_question(999))
    assert chosen[0].question_id == validation[0].question_id
    assert len(chosen) == 3


def test_questions_of_a_subcategory_share_their_examples_whatever_the_order():
    rows = [make_question(number) for number in range(30)]
    one = Examples(3, [rows, []], seed=5)
    assert one.of(make_question(900)) == one.of(make_question(901))
    assert one.of(make_question(900)) == Examples(3, [rows[::-1], []], seed=5).of(make_question(900))
    assert one.of(make_question(900)) != Examples(3, [rows, []], seed=6).of(make_question(900))


def test_fewer_examples_than_asked_for_only_where_there_are_no_more():
    assert Examples(3, [[], []], seed=1).of(make_question(1)) == []
    assert len(Examples(3, [[make_question(1)], []], seed=1).of(make_question(2))) == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('question = "{stem}"', "answer is missing"),
        ('question = "{stem}"\nanswer = "{answer}"\nanwser_first = false', "unknown key 'anwser_first'"),
        (
            'question = "{stem}"\nanswer = "{answer}"\nanswer_first = "no"',
            "answer_first: Input should be a valid boolean",
        ),
        ('question = "{stem}{answer}"\nanswer = "{answer}"', "no field 'answer'"),
        ('question = "{stem"\nanswer = "{answer}"', "write {{ for a brace"),
        ("question = ", "cannot be read"),
    ],
)
def test_a_template_that_cannot_work_is_refused_in_one_line(tmp_path, content, says):
    path = tmp_path / "own.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError) as error:
        load_template(str(path))
    assert says in str(error.value)
    assert "\n" not in str(error.value).replace(str(path), "")


def test_a_missing_template_names_those_there_are():
    with pytest.raises(UserError, match="answer_only, chain_of_thought"):
        load_template("answer_onyl")


@pytest.mark.parametrize("prompt", ["q-1", "q-1#2"])
def test_a_failed_prompt_is_an_item_of_its_question(prompt: str) -> None:
    found = failed_item(prompt, "timeout", "after 60 s")
    assert (found.item_id, list(found.question_ids), found.reason) == (prompt, ["q-1"], "timeout")
