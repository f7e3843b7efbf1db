import json
import sys
from pathlib import Path

import pytest

from build_dataset.pipeline.runtime import fingerprint as module
from build_dataset.pipeline.runtime.fingerprint import code_hash, fingerprint

HOME = Path(module.__file__).parents[1]
TARGET = "build_dataset.pipeline.clean.stage:run"
BASE = {"target": TARGET, "params": {"a": 1}, "inputs": {"parse/questions": "x"}, "seed": 1}


@pytest.fixture(autouse=True)
def forget():
    """Leave nothing in the caches for other tests of this process."""
    yield
    for cached in (module._state, module._module, module._source, module._kept_hash):
        cached.cache_clear()


@pytest.mark.parametrize("change", [{"params": {"a": 2}}, {"inputs": {"parse/questions": "y"}}, {"seed": 2}])
def test_what_can_change_a_result_changes_the_fingerprint(change):
    assert fingerprint(**{**BASE, **change}) != fingerprint(**BASE)


def test_the_order_of_parameters_does_not(monkeypatch):
    two = fingerprint(TARGET, {"a": 1, "b": 2}, {}, 1)
    assert fingerprint(TARGET, {"b": 2, "a": 1}, {}, 1) == two


def test_code_that_a_stage_imports_is_part_of_it():
    closure = module._closure("build_dataset.pipeline.clean.stage")
    assert "build_dataset.pipeline.stage" in closure
    assert "build_dataset.schemas.questions" in closure
    assert "build_dataset.pipeline.cli.app" not in closure


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
        package = f"build_dataset.pipeline.{area}"
        closure = module._closure(f"{package}.{path.stem}")
        assert package in {package for name in closure for package in module._module(name).opens}


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


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A package of its own: every other module of the project is none here."""
    package = tmp_path / "copy"
    (package / "templates").mkdir(parents=True)
    (package / "__pycache__").mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.setattr(module, "_HOME", tmp_path)
    monkeypatch.setattr(module, "OUR_PACKAGES", ("copy",))
    for cached in (module._state, module._module, module._source):
        cached.cache_clear()
    return package


@pytest.mark.parametrize(
    ("source", "mentions", "opens"),
    [
        ("import copy.a, os", {"copy.a", "os"}, set()),
        ("from copy.a import b, c", {"copy.a", "copy.a.b", "copy.a.c"}, set()),
        ("from . import b", set(), set()),
        ("x = 'copy.a.stage:run'", {"copy.a.stage"}, set()),
        ("x = 'a sentence. Another'", set(), set()),
        ("files('copy.a')", {"copy.a"}, {"copy.a"}),
        ("files(name)", set(), set()),
        ("Patterns(__name__)", set(), {"copy"}),
        ("Patterns('copy')", set(), set()),
        ("x = f'{__name__}.{one}'", {"copy.text.text", "copy.text.__init__", "copy.text.more"}, set()),
        ("x = f'{name}.{one}'", set(), set()),
    ],
)
def test_what_a_module_names_is_found_in_each_way_to_name_it(home, source, mentions, opens):
    (home / "more.py").touch()
    (home / "text.py").write_text(source)
    found = module._module("copy.text")
    assert (found.mentions, found.opens, found.file) == (mentions, opens, home / "text.py")


def test_pages_beside_a_package_count_and_those_beside_a_module_do_not(home):
    (home / "templates" / "c.html").write_text("one")
    (home / "text.py").write_text("x = 1\n")
    before = module._code_hash("copy"), module._code_hash("copy.text")
    (home / "templates" / "c.html").write_text("two")
    assert module._code_hash("copy") != before[0]
    assert module._code_hash("copy.text") == before[1]


def test_hashes_are_kept_while_the_state_is_the_same(home, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    kept = home / "__pycache__" / "code-hashes.json"
    found = code_hash("copy")
    assert json.loads(kept.read_text()) == {"state": module._state(), "hashes": {"copy": found}}
    assert [path.name for path in kept.parent.iterdir()] == ["code-hashes.json"]
    kept.write_text(json.dumps({"state": module._state(), "hashes": {"copy": "kept"}}))
    module._kept_hash.cache_clear()
    assert code_hash("copy") == "kept"
    (home / "text.py").write_text("x = 1\n")
    code_hash("copy.text")
    assert json.loads(kept.read_text())["hashes"].keys() == {"copy", "copy.text"}
    kept.write_text(json.dumps({"state": "another", "hashes": {"copy": "kept"}}))
    module._kept_hash.cache_clear()
    assert code_hash("copy") == found


def test_a_hash_stays_while_a_process_runs_though_files_change_and_others_keep_theirs(home, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    found = code_hash("copy")
    (home / "templates" / "c.html").write_text("changed meanwhile")
    (home / "__pycache__" / "code-hashes.json").write_text(json.dumps({"state": "another", "hashes": {}}))
    assert code_hash("copy") == found


@pytest.mark.parametrize("text", ["[]", "3", "{", "", None])
def test_hashes_that_cannot_be_read_are_made_again(home, monkeypatch, text):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    kept = home / "__pycache__" / "code-hashes.json"
    if text is not None:
        kept.write_text(text)
    assert module._read_cache() == {}
    assert code_hash("copy") == module._code_hash("copy")
    assert (kept.read_text() if kept.exists() else None) == text, "nothing is written where Python writes nothing"
