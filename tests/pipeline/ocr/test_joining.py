"""Pictures of one folder become one paper where names, sizes and times say so; what was joined or not is told."""

import json

import polars as pl
import pytest
from hypothesis import given, strategies as st
from PIL import ExifTags, Image

from build_dataset.pipeline.crop import find_paper, page_image
from build_dataset.pipeline.ocr import engines, stage
from build_dataset.pipeline.ocr.interfaces import Word
from build_dataset.pipeline.ocr.joining import _series
from build_dataset.pipeline.ocr.params import OcrParams


class Shade:
    """An engine that reads how light the page is: pages are told apart by it."""

    def recognise(self, pixels):
        text = f"第{int(pixels[5, 5, 0])}号页面"
        return [Word(text, ((10, 10), (200, 10), (200, 30), (10, 30)), 0.95)]


@pytest.fixture
def read(context, files_table, monkeypatch):
    monkeypatch.setattr(engines, "load", lambda params: Shade())
    files = lambda: {"files": files_table(context.raw)}  # noqa: E731
    return lambda **options: stage.run(files(), OcrParams(clean_images=False, **options), context)


@pytest.fixture
def put(context):
    """Write a picture of one shade into the raw folder."""

    def write(name: str, shade: int, size: tuple[int, int] = (800, 1100), taken: str | None = None):
        path = context.raw / name
        path.parent.mkdir(parents=True, exist_ok=True)
        exif = Image.Exif()
        if taken:
            exif[ExifTags.Base.DateTime] = taken
        Image.new("RGB", size, (shade,) * 3).save(path, exif=exif)
        return path

    return write


def pages(result, document: str) -> list[str]:
    rows = result.tables["lines"].filter(pl.col("document") == document).sort("page", "order")
    return rows["text"].to_list()


def documents(result) -> list[str]:
    return result.tables["documents"]["document"].to_list()


def test_pictures_with_running_numbers_are_one_paper_in_the_order_of_their_numbers(put, read):
    for at in (10, 2, 1, 9):
        put(f"内科/scan ({at}).png", 200 + at)
    result = read()
    assert documents(result) == ["内科/scan (1).png"]
    assert pages(result, "内科/scan (1).png") == ["第201号页面", "第202号页面", "第209号页面", "第210号页面"]
    (files,) = result.tables["documents"]["files"].to_list()
    assert files == [f"内科/scan ({at}).png" for at in (1, 2, 9, 10)]


def test_every_picture_is_counted_and_what_was_joined_is_told(put, read):
    for at in (1, 2, 4):
        put(f"内科/IMG_000{at}.png", 200 + at)
    put("单页.png", 100)
    result = read()
    counts = result.counts
    assert (counts.n_input, counts.kept, counts.merged, counts.rejected) == (4, 2, 2, 0)
    (note,) = [note for note in result.notes if "pictures" in note]
    assert "3 pictures (IMG_0001.png, IMG_0002.png, IMG_0004.png), without number 3," in note
    assert '[sources."内科"] join_images = "never"' in note
    assert result.facts["joined"] == {"内科/IMG_0001.png": [f"内科/IMG_000{at}.png" for at in (1, 2, 4)]}


@pytest.mark.parametrize("said", [{"join_images": "never"}, {"joins": (("内科", "never"),)}])
def test_settings_keep_pictures_apart(put, read, said):
    for at in (1, 2):
        put(f"内科/IMG_{at}.png", 200 + at)
    assert documents(read(**said)) == ["内科/IMG_1.png", "内科/IMG_2.png"]


def test_settings_join_what_would_be_kept_apart(put, read):
    put("figures/image2.png", 102, (300, 200))
    put("figures/image10.png", 110)
    assert pages(read(joins=(("figures", "always"),)), "figures/image2.png") == ["第102号页面", "第110号页面"]


@pytest.mark.parametrize("sizes", [[(800, 1100), (800, 500)], [(300, 200), (300, 200)], [(800, 1100), (1700, 2300)]])
def test_pictures_of_different_or_small_sizes_are_figures_and_stay_apart_with_a_note(put, read, sizes):
    for at, size in enumerate(sizes):
        put(f"图/image{at}.png", 100 + at, size)
    result = read()
    assert len(documents(result)) == 2
    assert any("were kept apart" in note and '"always" joins them' in note for note in result.notes)


def test_names_without_numbers_are_ordered_by_the_time_of_exposure(put, read):
    put("卷/b.png", 101, taken="2024:05:01 10:00:01")
    put("卷/a.png", 102, taken="2024:05:01 10:00:02")
    assert pages(read(), "卷/b.png") == ["第101号页面", "第102号页面"]


def test_names_and_times_that_tell_no_order_join_nothing(put, read):
    put("卷/b.png", 101)
    put("卷/a.png", 102)
    result = read()
    assert documents(result) == ["卷/a.png", "卷/b.png"]
    assert any("neither their names nor times" in note for note in result.notes)


def test_papers_named_by_their_years_are_papers_of_their_own(put, read):
    put("2021.png", 101)
    put("2022.png", 102)
    assert documents(read()) == ["2021.png", "2022.png"]


def test_series_of_one_folder_are_papers_of_their_own(put, read):
    for name in ("内科-1", "内科-2", "外科-1", "外科-2"):
        put(f"卷/{name}.png", 100 + len(name) + (name[0] == "外") * 50 + int(name[-1]))
    assert documents(read()) == ["卷/内科-1.png", "卷/外科-1.png"]


def test_a_picture_that_cannot_be_read_is_a_lost_page_of_its_paper(put, read, context):
    for at in (1, 3):
        put(f"卷/IMG_{at}.png", 200 + at)
    (context.raw / "卷/IMG_2.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    result = read()
    counts = result.counts
    assert (counts.n_input, counts.kept, counts.merged, counts.rejected) == (3, 1, 1, 1)
    assert [one.item_id for one in result.rejects] == ["卷/IMG_2.png"]
    told = result.tables["pages"].sort("page")
    assert told["method"].to_list() == ["ocr", "blank", "ocr"]
    assert "IMG_2.png" in told["reason"].to_list()[1]


def test_the_same_pictures_are_the_same_document_and_another_page_makes_another(put, read):
    for at in (1, 2):
        put(f"卷/IMG_{at}.png", 200 + at)
    first, again = read(), read()
    assert first.tables["documents"].equals(again.tables["documents"])
    put("卷/IMG_2.png", 99)
    assert read().tables["documents"]["sha256"][0] != first.tables["documents"]["sha256"][0]


def test_pages_are_read_once_whether_joined_or_not(put, read, monkeypatch):
    for at in (1, 2):
        put(f"卷/IMG_{at}.png", 200 + at)
    read()
    monkeypatch.setattr(Shade, "recognise", None)
    assert documents(read(join_images="never")) == ["卷/IMG_1.png", "卷/IMG_2.png"]


def test_a_page_of_a_joined_paper_can_be_looked_at(put, read, context):
    for at in (1, 2):
        put(f"卷/IMG_{at}.png", 200 + at)
    result = read()
    home = context.build / "ocr"
    home.mkdir(parents=True, exist_ok=True)
    for name in ("documents", "pages"):
        result.tables[name].write_parquet(home / f"{name}.parquet")
    for listed in (context.build / "converted").iterdir():
        listed.unlink()  # it is made again
    paper = find_paper(context.build, context.raw, "卷/IMG_1.png")
    assert [int(page_image(paper, at)[0][0, 0, 0]) for at in (1, 2)] == [201, 202]
    assert json.loads(paper.path.read_text(encoding="utf-8"))[1].endswith("IMG_2.png")


def test_pictures_that_are_joined_by_wish_stand_as_people_count(put, read):
    for at, name in enumerate(("题2-9", "题2-10", "题10-1", "题10-a", "题附")):
        put(f"figures/{name}.png", 201 + at)
    result = read(joins=(("figures", "always"),))
    assert pages(result, "figures/题2-9.png") == [f"第{201 + at}号页面" for at in range(5)]


@given(st.lists(st.integers(0, 10**7), min_size=2, unique=True))
def test_names_of_one_camera_are_one_series(numbers):
    assert len({_series(f"IMG_{number}.jpg") for number in numbers}) == 1
