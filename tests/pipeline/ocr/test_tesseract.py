"""The tesseract engine: what it makes of the program's table, and what it says when the program is not there."""

from __future__ import annotations

from shutil import which
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest

from build_dataset.pipeline.ocr import engines
from build_dataset.pipeline.ocr.engines import tesseract
from build_dataset.pipeline.ocr.engines.tesseract import pieces
from build_dataset.pipeline.ocr.params import EngineName, OcrParams, TesseractParams
from build_dataset.schemas.errors import UserError

PARAMS = OcrParams(engine=EngineName.TESSERACT)
HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"


def row(left: int, text: str, line: int = 1, conf: float = 90.0) -> str:
    return f"5\t1\t1\t1\t{line}\t1\t{left}\t{100 * line}\t{20 * len(text)}\t20\t{conf}\t{text}"


def test_words_of_a_line_are_put_together_without_spaces_between_ideographs():
    (found,) = pieces("\n".join([HEAD, row(0, "急性"), row(42, "胃炎"), row(84, "CT"), row(130, "scan")]))
    assert found.text == "急性胃炎CT scan"
    assert found.corners == ((0, 100), (210, 100), (210, 120), (0, 120))
    assert found.confidence == pytest.approx(0.9)


def test_options_side_by_side_are_two_pieces():
    assert [word.text for word in pieces("\n".join([HEAD, row(0, "A.饮酒"), row(300, "B.运动")]))] == [
        "A.饮酒",
        "B.运动",
    ]


def test_quotes_in_text_are_text_and_empty_pages_have_no_words():
    assert [word.text for word in pieces("\n".join([HEAD, row(0, '"甲'), row(0, '乙"', line=2)]))] == ['"甲', '乙"']
    assert pieces(HEAD) == []


def test_a_missing_program_is_one_line_with_its_remedy(monkeypatch):
    monkeypatch.setattr(tesseract, "which", lambda name: None)
    (problem,) = engines.problems(PARAMS, None)
    assert "apt install tesseract-ocr tesseract-ocr-chi-sim" in problem
    assert engines.ChosenEngine(PARAMS).version == ""


def test_missing_language_data_is_one_line_with_its_remedy(monkeypatch):
    monkeypatch.setattr(tesseract, "_program", lambda: "tesseract")
    monkeypatch.setattr(tesseract, "_output", lambda program, option: "List of languages:\neng\n")
    with pytest.raises(UserError, match=r"no data for chi_sim.*apt install tesseract-ocr-chi-sim"):
        engines.ChosenEngine(PARAMS).check()


@pytest.mark.skipif(which("tesseract") is None, reason="the program tesseract is not installed")
def test_the_program_reads_an_empty_page_as_nothing():
    engine = tesseract.TesseractEngine(TesseractParams(languages="eng"))
    assert engine.recognise(np.full((300, 300, 3), 255, np.uint8)) == []


def test_words_a_line_height_apart_are_two_pieces(flips):
    def row(left: int, text: str, sure=90, width=20, top=10, height=20) -> str:
        return f"5\t1\t1\t1\t1\t1\t{left}\t{top}\t{width}\t{height}\t{sure}\t{text}\n"

    def count(gap: int) -> int:
        return len(pieces(COLUMNS + row(0, "ab") + row(20 + gap, "cd")))

    assert flips(count, range(40)) == [21]
    (found,) = pieces(COLUMNS + row(5, "ab") + row(30, "cde", -1, 22, 8, 25))
    assert (found.text, found.box, found.confidence) == ("ab cde", (5.0, 8.0, 52.0, 33.0), pytest.approx(0.36))
    (joined,) = pieces(COLUMNS + row(5, "甲", 80) + row(26, "乙丙", 50))
    assert (joined.text, joined.confidence) == ("甲乙丙", pytest.approx(0.6))


COLUMNS = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"


def told(level: int, text: str, conf: float = 90.0, left: int = 0) -> str:
    return f"{level}\t1\t1\t1\t1\t1\t{left}\t100\t20\t20\t{conf}\t{text}\n"


def test_words_alone_are_text_and_blank_ones_none() -> None:
    assert pieces(COLUMNS + told(4, "line") + told(5, " ") + told(4, "") + told(5, "")) == []
    (found,) = pieces(COLUMNS + told(4, "line") + told(5, "CT") + told(5, " ", left=22) + told(5, "片", left=25))
    assert found.text == "CT片"


def test_a_language_that_the_program_lists_first_is_there(monkeypatch) -> None:
    monkeypatch.setattr(tesseract, "_program", lambda: "tesseract")
    monkeypatch.setattr(tesseract, "_output", lambda program, option: "List of languages:\neng\nosd\n")
    tesseract.TesseractEngine.check(TesseractParams(languages="eng"))
    with pytest.raises(UserError, match="tesseract has no data for List"):
        tesseract.TesseractEngine.check(TesseractParams(languages="List+eng"))


def test_the_version_is_the_first_line_that_the_program_writes(monkeypatch) -> None:
    monkeypatch.setattr(tesseract, "which", lambda name: "tesseract")
    monkeypatch.setattr(tesseract, "_output", lambda program, option: f"{program} 5.3 \n leptonica\n")
    assert tesseract.TesseractEngine.models(TesseractParams()) == ["tesseract 5.3"]


def test_a_page_is_given_to_the_program_on_one_thread_for_a_limited_time(monkeypatch) -> None:
    asked: list[tuple[list[str], dict[str, Any]]] = []

    def run(command: list[str], **options: Any) -> object:
        asked.append((command, options))
        return SimpleNamespace(stdout=(COLUMNS + told(5, "甲")).encode())

    monkeypatch.setattr(tesseract, "which", lambda name: "tesseract")
    monkeypatch.setattr(tesseract, "subprocess", SimpleNamespace(run=run))
    pixels = np.array([[[1, 2, 3], [4, 5, 6]]], np.uint8)
    (word,) = tesseract.TesseractEngine(TesseractParams(languages="eng")).recognise(pixels)
    ((command, options),) = asked
    assert (word.text, command) == ("甲", ["tesseract", "stdin", "stdout", "-l", "eng", "--psm", "3", "tsv"])
    seen = cv2.imdecode(np.frombuffer(options.pop("input"), np.uint8), cv2.IMREAD_COLOR)
    assert seen.tolist() == pixels[:, :, ::-1].tolist()
    assert options.pop("env")["OMP_THREAD_LIMIT"] == "1"
    assert options == {"capture_output": True, "timeout": 150, "check": True}


def test_a_program_is_asked_for_half_a_minute_and_may_answer_on_either_stream(monkeypatch) -> None:
    asked: list[dict[str, Any]] = []

    def run(command: list[str], **options: Any) -> object:
        asked.append(options)
        return SimpleNamespace(stdout=command[1].strip("-"), stderr="told aside")

    monkeypatch.setattr(tesseract, "subprocess", SimpleNamespace(run=run))
    assert tesseract._output("some program", "--version") == "version"
    assert tesseract._output("some program", "--") == "told aside"
    assert asked == [{"capture_output": True, "text": True, "timeout": 30, "check": False}] * 2


def test_a_program_that_fails_may_have_told_what_was_asked(tmp_path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho told $1 >&2\nexit 3\n")
    program.chmod(0o755)
    assert tesseract._output(str(program), "--version") == "told --version\n"
