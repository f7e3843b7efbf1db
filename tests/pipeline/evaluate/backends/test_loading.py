"""Models are looked for, known by their files and loaded; the libraries that would do it are stood in for."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from build_dataset.pipeline.evaluate.backends.local import loading, loading as needs
from build_dataset.pipeline.evaluate.params import EvaluateParams, TransformersModel
from build_dataset.pipeline.evaluate.stage import problems
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError


@pytest.mark.parametrize(
    ("size", "changed", "seen"), [(6, 2, True), (7, 2, False), (7, 5, True), (9, 4, True), (9, 8, True)]
)
def test_of_a_file_longer_than_three_samples_the_bytes_between_are_not_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, size: int, changed: int, seen: bool
) -> None:
    monkeypatch.setattr(loading, "_SAMPLE", 2)
    (tmp_path / "w").write_bytes(b"a" * size)
    before = loading.fingerprint(tmp_path)
    (tmp_path / "w").write_bytes(b"a" * changed + b"b" + b"a" * (size - changed - 1))
    assert (loading.fingerprint(tmp_path) != before) is seen


def test_hidden_files_and_folders_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("a")
    before = loading.fingerprint(tmp_path)
    (tmp_path / ".cache").write_text("a")
    (tmp_path / "folder").mkdir()
    assert loading.fingerprint(tmp_path) == before


class Tokens:
    """A tokenizer with some of its special tokens; a pad token that is set has an id."""

    chat_template: str | None = None

    def __init__(self, pad: int | None, eos: str | None, unk: str | None) -> None:
        self.pad_token_id, self.eos_token, self.unk_token = pad, eos, unk
        self.set: list[str | None] = []

    @property
    def pad_token(self) -> str | None:
        return self.set[-1] if self.set else None

    @pad_token.setter
    def pad_token(self, token: str | None) -> None:
        self.set.append(token)
        self.pad_token_id = None if token is None else 5


@pytest.fixture
def transformers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A library whose loader gives what is stored under ``made``, and notes how it was asked."""
    found: dict[str, Any] = {"made": None, "asked": []}

    def loader(name: str) -> Any:
        def load(model: str, **settings: Any) -> Any:
            found["asked"].append((name, model, settings))
            return found["made"]

        return SimpleNamespace(from_pretrained=load)

    logging = SimpleNamespace(disable_progress_bar=lambda: None)
    utils = SimpleNamespace(logging=logging)
    names = ("AutoTokenizer", "AutoConfig", "AutoModelForCausalLM")
    library = SimpleNamespace(utils=utils, **{name: loader(name) for name in names})
    monkeypatch.setitem(sys.modules, "transformers", library)
    monkeypatch.setitem(sys.modules, "transformers.utils", utils)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(float32="f32", bfloat16="bf16", float16="f16"))
    return found


@pytest.mark.parametrize(
    ("pad", "eos", "unk", "taken"),
    [(3, "e", "u", []), (0, "e", "u", []), (None, "e", "u", ["e"]), (None, None, "u", ["u"])],
)
def test_a_tokenizer_pads_with_its_own_token_or_that_of_the_end_or_of_the_unknown(
    transformers: dict[str, Any], pad: int | None, eos: str | None, unk: str, taken: list[str]
) -> None:
    transformers["made"] = Tokens(pad, eos, unk)
    found = loading.load_tokenizer(TransformersModel(model="m", revision="v2"))
    assert found.set == taken
    assert transformers["asked"] == [("AutoTokenizer", "m", {"revision": "v2"})]


def test_a_tokenizer_that_cannot_pad_is_told(transformers: dict[str, Any]) -> None:
    transformers["made"] = Tokens(None, None, None)
    with pytest.raises(UserError, match="no token to pad with"):
        loading.load_tokenizer(TransformersModel(model="m"))


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (TransformersModel(model="m"), {"revision": "main"}),
        (TransformersModel(model="m", gguf_file="g"), {"revision": "main", "gguf_file": "g"}),
        (TransformersModel(model="m", revision="r"), {"revision": "r"}),
    ],
)
def test_a_configuration_is_that_of_the_text_part(
    transformers: dict[str, Any], options: TransformersModel, settings: dict[str, str]
) -> None:
    text = SimpleNamespace(max_position_embeddings=7, layer_types=["full_attention"])
    transformers["made"] = SimpleNamespace(get_text_config=lambda: text)
    assert (loading.context_length(options), loading.keeps_heads(options)) == (7, True)
    assert transformers["asked"][0] == ("AutoConfig", "m", settings)


class Weights:
    """A model that notes where it goes."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def to(self, device: str) -> Weights:
        self.steps.append(device)
        return self

    def eval(self) -> Weights:
        self.steps.append("eval")
        return self


@pytest.mark.parametrize(
    ("dtype", "device", "loaded"),
    [("auto", "cpu", "f32"), ("auto", "cuda:1", "bf16"), ("float16", "cpu", "f16"), ("float32", "cuda", "f32")],
)
def test_weights_are_short_on_a_gpu_and_long_on_a_cpu_unless_the_options_say(
    transformers: dict[str, Any], dtype: Any, device: str, loaded: str
) -> None:
    transformers["made"] = Weights()
    found = loading.load_model(TransformersModel(model="m", dtype=dtype), device)
    assert found.steps == [device, "eval"]
    told = {"revision": "main", "dtype": loaded}
    assert transformers["asked"] == [("AutoModelForCausalLM", "m", told)]


@pytest.mark.parametrize("merges", [True, False])
def test_an_adapter_is_merged_into_the_weights_where_that_can_be_done(
    transformers: dict[str, Any], monkeypatch: pytest.MonkeyPatch, merges: bool
) -> None:
    merged, over = Weights(), Weights()
    over.base_model = SimpleNamespace(**({"merge_and_unload": None} if merges else {}))  # type: ignore[attr-defined]
    over.merge_and_unload = lambda: merged  # type: ignore[attr-defined]

    def adapt(model: Any, adapter: str) -> Weights:
        if adapter == "none":
            raise OSError("no adapter_config.json\nthere")
        return over

    monkeypatch.setitem(sys.modules, "peft", SimpleNamespace(PeftModel=SimpleNamespace(from_pretrained=adapt)))
    transformers["made"] = Weights()
    found = loading.load_model(TransformersModel(model="m", adapter="a"), "cpu")
    assert found is (merged if merges else over)
    with pytest.raises(UserError, match=r"^adapter none: cannot be loaded: no adapter_config.json$"):
        loading.load_model(TransformersModel(model="m", adapter="none"), "cpu")


def test_what_cannot_be_loaded_is_told_with_where_it_was_looked_for(tmp_path: Path) -> None:
    def broken(model: str, **_: Any) -> Any:
        raise ValueError("odd\nthing")

    kind = SimpleNamespace(from_pretrained=broken)
    with pytest.raises(UserError, match=f"^{tmp_path}: no model could be loaded: odd$"):
        loading.pretrained(kind, TransformersModel(model=str(tmp_path)), "model")
    told = r"^m: no model could be loaded \(no such folder here, nor such a model within reach\): odd$"
    with pytest.raises(UserError, match=told):
        loading.pretrained(kind, TransformersModel(model="m"), "model")


@pytest.fixture
def bare(monkeypatch):
    """An environment in which no package for local models is installed."""
    monkeypatch.setattr(needs, "find_spec", lambda name: None)


@pytest.mark.parametrize(
    ("model", "absent", "remedy"),
    [
        (TransformersModel(model="m"), "torch, transformers", "pip install -e '.[local]'"),
        (TransformersModel(model="m", adapter="a"), "torch, transformers, peft", "pip install -e '.[local]'"),
        (TransformersModel(model="m", gguf_file="f"), "torch, transformers, gguf", "pip install -e '.[local]'"),
    ],
)
def test_what_must_be_installed_is_named_with_the_command(bare, model, absent, remedy):
    line = f'kind = "{model.kind}" needs {absent}: {remedy}'
    assert needs.missing_packages(model) == line
    assert problems(EvaluateParams(models=[model]), DatasetParams(name="d")) == [line]


def test_nothing_is_said_where_all_is_installed(monkeypatch):
    monkeypatch.setattr(needs, "find_spec", lambda name: object())
    assert needs.missing_packages(TransformersModel(model="m", adapter="a")) is None
