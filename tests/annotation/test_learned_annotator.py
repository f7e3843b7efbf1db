from collections import Counter

import numpy as np
import pytest

from build_dataset.annotation import learned_annotator
from build_dataset.annotation.adjudication import Reviewed
from build_dataset.annotation.learned_annotator import (
    LearnedAnnotator,
    TextFeatures,
    fold_rows,
    folds_of,
    nearest_similarity,
    text_of,
)
from build_dataset.annotation.lexicon_annotator import scored_dimensions, shares_of
from build_dataset.pipeline.inspect.bank import read_labelled
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.taxonomy import Dimension, LabelName, LabelSet, dimensions, use_label_set
from tests.annotation.test_lexicon_annotator import question

STEMS = {
    "呼吸系统疾病": "支气管哮喘患者咳嗽{}，应选用",
    "消化系统疾病": "胃溃疡患者腹痛{}，应选用",
    "循环系统疾病": "心力衰竭患者水肿{}，应选用",
}


def asked(label: str, number: int):
    stem = STEMS[label].format(number)
    return question(stem, question_id=stem)


def reviewed(count: int, wrong: bool = False) -> list[Reviewed]:
    """Questions with their label; ``wrong``: experts call each by the next one's, as no lexicon would."""
    names = [*STEMS]
    said = [dimensions()["disease_group"].find(name) for name in names]
    return [Reviewed(asked(names[n % 3], n), {"disease_group": said[(n + wrong) % 3]}) for n in range(count)]


def run(items, questions):
    return list(LearnedAnnotator(items).annotate(questions, lambda _: None))


def test_it_learns_what_experts_say_also_against_the_lexicon():
    names = [*STEMS]
    new = [asked(names[number % 3], 900 + number) for number in range(6)]
    found = [item.verdicts["disease_group"].label.zh for item in run(reviewed(60, wrong=True), new)]
    assert found == [names[(number + 1) % 3] for number in range(6)]


def test_a_question_it_learned_from_is_labelled_by_a_model_that_had_not_seen_it():
    items = reviewed(60)
    odd = Reviewed(items[0].question, {"disease_group": dimensions()["disease_group"].find("肿瘤")})
    (verdicts,) = [item.verdicts for item in run([odd, *items[1:]], [odd.question])]
    assert verdicts["disease_group"].label.zh == "呼吸系统疾病"


def test_every_question_has_verdicts_of_the_set_in_the_taxonomy_s_order():
    for item in run(reviewed(40), [question(""), question("完全无关的文字")]):
        assert list(item.verdicts) == [name for name in dimensions() if name != "difficulty"]
        for name, verdict in item.verdicts.items():
            assert verdict.label in dimensions()[name].labels
            assert verdict.confidence is None or 0 <= verdict.confidence <= 1


def test_the_result_depends_on_nothing_but_the_questions():
    new = [asked(label, 500) for label in STEMS]
    assert run(reviewed(50), new) == run(reviewed(50)[::-1], new)


def test_dimensions_that_nobody_reviewed_are_the_lexicon_s():
    (item,) = run(reviewed(40), [question("执业医师法规定，吊销其执业证书的行政处罚")])
    assert item.verdicts["competency"].label.zh == "公共卫生法律伦理"
    assert "difficulty" not in item.verdicts


def test_reviews_of_one_exam_alone_do_not_make_everything_that_exam():
    dental = dimensions()["medical_discipline"].find("口腔医学")
    items = [Reviewed(item.question, {**item.labels, "medical_discipline": dental}) for item in reviewed(60)]
    (found,) = run(items, [question("具有清热燥湿功效的药物，其药材断面呈菊花心")])
    assert found.verdicts["medical_discipline"].label.zh == "中药学"


def test_a_question_unlike_all_that_were_learned_from_is_labelled_as_the_lexicon_would():
    (found,) = run(reviewed(60, wrong=True), [question("孕妇分娩后胎盘滞留")])
    assert found.verdicts["disease_group"].label.zh == "妊娠、分娩或产褥期"


def test_reviews_of_one_case_alone_leave_the_labels_to_the_lexicon():
    items = [Reviewed(item.question.model_copy(update={"group_id": "case"}), item.labels) for item in reviewed(30)]
    found = run(items, [item.question for item in items])
    assert [one.verdicts["disease_group"].label for one in found] == [item.labels["disease_group"] for item in items]


@pytest.fixture
def law():
    civil, criminal = (LabelName(zh="民法", en="Civil law"), LabelName(zh="刑法", en="Criminal law", words=("犯罪",)))
    area = Dimension(name="area", zh="法律部门", en="Area of law", labels=(civil, criminal))
    use_label_set(LabelSet(subject="法学", dimensions=(area,)))
    return area


def test_a_label_set_of_one_s_own_is_learned(law):
    texts = {"民法": "关于合同第{}条的效力", "刑法": "关于盗窃第{}种情形的定性"}
    items = [
        Reviewed(question(text.format(n)), {"area": law.find(zh)}) for n in range(20) for zh, text in texts.items()
    ]
    found = run(items, [question(text.format(77)) for text in texts.values()])
    assert [{name: one.label.zh for name, one in item.verdicts.items()} for item in found] == [
        {"area": zh} for zh in texts
    ]


def test_where_nothing_speaks_for_a_label_none_is_said(law):
    unlabelled = [Reviewed(question(f"第{number}题"), {}) for number in range(20)]
    (none, some) = run(unlabelled, [question("法律的渊源"), question("犯罪的构成")])
    assert none.verdicts == {}
    assert some.verdicts["area"].label.zh == "刑法"


def test_questions_of_one_case_are_never_in_two_folds():
    folds = folds_of(["case"] * 5 + [str(number) for number in range(500)])
    assert len(set(folds[:5])) == 1
    assert np.bincount(folds).min() > 60


@pytest.fixture(scope="module")
def labelled(shared_data):
    items = read_labelled(shared_data / "cmexam" / "annotated_dev.jsonl")
    order = np.random.default_rng(7).permutation(len(items))
    return [items[place] for place in order]


def test_experts_labels_of_300_questions_tell_those_of_700_others(labelled):
    wanted = dict(zip(scored_dimensions(), (0.62, 0.66, 0.75, 0.67), strict=True))
    train, test = labelled[:300], labelled[300:]
    found = run(train, [item.question for item in test])
    for name, least in wanted.items():
        gold = [item.labels[name].zh for item in test]
        verdicts = [item.verdicts[name] for item in found]
        right = [verdict.label.zh == zh for verdict, zh in zip(verdicts, gold, strict=True)]
        assert np.mean(right) >= least, f"{name}: {np.mean(right):.3f}"
        assert np.mean(right) > Counter(gold).most_common(1)[0][1] / len(gold) + 0.2
        assert abs(np.mean(right) - np.mean([verdict.confidence for verdict in verdicts])) < 0.1


def test_labels_of_one_exam_do_not_spoil_those_of_others(shared_data):
    items = read_labelled(shared_data / "cmexam" / "annotated_dev.jsonl")
    dental = [item for item in items if item.labels["medical_discipline"].zh == "口腔医学"][:200]
    others = [item for item in items if item.labels["medical_discipline"].zh != "口腔医学"][:300]
    asked = [item.question for item in others]
    learned, lexicon = run(dental, asked), shares_of(asked)
    said = {
        "learned": [{name: verdict.label.zh for name, verdict in one.verdicts.items()} for one in learned],
        "lexicon": [{name: max(shares, key=shares.get) for name, shares in one.items()} for one in lexicon],
    }
    for name in scored_dimensions():
        right = [
            np.mean([one[name] == item.labels[name].zh for one, item in zip(labels, others, strict=True)])
            for labels in said.values()
        ]
        assert right[0] > right[1] - 0.1, f"{name}: {right}"


def test_likeness_is_the_mean_cosine_with_the_nearest_three():
    learned = np.array([[1.0, 0], [0.6, 0.8], [0.0, 1], [-1.0, 0]])
    asked = np.array([[1.0, 0], [0.0, 1]])
    assert nearest_similarity(asked, learned) == pytest.approx([(1 + 0.6 + 0) / 3, (1 + 0.8 + 0) / 3])
    assert nearest_similarity(asked, learned[:2]) == pytest.approx([0.8, 0.4])


def test_folds_are_five_drawn_by_a_hash_and_empty_ones_are_left_out():
    folds = folds_of(["a", "b", "c", "d", "e", "f"])
    assert folds.tolist() == [int(sha256(name)[:8], 16) % 5 for name in "abcdef"]
    rows = list(fold_rows(np.array([0, 0, 4, 1])))
    assert [(others.tolist(), own.tolist()) for others, own in rows] == [
        ([2, 3], [0, 1]),
        ([0, 1, 2], [3]),
        ([0, 1, 3], [2]),
    ]
    assert list(fold_rows(np.array([2, 2]))) == []


def test_a_text_is_all_that_a_question_says():
    asked = question(
        "题干Ａ", "甲 乙", "A", exam_type="考试", exam_subject="内科", shared_stem="病例", explanation="解" * 101
    )
    assert text_of(asked) == "考试 内科 病例 题干a 甲 乙 " + "解" * 101


def test_landmarks_are_every_so_many_th_question_and_span_all_below_their_number(monkeypatch):
    questions = [asked(label, number) for number in range(4) for label in STEMS]
    exact = TextFeatures(questions)(questions)
    monkeypatch.setattr(learned_annotator, "LANDMARKS", 5)
    few = TextFeatures(questions)(questions)
    assert exact.shape[0] == few.shape[0] == 12
    assert few.shape[1] <= 4 < exact.shape[1], "every third of twelve"
