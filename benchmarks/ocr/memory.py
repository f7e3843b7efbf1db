"""Memory of reading one long document: flat, or growing with its pages?

    python -m benchmarks.ocr.memory --pages 1000
    python -m benchmarks.ocr.memory --pages 1000 --text

Makes a document of so many pages (small scans that all differ, or with ``--text`` a text layer) and reads it page by
page in one process, as a worker of the stage does, which is never replaced here. Prints resident memory after 50
pages, at every tenth of the document and at its end.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np
import pymupdf

from benchmarks.ocr.texts import generated
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.tasks import PageTask, read_pages, recognise_page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--text", action="store_true", help="pages with a text layer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ocr-memory-") as name:
        path = Path(name) / "long.pdf"
        make(path, options.pages, scanned=not options.text)
        started = time.process_time()
        early = 0.0
        for page in range(1, options.pages + 1):
            task = PageTask("long.pdf", path, "pdf", (page,), OcrParams())
            if options.text:
                read_pages(task)
            else:
                recognise_page(task)
            if page == min(50, options.pages):
                early = resident()
            if page == 50 or page % max(1, options.pages // 10) == 0:
                print(f"{page:5} pages  {resident():6.0f} MB", flush=True)
        seconds = time.process_time() - started
    print(f"end over 50 pages: {resident() / early:.3f}; {options.pages / seconds:.1f} pages a CPU second")


def make(path: Path, pages: int, scanned: bool) -> None:
    """Write the document: each page two questions, of its own size, so that lines of every width occur."""
    font = pymupdf.Font("cjk")
    questions = generated(3)
    document = pymupdf.open()
    for index in range(pages):
        width = 300 + index % 97
        page = document.new_page(width=width, height=200)
        writer = pymupdf.TextWriter(page.rect)
        y = 20.0
        for _ in range(2):
            question = next(questions)
            for text in (question.stem, *(f"{letter}．{text}" for letter, text in question.options)):
                writer.append((12, y), text, font=font, fontsize=9 + index % 3)
                y += 15
        writer.write_text(page)
        if scanned:
            pixmap = page.get_pixmap(dpi=120)
            pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
            document.delete_page(index)
            picture = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 60])[1].tobytes()
            document.new_page(width=width, height=200).insert_image((0, 0, width, 200), stream=picture)
    if not scanned:
        document.subset_fonts()
    document.save(path, garbage=3, deflate=True)


def resident() -> float:
    """Resident memory of this process in MB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


if __name__ == "__main__":
    main()
