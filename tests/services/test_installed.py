"""The wheel and the Dockerfile's installation: the demo, and every command that README and docs show.

``test_installed_newest.py`` does without the pinned versions.
"""

import re
import shlex
import shutil
import subprocess
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import pytest

from tests.services.installation import ROOT, Installation, build, environment, tables


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
def demo(locked) -> Path:
    """The demo of the locked installation."""
    locked.do("build-dataset", "demo", "demo")
    return locked.home / "demo"


def test_the_dockerfile_installs_what_is_pinned_and_then_the_package():
    assert [command.split(" -r ")[0].split()[-1] for command in docker_commands()] == ["--require-hashes", "."]


def test_a_wheel_holds_the_files_of_the_repository_unchanged_below_one_name(tmp_path):
    _, path = build(tmp_path)
    with zipfile.ZipFile(path) as wheel:
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


def test_the_demo_of_the_pinned_installation_has_the_bytes_of_the_clones(demo, sample_build):
    made, ours = tables(demo / "build"), tables(sample_build)
    assert made.keys() == ours.keys()
    assert [name for name in made if made[name].read_bytes() != ours[name].read_bytes()] == []


ELSEWHERE = re.compile(
    r"--engine paddleocr|review (?:push|pull|adjudicate|verify)|score-answers|--model NAME|--base-url|"
    r"executor\.kind|proofread|--adjudicate|"
    r"--push|gpt-4o|submission|--annotator learned|--batch|restore|"
    r"sheet import zhang|score (?:model_answer|CMB|FILE|answers)|review (?:copy|hold|cancel)"
)
"""Commands that need what is not here (an extra, a server, a key, files of one's own): 2 and one clear line."""
UNFIT = re.compile(
    r"^build-dataset (?:inspect|score(?: --key)?)$|…|\.\.\.|^build-dataset (?:STAGE|demo|init|release)\b|[|<>\[]"
)
"""No commands to carry out: parts of them, or such as make folders (``init`` and ``demo`` have tests of their own)."""
PLACES = {
    "PAPER.pdf": "internal-medicine.pdf",
    "PAPER": "internal-medicine",
    "FILE": "internal-medicine",
    "BANK.xlsx": "public-health-tcm.json",
    "bank.xlsx": "public-health-tcm.json",
    "waiting.xlsx": "build/report/waiting.xlsx",
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
        command = re.sub(rf"(?<!report/)\b{re.escape(name)}(?![\w-])", ours, command)
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
