"""Options of the ocr stage."""

from enum import StrEnum
from pathlib import Path
from typing import Literal

from build_dataset.annotation.llm.options import LlmOptions
from build_dataset.schemas.params import Params, non_semantic, option

_PROMPT_TOKENS, _ANSWER_TOKENS = 200, 3000
"""Of a request without its picture; of an answer: 45 lines of 25 characters with their boxes, 65 tokens a line."""
_PIXELS_A_TOKEN = 784
"""Of a picture: Qwen-VL makes a token of 28 x 28 pixels; OpenAI's models, which shrink it, count a third of that."""


class EngineName(StrEnum):
    """Name of the OCR engine that reads pages without a sound text layer."""

    AUTO = "auto"
    RAPIDOCR = "rapidocr"
    PADDLEOCR = "paddleocr"
    VISION = "vision"


ENGINES = {
    EngineName.RAPIDOCR: "rapid:RapidEngine",
    EngineName.PADDLEOCR: "paddle:PaddleEngine",
    EngineName.VISION: "vision:VisionEngine",
}
"""``module:class`` in ``engines`` of each, an ``OcrEngine`` that workers make with its options: the field of
``OcrParams`` with its name. Of the vision engine, whose pages the main process asks for, an ``EngineSetup``."""


class RapidOcrParams(Params):
    """The embedded engine: PP-OCRv6 models that ship inside packages."""

    detection_side: int = option(1280, "Longer side of the image that text detection sees, in pixels.", ge=320, le=4000)
    backend: str = option(
        "auto", "Inference backend; auto takes OpenVINO when it is installed.", pattern="^(auto|openvino|onnxruntime)$"
    )


class PaddleOcrParams(Params):
    """The paddleocr engine, on onnxruntime or on Paddle."""

    inference: str = option(
        "onnxruntime",
        "onnxruntime reads with models that are here; paddle needs paddlepaddle and downloads models.",
        pattern="^(onnxruntime|paddle)$",
    )
    detection_model: str = option("PP-OCRv6_small_det", "Name of the text detection model.")
    detection_dir: Path | None = option(
        None, "Its folder, with inference.onnx and inference.yml; without, the one inside rapidocr is used."
    )
    recognition_model: str = option("PP-OCRv6_small_rec", "Name of the text recognition model.")
    recognition_dir: Path | None = option(
        None, "Its folder, with inference.onnx and inference.yml; without, the one inside rapidocr is used."
    )
    detection_side: int = option(1280, "Longer side for text detection, pixels.", ge=320, le=4000)
    device: str = option("cpu", "cpu, gpu, gpu:0 …")


class VisionParams(LlmOptions):
    """The vision engine: a model behind an OpenAI-compatible endpoint that takes pictures."""

    max_tokens: int = option(8192, "Most tokens of an answer: a page's text.", ge=1)
    side: int = option(2000, "Longer side of the picture that is sent, in pixels.", ge=500, le=8000)
    confidence: float = option(
        0.95, "Confidence of its lines: models do not tell how sure they are of a line.", ge=0, le=1
    )

    def estimate(self, pages: int) -> str:
        """Return what reading so many pages takes, in one line; asks nobody and needs no key."""
        tokens_in = pages * (_PROMPT_TOKENS + round(self.side * self.side / 2**0.5 / _PIXELS_A_TOKEN))
        return self.told(f"{pages:,} pages to send", tokens_in, pages * min(self.max_tokens, _ANSWER_TOKENS))


class OcrParams(Params):
    """The ``[ocr]`` section of ``dataset.toml``."""

    engine: EngineName = option(EngineName.AUTO, "OCR engine for pages without a sound text layer; auto is rapidocr.")
    second: EngineName | None = option(
        None,
        "A second engine that reads the pages of which the first is unsure: vision, paddleocr. "
        "Lines that differ in digits, negations, units or labels wait.",
    )
    second_below: float = option(0.95, "Mean confidence of a page below which the second engine reads it.", ge=0, le=1)
    force_ocr: bool = option(False, "Read every page by OCR, also where the text layer is sound.")
    dpi: int = option(200, "Resolution at which pages are rendered for OCR.", ge=72, le=600)
    clean_images: bool = option(
        True, "Remove slanted watermarks and uneven backgrounds and straighten pages before OCR."
    )
    max_file_mb: int = option(500, "Larger files are rejected as too_large.", ge=1)
    max_pages: int = option(3000, "Documents with more pages are rejected as too_large.", ge=1)
    max_rows: int = option(2_000_000, "Tabular files with more rows are rejected as too_large.", ge=1)
    max_pixels: int = option(
        60_000_000, "Page images with more pixels are scaled down (rejected above 2 times).", ge=1_000_000
    )
    join_images: Literal["auto", "never", "always"] = option(
        "auto",
        "Read pictures of one folder as the pages of one paper: auto, where they have one size and running numbers.",
    )
    joins: tuple[tuple[str, str], ...] = option(
        (), "What [sources] says of folders of pictures: join_images; write it there"
    )
    columns: tuple[str, ...] = option(
        (), "Columns that [sources] names: a row with one of them is a header; write them there"
    )
    rapidocr: RapidOcrParams = option(RapidOcrParams(), "Options of the embedded engine.")
    paddleocr: PaddleOcrParams = option(PaddleOcrParams(), "Options of the paddleocr engine.")
    vision: VisionParams = option(VisionParams(), "Options of the vision engine.")
    text_timeout: float = non_semantic(
        6.0, "Seconds of processor time after which a text layer that is being read is given up.", gt=0
    )
    page_timeout: float = non_semantic(
        180.0,
        "Seconds of processor time after which a page that is recognised is given up; by the clock ten times as many.",
        gt=0,
    )
