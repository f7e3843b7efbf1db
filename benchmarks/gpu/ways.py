"""The ways to answer: a plain loop, lm-evaluation-harness, ours; all with one loaded model and the same prompts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

from benchmarks.gpu.material import LETTERS
from build_dataset.pipeline.evaluate.backends import Setting
from build_dataset.pipeline.evaluate.backends.local import backend as workers
from build_dataset.pipeline.evaluate.backends.local.backend import Engine, TransformersBackend
from build_dataset.pipeline.evaluate.backends.local.loading import render
from build_dataset.pipeline.evaluate.params import TransformersModel
from build_dataset.pipeline.evaluate.prompting import Prompt

Way = Callable[[Sequence[Prompt]], dict[str, str]]
"""Answers prompts; gives each prompt's output."""


@dataclass(frozen=True)
class Bench:
    """A loaded model and how it is asked."""

    options: TransformersModel
    engine: Engine
    peer_batch: int
    """Prompts that lm-evaluation-harness reads at once."""

    def ways(self) -> dict[str, Way]:
        """Every way by name, the plain loop first; lm-evaluation-harness where it is installed."""
        harness = {"harness, written": self.harness_written, "harness, likelihood": self.harness_likelihood}
        return {
            "loop": self.loop,
            **(harness if find_spec("lm_eval") else {}),
            "ours, written": lambda prompts: self.ours(prompts, "text"),
            "ours, likelihood": lambda prompts: self.ours(prompts, "likelihood"),
        }

    def loop(self, prompts: Sequence[Prompt]) -> dict[str, str]:
        """Three prompts at a time in the order of the file, padded, as CMB's README describes it."""
        import torch

        tokenizer = self.engine.tokenizer
        tokenizer.padding_side = "left"
        written: dict[str, str] = {}
        for start in range(0, len(prompts), 3):
            asked = prompts[start : start + 3]
            texts = [self._text(prompt) for prompt in asked]
            batch = tokenizer(texts, return_tensors="pt", padding=True).to(self.engine._device)
            batch.pop("token_type_ids", None)
            with torch.inference_mode():
                made = self.engine._model.generate(
                    **batch,
                    max_new_tokens=self.options.max_tokens,
                    do_sample=False,
                    pad_token_id=tokenizer.pad_token_id,
                )
            new = tokenizer.batch_decode(made[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
            written |= {prompt.id: text for prompt, text in zip(asked, new, strict=True)}
        return written

    def ours(self, prompts: Sequence[Prompt], answer_by: str) -> dict[str, str]:
        """The backend as the evaluate stage calls it, with the model that is loaded already."""
        self.engine._heads = None  # a head that another way read would come for nothing
        options = self.options.model_copy(update={"answer_by": answer_by})
        with patch.object(workers, "Engine", lambda *_: self.engine):
            backend = TransformersBackend(options, Setting(_Context(), []))  # type: ignore[arg-type]
            made = list(backend.generate(prompts, lambda _: None))
        failed = [one.failure for one in made if one.failure]
        assert not failed, failed[0]
        return {one.prompt_id: one.text or "" for one in made}

    def harness_written(self, prompts: Sequence[Prompt]) -> dict[str, str]:
        """lm-evaluation-harness, ``generate_until``."""
        settings = {"until": ["<|endoftext|>"], "max_gen_toks": self.options.max_tokens, "do_sample": False}
        made = self._harness("generate_until", [(self._text(prompt), dict(settings)) for prompt in prompts])
        return {prompt.id: text for prompt, text in zip(prompts, made, strict=True)}

    def harness_likelihood(self, prompts: Sequence[Prompt]) -> dict[str, str]:
        """lm-evaluation-harness, ``loglikelihood`` of every letter, as its multiple-choice tasks ask for it."""
        asked = [(self._text(prompt), letter) for prompt in prompts for letter in LETTERS]
        made = iter(self._harness("loglikelihood", asked))
        chosen = {}
        for prompt in prompts:
            told = {letter: next(made)[0] for letter in LETTERS}
            chosen[prompt.id] = max(told, key=lambda letter: told[letter])
        return chosen

    def _harness(self, kind: str, asked: Sequence[tuple[Any, ...]]) -> list[Any]:
        logging.getLogger("lm_eval").setLevel(logging.ERROR)
        from lm_eval.api.instance import Instance
        from lm_eval.models.huggingface import HFLM

        model = HFLM(pretrained=self.engine._model, tokenizer=self.engine.tokenizer, batch_size=self.peer_batch)
        instances = [Instance(kind, {}, arguments, number) for number, arguments in enumerate(asked)]
        made: list[Any] = getattr(model, kind)(instances, disable_tqdm=True)
        return made

    def _text(self, prompt: Prompt) -> str:
        return render(prompt.messages, self.engine.tokenizer, template=False)


class _Store(dict[str, Any]):
    """Keeps nothing beyond the run."""

    def get_many(self, keys: Any) -> dict[str, Any]:  # noqa: ARG002
        return {}

    def put(self, key: str, value: Any) -> None:
        self[key] = value


class _Context:
    def __init__(self) -> None:
        self.store = _Store()
