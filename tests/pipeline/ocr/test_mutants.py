"""Hostile PDFs of every kind are read or refused with a reason: no crash, no hang; bounds end what takes too long."""

import importlib.util
import sys
from pathlib import Path

import pytest

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.tasks import FileTask, PageTask, inspect_file, read_pages
from build_dataset.pipeline.runtime.executor import LocalExecutor
from build_dataset.pipeline.stage import Failure

ROOT = Path(__file__).parents[3]
PAPERS = sorted((ROOT / "raw" / "sample" / "papers").glob("*.pdf"))
REFUSED = {"broken", "truncated", "no_pages", "encrypted", "too_large", "not_a_pdf", "timeout"}

_spec = importlib.util.spec_from_file_location("pdf_mutants", ROOT / "benchmarks" / "pdf" / "mutants.py")
making = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = making
_spec.loader.exec_module(making)


@pytest.fixture(scope="module")
def executor():
    workers = LocalExecutor(1)
    yield workers
    workers.close()


def test_mutants_are_read_or_refused_and_none_crashes_its_worker(executor, tmp_path):
    tasks = []
    for mutant in making.mutants(PAPERS, 2 * len(making.MUTATIONS), seed=1):
        if mutant.kind not in making.SLOW:
            path = tmp_path / f"{mutant.kind}-{mutant.number}.pdf"
            path.write_bytes(mutant.content)
            tasks.append(FileTask(path.name, path, OcrParams(text_timeout=2)))
    looks = list(executor.map(inspect_file, tasks, 60))
    assert len(looks) == len(tasks)
    assert {look.reason for _, look in looks if isinstance(look, Failure)} <= REFUSED
    sound = [(task, look) for task, look in looks if not isinstance(look, Failure)]
    pages = [
        PageTask(task.document, task.path, look.format, tuple(range(1, min(look.pages, 40) + 1)), task.params)
        for task, look in sound
    ]
    for task, values in executor.map(read_pages, pages, 60):
        if isinstance(values, Failure):
            assert values.reason == "timeout", task.document
            continue
        assert len(values) == len(task.pages)
        blank = [value for value in values if value.get("method") == "blank"]
        assert all(value["reason"] for value in blank), task.document


@pytest.mark.slow
def test_the_same_seed_makes_the_same_mutants():
    first, second = (list(making.mutants(PAPERS[:1], 16, seed=3)) for _ in range(2))
    assert first == second
    assert {mutant.kind for mutant in first} == set(making.MUTATIONS)
