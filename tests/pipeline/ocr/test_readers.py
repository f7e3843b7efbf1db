"""The choice of a reader, and what is said of a file that has none."""

from pathlib import Path

import pytest

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import find_reader, reader, readers
from build_dataset.schemas.errors import UnreadableDocument


def told(path: Path, **params: int) -> tuple[str, str]:
    try:
        return find_reader(path, OcrParams(**params)).format, ""  # type: ignore[arg-type]
    except UnreadableDocument as error:
        return error.reason, error.detail


def written(path: Path, head: bytes, size: int | None = None) -> Path:
    path.write_bytes(head)
    if size is not None:
        with path.open("r+b") as file:
            file.truncate(size)
    return path


def test_readers_are_found_by_their_format() -> None:
    assert [reader(one.format) for one in readers()] == [*readers()]
    assert len({one.format for one in readers()}) == len(readers())


def test_a_file_is_as_large_as_is_allowed_and_no_larger(tmp_path: Path) -> None:
    sizes = {size: written(tmp_path / f"{size}.pdf", b"%PDF-1.4", size) for size in (1_000_000, 1_000_001)}
    assert [told(path, max_file_mb=1) for path in sizes.values()] == [
        ("pdf", ""),
        ("too_large", "1 MB, more than max_file_mb = 1"),
    ]
    assert told(written(tmp_path / "large.pdf", b"%PDF-1.4", 7_500_000), max_file_mb=7) == (
        "too_large",
        "8 MB, more than max_file_mb = 7",
    )
    assert told(sizes[1_000_001], max_file_mb=2) == ("pdf", "")
    assert told(written(tmp_path / "none.pdf", b"")) == ("empty_file", "the file is empty")


def test_readers_see_the_first_bytes_of_a_file(tmp_path: Path) -> None:
    mark = b"word/document"
    for behind in (0, 1):
        written(tmp_path / f"{behind}.bin", b"PK\x03\x04".ljust(65536 - len(mark) + behind, b" ") + mark)
    assert [told(tmp_path / f"{behind}.bin")[0] for behind in (0, 1)] == ["docx", "unknown_format"]


@pytest.mark.parametrize(
    ("name", "head", "reason", "said"),
    [
        ("a.txt", b"a\0b", "wrong_encoding", "a .txt file in UTF-16 without its mark, or no text: save it as UTF-8"),
        ("a.TXT", b"a\0b", "wrong_encoding", "a .txt file in UTF-16 without its mark, or no text: save it as UTF-8"),
        ("a.txt", b"\1" * 99, "unknown_format", "no reader knows .txt"),
        ("a.rar", b"x\0", "unknown_format", "the file is a RAR archive; unpack it into this folder"),
        ("a.pdf", b"x\0", "not_a_pdf", "the content is not that of a .pdf file"),
        ("a.zzz", b"x\0", "unknown_format", "no reader knows .zzz"),
        ("a", b"x\0", "unknown_format", "no reader knows files without a suffix"),
    ],
)
def test_a_file_without_a_reader_is_told_of(tmp_path: Path, name: str, head: bytes, reason: str, said: str) -> None:
    assert told(written(tmp_path / name, head)) == (reason, said)


def test_what_a_file_is_inside_is_told_by_its_first_sixty_four_bytes(tmp_path: Path) -> None:
    found = [told(written(tmp_path / "a.zzz", b"\1" * far + b"DRMONE\0"))[1] for far in (0, 58, 59)]
    assert found == ["the file is a Fasoo DRM container"] * 2 + ["no reader knows .zzz"]
