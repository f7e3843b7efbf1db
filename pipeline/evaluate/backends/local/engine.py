"""A loaded model: batches of tokens in, texts or letters' likelihoods out."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.evaluate.backends.local.batching import Batch
from pipeline.evaluate.params import TransformersModel
from schemas.errors import UserError


class OutOfMemoryError(Exception):
    """A batch was too large for the device."""


@dataclass(frozen=True)
class Made:
    """What a model made of one prompt."""

    index: int
    text: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    likelihoods: Mapping[str, float] | None = None
    """Log-likelihood of each option's letter, where letters were compared."""


class Engine:
    """One model on one device.

    Args:
        options: the model.
        device: ``cuda:0``, ``cpu`` …
        tokenizer: where it is loaded already.

    Raises:
        UserError: the model cannot be loaded.
    """

    def __init__(self, options: TransformersModel, device: str, tokenizer: Any = None) -> None:
        import torch

        self._options = options
        self._device = device
        self.tokenizer = tokenizer or load_tokenizer(options)
        self._model = _load_model(options, device, _dtype(options, device))
        self._heads: tuple[tuple[int, ...], Any] | None = None
        self._torch = torch

    def generate(self, batch: Batch, repeat: int) -> list[Made]:
        """Continue every prompt of a batch.

        Raises:
            OutOfMemoryError: it does not fit.
        """
        options = self._options
        sampling: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        if options.temperature > 0:
            sampling = {
                "do_sample": True,
                "temperature": options.temperature,
                "top_p": options.top_p,
                "top_k": 0,
            }
            self._torch.manual_seed(options.seed + repeat)
        with self._torch.inference_mode(), _memory():
            inputs = self._padded(batch, whole=True)
            if batch.head:
                inputs["past_key_values"] = self._cache(batch)
            made = self._model.generate(
                **inputs,
                max_new_tokens=options.max_tokens,
                pad_token_id=self.tokenizer.pad_token_id,
                **sampling,
            )
        width = inputs["input_ids"].shape[1]
        return [
            self._made(batch, row, new.tolist())
            for row, new in zip(range(len(batch.tails)), made[:, width:], strict=True)
        ]

    def choose(self, batch: Batch, letters: Mapping[str, int]) -> list[Made]:
        """The likeliest letter as the next token, prompt by prompt, in one forward pass.

        Args:
            batch: prompts of the same labels.
            letters: the token of each label.

        Raises:
            OutOfMemoryError: it does not fit.
        """
        with self._torch.inference_mode(), _memory():
            inputs = self._padded(batch, whole=False)
            if batch.head:
                inputs["past_key_values"] = self._cache(batch)
            logits = self._model(**inputs, logits_to_keep=1, use_cache=bool(batch.head)).logits[:, -1].float()
            rows = logits.log_softmax(-1)[:, list(letters.values())].cpu().tolist()
        return [
            self._chosen(batch, place, dict(zip(letters, row, strict=True))) for place, row in enumerate(rows)
        ]

    def _padded(self, batch: Batch, *, whole: bool) -> dict[str, Any]:
        """Input tensors, shape (prompts, width), padded between the head and the tails.

        ``generate`` wants the head among the tokens, a forward pass what is new alone.
        """
        torch, head = self._torch, list(batch.head)
        width = max(len(tail.tokens) for tail in batch.tails)
        pad = self.tokenizer.pad_token_id
        gaps = [width - len(tail.tokens) for tail in batch.tails]
        tails = [[pad] * gap + list(tail.tokens) for gap, tail in zip(gaps, batch.tails, strict=True)]
        seen = [[1] * len(head) + [0] * gap + [1] * (width - gap) for gap in gaps]
        mask = torch.tensor(seen, device=self._device)
        inputs = {"attention_mask": mask}
        if whole:
            inputs["input_ids"] = torch.tensor([head + tail for tail in tails], device=self._device)
        else:
            inputs["input_ids"] = torch.tensor(tails, device=self._device)
            inputs["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)[:, len(head) :]
        return inputs

    def _cache(self, batch: Batch) -> Any:
        """The keys and values of the head, once a prompt; the head itself is read once."""
        from transformers import DynamicCache

        if self._heads is None or self._heads[0] != batch.head:
            tokens = self._torch.tensor([list(batch.head)], device=self._device)
            cache = DynamicCache(config=self._model.config)
            self._model(input_ids=tokens, past_key_values=cache, use_cache=True, logits_to_keep=1)
            self._heads = (batch.head, cache)
        cache = copy.deepcopy(self._heads[1])
        cache.batch_repeat_interleave(len(batch.tails))
        return cache

    def _chosen(self, batch: Batch, row: int, likelihoods: dict[str, float]) -> Made:
        tail = batch.tails[row]
        best = max(likelihoods, key=lambda letter: likelihoods[letter])
        return Made(tail.index, best, "stop", len(batch.head) + len(tail.tokens), 1, likelihoods)

    def _made(self, batch: Batch, row: int, new: Sequence[int]) -> Made:
        ends = self._ends()
        stop = next((place for place, token in enumerate(new) if token in ends), None)
        written = new if stop is None else new[:stop]
        tail = batch.tails[row]
        return Made(
            index=tail.index,
            text=self.tokenizer.decode(written, skip_special_tokens=True),
            finish="length" if stop is None else "stop",
            prompt_tokens=len(batch.head) + len(tail.tokens),
            completion_tokens=len(written),
        )

    def _ends(self) -> set[int]:
        named = self._model.generation_config.eos_token_id
        ends = set(named if isinstance(named, list) else [named])
        return (ends | {self.tokenizer.eos_token_id}) - {None}


def load_tokenizer(options: TransformersModel) -> Any:
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


def keeps_heads(options: TransformersModel) -> bool:
    """Whether a common head can be kept: not where attention slides, as padding after it would take its place."""
    kinds = getattr(_config(options), "layer_types", None) or []
    # An adapter may keep keys and values of its own before every prompt.
    return options.adapter is None and all(kind == "full_attention" for kind in kinds)


def context_length(options: TransformersModel) -> int:
    """Tokens that the model can read and write together; a very large number where it sets no limit."""
    return int(getattr(_config(options), "max_position_embeddings", None) or 1 << 40)


def _config(options: TransformersModel) -> Any:
    from transformers import AutoConfig

    return _loaded(AutoConfig, options, "configuration").get_text_config()


def _load_model(options: TransformersModel, device: str, dtype: Any) -> Any:
    from transformers import AutoModelForCausalLM

    model = _loaded(AutoModelForCausalLM, options, "model", dtype=dtype)
    if options.adapter:
        model = _adapted(model, options.adapter)
    return model.to(device).eval()


def _adapted(model: Any, folder: str) -> Any:
    """The model with an adapter, merged into its weights where that can be done."""
    from peft import PeftModel

    try:
        adapted = PeftModel.from_pretrained(model, folder)
    except (OSError, ValueError) as error:
        raise UserError(f"adapter {folder}: cannot be loaded: {_first_line(error)}") from None
    return adapted.merge_and_unload() if hasattr(adapted.base_model, "merge_and_unload") else adapted


def _loaded(kind: Any, options: TransformersModel, what: str, **settings: Any) -> Any:
    if options.gguf_file:
        settings["gguf_file"] = options.gguf_file
    try:
        return kind.from_pretrained(options.model, revision=options.revision or "main", **settings)
    except (OSError, ValueError, KeyError) as error:
        where = (
            "" if Path(options.model).is_dir() else " (no such folder here, nor such a model within reach)"
        )
        raise UserError(f"{options.model}: no {what} could be loaded{where}: {_first_line(error)}") from None


def _dtype(options: TransformersModel, device: str) -> Any:
    import torch

    name = options.dtype
    if name == "auto":
        name = "bfloat16" if device.startswith("cuda") else "float32"
    return getattr(torch, name)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


class _memory:  # noqa: N801 - used as a statement
    """Tells what a device says when it is full as ``OutOfMemoryError``."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None:
            return
        import torch

        full = isinstance(error, (torch.cuda.OutOfMemoryError, MemoryError)) or (
            isinstance(error, RuntimeError) and "allocate memory" in str(error)
        )
        if full:
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            raise OutOfMemoryError(
                _first_line(error if isinstance(error, Exception) else Exception())
            ) from None
