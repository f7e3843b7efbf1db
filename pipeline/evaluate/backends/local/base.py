"""The common part of backends on this machine: prompts as tokens, batches of them, the store of outputs."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Self

from build_dataset.pipeline.evaluate.backends import Backend, Generation, Setting
from build_dataset.pipeline.evaluate.backends.local import loading
from build_dataset.pipeline.evaluate.params import TransformersModel
from build_dataset.pipeline.evaluate.prompting import Prompt, is_multiple
from build_dataset.pipeline.stage import Failure
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import sha256

Letters = tuple[tuple[str, int], ...]
"""Option letters with their tokens, of which the likeliest is chosen; empty if the model writes a text."""


@dataclass(frozen=True)
class Output:
    """The output for one prompt, as it is stored."""

    text: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    likelihoods: dict[str, float] | None = None
    """The log-likelihood of each option's letter, where letters were compared."""
    made_with: dict[str, str] | None = None  # versions of the libraries that made it


def likeliest_letter(likelihoods: dict[str, float], prompt_tokens: int) -> Output:
    """The likeliest letter as what the model made; of two alike, the first."""
    best = max(likelihoods, key=lambda letter: likelihoods[letter])
    return Output(best, "stop", prompt_tokens, 1, likelihoods)


@dataclass(frozen=True)
class PreparedPrompt:
    """A prompt made ready for the model."""

    prompt: Prompt
    tokens: tuple[int, ...]
    letters: Letters  # what is compared; empty where a text is to be written
    key: str
    text: str  # the prompt as the model reads it
    seed: int  # seed of sampling: depends on the prompt and the repetition, not on other prompts


class LocalBackend(Backend, ABC):
    """Asks one model on this machine; every output is kept the moment it is made."""

    def __init__(self, options: TransformersModel, setting: Setting) -> None:
        if (missing := loading.missing_packages(options) or loading.missing_model(options)) is not None:
            raise UserError(missing)
        self._options = options
        self._store = setting.context.store
        self._tokenizer = loading.load_tokenizer(options)
        told = options.model_dump(include={"kind", "revision"})
        folders = {"model": options.model, "adapter": options.adapter}.items()
        hashed = {what: loading.fingerprint(Path(n)) for what, n in folders if n and Path(n).is_dir()}
        self.identity = told | dict(folders) | hashed

    def generate(self, prompts: Sequence[Prompt], advance: Callable[[int], None]) -> Iterator[Generation]:
        """See ``Backend``."""
        asked = self._ready(prompts)
        kept = self._store.get_many(item.key for item in asked)
        for item in asked:
            if item.key in kept:
                advance(1)
                yield _generation(item, Output(**kept[item.key]), self._options.temperature)
        for item, made in self._fitting([item for item in asked if item.key not in kept]):
            advance(1)
            if isinstance(made, Failure):
                yield Generation(item.prompt.id, None, failure=made)
            else:
                made = replace(made, made_with=loading.versions())
                self._store.put(item.key, asdict(made))
                yield _generation(item, made, self._options.temperature)

    @abstractmethod
    def _make(self, asked: Sequence[PreparedPrompt]) -> Iterator[tuple[PreparedPrompt, Output | Failure]]:
        """Yield the output for every prompt, in any order; all of them fit its context, and there is at least one."""

    def _fitting(self, asked: Sequence[PreparedPrompt]) -> Iterator[tuple[PreparedPrompt, Output | Failure]]:
        if not asked:
            return
        # a comparison writes one token
        room = self._options.max_tokens if any(not item.letters for item in asked) else 1
        longest = loading.context_length(self._options) - room
        for item in asked:
            if len(item.tokens) > longest:
                yield item, Failure("too_long", f"{len(item.tokens)} tokens; the model reads {longest}")
        if fitting := [item for item in asked if len(item.tokens) <= longest]:
            yield from self._make(fitting)

    def _ready(self, prompts: Sequence[Prompt]) -> list[PreparedPrompt]:
        has_template = self._options.chat == "auto" and bool(self._tokenizer.chat_template)
        template = self._options.chat == "template" or has_template
        texts = [loading.render(prompt.messages, self._tokenizer, template=template) for prompt in prompts]
        # A chat template writes the special tokens itself.
        encoded = self._encoded(texts, special=not template) if texts else []
        return [
            self._asked(prompt, text, tokens, special=not template)
            for prompt, text, tokens in zip(prompts, texts, encoded, strict=True)
        ]

    def _encoded(self, texts: Sequence[str], *, special: bool) -> list[tuple[int, ...]]:
        return list(map(tuple, self._tokenizer(list(texts), add_special_tokens=special)["input_ids"]))

    def _asked(self, prompt: Prompt, text: str, tokens: tuple[int, ...], *, special: bool) -> PreparedPrompt:
        options = self._options
        letters: Letters = ()
        chooses = options.answer_by == "likelihood" and prompt.question is not None
        if chooses and not is_multiple(prompt.asked()):
            tokens, letters = self._compared(prompt, text, special=special)
        seed = int(sha256(str(options.seed), str(prompt.repeat), text)[:15], 16)  # 60 bits fit an int64
        asked = {
            "model": self.identity,
            "text": text,
            "letters": [[label, "letter", [token], []] for label, token in letters],
            "dtype": options.dtype,
            "sampling": [options.temperature, options.top_p, seed] if options.temperature else None,
            "repeat": prompt.repeat,
            "max_tokens": None if letters else options.max_tokens,
        }
        key = sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False))
        return PreparedPrompt(prompt, tokens, letters, key, text, seed)

    def _compared(self, prompt: Prompt, text: str, *, special: bool) -> tuple[tuple[int, ...], Letters]:
        """Return the prompt's tokens and each letter's, cut as lm-evaluation-harness cuts them.

        A letter is the first token at which the continuations by the letters differ.
        """
        labels = [option.label for option in prompt.asked().options]
        context = text.rstrip()  # "答案： " and "A" are cut as "答案：" and " A"
        ends = text[len(context) :]
        read, *wholes = self._encoded([context, *(context + ends + label for label in labels)], special=special)
        # at least one token is compared
        cut = own = min(len(read), *(len(whole) - 1 for whole in wholes))
        while min(map(len, wholes)) > cut + 1 and len({whole[cut] for whole in wholes}) == 1:
            cut += 1
        letters = tuple((label, whole[cut]) for label, whole in zip(labels, wholes, strict=True))
        if len({token for _, token in letters}) < len(letters):
            told = "its tokenizer writes letters in several tokens, so that they cannot be compared"
            raise UserError(f'{self._options.model}: {told}; set answer_by = "text"')
        return read[:own] + wholes[0][own:cut], letters


def _generation(item: PreparedPrompt, made: Output, temperature: float) -> Generation:
    letters = (made.text,) if made.likelihoods else None
    seed = item.seed if temperature else None
    return Generation(item.prompt.id, letters=letters, asked=item.text, seed=seed, **vars(made))


SHORTEST_HEAD = 64  # tokens below which keeping a common head costs more than reading it again


@dataclass(frozen=True)
class TokenizedPrompt:
    """A prompt as tokens."""

    index: int  # its place among the prompts to be done
    tokens: tuple[int, ...]
    seed: int = 0  # seed of sampling


@dataclass(frozen=True)
class PromptBatch:
    """Prompts that go through the model together."""

    head: tuple[int, ...]  # tokens that all of them begin with, read once; may be empty
    tails: tuple[TokenizedPrompt, ...]  # the tokens after the head, never empty
    letters: Letters = ()  # tokens of the letters of which the likeliest is chosen

    def halves(self) -> tuple[Self, Self]:
        """The same prompts in two batches, for when one is too large."""
        middle = len(self.tails) // 2
        return replace(self, tails=self.tails[:middle]), replace(self, tails=self.tails[middle:])


def plan_batches(
    groups: Sequence[Sequence[TokenizedPrompt]],
    budget: int,
    new_tokens: int,
    *,
    heads: bool = True,
    ramp: int = 1 << 30,
) -> Iterator[PromptBatch]:
    """Batches of one group each, longest prompts first, so that what does not fit shows at once.

    A batch has at most ``budget`` padded tokens, with the ``new_tokens`` that each answer may add; a longer prompt is
    a batch of its own. The first batch has at most ``ramp`` prompts, every further one may have twice as many. With
    ``heads`` what the prompts of a group begin with is kept apart.
    """
    for group in sorted(groups, key=lambda group: -max(len(item.tokens) for item in group)):
        head = common_head([item.tokens for item in group]) if heads else ()
        cut = len(head)
        tails = [replace(item, tokens=item.tokens[cut:]) for item in group]
        tails.sort(key=lambda item: (-len(item.tokens), item.index))
        start = 0
        while start < len(tails):
            width = cut + len(tails[start].tokens) + new_tokens
            size = min(max(1, budget // width), ramp)
            ramp *= 2
            yield PromptBatch(head, tuple(tails[start : start + size]))
            start += size


def common_head(prompts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The tokens that all prompts begin with, less one where a prompt has no others; empty where it does not pay."""
    if len(prompts) < 2:
        return ()
    # the smallest and the largest differ first
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(min(prompts), max(prompts), strict=False))
    length = min(sum(1 for _ in alike), min(map(len, prompts)) - 1)
    return prompts[0][:length] if length >= SHORTEST_HEAD else ()
