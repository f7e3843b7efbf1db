"""The ``transformers`` backend: batches by length and token budget, on every GPU or the CPU."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from pipeline.evaluate.backends.local.base import Asked, Letters, LocalBackend, Made, chosen
from pipeline.evaluate.backends.local.batching import Sequenced, plan
from pipeline.evaluate.backends.local.loading import keeps_heads
from pipeline.evaluate.backends.local.workers import Job, run_jobs
from pipeline.evaluate.params import TransformersModel
from pipeline.stage import Failure


class TransformersBackend(LocalBackend):
    """See ``LocalBackend``."""

    _options: TransformersModel

    def _make(self, asked: Sequence[Asked]) -> Iterator[tuple[Asked, Made | Failure]]:
        """Batch by batch; one that is too large for the device is halved until it fits."""
        devices = _devices(self._options)
        jobs = deque(self._jobs(asked, ramp=1 if devices == ["cpu"] else 1 << 30))
        sums: dict[int, dict[int, float]] = {}
        full: set[int] = set()
        for job, made in run_jobs(self._options, devices, jobs, self._tokenizer):
            tails = job.batch.tails
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
                jobs.extendleft(Job(half, job.letters) for half in reversed(job.batch.halves()))
            elif tails[0].index not in full:
                full.add(tails[0].index)  # told once, however many of its options do not fit
                item = asked[tails[0].index]
                detail = f"a prompt of {len(item.tokens)} tokens does not fit in memory"
                yield item, Failure("out_of_memory", detail)

    def _jobs(self, asked: Sequence[Asked], ramp: int) -> Iterator[Job]:
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
                yield Job(batch, letters)


def _sequences(item: Asked, index: int) -> list[Sequenced]:
    """What goes through the model for a prompt: it alone, or with every continuation that is compared."""
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


def _decided(item: Asked, sums: Mapping[int, float]) -> Made:
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
