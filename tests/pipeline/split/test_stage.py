import random
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pydantic import ValidationError

from build_dataset.pipeline.split.params import SplitParams
from build_dataset.pipeline.split.units import totals_by_share
from build_dataset.schemas.questions import Assignment

TYPES = ["A1", "A2", "A3/A4", "B1", "X"]


@st.composite
def exams(draw):
    """Questions of mixed types and classes, some in groups, some in clusters, some in both."""
    size = draw(st.integers(1, 120))
    seed = draw(st.integers(0, 2**16))
    lots = random.Random(seed)
    questions = []
    for number in range(size):
        group = f"g{lots.randrange(1 + size // 4)}" if lots.random() < 0.3 else None
        questions.append(
            {
                "question_id": f"{lots.randrange(16**4):04x}-1-{number:03d}",
                "question_type": lots.choice(TYPES),
                "exam_class": lots.choice(["执业医师", "护师", None]) if number else "护师",
                "group_id": group,
            }
        )
    clusters = {
        question["question_id"]: f"c{lots.randrange(1 + size // 5)}" for question in questions if lots.random() < 0.2
    }
    labels = [
        (question["question_id"], "medical_discipline", lots.choice(["临床医学", "药学", None]))
        for question in questions
    ]
    return questions, clusters, labels


PARAMS = st.sampled_from(
    [
        {},
        {"stratify_by": []},
        {"ratios": "7:2:1", "min_stratum": 1},
        {"method": "per_subcategory", "test_per_subcategory": 6, "development_per_subcategory": 2},
    ]
)
relaxed = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@given(exam=exams(), params=PARAMS)
@relaxed
def test_every_question_gets_one_split_and_units_stay_whole(tables, split, exam, params):
    questions, clusters, labels = exam
    done = split(tables(questions, clusters, labels), **params)
    assert done.result.tables["assignments"].schema == Assignment.polars_schema()
    assert sorted(done.of) == sorted(question["question_id"] for question in questions)
    assert done.result.tables["assignments"]["question_id"].is_sorted()
    for key in ("group", "cluster"):
        members = {}
        for question in questions:
            name = question["question_id"]
            unit = question["group_id"] if key == "group" else clusters.get(name)
            if unit:
                members.setdefault(unit, set()).add(done.of[name])
        assert all(len(splits) == 1 for splits in members.values())


@given(exam=exams(), params=PARAMS, seed=st.integers(0, 99))
@relaxed
def test_the_order_of_rows_changes_nothing(tables, split, exam, params, seed):
    questions, clusters, labels = exam
    before = tables(questions, clusters, labels)
    shuffled = {name: frame.sample(fraction=1, shuffle=True, seed=seed) for name, frame in before.items()}
    one, other = split(before, **params).result, split(shuffled, **params).result
    assert one.tables["assignments"].equals(other.tables["assignments"])
    assert one.facts == other.facts
    assert one.notes == other.notes


@pytest.mark.slow
@given(exam=exams(), more=st.integers(1, 40), linked=st.integers(0, 5), params=PARAMS, other=PARAMS)
@relaxed
def test_added_questions_move_none_of_an_earlier_release(
    tables, split, release, exam, more, linked, params, other, tmp_path_factory
):
    """A changed [split] section (seed, method or ratio) moves nothing either."""
    questions, clusters, labels = exam
    old = tables(questions, clusters, labels)
    first = split(old, **params)
    folder = release(tmp_path_factory.mktemp("of"), "1.0.0", old["questions"], first.of)
    added = [{"question_id": f"ffff-2-{number:03d}"} for number in range(more)]
    lots = random.Random(more)
    links = {  # new questions join old clusters
        question["question_id"]: lots.choice(sorted(clusters.values())) for question in added[:linked] if clusters
    }
    second = split(tables([*questions, *added], {**clusters, **links}, labels), releases=folder, seed=more, **other)
    assert {name: second.of[name] for name in first.of} == first.of
    assert len(second.of) == len(questions) + more
    for name, cluster in links.items():
        assert {second.of[name]} == {first.of[old] for old, its in clusters.items() if its == cluster}


@pytest.mark.slow
@given(strata=st.lists(st.integers(1, 60), min_size=1, max_size=8), more=st.integers(0, 60), seed=st.integers(0, 9))
@relaxed
def test_added_questions_bring_each_stratum_to_its_quota_again(
    tables, split, release, strata, more, seed, tmp_path_factory
):
    def exam(extra):
        return tables(
            {"question_id": f"{number:02d}-{item:03d}", "exam_class": f"class {number:02d}"}
            for number, size in enumerate(strata)
            for item in range(size + extra)
        )

    params = {"stratify_by": ["exam_class"], "min_stratum": 1}
    first = split(exam(0), **params)
    folder = release(tmp_path_factory.mktemp("of"), "1.0.0", exam(0)["questions"], first.of)
    done = split(exam(more), releases=folder, seed=seed, **params)
    sizes = dict(zip(("train", "validation", "test"), done.sizes(), strict=True))
    for number, size in enumerate(strata):
        got = Counter(its for name, its in done.of.items() if name.startswith(f"{number:02d}-"))
        for name, count in sizes.items():
            ideal = (size + more) * count / sum(sizes.values())
            before = sum(its == name for old, its in first.of.items() if old.startswith(f"{number:02d}-"))
            assert got[name] <= max(before, ideal + 2)
            assert abs(got[name] - ideal) <= max(2, abs(before - ideal))


@pytest.mark.slow
@given(
    strata=st.lists(st.integers(1, 60), min_size=1, max_size=12), ratios=st.sampled_from(["8:1:1", "7:2:1", "3:1:1"])
)
@relaxed
def test_each_stratum_is_within_one_question_of_the_ideal(tables, split, strata, ratios):
    questions = [
        {"question_id": f"{number:02d}-{item:03d}", "exam_class": f"class {number:02d}"}
        for number, size in enumerate(strata)
        for item in range(size)
    ]
    done = split(tables(questions), ratios=ratios, stratify_by=["exam_class"], min_stratum=1)
    total = sum(strata)
    if total < 15:  # splits that would be empty get one, which may be more than their share
        return
    sizes = dict(zip(("train", "validation", "test"), done.sizes(), strict=True))
    for number, size in enumerate(strata):
        got = Counter(done.of[f"{number:02d}-{item:03d}"] for item in range(size))
        for name, count in sizes.items():
            assert abs(got[name] - size * count / total) <= 1
    for name, part in zip(sizes, ratios.split(":"), strict=True):
        share = int(part) / sum(int(other) for other in ratios.split(":"))
        assert abs(sizes[name] - total * share) < 1


@pytest.mark.slow
def test_several_dimensions_hold_at_once(tables, split):
    lots = random.Random(3)
    questions = [
        {
            "question_id": f"q{number:04d}",
            "question_type": lots.choices(TYPES, weights=[9, 5, 3, 2, 1])[0],
            "exam_class": lots.choice(["甲", "乙", "丙"]),
        }
        for number in range(2000)
    ]
    labels = [(question["question_id"], "difficulty", lots.choice(["易", "中等", "极难"])) for question in questions]
    done = split(tables(questions, labels=labels), stratify_by=["exam_class", "difficulty", "question_type"])
    assert done.sizes() == (1600, 200, 200)
    difficulty = {name: label for name, _, label in labels}
    for value_of in (
        lambda question: question["question_type"],
        lambda question: question["exam_class"],
        lambda question: difficulty[question["question_id"]],
    ):
        whole = Counter(value_of(question) for question in questions)
        test = Counter(value_of(question) for question in questions if done.of[question["question_id"]] == "test")
        assert all(abs(test[value] - count / 10) <= 3 for value, count in whole.items())


@pytest.mark.parametrize("size", [3, 4, 5, 7, 9, 12, 19])
def test_a_small_dataset_has_no_empty_split(tables, split, size):
    done = split(tables([{"question_id": f"q{number}"} for number in range(size)]))
    assert all(done.sizes())


def test_a_small_dataset_of_groups_alone_has_no_empty_split(tables, split):
    questions = [{"question_id": f"q{number:02d}", "group_id": f"g{number // 4}"} for number in range(16)]
    assert sorted(split(tables(questions)).sizes()) == [4, 4, 8]


def test_one_question_is_train_and_none_is_fine(tables, split):
    assert split(tables([{"question_id": "q"}])).of == {"q": "train"}
    done = split(tables([]))
    assert done.of == {}
    assert done.result.tables["assignments"].schema == Assignment.polars_schema()


def test_a_subcategory_gives_its_numbers_and_the_rest_is_train(tables, split):
    questions = [
        {"question_id": f"{name}{number:03d}", "exam_class": name, "group_id": f"{name}{number // 3}"}
        if number < 60
        else {"question_id": f"{name}{number:03d}", "exam_class": name}
        for name in "甲乙丙"
        for number in range(200)
    ]
    done = split(tables(questions), method="per_subcategory", test_per_subcategory=40, development_per_subcategory=10)
    for name in "甲乙丙":
        got = Counter(split for question, split in done.of.items() if question.startswith(name))
        assert got == {"train": 150, "validation": 10, "test": 40}


def test_single_questions_make_up_for_groups_that_do_not_fit(tables, split):
    """Quotas of the case stratum are no multiple of three: the subcategory has its numbers all the same."""
    questions = [
        {
            "question_id": f"q{number:03d}",
            "exam_class": "甲",
            "question_type": "A3/A4" if number < 99 else "A1",
            "group_id": f"g{number // 3}" if number < 99 else None,
        }
        for number in range(300)
    ]
    for test in (20, 22, 25):
        done = split(
            tables(questions), method="per_subcategory", test_per_subcategory=test, development_per_subcategory=5
        )
        assert done.sizes() == (300 - test - 5, 5, test)


def test_every_subcategory_keeps_its_own_quota_however_small(tables, split):
    sizes = {"大": 100, "小": 20, "少": 9, "微": 1}
    questions = [
        {"question_id": f"{name}{number:03d}", "exam_class": name}
        for name, size in sizes.items()
        for number in range(size)
    ]
    done = split(tables(questions), method="per_subcategory", test_per_subcategory=20, development_per_subcategory=4)
    assert done.result.facts["subcategories"] == len(sizes)
    got = {name: Counter(split for question, split in done.of.items() if question[0] == name) for name in sizes}
    assert got["大"] == {"train": 76, "validation": 4, "test": 20}
    assert got["小"] == {"train": 10, "validation": 2, "test": 8}  # half stays in train
    assert got["少"] == {"train": 5, "validation": 1, "test": 3}
    assert got["微"] == {"train": 1}
    named = dict(done.result.tables["assignments"].select("question_id", "stratum").iter_rows())
    assert all(stratum.startswith(name[0]) for name, stratum in named.items())
    assert "31 of 80 test questions" in " ".join(done.result.notes)


def test_a_dataset_smaller_than_one_subcategory_keeps_half_for_training(tables, split):
    questions = [{"question_id": f"q{number:02d}", "exam_class": "甲"} for number in range(60)]
    done = split(tables(questions), method="per_subcategory")
    assert done.sizes() == (30, 1, 29)
    assert "29 of 400 test questions and 1 of 10 validation questions" in " ".join(done.result.notes)


def test_the_same_case_in_two_papers_is_one_unit(tables, split):
    case = "患者男性，五十二岁，间断上腹部疼痛三年，加重一周，伴反酸。"
    questions = [
        {"question_id": f"{paper}-{number}", "group_id": paper, "shared_stem": case + " " * (paper == "b")}
        for paper in "ab"
        for number in range(3)
    ]
    questions += [{"question_id": f"c-{number:02d}"} for number in range(60)]
    for seed in range(12):
        done = split(tables(questions), seed=seed)
        assert len({done.of[f"{paper}-{number}"] for paper in "ab" for number in range(3)}) == 1


def test_a_short_shared_heading_does_not_glue_groups_together(tables, split):
    questions = [
        {"question_id": f"q{number:03d}", "group_id": f"g{number // 2}", "shared_stem": "共用题干"}
        for number in range(100)
    ]
    assert split(tables(questions)).result.facts["largest_unit"] == 2


def test_another_seed_draws_other_questions(tables, split):
    exam = tables([{"question_id": f"q{number:03d}"} for number in range(100)])
    assert split(exam, seed=1).of != split(exam, seed=2).of
    assert split(exam, seed=7).of == split(exam).of


def test_groups_and_single_questions_are_drawn_alike(tables, split):
    """Groups must not pile up in train, nor in test, only because they are large."""
    questions = [
        {"question_id": f"q{number:04d}", "group_id": f"g{number // 3}" if number < 600 else None}
        for number in range(2000)
    ]
    done = split(tables(questions))
    grouped = sum(done.of[f"q{number:04d}"] == "test" for number in range(600))
    assert 35 <= grouped <= 85


def test_without_an_earlier_release_few_questions_move(tables, split):
    questions = [{"question_id": f"q{number:05d}"} for number in range(3000)]
    before = split(tables(questions[:2900])).of
    after = split(tables(questions)).of
    assert sum(before[name] != after[name] for name in before) < 60


@pytest.mark.parametrize(
    ("params", "hint"),
    [
        ({"stratify_by": ["exam_clas"]}, "did you mean exam_class"),
        ({"stratify_by": ["zzz"]}, "known: disease_group"),
        ({"stratify_by": ["exam_class", "exam_class"]}, "only once"),
        ({"ratios": "8:1"}, "pattern"),
        ({"ratios": "0:1:1"}, "train needs a share"),
        ({"ratio": "8:1:1"}, "Extra inputs"),
    ],
)
def test_wrong_options_are_told(params, hint):
    with pytest.raises(ValidationError, match=hint):
        SplitParams(**params)


@given(
    sizes=st.lists(st.lists(st.integers(2, 5), min_size=8, max_size=20), min_size=1, max_size=5), seed=st.integers(0, 9)
)
@relaxed
def test_strata_of_groups_come_as_near_to_their_ideal_as_groups_allow(tables, split, sizes, seed):
    """Within a question and a half of the best that any choice of whole groups gives."""
    questions = [
        {"question_id": f"{stratum}-{group:02d}-{item}", "exam_class": f"c{stratum}", "group_id": f"g{stratum}-{group}"}
        for stratum, groups in enumerate(sizes)
        for group, size in enumerate(groups)
        for item in range(size)
    ]
    done = split(tables(questions), stratify_by=["exam_class"], min_stratum=1, seed=seed)
    totals = [
        size / len(questions)
        for size in (totals_by_share(len(questions), 99, (Fraction(8, 10), Fraction(1, 10), Fraction(1, 10))))
    ]
    for stratum, groups in enumerate(sizes):
        got = Counter(its for name, its in done.of.items() if name.startswith(f"{stratum}-"))
        ideal = [sum(groups) * share for share in totals]
        away = max(abs(got[name] - part) for name, part in zip(("train", "validation", "test"), ideal, strict=True))
        assert away <= nearest(groups, ideal) + 1.5


def nearest(groups, ideal):
    reached = {(0, 0)}
    for size in groups:
        reached |= {(one + size, other) for one, other in reached} | {(one, other + size) for one, other in reached}
    whole = sum(groups)
    return min(
        max(abs(part - want) for part, want in zip((whole - one - other, one, other), ideal, strict=True))
        for one, other in reached
    )


def test_the_next_release_is_prepared_by_a_draft(tables, split, release, tmp_path):
    exam = tables([{"question_id": f"q{number}"} for number in range(30)])
    first = split(exam)
    assert any(note.startswith("a draft") for note in first.result.notes)
    again = split(exam, releases=release(tmp_path, "1.0.0", exam["questions"], first.of))
    assert not any(note.startswith("a draft") for note in again.result.notes)
