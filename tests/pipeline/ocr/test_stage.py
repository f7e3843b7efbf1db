"""The stage: every file accounted for, nothing read twice, one bad page loses nothing else."""

import json

import docx
import polars as pl
import pymupdf
import pytest
from PIL import Image

from build_dataset.pipeline.ocr import engines, stage, tasks
from build_dataset.pipeline.ocr.interfaces import Word
from build_dataset.pipeline.ocr.model import PageRead
from build_dataset.pipeline.ocr.params import EngineName, OcrParams
from build_dataset.pipeline.ocr.readers import pdf
from build_dataset.pipeline.stage import Failure, Result
from build_dataset.schemas.documents import Document, Line, Page, ReadMethod, SourceRow
from build_dataset.schemas.errors import UserError

STEM = "1. 下列哪项是急性胃炎的病因"


class OneLine:
    """An engine that finds one line on every page."""

    calls = 0

    def recognise(self, pixels):
        type(self).calls += 1
        return [Word(STEM, ((10, 10), (200, 10), (200, 30), (10, 30)), 0.95)]


@pytest.fixture
def engine(monkeypatch):
    OneLine.calls = 0
    monkeypatch.setattr(engines, "load", lambda params: OneLine())
    return OneLine


@pytest.fixture
def read(context, files_table):
    def run(params: OcrParams | None = None) -> Result:
        return stage.run({"files": files_table(context.raw)}, params or OcrParams(), context)

    return run


@pytest.fixture
def put(context, make_pdf):
    """Write a PDF of one line a page into the raw folder."""

    def write(name: str, *pages: str):
        path = make_pdf([[(60, 100, text)] for text in pages])
        target = context.raw / name
        target.parent.mkdir(parents=True, exist_ok=True)
        return path.rename(target)

    return write


@pytest.fixture
def answer_tasks(context, monkeypatch):
    """Answer tasks by a function, and do those for which it gives None.

    Each task is noted by its name, with its pages or document and its limit on the clock.
    """

    def run(answer=lambda function, item: None) -> list[tuple[str, object, float]]:
        heard: list[tuple[str, object, float]] = []

        def listen(function, items, *, timeout=None):
            for item in items:
                heard.append((function.__name__, getattr(item, "pages", item.document), timeout))
                yield item, answer(function, item) or function(item)

        monkeypatch.setattr(context, "map", listen)
        return heard

    return run


def reasons(result: Result) -> dict[str, str]:
    return {reject.item_id: reject.reason for reject in result.rejects}


def test_every_kind_of_file_ends_in_exactly_one_place(context, put, read, engine):
    raw = context.raw
    put("医师考试/paper.pdf", STEM, "2. 第二题")
    (raw / "copy.pdf").write_bytes((raw / "医师考试/paper.pdf").read_bytes())
    Image.new("RGB", (300, 200), "white").save(raw / "photo.png")
    document = docx.Document()
    document.add_paragraph(STEM)
    document.save(raw / "word.docx")
    (raw / "cmb.json").write_text(json.dumps([{"question": STEM, "answer": "A"}] * 2), encoding="utf-8")
    (raw / "table.csv").write_bytes("Question,Answer\n题干,A\n".encode("gb18030"))
    (raw / "lines.jsonl").write_text('{"question": "q"}\n', encoding="utf-8")
    (raw / "plain.txt").write_text(f"{STEM}\n\nA.甲\n", encoding="utf-8")
    for name, data in {
        "empty.pdf": b"",
        "noise.pdf": bytes(range(256)) * 20,
        "drm.pdf": b"b\x14#e\x00\x00E-SafeNet\x00\x00LOCK" + bytes(300),
        "page.pdf": b"<!DOCTYPE html><html>404</html>",
        "old.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
        "film.mp4": b"\x00\x00\x00\x18ftypmp42" + bytes(100),
    }.items():
        (raw / name).write_bytes(data)
    for ignored in (".hidden", "README.md", "manifest.csv"):
        (raw / ignored).write_text("document\n", encoding="utf-8")
    result = read()
    assert result.counts.balanced()
    assert (result.counts.n_input, result.counts.kept, result.counts.merged) == (14, 7, 1)
    found = reasons(result)
    assert found.pop("old.doc") in {"unknown_format", "broken"}  # without LibreOffice and with it
    assert found == {
        "drm.pdf": "not_a_pdf",
        "empty.pdf": "empty_file",
        "film.mp4": "unknown_format",
        "noise.pdf": "not_a_pdf",
        "page.pdf": "not_a_pdf",
    }
    assert "E-SafeNet" in next(reject.detail for reject in result.rejects if reject.item_id == "drm.pdf")
    assert result.facts["duplicate_files"] == {"医师考试/paper.pdf": "copy.pdf"}
    formats = {row.document: row.format for row in Document.from_frame(result.tables["documents"])}
    assert formats == {
        "cmb.json": "cmb_json",
        "copy.pdf": "pdf",
        "lines.jsonl": "jsonl",
        "photo.png": "image",
        "plain.txt": "text",
        "table.csv": "cmexam_csv",
        "word.docx": "docx",
    }
    assert [row.row for row in SourceRow.from_frame(result.tables["rows"]) if row.document == "cmb.json"] == [1, 2]


def test_tables_keep_their_schema_when_there_is_nothing(read):
    result = read()
    assert result.tables["lines"].schema == Line.polars_schema()
    assert result.tables["pages"].schema == Page.polars_schema()


def test_lines_are_numbered_page_by_page_in_reading_order(put, read):
    put("paper.pdf", STEM, "2. 第二题")
    lines = list(Line.from_frame(read().tables["lines"]))
    assert [(line.page, line.order, line.text) for line in lines] == [(1, 0, STEM), (2, 0, "2. 第二题")]


def test_nothing_is_read_twice(put, read, engine, context, monkeypatch):
    put("paper.pdf", *[f"{number}. 题干" for number in range(40)])
    Image.new("RGB", (300, 200), "white").save(context.raw / "photo.png")
    first = read()
    assert engine.calls == 1
    puts = context.store.puts
    monkeypatch.setattr(stage, "read_pages", None)
    monkeypatch.setattr(stage, "recognise_page", None)
    again = read()
    assert engine.calls == 1
    assert context.store.puts == puts
    for name, table in first.tables.items():
        assert table.equals(again.tables[name])
    assert first.facts == again.facts


def test_another_resolution_is_read_anew_but_text_layers_are_not(put, read, engine, context):
    put("paper.pdf", STEM)
    Image.new("RGB", (300, 200), "white").save(context.raw / "photo.png")
    read()
    puts = context.store.puts
    read(OcrParams(dpi=150))
    assert engine.calls == 2
    assert context.store.puts == puts + 1
    read(OcrParams(dpi=150, page_timeout=3.0))
    assert engine.calls == 2


def test_one_page_that_crashes_its_worker_loses_neither_its_document_nor_its_chunk(put, read, answer_tasks):
    put("paper.pdf", *[f"{number}. 题干" for number in range(1, 6)])
    killed = Failure("crashed", "the worker was killed")
    answer_tasks(lambda function, item: killed if function is tasks.read_pages and 3 in item.pages else None)
    result = read()
    pages = list(Page.from_frame(result.tables["pages"]))
    assert [page.method.value for page in pages] == ["text_layer"] * 2 + ["blank"] + ["text_layer"] * 2
    assert pages[2].reason == "crashed: the worker was killed"
    assert result.counts.kept == 1
    assert not result.complete
    assert result.facts["pages_lost"] == ["paper.pdf#3: crashed: the worker was killed"]
    assert any("could not be read" in note for note in result.notes)


def test_a_file_whose_worker_the_system_ended_is_looked_at_again_by_the_next_run(put, read, answer_tasks):
    put("paper.pdf", "1. 题干")
    put("hostile.pdf", "2. 题干")
    for reason, complete in (("killed", False), ("io_error", False), ("crashed", True)):
        bad = Failure(reason, "")
        answer_tasks(lambda _, item, bad=bad: bad if item.document == "hostile.pdf" else None)
        result = read()
        assert [reject.reason for reject in result.rejects] == [reason]
        assert result.complete == complete, "a file that crashes its reader does so again"


def test_a_file_system_that_fails_for_a_moment_makes_no_file_damaged_for_good(put, read, monkeypatch):
    put("paper.pdf", "1. 题干")
    opened, plain = [], pdf.pymupdf.open

    def fails_at_first(*arguments, **options):
        opened.append(arguments)
        if len(opened) in (1, 3):
            raise RuntimeError("cannot read")
        return plain(*arguments, **options)

    monkeypatch.setattr(pdf.pymupdf, "open", fails_at_first)
    assert read().counts.kept == 1
    assert len(opened) == 4


def test_a_document_of_which_no_page_can_be_read_is_rejected(put, read, answer_tasks):
    put("paper.pdf", STEM)
    answer_tasks(lambda function, item: Failure("timeout", "180 s") if function is tasks.read_pages else None)
    result = read()
    assert reasons(result) == {"paper.pdf": "timeout"}
    assert result.counts.balanced()


def test_a_page_whose_recognition_fails_is_tried_again_by_the_next_run(read, context, answer_tasks, engine):
    Image.new("RGB", (300, 200), "white").save(context.raw / "a.png")
    answer_tasks(lambda function, item: Failure("timeout", "") if function is tasks.recognise_page else None)
    assert reasons(read()) == {"a.png": "timeout"}
    answer_tasks()
    assert read().counts.kept == 1


def test_a_missing_engine_is_an_error_only_when_a_page_needs_it(put, read, context, monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    put("paper.pdf", STEM)
    params = OcrParams(engine=EngineName.PADDLEOCR)
    assert read(params).counts.kept == 1
    Image.new("RGB", (30, 20), "white").save(context.raw / "a.png")
    with pytest.raises(UserError, match="paddleocr"):
        read(params)


def test_limits_are_reasons(put, read, context):
    put("long.pdf", *["题干"] * 5)
    (context.raw / "rows.jsonl").write_text('{"question": "q"}\n' * 9, encoding="utf-8")
    result = read(OcrParams(max_pages=4, max_rows=5))
    assert reasons(result) == {"long.pdf": "too_large", "rows.jsonl": "too_large"}


def test_pages_of_low_confidence_are_named(context, read, monkeypatch):
    class Unsure:
        def recognise(self, pixels):
            return [Word("字", ((10, 10), (30, 10), (30, 30), (10, 30)), 0.5)]

    monkeypatch.setattr(engines, "load", lambda params: Unsure())
    Image.new("RGB", (300, 200), "white").save(context.raw / "a.png")
    result = read()
    assert result.facts["pages_of_low_confidence"] == ["a.png#1: 0.50"]


def test_a_broken_page_object_loses_that_page_alone(put, context, read):
    path = put("paper.pdf", STEM, "2. 第二题")
    document = pymupdf.open(path)
    document.xref_set_key(document[1].xref, "Contents", "(not a stream)")
    data = document.tobytes()
    document.close()
    path.write_bytes(data)
    result = read()
    assert result.counts.kept == 1
    assert [line.text for line in Line.from_frame(result.tables["lines"])] == [STEM]


@pytest.mark.parametrize("wanted", ["read_pages", "recognise_page"])
def test_a_paper_of_pages_that_kill_their_workers_is_given_up_after_three(put, read, engine, answer_tasks, wanted):
    put("paper.pdf", *[f"{number}. 题干" for number in range(1, 41)])
    heard = answer_tasks(lambda function, item: Failure("timeout", "") if function.__name__ == wanted else None)
    assert reasons(read(OcrParams(force_ocr=wanted == "recognise_page"))) == {"paper.pdf": "timeout"}
    assert [pages for name, pages, _ in heard if name == wanted and len(pages) == 1] == [(1,), (2,), (3,)]


def test_a_page_alone_has_less_time_than_a_chunk(put, read, answer_tasks):
    put("paper.pdf", *[f"{number}. 题干" for number in range(1, 6)])
    limits: list[tuple[int, float]] = []

    def crash(function, item):
        if function is not tasks.read_pages:
            return None
        limits.append((len(item.pages), item.params.text_timeout))
        return Failure("timeout", "took more processor time than the limit")

    answer_tasks(crash)
    read(OcrParams(text_timeout=6.0))
    assert limits == [(5, 6.0), *[(1, 2.0)] * 3]


def test_a_file_that_changes_while_it_is_read_is_told_and_nothing_of_it_is_stored(
    put, context, files_table, monkeypatch
):
    path = put("paper.pdf", STEM)
    files = files_table(context.raw)
    plain = context.map

    def change(function, items, *, timeout=None):
        for item, value in plain(function, items, timeout=timeout):
            if function is tasks.read_pages:
                path.write_bytes(b"another paper was put in its place")
            yield item, value

    monkeypatch.setattr(context, "map", change)
    with pytest.raises(UserError, match=r"paper\.pdf changed while it was read: run the same command again"):
        stage.run({"files": files}, OcrParams(), context)
    assert not context.store.items


def page_row(number: int, method: str, reason: str | None, confidence: float | None = None) -> Page:
    return Page(
        document="a.pdf", page=number, width=1.0, height=1.0, method=method, reason=reason,
        engine="e", engine_version="v", confidence=confidence, lines=1,
    )  # fmt: skip


def test_facts_name_the_pages_that_were_lost_and_those_that_are_doubtful(flips):
    def facts(*pages: Page) -> dict[str, object]:
        return stage._facts({"pages": Page.to_frame(pages), "documents": FORMATS}, {"b": "a"}, OcrParams())

    rows = [
        page_row(1, "blank", "no_content"),
        page_row(2, "blank", "timeout: 180 s"),
        page_row(3, "ocr", "image: dark", 0.899),
        page_row(4, "ocr", "image", 0.9),
        page_row(5, "text_layer", None),
        page_row(6, "blank", None),
    ]
    assert facts(*rows) == {
        "documents_by_format": {"docx": 1, "pdf": 2},
        "pages_by_method": {"blank": 3, "ocr": 2, "text_layer": 1},
        "pages_by_reason": {"image": 2, "no_content": 1, "timeout": 1},
        "pages_lost": ["a.pdf#2: timeout: 180 s", "a.pdf#6: None"],
        "pages_of_low_confidence": ["a.pdf#3: 0.90"],
        "duplicate_files": {"b": "a"},
        "ocr_engine": "rapidocr",
    }
    assert facts(rows[4])["ocr_engine"] is None


FORMATS = pl.DataFrame({"format": ["pdf", "docx", "pdf"]})


def test_three_names_are_told_of_many():
    told = [stage._some([str(number) for number in range(count)]) for count in (1, 3, 4, 9)]
    assert told == ["0", "0, 1, 2", "0, 1, 2 …", "0, 1, 2 …"]


def test_notes_tell_what_is_to_be_looked_at():
    facts = {"duplicate_files": {"b": "a"}, "pages_lost": ["x"] * 4, "pages_of_low_confidence": ["y"]}
    assert list(stage._notes(facts)) == [
        "merged, since they have the bytes of others: b of a",
        "4 pages could not be read and are blank: x, x, x …",
        "1 pages were read with low confidence: y",
    ]
    assert list(stage._notes({"duplicate_files": {}, "pages_lost": [], "pages_of_low_confidence": []})) == []


def test_files_that_the_manifest_names_and_the_raw_folder_lacks_are_told(context, put, read):
    put("b.pdf", "题干")
    for named, told in (("a,b,c", ["manifest.csv names 2 files that are not there: a.pdf, c.pdf"]), ("b", [])):
        lines = ["document", *(f"{one}.pdf" for one in named.split(","))]
        (context.raw / "manifest.csv").write_text("\n".join(lines), encoding="utf-8")
        assert [note for note in read().notes if "manifest" in note] == told


def blank_paper(context, pages: int) -> None:
    document = pymupdf.open()
    for _ in range(pages):
        document.new_page()
    document.save(context.raw / "paper.pdf")


def nothing_seen(function, item):
    """Made-up contents of blank pages, without a look at them."""
    if function is tasks.read_pages:
        page = PageRead(9.0, 9.0, ReadMethod.TEXT_LAYER, "e", "v").to_json()
        return [{"needs_ocr": "forced"} if item.params.force_ocr else page for _ in item.pages]
    seen = {"width": 9.0, "height": 9.0, "turned": 0, "legibility": 1.0, "words": [], "marks": {}}
    return seen if function is tasks.recognise_page else None


def test_pages_are_read_in_chunks_of_thirty_two_with_ten_times_their_seconds(read, context, answer_tasks):
    blank_paper(context, 33)
    heard = answer_tasks(nothing_seen)
    read(OcrParams(page_timeout=7.0))
    assert heard == [
        ("inspect_file", "paper.pdf", 70.0),
        ("read_pages", tuple(range(1, 33)), 70.0),
        ("read_pages", (33,), 70.0),
    ]


def test_pages_are_recognised_one_by_one_with_ten_times_their_seconds(read, context, answer_tasks):
    blank_paper(context, 2)
    heard = answer_tasks(nothing_seen)
    read(OcrParams(page_timeout=7.0, force_ocr=True))
    assert heard[2:] == [("recognise_page", (1,), 70.0), ("recognise_page", (2,), 70.0)]


def test_pages_after_the_third_that_failed_say_that_they_were_not_tried(put, read, answer_tasks):
    put("paper.pdf", *[f"{number}. 题干" for number in range(1, 7)])

    def answer(function, item):
        return Failure("crashed", "ended") if function is tasks.read_pages and item.pages != (1,) else None

    heard = answer_tasks(answer)
    assert read().facts["pages_lost"] == [
        *(f"paper.pdf#{page}: crashed: ended" for page in (2, 3, 4)),
        *(f"paper.pdf#{page}: crashed: not tried after 3 pages: ended" for page in (5, 6)),
    ]
    assert len(heard) == 6
