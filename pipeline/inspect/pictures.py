"""Pictures of pages, small enough that a book fits into one HTML page."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.crop import Paper, page_image
from pipeline.html import data_uri
from pipeline.runtime.executor import LocalExecutor
from pipeline.stage import Failure

BUDGET = 9_000_000
"""Bytes of all pictures of a page together; as text they take a third more."""

MAX_BYTES = 260_000
"""Of one picture: a scan of 1,000 pixels across at good quality."""

TIMEOUT = 60.0
"""Seconds a page may take to be drawn before it is shown without its picture."""

_STEPS = ((1100, 70), (1000, 55), (900, 45), (800, 38), (700, 32), (560, 28))
"""Width in pixels and JPEG quality, best first; the first that fits is taken."""


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
        for task, content in executor.map(jpeg, tasks, TIMEOUT):
            if isinstance(content, Failure):
                failed[task.page] = f"{content.reason}: {content.detail}"
            else:
                drawn[task.page] = data_uri(content, "image/jpeg")
    finally:
        executor.close()
    return drawn, failed


def jpeg(task: PictureTask) -> bytes:
    """The page as JPEG of at most ``task.most`` bytes, or the smallest there is."""
    from PIL import Image

    pixels, _, _ = page_image(task.paper, task.page)
    picture = Image.fromarray(pixels)
    if int((pixels.max(axis=2) - pixels.min(axis=2)).max()) < 24:
        picture = picture.convert("L")
    content = b""
    for width, quality in _STEPS:
        size = (width, max(1, round(picture.height * width / picture.width)))
        shrunk = picture.resize(size, Image.Resampling.LANCZOS) if width < picture.width else picture
        buffer = io.BytesIO()
        shrunk.save(buffer, "JPEG", quality=quality, optimize=True)
        content = buffer.getvalue()
        if len(content) <= task.most:
            break
    return content
