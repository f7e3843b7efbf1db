import pytest

from build_dataset.annotation.adjudication import Reviewed, digest, from_reviews, merge_reviewed
from build_dataset.annotation.llm_annotator import LlmAnnotator, choose_shots, label_prompt
from build_dataset.annotation.params import AnnotateLlmOptions
from build_dataset.schemas.annotations import ExpertReview
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation import records
from tests.annotation.test_llm_annotator import questions
from tests.conftest import MemoryStore

LABELS = {
    "disease_group": "循环系统疾病",
    "clinical_department": "内科",
    "medical_discipline": "临床医学",
    "competency": "疾病治疗",
    "difficulty": "易",
}


def labels(**other):
    return {name: dimensions()[name].find(zh) for name, zh in {**LABELS, **other}.items()}


def review(question, label, reviewer="a", dimension="competency", **more) -> ExpertReview:
    return records.review(reviewer, label, question_id=question, dimension=dimension, **more)


@pytest.mark.parametrize(
    ("reviews", "expected"),
    [
        ([("a", "疾病治疗")], "疾病治疗"),
        ([("a", "疾病治疗"), ("b", "疾病治疗"), ("c", "医学基础知识")], "疾病治疗"),
        ([("a", "疾病治疗"), ("b", "医学基础知识")], None),
        ([("a", "没有这个类别")], None),
    ],
)
def test_what_most_experts_say_is_learned_and_a_tie_is_not(reviews, expected):
    found = from_reviews(questions(1), [review("q0", label, name) for name, label in reviews])
    assert [item.labels["competency"].zh for item in found] == ([expected] if expected else [])


def test_an_adjudicator_outweighs_two_who_agree():
    said = [review("q0", "疾病治疗", "a"), review("q0", "疾病治疗", "b")]
    said.append(review("q0", "医学基础知识", "c", project="adjudication"))
    assert from_reviews(questions(1), said)[0].labels["competency"].zh == "医学基础知识"


def test_nobody_outweighs_others_on_a_question_that_they_labelled_themselves():
    said = [review("q0", "疾病治疗", "a"), review("q0", "疾病治疗", "b"), review("q0", "医学基础知识", "c")]
    said.append(review("q0", "医学基础知识", "c", project="adjudication"))
    assert from_reviews(questions(1), said)[0].labels["competency"].zh == "疾病治疗"


def test_what_the_adjudicator_says_of_a_question_stands_whatever_was_flagged():
    flagged = review("q0", "疾病治疗", "a", flags=["out_of_scope"])
    cleared = review("q0", "疾病治疗", "c", project="adjudication")
    assert from_reviews(questions(1), [flagged]) == []
    assert len(from_reviews(questions(1), [flagged, cleared])) == 1
    dropped = cleared.model_copy(update={"flags": ["out_of_scope"]})
    assert from_reviews(questions(1), [flagged.model_copy(update={"flags": []}), dropped]) == []


@pytest.mark.parametrize(("flag", "count"), [("wrong_stem", 0), ("out_of_scope", 0), ("wrong_key", 1)])
def test_questions_that_are_none_teach_nothing(flag, count):
    assert len(from_reviews(questions(1), [review("q0", "疾病治疗", flags=[flag])])) == count


def test_the_digest_is_of_what_is_said_whatever_the_order():
    items = [Reviewed(question, labels()) for question in questions(3)]
    assert digest(items) == digest(items[::-1])
    assert digest(items) != digest([*items[:2], Reviewed(items[2].question, labels(competency="不符合"))])
    assert len(merge_reviewed(items, items[::-1])) == 3


def items(count):
    names = dimensions()["disease_group"].zh_names()
    return [
        Reviewed(question, labels(disease_group=names[number % len(names)]))
        for number, question in enumerate(questions(count))
    ]


def test_examples_show_many_labels_and_do_not_depend_on_the_order_of_reviews():
    shots = choose_shots(items(20), 5)
    assert len(shots) == 6
    assert len({shot.labels["disease_group"].zh for shot in shots}) == 6
    assert choose_shots(items(20)[::-1], 5) == shots
    assert choose_shots(items(20), 0) == []


def test_a_long_question_is_no_example():
    long, *_ = items(1)
    long = Reviewed(long.question.model_copy(update={"stem": "题" * 1000}), long.labels)
    assert choose_shots([long], 1) == []


def test_no_question_is_shown_its_own_label_and_the_prefix_is_the_same_for_all_others():
    shots = choose_shots(items(20), 3)
    prompt = label_prompt(AnnotateLlmOptions(response_format="json_schema"), shots=shots)
    shown = shots[0].question
    own = prompt.messages(shown)
    assert len(own) == len(prompt.messages(questions(30)[25])) == 2 + 2 * 3
    assert all(shown.stem not in message["content"] for message in own[:-1])
    assert prompt.messages(questions(30)[25])[:-1] == prompt.messages(questions(30)[26])[:-1]


def test_examples_are_part_of_the_prompt_s_hash():
    hashes = {
        label_prompt(AnnotateLlmOptions(response_format="none"), shots=choose_shots(given, 2)).hash
        for given in ((), items(3), items(20)[10:])
    }
    assert len(hashes) == 3


def test_the_number_of_examples_that_a_question_is_shown_is_a_fact_of_the_annotator():
    llm = AnnotateLlmOptions(base_url="http://127.0.0.1:9/v1", model="m", shots=3)
    facts = LlmAnnotator(llm, MemoryStore(), choose_shots(items(20), 3)).identity.facts
    assert facts["shots"] == 3
