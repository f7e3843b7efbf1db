"""Every answer that is wanted is asked of one named expert, and who stops takes no work along."""

from hypothesis import given, settings, strategies as st

from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review.progress import answered_by, assign, single_reviewed
from build_dataset.schemas.annotations import ExpertReview
from tests.annotation.records import review

PEOPLE = ["a@x.org", "b@x.org", "c@x.org"]


def params(**more) -> ReviewParams:
    return ReviewParams(**{"reviewers": PEOPLE, "assign": True} | more)


def groups(count: int, size: int = 1) -> dict[str, str]:
    return {f"q{n}": f"g{n // size}" for n in range(count)}


@settings(deadline=None, max_examples=60)
@given(
    count=st.integers(1, 60),
    overlap=st.sampled_from([0.0, 0.2, 1.0]),
    experts=st.sampled_from([2, 3]),
    answers=st.dictionaries(st.integers(0, 59), st.sets(st.sampled_from([*PEOPLE, "gone"]), max_size=2)),
    quotas=st.dictionaries(st.sampled_from(PEOPLE), st.integers(0, 30)),
)
def test_every_answer_is_given_wanted_of_somebody_or_counted_as_nobodys(count, overlap, experts, answers, quotas):
    asked = groups(count)
    answered = {f"q{n}": people for n, people in answers.items() if n < count}
    found = assign(asked, params(overlap=overlap, experts=experts, quotas=quotas), answered)
    single = single_reviewed(asked, overlap)
    wanted = sum(max(0, (1 if name in single else experts) - len(answered.get(name, ()))) for name in asked)
    assert sum(map(len, found.questions.values())) + found.unassigned == wanted
    for who, mine in found.questions.items():
        done = sum(who in people for people in answered.values())
        assert not mine or len(mine) + done <= quotas.get(who, count)
        assert all(who not in answered.get(name, ()) for name in mine)


def test_the_work_is_even_and_the_same_whenever_it_is_asked_for():
    found = assign(groups(300), params(), {})
    assert all(abs(len(found.questions[who]) - 200) <= 6 for who in PEOPLE)
    assert assign(groups(300), params(), {}) == found
    done = {name: {PEOPLE[0]} for name in sorted(found.questions[PEOPLE[0]])[:50]}
    later = assign(groups(300), params(), done)
    moved = sum(len(later.questions[who] - found.questions[who]) for who in PEOPLE)
    assert moved <= 3, "answers move only what was assigned beyond an even share"


def test_who_stops_keeps_what_is_done_and_the_rest_goes_to_the_others():
    before = assign(groups(300), params(), {})
    done = {name: {PEOPLE[0]} for name in sorted(before.questions[PEOPLE[0]])[:40]}
    after = assign(groups(300), params(quotas={PEOPLE[0]: 0}), done)
    assert after.questions[PEOPLE[0]] == set()
    assert sum(map(len, after.questions.values())) == 2 * 300 - 40
    moved = sum(len(before.questions[who] - after.questions[who]) for who in PEOPLE[1:])
    assert moved <= 6, "hardly anybody else's work moves"


def test_questions_of_a_case_stay_with_one_person_where_one_reviews():
    found = assign(groups(90, size=3), params(overlap=0.0), {})
    owners = {name: who for who, mine in found.questions.items() for name in mine}
    together = sum(len({owners[f"q{3 * n + k}"] for k in range(3)}) == 1 for n in range(30))
    assert together >= 28


def test_answers_that_do_not_count_are_asked_of_somebody_else():
    reviews = ExpertReview.to_frame([review(PEOPLE[0], "易"), review("gone@x.org", "易")])
    [(question_id, people)] = answered_by(reviews, params()).items()
    assert people == {PEOPLE[0]}
    assert len(answered_by(reviews, ReviewParams())[question_id]) == 2
    found = assign({question_id: "g"}, params(), answered_by(reviews, params()))
    assert sum(map(len, found.questions.values())) == 1
