"""Prompts of local models and their outputs; no model is loaded."""

from types import SimpleNamespace

import pytest

from build_dataset.pipeline.evaluate.backends.local import loading
from build_dataset.pipeline.evaluate.backends.local.backend import PreparedPrompt, TransformersBackend
from build_dataset.pipeline.evaluate.backends.local.batches import Output, likeliest_letter
from build_dataset.pipeline.evaluate.params import TransformersModel
from build_dataset.pipeline.evaluate.prompting import Prompt
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


def local(**options) -> TransformersBackend:
    """A backend as it is after its model was found."""
    made = object.__new__(TransformersBackend)
    made._options = TransformersModel(model="m", **options)
    made._tokenizer = Tokenizer()
    made.identity = {"model": "m"}
    return made


def prompt(text: str = "Q", question=ASKED, repeat: int = 0) -> Prompt:
    return Prompt(f"p{repeat}", ({"role": "user", "content": text},), question, repeat=repeat)


def prepared(*, asked: Prompt | None = None, **options) -> PreparedPrompt:
    (found,) = local(**options)._ready([asked or prompt()])
    return found


def tokens(text: str) -> tuple[int, ...]:
    return tuple(map(ord, text))


def test_a_text_is_written_after_the_whole_prompt():
    found = prepared()
    assert (found.text, found.tokens, found.letters) == ("Q\n", (1, *tokens("Q\n")), ())


def test_letters_are_compared_by_what_continues_the_prompt():
    found = prepared(answer_by="likelihood")
    assert tuple(found.tokens) == (1, *tokens("Q\n"))
    assert found.letters == (("A", ord("A")), ("B", ord("B")))


def test_of_two_letters_that_are_alike_the_first_is_taken():
    made = likeliest_letter({"A": -1.0, "B": -1.0, "C": -2.0}, 9)
    assert made == Output("A", "stop", 9, 1, {"A": -1.0, "B": -1.0, "C": -2.0})


def test_an_output_is_stored_under_all_that_can_change_it():
    plain = prepared()
    others = [
        prepared(max_tokens=9),
        prepared(dtype="float16"),
        prepared(asked=prompt("R")),
        prepared(asked=prompt(repeat=1)),
        prepared(answer_by="likelihood"),
        prepared(temperature=0.5),
        prepared(temperature=0.5, top_p=0.5),
        prepared(temperature=0.5, seed=1),
    ]
    assert len({each.key for each in (plain, *others)}) == 1 + len(others)
    assert prepared(seed=1).key == prepared(top_p=0.5).key == plain.key  # nothing is drawn at a temperature of 0
    assert prepared(answer_by="likelihood", max_tokens=9).key == prepared(answer_by="likelihood").key
    assert plain.seed != prepared(asked=prompt(repeat=1)).seed
    assert plain.seed < 16**15


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


@pytest.mark.parametrize(("own", "length"), [(99, 99), (None, 1 << 40)])
def test_the_context_is_the_models(monkeypatch, own, length):
    monkeypatch.setattr(loading, "_config", lambda _: SimpleNamespace(max_position_embeddings=own))
    assert loading.context_length(TransformersModel(model="m")) == length


def test_an_error_is_told_by_its_first_line():
    assert loading.first_line(ValueError(" one\ntwo")) == "one"
    assert loading.first_line(ValueError("")) == "ValueError"
    assert loading.first_line(ValueError("x" * 300)) == "x" * 200
