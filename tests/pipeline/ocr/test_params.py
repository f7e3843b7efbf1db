"""Options of the ocr stage: what is promised of them, and what reading with a vision model takes."""

import pytest
from pydantic import ValidationError

from build_dataset.pipeline.ocr.params import EngineName, OcrParams, VisionParams
from tests.pipeline.test_options import LIST, options


def test_options_have_the_defaults_and_limits_that_are_promised() -> None:
    own = tuple(f"{name}." for name in ("OcrParams", "RapidOcrParams", "PaddleOcrParams"))
    own += ("VisionParams.max_tokens ", "VisionParams.side ", "VisionParams.confidence ")
    promised = [line for line in LIST.read_text(encoding="utf-8").splitlines() if line.startswith(own)]
    assert [line for line in options() if line.startswith(own)] == promised
    assert len(promised) > 25


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("second_below", 0, 1),
        ("dpi", 72, 600),
        ("max_file_mb", 1, 10**9),
        ("max_pages", 1, 10**9),
        ("max_rows", 1, 10**9),
        ("max_pixels", 1_000_000, 10**12),
    ],
)
def test_options_are_taken_between_their_limits(name: str, least: int, most: int) -> None:
    for value in (least, most):
        assert getattr(OcrParams.model_validate({name: value}), name) == value
    with pytest.raises(ValidationError):
        OcrParams.model_validate({name: least - 1})
    if most < 10**9:
        with pytest.raises(ValidationError):
            OcrParams.model_validate({name: most + 1})


def test_times_are_above_nothing_and_change_no_dataset() -> None:
    times = ("text_timeout", "page_timeout")
    assert [getattr(OcrParams(), name) for name in times] == [6.0, 180.0]
    for name in times:
        assert getattr(OcrParams.model_validate({name: 0.5}), name) == 0.5
        with pytest.raises(ValidationError):
            OcrParams.model_validate({name: 0})
        assert name not in OcrParams().semantic()


def test_pages_are_read_by_the_embedded_engine_cleaned_and_only_where_they_must_be() -> None:
    params = OcrParams()
    assert (params.engine, params.second, params.columns) == (EngineName.AUTO, None, ())
    assert (params.clean_images, params.force_ocr) == (True, False)


def test_an_estimate_counts_pictures_by_their_pixels_and_answers_up_to_their_limit() -> None:
    def told(pages: int, **options: object) -> str:
        return VisionParams.model_validate({"model": "m", **options}).estimate(pages).partition(":")[0]

    assert told(1) == "1 pages to send, about 3,808 tokens in and 3,000 out"
    assert told(1000, side=1000) == "1,000 pages to send, about 1,102,000 tokens in and 3,000,000 out"
    assert told(10, side=1000, max_tokens=2999) == "10 pages to send, about 11,020 tokens in and 29,990 out"
    assert told(10, side=1000, max_tokens=3001) == "10 pages to send, about 11,020 tokens in and 30,000 out"
