"""A causal model learns the answer alone, never the prompt, and nothing that was cut."""

from __future__ import annotations

from pipeline.evaluate.prompting import load_template
from pipeline.finetune.train import IGNORED, writing_examples
from schemas.evaluation import Task
from tests.pipeline.evaluate.conftest import make_question


def made(rows, template="answer_only", task=Task.ANSWER, **limits):
    settings = {"end": 1, "max_input": 1000, "max_target": 100} | limits
    return writing_examples(
        rows,
        load_template(template, task),
        lambda turns: "".join(turn["content"] for turn in turns) + "\n",
        lambda text: [ord(char) for char in text],
        **settings,
    )


def test_only_the_answer_and_its_end_are_learned():
    (one,) = made([make_question(1, "AC")]).written
    learned = [token for token in one.labels if token != IGNORED]
    assert learned == [ord("A"), ord("C"), 1]
    assert one.input_ids[-3:] == learned
    assert len(one.input_ids) == len(one.labels)


def test_what_is_too_long_is_left_out_and_counted():
    found = made([make_question(1), make_question(2, stem="题" * 2000)])
    assert (len(found.written), found.too_long) == (1, 1)
    assert made([make_question(1, "ABCD")], max_target=4).too_long == 1


def test_explanations_are_learned_where_there_are_any():
    rows = [make_question(1, explanation="因为如此。"), make_question(2)]
    found = made(rows, "explanation", Task.EXPLANATION)
    assert (len(found.written), found.incomplete) == (1, 1)
    learned = [chr(token) for token in found.written[0].labels if token != IGNORED]
    assert "".join(learned[:-1]) == "因为如此。"
