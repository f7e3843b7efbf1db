"""The guide for those who add to the project, followed to the letter."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[tuple[str, str]]:
    """The code that the guide marks with ``<!-- kind … -->``: what stands behind the kind, and the code.

    ``file PATH`` is a whole file; ``into PATH before TEXT`` goes in front of the first line that begins so.
    """
    return re.findall(rf"<!-- {kind} (.*?) -->\n```(?:python|toml)?\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture
def extended(tmp_path):
    """A copy of the project with the guide's stage in it."""
    for package in ("build_dataset", "schemas", "pipeline", "annotation"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, code in blocks("file"):
        (tmp_path / name).write_text(code, encoding="utf-8")
    for where, code in blocks("into"):
        name, before = where.replace("⏎", "\n").split(" before ", 1)
        module = (tmp_path / name).read_text(encoding="utf-8")
        assert f"\n{before}" in module, where
        space = "\n\n" if code.startswith(("class", "def")) else ""
        module = module.replace(f"\n{before}", f"\n{code}{space}{before}", 1)
        (tmp_path / name).write_text(module, encoding="utf-8")
    return tmp_path


ADDITIONS = (
    "A cleaning filter", "An OCR engine", "A format of sources", "A head of keys", "An item type", "A dimension",
    "A format that others read", "A metric",
)  # fmt: skip


@pytest.mark.parametrize("addition", ADDITIONS)
def test_an_addition_and_its_test_are_three_files_at_most(addition):
    [section] = re.findall(rf"^## {addition}\n(.*?)(?=^## )", GUIDE, re.DOTALL | re.MULTILINE)
    assert 1 <= len(set(re.findall(r"<!-- (?:file|into) ((?:pipeline|schemas)/\S+)", section))) <= 2


def test_the_guides_code_has_the_style_of_the_project(extended):
    shutil.copy(ROOT / "pyproject.toml", extended)
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", "--output-format", "concise", "."],
            cwd=extended, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout


def run(extended: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", "from build_dataset.pipeline.cli import main; main()", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(extended), "COLUMNS": "300"}
    return subprocess.run(program, cwd=extended, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_guides_metric_stands_in_the_results(extended, sample_build):
    shutil.copytree(sample_build / "export", extended / "build" / "export")
    (extended / "dataset.toml").write_text('[dataset]\nname = "x"\n', encoding="utf-8")
    done = run(extended, "evaluate")
    assert done.returncode == 0, done.stderr
    results = extended / "build" / "evaluate"
    scores = pl.read_parquet(results / "scores.parquet").filter(metric="key_named", dimension="overall")
    assert scores["run"].to_list() == ["random", "majority"]
    assert (scores["low"] <= scores["value"]).all()
    assert (scores["low"] < scores["high"]).all()
    assert "含全部正确项 All right options named" in (results / "results.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_guides_metric_passes_the_tests_beside_it_once_the_golden_file_is_written_anew(extended):
    shutil.copytree(ROOT / "tests", extended / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", extended)
    beside = [f"tests/pipeline/evaluate/{name}" for name in ("test_metrics.py", "test_scoring.py", "results")]
    for command in (["tests.pipeline.evaluate.results.test_golden"], ["pytest", "-n", "0", *beside]):
        program = [sys.executable, "-m", *command]
        done = subprocess.run(program, cwd=extended, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_guides_filter_rejects_and_its_format_is_written(extended):
    bank = extended / "raw" / "bank.csv"
    bank.parent.mkdir()
    bank.write_text(
        "题干,A,B,C,D,答案\n下列哪项正确,甲,乙,丙,以上都是,D\n下列哪项错误,甲,乙,丙,丁,A\n", encoding="utf-8"
    )
    (extended / "dataset.toml").write_text('[dataset]\nname = "x"\n[export]\nanki = true\n', encoding="utf-8")
    done = run(extended, "run", "--to", "export")
    assert done.returncode == 0, done.stderr
    rejects = pl.read_parquet(extended / "build" / "clean" / "rejects.parquet")
    assert rejects.select("reason", "detail").rows() == [("catch_all", "option D is “以上都是”")]
    written = [path.read_text(encoding="utf-8") for path in (extended / "build" / "export" / "anki").glob("*.tsv")]
    assert any("下列哪项错误\tA" in text for text in written)
    assert "`anki/*.tsv`" in (extended / "build" / "export" / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_guides_engine_source_format_and_item_type_are_read(extended):
    raw = extended / "raw"
    raw.mkdir()
    cards = "stem: 下列哪项正确\nA: 甲\nB: 乙\nC: 丙\nD: 丁\nanswer: C\n"
    (raw / "bank.cards").write_text(f"{cards}\n{cards.replace('正确', '错误')}", encoding="utf-8")
    (raw / "paper.txt").write_text(
        "一、计算选择题\n1. 体重60kg的成人每日需水量约为\nA. 800ml\nB. 2000ml\nC. 4000ml\nD. 6000ml\n速对表\n1. B\n",
        encoding="utf-8",
    )
    Image.new("RGB", (800, 600), "white").save(raw / "scan.png")
    lines = "1. 图中文字由别的程序给出\nA. 对一\nB. 对二\nC. 对三\nD. 对四\n答案：D\n"
    (extended / "sidecar.txt").write_text(lines, encoding="utf-8")
    (extended / "dataset.toml").write_text('[dataset]\nname = "x"\n[ocr]\nengine = "sidecar"\n', encoding="utf-8")
    done = run(extended, "run", "--to", "parse")
    assert done.returncode == 0, done.stderr
    found = pl.read_parquet(extended / "build" / "parse" / "questions.parquet").sort("document", "number")
    assert found.select("document", "question_type", pl.col("answer").list.join("")).rows() == [
        ("bank.cards", "A1", "C"),
        ("bank.cards", "A1", "C"),
        ("paper.txt", "calculation", "B"),
        ("scan.png", "A1", "D"),
    ]


@pytest.mark.slow
def test_the_guides_built_in_dimension_stands_beside_cmexams(extended):
    bank = extended / "raw" / "bank.csv"
    bank.parent.mkdir()
    bank.write_text("题干,A,B,C,D,答案\n下列属于抗凝药的是,甲,乙,丙,丁,D\n", encoding="utf-8")
    (extended / "dataset.toml").write_text('[dataset]\nname = "x"\nlabels = "labels.toml"\n', encoding="utf-8")
    done = run(extended, "run", "--to", "annotate")
    assert done.returncode == 0, done.stderr
    annotations = pl.read_parquet(extended / "build" / "annotate" / "annotations.parquet")
    assert "competency" in annotations["dimension"].to_list()
    assert annotations.filter(dimension="cognitive_level")["label"].to_list() == ["记忆"]


@pytest.mark.slow
def test_the_guides_stage_is_a_command_after_the_steps_that_it_names(extended, sample_build):
    build = extended / "build"
    shutil.copytree(sample_build / "dedup", build / "dedup")
    (extended / "dataset.toml").write_text('[dataset]\nname = "x"\n[lengths]\nat_least = 1.2\n', encoding="utf-8")
    done = run(extended, "lengths")
    assert done.returncode == 0, done.stderr
    assert "questions = " in done.stderr
    assert "right options that stand out by their length" in done.stderr
    assert pl.read_parquet(build / "lengths" / "long_answers.parquet")["ratio"].min() >= 1.2
    shown = run(extended, "lengths", "--help")
    assert "--at-least" in shown.stdout
