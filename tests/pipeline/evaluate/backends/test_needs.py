from __future__ import annotations

import pytest

from build_dataset.pipeline.evaluate.backends.local import loading as needs
from build_dataset.pipeline.evaluate.params import EvaluateParams, TransformersModel
from build_dataset.pipeline.evaluate.stage import problems
from build_dataset.schemas.dataset import DatasetParams


@pytest.fixture
def bare(monkeypatch):
    """An environment in which no package for local models is installed."""
    monkeypatch.setattr(needs, "find_spec", lambda name: None)


@pytest.mark.parametrize(
    ("model", "absent", "remedy"),
    [
        (TransformersModel(model="m"), "torch, transformers", "pip install -e '.[local]'"),
        (TransformersModel(model="m", adapter="a"), "torch, transformers, peft", "pip install -e '.[local]'"),
        (TransformersModel(model="m", gguf_file="f"), "torch, transformers, gguf", "pip install -e '.[local]'"),
    ],
)
def test_what_must_be_installed_is_named_with_the_command(bare, model, absent, remedy):
    line = f'kind = "{model.kind}" needs {absent}: {remedy}'
    assert needs.missing_packages(model) == line
    assert problems(EvaluateParams(models=[model]), DatasetParams(name="d")) == [line]


def test_nothing_is_said_where_all_is_installed(monkeypatch):
    monkeypatch.setattr(needs, "find_spec", lambda name: object())
    assert needs.missing_packages(TransformersModel(model="m", adapter="a")) is None
