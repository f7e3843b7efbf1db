"""Tensors that an ``Engine`` gives a model, and what a ``Sampler`` draws; the model is a table of scores."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'local'")

from build_dataset.pipeline.evaluate.backends.local.backend import Engine, Sampler  # noqa: E402
from build_dataset.pipeline.evaluate.backends.local.batches import Output, PromptBatch, TokenizedPrompt  # noqa: E402
from build_dataset.pipeline.evaluate.params import TransformersModel  # noqa: E402

HEAD = (5, 6)
BOTH = (TokenizedPrompt(0, (1, 2, 3)), TokenizedPrompt(1, (4,)))


class Table:
    """A model that gives scores made beforehand, and remembers how it was asked."""

    config = None
    generation_config = SimpleNamespace(eos_token_id=9)

    def __init__(self, scores: Any = None, written: Any = None) -> None:
        self.scores, self.written = scores, written
        self.asked: dict[str, Any] = {}

    def __call__(self, **asked: Any) -> Any:
        self.asked = asked
        return SimpleNamespace(logits=self.scores)

    def generate(self, **asked: Any) -> Any:
        self.asked = asked
        return torch.cat([asked["input_ids"], torch.tensor(self.written)], dim=1)


def engine(model: Table, **options: Any) -> Engine:
    made = object.__new__(Engine)
    made._options = TransformersModel(model="m", **options)
    made._device = "cpu"
    made._model = model
    made._heads = None
    made._torch = torch
    made._cache = lambda batch: "cache"  # type: ignore[method-assign]
    decode = lambda tokens, **_: ",".join(map(str, tokens))  # noqa: E731
    made.tokenizer = SimpleNamespace(pad_token_id=0, eos_token_id=9, decode=decode)
    return made


def test_padding_stands_between_the_head_and_the_tails() -> None:
    made = engine(Table())
    whole = made._inputs(PromptBatch(HEAD, BOTH), whole=True)
    assert set(whole) == {"attention_mask", "input_ids", "past_key_values"}
    assert whole["attention_mask"].tolist() == [[1, 1, 1, 1, 1], [1, 1, 0, 0, 1]]
    assert whole["input_ids"].tolist() == [[5, 6, 1, 2, 3], [5, 6, 0, 0, 4]]
    new = made._inputs(PromptBatch(HEAD, BOTH), whole=False)
    assert new["attention_mask"].tolist() == whole["attention_mask"].tolist()
    assert new["input_ids"].tolist() == [[1, 2, 3], [0, 0, 4]]
    assert new["position_ids"].tolist() == [[2, 3, 4], [1, 1, 2]]
    alone = made._inputs(PromptBatch((), BOTH), whole=False)
    assert set(alone) == {"attention_mask", "input_ids", "position_ids"}
    assert alone["attention_mask"].tolist() == [[1, 1, 1], [0, 0, 1]]
    assert alone["position_ids"].tolist() == [[0, 1, 2], [0, 0, 0]]


@pytest.mark.parametrize("head", [HEAD, ()])
def test_letters_are_compared_by_the_scores_behind_the_last_token(head: tuple[int, ...]) -> None:
    behind = torch.log(torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]]))
    model = Table(torch.stack([behind.flip(-1), behind], dim=1))
    found = engine(model).choose(PromptBatch(head, BOTH, letters=(("A", 3), ("B", 1))))
    assert [(one.text, one.prompt_tokens, one.completion_tokens) for one in found] == [
        ("A", len(head) + 3, 1),
        ("B", len(head) + 1, 1),
    ]
    told = [one.likelihoods or {} for one in found]
    assert told[0] == pytest.approx({"A": math.log(0.4), "B": math.log(0.2)})
    assert told[1] == pytest.approx({"A": math.log(0.1), "B": math.log(0.3)})
    assert (model.asked["logits_to_keep"], model.asked["use_cache"]) == (1, bool(head))


def test_texts_are_written_greedily_or_drawn_at_a_temperature() -> None:
    model = Table(written=[[7, 9, 8], [7, 8, 8]])
    batch = PromptBatch(HEAD, BOTH)
    assert engine(model, max_tokens=3).generate(batch) == [Output("7", "stop", 5, 1), Output("7,8,8", "length", 3, 3)]
    plain = {name: model.asked[name] for name in ("do_sample", "temperature", "top_p", "top_k")}
    assert plain == {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    assert (model.asked["max_new_tokens"], model.asked["pad_token_id"]) == (3, 0)
    assert "logits_processor" not in model.asked
    engine(model, max_tokens=3, temperature=0.1).generate(batch)
    (sampler,) = model.asked["logits_processor"]
    assert isinstance(sampler, Sampler)


@pytest.mark.parametrize(
    ("batch", "way"),
    [
        (PromptBatch((), BOTH, letters=(("A", 1),)), "choose"),
        (PromptBatch((), (TokenizedPrompt(0, (1,)),)), "generate"),
    ],
)
def test_a_batch_is_answered_by_letters_or_in_writing(batch: PromptBatch, way: str) -> None:
    made = engine(Table())
    for name in ("choose", "generate"):
        setattr(made, name, lambda batch, name=name: name)
    assert made.answers(batch) == way


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("cannot allocate memory"), torch.cuda.OutOfMemoryError("full")]
)
def test_a_full_device_is_an_answer(error: Exception) -> None:
    made = engine(Table())

    def full(batch: PromptBatch) -> Any:
        raise error

    made.generate = full  # type: ignore[method-assign]
    assert made.answers(PromptBatch((), (TokenizedPrompt(0, (1,)),))) == "out of memory"


def sampler(seeds: list[int], **options: Any) -> Sampler:
    return Sampler(seeds, TransformersModel(model="m", **options), "cpu")


def test_every_step_draws_by_the_next_number_of_its_seed() -> None:
    seeds = [3, 4, 5]
    made = sampler(seeds, temperature=1.0, max_tokens=4)
    scores = torch.log(torch.tensor([[0.5, 0.3, 0.2]])).repeat(3, 1)
    numbers = np.stack([np.random.default_rng(seed).random(4, dtype=np.float32) for seed in seeds])
    for step in range(4):
        drawn = made(None, scores)
        wanted = [int(number > 0.5) + int(number > 0.8) for number in numbers[:, step]]
        assert drawn.argmax(-1).tolist() == wanted
        assert sorted(drawn[0].tolist()) == [-math.inf, -math.inf, 0.0]


@pytest.mark.parametrize(
    ("number", "top_p", "token"),
    [(0.499, 1.0, 0), (0.5, 1.0, 1), (1.0, 1.0, 1), (0.999, 0.5, 0), (1.0, 0.5, 0), (0.999, 0.501, 1)],
)
def test_the_nucleus_ends_with_the_token_that_reaches_top_p(number: float, top_p: float, token: int) -> None:
    made = sampler([1], temperature=1.0, top_p=top_p, max_tokens=1)
    made._draws = torch.tensor([[number]])
    drawn = made(None, torch.tensor([[2.0, 2.0, -math.inf]]))
    assert drawn.tolist() == [[0.0 if at == token else -math.inf for at in range(3)]]


@pytest.mark.parametrize(("temperature", "token"), [(0.5, 0), (2.0, 1)])
def test_a_temperature_divides_the_scores(temperature: float, token: int) -> None:
    made = sampler([1], temperature=temperature, max_tokens=1)
    made._draws = torch.tensor([[0.8]])
    assert made(None, torch.tensor([[1.0, 0.0]])).argmax(-1).tolist() == [token]
