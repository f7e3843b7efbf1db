"""What must be installed before a model can be loaded here."""

from __future__ import annotations

from importlib.util import find_spec

from pipeline.evaluate.params import LocalModel, MultipleChoiceModel, TransformersModel, VllmModel


def missing_packages(options: LocalModel | MultipleChoiceModel) -> str | None:
    """The line that says what to install; None where all is there."""
    wanted, remedy = ["torch", "transformers"], "-e '.[local]'"
    if isinstance(options, VllmModel):
        wanted, remedy = ["vllm"], "vllm"
    if isinstance(options, TransformersModel):
        wanted += (["peft"] if options.adapter else []) + (["gguf"] if options.gguf_file else [])
    absent = [name for name in wanted if find_spec(name) is None]
    return f'kind = "{options.kind}" needs {", ".join(absent)}: pip install {remedy}' if absent else None
