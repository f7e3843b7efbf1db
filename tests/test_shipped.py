"""Everything that the package ships is there and can be used: modules, data files, patterns, templates, label sets.

``tests/services/test_installed.py`` runs this file against an installed wheel, too.
"""

import importlib
import json
import pkgutil
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

import build_dataset
from build_dataset import annotation, pipeline, schemas
from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.evaluate.prompting import Task, load_template
from build_dataset.pipeline.patterns import Patterns
from build_dataset.pipeline.rendering.markup import environment

PACKAGES = (schemas, annotation, pipeline)
EXTRAS = {"ray", "torch", "transformers", "peft", "label_studio_sdk", "paddleocr"}
"""Libraries of extras: a module that needs one at once may fail for want of it and for nothing else."""
PARENT = Path(str(files(schemas.__name__))).parent


def modules() -> Iterator[str]:
    for package in PACKAGES:
        yield from (found.name for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))


def data(*endings: str) -> Iterator[Path]:
    """Yield the data files of our packages."""
    for package in PACKAGES:
        folder = Path(str(files(package.__name__)))
        yield from sorted(path for path in folder.rglob("*") if path.suffix in endings)


def named(path: Path) -> str:
    return path.relative_to(PARENT).as_posix()


@pytest.mark.parametrize("name", [name for name in modules() if not name.endswith("._accounts")])
def test_every_module_is_imported_under_the_one_name(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRAS:
            raise
        return
    same_file = [known for known, other in sys.modules.items() if getattr(other, "__file__", "") == module.__file__]
    assert same_file == [name]


@pytest.mark.parametrize("path", data(".py"), ids=named)
def test_no_name_of_ours_stands_alone(path):
    """``"pipeline.clean"`` or ``files("schemas")``: neither is a name of an installation."""
    text = path.read_text(encoding="utf-8")
    names = "schemas|annotation|pipeline"
    alone = re.findall(rf"^\s*(?:from|import) (?:{names})\b.*", text, re.MULTILINE)
    alone += re.findall(rf"\"(?:{names})(?:\.\w+)+(?::\w+)?\"|(?:files|notes|render|rendered)\(\"(?:{names})\b", text)
    assert alone == []


@pytest.mark.parametrize("path", data(".toml", ".json"), ids=named)
def test_every_data_file_is_read(path):
    if path.name not in ("dataset.toml", "croissant.json"):  # templates, with places to fill in
        content = path.read_bytes().decode("utf-8")
        assert tomllib.loads(content) if path.suffix == ".toml" else json.loads(content)


def templates() -> Iterator[tuple[str, str]]:
    for path in data(".html", ".md", ".txt", ".json"):
        if path.parent.name == "templates":
            yield f"build_dataset.{named(path.parent.parent).replace('/', '.')}", path.name


@pytest.mark.parametrize(("package", "name"), templates())
def test_every_template_is_found_by_its_package(package, name):
    made = environment(package)
    text, _, _ = made.loader.get_source(made, name)
    assert text


@pytest.mark.parametrize("path", [path for path in data(".toml") if path.name == "patterns.toml"], ids=named)
def test_every_pattern_is_compiled(path):
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    package = files(f"build_dataset.{named(path.parent).replace('/', '.')}")
    for module in tables.keys() - {"fragments"}:
        patterns = Patterns(module, package)
        for name, row in tables[module].items():
            if isinstance(row, str) or (isinstance(row, list) and all(isinstance(part, str) for part in row)):
                assert getattr(patterns, name).pattern, name


def test_every_name_of_the_catalogue_leads_somewhere():
    assert [stage.name for stage in STAGES if not callable(pkgutil.resolve_name(stage.target))] == []
    assert [stage.name for stage in STAGES if stage.check and not callable(pkgutil.resolve_name(stage.check))] == []


def test_prompts_are_there():
    names = {path.stem for path in data(".toml") if path.parent.name == "prompts"}
    tasks = {task.value: task for task in Task}
    assert names == {"answer_only", "chain_of_thought", "clinical", "explanation"}
    assert all(load_template(name, tasks.get(name, Task.ANSWER)) for name in names)
    assert [path.name for path in data(".md") if path.parent.name == "prompts"]


def test_the_package_says_what_it_offers():
    assert callable(build_dataset.build)
    assert callable(build_dataset.table)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = build_dataset.nothing
