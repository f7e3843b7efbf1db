"""Small models learn a small exam by every recipe, go on where they were stopped, and are evaluated."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'local'")
pytest.importorskip("peft", reason="needs the extra 'local'")

from build_dataset.pipeline.evaluate.params import EvaluateParams, MultipleChoiceModel, TransformersModel  # noqa: E402
from build_dataset.pipeline.evaluate.stage import run  # noqa: E402
from build_dataset.pipeline.finetune import train as training  # noqa: E402
from build_dataset.pipeline.finetune.train import Recipe, load_recipe, tune  # noqa: E402
from build_dataset.schemas.errors import UserError  # noqa: E402
from build_dataset.schemas.questions import Option  # noqa: E402
from tests.pipeline.evaluate.conftest import make_question, splits  # noqa: E402, F401
from tests.services.tiny_model import make_tiny_encoder, make_tiny_model  # noqa: E402


def easy(number: int, several: bool = False):
    """A question whose right options say so."""
    right = {number % 4, (number + 1) % 4} if several else {number % 4}
    options = [
        Option(label=letter, text=f"{'right' if place in right else 'wrong'} {number}")
        for place, letter in enumerate("ABCD")
    ]
    key = "".join("ABCD"[place] for place in sorted(right))
    return make_question(number, key, stem="which").model_copy(update={"options": options})


ROWS = [easy(number, several=number % 3 == 0) for number in range(24)]
LONG = {"max_input": 600, "max_target": 40}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return make_tiny_encoder(tmp_path_factory.mktemp("encoder"))


def recipe(method: str, **changes) -> Recipe:
    settings = {"method": method, "learning_rate": 1e-3, "batch_size": 8, "epochs": 1, **LONG}
    return Recipe.model_validate(settings | changes)


@pytest.mark.parametrize("method", ["lora", "prefix"])
def test_a_causal_model_is_tuned_recorded_and_evaluated(context, model, splits, tmp_path, method):  # noqa: F811
    out = tmp_path / "tuned"
    said = tune(str(model), ROWS, recipe(method), out)
    assert (said["learned"], said["too_long"]) == (24, 0)
    assert (out / "adapter_config.json").is_file()
    assert json.loads((out / "training.json").read_text(encoding="utf-8")) == said
    asked = TransformersModel(model=str(model), adapter=str(out), max_tokens=4, devices=["cpu"])
    result = run(splits(ROWS[:3]), EvaluateParams(models=[asked]), context)
    assert result.complete, result.review


def test_training_that_is_done_is_not_done_again(model, tmp_path, monkeypatch):
    first = tune(str(model), ROWS[:8], recipe("lora"), tmp_path / "t")
    monkeypatch.setattr(training, "_train", None)
    assert tune(str(model), ROWS[:8], recipe("lora"), tmp_path / "t") == first


def test_training_that_was_stopped_goes_on_and_ends_as_if_it_had_not(model, tmp_path, monkeypatch):
    from safetensors.torch import load_file
    from transformers import Trainer

    whole = recipe("lora", epochs=2)
    tune(str(model), ROWS[:16], whole, tmp_path / "whole")
    saved = Trainer._save_checkpoint

    def stop_after(self, *given):
        saved(self, *given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_save_checkpoint", stop_after)
        with pytest.raises(KeyboardInterrupt):
            tune(str(model), ROWS[:16], whole, tmp_path / "stopped")
    assert not (tmp_path / "stopped" / "training.json").exists()
    torn = tmp_path / "stopped" / "checkpoints" / "checkpoint-999"
    torn.mkdir()
    (torn / "adapter_config.json").touch()  # killed while the next one was written
    tune(str(model), ROWS[:16], whole, tmp_path / "stopped")
    one, other = (load_file(tmp_path / name / "adapter_model.safetensors") for name in ("whole", "stopped"))
    assert all(torch.allclose(one[name], other[name], atol=1e-6) for name in one)


TUNE = """
import sys
from pathlib import Path
from tests.services.test_finetune import ROWS, recipe
from build_dataset.pipeline.finetune.train import tune
tune(sys.argv[1], ROWS[:16], recipe("lora", epochs=3), Path(sys.argv[2]))
"""


@pytest.mark.parametrize("moment", ["asked.json", "checkpoint-*", "checkpoint-*/trainer_state.json"])
def test_killed_at_any_moment_it_goes_on_and_ends_as_if_it_had_not_been(model, tmp_path, moment):
    from safetensors.torch import load_file

    out = tmp_path / "killed"
    process = subprocess.Popen([sys.executable, "-c", TUNE, str(model), str(out)])
    while not list((out / "checkpoints").glob(moment)):
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert not (out / "training.json").exists()
    tune(str(model), ROWS[:16], recipe("lora", epochs=3), out)
    tune(str(model), ROWS[:16], recipe("lora", epochs=3), tmp_path / "whole")
    one, other = (load_file(tmp_path / name / "adapter_model.safetensors") for name in ("whole", "killed"))
    assert all(torch.allclose(one[name], other[name], atol=1e-6) for name in one)


def test_a_folder_of_another_training_is_left_alone(model, tmp_path):
    tune(str(model), ROWS[:8], recipe("lora"), tmp_path / "t")
    with pytest.raises(UserError, match="were tuned otherwise"):
        tune(str(model), ROWS[:9], recipe("lora"), tmp_path / "t")


def test_an_encoder_learns_which_options_say_they_are_right(context, encoder, splits, tmp_path):  # noqa: F811
    out = tmp_path / "encoder"
    settings = recipe("multiple_choice", epochs=30, learning_rate=5e-3, encoder={"hidden_dropout": 0.0})
    tune(str(encoder), ROWS, settings, out)
    asked = MultipleChoiceModel(model=str(out), max_input=64)
    result = run(splits([easy(100), easy(101), easy(102, several=True)]), EvaluateParams(models=[asked]), context)
    assert [row["correct"] for row in result.tables["predictions"].to_dicts()] == [True] * 3
    puts = context.store.puts
    run(splits([easy(100), easy(101), easy(102, several=True)]), EvaluateParams(models=[asked]), context)
    assert context.store.puts == puts


def test_what_cannot_be_learned_is_told(model, encoder, tmp_path):
    with pytest.raises(UserError, match="24 are longer than max_input"):
        tune(str(model), ROWS, recipe("lora", max_input=8), tmp_path / "a")
    with pytest.raises(UserError, match="24 lack what is to be learned"):
        tune(str(model), ROWS, recipe("lora", prompt="explanation"), tmp_path / "b")
    with pytest.raises(UserError, match="no such folder here"):
        tune("no/such/model", ROWS, recipe("multiple_choice"), tmp_path / "c")


@pytest.mark.parametrize("name", ["lora", "p_tuning_v2", "encoder"])
def test_the_papers_settings_are_shipped(name):
    assert load_recipe(name).epochs == 10
