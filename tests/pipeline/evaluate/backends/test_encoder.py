"""Scores of an encoder: what is stored, in which order questions are read, and what is chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from build_dataset.pipeline.evaluate.backends.local import encoder
from build_dataset.pipeline.evaluate.backends.local.encoder import MultipleChoiceBackend
from build_dataset.pipeline.evaluate.params import MultipleChoiceModel
from build_dataset.pipeline.evaluate.prompting import Prompt
from build_dataset.schemas.errors import UserError
from tests.pipeline.evaluate.conftest import Store, make_question


class Lengths(MultipleChoiceBackend):
    """Scores the options of every question alike; notes the batches."""

    batches: list[list[str]]
    loads = 0

    def _load(self) -> tuple[Any, Any]:
        self.loads += 1
        return "model", "tokenizer"

    def _scores(self, batch: Sequence[Prompt], model: Any, tokenizer: Any) -> Iterator[list[float]]:
        assert (model, tokenizer) == ("model", "tokenizer")
        self.batches.append([prompt.id for prompt in batch])
        return iter([[0.5, 0.25, -1.0, 0.0]] * len(batch))


def backend(**options: Any) -> Lengths:
    made = object.__new__(Lengths)
    made._options = MultipleChoiceModel(model="m", **options)
    made._store = Store()  # type: ignore[assignment]
    made._weights = "w"
    made.batches = []
    return made


def asked(*lengths: int) -> list[Prompt]:
    rows = [make_question(number, stem="题" * length) for number, length in enumerate(lengths)]
    return [Prompt(f"p{number}", (), row) for number, row in enumerate(rows)]


def test_questions_are_read_once_the_longest_first_batch_by_batch() -> None:
    made = backend(batch_size=2)
    steps: list[int] = []
    found = list(made.generate(asked(1, 3, 2, 3, 5), steps.append))
    assert made.batches == [["p4", "p1"], ["p3", "p2"], ["p0"]]
    assert (steps, made.loads, [one.prompt_id for one in found]) == ([2, 2, 1], 1, ["p4", "p1", "p3", "p2", "p0"])
    assert {one.letters for one in found} == {("A",)}
    again = list(made.generate(asked(1, 3, 2, 3, 5), steps.append))
    assert (len(made.batches), made.loads, len(again), steps[3:]) == (3, 1, 5, [1] * 5)


def test_a_model_must_be_a_folder_and_is_known_by_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(encoder, "missing_packages", lambda options: None)
    monkeypatch.setattr(encoder, "fingerprint", lambda folder: f"hash of {folder.name}")
    setting: Any = SimpleNamespace(context=SimpleNamespace(store=Store()))
    with pytest.raises(UserError, match="no such folder"):
        MultipleChoiceBackend(MultipleChoiceModel(model=str(tmp_path / "none")), setting)
    (tmp_path / "m").mkdir()
    made = MultipleChoiceBackend(MultipleChoiceModel(model=str(tmp_path / "m")), setting)
    assert made.identity == {"kind": "multiple_choice", "model": "hash of m"}
    monkeypatch.setattr(encoder, "missing_packages", lambda options: "install it")
    with pytest.raises(UserError, match="install it"):
        MultipleChoiceBackend(MultipleChoiceModel(model=str(tmp_path / "m")), setting)


def test_scores_are_those_of_a_questions_own_options_to_six_places(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra 'local'")
    read: dict[str, Any] = {}
    lengths: list[int] = []

    def tokenizer(questions: list[str], options: list[str], **more: Any) -> dict[str, Any]:
        lengths.append(more["max_length"])
        assert more["padding"] is True
        return {"input_ids": torch.zeros(len(options), 5)}

    class Model:
        device = "cpu"

        def __call__(self, **given: Any) -> Any:
            read.update(given)
            return SimpleNamespace(logits=torch.tensor([[0.12345678, 1, 2, 3], [4, 5, 6, 7]]))

    rows = [make_question(1), make_question(2, options="AB")]
    batch = [Prompt(f"p{number}", (), row) for number, row in enumerate(rows)]
    found = list(MultipleChoiceBackend._scores(backend(max_input=9), batch, Model(), tokenizer))
    assert found == [[0.123457, 1.0, 2.0, 3.0], [4.0, 5.0]]
    assert (set(read), lengths) == ({"input_ids"}, [9])
