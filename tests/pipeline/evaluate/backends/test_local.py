"""Prompts of local models and their outputs; no model is loaded."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from build_dataset.pipeline.evaluate.backends.local import backend, base, encoder, loading, vllm
from build_dataset.pipeline.evaluate.params import TransformersModel, VllmModel
from build_dataset.pipeline.evaluate.prompting import Prompt
from build_dataset.pipeline.stage import Failure
from build_dataset.schemas.errors import UserError
from tests.pipeline.evaluate.conftest import make_question

ASKED = make_question(1, "A", options="AB")


class Tokenizer:
    """One token a character; special tokens are 1 in front."""

    chat_template = None
    bos_token_id = None
    eos_token_id = 2

    def __call__(self, texts, *, add_special_tokens):
        return {"input_ids": [[1] * add_special_tokens + [ord(char) for char in text] for text in texts]}

    def apply_chat_template(self, turns, **_):
        return "|".join(f"{turn['role']}:{turn['content']}" for turn in turns)


def local(**options) -> base.LocalBackend:
    """A backend as it is after its model was found."""
    made = object.__new__(backend.TransformersBackend)
    made._options = TransformersModel(model="m", **options)
    made._tokenizer = Tokenizer()
    made.identity = {"model": "m"}
    return made


def prompt(text: str = "Q", question=ASKED, repeat: int = 0) -> Prompt:
    return Prompt(f"p{repeat}", ({"role": "user", "content": text},), question, repeat=repeat)


def prepared(*, asked: Prompt | None = None, **options) -> base.PreparedPrompt:
    (found,) = local(**options)._ready([asked or prompt()])
    return found


def tokens(text: str) -> tuple[int, ...]:
    return tuple(map(ord, text))


def test_a_text_is_written_after_the_whole_prompt():
    found = prepared()
    assert (found.text, found.tokens, found.choices) == ("Q\n", (1, *tokens("Q\n")), ())
    assert (found.letters, found.longest()) == ((), 3)


@pytest.mark.parametrize(
    ("compare", "text", "head", "continued", "lengths"),
    [
        ("letter", "Q", "Q", ("\nA", "\nB"), (1, 1)),
        ("spaced_letter", "Q", "Q", ("\n A", "\n B"), (1, 1)),
        ("option", "Q", "Q", ("\n说法A1", "\n说法B1"), (1, 1)),
        ("option_per_character", "Q", "Q", ("\n说法A1", "\n说法B1"), (4, 4)),
    ],
)
def test_options_are_compared_by_what_continues_the_prompt(compare, text, head, continued, lengths):
    found = prepared(answer_by="likelihood", compare=compare)
    whole = tuple(found.tokens + choice.tokens for choice in found.choices)
    assert whole == tuple((1, *tokens(head + each)) for each in continued)
    assert tuple(choice.length for choice in found.choices) == lengths
    assert [choice.label for choice in found.choices] == ["A", "B"]
    one_token = compare in ("letter", "spaced_letter")
    assert [len(choice.tokens) for choice in found.choices] == ([1, 1] if one_token else [5, 5])
    assert found.letters == ((("A", ord("A")), ("B", ord("B"))) if one_token else ())
    assert found.longest() == len(found.tokens) + len(found.choices[0].tokens) - 1


def test_an_unconditional_likelihood_is_that_of_the_option_behind_the_token_that_begins_or_ends_a_text():
    found = prepared(answer_by="likelihood", compare="option_unconditional")
    assert found.choices[0].alone == (2, *tokens("说法A1"))
    assert [each.scored for each in backend._sequences(found, 7)] == [5, 4, 5, 4]
    assert [each.part for each in backend._sequences(found, 7)] == [0, 1, 2, 3]
    assert {each.index for each in backend._sequences(found, 7)} == {7}
    made = backend._decided(found, {0: -1.0, 1: -3.0, 2: -2.0, 3: -3.5})
    assert (made.text, made.likelihoods, made.prompt_tokens) == ("A", {"A": 2.0, "B": 1.5}, len(found.tokens))


def test_likelihoods_are_divided_by_the_characters_of_an_option():
    item = prepared(answer_by="likelihood", compare="option_per_character")
    item = replace(item, choices=tuple(replace(each, length=at + 1) for at, each in enumerate(item.choices)))
    assert backend._decided(item, {0: -2.0, 2: -3.0}).likelihoods == {"A": -2.0, "B": -1.5}
    assert backend._decided(item, {0: -2.0, 2: -3.0}).text == "B"


def test_of_two_letters_that_are_alike_the_first_is_taken():
    made = base.likeliest_letter({"A": -1.0, "B": -1.0, "C": -2.0}, 9)
    assert made == base.Output("A", "stop", 9, 1, {"A": -1.0, "B": -1.0, "C": -2.0})


def test_a_question_with_several_answers_is_never_compared():
    assert not prepared(asked=prompt(question=make_question(1, "AB")), answer_by="likelihood").choices
    assert backend._sequences(prepared(), 3) == [base.TokenizedPrompt(3, prepared().tokens, prepared().seed)]


def test_an_output_is_stored_under_all_that_can_change_it():
    plain = prepared()
    others = [
        prepared(max_tokens=9),
        prepared(dtype="float16"),
        prepared(asked=prompt("R")),
        prepared(asked=prompt(repeat=1)),
        prepared(answer_by="likelihood"),
        prepared(answer_by="likelihood", compare="option"),
        prepared(temperature=0.5),
        prepared(temperature=0.5, top_p=0.5),
        prepared(temperature=0.5, seed=1),
    ]
    assert len({each.key for each in (plain, *others)}) == 1 + len(others)
    assert prepared(seed=1).key == prepared(top_p=0.5).key == plain.key  # nothing is drawn at a temperature of 0
    assert prepared(answer_by="likelihood", max_tokens=9).key == prepared(answer_by="likelihood").key
    assert plain.seed != prepared(asked=prompt(repeat=1)).seed
    assert plain.seed < 16**15


@pytest.mark.parametrize(
    ("limit", "options", "fits"),
    [(13, {}, True), (12, {}, False), (4, {"answer_by": "likelihood"}, True), (2, {"answer_by": "likelihood"}, False)],
)
def test_a_prompt_that_does_not_fit_with_its_answer_fails_alone(monkeypatch, limit, options, fits):
    monkeypatch.setattr(loading, "context_length", lambda _: limit)
    made = local(max_tokens=10, **options)
    monkeypatch.setattr(type(made), "_make", lambda self, asked: ((item, "made") for item in asked))
    ((_, got),) = made._fitting(made._ready([prompt()]))
    assert (got == "made") is fits
    if not fits:
        assert got == Failure("too_long", f"3 tokens; the model reads {limit - (1 if options else 10)}")
    assert list(made._fitting([])) == []


def test_turns_are_bare_text_or_the_models_template_which_may_know_no_system_turn():
    turns = [{"role": role, "content": role[0]} for role in ("system", "user", "assistant", "user")]
    assert loading.render(turns, Tokenizer(), template=False) == "s\n\nu\na\n\nu\n"
    assert loading.render(turns, Tokenizer(), template=True) == "system:s|user:u|assistant:a|user:u"

    class Refusing(Tokenizer):
        def apply_chat_template(self, turns, **_):
            if turns[0]["role"] == "system":
                raise ValueError("no system turn")
            return super().apply_chat_template(turns)

    assert loading.render(turns, Refusing(), template=True) == "user:s\n\nu|assistant:a|user:u"


@pytest.mark.parametrize(
    ("kinds", "adapter", "keeps"),
    [
        (None, None, True),
        (["full_attention"], None, True),
        (["full_attention", "sliding_attention"], None, False),
        (None, "a", False),
    ],
)
def test_a_common_head_is_kept_where_attention_reaches_all_of_it(monkeypatch, kinds, adapter, keeps):
    monkeypatch.setattr(loading, "_config", lambda _: SimpleNamespace(layer_types=kinds))
    assert loading.keeps_heads(TransformersModel(model="m", adapter=adapter)) is keeps


@pytest.mark.parametrize(
    ("own", "wanted", "length"), [(99, None, 99), (99, 50, 50), (None, 50, 50), (None, None, 1 << 40)]
)
def test_the_context_is_the_smaller_of_the_models_and_the_wanted(monkeypatch, own, wanted, length):
    monkeypatch.setattr(loading, "_config", lambda _: SimpleNamespace(max_position_embeddings=own))
    assert loading.context_length(VllmModel(model="m", max_context=wanted)) == length


def test_the_hash_of_weights_knows_names_sizes_and_three_samples_of_large_files(monkeypatch, tmp_path):
    monkeypatch.setattr(loading, "_SAMPLE", 2)
    (tmp_path / ".hidden").write_text("x")
    seen = set()
    for content in ("abcdefgh", "abcdefgX", "Xbcdefgh", "abcdXfgh", "abcdefghi", "abcdef", "abcXef"):
        (tmp_path / "w").write_text(content)
        seen.add(loading.fingerprint(tmp_path))
    assert len(seen) == 7
    (tmp_path / "w").write_text("abcdefgh")
    first = loading.fingerprint(tmp_path)
    (tmp_path / "w").write_text("abYdefgh")  # between the samples
    (tmp_path / ".hidden").write_text("y")
    assert loading.fingerprint(tmp_path) == first


def test_an_error_is_told_by_its_first_line():
    assert loading.first_line(ValueError(" one\ntwo")) == "one"
    assert loading.first_line(ValueError("")) == "ValueError"
    assert loading.first_line(ValueError("x" * 300)) == "x" * 200


def test_a_folder_that_is_there_needs_no_hub(tmp_path):
    there = str(tmp_path)
    assert loading.missing_model(TransformersModel(model=there)) is None
    assert loading.missing_model(TransformersModel(model=there, adapter=there)) is None
    told = loading.missing_model(TransformersModel(model=there, adapter=f"{there}/none"))
    assert told == f"adapter {there}/none: no such folder"


@pytest.mark.parametrize(("rank", "room"), [(1, 8), (8, 8), (9, 16), (100, 128), (300, 320), (512, 512), (600, 600)])
def test_vllm_makes_room_for_an_adapters_rank(tmp_path, rank, room):
    (tmp_path / "adapter_config.json").write_text(json.dumps({"r": rank}))
    assert vllm._rank(str(tmp_path)) == room


def test_an_adapter_without_a_rank_is_told(tmp_path):
    with pytest.raises(UserError, match="cannot be loaded"):
        vllm._rank(str(tmp_path))


def test_vllms_output_is_a_text_or_the_likeliest_letter():
    written = SimpleNamespace(text="t", finish_reason="length", token_ids=(1, 2), logprobs=None)
    assert vllm._made(prepared(), written) == base.Output("t", "length", 3, 2)
    ended = SimpleNamespace(text="t", finish_reason="stop", token_ids=(1,), logprobs=None)
    assert vllm._made(prepared(), ended) == base.Output("t", "stop", 3, 1)
    likely = {ord("A"): SimpleNamespace(logprob=-2.0), ord("B"): SimpleNamespace(logprob=-1.0)}
    chosen = vllm._made(prepared(answer_by="likelihood"), SimpleNamespace(logprobs=[likely]))
    assert (chosen.text, chosen.likelihoods, chosen.prompt_tokens) == ("B", {"A": -2.0, "B": -1.0}, 3)


@pytest.mark.parametrize(
    ("key", "scores", "letters"),
    [
        ("A", (0.1, 0.3, 0.2, 0.3), "B"),
        ("AB", (0.1, -0.3, -0.2, 0.0), "AD"),
        ("AB", (0.1, 0.3, 0.2, -0.1), "ABC"),
        ("AB", (-0.1, -0.3, -0.2, -0.4), "AC"),
    ],
)
def test_an_encoder_chooses_the_highest_score_or_all_above_one_half_two_at_least(key, scores, letters):
    made = encoder._generation(prompt(question=make_question(1, key)), scores)
    assert (made.text, made.letters) == (letters, tuple(letters))


def test_an_encoder_reads_the_case_before_the_question():
    torch = pytest.importorskip("torch", reason="needs the extra 'local'")
    read = []

    def tokenizer(questions, options, **_):
        read.extend(zip(questions, options, strict=True))
        return {"input_ids": torch.zeros(len(options), 5)}

    rows = [make_question(1, "AC", shared_stem="病例", stem="问"), make_question(2, "A", options="AB")]
    found = encoder.choice_batch(rows, tokenizer=tokenizer, longest=9)
    assert read[:2] == [("病例\n问", "说法A1"), ("病例\n问", "说法B1")]
    assert [option for _, option in read[4:]] == ["说法A2", "说法B2", "", ""]
    assert found["input_ids"].shape == (2, 4, 5)
    assert found["labels"].tolist() == [[True, False, True, False], [True, False, False, False]]
    assert found["shown"].tolist() == [[True] * 4, [True, True, False, False]]
    assert found["several"].tolist() == [True, False]


@pytest.mark.parametrize(("shared", "kept"), [(base.SHORTEST_HEAD - 1, 0), (base.SHORTEST_HEAD, 64), (70, 70)])
def test_a_head_of_64_tokens_pays(shared, kept):
    assert len(base.common_head([(*[7] * shared, 1), (*[7] * shared, 2)])) == kept


def test_batches_grow_to_the_budget_and_by_the_ramp():
    group = [base.TokenizedPrompt(at, (1, 2, 3)) for at in range(9)]
    sizes = [len(batch.tails) for batch in base.plan_batches([group], 20, 2)]
    assert sizes == [4, 4, 1]
    assert [len(batch.tails) for batch in base.plan_batches([group], 19, 2)] == [3, 3, 3]
    assert [len(batch.tails) for batch in base.plan_batches([group], 1000, 2, ramp=1)] == [1, 2, 4, 2]
