"""Pictures of pages, small enough that a book fits into one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.crop import TIMEOUT, Paper, as_picture, jpeg, page_image
from pipeline.rendering.html import data_uri
from pipeline.runtime.executor import LocalExecutor
from pipeline.stage import Failure

BUDGET = 9_000_000
"""Bytes of all pictures of a page together; as text they take a third more."""

MAX_BYTES = 260_000
"""Of one picture: a scan of 1,000 pixels across at good quality."""


@dataclass(frozen=True)
class PictureTask:
    """A page to draw."""

    paper: Paper
    page: int
    most: int
    """Bytes it may take."""


def pictures(paper: Paper, pages: Sequence[int]) -> tuple[dict[int, str], dict[int, str]]:
    """Data URIs of pages, and why others have none. Drawn in worker processes: a hostile page costs itself alone."""
    most = min(MAX_BYTES, BUDGET // max(1, len(pages)))
    drawn: dict[int, str] = {}
    failed: dict[int, str] = {}
    executor = LocalExecutor()
    try:
        tasks = [PictureTask(paper, page, most) for page in pages]
        for task, content in executor.map(draw, tasks, TIMEOUT):
            if isinstance(content, Failure):
                failed[task.page] = f"{content.reason}: {content.detail}"
            else:
                drawn[task.page] = data_uri(content, "image/jpeg")
    finally:
        executor.close()
    return drawn, failed


def draw(task: PictureTask) -> bytes:
    """The page as JPEG."""
    return jpeg(as_picture(page_image(task.paper, task.page)[0]), task.most)
