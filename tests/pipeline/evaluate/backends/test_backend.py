"""Batches of local models on devices that are not there; no model is loaded."""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from build_dataset.pipeline.evaluate.backends.local import backend, loading
from build_dataset.pipeline.evaluate.backends.local.backend import Engine, PreparedPrompt, TransformersBackend, run_jobs
from build_dataset.pipeline.evaluate.backends.local.batches import Output, PromptBatch, TokenizedPrompt
from build_dataset.pipeline.evaluate.params import TransformersModel
from build_dataset.pipeline.evaluate.prompting import Prompt
from build_dataset.pipeline.stage import Failure
from tests.pipeline.evaluate.backends.test_local import local
from tests.pipeline.evaluate.conftest import make_question


def prompt(number: int, *said: str) -> Prompt:
    turns = tuple({"role": "user", "content": text} for text in said or ("Q",))
    return Prompt(f"p{number}", turns, make_question(number, "A", options="AB"))


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[list[str], list[PromptBatch], list[Any]]]:
    """Run a backend whose batches are answered by a function; devices, batches and what it yields."""

    def run(
        made: TransformersBackend,
        asked: Sequence[PreparedPrompt],
        answer: Callable[[PromptBatch], Any],
        gpus: int = 0,
        heads: bool = False,
    ) -> tuple[list[str], list[PromptBatch], list[Any]]:
        told: list[str] = []
        batches: list[PromptBatch] = []

        def jobs_done(
            options: Any, devices: list[str], jobs: deque[PromptBatch], tokenizer: Any
        ) -> Iterator[tuple[PromptBatch, Any]]:
            told.extend(devices)
            while jobs:
                batches.append(jobs.popleft())
                yield batches[-1], answer(batches[-1])

        cuda = SimpleNamespace(device_count=lambda: gpus)
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
        monkeypatch.setattr(backend, "run_jobs", jobs_done)
        monkeypatch.setattr(loading, "keeps_heads", lambda options: heads)
        return told, batches, list(made._make(asked))

    return run


def written(batch: PromptBatch) -> list[Output]:
    return [Output(f"t{tail.index}", "stop", 1, 1) for tail in batch.tails]


@pytest.mark.parametrize(
    ("options", "gpus", "devices", "sizes"),
    [
        ({}, 0, ["cpu"], [8]),
        ({"devices": ["cpu"]}, 2, ["cpu"], [8]),
        ({}, 2, ["cuda:0", "cuda:1"], [8]),
        ({"devices": ["cuda:1"]}, 2, ["cuda:1"], [8]),
        ({"devices": ["cpu", "cpu"]}, 0, ["cpu", "cpu"], [8]),
    ],
)
def test_every_gpu_works_or_else_the_cpu(
    make: Any, options: dict[str, Any], gpus: int, devices: list[str], sizes: list[int]
) -> None:
    made = local(**options)
    asked = made._ready([prompt(number) for number in range(8)])
    told, batches, found = make(made, asked, written, gpus)
    assert (told, [len(batch.tails) for batch in batches]) == (devices, sizes)
    assert [(item.prompt.id, one.text) for item, one in found] == [(f"p{n}", f"t{n}") for n in range(8)]


@pytest.mark.parametrize(
    ("options", "budget", "sizes"),
    [
        ({"max_tokens": 10}, 26, [2, 2]),
        ({"max_tokens": 10}, 25, [1, 1, 1, 1]),
        ({"max_tokens": 10, "answer_by": "likelihood"}, 8, [2, 2]),
        ({"max_tokens": 10, "answer_by": "likelihood"}, 7, [1, 1, 1, 1]),
    ],
)
def test_a_batch_has_room_for_what_is_written_and_for_one_token_where_letters_are_compared(
    make: Any, options: dict[str, Any], budget: int, sizes: list[int]
) -> None:
    made = local(**options, batch_tokens=budget)
    asked = made._ready([prompt(number) for number in range(4)])
    assert {len(item.tokens) for item in asked} == {3}
    _, batches, _ = make(made, asked, written, 1)
    assert [len(batch.tails) for batch in batches] == sizes


def test_a_batch_that_is_too_large_is_halved_in_order_and_a_single_prompt_waits(make: Any) -> None:
    made = local(batch_tokens=100_000)
    asked = made._ready([prompt(number) for number in range(5)])
    _, batches, found = make(made, asked, lambda batch: "out of memory" if len(batch.tails) > 2 else written(batch), 1)
    assert [[tail.index for tail in batch.tails] for batch in batches] == [
        [0, 1, 2, 3, 4],
        [0, 1],
        [2, 3, 4],
        [2],
        [3, 4],
    ]
    assert [item.prompt.id for item, _ in found] == ["p0", "p1", "p2", "p3", "p4"]
    _, batches, found = make(made, asked[:2], lambda batch: "out of memory", 1)
    assert [len(batch.tails) for batch in batches] == [2, 1, 1]
    told = Failure("out_of_memory", "a prompt of 3 tokens does not fit in memory")
    assert [(item.prompt.id, failed) for item, failed in found] == [("p0", told), ("p1", told)]


def test_questions_with_letters_and_without_are_in_batches_of_their_own(make: Any) -> None:
    made = local(answer_by="likelihood", batch_tokens=100_000)
    several = Prompt("p9", ({"role": "user", "content": "Q"},), make_question(9, "AB"))
    asked = made._ready([prompt(0), several, prompt(1)])
    _, batches, _ = make(made, asked, written, 1)
    letters = (("A", ord("A")), ("B", ord("B")))
    assert [([tail.index for tail in batch.tails], batch.letters) for batch in batches] == [
        ([0, 2], letters),
        ([1], ()),
    ]


def batches_of(count: int) -> deque[PromptBatch]:
    return deque(PromptBatch((), (TokenizedPrompt(at, (1,)),)) for at in range(count))


def test_a_single_device_works_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[Any, ...]] = []

    def engine(*given: Any) -> Any:
        made.append(given)
        return SimpleNamespace(answers=lambda batch: [float(batch.tails[0].index)])

    monkeypatch.setattr(backend, "Engine", engine)
    options = TransformersModel(model="m")
    found = list(run_jobs(options, ["cuda:3"], batches_of(3), "tokenizer"))
    assert [answers for _, answers in found] == [[0.0], [1.0], [2.0]]
    assert made == [(options, "cuda:3", "tokenizer")]


@pytest.mark.parametrize(
    ("ends", "own", "new", "found"),
    [
        (9, 9, [7, 9, 8], ("7", "stop", 1)),
        (9, 9, [7, 8, 8], ("7,8,8", "length", 3)),
        (9, 8, [7, 8, 9], ("7", "stop", 1)),
        ([8, 9], 6, [7, 7, 8], ("7,7", "stop", 2)),
        ([8, 9], 6, [6, 7], ("", "stop", 0)),
        (None, None, [7, 0], ("7,0", "length", 2)),
    ],
)
def test_a_text_ends_where_the_model_or_its_tokenizer_ends_it(
    ends: Any, own: int | None, new: list[int], found: tuple[str, str, int]
) -> None:
    engine = object.__new__(Engine)
    engine._model = SimpleNamespace(generation_config=SimpleNamespace(eos_token_id=ends))

    def decode(tokens: Sequence[int], *, skip_special_tokens: bool) -> str:
        assert skip_special_tokens
        return ",".join(map(str, tokens))

    engine.tokenizer = SimpleNamespace(eos_token_id=own, decode=decode)
    batch = PromptBatch((1, 1), (TokenizedPrompt(0, (1, 1, 1)),))
    text, finish, count = found
    assert engine._made(batch, batch.tails[0], new) == Output(text, finish, 5, count)
