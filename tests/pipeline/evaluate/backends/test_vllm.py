"""Prompts are given to vLLM and its outputs taken back; vLLM itself is stood in for."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from build_dataset.pipeline.evaluate.backends.local import vllm
from build_dataset.pipeline.evaluate.backends.local.base import Choice, Output, PreparedPrompt
from build_dataset.pipeline.evaluate.backends.local.vllm import VllmBackend
from build_dataset.pipeline.evaluate.params import VllmModel
from build_dataset.pipeline.evaluate.prompting import Prompt
from build_dataset.schemas.errors import UserError


def backend(**options: Any) -> VllmBackend:
    made = object.__new__(VllmBackend)
    made._options = VllmModel(model="m", **options)
    return made


def item(*tokens: int, letters: str = "", seed: int = 0) -> PreparedPrompt:
    choices = tuple(Choice(letter, (ord(letter),)) for letter in letters)
    return PreparedPrompt(Prompt(f"p{tokens}", (), None), tokens, choices, "key", "text", seed)


class Engine:
    """Finishes the request that waits longest, after a step that finishes none."""

    def __init__(self) -> None:
        self.requests: list[tuple[Any, ...]] = []
        self.waiting: list[str] = []
        self.steps = 0
        self.down = 0
        self.engine_core = SimpleNamespace(shutdown=self.shutdown)

    def shutdown(self) -> None:
        self.down += 1

    def add_request(self, number: str, prompt: Any, sampling: Any, lora_request: Any) -> None:
        self.requests.append((number, prompt, sampling, lora_request))
        self.waiting.append(number)

    def has_unfinished_requests(self) -> bool:
        return bool(self.waiting)

    def step(self) -> list[Any]:
        self.steps += 1
        made = SimpleNamespace(text="t", finish_reason="stop", token_ids=(1, 2), logprobs=None)
        if self.steps % 2:
            return [SimpleNamespace(finished=False, request_id=self.waiting[0], outputs=[made])]
        return [SimpleNamespace(finished=True, request_id=self.waiting.pop(0), outputs=[made])]


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Modules of vLLM; ``made`` are the settings of its model."""
    told: dict[str, Any] = {"engine": Engine()}

    def model(**settings: Any) -> Any:
        told["made"] = settings
        return SimpleNamespace(llm_engine=told["engine"])

    kinds = SimpleNamespace(FINAL_ONLY="final")
    params = SimpleNamespace(RequestOutputKind=kinds)
    request = SimpleNamespace(LoRARequest=lambda *about: about)
    whole = SimpleNamespace(SamplingParams=lambda **settings: settings, LLM=model)
    modules = {"vllm": whole, "vllm.sampling_params": params, "vllm.lora": request, "vllm.lora.request": request}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return told


def test_letters_are_compared_by_one_token_among_themselves(library: dict[str, Any]) -> None:
    assert backend(max_tokens=9, temperature=0.5)._sampling(item(1, letters="ABC")) == {
        "temperature": 0.0,
        "max_tokens": 1,
        "logprobs": 3,
        "allowed_token_ids": [65, 66, 67],
        "output_kind": "final",
    }


def test_a_seed_is_given_where_something_is_drawn_and_fits_every_sampler(library: dict[str, Any]) -> None:
    plain = {"temperature": 0.0, "max_tokens": 9, "output_kind": "final"}
    assert backend(max_tokens=9)._sampling(item(1, seed=5)) == plain
    drawn = backend(max_tokens=9, temperature=0.5, top_p=0.25)
    told = [drawn._sampling(item(1, seed=seed)) for seed in (2**31 - 1, 2**31, 2**33 + 7)]
    assert [one["seed"] for one in told] == [2**31 - 1, 0, 7]
    assert (told[0]["temperature"], told[0]["top_p"], told[0]["max_tokens"]) == (0.5, 0.25, 9)


def test_prompts_that_begin_alike_are_asked_side_by_side(library: dict[str, Any]) -> None:
    made, engine = backend(), library["engine"]
    found = list(made._make([item(3, 1), item(1, 2), item(3, 0), item(1)]))
    asked = [request[1]["prompt_token_ids"] for request in engine.requests]
    assert asked == [[1], [1, 2], [3, 0], [3, 1]]
    assert [(one.tokens, output) for one, output in found] == [
        (tuple(tokens), Output("t", "stop", len(tokens), 2)) for tokens in asked
    ]
    assert {request[3] for request in engine.requests} == {None}
    assert (engine.steps, engine.down) == (8, 1)


def test_the_engine_is_told_the_options(library: dict[str, Any], tmp_path: Any) -> None:
    (tmp_path / "adapter_config.json").write_text('{"r": 9}', encoding="utf-8")
    list(backend(adapter=str(tmp_path), max_context=99, tensor_parallel=2, seed=4)._make([item(1)]))
    assert library["made"] == {
        "model": "m",
        "revision": None,
        "dtype": "auto",
        "tensor_parallel_size": 2,
        "gpu_memory_utilization": 0.9,
        "max_model_len": 99,
        "enable_prefix_caching": True,
        "seed": 4,
        "logprobs_mode": "processed_logprobs",
        "enable_lora": True,
        "max_lora_rank": 16,
    }
    assert library["engine"].requests[0][3] == ("adapter", 1, str(tmp_path))
    list(backend()._make([item(1)]))
    assert "enable_lora" not in library["made"]


@pytest.mark.parametrize(
    ("ranks", "rooms"),
    [
        ((8, 9), (8, 16)),
        ((16, 17), (16, 32)),
        ((32, 33), (32, 64)),
        ((64, 65), (64, 128)),
        ((128, 129), (128, 256)),
        ((256, 257), (256, 320)),
        ((320, 321), (320, 512)),
        ((512, 513), (512, 513)),
    ],
)
def test_a_rank_is_rounded_up_to_one_that_vllm_has(
    tmp_path: Any, ranks: tuple[int, ...], rooms: tuple[int, ...]
) -> None:
    found = []
    for rank in ranks:
        (tmp_path / "adapter_config.json").write_text(f'{{"r": {rank}}}', encoding="utf-8")
        found.append(vllm._rank(str(tmp_path)))
    assert tuple(found) == rooms


def test_an_error_of_vllm_is_one_line_and_its_processes_end(library: dict[str, Any]) -> None:
    engine = library["engine"]
    engine.step = lambda: 1 / 0
    with pytest.raises(UserError, match=r"^m: vLLM cannot go on: division by zero$"):
        list(backend()._make([item(1)]))
    assert engine.down == 1
    with pytest.raises(UserError, match=r"^own$"), vllm._told("m"):
        raise UserError("own")
