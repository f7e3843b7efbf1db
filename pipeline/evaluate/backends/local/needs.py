"""What must be installed before a model can be loaded here."""

from __future__ import annotations

from importlib.util import find_spec

from pipeline.evaluate.params import TransformersModel


def missing_packages(options: TransformersModel) -> str | None:
    """The line that says what to install; None where all is there."""
    wanted = [
        "torch",
        "transformers",
        *(["peft"] if options.adapter else []),
        *(["gguf"] if options.gguf_file else []),
    ]
    absent = [name for name in wanted if find_spec(name) is None]
    if not absent:
        return None
    return f"kind = \"transformers\" needs {', '.join(absent)}: pip install 'build-dataset[local]'"
