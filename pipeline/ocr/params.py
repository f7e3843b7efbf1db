"""Options of the ocr stage."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import Field

from annotation.llm.options import LlmOptions
from schemas.params import Params, non_semantic


class EngineName(StrEnum):
    """Name of the OCR engine that reads pages without a sound text layer."""

    AUTO = "auto"
    RAPIDOCR = "rapidocr"
    PADDLEOCR = "paddleocr"
    TESSERACT = "tesseract"
    VISION = "vision"


class RapidOcrParams(Params):
    """The embedded engine: PP-OCRv6 models that ship inside packages."""

    tiny_first: bool = Field(
        True,
        description="Read with the tiny models, and again with the small one what they are unsure of.",
    )
    detection_side: int = Field(
        1280, ge=320, le=4000, description="Longer side of the image that text detection sees, in pixels."
    )
    backend: str = Field(
        "auto",
        pattern="^(auto|openvino|onnxruntime)$",
        description="Inference backend; auto takes OpenVINO when it is installed.",
    )


class PaddleOcrParams(Params):
    """The paddleocr engine, on onnxruntime or on Paddle."""

    inference: str = Field(
        "onnxruntime",
        pattern="^(onnxruntime|paddle)$",
        description="onnxruntime reads with models that are here; paddle needs paddlepaddle and downloads models.",
    )
    detection_model: str = Field("PP-OCRv6_small_det", description="Name of the text detection model.")
    detection_dir: Path | None = Field(
        None,
        description="Its folder, with inference.onnx and inference.yml; without, the one inside rapidocr is used.",
    )
    recognition_model: str = Field("PP-OCRv6_small_rec", description="Name of the text recognition model.")
    recognition_dir: Path | None = Field(
        None,
        description="Its folder, with inference.onnx and inference.yml; without, the one inside rapidocr is used.",
    )
    detection_side: int = Field(1280, ge=320, le=4000, description="Longer side for text detection, pixels.")
    device: str = Field("cpu", description="cpu, gpu, gpu:0 …")


class TesseractParams(Params):
    """The tesseract engine: the program of that name, as the operating system installs it."""

    languages: str = Field(
        "chi_sim+eng",
        pattern=r"^[A-Za-z_]+(\+[A-Za-z_]+)*$",
        description="Its language data, joined by +: chi_sim, chi_tra, eng …",
    )


_PROMPT_TOKENS, _ANSWER_TOKENS = 200, 3000
"""Of a request without its picture; of an answer: 45 lines of 25 characters with their boxes, 65 tokens a line."""
_PIXELS_A_TOKEN = 784
"""Of a picture: Qwen-VL makes a token of 28 x 28 pixels; OpenAI's models, which shrink it, count a third of that."""


class VisionParams(LlmOptions):
    """The vision engine: a model behind an OpenAI-compatible endpoint that takes pictures."""

    max_tokens: int = Field(8192, ge=1, description="Most tokens of an answer: a page's text.")
    side: int = Field(
        2000, ge=500, le=8000, description="Longer side of the picture that is sent, in pixels."
    )
    confidence: float = Field(
        0.9,
        ge=0,
        le=1,
        description="Confidence of its lines: models do not tell how sure they are of a line.",
    )

    def estimate(self, pages: int) -> str:
        """Return what reading so many pages takes, in one line; asks nobody and needs no key."""
        tokens_in = pages * (_PROMPT_TOKENS + round(self.side * self.side / 2**0.5 / _PIXELS_A_TOKEN))
        tokens_out = pages * min(self.max_tokens, _ANSWER_TOKENS)
        cost = self.cost(tokens_in, tokens_out)
        price = "cost unknown (set price_in and price_out)" if cost is None else f"{cost:.2f} {self.currency}"
        return f"{pages:,} pages to send, about {tokens_in:,} tokens in and {tokens_out:,} out: {price}"


class OcrParams(Params):
    """The ``[ocr]`` section of ``dataset.toml``."""

    engine: EngineName = Field(
        EngineName.AUTO, description="OCR engine for pages without a sound text layer; auto is rapidocr."
    )
    second: EngineName | None = Field(
        None,
        description="A second engine that reads the pages of which the first is unsure: vision, paddleocr, tesseract. "
        "Lines that differ in digits, negations, units or labels wait.",
    )
    second_below: float = Field(
        0.95, ge=0, le=1, description="Mean confidence of a page below which the second engine reads it."
    )
    force_ocr: bool = Field(False, description="Read every page by OCR, also where the text layer is sound.")
    dpi: int = Field(200, ge=72, le=600, description="Resolution at which pages are rendered for OCR.")
    clean_images: bool = Field(
        True, description="Remove slanted watermarks and uneven backgrounds and straighten pages before OCR."
    )
    max_file_mb: int = Field(500, ge=1, description="Larger files are rejected as too_large.")
    max_pages: int = Field(3000, ge=1, description="Documents with more pages are rejected as too_large.")
    max_rows: int = Field(
        2_000_000, ge=1, description="Tabular files with more rows are rejected as too_large."
    )
    max_pixels: int = Field(
        60_000_000,
        ge=1_000_000,
        description="Page images with more pixels are scaled down (rejected above 3 times).",
    )
    columns: tuple[str, ...] = Field(
        (), description="Columns that [sources] names: a row with one of them is a header; write them there"
    )
    rapidocr: RapidOcrParams = Field(RapidOcrParams(), description="Options of the embedded engine.")
    paddleocr: PaddleOcrParams = Field(PaddleOcrParams(), description="Options of the paddleocr engine.")
    tesseract: TesseractParams = Field(TesseractParams(), description="Options of the tesseract engine.")
    vision: VisionParams = Field(VisionParams(), description="Options of the vision engine.")
    text_timeout: float = non_semantic(
        6.0, "Seconds of processor time after which a text layer that is being read is given up.", gt=0
    )
    page_timeout: float = non_semantic(
        180.0,
        "Seconds of processor time after which a page that is recognised is given up; by the clock ten times as many.",
        gt=0,
    )
