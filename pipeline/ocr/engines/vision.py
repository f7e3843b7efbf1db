"""Vision models behind an OpenAI-compatible endpoint: a page's picture in one request, its lines in a strict form."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from build_dataset.annotation.llm.client import LlmClient
from build_dataset.annotation.llm.messages import Answer, BadAnswerError, ChatRequest, Reason
from build_dataset.pipeline.ocr.interfaces import EngineSetup
from build_dataset.pipeline.ocr.params import VisionParams
from build_dataset.pipeline.stage import Context, Failure
from build_dataset.schemas.errors import UserError

if TYPE_CHECKING:
    from build_dataset.pipeline.ocr.tasks import PageTask
_REQUEST: dict[str, Any] = json.loads((files("build_dataset.pipeline.ocr.engines") / "vision.json").read_bytes())
"""The task, and the strict form of the answer."""
_TOGETHER = 4  # Pages for each request in flight that are drawn before they are asked for: pictures take memory
Box = tuple[float, float, float, float]


class VisionEngine(EngineSetup):
    """The engine's set-up. Its pages are read by ``recognise_pages``, in the process that has the store of answers."""

    @staticmethod
    def check(params: VisionParams) -> None:
        """Make sure that a model is named and its key is there."""
        if (missing := params.missing()) is not None:
            raise UserError(f"[ocr.vision] {missing}")

    @staticmethod
    def models(params: VisionParams) -> list[str]:
        """The model's name."""
        return [str(params.model)]


def picture(task: PageTask) -> dict[str, Any]:
    """A page as a JPEG in base64, with its size in points; in a worker."""
    from PIL import Image

    from build_dataset.pipeline.ocr.interfaces import VisualReader
    from build_dataset.pipeline.ocr.readers import reader

    found = reader(task.format)
    assert isinstance(found, VisualReader)
    page = found.image(task.path, task.pages[0], task.params)
    image = Image.fromarray(page.pixels)
    image.thumbnail((task.params.vision.side, task.params.vision.side))
    data = io.BytesIO()
    image.save(data, "JPEG", quality=90)
    return {"jpeg": base64.b64encode(data.getvalue()).decode(), "width": page.width, "height": page.height}


def recognise_pages(
    tasks: Sequence[PageTask], params: VisionParams, context: Context, timeout: float
) -> Iterator[tuple[PageTask, dict[str, Any] | Failure]]:
    """Return what the model reads on each page, in the form of ``recognise.recognise``, as answers arrive.

    Answers are stored by the client before they are given out: a page is paid for once.
    """
    client = LlmClient(params)
    step = _TOGETHER * params.concurrency
    for start in range(0, len(tasks), step):
        drawn: dict[str, tuple[PageTask, dict[str, Any]]] = {}
        for task, value in context.map(picture, tasks[start : start + step], timeout=timeout):
            if isinstance(value, Failure):
                yield task, value
            else:
                drawn[f"{task.document}#{task.pages[0]}"] = (task, value)
        requests = list[ChatRequest]()
        for name, (_, value) in drawn.items():
            seen = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{value['jpeg']}"}}
            messages = [{"role": "system", "content": _REQUEST["task"]}, {"role": "user", "content": [seen]}]
            requests.append(ChatRequest(name, messages, response_format=_REQUEST["response_format"], check=_lines))
        for outcome in client.complete_many(requests, context.store):
            task, value = drawn[outcome.request.id]
            if isinstance(outcome, Answer):
                yield task, _page(_lines(outcome.text), value["width"], value["height"], params)
            else:
                yield task, Failure("not_answered", f"{outcome.reason.value}: {outcome.detail}")


def _lines(text: str) -> list[dict[str, Any]]:
    """The lines of an answer that are not blank."""
    try:
        return [line for line in json.loads(text)["lines"] if line["text"].strip()]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadAnswerError(Reason.MALFORMED_JSON, "no list of lines with their text") from error


def _page(lines: Sequence[dict[str, Any]], width: float, height: float, params: VisionParams) -> dict[str, Any]:
    """The model's lines as words; below each other over the page's width where one of them has no sound box."""
    boxes = [_sound(line.get("box")) for line in lines]
    step = 1000 / max(1, len(lines))
    below = [(50.0, at * step, 950.0, at * step + 0.7 * step) for at in range(len(lines))]
    placed = [box for box in boxes if box]
    words = []
    for line, (x0, y0, x1, y1) in zip(lines, placed if len(placed) == len(lines) else below, strict=True):
        x0, x1, y0, y1 = x0 * width / 1000, x1 * width / 1000, y0 * height / 1000, y1 * height / 1000
        words.append([line["text"].strip(), x0, y0, x1, y0, x1, y1, x0, y1, params.confidence])
    size = {"width": round(width, 2), "height": round(height, 2)}
    return {**size, "turned": 0, "legibility": 1.0, "words": words, "marks": {}}


def _sound(box: object) -> Box | None:
    """A box in thousandths, None where it is none."""
    if not isinstance(box, list) or len(box) != 4 or not all(isinstance(edge, int | float) for edge in box):
        return None
    x0, y0, x1, y1 = (float(edge) for edge in box)
    return (x0, y0, x1, y1) if 0 <= x0 < x1 <= 1000 and 0 <= y0 < y1 <= 1000 else None
