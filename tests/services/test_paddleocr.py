"""The paddleocr engine with the real PaddleOCR: the scanned paper of the sample, read and parsed."""

import json
import os
import subprocess
import sys
import unicodedata
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from build_dataset.pipeline.ocr.engines import paddle
from build_dataset.pipeline.ocr.params import PaddleOcrParams

ROOT = Path(__file__).resolve().parents[2]
SCAN = "scan-2024-03.pdf"
GOLD = {
    question["number"]: question
    for question in json.loads((ROOT / "raw/sample/gold.json").read_text(encoding="utf-8"))["questions"]
    if question["document"] == SCAN
}


@dataclass(frozen=True)
class Builder:
    """Runs stages in an environment with PaddleOCR, without a network and without any model at home."""

    python: str
    home: Path

    def run(self, *arguments: str, expect: int = 0) -> str:
        environment = os.environ | {
            "HOME": str(self.home / "home"),
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "PYTHONPATH": str(ROOT),
        }
        done = subprocess.run(
            [self.python, "-c", "from build_dataset.pipeline.cli import main; main()", *arguments],
            cwd=self.home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == expect, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout + done.stderr

    def table(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.home / "build" / f"{name}.parquet")


@pytest.fixture
def builder(tmp_path: Path) -> Builder:
    python = os.environ.get("BUILD_DATASET_PADDLE_PYTHON")
    if python is None:
        if find_spec("paddleocr") is None:
            pytest.skip(
                "no paddleocr: install it (docs/ocr.md), or name a python that has it and build-dataset in "
                "BUILD_DATASET_PADDLE_PYTHON"
            )
        python = sys.executable
    (tmp_path / "home").mkdir()
    (tmp_path / "raw").mkdir()
    for name in (SCAN, "scan-2024-03_answers.pdf"):
        (tmp_path / "raw" / name).write_bytes((ROOT / "raw/sample/papers" / name).read_bytes())
    configure(tmp_path)
    return Builder(python, tmp_path)


def configure(home: Path, **options: Any) -> None:
    lines = ["[dataset]", 'name = "scan"', "[ocr]", 'engine = "paddleocr"', "[ocr.paddleocr]"]
    lines += [f"{key} = {json.dumps(str(value))}" for key, value in options.items()]
    (home / "dataset.toml").write_text("\n".join(lines), encoding="utf-8")


def folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split()).rstrip("()。.?_")


def test_the_scanned_paper_is_read_and_parsed_as_it_was_printed(builder: Builder) -> None:
    builder.run("ocr")
    pages = builder.table("ocr/pages").filter(pl.col("document") == SCAN)
    assert set(pages["method"]) == {"ocr"}
    assert set(pages["engine"]) == {"paddleocr"}
    assert "PP-OCRv6_small_rec of rapidocr" in pages["engine_version"][0]
    assert pages["confidence"].min() > 0.9

    builder.run("parse")
    questions = {row["number"]: row for row in builder.table("parse/questions").to_dicts()}
    assert questions.keys() == GOLD.keys()
    for number, gold in GOLD.items():
        found = questions[number]
        assert folded(found["stem"]) == folded(gold["stem"])
        assert [(option["label"], folded(option["text"])) for option in found["options"]] == [
            (option["label"], folded(option["text"])) for option in gold["options"]
        ]
        assert found["answer"] == gold["answer"]


def test_model_folders_of_the_users_own_read_the_same_and_are_named_by_their_hash(builder: Builder) -> None:
    builder.run("ocr")
    packaged = builder.table("ocr/lines")
    folders = {}
    for model in paddle._models(PaddleOcrParams()):
        folders[f"{model.part}_dir"] = builder.home / model.part
        folders[f"{model.part}_dir"].mkdir()
        with paddle._unpacked(model) as unpacked:
            for path in unpacked.iterdir():
                (folders[f"{model.part}_dir"] / path.name).write_bytes(path.read_bytes())
    configure(builder.home, **folders)
    builder.run("ocr")
    assert builder.table("ocr/lines").equals(packaged)
    version = builder.table("ocr/pages").filter(pl.col("document") == SCAN)["engine_version"][0]
    assert "rapidocr" not in version


def test_a_model_that_is_not_here_is_an_error_before_any_page_is_read(builder: Builder) -> None:
    configure(builder.home, recognition_model="PP-OCRv6_medium_rec")
    said = " ".join(builder.run("ocr", expect=2).split())
    assert "set recognition_dir" in said
    assert "Traceback" not in said
    assert not (builder.home / "build/ocr/pages.parquet").exists()


def test_a_model_file_that_is_broken_is_an_error_before_any_page_is_read(builder: Builder) -> None:
    broken = builder.home / "broken"
    broken.mkdir()
    (broken / "inference.onnx").write_bytes(b"no model")
    (broken / "inference.yml").write_text("Global: {model_name: PP-OCRv6_small_det}", encoding="utf-8")
    configure(builder.home, detection_dir=broken)
    said = builder.run("ocr", expect=2)
    assert "PaddleOCR does not start" in said
    assert "Traceback" not in said
    assert not (builder.home / "build/ocr/pages.parquet").exists()
