"""Outputs of local models are stored once; prompts are cut and batched at exact lengths."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from build_dataset.pipeline.evaluate.backends import Generation
from build_dataset.pipeline.evaluate.backends.local import loading
from build_dataset.pipeline.evaluate.backends.local.backend import PreparedPrompt, TransformersBackend
from build_dataset.pipeline.evaluate.backends.local.batches import Output
from build_dataset.pipeline.evaluate.params import TransformersModel
from build_dataset.pipeline.evaluate.prompting import Prompt
from build_dataset.pipeline.stage import Failure
from build_dataset.schemas.errors import UserError
from tests.pipeline.evaluate.backends.test_local import Tokenizer
from tests.pipeline.evaluate.conftest import Store, make_question


class Echo(TransformersBackend):
    """Answers every prompt with its own text; fails where the text says so."""

    made: list[str]

    def _make(self, asked: Sequence[PreparedPrompt]) -> Iterator[tuple[PreparedPrompt, Output | Failure]]:
        for item in asked:
            self.made.append(item.text)
            told = {"A": -1.0} if item.letters else None
            yield item, Failure("odd", "") if "fail" in item.text else Output("A", "stop", 3, 1, told)


def echo(tokenizer: Any = None, **options: Any) -> Echo:
    backend = object.__new__(Echo)
    backend._options = TransformersModel(model="m", **options)
    backend._tokenizer = tokenizer or Tokenizer()
    backend._store = Store()  # type: ignore[assignment]
    backend.identity = {"model": "m"}
    backend.made = []
    return backend


def prompt(text: str, number: int = 0, answer: str = "A", options: str = "AB") -> Prompt:
    turns = ({"role": "user", "content": text},)
    return Prompt(f"p{number}", turns, make_question(number, answer, options=options))


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "versions", lambda: {"torch": "9"})
    monkeypatch.setattr(loading, "context_length", lambda options: 10_000)


def generated(backend: Echo, *asked: Prompt) -> tuple[list[Generation], int]:
    steps: list[int] = []
    found = list(backend.generate(asked, steps.append))
    assert set(steps) <= {1}
    return found, len(steps)


def test_an_output_is_made_once_and_a_failure_is_tried_again() -> None:
    backend = echo()
    asked = [prompt("one", 1), prompt("fail", 2), prompt("two", 3)]
    found, steps = generated(backend, *asked)
    assert [(one.prompt_id, one.text, one.failure) for one in found] == [
        ("p1", "A", None),
        ("p2", None, Failure("odd", "")),
        ("p3", "A", None),
    ]
    assert (steps, len(backend._store.items), backend.made) == (3, 2, ["one\n", "fail\n", "two\n"])  # type: ignore[attr-defined]
    again, steps = generated(backend, *asked)
    assert [one.prompt_id for one in again] == ["p1", "p3", "p2"]
    assert (steps, backend.made[3:]) == (3, ["fail\n"])
    assert again[0] == found[0]
    assert (found[0].asked, found[0].made_with, found[0].prompt_tokens) == ("one\n", {"torch": "9"}, 3)


@pytest.mark.parametrize(("temperature", "drawn"), [(0.0, False), (0.1, True)])
def test_a_seed_is_told_where_something_was_drawn(temperature: float, drawn: bool) -> None:
    ((found,), _) = generated(echo(temperature=temperature), prompt("one"))
    assert (found.seed is not None, found.letters) == (drawn, None)


def test_letters_are_told_where_they_were_compared() -> None:
    ((found,), _) = generated(echo(answer_by="likelihood"), prompt("one"))
    assert (found.letters, found.likelihoods) == (("A",), {"A": -1.0})


@pytest.mark.parametrize(
    ("chat", "own", "text", "special"),
    [("auto", None, "one\n", True), ("auto", "t", "user:one", False), ("plain", "t", "one\n", True)],
)
def test_a_prompt_is_in_the_models_template_where_it_has_one(
    chat: str, own: str | None, text: str, special: bool
) -> None:
    tokenizer = Tokenizer()
    tokenizer.chat_template = own
    (found,) = echo(tokenizer, chat=chat)._ready([prompt("one")])
    assert (found.text, found.tokens) == (text, (*[1] * special, *map(ord, text)))
    assert echo(tokenizer, chat=chat)._ready([]) == []


class Joining(Tokenizer):
    """A tokenizer that makes one token of a colon and the letter behind it."""

    def __call__(self, texts: Sequence[str], *, add_special_tokens: bool) -> dict[str, Any]:
        found = []
        for text in texts:
            tokens: list[int] = []
            for char in text:
                if tokens and tokens[-1] == ord(":") and char in "AB":
                    tokens[-1] = 1000 + ord(char)
                else:
                    tokens.append(ord(char))
            found.append(tokens)
        return {"input_ids": found}


def test_a_token_across_the_end_of_the_prompt_is_compared_whole() -> None:
    backend = echo(Joining(), answer_by="likelihood")
    asked = prompt("Q").asked
    tokens, choices = backend._compared(Prompt("p", (), asked), "Q:", special=False)
    assert tokens == (ord("Q"),)
    assert choices == (("A", 1000 + ord("A")), ("B", 1000 + ord("B")))


class Marking(Tokenizer):
    """A tokenizer that writes a token of its own before every letter; it may write one letter as another."""

    def __init__(self, **shown: str) -> None:
        self.shown = shown

    def __call__(self, texts: Sequence[str], *, add_special_tokens: bool) -> dict[str, Any]:
        ends = [[9, ord(self.shown.get(text[-1], text[-1]))] if text[-1] in "AB" else [ord(text[-1])] for text in texts]
        found = [[*map(ord, text[:-1]), *end] for text, end in zip(texts, ends, strict=True)]
        return {"input_ids": found}


def test_tokens_that_all_letters_begin_with_go_to_the_prompt() -> None:
    asked = Prompt("p", (), make_question(1, options="AB"))
    tokens, letters = echo(answer_by="likelihood")._compared(asked, "Q \n", special=False)
    assert (tokens, letters) == (tuple(map(ord, "Q \n")), (("A", ord("A")), ("B", ord("B"))))
    tokens, letters = echo(Marking(), answer_by="likelihood")._compared(asked, "Q", special=False)
    assert (tokens, letters) == ((ord("Q"), 9), (("A", ord("A")), ("B", ord("B"))))


def test_letters_that_begin_with_one_token_cannot_be_compared() -> None:
    with pytest.raises(UserError, match='set answer_by = "text"'):
        echo(Marking(B="A"), answer_by="likelihood")._compared(prompt("Q"), "Q", special=False)


@pytest.mark.parametrize(
    ("answer_by", "several", "limit", "fits"),
    [
        ("text", False, 12, True),
        ("text", False, 11, False),
        ("likelihood", False, 3, True),
        ("likelihood", False, 2, False),
        ("likelihood", True, 12, True),
        ("likelihood", True, 11, False),
    ],
)
def test_room_is_left_for_the_longest_answer_that_is_written(
    monkeypatch: pytest.MonkeyPatch, answer_by: str, several: bool, limit: int, fits: bool
) -> None:
    monkeypatch.setattr(loading, "context_length", lambda options: limit)
    backend = echo(answer_by=answer_by, max_tokens=10)
    monkeypatch.setattr(Tokenizer, "__call__", lambda self, texts, **_: {"input_ids": [[5, 6]] * len(texts)})
    asked = [PreparedPrompt(prompt("Q"), (5, 6), (("A", 0),) * (answer_by != "text"), "k", "Q", 0)]
    asked += [PreparedPrompt(prompt("Q"), (5,), (), "l", "Q", 0)] if several else []
    found = [one for _, one in backend._fitting(asked)]
    failed = [one for one in found if isinstance(one, Failure)]
    assert (not failed) is fits
    assert len(found) == len(asked)


def test_packages_that_are_missing_are_told_before_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    options = TransformersModel(model="m")
    setting: Any = SimpleNamespace(context=SimpleNamespace(store=Store()))
    monkeypatch.setattr(loading, "missing_packages", lambda options: "packages")
    with pytest.raises(UserError, match="packages"):
        Echo(options, setting)
    monkeypatch.setattr(loading, "missing_packages", lambda options: None)
    monkeypatch.setattr(loading, "load_tokenizer", lambda options: "tokenizer")
    assert Echo(options, setting).identity == {
        "kind": "transformers",
        "revision": None,
        "gguf_file": None,
        "model": "m",
        "adapter": None,
    }


def test_a_model_in_a_folder_is_known_by_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("missing_packages", "load_tokenizer"):
        monkeypatch.setattr(loading, name, lambda options: None)
    monkeypatch.setattr(loading, "fingerprint", lambda folder: f"hash of {folder.name}")
    setting: Any = SimpleNamespace(context=SimpleNamespace(store=Store()))
    (tmp_path / "m").mkdir()
    found = Echo(TransformersModel(model=str(tmp_path / "m"), adapter="hub/a"), setting)
    assert (found.identity["model"], found.identity["adapter"]) == ("hash of m", "hub/a")
