"""The wheel in environments without pinned versions: the newest packages, every extra, other versions of Python."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from tests.services.installation import ROOT, Installation, build, environment, tables

SCAN = "scan-2024-03.pdf"
MISSION = "pymupdf paddleocr rapidfuzz openai label-studio-sdk polars pydantic typer pyarrow"
pytestmark = pytest.mark.timeout(3600)  # an environment is some gigabytes
EXTRAS = {
    "review": "import label_studio_sdk, build_dataset.annotation.label_studio.client",
    "ray": "import ray, build_dataset.pipeline.runtime.ray_executor",
    "local": "import torch, transformers, peft, build_dataset.pipeline.evaluate.backends.local.backend",
    "paddle": "import paddleocr, build_dataset.pipeline.ocr.engines.paddle",
}
INSTALLED_TESTS = (
    "test_shipped.py", "schemas", "annotation/test_lexicon_annotator.py", "pipeline/rendering", "pipeline/report",
    "pipeline/test_patterns.py", "pipeline/dedup", "pipeline/split", "pipeline/claims", "pipeline/inspect",
)  # fmt: skip


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("dist"))[1]


@pytest.fixture(scope="module")
def newest(wheel, tmp_path_factory) -> Iterator[Installation]:
    """``pip install`` of the wheel with the newest versions of what it needs."""
    place = tmp_path_factory.mktemp("newest")
    made = environment(place / "env")
    made.do("pip", "install", wheel, "pytest", "pytest-timeout", "hypothesis", "openpyxl")
    yield made
    shutil.rmtree(place)


def test_the_demo_with_the_newest_packages_has_the_rows_of_the_clones(newest, sample_build):
    newest.do("build-dataset", "demo", "demo")
    assert differing_tables(newest.home / "demo" / "build", sample_build) == []


def differing_tables(made: Path, ours: Path) -> list[str]:
    """Return the tables of two builds that differ in more than a confidence of OCR or a number's last digits."""
    found, expected = tables(made), tables(ours)
    assert found.keys() == expected.keys()
    return [name for name in found if not settled(found[name]).equals(settled(expected[name]))]


def settled(path: Path) -> pl.DataFrame:
    table = pl.read_parquet(path).drop("confidence", "engine_version", strict=False)
    text = pl.col(pl.String).str.replace_all(r'"confidence":[0-9.]+', "")  # of questions that wait, as JSON
    return table.with_columns(pl.selectors.float().round(12), text)


def test_the_suite_passes_against_the_installed_package(newest):
    """A data file or a name that an installation lacks fails a test."""
    place = newest.home / "suite"
    for name in ("tests", "raw", "benchmarks"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "dataset.toml", place)
    options = "addopts = -q --import-mode=importlib\nmarkers = slow\npythonpath = .\n"
    (place / "pytest.ini").write_text(f"[pytest]\n{options}")
    where = "import build_dataset.pipeline as p; print(p.__file__)"
    assert "site-packages" in newest.do("python", "-c", where, cwd=place)
    told = newest.do("python", "-m", "pytest", "-x", *(f"tests/{name}" for name in INSTALLED_TESTS), cwd=place)
    assert " passed" in told


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_installs_and_its_modules_are_imported(wheel, newest, tmp_path, extra):
    made = environment(tmp_path / "env", over=newest)
    if extra == "local":  # a build for processors does: which one an index offers is its own affair
        made.do("pip", "install", torch())
    made.do("pip", "install", f"{wheel}[{extra}]")
    if extra == "paddle":
        opencv_without_windows(made)
    made.do("python", "-c", EXTRAS[extra])
    assert made.do("python", "-m", "build_dataset", "--version").strip()
    if extra == "paddle":
        read_by_paddleocr(made)
    shutil.rmtree(made.folder)


def torch() -> str:
    """Return the requirement of the Makefile."""
    return re.search(r"^TORCH := (\S+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[1]


def opencv_without_windows(made: Installation) -> None:
    """Carry out the second line of ``docs/ocr.md``."""
    [line] = re.findall(r"^pip (install --force-reinstall .*)", (ROOT / "docs/ocr.md").read_text("utf-8"), re.MULTILINE)
    made.do("pip", *shlex.split(line))


def read_by_paddleocr(made: Installation) -> None:
    raw = made.home / "raw"
    raw.mkdir()
    shutil.copy(ROOT / "raw" / "sample" / "papers" / SCAN, raw)
    made.do("python", "-m", "build_dataset", "init", ".")
    made.do("python", "-m", "build_dataset", "ocr", "--engine", "paddleocr")
    made.do("python", "-m", "build_dataset", "parse")
    assert pl.read_parquet(made.home / "build/parse/questions.parquet").height >= 10


def test_the_packages_of_the_mission_live_in_one_environment(wheel, newest, tmp_path):
    made = environment(tmp_path / "env", over=newest)
    made.do("pip", "install", f"{wheel}[review,paddle,hub,heic]", *MISSION.split())
    opencv_without_windows(made)
    modules = "pymupdf paddleocr rapidfuzz openai label_studio_sdk polars pydantic typer pyarrow"
    made.do("python", "-c", f"import {', '.join(modules.split())}")
    told = made.run("pip", "check")
    assert [line for line in told.stdout.splitlines() if "build-dataset" in line] == []
    made.do("python", "-m", "build_dataset", "demo", "demo")
    shutil.rmtree(made.folder)


def interpreters() -> list[str]:
    """Return the other versions of Python that are here, each by the path of its program."""
    found = []
    for minor in (12, 13, 14):
        kept = Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")
        named = [path for path in (shutil.which(f"python3.{minor}"), *map(str, kept)) if path]
        found += [path for path in named if not subprocess.run([path, "-c", ""], capture_output=True).returncode][:1]
    return found


@pytest.mark.parametrize("python", interpreters())
def test_the_demo_runs_on_other_versions_of_python(wheel, tmp_path, python, sample_build):
    made = environment(tmp_path / "env", python)
    made.do("pip", "install", wheel)
    made.do("python", "-m", "build_dataset", "demo", "demo")
    assert differing_tables(made.home / "demo" / "build", sample_build) == []
    shutil.rmtree(made.folder)
