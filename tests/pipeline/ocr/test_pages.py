"""Stored pages are keyed by all code that can change them, found by its imports, and by nothing else."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from build_dataset.pipeline.ocr import engines, pages
from build_dataset.pipeline.ocr.assemble import DocumentState
from build_dataset.pipeline.ocr.engines import prints
from build_dataset.pipeline.ocr.model import PageLine, PageRead, Rect
from build_dataset.pipeline.ocr.pages import Job, PageStore, Recognition, TextLayerReader
from build_dataset.pipeline.ocr.params import EngineName, OcrParams
from build_dataset.pipeline.ocr.readers import readers
from build_dataset.pipeline.ocr.tasks import FileFacts
from build_dataset.pipeline.runtime import fingerprint
from build_dataset.pipeline.stage import Failure
from build_dataset.schemas.documents import RawFile, ReadMethod
from build_dataset.schemas.errors import UserError


def reached(module: str) -> set[str]:
    return set(fingerprint._closure(module))


def test_every_reader_reaches_what_makes_characters_valid():
    for reader in readers():
        if hasattr(reader, "count_pages"):
            assert "build_dataset.pipeline.characters" in reached(type(reader).__module__)


@pytest.mark.parametrize("name", [name for name in engines.ENGINES if name.value != "vision"])
def test_an_engine_reaches_its_own_code_and_no_other_engines(name):
    modules = {
        one: f"build_dataset.pipeline.ocr.engines.{row.partition(':')[0]}" for one, row in engines.ENGINES.items()
    }
    own = modules.pop(name)
    others = set(modules.values())
    assert own in reached(own)
    assert others < reached("build_dataset.pipeline.ocr.stage")
    assert not others & (reached(own) | reached("build_dataset.pipeline.ocr.recognise"))


def test_recognition_reaches_cleaning_and_not_layout():
    found = reached("build_dataset.pipeline.ocr.recognise")
    assert {"build_dataset.pipeline.ocr.images"} <= found
    assert "build_dataset.pipeline.ocr.layout" not in found


def test_models_and_the_confidence_table_are_part_of_the_embedded_engines_code():
    opened = [fingerprint._module(name).opens for name in reached("build_dataset.pipeline.ocr.engines.rapid")]
    assert any("build_dataset.pipeline.ocr.engines.models" in packages for packages in opened)
    assert "build_dataset.pipeline.ocr.engines.models" in fingerprint._module(prints.__name__).opens


def test_another_code_hash_is_another_key(monkeypatch, context, files_table):
    from build_dataset.pipeline.ocr.stage import FileTask, inspect_file

    (context.raw / "a.txt").write_text("1. 题干", encoding="utf-8")
    (file,) = RawFile.from_frame(files_table(context.raw))
    path = context.raw / "a.txt"
    reading = DocumentState(file, path, inspect_file(FileTask("a.txt", path, OcrParams())))
    before = Recognition(OcrParams()).key(Job(reading, 1))
    assert Recognition(OcrParams()).key(Job(reading, 1)) == before
    monkeypatch.setattr(pages, "code_hash", lambda module: "changed")
    assert Recognition(OcrParams()).key(Job(reading, 1)) != before


class Kept:
    """A store of results in memory."""

    def __init__(self) -> None:
        self.values: dict[str, object] = {}

    def get(self, key: str) -> object | None:
        return self.values.get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, object]:
        return {key: self.values[key] for key in keys if key in self.values}

    def put(self, key: str, value: object) -> None:
        self.values[key] = value


@pytest.fixture(autouse=True)
def _codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys do not depend on hashes of code where a test does not say so: they take long."""
    monkeypatch.setattr(pages, "code_hash", lambda module: f"code of {module}")


@pytest.fixture
def paper(tmp_path: Path) -> DocumentState:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"xyz")
    return DocumentState(RawFile(document="a.pdf", sha256="ab" * 32, bytes=3), path, FileFacts("pdf", 3, None))


def stored(confidence: float | None, text: str = "甲") -> dict[str, object]:
    lines = [PageLine(text, Rect(60, 100, 200, 112), confidence=confidence)]
    return PageRead(595, 842, ReadMethod.TEXT_LAYER, "e", "v", None, lines).to_json()


def test_a_key_names_the_page_and_the_options_that_change_its_text(paper: DocumentState) -> None:
    options = [
        OcrParams(),
        OcrParams(force_ocr=True),
        OcrParams(max_pixels=2_000_000),
        OcrParams(dpi=300),
        OcrParams(second_below=0.5),
    ]
    keys = [TextLayerReader(one).key(Job(paper, 1)) for one in options]
    assert [keys.index(key) for key in keys] == [0, 1, 2, 0, 0]
    assert TextLayerReader(OcrParams()).key(Job(paper, 2)) != keys[0]
    recognised = [Recognition(one).key(Job(paper, 1)) for one in options]
    assert [recognised.index(key) for key in recognised] == [0, 0, 2, 3, 0]


def test_a_key_of_lines_names_their_places_to_hundredths_of_a_point(paper: DocumentState) -> None:
    def key(*boxes: Rect) -> str:
        return Recognition(OcrParams()).key(Job(paper, 1, boxes))

    first = key(Rect(1, 2, 3, 4.004))
    assert key(Rect(1, 2, 3, 4.0)) == first
    assert len({first, key(Rect(1, 2, 3, 4.006)), key(), key(Rect(1, 2, 3, 4), Rect(1, 2, 3, 4))}) == 4


def test_a_key_is_the_same_in_whatever_order_options_stand(paper: DocumentState) -> None:
    one, other = Recognition(OcrParams()), Recognition(OcrParams())
    other.__dict__["semantic"] = dict(reversed(one.semantic.items()))
    assert [*one.semantic] != [*other.semantic]
    assert one.key(Job(paper, 1)) == other.key(Job(paper, 1))


def test_pages_that_are_stored_are_not_missing(paper: DocumentState) -> None:
    store = PageStore(Kept(), OcrParams())
    jobs = [Job(paper, page) for page in (1, 2, 3)]
    assert store.missing(store.text, jobs) == jobs
    store.put(store.text, jobs[1:2], [stored(None)])
    assert store.missing(store.text, jobs) == [jobs[0], jobs[2]]


@pytest.mark.parametrize("change", ["size", "time", "both", "none"])
def test_what_was_read_of_a_file_that_changed_is_not_kept(paper: DocumentState, change: str) -> None:
    store = PageStore(Kept(), OcrParams())
    if change in ("size", "both"):
        paper.path.write_bytes(b"wxyz")
    if change in ("size", "time"):
        size, _ = paper.state
        os.utime(paper.path, ns=(5, 5) if change == "time" else (0, paper.state[1]))
        assert (paper.state_of_file()[0] == size) == (change == "time")
    if change == "none":
        store.put(store.text, [Job(paper, 1)], [stored(None)])
    else:
        with pytest.raises(UserError, match="changed while it was read"):
            store.put(store.text, [Job(paper, 1)], [stored(None)])


def test_a_file_of_another_size_than_was_listed_is_kept_if_it_is_a_copy(
    paper: DocumentState, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper.path.write_bytes(b"wxyz")
    paper.state = paper.state_of_file()
    store = PageStore(Kept(), OcrParams())
    with pytest.raises(UserError):
        store.put(store.text, [Job(paper, 1)], [stored(None)])
    monkeypatch.setattr(pages, "is_copy", lambda path: True)
    store.put(store.text, [Job(paper, 1)], [stored(None)])
    assert store.missing(store.text, [Job(paper, 1)]) == []


def test_pages_and_lines_that_need_to_be_recognised_are_named(paper: DocumentState) -> None:
    store = PageStore(Kept(), OcrParams())
    values = [stored(None), stored(None, "甲\x00乙"), {"needs_ocr": "no_text_layer"}]
    store.put(store.text, [Job(paper, page) for page in (1, 2, 3)], values)
    assert store.unrecognised([paper]) == [Job(paper, 2, (Rect(60, 100, 200, 112),)), Job(paper, 3)]
    paper.failures[2] = Failure("timeout", "x")
    assert store.unrecognised([paper]) == [Job(paper, 3)]


def test_a_page_whose_lines_are_not_recognised_shows_what_is_lost(paper: DocumentState) -> None:
    store = PageStore(Kept(), OcrParams())
    store.put(store.text, [Job(paper, 1)], [stored(None, "甲乙丙\x00丁戊己")])
    (line,) = store.page(paper, 1).lines
    assert (line.text, line.confidence, line.other) == ("甲乙丙\ufffd丁戊己", None, None)
    (job,) = store.unrecognised([DocumentState(paper.file, paper.path, FileFacts("pdf", 1, None))])
    store.put(store.lines, [job], [{"readings": [["甲乙丙天丁戊己", 0.5]]}])
    (line,) = store.page(paper, 1).lines
    assert (line.text, line.confidence) == ("甲乙丙天丁戊己", round(1 - 0.5 / 7, 4))


def test_a_page_that_failed_is_blank_with_its_reason(paper: DocumentState) -> None:
    paper.failures[2] = Failure("timeout", "too long")
    page = PageStore(Kept(), OcrParams()).page(paper, 2)
    assert (page.width, page.height, page.lines) == (0.0, 0.0, [])
    assert (page.method, page.engine, page.reason) == (ReadMethod.BLANK, "rapidocr", "timeout: too long")


@pytest.mark.parametrize(("confidence", "doubtful"), [(0.79, True), (0.8, False), (0.81, False), (None, False)])
def test_a_page_below_the_bound_is_doubtful_where_a_second_engine_reads(
    paper: DocumentState, confidence: float | None, doubtful: bool
) -> None:
    for second in (EngineName.PADDLEOCR, None):
        store = PageStore(Kept(), OcrParams(second=second, second_below=0.8))
        store.put(store.text, [Job(paper, page) for page in (1, 2, 3)], [stored(confidence)] * 3)
        wanted = [Job(paper, page) for page in (1, 2, 3)] if doubtful and second else []
        assert store.doubtful([paper]) == wanted
        assert store.page(paper, 1).lines[0].confidence == confidence


def test_lines_are_read_by_the_embedded_engine_where_a_model_reads_pages() -> None:
    engines = [PageStore(Kept(), OcrParams(engine=one)) for one in (EngineName.VISION, EngineName.PADDLEOCR)]
    assert [(one.first.name.value, one.lines.name.value) for one in engines] == [
        ("vision", "rapidocr"),
        ("paddleocr", "paddleocr"),
    ]


def recognised(text: str, confidence: float) -> dict[str, object]:
    """A page as an engine stores it."""
    word = [text, 60.0, 100.0, 200.0, 100.0, 200.0, 112.0, 60.0, 112.0, confidence]
    return {"words": [word], "width": 595.0, "height": 842.0, "legibility": 1.0, "marks": {}, "turned": 0}


def test_a_doubtful_page_is_compared_with_the_second_reading(paper: DocumentState) -> None:
    def shown(confidence: float, *second: str) -> tuple[str, str | None]:
        store = PageStore(Kept(), OcrParams(second=EngineName.PADDLEOCR, second_below=0.8))
        assert store.second is not None
        job = Job(paper, 1)
        store.put(store.text, [job], [{"needs_ocr": "no_text_layer"}])
        store.put(store.first, [job], [recognised("每日5毫克", confidence)])
        store.put(store.second, [job] * len(second), [recognised(text, 0.9) for text in second])
        page = store.page(paper, 1)
        assert (page.method, page.reason) == (ReadMethod.OCR, "no_text_layer")
        return page.lines[0].text, page.lines[0].other

    assert shown(0.5, "每日6毫克") == ("每日5毫克", "每日6毫克")
    assert shown(0.9, "每日6毫克") == ("每日5毫克", None)
    assert shown(0.5) == ("每日5毫克", None)
