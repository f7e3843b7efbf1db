"""The wheel as users install it: in environments of its own, outside the repository, with an empty home.

An installation takes a minute or two and 1.5 GB; each is removed after its tests.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(tempfile.gettempdir()) / "build-dataset-installed"
SCAN = "scan-2024-03.pdf"
MISSION = "pymupdf paddleocr rapidfuzz openai label-studio-sdk polars pydantic typer pyarrow"
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


@dataclass(frozen=True)
class Installation:
    """An environment that holds the package, and an empty home."""

    folder: Path

    @property
    def programs(self) -> Path:
        return self.folder / "bin"

    @property
    def packages(self) -> Path:
        [found] = self.folder.glob("lib/python*/site-packages")
        return found

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def run(
        self, *command: str | Path, cwd: Path | None = None, timeout: float = 900
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as a user of this environment does."""
        path = os.pathsep.join([str(self.programs), "/usr/local/bin", "/usr/bin", "/bin"])
        kept = {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "LANG", "LC_", "SSL"))}
        kept |= {"PIP_CACHE_DIR": str(CACHE), "PIP_NO_COMPILE": "1"}  # downloaded once; compiled where it is used
        environment = {**kept, "PATH": path, "HOME": str(self.home), "COLUMNS": "200", "PYTHONUTF8": "1"}
        place = cwd or self.home
        return subprocess.run(
            [str(word) for word in command],
            cwd=place, env=environment, capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip

    def do(self, *command: str | Path, cwd: Path | None = None) -> str:
        """Run a command that must succeed and return what it printed."""
        done = self.run(*command, cwd=cwd)
        assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout + done.stderr


def environment(folder: Path, python: str = sys.executable, over: Installation | None = None) -> Installation:
    """Make an environment; one ``over`` another sees what that has installed and adds only what it lacks."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    made = Installation(folder)
    made.home.mkdir()
    if over:
        (made.packages / "below.pth").write_text(f"{over.packages}\n")
    return made


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, Path]:
    """The sdist of the repository, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run([*build, "--target", "sdist"], cwd=ROOT, check=True, capture_output=True)
    [sdist] = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    [tree] = (folder / "unpacked").iterdir()
    subprocess.run([*build, "--target", "wheel"], cwd=tree, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def locked(tmp_path_factory) -> Iterator[Installation]:
    """The environment of the Dockerfile: its own commands, in a bare environment and a copy of what it copies."""
    place = tmp_path_factory.mktemp("locked")
    made = environment(place / "env")
    context = place / "context"
    ignored = [line.strip("/") for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split()]
    shutil.copytree(ROOT, context, ignore=shutil.ignore_patterns(*(Path(name).name for name in ignored)))
    for command in docker_commands():
        made.do(*shlex.split(command), cwd=context)
    shutil.rmtree(context)
    yield made
    shutil.rmtree(place)


def docker_commands() -> list[str]:
    """Return the pip commands of the Dockerfile."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    runs = re.findall(r"^RUN (.*)", text, re.MULTILINE)
    return [part.strip() for run in runs for part in run.split("&&") if part.strip().startswith("pip ")]


@pytest.fixture(scope="module")
def newest(built, tmp_path_factory) -> Iterator[Installation]:
    """``pip install`` of the wheel with the newest versions of what it needs."""
    place = tmp_path_factory.mktemp("newest")
    made = environment(place / "env")
    made.do("pip", "install", built[1], "pytest", "pytest-timeout", "hypothesis", "openpyxl")
    yield made
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def demo(locked) -> Path:
    """The demo of the locked installation."""
    locked.do("build-dataset", "demo", "demo")
    return locked.home / "demo"


def test_the_dockerfile_installs_what_is_pinned_and_then_the_package():
    assert [command.split(" -r ")[0].split()[-1] for command in docker_commands()] == [
        "--require-hashes",
        ".",
    ]


def test_a_wheel_holds_the_files_of_the_repository_unchanged_below_one_name(built):
    with zipfile.ZipFile(built[1]) as wheel:
        names = [name for name in wheel.namelist() if ".dist-info/" not in name]
        assert {name.partition("/")[0] for name in names} == {"build_dataset"}
        for name in names:
            own = name.removeprefix("build_dataset/").replace("sample/", "raw/sample/papers/", 1)
            places = [ROOT / name] if own in ("__init__.py", "__main__.py", "py.typed") else [ROOT / own]
            assert wheel.read(name) == places[0].read_bytes(), name
    tracked = subprocess.run(
        ["git", "ls-files", "schemas", "pipeline", "annotation"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()  # fmt: skip
    assert {f"build_dataset/{name}" for name in tracked} <= {*names}


def tables(build: Path) -> dict[str, Path]:
    return {path.relative_to(build).as_posix(): path for path in sorted(build.rglob("*.parquet"))}


def test_the_demo_of_the_pinned_installation_has_the_bytes_of_the_clones(demo, sample_build):
    made, ours = tables(demo / "build"), tables(sample_build)
    assert made.keys() == ours.keys()
    assert [name for name in made if made[name].read_bytes() != ours[name].read_bytes()] == []


def test_the_demo_with_the_newest_packages_has_the_rows_of_the_clones(newest, sample_build):
    newest.do("build-dataset", "demo", "demo")
    made, ours = tables(newest.home / "demo" / "build"), tables(sample_build)
    assert made.keys() == ours.keys()
    assert [name for name in made if not pl.read_parquet(made[name]).equals(pl.read_parquet(ours[name]))] == []


def test_the_suite_passes_against_the_installed_package(newest):
    """A data file or a name that an installation lacks fails a test."""
    place = newest.home / "suite"
    for name in ("tests", "raw"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "dataset.toml", place)
    options = "addopts = -q --import-mode=importlib\nmarkers = slow\npythonpath = .\n"
    (place / "pytest.ini").write_text(f"[pytest]\n{options}")
    where = "import build_dataset.pipeline as p; print(p.__file__)"
    assert "site-packages" in newest.do("python", "-c", where, cwd=place)
    told = newest.do("python", "-m", "pytest", "-x", *(f"tests/{name}" for name in INSTALLED_TESTS), cwd=place)
    assert " passed" in told


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_installs_and_its_modules_are_imported(built, newest, tmp_path, extra):
    made = environment(tmp_path / "env", over=newest)
    made.do("pip", "install", f"{built[1]}[{extra}]")
    if extra == "paddle":
        opencv_without_windows(made)
    made.do("python", "-c", EXTRAS[extra])
    assert made.do("python", "-m", "build_dataset", "--version").strip()
    if extra == "paddle":
        read_by_paddleocr(made)
    shutil.rmtree(made.folder)


def opencv_without_windows(made: Installation) -> None:
    """Carry out the second line of ``docs/ocr.md``."""
    [line] = re.findall(r"^pip (install --force-reinstall .*)", (ROOT / "docs/ocr.md").read_text("utf-8"), re.MULTILINE)
    made.do("pip", *shlex.split(line))


def read_by_paddleocr(made: Installation) -> None:
    raw = made.home / "raw"
    raw.mkdir()
    shutil.copy(ROOT / "raw" / "sample" / "papers" / SCAN, raw)
    made.do("build-dataset", "init", ".")
    made.do("build-dataset", "ocr", "--engine", "paddleocr")
    made.do("build-dataset", "parse")
    assert pl.read_parquet(made.home / "build/parse/questions.parquet").height >= 10


def test_the_packages_of_the_mission_live_in_one_environment(built, newest, tmp_path):
    made = environment(tmp_path / "env", over=newest)
    made.do("pip", "install", f"{built[1]}[review,paddle,hub,heic,tokens]", *MISSION.split())
    opencv_without_windows(made)
    modules = "pymupdf paddleocr rapidfuzz openai label_studio_sdk polars pydantic typer pyarrow"
    made.do("python", "-c", f"import {', '.join(modules.split())}")
    told = made.run("pip", "check")
    assert [line for line in told.stdout.splitlines() if "build-dataset" in line] == []
    made.do("build-dataset", "demo", "demo")
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
def test_the_demo_runs_on_other_versions_of_python(built, tmp_path, python, sample_build):
    made = environment(tmp_path / "env", python)
    made.do("pip", "install", built[1])
    made.do("build-dataset", "demo", "demo")
    found, ours = tables(made.home / "demo" / "build"), tables(sample_build)
    assert [name for name in ours if not pl.read_parquet(found[name]).equals(pl.read_parquet(ours[name]))] == []
    shutil.rmtree(made.folder)


ELSEWHERE = re.compile(
    r"--engine paddleocr|review (?:push|pull|adjudicate|verify)|score-answers|--model NAME|--base-url|finetune|"
    r"executor\.kind|"
    r"--push|gpt-4o|submission|--embeddings|--annotator learned|--batch|restore|leaderboard mine|"
    r"score (?:model_answer|CMB|FILE|answers)|review (?:copy|hold|adopt|cancel)"
)
"""Commands that need what is not here (an extra, a server, a key, files of one's own): 2 and one clear line."""
UNFIT = re.compile(r"^build-dataset inspect$|…|\.\.\.|^build-dataset (?:STAGE|demo|init|release)\b|[|<>\[]")
"""No commands to carry out: parts of them, or such as make folders (``init`` and ``demo`` have tests of their own)."""
PLACES = {
    "PAPER.pdf": "internal-medicine.pdf",
    "PAPER": "internal-medicine",
    "FILE": "internal-medicine",
    "BANK.xlsx": "public-health-tcm.json",
    "bank.xlsx": "public-health-tcm.json",
    "book.pdf --pages 121-240": "internal-medicine.pdf --pages 1-2",
}


def documented() -> list[str]:
    """Return the commands of README and docs, each once."""
    found: dict[str, None] = {}
    for page in (ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = page.read_text(encoding="utf-8")
        lines = re.findall(r"^ *(build-dataset [a-z].*)$", text, re.MULTILINE)
        spans = re.findall(r"`(build-dataset [a-z][^`]*)`", text)
        for command in (*lines, *spans):
            found[" ".join(re.sub(r"\s+#.*", "", command).split())] = None
    return [command for command in found if not UNFIT.search(command)]


def substituted(command: str, question_id: str) -> Sequence[str]:
    for name, ours in {**PLACES, "QUESTION_ID": question_id}.items():
        command = re.sub(rf"\b{re.escape(name)}(?![\w-])", ours, command)
    return shlex.split(re.sub(r"[0-9a-f]{8}-\d-\d{3}", question_id, command))


def test_every_command_of_readme_and_docs_works_or_says_what_it_needs(locked, demo):
    (demo / "raw").mkdir(exist_ok=True)
    question_id = pl.read_parquet(demo / "build/dedup/questions.parquet")["question_id"][0]
    commands = documented()
    assert len(commands) > 40
    failed = []
    for command in commands:
        done = locked.run(*substituted(command, question_id), cwd=demo)
        wanted = (0, 2, 3) if ELSEWHERE.search(command) else (0,)  # 2: one line says what is missing, 3: incomplete
        if done.returncode not in wanted or "bug in build-dataset" in done.stderr or "Traceback" in done.stderr:
            failed.append(f"{command} → {done.returncode}: {done.stderr[-300:]}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("start", [["build-dataset"], ["python", "-m", "build_dataset"]])
def test_the_program_starts_in_both_ways(locked, start):
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", locked.do(*start, "--version"))


def test_a_missing_module_is_named(locked, tmp_path):
    script = (
        "import sys, build_dataset.pipeline.cli.build as b\n"
        "def broken(*_, **__): import build_dataset.not_there\n"
        "sys.modules['build_dataset.pipeline.doctor'] = None\n"
        "sys.argv[1:] = ['doctor']\nimport build_dataset\nbuild_dataset.main()\n"
    )
    done = locked.run("python", "-c", script, cwd=tmp_path)
    assert done.returncode == 1
    assert "a bug in build-dataset (ModuleNotFoundError: build_dataset.pipeline.doctor)" in done.stderr
