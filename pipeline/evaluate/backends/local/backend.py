"""The ``transformers`` backend: batches by common head, length and token budget, on every GPU or the CPU."""

import copy
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any, Literal

from build_dataset.pipeline.evaluate.backends import Backend, Generation, Setting
from build_dataset.pipeline.evaluate.backends.local import batches, loading
from build_dataset.pipeline.evaluate.params import TransformersModel
from build_dataset.pipeline.evaluate.prompting import Prompt, is_multiple
from build_dataset.pipeline.stage import Failure
from build_dataset.schemas import errors, identity

Answers = list[batches.Output]  # of each prompt of a batch
Full = Literal["out of memory"]


class Engine:
    """One model on one device."""

    def __init__(self, options: TransformersModel, device: str, tokenizer: Any = None) -> None:
        import torch

        self._options = options
        self._device = device
        self.tokenizer = tokenizer or loading.load_tokenizer(options)
        self._model = loading.load_model(options, device)
        self._heads: tuple[tuple[int, ...], Any] | None = None
        self._torch = torch

    def answers(self, batch: batches.PromptBatch) -> Answers | Full:
        """Return the outputs of a batch, or that it does not fit in the device's memory."""
        torch = self._torch
        try:
            with torch.inference_mode():
                return (self.choose if batch.letters else self.generate)(batch)
        except (MemoryError, RuntimeError) as error:
            full = isinstance(error, (torch.cuda.OutOfMemoryError, MemoryError))
            if not full and "allocate memory" not in str(error):
                raise
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return "out of memory"

    def generate(self, batch: batches.PromptBatch) -> list[batches.Output]:
        """Continue every prompt of a batch; sampling for a prompt depends on its own seed alone."""
        options = self._options
        sampling: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        if options.temperature > 0:
            sampling["logits_processor"] = [Sampler([tail.seed for tail in batch.tails], options, self._device)]
        inputs = self._inputs(batch, whole=True)
        limits = {"max_new_tokens": options.max_tokens, "pad_token_id": self.tokenizer.pad_token_id}
        made = self._model.generate(**inputs, **limits, **sampling)
        written = zip(batch.tails, made[:, inputs["input_ids"].shape[1] :], strict=True)
        return [self._made(batch, tail, new.tolist()) for tail, new in written]

    def choose(self, batch: batches.PromptBatch) -> list[batches.Output]:
        """The likeliest letter as the next token, prompt by prompt, in one forward pass."""
        inputs = self._inputs(batch, whole=False)
        logits = self._model(**inputs, logits_to_keep=1, use_cache=bool(batch.head)).logits[:, -1].float()
        rows = logits.log_softmax(-1)[:, [token for _, token in batch.letters]].cpu().tolist()
        shares = [{label: share for (label, _), share in zip(batch.letters, row, strict=True)} for row in rows]
        sizes = [len(batch.head) + len(tail.tokens) for tail in batch.tails]
        return [batches.likeliest_letter(likelihoods, size) for likelihoods, size in zip(shares, sizes, strict=True)]

    def _inputs(self, batch: batches.PromptBatch, *, whole: bool) -> dict[str, Any]:
        """Input tensors (prompts, width), padded between head and tails; ``whole``: with the head's own tokens."""
        torch, head = self._torch, list(batch.head)
        width = max(len(tail.tokens) for tail in batch.tails)
        pad = self.tokenizer.pad_token_id
        gaps = [width - len(tail.tokens) for tail in batch.tails]
        tails = [[pad] * gap + list(tail.tokens) for gap, tail in zip(gaps, batch.tails, strict=True)]
        # padding between head and tail is not attended to
        seen = [[1] * len(head) + [0] * gap + [1] * (width - gap) for gap in gaps]
        mask = torch.tensor(seen, device=self._device)
        tokens = torch.tensor([head + tail for tail in tails] if whole else tails, device=self._device)
        inputs: dict[str, Any] = {"attention_mask": mask, "input_ids": tokens}
        if not whole:
            inputs["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)[:, len(head) :]
        if head:
            inputs["past_key_values"] = self._cache(batch)
        return inputs

    def _cache(self, batch: batches.PromptBatch) -> Any:
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

    def _made(self, batch: batches.PromptBatch, tail: batches.TokenizedPrompt, new: Sequence[int]) -> batches.Output:
        named = self._model.generation_config.eos_token_id
        # chat models end a turn by a token of its own
        ends = {*(named if isinstance(named, list) else [named]), self.tokenizer.eos_token_id} - {None}
        stop = next((place for place, token in enumerate(new) if token in ends), None)
        written = new if stop is None else new[:stop]
        return batches.Output(
            text=self.tokenizer.decode(written, skip_special_tokens=True),
            finish="length" if stop is None else "stop",
            prompt_tokens=len(batch.head) + len(tail.tokens),
            completion_tokens=len(written),
        )


class Sampler:
    """Draws every prompt's next token by its own random numbers: the same in any batch and after any interruption.

    The numbers come from the prompt's seed by NumPy, so they are the same on every device. Greedy decoding then takes
    the one token that is left.
    """

    def __init__(self, seeds: Sequence[int], options: TransformersModel, device: str) -> None:
        import numpy as np
        import torch

        draws = [np.random.default_rng(seed).random(options.max_tokens, dtype=np.float32) for seed in seeds]
        self._draws = torch.tensor(np.stack(draws), device=device)
        self._step = 0
        self._temperature, self._top_p = options.temperature, options.top_p

    def __call__(self, input_ids: Any, scores: Any) -> Any:  # noqa: ARG002 - the form of a logits processor
        """Scores of which one token a row is not minus infinity, shape (prompts, vocabulary)."""
        shares, tokens = (scores.float() / self._temperature).softmax(-1).sort(stable=True, dim=-1, descending=True)
        mass = shares.cumsum(-1)
        # The nucleus: the likeliest tokens until top_p is reached, the one that reaches it included.
        size = (mass - shares < self._top_p).sum(-1, keepdim=True)
        drawn = self._draws[:, self._step, None] * mass.gather(-1, size - 1)
        place = (mass <= drawn).sum(-1, keepdim=True).minimum(size - 1)
        self._step += 1
        return scores.new_full(scores.shape, float("-inf")).scatter(-1, tokens.gather(-1, place), 0.0)


def run_jobs(
    options: TransformersModel, devices: list[str], jobs: deque[batches.PromptBatch], tokenizer: Any = None
) -> Iterator[tuple[batches.PromptBatch, Answers | Full]]:
    """Yield every batch with its outputs, one worker a device; one that does not fit in memory comes back undone."""
    if len(devices) == 1:
        engine = Engine(options, devices[0], tokenizer)
        while jobs:
            job = jobs.popleft()
            yield job, engine.answers(job)
        return
    context = get_context("spawn")
    names: Queue[str] = context.Queue()
    for name in devices:
        names.put(name)
    with ProcessPoolExecutor(len(devices), context, initializer=_start, initargs=(options, names)) as pool:
        running: dict[Future[Answers | Full], batches.PromptBatch] = {}
        while jobs or running:
            while jobs and len(running) < 2 * len(devices):  # one in work and one waiting for each
                job = jobs.popleft()
                running[pool.submit(_work, job)] = job
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


_ENGINE: Engine | None = None  # of this worker process


def _start(options: TransformersModel, names: "Queue[str]") -> None:
    global _ENGINE
    _ENGINE = Engine(options, names.get())


def _work(job: batches.PromptBatch) -> Answers | Full:
    if _ENGINE is None:
        raise RuntimeError("the worker was not started")
    return _ENGINE.answers(job)


@dataclass(frozen=True)
class PreparedPrompt:
    """A prompt made ready for the model."""

    prompt: Prompt
    tokens: tuple[int, ...]
    letters: batches.Letters  # what is compared; empty where a text is to be written
    key: str
    text: str  # the prompt as the model reads it
    seed: int  # seed of sampling: depends on the prompt and the repetition, not on other prompts


class TransformersBackend(Backend):
    """Asks one model on this machine; every output is kept the moment it is made."""

    def __init__(self, options: TransformersModel, setting: Setting) -> None:
        if (missing := loading.missing_packages(options)) is not None:
            raise errors.UserError(missing)
        self._options = options
        self._store = setting.context.store
        self._tokenizer = loading.load_tokenizer(options)
        options_named = options.model_dump(include={"kind", "revision", "gguf_file"})
        folders = {"model": options.model, "adapter": options.adapter}.items()
        hashed = {what: loading.fingerprint(Path(n)) for what, n in folders if n and Path(n).is_dir()}
        self.identity = options_named | dict(folders) | hashed

    def generate(self, prompts: Sequence[Prompt], advance: Callable[[int], None]) -> Iterator[Generation]:
        """See ``Backend``."""
        asked = self._ready(prompts)
        kept = self._store.get_many(item.key for item in asked)
        for item in asked:
            if item.key in kept:
                advance(1)
                yield _generation(item, batches.Output(**kept[item.key]), self._options.temperature)
        for item, made in self._fitting([item for item in asked if item.key not in kept]):
            advance(1)
            if isinstance(made, Failure):
                yield Generation(item.prompt.id, None, failure=made)
            else:
                made = replace(made, made_with=loading.versions())
                self._store.put(item.key, asdict(made))
                yield _generation(item, made, self._options.temperature)

    def _fitting(self, asked: Sequence[PreparedPrompt]) -> Iterator[tuple[PreparedPrompt, batches.Output | Failure]]:
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
        template = self._options.chat == "auto" and bool(self._tokenizer.chat_template)
        texts = [loading.render(prompt.messages, self._tokenizer, template=template) for prompt in prompts]
        # A chat template writes the special tokens itself.
        encoded = self._encoded(texts, special=not template) if texts else []
        options, ready = self._options, []
        for prompt, text, tokens in zip(prompts, texts, encoded, strict=True):
            letters: batches.Letters = ()
            if options.answer_by == "likelihood" and prompt.question is not None and not is_multiple(prompt.question):
                tokens, letters = self._compared(prompt, text, special=not template)
            seed = int(identity.sha256(str(options.seed), str(prompt.repeat), text)[:15], 16)  # 60 bits fit an int64
            asked = {
                "model": self.identity,
                "text": text,
                "letters": [[label, "letter", [token], []] for label, token in letters],
                "dtype": options.dtype,
                "sampling": [options.temperature, options.top_p, seed] if options.temperature else None,
                "repeat": prompt.repeat,
                "max_tokens": None if letters else options.max_tokens,
            }
            key = identity.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False))
            ready.append(PreparedPrompt(prompt, tokens, letters, key, text, seed))
        return ready

    def _encoded(self, texts: Sequence[str], *, special: bool) -> list[tuple[int, ...]]:
        return list(map(tuple, self._tokenizer(list(texts), add_special_tokens=special)["input_ids"]))

    def _compared(self, prompt: Prompt, text: str, *, special: bool) -> tuple[tuple[int, ...], batches.Letters]:
        """Return the prompt's tokens and each letter's, cut as lm-evaluation-harness cuts them."""
        labels = [option.label for option in prompt.asked.options]
        context = text.rstrip()  # "答案： " and "A" are cut as "答案：" and " A"
        ends = text[len(context) :]
        read, *wholes = self._encoded([context, *(context + ends + label for label in labels)], special=special)
        cut = shared = min(len(read), *(len(whole) - 1 for whole in wholes))  # at least one token is compared
        # A letter is the first token at which the continuations by the letters differ.
        while min(map(len, wholes)) > cut + 1 and len({whole[cut] for whole in wholes}) == 1:
            cut += 1
        letters = tuple((label, whole[cut]) for label, whole in zip(labels, wholes, strict=True))
        if len({token for _, token in letters}) < len(letters):
            problem = "its tokenizer writes letters in several tokens, so that they cannot be compared"
            raise errors.UserError(f'{self._options.model}: {problem}; set answer_by = "text"')
        return read[:shared] + wholes[0][shared:cut], letters

    def _make(self, asked: Sequence[PreparedPrompt]) -> Iterator[tuple[PreparedPrompt, batches.Output | Failure]]:
        """Batch by batch; one that is too large for the device is halved until it fits."""
        import torch

        devices = self._options.devices or [f"cuda:{at}" for at in range(torch.cuda.device_count())] or ["cpu"]
        jobs = deque(self._jobs(asked))
        for batch, made in run_jobs(self._options, devices, jobs, self._tokenizer):
            tails = batch.tails
            if made != "out of memory":
                yield from ((asked[tail.index], output) for tail, output in zip(tails, made, strict=True))
            elif len(tails) > 1:
                jobs.extendleft(reversed(batch.halves()))  # first half first: order stays by length
            else:
                item = asked[tails[0].index]
                yield item, Failure("out_of_memory", f"a prompt of {len(item.tokens)} tokens does not fit in memory")

    def _jobs(self, asked: Sequence[PreparedPrompt]) -> Iterator[batches.PromptBatch]:
        kinds: dict[batches.Letters, dict[str, list[batches.TokenizedPrompt]]] = {}
        keeps = loading.keeps_heads(self._options)
        for index, item in enumerate(asked):
            # Worked examples are what prompts share; without them only the question's first words are alike.
            head = json.dumps(item.prompt.messages[:-1] if keeps else (), ensure_ascii=False)
            group = kinds.setdefault(item.letters, {}).setdefault(head, [])
            group.append(batches.TokenizedPrompt(index, item.tokens, item.seed))
        for letters, groups in kinds.items():
            new = 1 if letters else self._options.max_tokens
            for batch in batches.plan_batches(list(groups.values()), self._options.batch_tokens, new, heads=keeps):
                yield replace(batch, letters=letters)


def _generation(item: PreparedPrompt, made: batches.Output, temperature: float) -> Generation:
    letters = (made.text,) if made.likelihoods else None
    seed = item.seed if temperature else None
    return Generation(item.prompt.id, letters=letters, asked=item.text, seed=seed, **vars(made))
