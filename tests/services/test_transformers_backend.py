"""The transformers backend on the CPU: batches, common heads and interruptions change nothing that is generated."""

import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'local'")
pytest.importorskip("transformers.models.qwen2.modeling_qwen2", reason="needs the extra 'local'")

from build_dataset.pipeline.evaluate.backends import Setting  # noqa: E402
from build_dataset.pipeline.evaluate.backends.local import backend as engines  # noqa: E402
from build_dataset.pipeline.evaluate.backends.local.backend import TransformersBackend  # noqa: E402
from build_dataset.pipeline.evaluate.params import EvaluateParams, TransformersModel  # noqa: E402
from build_dataset.pipeline.evaluate.prompting import Prompt, load_template, messages  # noqa: E402
from build_dataset.pipeline.evaluate.stage import run  # noqa: E402
from build_dataset.schemas.errors import UserError  # noqa: E402
from tests.pipeline.evaluate.conftest import make_question, splits  # noqa: E402, F401
from tests.services.tiny_model import make_tiny_model  # noqa: E402

QUESTIONS = [make_question(number, stem="下列哪项正确" * (1 + number % 4)) for number in range(12)]
EXAMPLES = [make_question(number, "B") for number in range(100, 103)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_tiny_model(tmp_path_factory.mktemp("model"))


def prompts(shots: int = 0, questions=QUESTIONS) -> list[Prompt]:
    template = load_template("answer_only")
    return [Prompt(row.question_id, messages(template, row, EXAMPLES[:shots]), row) for row in questions]


def generate(context, asked, **options):
    options = TransformersModel.model_validate({"max_tokens": 12, "devices": ["cpu"], **options})
    backend = TransformersBackend(options, Setting(context, []))
    return {made.prompt_id: made for made in backend.generate(asked, lambda count: None)}


def likelihoods(context):
    return {key: value["likelihoods"] for key, value in context.store.items.items() if value["likelihoods"]}


def texts(made):
    return {name: (one.text, one.finish) for name, one in sorted(made.items())}


@pytest.mark.parametrize("shots", [0, 3])
@pytest.mark.parametrize("answer_by", ["text", "likelihood"])
def test_a_batch_gives_what_each_prompt_gives_alone(context, model, shots, answer_by):
    asked = {"model": str(model), "answer_by": answer_by}
    together = generate(context, prompts(shots), batch_tokens=100_000, **asked)
    compared = likelihoods(context)
    context.store.items.clear()
    alone = generate(context, prompts(shots), batch_tokens=1, **asked)
    assert texts(together) == texts(alone)
    for key, values in likelihoods(context).items():
        assert values == pytest.approx(compared[key], abs=1e-4)
    if answer_by == "text":
        assert len(set(texts(together).values())) > 1
    else:
        assert len({tuple(values.values()) for values in compared.values()}) > 1
    assert all(one.prompt_tokens == together[name].prompt_tokens for name, one in alone.items())


def test_generation_equals_transformers_own_on_one_prompt(context, model):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    (asked,) = prompts(3)[:1]
    made = generate(context, prompts(3), model=str(model))[asked.id]
    tokenizer = AutoTokenizer.from_pretrained(model)
    inputs = tokenizer.apply_chat_template(
        list(asked.messages), add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    reference = AutoModelForCausalLM.from_pretrained(model).generate(**inputs, max_new_tokens=12, do_sample=False)
    new = reference[0, inputs["input_ids"].shape[1] :]
    assert made.text == tokenizer.decode(new, skip_special_tokens=True)


def test_the_likeliest_letter_is_that_of_the_next_token(context, model):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    asked = prompts(3)
    made = generate(context, asked, model=str(model), answer_by="likelihood")
    tokenizer, causal = AutoTokenizer.from_pretrained(model), AutoModelForCausalLM.from_pretrained(model)
    for prompt in asked:
        inputs = tokenizer.apply_chat_template(
            list(prompt.messages), add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        logits = causal(**inputs).logits[0, -1]
        best = max("ABCD", key=lambda letter: logits[tokenizer.convert_tokens_to_ids(letter)].item())
        assert made[prompt.id].letters == (best,)


def test_questions_with_several_answers_are_written_even_by_likelihood(context, model):
    several = [make_question(50, "AB")]
    made = generate(context, prompts(0, several), model=str(model), answer_by="likelihood")
    (one,) = made.values()
    assert one.letters is None
    assert one.completion_tokens > 1 or one.finish == "stop"


def test_outputs_are_kept_and_made_once(context, model, monkeypatch):
    first = generate(context, prompts(), model=str(model))
    monkeypatch.setattr(engines, "Engine", None)
    again = generate(context, prompts(), model=str(model))
    assert texts(first) == texts(again)


def test_a_batch_that_does_not_fit_is_halved_until_it_does(context, model, monkeypatch):
    whole = generate(context, prompts(), model=str(model))
    context.store.items.clear()
    sizes = []
    original = engines.Engine.generate

    def small(self, batch):
        sizes.append(len(batch.tails))
        if len(batch.tails) > 3:
            raise MemoryError
        return original(self, batch)

    monkeypatch.setattr(engines.Engine, "generate", small)
    assert texts(generate(context, prompts(), model=str(model))) == texts(whole)
    assert max(sizes) > 3


def test_a_prompt_that_never_fits_waits_with_the_reason(context, model, monkeypatch):
    def full(self, batch):
        raise MemoryError

    monkeypatch.setattr(engines.Engine, "generate", full)
    made = generate(context, prompts(), model=str(model))
    assert {one.failure.reason for one in made.values()} == {"out_of_memory"}


@pytest.mark.parametrize(
    "said",
    [
        torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_a_device_that_is_full_is_recognised(context, model, monkeypatch, said):
    def full(self, batch):
        raise said

    monkeypatch.setattr(engines.Engine, "generate", full)
    made = generate(context, prompts(), model=str(model))
    assert {one.failure.reason for one in made.values()} == {"out_of_memory"}


def test_another_error_of_the_device_ends_the_run(context, model, monkeypatch):
    def broken(self, batch):
        raise RuntimeError("other")

    monkeypatch.setattr(engines.Engine, "generate", broken)
    with pytest.raises(RuntimeError, match="other"):
        generate(context, prompts(), model=str(model))


def test_a_prompt_longer_than_the_model_reads_is_told(context, model):
    made = generate(context, prompts(0, [make_question(1, stem="题" * 3000)]), model=str(model))
    (one,) = made.values()
    assert one.failure.reason == "too_long"


def test_two_devices_share_the_questions(context, model):
    alone = generate(context, prompts(), model=str(model))
    context.store.items.clear()
    shared = generate(context, prompts(), model=str(model), devices=["cpu", "cpu"], batch_tokens=200)
    assert texts(shared) == texts(alone)


def test_repetitions_differ_at_a_temperature_and_are_the_same_again(context, model):
    asked = [Prompt(f"x#{repeat}", prompts()[0].messages, QUESTIONS[0], repeat=repeat) for repeat in range(3)]
    first = texts(generate(context, asked, model=str(model), temperature=1.5))
    context.store.items.clear()
    assert texts(generate(context, asked, model=str(model), temperature=1.5)) == first
    assert len(set(first.values())) > 1


def test_a_tokenizer_without_a_pad_token_pads_with_the_end(context, tmp_path):
    model = make_tiny_model(tmp_path / "m", pad=False, template=False)
    made = generate(context, prompts(), model=str(model), batch_tokens=100_000)
    assert len(made) == len(QUESTIONS)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": "no/such-folder-anywhere"}, "no such folder here"),
        ({"adapter": "no-such-adapter"}, "adapter no-such-adapter"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_one_line(context, tmp_path, options, said, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    model = make_tiny_model(tmp_path / "m", template=False)
    with pytest.raises(UserError, match=said) as caught:
        generate(context, prompts(), **{"model": str(model), **options})
    assert "\n" not in str(caught.value)


def test_other_weights_are_another_model(context, model, tmp_path):
    generate(context, prompts()[:1], model=str(model))
    other = make_tiny_model(tmp_path / "m", seed=6)
    generate(context, prompts()[:1], model=str(other))
    assert len(context.store.items) == 2


def test_a_whole_evaluation_runs_on_the_cpu(context, model, splits):  # noqa: F811
    params = EvaluateParams(
        models=[
            TransformersModel(model=str(model), max_tokens=8, name="written"),
            TransformersModel(model=str(model), answer_by="likelihood", shots=2, name="chosen"),
        ]
    )
    result = run(splits(QUESTIONS, EXAMPLES), params, context)
    assert result.counts.balanced()
    assert result.complete
    assert set(result.tables["scores"]["run"]) >= {"written", "chosen"}
    chosen = [row for row in result.tables["predictions"].to_dicts() if row["run"] == "chosen"]
    assert all(row["outcome"] == "answered" for row in chosen)
    assert all([each["label"] for each in row["likelihoods"]] == list("ABCD") for row in chosen)
    told = result.facts["models"]["chosen"]
    assert {each.split()[0] for each in told["made_with"]} == {"peft", "torch", "transformers"}
    assert len(told["identity"]["model"]) == 64


@pytest.mark.parametrize("shots", [0, 3])
def test_every_likelihood_is_the_same_in_a_batch_and_alone(context, model, shots):
    asked = {"model": str(model), "answer_by": "likelihood"}
    generate(context, prompts(shots), batch_tokens=100_000, **asked)
    together = likelihoods(context)
    context.store.items.clear()
    generate(context, prompts(shots), batch_tokens=1, **asked)
    for key, values in likelihoods(context).items():
        assert values == pytest.approx(together[key], abs=1e-3)
    assert len({max(values, key=values.get) for values in together.values()}) > 1


def test_what_is_sampled_hangs_on_the_prompt_alone(context, model):
    """Not on the batch, nor on what was asked and stored before."""
    options = {"model": str(model), "temperature": 1.2, "top_p": 0.9}
    together = texts(generate(context, prompts(), batch_tokens=100_000, **options))
    context.store.items.clear()
    generate(context, prompts()[5:7], **options)
    assert texts(generate(context, prompts(), batch_tokens=300, **options)) == together
    greedy = texts(generate(context, prompts(), model=str(model)))
    assert greedy != together


def test_sampling_draws_by_the_models_probabilities():
    scores = torch.tensor([[1.0, 2.0, 0.0, -1.0]]).repeat(4000, 1)
    options = TransformersModel(model="m", temperature=0.7, top_p=0.9, max_tokens=1)
    drawn = engines.Sampler(list(range(4000)), options, "cpu")(None, scores).argmax(-1)
    shares = (scores[0] / 0.7).softmax(-1)
    nucleus = shares[:2] / shares[:2].sum()  # .77 and .18 reach .9 together
    assert set(drawn.tolist()) <= {0, 1}
    assert (drawn == 1).float().mean().item() == pytest.approx(nucleus[1].item(), abs=0.03)
