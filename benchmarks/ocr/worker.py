"""Reads pages with one engine and says what it read and how long it took; ``measure`` starts it.

    python -m benchmarks.ocr.worker ENGINE FOLDER OUT.json --processes 2

FOLDER holds ``truth.json`` and the pictures it names. Every process reads a page before its clock starts, so that
loading models is not counted.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import time
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.ocr.pages import load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    images = [str(options.folder / page.image) for page in load(options.folder / "truth.json")]
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(options.processes)
    with context.Pool(options.processes, _start, (barrier,)) as pool:
        pool.map(partial(_warm, options.engine, images[0]), range(options.processes), chunksize=1)
        started = time.perf_counter()
        read = pool.map(partial(_timed, options.engine), images, chunksize=1)
        wall = time.perf_counter() - started
    pages = [{"words": words, "cpu": cpu} for words, cpu in read]
    options.out.write_text(json.dumps({"wall": wall, "pages": pages}, ensure_ascii=False), encoding="utf-8")


_barrier: Any = None


def _start(barrier: Any) -> None:
    global _barrier
    _barrier = barrier
    sys.stdout = sys.stderr  # engines talk


def _warm(engine: str, image: str, _: int) -> None:
    """Load the engine in each process: the barrier keeps a quick one from taking another's turn."""
    _barrier.wait(300)
    _timed(engine, image)
    _barrier.wait(300)


def _timed(engine: str, image: str) -> tuple[list[Any], float]:
    before = _cpu()
    words = ENGINES[engine](Path(image))
    return words, _cpu() - before


def _cpu() -> float:
    """Processor seconds of this process with all its threads, and of its children that ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _ours(image: Path, engine: str = "auto", **options: Any) -> list[Any]:
    """An engine of ours the way the stage calls it, cleaning and the search for figures included."""
    from build_dataset.pipeline.ocr.params import OcrParams
    from build_dataset.pipeline.ocr.tasks import PageTask, recognise_page

    params = OcrParams.model_validate({"engine": engine, **options})
    page = recognise_page(PageTask("page", image, "image", (1,), params))
    across, down = _scale(image, page)
    return [
        [row[0], [[x * across, y * down] for x, y in zip(row[1:9:2], row[2:9:2], strict=True)]] for row in page["words"]
    ]


def _scale(image: Path, page: dict[str, Any]) -> tuple[float, float]:
    from PIL import Image

    with Image.open(image) as picture:
        width, height = picture.size
    return width / page["width"], height / page["height"]


def _rapidocr(image: Path) -> list[Any]:
    """RapidOCR as it comes."""
    found = _rapidocr_engine()(str(image))
    if found.boxes is None:
        return []
    return [[text, box.tolist()] for text, box in zip(found.txts, found.boxes, strict=True)]


@cache
def _rapidocr_engine() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "critical"})


def _paddleocr(image: Path) -> list[Any]:
    """PaddleOCR as it comes, on onnxruntime, with the same models (by themselves they would be downloaded)."""
    (page,) = _paddleocr_engine().predict(str(image))
    return [[text, box.tolist()] for text, box in zip(page["rec_texts"], page["rec_polys"], strict=True)]


@cache
def _paddleocr_engine() -> Any:
    from contextlib import ExitStack

    from build_dataset.pipeline.ocr.engines.paddle import _models, _unpacked
    from build_dataset.pipeline.ocr.params import PaddleOcrParams

    os.environ.setdefault("PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK", "True")
    from paddleocr import PaddleOCR

    options: dict[str, Any] = {}
    with ExitStack() as folders:
        for model in _models(PaddleOcrParams()):
            options[f"text_{model.part}_model_name"] = model.name
            options[f"text_{model.part}_model_dir"] = str(folders.enter_context(_unpacked(model)))
        return PaddleOCR(
            engine="onnxruntime",
            device="cpu",
            use_doc_orientation_classify=False,
            use_doc_unwarping=False,
            use_textline_orientation=False,
            **options,
        )


ENGINES = {
    "default": _ours,
    "onnxruntime": partial(_ours, rapidocr={"backend": "onnxruntime"}),
    "rapidocr": _rapidocr,
    "paddleocr": _paddleocr,
}
"""The engines by name: ``default`` is the pipeline's choice, ``onnxruntime`` the same without OpenVINO."""

if __name__ == "__main__":
    main()
