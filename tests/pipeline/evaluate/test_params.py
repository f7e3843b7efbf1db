"""Every option has its default, and its limits are where they are said to be."""

import pytest

from build_dataset.pipeline.evaluate.params import EvaluateParams, OpenAiModel, RandomModel, TransformersModel
from build_dataset.schemas.errors import UserError


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (OpenAiModel(model="a/b"), "openai:a/b"),
        (OpenAiModel(model="b", shots=3), "openai:b 3-shot"),
        (OpenAiModel(model="b", prompt="chain_of_thought"), "openai:b chain_of_thought"),
        (OpenAiModel(model="b", task="clinical", name="own"), "own"),
        (TransformersModel(model="x/b", task="explanation"), "b explanation"),
        (TransformersModel(model="x/b", adapter="y/c", answer_by="likelihood"), "b+c by likelihood"),
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


def test_scores_of_experts_change_nothing_where_no_model_writes_free_text():
    assert EvaluateParams().ignores() == {"reviews/answer_scores"}
    assert EvaluateParams(models=[OpenAiModel(model="m", task="explanation")]).ignores() == frozenset()
    assert EvaluateParams(task="clinical").ignores() == frozenset()
