"""Task files for other tools, run by the real packages: the same answers and accuracy as ``evaluate`` gives.

Each tool has an environment of its own, as they pin packages that clash: ``.venv-tools/lm-eval`` and so on. ``make
test-tools`` makes those of lm-evaluation-harness, Inspect and OpenCompass. LightEval's is made by hand, where there is
a network: it does not start without one.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("torch", reason="needs the extra 'local'")
pytest.importorskip("transformers", reason="needs the extra 'local'")

from build_dataset.pipeline.evaluate.params import EvaluateParams, TransformersModel
from build_dataset.pipeline.evaluate.stage import run
from build_dataset.pipeline.export.formats import TASKS, task_files
from build_dataset.schemas.dataset import DatasetParams
from tests.services.tiny_model import make_tiny_model

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(os.environ.get("BUILD_DATASET_TOOLS", ROOT / ".venv-tools"))
SPLITS = ("train", "validation", "test")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def exported(sample_build, tmp_path_factory):
    """The sample's export, all of it as the test split, with task files of every tool."""
    folder = tmp_path_factory.mktemp("export")
    whole = pl.concat(pl.read_parquet(sample_build / "export" / f"{name}.parquet") for name in SPLITS)
    frames = {"train": whole.clear(), "validation": whole.clear(), "test": whole}
    for name, data in task_files(DatasetParams(name="sample"), frames, tuple(TASKS)).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder, frames


def tool(name: str, program: str, folder: Path, *arguments: str) -> str:
    """Run a tool in its own environment, without the network."""
    python = TOOLS / name / "bin" / program
    if not python.is_file():
        pytest.skip(f"needs an environment with {name} in {TOOLS / name}")
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder / "cache")}
    done = subprocess.run(
        [str(python), *arguments],
        cwd=folder,
        env={**os.environ, **offline, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def ours(context, frames, model: Path, **options) -> dict[str, dict]:
    """The grades that ``evaluate`` gives the same questions, by id."""
    asked = TransformersModel.model_validate(
        {"model": str(model), "chat": "plain", "devices": ["cpu"], "name": "ours", "max_tokens": 24, **options}
    )
    result = run(frames, EvaluateParams(models=[asked]), context)
    return {row["question_id"]: row for row in result.tables["predictions"].to_dicts()}


def single(folder: Path) -> list[str]:
    """The ids of the questions with one answer, in the files' order."""
    lines = (folder / "tasks/questions/test.jsonl").read_text(encoding="utf-8").splitlines()
    return [row["id"] for row in map(json.loads, lines) if not row["several"]]


def accuracy(found: dict[str, dict], ids: list[str]) -> float:
    return sum(bool(found[name]["correct"]) for name in ids) / len(ids)


def test_lm_evaluation_harness_gives_the_same_likelihoods_and_accuracy(context, exported, model):
    folder, frames = exported
    tool(
        "lm-eval", "python", folder, "-m", "lm_eval",
        "--model", "hf", "--model_args", f"pretrained={model},dtype=float32",
        "--include_path", "tasks/lm_eval", "--tasks", "sample", "--device", "cpu", "--batch_size", "8",
        "--output_path", "out", "--log_samples",
    )  # fmt: skip
    [results] = (folder / "out").rglob("results_*.json")
    [samples] = (folder / "out").rglob("samples_*.jsonl")
    theirs = json.loads(results.read_text(encoding="utf-8"))["results"]["sample"]["acc,none"]
    found = ours(context, frames, model, answer_by="likelihood")
    assert theirs == pytest.approx(accuracy(found, single(folder)))
    for line in samples.read_text(encoding="utf-8").splitlines():
        sample = json.loads(line)
        likely = [float(response[0][0]) for response in sample["resps"]]
        said = [each["value"] for each in found[sample["doc"]["id"]]["likelihoods"]]
        # Theirs hold the line break before the letter too: the same for all letters.
        assert [one - likely[0] for one in likely] == pytest.approx([one - said[0] for one in said], abs=1e-3)


def test_lighteval_gives_the_same_accuracy(context, exported, model):
    folder, frames = exported
    tool(
        "lighteval", "python", folder, "-m", "lighteval", "accelerate",
        f"model_name={model},dtype=float32,batch_size=8",
        "sample|0", "--custom-tasks", "tasks/lighteval/sample.py", "--output-dir", "light",
    )  # fmt: skip
    [results] = (folder / "light").rglob("results_*.json")
    theirs = json.loads(results.read_text(encoding="utf-8"))["results"]["sample|0"]["acc"]
    found = ours(context, frames, model, answer_by="likelihood")
    assert theirs == pytest.approx(accuracy(found, single(folder)))


def test_inspect_reads_the_same_answers(context, exported, model):
    folder, frames = exported
    out = tool(
        "inspect-ai", "inspect", folder, "eval", "tasks/inspect/sample.py", "--model", "hf/local", "-M",
        f"model_path={model}", "-M", "device=cpu", "-M", "do_sample=False",
        "--max-tokens", "24", "--log-format", "json", "--log-dir", "logs",
        "--display", "plain",
    )  # fmt: skip
    [log] = (folder / "logs").glob("*.json")
    samples = json.loads(log.read_text(encoding="utf-8"))["samples"]
    found = ours(context, frames, model, chat="auto")
    assert {sample["id"] for sample in samples} == set(found), out
    for sample in samples:
        score, row = sample["scores"]["stated"], found[sample["id"]]
        assert sample["output"]["choices"][0]["message"]["content"].strip() == row["raw_output"].strip()
        letters = "".join(row["extracted"] or ())
        assert score["answer"] in (letters, "")  # the small reader may say nothing; it never says another letter
        if row["sureness"] == "explicit" or not letters:
            assert score["answer"] == letters
            assert (score["value"] == "C") == bool(row["correct"])


def test_opencompass_gives_the_same_accuracy(context, exported, model):
    folder, frames = exported
    (folder / "run.py").write_text(
        "from mmengine.config import read_base\n"
        "with read_base():\n    from tasks.opencompass.sample import sample\n"
        "from opencompass.models import HuggingFaceBaseModel\n"
        f"models = [dict(type=HuggingFaceBaseModel, abbr='m', path={str(model)!r}, max_out_len=8, batch_size=8, "
        "run_cfg=dict(num_gpus=0), model_kwargs=dict(device_map='cpu'))]\n"
        "datasets = [*sample]\n",
        encoding="utf-8",
    )
    out = tool("opencompass", "python", folder, "-m", "opencompass.cli.main", "run.py", "--debug", "-w", "oc")
    [results] = (folder / "oc").rglob("results/m/sample.json")
    theirs = json.loads(results.read_text(encoding="utf-8"))["accuracy"]
    found = ours(context, frames, model, answer_by="likelihood")
    assert theirs / 100 == pytest.approx(accuracy(found, single(folder)), abs=1e-4), re.sub(r"\s+", " ", out)[-500:]
