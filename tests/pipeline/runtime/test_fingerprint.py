from pathlib import Path

import pytest

from pipeline.runtime import fingerprint as module
from pipeline.runtime.fingerprint import code_hash, fingerprint

HOME = Path(module.__file__).parents[1]
TARGET = "pipeline.clean.stage:run"
BASE = {"target": TARGET, "params": {"a": 1}, "inputs": {"parse/questions": "x"}, "seed": 1}


@pytest.fixture(autouse=True)
def forget():
    """Leave nothing in the caches for other tests of this process."""
    yield
    for cached in (module._state, module._module, module._source):
        cached.cache_clear()


@pytest.mark.parametrize("change", [{"params": {"a": 2}}, {"inputs": {"parse/questions": "y"}}, {"seed": 2}])
def test_what_can_change_a_result_changes_the_fingerprint(change):
    assert fingerprint(**{**BASE, **change}) != fingerprint(**BASE)


def test_the_order_of_parameters_does_not(monkeypatch):
    two = fingerprint(TARGET, {"a": 1, "b": 2}, {}, 1)
    assert fingerprint(TARGET, {"b": 2, "a": 1}, {}, 1) == two


def test_code_that_a_stage_imports_is_part_of_it():
    closure = module._closure("pipeline.clean.stage")
    assert "pipeline.stage" in closure
    assert "schemas.questions" in closure
    assert "pipeline.cli.app" not in closure


def test_a_changed_data_file_that_the_code_opens_changes_the_hash(tmp_path, monkeypatch):
    package = tmp_path / "annotation_copy"
    package.mkdir()
    (package / "__init__.py").write_text("from importlib.resources import files\nfiles('annotation_copy')\n")
    (package / "screen.css").write_text("one")
    monkeypatch.setattr(module, "_HOME", tmp_path)
    monkeypatch.setattr(module, "OUR_PACKAGES", (*module.OUR_PACKAGES, "annotation_copy"))
    before = code_hash("annotation_copy")
    (package / "screen.css").write_text("two")
    module._state.cache_clear()
    assert code_hash("annotation_copy") != before


@pytest.mark.parametrize("area", ["parse", "clean"])
def test_whoever_uses_patterns_depends_on_their_file(area):
    users = [path for path in (HOME / area).glob("*.py") if "Patterns(" in path.read_text()]
    assert users
    for path in users:
        closure = module._closure(f"pipeline.{area}.{path.stem}")
        assert f"pipeline.{area}" in {package for name in closure for package in module._module(name).opens}


def hash_of(tmp_path, monkeypatch, source):
    package = tmp_path / "pipeline_copy"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text(source)
    monkeypatch.setattr(module, "_HOME", tmp_path)
    monkeypatch.setattr(module, "OUR_PACKAGES", (*module.OUR_PACKAGES, "pipeline_copy"))
    for cached in (module._state, module._module, module._source):
        cached.cache_clear()
    return code_hash("pipeline_copy")


@pytest.mark.parametrize(
    ("source", "same"),
    [
        ('"""Another sentence."""\n\n\ndef f(x):\n    """Explain."""\n    return x  # why\n', True),
        ("def f(x):\n    'Explain.'\n    return (x)\n", True),
        ("def f(x):\n    return x + 1\n", False),
        ("def f(x):\n    return 'Explain.'\n", False),
    ],
)
def test_comments_docstrings_and_layout_are_not_code(tmp_path, monkeypatch, source, same):
    plain = '"""One sentence."""\ndef f(x):\n    """Say."""\n    return x\n'
    before = hash_of(tmp_path, monkeypatch, plain)
    assert (hash_of(tmp_path, monkeypatch, source) == before) is same
