"""What backends on this machine share: prompts as tokens, the store, what is kept of an output."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.evaluate.backends.base import Generation, Setting
from pipeline.evaluate.backends.local.loading import context_length, load_tokenizer
from pipeline.evaluate.backends.local.needs import missing_packages
from pipeline.evaluate.backends.local.rendering import render
from pipeline.evaluate.backends.local.weights import fingerprint
from pipeline.evaluate.params import LocalModel
from pipeline.evaluate.prompting import Prompt, is_multiple
from pipeline.stage import Failure
from schemas.errors import UserError
from schemas.identity import sha256

Letters = tuple[tuple[str, int], ...]
"""Option letters and their tokens, of which the likeliest is to be chosen; empty where a text is to be written."""


@dataclass(frozen=True)
class Made:
    """What a model made of one prompt, as it is stored."""

    text: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    likelihoods: dict[str, float] | None = None
    """Log-likelihood of each option's letter, where letters were compared."""


def chosen(likelihoods: dict[str, float], prompt_tokens: int) -> Made:
    """The likeliest letter as what the model made; of two alike, the first."""
    best = max(likelihoods, key=lambda letter: likelihoods[letter])
    return Made(best, "stop", prompt_tokens, 1, likelihoods)


@dataclass(frozen=True)
class Asked:
    """A prompt made ready for the model."""

    prompt: Prompt
    tokens: tuple[int, ...]
    letters: Letters
    key: str


class LocalBackend(ABC):
    """Asks one model on this machine; every output is kept the moment it is made.

    Raises:
        UserError: packages are not installed, or the model cannot be loaded.
    """

    def __init__(self, options: LocalModel, setting: Setting) -> None:
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
        for item in asked:
            if item.key in kept:
                advance(1)
                yield _generation(item.prompt, Made(**kept[item.key]), stored=True)
        for item, made in self._fitting([item for item in asked if item.key not in kept]):
            advance(1)
            if isinstance(made, Failure):
                yield Generation(item.prompt.id, None, failure=made)
            else:
                self._store.put(item.key, asdict(made))
                yield _generation(item.prompt, made, stored=False)

    def expected(self, prompt: Prompt) -> float | None:  # noqa: ARG002
        """A model that reads the question has no expected score."""
        return None

    def _context(self) -> int:
        """Tokens that the model can read and write together."""
        return context_length(self._options)

    @abstractmethod
    def _make(self, asked: Sequence[Asked]) -> Iterator[tuple[Asked, Made | Failure]]:
        """What the model makes of every prompt, in any order; all of them fit its context, and there is one."""

    def _fitting(self, asked: Sequence[Asked]) -> Iterator[tuple[Asked, Made | Failure]]:
        if not asked:
            return
        room = self._options.max_tokens if any(not item.letters for item in asked) else 1
        longest = self._context() - room
        for item in asked:
            if len(item.tokens) > longest:
                yield item, Failure("too_long", f"{len(item.tokens)} tokens; the model reads {longest}")
        if fitting := [item for item in asked if len(item.tokens) <= longest]:
            yield from self._make(fitting)

    def _ready(self, prompts: Sequence[Prompt]) -> list[Asked]:
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

    def _asked(self, prompt: Prompt, text: str, tokens: tuple[int, ...]) -> Asked:
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
        return Asked(prompt, tokens, letters, sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False)))

    def _letters(self, prompt: Prompt) -> Letters:
        if self._options.answer_by != "likelihood" or prompt.question is None or is_multiple(prompt.asked()):
            return ()
        labels = [option.label for option in prompt.asked().options]
        tokens = [self._tokenizer(label, add_special_tokens=False)["input_ids"][-1] for label in labels]
        return tuple(zip(labels, tokens, strict=True))


def _identity(options: LocalModel) -> dict[str, Any]:
    """What the model is: the contents of its folder, or its name and revision on a hub; and what reads it."""

    def one(name: str) -> str:
        return fingerprint(Path(name)) if Path(name).is_dir() else name

    return {
        **options.model_dump(include={"kind", "revision", "gguf_file"}),
        "model": one(options.model),
        "adapter": options.adapter and one(options.adapter),
    }


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
