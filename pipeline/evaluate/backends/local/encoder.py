"""Encoders with a multiple-choice head: every option is read with the question, and scored."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from build_dataset.pipeline.evaluate.backends import Backend, Generation, Setting
from build_dataset.pipeline.evaluate.backends.local.loading import fingerprint, missing_packages, pretrained
from build_dataset.pipeline.evaluate.params import MultipleChoiceModel
from build_dataset.pipeline.evaluate.prompting import Prompt, is_multiple, whole_stem
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.release import ReleaseRow

NOT_READ = {"labels", "shown", "several"}  # tensors of a batch that the model does not get


def choice_batch(rows: Sequence[ReleaseRow], *, tokenizer: Any, longest: int) -> dict[str, Any]:
    """Tensors (questions, options, tokens) with ``labels``, ``shown`` (false: padding) and ``several``."""
    import torch

    width = max(len(row.options) for row in rows)
    # as many options a question
    padded = [[*row.options, *[None] * (width - len(row.options))] for row in rows]
    encoded = tokenizer(
        [whole_stem(row) for row in rows for _ in range(width)],
        [option.text if option else "" for options in padded for option in options],
        truncation="longest_first",
        max_length=longest,
        padding=True,
        return_tensors="pt",
    )
    pairs = list(zip(rows, padded, strict=True))
    right = [[option is not None and option.label in row.answer for option in own] for row, own in pairs]
    return {
        **{name: value.view(len(rows), width, -1) for name, value in encoded.items()},
        "labels": torch.tensor(right),
        "shown": torch.tensor([[option is not None for option in options] for options in padded]),
        "several": torch.tensor([is_multiple(row) for row in rows]),
    }


class MultipleChoiceBackend(Backend):
    """Chooses the option with the highest score; where several are asked for, all above one half, two at least."""

    def __init__(self, options: MultipleChoiceModel, setting: Setting) -> None:
        if (missing := missing_packages(options)) is not None:
            raise UserError(missing)
        if not Path(options.model).is_dir():
            raise UserError(f"{options.model}: no such folder; `build-dataset finetune` makes one")
        self._options = options
        self._store = setting.context.store
        self._weights = fingerprint(Path(options.model))
        self.identity = {"kind": options.kind, "model": self._weights}

    def generate(self, prompts: Sequence[Prompt], advance: Callable[[int], None]) -> Iterator[Generation]:
        """See ``Backend``."""
        keys = {prompt.id: self._key(prompt.asked()) for prompt in prompts}
        kept = self._store.get_many(keys.values())
        for prompt in prompts:
            if keys[prompt.id] in kept:
                advance(1)
                yield _generation(prompt, kept[keys[prompt.id]])
        waiting = [prompt for prompt in prompts if keys[prompt.id] not in kept]
        # Like lengths together: less padding.
        missing = iter(sorted(waiting, key=lambda prompt: -len(prompt.asked().stem)))
        loaded = None
        while batch := list(islice(missing, self._options.batch_size)):
            loaded = loaded or self._load()
            for prompt, scores in zip(batch, self._scores(batch, *loaded), strict=True):
                self._store.put(keys[prompt.id], scores)
                yield _generation(prompt, scores)
            advance(len(batch))

    def _key(self, question: ReleaseRow) -> str:
        options = [option.text for option in question.options]
        asked = [self._weights, self._options.max_input, whole_stem(question), options]
        return sha256(json.dumps(asked, ensure_ascii=False))

    def _load(self) -> tuple[Any, Any]:
        import torch
        from transformers import AutoModelForMultipleChoice, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()
        tokenizer = pretrained(AutoTokenizer, self._options.model, "tokenizer")
        model = pretrained(AutoModelForMultipleChoice, self._options.model, "model")
        return model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), tokenizer

    def _scores(self, batch: Sequence[Prompt], model: Any, tokenizer: Any) -> Iterator[list[float]]:
        """The score of every option, question by question."""
        import torch

        asked = [prompt.asked() for prompt in batch]
        inputs = choice_batch(asked, tokenizer=tokenizer, longest=self._options.max_input)
        read = {name: inputs[name].to(model.device) for name in inputs.keys() - NOT_READ}
        with torch.inference_mode():
            logits = model(**read).logits.float().cpu().tolist()
        for question, row in zip(asked, logits, strict=True):
            yield [round(score, 6) for score in row[: len(question.options)]]


def _generation(prompt: Prompt, scores: Sequence[float]) -> Generation:
    labels = [option.label for option in prompt.asked().options]
    ranked = sorted(zip(scores, labels, strict=True), key=lambda pair: (-pair[0], pair[1]))
    # a logit of 0 is one half
    count = max(2, sum(score > 0 for score in scores)) if is_multiple(prompt.asked()) else 1
    letters = tuple(sorted(label for _, label in ranked[:count]))
    return Generation(prompt.id, "".join(letters), letters=letters)
