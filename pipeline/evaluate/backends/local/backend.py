"""The ``transformers`` backend: batches by length and token budget, on every GPU or the CPU."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence

from pipeline.evaluate.backends.local.base import Asked, Letters, LocalBackend, Made
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
        jobs = deque(self._jobs(asked))
        for job, made in run_jobs(self._options, _devices(self._options), jobs, self._tokenizer):
            tails = job.batch.tails
            if made != "out of memory":
                yield from ((asked[tail.index], one) for tail, one in zip(tails, made, strict=True))
            elif len(tails) > 1:
                jobs.extendleft(Job(half, job.repeat, job.letters) for half in reversed(job.batch.halves()))
            else:
                item = asked[tails[0].index]
                detail = f"a prompt of {len(item.tokens)} tokens does not fit in memory"
                yield item, Failure("out_of_memory", detail)

    def _jobs(self, asked: Sequence[Asked]) -> Iterator[Job]:
        kinds: dict[tuple[int, Letters], dict[str, list[Sequenced]]] = {}
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


def _devices(options: TransformersModel) -> list[str]:
    import torch

    if options.devices:
        return options.devices
    return [f"cuda:{index}" for index in range(torch.cuda.device_count())] or ["cpu"]
