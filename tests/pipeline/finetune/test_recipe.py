"""Recipes hold the papers' settings; wrong ones are told by key."""

from __future__ import annotations

import pytest

from build_dataset.pipeline.finetune.train import load_recipe
from build_dataset.schemas.errors import UserError


def test_lora_is_cmexams():
    found = load_recipe("lora")
    assert (found.lora.rank, found.lora.alpha, found.lora.dropout) == (8, 16, 0.05)
    assert (found.batch_size, found.epochs, found.max_target) == (64, 10, 256)


def test_p_tuning_is_cmexams():
    found = load_recipe("p_tuning_v2")
    assert (found.prefix.tokens, found.learning_rate) == (128, 2e-2)


def test_the_encoder_is_cmexams():
    found = load_recipe("encoder")
    assert (found.batch_size, found.learning_rate, found.max_input) == (16, 2e-4, 192)
    assert found.encoder.hidden_dropout == 0.4


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('method = "lora"\n', "learning_rate is missing"),
        ("method = ", "cannot be read"),
        ('method = "magic"\nlearning_rate = 1\nbatch_size = 1\nepochs = 1\nmax_input = 9\n', "method"),
        ('method = "lora"\nlearning_rate = 1\nbatch_size = 1\nepochs = 1\nmax_input = 9\nlo = 1\n', "lo: Extra"),
    ],
)
def test_a_wrong_recipe_is_told_in_one_line(tmp_path, content, said):
    path = tmp_path / "own.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=said) as caught:
        load_recipe(str(path))
    assert "\n" not in str(caught.value)


def test_an_unknown_recipe_names_the_known_ones():
    with pytest.raises(UserError, match="encoder, lora, p_tuning_v2"):
        load_recipe("qlora")
