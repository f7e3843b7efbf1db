from collections import Counter
from types import SimpleNamespace

from build_dataset.pipeline.evaluate.backends import Setting, open_backend
from build_dataset.pipeline.evaluate.params import MajorityModel, RandomModel
from build_dataset.pipeline.evaluate.prompting import Prompt
from tests.pipeline.evaluate.conftest import make_question


def answers(options, context, questions, train=()):
    backend = open_backend(options, Setting(context, list(train)))
    prompts = [Prompt(question.question_id, (), question) for question in questions]
    return {made.prompt_id: "".join(made.letters) for made in backend.generate(prompts, lambda count: None)}


def test_guesses_hang_on_the_seed_and_the_question_alone(context):
    questions = [make_question(number) for number in range(50)]
    once = answers(RandomModel(), context, questions)
    assert once == answers(RandomModel(), context, questions[::-1])
    assert {key: once[key] for key in list(once)[:5]} == answers(RandomModel(), context, questions[:5])
    assert once != answers(RandomModel(), SimpleNamespace(seed=context.seed + 1), questions)


def test_guesses_are_spread_evenly(context):
    counts = Counter(answers(RandomModel(), context, [make_question(n) for n in range(2000)]).values())
    assert set(counts) == set("ABCD")
    assert min(counts.values()) > 420


def test_a_guess_at_several_answers_has_at_least_two(context):
    found = answers(RandomModel(), context, [make_question(n, "AB") for n in range(500)])
    assert {len(letters) for letters in found.values()} == {2, 3, 4}
    assert len(set(found.values())) == 11


def test_the_majority_is_taken_among_questions_of_the_same_type_and_size(context):
    train = [
        *(make_question(n, "B") for n in range(5)),
        *(make_question(n, "C") for n in range(5, 8)),
        *(make_question(n, "E", options="ABCDE") for n in range(8, 12)),
        *(make_question(n, "ABD") for n in range(12, 14)),
        make_question(14, "AB"),
    ]
    asked = [make_question(1, "A"), make_question(2, "A", options="ABCDE"), make_question(3, "AC")]
    assert list(answers(MajorityModel(), context, asked, train).values()) == ["B", "E", "ABD"]


def test_ties_go_to_the_first_letter_and_no_training_question_gives_it_too(context):
    train = [make_question(1, "C"), make_question(2, "B")]
    assert list(answers(MajorityModel(), context, [make_question(3)], train).values()) == ["B"]
    assert list(answers(MajorityModel(), context, [make_question(3)]).values()) == ["A"]


def test_the_majority_answer_is_always_among_the_options(context):
    train = [make_question(n, "E", options="ABCDE") for n in range(9)] + [make_question(9, "C", options="ABCDE")]
    assert list(answers(MajorityModel(), context, [make_question(20, options="ABC")], train).values()) == ["C"]


def test_a_guess_is_the_same_on_every_machine(context):
    questions = [make_question(number, "AB" if number > 3 else "A") for number in range(1, 7)]
    seeded = SimpleNamespace(seed=1)
    assert list(answers(RandomModel(), seeded, questions).values()) == ["B", "B", "D", "BD", "BCD", "ABD"]


def test_a_baseline_says_letters_and_counts_each_question(context):
    backend, steps = open_backend(RandomModel(), Setting(context, [])), []
    made = list(backend.generate([Prompt(str(n), (), make_question(n)) for n in range(3)], steps.append))
    assert steps == [1, 1, 1]
    assert [(one.prompt_id, one.text, one.finish) for one in made] == [
        (str(number), "".join(one.letters), "stop") for number, one in enumerate(made)
    ]
    assert backend.identity == {}


def test_questions_without_a_key_teach_no_majority(context):
    silent = [make_question(n).model_copy(update={"answer": []}) for n in range(3)]
    assert list(answers(MajorityModel(), context, [make_question(9)], [*silent, make_question(4, "D")]).values()) == [
        "D"
    ]
