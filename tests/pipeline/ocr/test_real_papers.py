"""Real papers, where they are at hand: text layers only, so that it stays fast."""

from pathlib import Path

import pytest

from build_dataset.pipeline.ocr.interfaces import NeedsOcr
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import find_reader
from build_dataset.pipeline.ocr.tasks import FileTask, inspect_file
from build_dataset.schemas.documents import LineKind
from build_dataset.schemas.errors import UnreadableDocument

PARAMS = OcrParams()


@pytest.fixture(scope="module")
def exams(shared_data) -> Path:
    return shared_data / "exams"


def pages(path: Path):
    reader = find_reader(path, PARAMS)
    return reader.read(path, range(1, reader.count_pages(path, PARAMS) + 1), PARAMS)


def test_every_paper_is_read_or_refused_with_a_reason(exams):
    refused = {}
    for path in sorted(exams.iterdir()):
        try:
            inspect_file(FileTask(path.name, path, PARAMS))
        except UnreadableDocument as error:
            refused[path.name] = error.reason
    assert refused == {"BROKEN_esafenet_tcm_2021.pdf": "not_a_pdf"}


@pytest.mark.parametrize("name", ["tw_med_105-1_11_answerkey.pdf", "tw_med_112-1_11_answerkey.pdf"])
def test_an_answer_grid_is_read_cell_by_cell(exams, name):
    (page,) = pages(exams / name)
    rows = [line.text.split("\t") for line in page.lines if "\t" in line.text]
    numbers = [row for row in rows if len(row) == 21 and row[1].isdigit()]
    assert [cell for row in numbers for cell in row[1:]] == [f"{number:02d}" for number in range(1, 81)]
    answers = [row for row in rows if row[0] == "答案" and len(row) == 21]
    assert len(answers) == 4


def test_private_use_option_labels_are_letters(exams):
    text = "\n".join(line.text for page in pages(exams / "tw_med_101110_0103.pdf") for line in page.lines)
    assert [text.count(f"({letter})") for letter in "ABCD"] == [80] * 4


def test_scans_need_ocr_and_say_why(exams):
    found = pages(exams / "cn_ruankao_sa_2018_am_SCAN.pdf")
    assert found == [NeedsOcr("sparse_text_over_image")] + [NeedsOcr("no_text_layer")] * 7


def test_figures_of_a_digital_paper_stand_before_their_options(exams):
    page = pages(exams / "tw_med_105-1_11_paper.pdf")[0]
    kinds = [line.kind for line in page.lines]
    assert kinds.count(LineKind.FIGURE) == 2
    assert page.lines[kinds.index(LineKind.FIGURE) + 2].text.startswith("A.")
