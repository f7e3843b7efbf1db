"""What must be installed before a model can be loaded here."""

from __future__ import annotations

import os
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import httpx

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


def out_of_reach(options: LocalModel) -> str | None:
    """Return the line that says why a model cannot be had; None where it is a folder, in the cache or on the hub.

    The hub is asked once and for 5 seconds at most: its own client tries again for a minute and more.
    """
    name, adapter = options.model, options.adapter
    if Path(name).is_dir():
        return f"adapter {adapter}: no such folder" if adapter and not Path(adapter).exists() else None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.constants import ENDPOINT

    here = f"{name}: no such folder here, nor in the cache of models"
    file = getattr(options, "gguf_file", None) or "config.json"
    revision = options.revision or "main"
    try:
        if isinstance(try_to_load_from_cache(name, file, revision=revision), str):
            return None
    except ValueError:
        return f"{here}; {name!r} is no name on a hub either"
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return f"{here}, and HF_HUB_OFFLINE is set"
    return _asked_hub(here, f"{ENDPOINT}/{name}/resolve/{revision}/{file}")


@cache
def _asked_hub(here: str, address: str) -> str | None:
    try:
        status = httpx.head(address, timeout=5).status_code
    except httpx.HTTPError:
        return f"{here}, and {httpx.URL(address).host} does not answer: download the model to a folder and name that"
    return f"{here}, and {httpx.URL(address).host} knows none of that name" if status == 404 else None


@cache
def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def versions(options: LocalModel | MultipleChoiceModel) -> dict[str, str]:
    """Return the versions of the libraries that answer for a model."""
    names = ["vllm"] if isinstance(options, VllmModel) else ["peft", "torch", "transformers"]
    return {name: found for name in names if (found := _version(name)) is not None}
