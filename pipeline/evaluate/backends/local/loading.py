"""Loading a model's parts, and what its configuration says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.evaluate.params import LocalModel, TransformersModel
from schemas.errors import UserError


def load_tokenizer(options: LocalModel) -> Any:
    """The model's tokenizer, with a token to pad with.

    Raises:
        UserError: there is none.
    """
    from transformers import AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # ours is the one that counts
    tokenizer = _loaded(AutoTokenizer, options, "tokenizer")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if tokenizer.pad_token_id is None:
        raise UserError(f"{options.model}: its tokenizer has no token to pad with, nor one that ends a text")
    if options.chat == "template" and not tokenizer.chat_template:
        raise UserError(f'{options.model}: has no chat template; set chat = "plain" in [[evaluate.models]]')
    return tokenizer


def keeps_heads(options: LocalModel) -> bool:
    """Whether a common head can be kept: not where attention slides, as padding after it would take its place."""
    kinds = getattr(_config(options), "layer_types", None) or []
    # An adapter may keep keys and values of its own before every prompt.
    return options.adapter is None and all(kind == "full_attention" for kind in kinds)


def context_length(options: LocalModel) -> int:
    """Tokens that the model can read and write together; a very large number where it sets no limit."""
    return int(getattr(_config(options), "max_position_embeddings", None) or 1 << 40)


def _config(options: LocalModel) -> Any:
    from transformers import AutoConfig

    return _loaded(AutoConfig, options, "configuration").get_text_config()


def load_model(options: TransformersModel, device: str) -> Any:
    """The model with its adapter, ready to read.

    Raises:
        UserError: it cannot be loaded.
    """
    from transformers import AutoModelForCausalLM

    model = _loaded(AutoModelForCausalLM, options, "model", dtype=_dtype(options, device))
    if options.adapter:
        model = _adapted(model, options.adapter)
    return model.to(device).eval()


def _adapted(model: Any, folder: str) -> Any:
    """The model with an adapter, merged into its weights where that can be done."""
    from peft import PeftModel

    try:
        adapted = PeftModel.from_pretrained(model, folder)
    except (OSError, ValueError) as error:
        raise UserError(f"adapter {folder}: cannot be loaded: {first_line(error)}") from None
    return adapted.merge_and_unload() if hasattr(adapted.base_model, "merge_and_unload") else adapted


def _loaded(kind: Any, options: LocalModel, what: str, **settings: Any) -> Any:
    if isinstance(options, TransformersModel) and options.gguf_file:
        settings["gguf_file"] = options.gguf_file
    try:
        return kind.from_pretrained(options.model, revision=options.revision or "main", **settings)
    except (OSError, ValueError, KeyError) as error:
        where = (
            "" if Path(options.model).is_dir() else " (no such folder here, nor such a model within reach)"
        )
        raise UserError(f"{options.model}: no {what} could be loaded{where}: {first_line(error)}") from None


def _dtype(options: TransformersModel, device: str) -> Any:
    import torch

    name = options.dtype
    if name == "auto":
        name = "bfloat16" if device.startswith("cuda") else "float32"
    return getattr(torch, name)


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
