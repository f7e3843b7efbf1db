"""The ``transformers`` backend: batches by common head, length and token budget, on every GPU or the CPU."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.queues import Queue
from typing import Any

from pipeline.evaluate.backends.local.base import (
    Letters,
    LocalBackend,
    Made,
    PreparedPrompt,
    PromptBatch,
    Sequenced,
    chosen,
    plan,
)
from pipeline.evaluate.backends.local.engine import Answers, Engine, Full
from pipeline.evaluate.backends.local.loading import keeps_heads
from pipeline.evaluate.params import TransformersModel
from pipeline.stage import Failure

Done = tuple[PromptBatch, Answers | Full]


def run_jobs(
    options: TransformersModel, devices: list[str], jobs: deque[PromptBatch], tokenizer: Any = None
) -> Iterator[Done]:
    """Do every batch; those that did not fit in memory come back as such, to be cut and handed in again by the caller.

    Args:
        options: the model.
        devices: one worker each; a single one works in this process.
        jobs: taken from the left; may grow while they are done.
        tokenizer: the model's, where this process has it.
    """
    if len(devices) == 1:
        engine = Engine(options, devices[0], tokenizer)
        while jobs:
            job = jobs.popleft()
            yield job, engine.answers(job)
        return
    with ExitStack() as stack:
        context = get_context("spawn")
        names: Queue[str] = context.Queue()
        for name in devices:
            names.put(name)
        pool = stack.enter_context(
            ProcessPoolExecutor(len(devices), context, initializer=_start, initargs=(options, names))
        )
        running: dict[Future[Answers | Full], PromptBatch] = {}
        while jobs or running:
            while jobs and len(running) < 2 * len(devices):
                job = jobs.popleft()
                running[pool.submit(_work, job)] = job
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


_ENGINE: Engine | None = None
"""Of this worker process."""


def _start(options: TransformersModel, names: Queue[str]) -> None:
    global _ENGINE
    _ENGINE = Engine(options, names.get())


def _work(job: PromptBatch) -> Answers | Full:
    if _ENGINE is None:
        raise RuntimeError("the worker was not started")
    return _ENGINE.answers(job)


class TransformersBackend(LocalBackend):
    """See ``LocalBackend``."""

    _options: TransformersModel

    def _make(self, asked: Sequence[PreparedPrompt]) -> Iterator[tuple[PreparedPrompt, Made | Failure]]:
        """Batch by batch; one that is too large for the device is halved until it fits."""
        devices = _devices(self._options)
        jobs = deque(self._jobs(asked, ramp=1 if devices == ["cpu"] else 1 << 30))
        sums: dict[int, dict[int, float]] = {}
        full: set[int] = set()
        for batch, made in run_jobs(self._options, devices, jobs, self._tokenizer):
            tails = batch.tails
            if made != "out of memory":
                answers: list[Made | float] = list(made)
                for tail, one in zip(tails, answers, strict=True):
                    item = asked[tail.index]
                    if isinstance(one, Made):
                        yield item, one
                        continue
                    found = sums.setdefault(tail.index, {})
                    found[tail.part] = one
                    if len(found) == len(_sequences(item, tail.index)):
                        yield item, _decided(item, found)
            elif len(tails) > 1:
                jobs.extendleft(reversed(batch.halves()))
            elif tails[0].index not in full:
                full.add(tails[0].index)  # told once, however many of its options do not fit
                item = asked[tails[0].index]
                detail = f"a prompt of {len(item.tokens)} tokens does not fit in memory"
                yield item, Failure("out_of_memory", detail)

    def _jobs(self, asked: Sequence[PreparedPrompt], ramp: int) -> Iterator[PromptBatch]:
        kinds: dict[tuple[bool, Letters], dict[str, list[Sequenced]]] = {}
        keeps = keeps_heads(self._options)
        for index, item in enumerate(asked):
            # Worked examples are what prompts share; without them only the question's first words are alike.
            head = item.prompt.messages[:-1] if keeps else ()
            groups = kinds.setdefault((bool(item.choices), item.letters), {})
            for each in _sequences(item, index):
                name = "" if each.part % 2 else json.dumps(head, ensure_ascii=False)
                groups.setdefault(name, []).append(each)
        for (compared, letters), groups in kinds.items():
            new = 1 if compared else self._options.max_tokens
            budget = self._options.batch_tokens
            for batch in plan(list(groups.values()), budget, new, heads=keeps, ramp=ramp):
                yield replace(batch, letters=letters)


def _sequences(item: PreparedPrompt, index: int) -> list[Sequenced]:
    """Return the sequences that go through the model for a prompt: it alone, or with every continuation compared."""
    if not item.choices or item.letters:
        return [Sequenced(index, item.tokens, item.seed)]
    found = []
    for number, choice in enumerate(item.choices):
        whole = item.tokens + choice.tokens
        found.append(Sequenced(index, whole, scored=len(choice.tokens), part=2 * number))
        if choice.alone:
            scored = len(choice.alone) - 1
            found.append(Sequenced(index, choice.alone, scored=scored, part=2 * number + 1))
    return found


def _decided(item: PreparedPrompt, sums: Mapping[int, float]) -> Made:
    """The likeliest option, from the log-likelihoods of all sequences by their parts."""
    values = {
        choice.label: (sums[2 * number] - sums.get(2 * number + 1, 0.0)) / choice.length
        for number, choice in enumerate(item.choices)
    }
    return chosen(values, len(item.tokens))


def _devices(options: TransformersModel) -> list[str]:
    import torch

    if options.devices:
        return options.devices
    return [f"cuda:{index}" for index in range(torch.cuda.device_count())] or ["cpu"]
