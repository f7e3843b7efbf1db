"""Every option has its default, and its limits are where they are said to be."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from build_dataset.pipeline.evaluate.params import (
    EvaluateParams,
    JudgeOptions,
    MultipleChoiceModel,
    OpenAiModel,
    RandomModel,
    ReaderOptions,
    ScoringOptions,
    TransformersModel,
    VllmModel,
)
from build_dataset.pipeline.finetune.train import Encoder, Lora, Prefix, Recipe
from build_dataset.schemas.errors import UserError

WEIGHTS = {"model": "m"}
RECIPE = {"method": "lora", "learning_rate": 0.1, "batch_size": 1, "epochs": 1, "max_input": 8}


@pytest.mark.parametrize(
    ("form", "given", "name", "default", "least", "most"),
    [
        (EvaluateParams, {}, "shots", 0, 0, 32),
        (EvaluateParams, {}, "repeats", 1, 1, 100),
        (EvaluateParams, {}, "shuffles", 0, 0, 23),
        (EvaluateParams, {}, "limit", None, 1, None),
        (EvaluateParams, {}, "max_tokens", 1024, 1, None),
        (EvaluateParams, {}, "more_than_disease_group", 100, 0, None),
        (EvaluateParams, {}, "more_than_department", 50, 0, None),
        (EvaluateParams, {}, "keep_prompts", False, None, None),
        (TransformersModel, WEIGHTS, "max_tokens", 512, 1, None),
        (TransformersModel, WEIGHTS, "temperature", 0.0, 0, 2),
        (TransformersModel, WEIGHTS, "top_p", 1.0, None, 1),
        (TransformersModel, WEIGHTS, "seed", 20230605, 0, 2**32 - 1),
        (TransformersModel, WEIGHTS, "batch_tokens", 16384, 1, None),
        (VllmModel, WEIGHTS, "max_context", None, 8, None),
        (VllmModel, WEIGHTS, "tensor_parallel", 1, 1, None),
        (VllmModel, WEIGHTS, "memory", 0.9, None, 1),
        (MultipleChoiceModel, WEIGHTS, "max_input", 192, 8, None),
        (MultipleChoiceModel, WEIGHTS, "batch_size", 32, 1, None),
        (RandomModel, {}, "seed", None, 0, 2**32 - 1),
        (JudgeOptions, WEIGHTS, "max_tokens", 256, 1, None),
        (JudgeOptions, WEIGHTS, "compare", False, None, None),
        (ReaderOptions, WEIGHTS, "max_tokens", 64, 1, None),
        (ScoringOptions, {}, "sample", 320, 1, None),
        (ScoringOptions, {}, "overlap", 3, 1, 20),
        (Recipe, RECIPE, "max_input", 8, 8, None),
        (Recipe, RECIPE, "max_target", 256, 1, None),
        (Recipe, RECIPE, "batch_size", 1, 1, None),
        (Recipe, RECIPE, "seed", 20230605, 0, 2**32 - 1),
        (Lora, {}, "rank", 8, 1, None),
        (Lora, {}, "alpha", 16, 1, None),
        (Lora, {}, "dropout", 0.05, 0, None),
        (Prefix, {}, "tokens", 128, 1, None),
        (Encoder, {}, "hidden_dropout", 0.4, 0, None),
    ],
)
def test_an_option_has_its_default_and_its_limits(form, given, name, default, least, most):
    assert getattr(form.model_validate(given), name) == default
    for limit, outside in ((least, -1), (most, 1)):
        if limit is not None:
            assert getattr(form.model_validate(given | {name: limit}), name) == limit
            with pytest.raises(ValidationError):
                form.model_validate(given | {name: limit + outside})


@pytest.mark.parametrize(
    ("form", "name", "value"),
    [
        (TransformersModel, "top_p", 0),
        (VllmModel, "memory", 0),
        (Recipe, "learning_rate", 0),
        (Recipe, "epochs", 0),
        (Lora, "dropout", 1),
        (Encoder, "hidden_dropout", 1),
    ],
)
def test_limits_that_are_no_values_themselves(form, name, value):
    given = RECIPE if form is Recipe else WEIGHTS if form in (TransformersModel, VllmModel) else {}
    with pytest.raises(ValidationError):
        form.model_validate(given | {name: value})
    form.model_validate(given | {name: 0.01 if value == 0 else 0.99})


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (OpenAiModel(model="a/b"), "openai:a/b"),
        (OpenAiModel(model="b", shots=3), "openai:b 3-shot"),
        (OpenAiModel(model="b", prompt="chain_of_thought"), "openai:b chain_of_thought"),
        (OpenAiModel(model="b", task="clinical", name="own"), "own"),
        (TransformersModel(model="x/b", task="explanation"), "b explanation"),
        (TransformersModel(model="x/b", adapter="y/c", answer_by="likelihood"), "b+c by likelihood"),
        (TransformersModel(model="b", answer_by="likelihood", compare="option"), "b by likelihood of option"),
        (MultipleChoiceModel(model="x/b"), "b"),
        (MultipleChoiceModel(model="x/b", name="own"), "own"),
        (RandomModel(), "random"),
    ],
)
def test_a_run_is_named_by_its_model_and_the_manner_of_asking(options, name):
    assert options.run_name() == name


def test_a_model_of_the_command_line_joins_the_configured_ones():
    found = EvaluateParams(model="m", max_tokens=7, shots=2).all_models()
    assert [model.run_name() for model in found] == ["random", "majority", "openai:m 2-shot"]
    assert (found[-1].max_tokens, found[-1].shots) == (7, 2)
    with pytest.raises(UserError, match=r"two models are called 'random'"):
        EvaluateParams(models=[RandomModel(), RandomModel()]).all_models()


def test_labels_stand_in_the_papers_tables_from_the_papers_numbers_on():
    assert EvaluateParams().more_than() == {"disease_group": 100, "clinical_department": 50}


def test_scores_of_experts_change_nothing_where_no_model_writes_free_text():
    assert EvaluateParams().ignores() == {"reviews/answer_scores"}
    assert EvaluateParams(models=[OpenAiModel(model="m", task="explanation")]).ignores() == frozenset()
    assert EvaluateParams(task="clinical").ignores() == frozenset()
