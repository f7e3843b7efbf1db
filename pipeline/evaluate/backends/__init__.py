"""Where answers come from: one module a kind of model, one row here."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from pipeline.evaluate.backends.base import Backend, Generation, Setting
from pipeline.evaluate.params import ModelOptions

BACKENDS: dict[str, str] = {
    "openai": "pipeline.evaluate.backends.openai:OpenAiBackend",
    "transformers": "pipeline.evaluate.backends.local.backend:TransformersBackend",
    "vllm": "pipeline.evaluate.backends.local.vllm:VllmBackend",
    "multiple_choice": "pipeline.evaluate.backends.local.encoder:MultipleChoiceBackend",
    "random": "pipeline.evaluate.backends.baselines:RandomBackend",
    "majority": "pipeline.evaluate.backends.baselines:MajorityBackend",
}
"""Backend by ``kind``, as ``module:class``; imported when a model of that kind is asked."""

__all__ = ["BACKENDS", "Backend", "Generation", "Setting", "open_backend"]


def open_backend(options: ModelOptions, setting: Setting) -> Backend:
    """The backend that serves ``options``.

    Raises:
        UserError: the options lack something (a key, a model).
    """
    module, _, name = BACKENDS[options.kind].partition(":")
    return cast("Backend", getattr(import_module(module), name)(options, setting))
