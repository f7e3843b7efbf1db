"""Several people's results in one table."""

from __future__ import annotations

import json

import pytest

from build_dataset.pipeline.evaluate.comparing import gather_entries, leaderboard
from build_dataset.pipeline.evaluate.grading import fingerprint
from build_dataset.pipeline.runtime import publish
from build_dataset.pipeline.runtime.publish import sealed
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.evaluation import Outcome, Prediction, Score
from tests.pipeline.evaluate.conftest import make_question


@pytest.fixture
def build(tmp_path):
    def make(name, runs, questions="abc"):
        home = tmp_path / name / "evaluate"
        home.mkdir(parents=True)
        manifest = {key: {} for key in publish._KEYS} | {"stage": "evaluate", "facts": {"questions": questions}}
        (home / "manifest.json").write_text(json.dumps(sealed(manifest)), encoding="utf-8")
        scores, predictions = [], []
        for run, hits in runs.items():
            scores.append(
                Score(
                    run=run,
                    dimension="overall",
                    label="全部",
                    label_en="all",
                    metric="accuracy",
                    value=sum(hits) / len(hits),
                    questions=len(hits),
                    low=0.1,
                    high=0.9,
                )
            )
            predictions += [
                Prediction(
                    run=run,
                    question_id=f"q{number}",
                    raw_output="x",
                    extracted=["A"],
                    rule="stated",
                    outcome=Outcome.ANSWERED,
                    correct=hit,
                )
                for number, hit in enumerate(hits)
            ]
        Score.to_frame(scores).write_parquet(home / "scores.parquet")
        Prediction.to_frame(predictions).write_parquet(home / "predictions.parquet")
        return tmp_path / name

    return make


GOOD, BAD, GUESS = [True] * 40, [True] * 20 + [False] * 20, [True] * 10 + [False] * 30


def test_models_of_all_builds_are_ranked_and_baselines_stand_once(build):
    one = build("one", {"good": GOOD, "random": GUESS})
    two = build("two", {"bad": BAD, "random": GUESS})
    table = leaderboard(gather_entries([one, two]))
    assert [row[0] for row in table.rows] == ["good", "bad", "随机 random"]
    assert [row[2] for row in table.rows] == ["1", "2", "–"]
    assert table.rows[1][1].endswith("two")
    assert [row[-1] for row in table.rows] == ["–", "< 0.001", "–"]
    assert table.best == {(0, 4)}


def test_the_same_name_in_two_builds_tells_where_it_is_from(build):
    one, two = build("one", {"m": GOOD}), build("two", {"m": BAD})
    names = [row[0] for row in leaderboard(gather_entries([one, two])).rows]
    assert names[0] == f"m ({one})"
    assert names[1] == f"m ({two})"


@pytest.mark.parametrize(
    ("runs", "said"),
    [({"m": GOOD[:10]}, r"10 in both, 30 and 0 in one alone"), ({"m": GOOD}, "same names, with other texts or keys")],
)
def test_different_questions_are_never_compared_and_the_difference_is_told(build, runs, said):
    folders = [build("one", {"m": GOOD}), build("two", runs, questions="xyz")]
    with pytest.raises(UserError, match=f"asked different questions .*{said}"):
        gather_entries(folders)


def test_a_build_that_does_not_say_what_was_asked_is_asked_to_evaluate_again(build):
    with pytest.raises(UserError, match="run `build-dataset evaluate` again"):
        gather_entries([build("one", {"m": GOOD}), build("two", {"m": GOOD}, questions=None)])


def test_a_folder_in_which_nothing_was_evaluated_is_named(tmp_path, build):
    with pytest.raises(UserError, match="nothing was evaluated there"):
        gather_entries([build("one", {"m": GOOD}), tmp_path])


def test_the_folder_of_the_stage_will_do_as_well(build):
    assert gather_entries([build("one", {"m": GOOD}) / "evaluate"])[0].run == "m"


def test_the_same_questions_are_known_however_they_are_stored():
    rows = [make_question(number, explanation="因为") for number in range(3)]
    told = fingerprint(rows)
    again = [row.model_copy(update={"explanation": None, "document": "elsewhere.json"}) for row in rows[::-1]]
    assert fingerprint(again) == told
    spaced = [row.model_copy(update={"stem": f" {row.stem} "}) for row in rows]
    assert fingerprint(spaced) == told


@pytest.mark.parametrize(
    "change", [{"question_id": "q9"}, {"stem": "另一题"}, {"answer": ["B"]}, {"accepted_answers": [["A"], ["B"]]}]
)
def test_another_id_text_or_key_is_another_question(change):
    rows = [make_question(number) for number in range(3)]
    assert fingerprint([rows[0].model_copy(update=change), *rows[1:]]) != fingerprint(rows)
