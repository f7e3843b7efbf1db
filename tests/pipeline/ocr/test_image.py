"""Pictures of pages: what is one, how large, which way up, how white, and where a long one is parted."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import ExifTags, Image, ImageOps

from build_dataset.pipeline.ocr.interfaces import NeedsOcr
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import image
from build_dataset.pipeline.ocr.readers.image import ImageReader
from build_dataset.schemas.errors import UnreadableDocument

Flips = Callable[[Callable[[int], object], Sequence[int]], list[object]]


def at_most(pixels: int) -> OcrParams:
    """Return options with a bound that is lower than people may set."""
    return OcrParams().model_copy(update={"max_pixels": pixels})


@pytest.mark.parametrize(
    ("head", "suffix", "read"),
    [
        (b"\x89PNG\r\n\x1a\n", ".x", True),
        (b"\xff\xd8\xff", ".x", True),
        (b"II*\x00", ".x", True),
        (b"MM\x00*", ".x", True),
        (b"GIF89a", ".x", True),
        (b"BM", ".bmp", True),
        (b"BM", ".csv", False),
        (b"RIFFsizeWEBP", ".x", True),
        (b"RIFFsizeWEBPVP8 ", ".x", True),
        (b"RIFFsizeWAVE", ".webp", False),
        (b"RIFXsizeWEBP", ".webp", False),
        (b"\x00\x00\x00\x18ftypheic", ".x", True),
        (b"\x00\x00\x00\x18ftypmsf1mif1", ".x", True),
        (b"\x00\x00\x00\x18ftypisom", ".heic", False),
        (b"\x00\x00\x00ftypheic", ".heic", False),
        (b"%PDF-", ".png", False),
        (b"", ".png", False),
    ],
)
def test_a_picture_is_told_by_its_first_bytes(
    monkeypatch: pytest.MonkeyPatch, head: bytes, suffix: str, read: bool
) -> None:
    monkeypatch.setattr(image, "_reads_heif", lambda: True)
    assert ImageReader().recognises(head, suffix) == read


@pytest.mark.parametrize("installed", [["pi_heif", "pillow_heif"], ["pillow_heif"], []])
def test_photographs_of_telephones_need_one_of_two_packages(
    monkeypatch: pytest.MonkeyPatch, installed: list[str]
) -> None:
    registered: list[tuple[str, dict[str, object]]] = []

    class Package:
        def __init__(self, name: str) -> None:
            self.name = name

        def register_heif_opener(self, **options: object) -> None:
            registered.append((self.name, options))

    monkeypatch.setattr(image, "find_spec", lambda name: name if name in installed else None)
    monkeypatch.setattr(image, "import_module", Package)
    assert image._reads_heif.__wrapped__() == bool(installed)
    assert registered == [(name, {"thumbnails": False}) for name in installed[:1]]


def plain(width: int, height: int, shade: int = 0) -> Image.Image:
    return Image.new("L", (width, height), shade)


@pytest.mark.parametrize(("name", "pages"), [("a.tiff", 3), ("a.gif", 1)])
def test_frames_of_a_tiff_are_pages_and_those_of_a_film_are_not(tmp_path: Path, name: str, pages: int) -> None:
    frames = [plain(4, 5, shade) for shade in (10, 20, 30)]
    frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:])
    assert ImageReader().count_pages(tmp_path / name, OcrParams()) == pages
    plain(4, 5).save(tmp_path / f"one-{name}")
    assert ImageReader().count_pages(tmp_path / f"one-{name}", OcrParams()) == 1


def test_every_page_of_a_picture_needs_ocr(tmp_path: Path) -> None:
    assert ImageReader().read(tmp_path, [1, 2], OcrParams()) == [NeedsOcr("image")] * 2


def test_pages_of_a_tiff_have_their_own_size(tmp_path: Path) -> None:
    path = tmp_path / "a.tiff"
    plain(20, 10, 50).save(path, save_all=True, append_images=[plain(10, 20, 100), plain(30, 30, 150)])
    found = [ImageReader().image(path, page, OcrParams()) for page in (1, 2, 3)]
    assert [(one.pixels.shape, int(one.pixels[0, 0, 0])) for one in found] == [
        ((10, 20, 3), 50),
        ((20, 10, 3), 100),
        ((30, 30, 3), 150),
    ]
    assert [(one.width, one.height) for one in found] == [(842, 421), (421, 842), (842, 842)]
    with pytest.raises(UnreadableDocument, match="too_large"):
        ImageReader().image(path, 3, at_most(449))
    assert ImageReader().image(path, 3, at_most(450)).pixels.shape == (21, 21, 3)
    assert ImageReader().image(path, 1, at_most(449)).pixels.shape == (10, 20, 3)


def test_a_picture_of_twice_the_pixels_is_read_and_a_larger_one_is_not(tmp_path: Path) -> None:
    for width in (200, 201):
        plain(width, 1).save(tmp_path / f"{width}.png")
    assert ImageReader().count_pages(tmp_path / "200.png", at_most(100)) == 1
    with pytest.raises(UnreadableDocument) as caught:
        ImageReader().count_pages(tmp_path / "201.png", at_most(100))
    assert caught.value.detail == "201 x 1 pixels, more than 2 x max_pixels = 100"


@pytest.mark.parametrize("orientation", range(10))
def test_a_picture_is_turned_as_its_tag_says(tmp_path: Path, orientation: int) -> None:
    shades = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
    picture = Image.fromarray(shades)
    picture.getexif()[ExifTags.Base.Orientation] = orientation
    picture.save(tmp_path / "a.png", exif=picture.getexif())
    found = ImageReader().image(tmp_path / "a.png", 1, OcrParams())
    upright = np.asarray(ImageOps.exif_transpose(picture)) if 1 <= orientation <= 8 else shades
    assert found.pixels.tolist() == np.stack([upright] * 3, axis=2).tolist()
    size = (631.5, 842.0) if orientation in (5, 6, 7, 8) else (842.0, 631.5)
    assert (found.width, found.height) == size


def test_a_picture_with_too_many_pixels_is_scaled_down(flips: Flips) -> None:
    def shape(width: int, height: int, most: int) -> tuple[int, ...]:
        return image.upright(plain(width, height), most).shape[:2]

    assert [shape(100, 60, most) for most in (20_000, 6_000, 5_999, 1_500)] == [
        (60, 100),
        (60, 100),
        (59, 99),
        (30, 50),
    ]
    assert (shape(1, 10_000, 100), shape(10_000, 1, 100)) == ((1000, 1), (1, 1000))
    assert shape(50, 200, 100) == (20, 5)


def shown(picture: Image.Image) -> list[list[int]]:
    return [list(pixel) for pixel in image.upright(picture, 10**6)[0].tolist()]


def test_what_is_transparent_is_white() -> None:
    clear = Image.new("RGBA", (3, 1))
    for at, alpha in enumerate((0, 102, 255)):
        clear.putpixel((at, 0), (0, 100, 200, alpha))
    assert shown(clear) == [[255, 255, 255], [153, 193, 233], [0, 100, 200]]
    grey = Image.new("LA", (2, 1))
    grey.putpixel((1, 0), (40, 255))
    assert shown(grey) == [[255] * 3, [40] * 3]
    palette = Image.new("P", (2, 1))
    palette.putpalette([10, 20, 30, 40, 50, 60])
    palette.putpixel((1, 0), 1)
    assert shown(palette) == [[10, 20, 30], [40, 50, 60]]
    palette.info["transparency"] = 0
    assert shown(palette) == [[255] * 3, [40, 50, 60]]


@pytest.mark.parametrize(
    ("values", "kind", "grey"),
    [
        ([0, 0.25, 0.5, 1], np.float32, [0, 63, 127, 255]),
        ([-3, float("nan"), 0.5, 1], np.float32, [0, 0, 127, 255]),
        ([0, 1.5, 100, 255], np.float32, [0, 1, 100, 255]),
        ([0, 256, 32_768, 65_535], np.uint16, [0, 0, 127, 255]),
        ([0, 2, 100, 255], np.uint16, [0, 2, 100, 255]),
        ([0, 300, 65_535, 70_000], np.int32, [0, 1, 255, 255]),
    ],
)
def test_deep_channels_are_scaled_by_the_white_that_their_brightest_pixel_suggests(
    values: list[float], kind: type[np.generic], grey: list[int]
) -> None:
    assert shown(Image.fromarray(np.array([values], kind))) == [[one] * 3 for one in grey]


def test_the_longest_side_with_which_a_resolution_is_believed() -> None:
    def points(width: int, height: int, *dpi: float) -> float:
        picture = Image.new("1", (1, 1))
        picture.info["dpi"] = dpi
        return image._points(picture, width, height)

    assert [points(1250, 900, 72), points(900, 1250, 72)] == [1.0, 1.0]
    assert [points(1251, 900, 72), points(900, 1251, 72)] == [842 / 1251, 842 / 1251]
    assert (points(1000, 900, 144, 300), points(1000, 900, 300, 144)) == (0.5, 0.24)
    assert points(1000, 900, 50) == 842 / 1000
    assert points(500, 400, 50) == 1.44


def test_a_picture_of_several_pages_is_as_wide_as_a_page() -> None:
    def points(width: int, height: int) -> float:
        return image._points(Image.new("1", (1, 1)), width, height)

    assert [image.page_count(400, height) for height in (1000, 1200, 1600)] == [1, 2, 3]
    assert [points(400, height) for height in (1000, 1200, 1600)] == [842 / 1000, 595 / 400, 595 / 400]


def noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 255, (height, width, 3)).astype(np.uint8)


@pytest.mark.parametrize(("first", "broken"), [(562, 576), (550, 570), (536, 702)])
def test_a_break_is_moved_up_by_a_quarter_of_a_page_at_most(first: int, broken: int) -> None:
    pixels = noise(1500, 500)
    pixels[first : first + 27] = 255
    pixels[700:704] = 255
    assert image.page_breaks(pixels) == [(0, broken), (broken, 1500)]


def lively(*changes: int) -> np.ndarray:
    """Rows whose neighbours differ by so much in all."""
    rows = np.zeros((len(changes), 42, 3), dtype=np.uint8)
    for row, change in zip(rows, changes, strict=True):
        steps, rest = divmod(change, 255)
        row[1 : steps + 1 : 2] = 255
        if rest:
            row[-1] = rest
        assert np.abs(np.diff(row[:, 0].astype(int))).sum() == change
    return rows


@pytest.mark.parametrize(("even", "middle"), [(0, 4), (102, 4), (103, 1)])
def test_rows_are_calm_up_to_a_hundredth_of_the_liveliest(even: int, middle: int) -> None:
    assert image._calmest(lively(10_200, 0, 10_200, even, even, even)) == middle


@pytest.mark.parametrize(("even", "middle"), [(200, 4), (201, 4), (202, 1)])
def test_the_hundredth_is_of_the_range_above_the_calmest_row(even: int, middle: int) -> None:
    assert image._calmest(lively(10_200, 100, 10_200, even, even, even)) == middle


def test_of_calm_runs_of_one_length_the_first_is_taken() -> None:
    runs = ((0, 0, 510, 0, 0), (0,) * 5, (510, 0, 510, 0, 0, 0, 0))
    assert [image._calmest(lively(*rows)) for rows in runs] == [1, 2, 5]
