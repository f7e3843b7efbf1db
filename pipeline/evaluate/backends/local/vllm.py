"""The ``vllm`` backend: a model that vLLM reads and writes with in this process, without a server."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from build_dataset.pipeline.evaluate.backends.local.base import LocalBackend, Output, PreparedPrompt, likeliest_letter
from build_dataset.pipeline.evaluate.backends.local.loading import first_line
from build_dataset.pipeline.evaluate.params import VllmModel
from build_dataset.pipeline.stage import Failure
from build_dataset.schemas.errors import UserError

_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Ranks that vLLM makes room for; an adapter's is rounded up to one of them."""


class VllmBackend(LocalBackend):
    """Hands vLLM all prompts at once, which it batches; likelihoods are among the letters alone."""

    _options: VllmModel

    def _asked(self, *asked: Any, **named: Any) -> PreparedPrompt:
        found = super()._asked(*asked, **named)
        if found.choices and not found.letters:
            told = 'vllm compares single letters only: set compare = "letter", or kind = "transformers"'
            raise UserError(f"{self._options.model}: {told}")
        return found

    def _make(self, asked: Sequence[PreparedPrompt]) -> Iterator[tuple[PreparedPrompt, Output | Failure]]:
        with _told(self._options.model):
            engine = self._engine()
        try:
            yield from self._run(engine, asked)
        finally:
            self._release(engine)

    def _run(self, engine: Any, asked: Sequence[PreparedPrompt]) -> Iterator[tuple[PreparedPrompt, Output | Failure]]:
        from vllm.lora.request import LoRARequest

        # Prompts that begin alike stand side by side, so that the cache still holds their head.
        waiting = dict(enumerate(sorted(asked, key=lambda item: item.tokens)))
        folder = self._options.adapter
        adapter = LoRARequest("adapter", 1, folder) if folder else None
        with _told(self._options.model):
            for number, item in waiting.items():
                prompt = {"prompt_token_ids": list(item.tokens)}
                engine.add_request(str(number), prompt, self._sampling(item), lora_request=adapter)
        while engine.has_unfinished_requests():
            with _told(self._options.model):
                done = [output for output in engine.step() if output.finished]
            for output in done:
                item = waiting[int(output.request_id)]
                yield item, _made(item, output.outputs[0])

    def _release(self, engine: Any) -> None:
        """End vLLM's processes, which hold the memory that the next model needs."""
        engine.engine_core.shutdown()

    def _engine(self) -> Any:
        os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
        os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
        from vllm import LLM

        options = self._options
        lora = {"enable_lora": True, "max_lora_rank": _rank(options.adapter)} if options.adapter else {}
        model = LLM(
            model=options.model,
            revision=options.revision,
            dtype=options.dtype,
            tensor_parallel_size=options.tensor_parallel,
            gpu_memory_utilization=options.memory,
            max_model_len=options.max_context,
            enable_prefix_caching=True,
            seed=options.seed,
            # Otherwise vLLM tells the likeliest tokens of all, among which a letter may be missing.
            logprobs_mode="processed_logprobs",
            **lora,
        )
        return model.llm_engine

    def _sampling(self, item: PreparedPrompt) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        options, settings = self._options, {"output_kind": RequestOutputKind.FINAL_ONLY}
        if item.letters:
            letters = [token for _, token in item.letters]
            settings |= {"logprobs": len(letters), "allowed_token_ids": letters}
            return SamplingParams(temperature=0.0, max_tokens=1, **settings)
        if options.temperature:
            settings |= {"top_p": options.top_p, "seed": item.seed % 2**31}  # a seed that every sampler takes
        return SamplingParams(temperature=options.temperature, max_tokens=options.max_tokens, **settings)


def _made(item: PreparedPrompt, output: Any) -> Output:
    if item.letters:
        told = {token: entry.logprob for token, entry in output.logprobs[0].items()}
        return likeliest_letter({letter: told[token] for letter, token in item.letters}, len(item.tokens))
    finish = "length" if output.finish_reason == "length" else "stop"
    return Output(output.text, finish, len(item.tokens), len(output.token_ids))


def _rank(adapter: str) -> int:
    """The rank to make room for."""
    try:
        rank = int(json.loads((Path(adapter) / "adapter_config.json").read_text(encoding="utf-8"))["r"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"adapter {adapter}: cannot be loaded: {first_line(error)}") from None
    return next((size for size in _RANKS if size >= rank), rank)


@contextmanager
def _told(model: str) -> Iterator[None]:
    """Turn an error of vLLM into one line; earlier outputs are stored."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else first_line(error)
        raise UserError(f"{model}: vLLM cannot go on: {said}") from error
