"""The ``transformers`` backend: every output is kept the moment its batch is done."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.evaluate.backends.base import Generation, Setting
from pipeline.evaluate.backends.local.batching import Sequenced, plan
from pipeline.evaluate.backends.local.engine import Made, context_length, keeps_heads, load_tokenizer
from pipeline.evaluate.backends.local.needs import missing_packages
from pipeline.evaluate.backends.local.rendering import render
from pipeline.evaluate.backends.local.weights import fingerprint
from pipeline.evaluate.backends.local.workers import Job, run_jobs
from pipeline.evaluate.params import TransformersModel
from pipeline.evaluate.prompting import Prompt, is_multiple
from pipeline.stage import Failure
from schemas.errors import UserError
from schemas.identity import sha256


@dataclass(frozen=True)
class _Asked:
    """A prompt made ready for the model."""

    prompt: Prompt
    tokens: tuple[int, ...]
    letters: tuple[tuple[str, int], ...]
    key: str


class TransformersBackend:
    """Asks one model on this machine.

    Raises:
        UserError: torch or transformers is not installed, or the model cannot be loaded.
    """

    def __init__(self, options: TransformersModel, setting: Setting) -> None:
        if (missing := missing_packages(options)) is not None:
            raise UserError(missing)
        self._options = options
        self._store = setting.context.store
        self._tokenizer = load_tokenizer(options)
        self._model = _identity(options)

    def generate(self, prompts: Sequence[Prompt], advance: Callable[[int], None]) -> Iterator[Generation]:
        """See ``Backend``."""
        asked = self._ready(prompts)
        kept = self._store.get_many(item.key for item in asked)
        missing = []
        for item in asked:
            if item.key in kept:
                advance(1)
                yield _generation(item.prompt, Made(index=0, **kept[item.key]), stored=True)
            else:
                missing.append(item)
        if missing:
            yield from self._make(missing, advance)

    def expected(self, prompt: Prompt) -> float | None:  # noqa: ARG002
        """A model that reads the question has no expected score."""
        return None

    def _make(self, missing: Sequence[_Asked], advance: Callable[[int], None]) -> Iterator[Generation]:
        """Generate what is not stored; a batch that is too large for the device is halved until it fits."""
        longest = context_length(self._options) - self._room(missing)
        for item in missing:
            if len(item.tokens) > longest:
                advance(1)
                yield _failed(
                    item.prompt, "too_long", f"{len(item.tokens)} tokens; the model reads {longest}"
                )
        fitting = [item for item in missing if len(item.tokens) <= longest]
        jobs = deque(self._jobs(fitting))
        for job, made in run_jobs(self._options, _devices(self._options), jobs, self._tokenizer):
            if made == "out of memory" and len(job.batch.tails) > 1:
                jobs.extendleft(Job(half, job.repeat, job.letters) for half in reversed(job.batch.halves()))
                continue
            advance(len(job.batch.tails))
            if made == "out of memory":
                (tail,) = job.batch.tails
                detail = f"a prompt of {len(job.batch.head) + len(tail.tokens)} tokens does not fit in memory"
                yield _failed(fitting[tail.index].prompt, "out_of_memory", detail)
                continue
            for one in made:
                item = fitting[one.index]
                self._store.put(
                    item.key, {name: value for name, value in asdict(one).items() if name != "index"}
                )
                yield _generation(item.prompt, one, stored=False)

    def _ready(self, prompts: Sequence[Prompt]) -> list[_Asked]:
        template = self._options.chat == "template" or (
            self._options.chat == "auto" and bool(self._tokenizer.chat_template)
        )
        texts = [render(prompt.messages, self._tokenizer, template=template) for prompt in prompts]
        # A chat template writes the special tokens itself.
        encoded = self._tokenizer(texts, add_special_tokens=not template)["input_ids"] if texts else []
        return [
            self._asked(prompt, text, tuple(tokens))
            for prompt, text, tokens in zip(prompts, texts, encoded, strict=True)
        ]

    def _asked(self, prompt: Prompt, text: str, tokens: tuple[int, ...]) -> _Asked:
        letters = self._letters(prompt)
        options = self._options
        asked = {
            "model": self._model,
            "text": text,
            "letters": letters,
            "dtype": options.dtype,
            "sampling": [options.temperature, options.top_p, options.seed] if options.temperature else None,
            "repeat": prompt.repeat,
            "max_tokens": None if letters else options.max_tokens,
        }
        return _Asked(prompt, tokens, letters, sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False)))

    def _letters(self, prompt: Prompt) -> tuple[tuple[str, int], ...]:
        """The option letters and their tokens, where the likeliest is to be chosen; else none."""
        if self._options.answer_by != "likelihood" or prompt.question is None or is_multiple(prompt.asked()):
            return ()
        found = []
        for option in prompt.asked().options:
            tokens = self._tokenizer(option.label, add_special_tokens=False)["input_ids"]
            found.append((option.label, tokens[-1]))
        return tuple(found)

    def _jobs(self, asked: Sequence[_Asked]) -> Iterator[Job]:
        kinds: dict[tuple[int, tuple[tuple[str, int], ...]], dict[Any, list[Sequenced]]] = {}
        keeps = keeps_heads(self._options)
        for index, item in enumerate(asked):
            # Worked examples are what prompts share; without them only the question's first words are alike.
            head = item.prompt.messages[:-1] if keeps else ()
            groups = kinds.setdefault((item.prompt.repeat, item.letters), {})
            groups.setdefault(json.dumps(head, ensure_ascii=False), []).append(Sequenced(index, item.tokens))
        for (repeat, letters), groups in kinds.items():
            new = 1 if letters else self._options.max_tokens
            for batch in plan(list(groups.values()), self._options.batch_tokens, new, heads=keeps):
                yield Job(batch, repeat, letters)

    def _room(self, asked: Sequence[_Asked]) -> int:
        return self._options.max_tokens if any(not item.letters for item in asked) else 1


def _identity(options: TransformersModel) -> dict[str, Any]:
    """What the model is: the contents of its folder, or its name and revision on a hub."""

    def one(name: str) -> str:
        return fingerprint(Path(name)) if Path(name).is_dir() else name

    return {
        "model": one(options.model),
        "revision": options.revision,
        "gguf": options.gguf_file,
        "adapter": options.adapter and one(options.adapter),
    }


def _devices(options: TransformersModel) -> list[str]:
    import torch

    if options.devices:
        return options.devices
    return [f"cuda:{index}" for index in range(torch.cuda.device_count())] or ["cpu"]


def _generation(prompt: Prompt, made: Made, *, stored: bool) -> Generation:
    return Generation(
        prompt.id,
        made.text,
        made.finish,
        letters=(made.text,) if made.likelihoods else None,
        stored=stored,
        prompt_tokens=made.prompt_tokens,
        completion_tokens=made.completion_tokens,
    )


def _failed(prompt: Prompt, reason: str, detail: str) -> Generation:
    return Generation(prompt.id, None, failure=Failure(reason, detail))
