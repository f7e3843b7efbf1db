"""Loading models of this machine: what they need, the hash of their weights, prompts as they read them."""

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from build_dataset.pipeline.evaluate.params import TransformersModel
from build_dataset.pipeline.evaluate.prompting import Message
from build_dataset.schemas import errors, identity

_SAMPLE = 1 << 20
"""Bytes read at the start, in the middle and at the end of a large file: a model of 15 GB is known in milliseconds."""


def fingerprint(folder: Path) -> str:
    """Hash of the names, sizes and contents of a model's files; of large files, three samples of the content."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file() and not identity.is_hidden(path.name):
            size = path.stat().st_size
            digest.update(f"{path.name}\0{size}\0".encode())  # \0 stands in no name
            with path.open("rb") as file:
                starts = (0, size // 2, size - _SAMPLE) if size > 3 * _SAMPLE else ()
                digest.update(b"".join(os.pread(file.fileno(), _SAMPLE, start) for start in starts) or file.read())
    return digest.hexdigest()


def missing_packages(options: TransformersModel) -> str | None:
    """The line that says what to install; None where all is there."""
    wanted = ["torch", "transformers", *(["peft"] if options.adapter else []), *(["gguf"] if options.gguf_file else [])]
    absent = [name for name in wanted if find_spec(name) is None]
    return f"""kind = "{options.kind}" needs {", ".join(absent)}: pip install -e '.[local]'""" if absent else None


@cache
def versions() -> dict[str, str]:
    """Return the versions of the libraries that answer for a model."""
    return {name: version(name) for name in ("peft", "torch", "transformers") if find_spec(name) is not None}


def render(messages: Sequence[Message], tokenizer: Any, *, template: bool) -> str:
    """Return the text to be continued: by the model's chat ``template``, or bare turns as CMB writes them."""
    if not template:
        return "".join(f"{turn['content']}{_ENDS[turn['role']]}" for turn in messages)
    turns = list(messages)
    try:
        return str(tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))
    except Exception:
        if turns[0]["role"] != "system":
            raise
        system, first, *rest = turns  # Some templates know no system turn; what it says then opens the first question.
        joined = {"role": "user", "content": f"{system['content']}\n\n{first['content']}"}
        return str(tokenizer.apply_chat_template([joined, *rest], tokenize=False, add_generation_prompt=True))


_ENDS = {"system": "\n\n", "user": "\n", "assistant": "\n\n"}


def load_tokenizer(options: TransformersModel) -> Any:
    """The model's tokenizer, with a token to pad with."""
    from transformers import AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # ours is the one that counts
    tokenizer = pretrained(AutoTokenizer, options, "tokenizer")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if tokenizer.pad_token_id is None:
        raise errors.UserError(f"{options.model}: its tokenizer has no token to pad with, nor one that ends a text")
    return tokenizer


def keeps_heads(options: TransformersModel) -> bool:
    """Return whether a common head can be kept: not where attention slides, as padding would take its place."""
    kinds = getattr(_config(options), "layer_types", None) or []
    # An adapter may keep keys and values of its own before every prompt.
    return options.adapter is None and all(kind == "full_attention" for kind in kinds)


def context_length(options: TransformersModel) -> int:
    """Return the tokens that are read and written together; a very large number where nothing sets a limit."""
    return int(getattr(_config(options), "max_position_embeddings", None) or 1 << 40)


def _config(options: TransformersModel) -> Any:
    from transformers import AutoConfig

    return pretrained(AutoConfig, options, "configuration").get_text_config()


def load_model(options: TransformersModel, device: str) -> Any:
    """The model with its adapter, ready to read."""
    import torch
    from transformers import AutoModelForCausalLM

    auto = "bfloat16" if device.startswith("cuda") else "float32"
    dtype = getattr(torch, auto if options.dtype == "auto" else options.dtype)
    model = pretrained(AutoModelForCausalLM, options, "model", dtype=dtype)
    if options.adapter:
        from peft import PeftModel

        try:
            model = PeftModel.from_pretrained(model, options.adapter)
        except (OSError, ValueError) as error:
            raise errors.UserError(f"adapter {options.adapter}: cannot be loaded: {first_line(error)}") from None
        if hasattr(model.base_model, "merge_and_unload"):  # merged into the weights where that can be done
            model = model.merge_and_unload()
    return model.to(device).eval()


def pretrained(kind: Any, options: TransformersModel, what: str, **settings: Any) -> Any:
    """Return a tokenizer, configuration or model of transformers."""
    if options.gguf_file:
        settings["gguf_file"] = options.gguf_file
    model = options.model
    try:
        return kind.from_pretrained(model, revision=options.revision or "main", **settings)
    except (OSError, ValueError, KeyError) as error:
        where = "" if Path(model).is_dir() else " (no such folder here, nor such a model within reach)"
        raise errors.UserError(f"{model}: no {what} could be loaded{where}: {first_line(error)}") from None


def first_line(error: BaseException) -> str:
    """Return the message of an error in one line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
