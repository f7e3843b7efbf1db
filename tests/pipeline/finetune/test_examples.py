"""A causal model learns the answer alone, never the prompt, and nothing that was cut."""

from __future__ import annotations

import pytest

from build_dataset.pipeline.finetune import train
from build_dataset.pipeline.finetune.train import IGNORED, Recipe, _remove_torn_checkpoints, tune, writing_examples
from build_dataset.pipeline.runtime.publish import write_json
from build_dataset.schemas.errors import UserError
from tests.pipeline.evaluate.conftest import make_question


class Characters:
    """A tokenizer without a chat template: a token a character."""

    chat_template = None
    eos_token_id = 1

    def __call__(self, texts, *, add_special_tokens):
        assert add_special_tokens
        return {"input_ids": [[ord(char) for char in text] for text in texts]}


def made(rows, prompt="answer_only", tokenizer=None, **limits):
    settings = {"max_input": 1000, "max_target": 100} | limits
    recipe = Recipe(method="lora", learning_rate=0.1, batch_size=1, epochs=1, prompt=prompt, **settings)
    return writing_examples(rows, recipe, tokenizer or Characters())


def test_only_the_answer_and_its_end_are_learned():
    (one,) = made([make_question(1, "AC")]).written
    learned = [token for token in one["labels"] if token != IGNORED]
    assert learned == [ord("A"), ord("C"), 1]
    assert one["input_ids"][-3:] == learned
    assert len(one["input_ids"]) == len(one["labels"])


def test_what_is_too_long_is_left_out_and_counted():
    found = made([make_question(1), make_question(2, stem="题" * 2000)])
    assert (len(found.written), found.too_long) == (1, 1)
    assert made([make_question(1, "ABCD")], max_target=4).too_long == 1


def test_explanations_are_learned_where_there_are_any():
    rows = [make_question(1, explanation="因为如此。"), make_question(2)]
    found = made(rows, "explanation")
    assert (len(found.written), found.incomplete) == (1, 1)
    learned = [chr(token) for token in found.written[0]["labels"] if token != IGNORED]
    assert "".join(learned[:-1]) == "因为如此。"


def test_the_longest_prompt_and_answer_that_are_allowed_are_learned():
    (one,) = made([make_question(1, "AC")]).written
    prompt = one["labels"].count(IGNORED)
    assert one["labels"][:prompt] == [-100] * prompt
    for limits, learned in (
        ({"max_input": prompt, "max_target": 3}, 1),
        ({"max_input": prompt - 1}, 0),
        ({"max_target": 2}, 0),
    ):
        found = made([make_question(1, "AC")], **limits)
        assert (len(found.written), found.too_long, found.incomplete) == (learned, 1 - learned, 0)


def test_a_token_across_the_border_is_not_learned_by_half():
    class Lengths(Characters):
        def __call__(self, texts, **_):
            return {"input_ids": [[len(text)] for text in texts]}

    found = made([make_question(1)], tokenizer=Lengths())
    assert (found.written, found.too_long, found.incomplete) == ([], 1, 0)


def test_a_question_without_a_key_is_incomplete_and_one_without_an_explanation_only_where_that_is_learned():
    silent = make_question(1, explanation="因为").model_copy(update={"answer": []})
    assert (made([silent]).incomplete, len(made([make_question(1)]).written)) == (1, 1)
    assert made([silent], "explanation").incomplete == 1


def test_checkpoints_that_a_killed_run_left_are_removed(tmp_path):
    for name, state in (("checkpoint-1", "{}"), ("checkpoint-2", "{"), ("checkpoint-3", None), ("other", None)):
        (tmp_path / name).mkdir()
        if state is not None:
            (tmp_path / name / "trainer_state.json").write_text(state)
    _remove_torn_checkpoints(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-1", "other"]


RECIPE = Recipe(method="lora", learning_rate=0.1, batch_size=1, epochs=1, max_input=8)


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(train, "find_spec", lambda name: name)


def test_packages_that_are_not_installed_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(train, "find_spec", lambda name: None if name in ("torch", "peft") else name)
    with pytest.raises(UserError) as caught:
        tune("m", [], RECIPE, tmp_path)
    assert str(caught.value) == "fine-tuning needs torch, peft: pip install -e '.[local]'"


def test_weights_that_were_tuned_so_before_are_not_tuned_again(tmp_path, installed):
    rows = [make_question(1)]
    asked = train._asked("org/m", rows, RECIPE)
    assert (asked["base"], asked["base_files"], asked["rows"]) == ("m", "org/m", 1)
    write_json(tmp_path / "training.json", {**asked, "loss": 0.5})
    assert tune("org/m", rows, RECIPE, tmp_path)["loss"] == 0.5
    with pytest.raises(UserError) as caught:
        tune("org/m", [make_question(2)], RECIPE, tmp_path)
    advice = "name another folder with --out"
    assert str(caught.value) == f"{tmp_path}: holds weights that were tuned otherwise; {advice}"


def test_checkpoints_of_another_training_are_not_gone_on_with(tmp_path, installed):
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "asked.json").write_text("{}")
    with pytest.raises(UserError) as caught:
        tune("org/m", [make_question(1)], RECIPE, tmp_path)
    advice = "name another folder with --out"
    assert str(caught.value) == f"{tmp_path}: holds the checkpoints of another training; {advice}"
