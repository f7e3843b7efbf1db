"""The benchmark's errors are errors, one each, of every kind."""

from collections import Counter
from random import Random

from benchmarks.proofread.plants import ERRORS, KINDS, plant, sound_questions
from build_dataset.pipeline.clean.corrections import question_fields
from build_dataset.pipeline.proofread import params


def test_three_hundred_errors_of_every_kind_are_planted_in_the_sample_s_questions():
    sound = sound_questions(None, Random(0), 300)
    planted = plant(sound, 25, Random(0))
    assert Counter(each.error for each in planted) == dict.fromkeys(ERRORS, 25)
    texts = [question_fields(each) for each in sound]
    assert not any(question_fields(each.question) in texts for each in planted)
    assert len({each.question.question_id for each in planted}) == len(planted) >= 300
    assert {kind for kinds in KINDS.values() for kind in kinds} == {*params.KINDS}
    assert [each.question for each in plant(sound, 25, Random(0))] == [each.question for each in planted]
