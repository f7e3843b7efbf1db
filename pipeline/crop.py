"""A question as printed: its boxes cut out of the pages of its document."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from build_dataset.pipeline import archives, stage
from build_dataset.pipeline.ocr import interfaces, joining, params
from build_dataset.pipeline.ocr.readers import reader
from build_dataset.pipeline.rendering.markup import data_uri
from build_dataset.pipeline.runtime.executor import LocalExecutor
from build_dataset.pipeline.runtime.publish import find_rows
from build_dataset.schemas.errors import UnreadableDocument, UserError
from build_dataset.schemas.identity import file_sha256
from build_dataset.schemas.questions import Question, Region

DPI = 150  # Resolution of the cut-outs: indices and subscripts of 5 pt type can be read
MAX_PIXELS = 8_000_000  # Of a page, and of a cut-out: an A4 page has 2.2 million at 150 dpi
MARGIN = 6.0  # White space kept around the boxes, in points
_GAP = 12  # White rows of pixels between strips
TIMEOUT = 60.0  # Seconds that cutting out of a paper in a worker may take
_STEPS = ((1100, 70), (1000, 55), (900, 45), (800, 38), (700, 32), (560, 28))
"""Width in pixels and JPEG quality, best first; the first that fits is taken."""


@dataclass(frozen=True)
class Paper:
    """A document whose pages can be looked at."""

    document: str
    path: Path
    format: str
    turned: Mapping[int, int] = field(default_factory=dict)
    """Pages that were turned to be read, from 1, and by how many degrees counter-clockwise."""


def find_paper(build: Path, raw: Path, document: str) -> Paper:
    """The file that a document was read from; ``UserError``: unread, without pages, gone, or another file now."""
    if not (rows := find_rows(build, "ocr/documents", pl.col("document") == document)):
        raise UserError(f"{document} is not in {build / 'ocr'}: run `build-dataset ocr` first")
    kind = str(rows[0]["format"])
    if not isinstance(reader(kind), interfaces.VisualReader):
        raise UserError(f"{document} has no pages to cut from: the format {kind} has no layout")
    files = rows[0].get("files")
    paths = {name: archives.locate(raw, build, name) for name in files or [document]}
    for path in paths.values():
        if not path.is_file():
            raise UserError(f"{path} is gone: put it back to see its pages")
    hashes = {name: file_sha256(path) for name, path in paths.items()}
    path, digest = paths.get(document, Path()), hashes.get(document)
    if files:
        path, digest = joining.list_pages(build, [(paths[name], hashes[name]) for name in files])
    if digest != rows[0]["sha256"]:
        raise UserError(f"{path} has changed since it was read: run `build-dataset run` first")
    pages = find_rows(build, "ocr/pages", pl.col("document") == document)
    return Paper(document, path, kind, {row["page"]: row["turned"] for row in pages if row.get("turned")})


def crop(paper: Paper, regions: Sequence[Region]) -> bytes:
    """Return the regions of a question as one PNG, strip below strip; a ``UserError`` where nothing can be shown."""
    return _png(_sheet(paper, regions))


@dataclass(frozen=True)
class CropTask:
    """Questions of a paper to cut out in a worker process, where a hostile page costs the task alone."""

    paper: Paper
    places: tuple[tuple[str, tuple[Region, ...]], ...]  # Ids of questions and their regions
    most: int  # Bytes a picture may take: a PNG that is larger becomes a JPEG that fits, if one does
    underlined: Mapping[str, Sequence[Region]] = field(default_factory=dict)  # Parts of questions, by their ids


def cut_out(task: CropTask) -> dict[str, str]:
    """Pictures of the questions of a task that can be shown, as data addresses."""
    pictures: dict[str, str] = {}
    for name, regions in task.places:
        with suppress(UserError):
            sheet = _sheet(task.paper, regions, task.underlined.get(name, ()))
            content, kind = _png(sheet), "image/png"
            if len(content) > task.most:
                content, kind = jpeg(sheet, task.most), "image/jpeg"
            if len(content) <= task.most:
                pictures[name] = data_uri(content, kind)
    return pictures


def crops(questions: Iterable[Question], context: stage.Context, most: int, *, marked: bool = False) -> dict[str, str]:
    """Cut-outs as data addresses, by question, as far as they take ``most`` bytes; drawn in worker processes.

    Where they are ``marked``, characters that may be misread are underlined. Those of one page are cut out of it
    together. A picture is a help, not a need: a paper that has moved, or shows no pages, has none.
    """
    made = context.map(cut_out, _tasks(questions, context, most, marked), timeout=TIMEOUT)
    return {name: picture for _, cut in made if not isinstance(cut, stage.Failure) for name, picture in cut.items()}


def _tasks(questions: Iterable[Question], context: stage.Context, most: int, marked: bool) -> Iterator[CropTask]:
    """The questions of a page in a task, which is opened once for them."""
    seen = [question for question in questions if question.regions]
    seen.sort(key=lambda question: (question.document, question.pages or [0], question.question_id))
    for document, mine in groupby(seen, key=lambda question: question.document):
        try:
            paper = find_paper(context.build, context.raw, document)
        except UserError:
            continue
        for _, some in groupby(mine, key=lambda question: (question.pages or [0])[0]):
            questions_of_page = list(some)
            places = tuple((question.question_id, tuple(question.regions or ())) for question in questions_of_page)
            underlined = {
                question.question_id: [Region(page=one.page, box=one.box) for one in question.unsure or () if one.box]
                for question in questions_of_page
            }
            yield CropTask(paper, places, most, underlined if marked else {})


def crop_in_worker(paper: Paper, regions: Sequence[Region]) -> bytes:
    """Cut out as ``crop`` does, in a worker process that a hostile page cannot keep for longer than ``TIMEOUT``."""
    with closing(LocalExecutor(1)) as executor:
        ((_, picture),) = executor.map(partial(crop, paper), [tuple(regions)], TIMEOUT)
    if isinstance(picture, stage.Failure):
        why = picture.detail.removeprefix("UserError: ")
        raise UserError(why if paper.document in why else f"{paper.document} cannot be shown: {why}")
    return picture


def page_strips(regions: Sequence[Region]) -> list[Region]:
    """Regions joined where they stand in one column of one page, in order."""
    strips: list[Region] = []
    for region in regions:
        box, other = strips[-1].box if strips else region.box, region.box
        # It goes on in the column of a strip: below it, beside its lines, or under a wider line.
        beside = min(box.x1, other.x1) <= max(box.x0, other.x0)
        below = other.y1 > box.y0 and not (beside and other.y0 < box.y0 - 2 * MARGIN)
        if strips and strips[-1].page == region.page and below:
            strips[-1] = Region(page=region.page, box=box.union(other))
        else:
            strips.append(region)
    return strips


def _cut(paper: Paper, region: Region, doubted: Sequence[Region] = ()) -> interfaces.Pixels:
    pixels, width, height = page_image(paper, region.page)
    across, down = pixels.shape[1] / width, pixels.shape[0] / height
    box = region.box
    left, right = max(0, int((box.x0 - MARGIN) * across)), int((box.x1 + MARGIN) * across)
    top, bottom = max(0, int((box.y0 - MARGIN) * down)), int((box.y1 + MARGIN) * down)
    part = pixels[top : max(bottom, top + 1), left : max(right, left + 1)]
    if not part.size:
        raise UserError(f"{paper.document} page {region.page}: the box lies outside of the page")
    part = part.copy() if doubted else part
    for box in (region_in_doubt.box for region_in_doubt in doubted if region_in_doubt.page == region.page):
        row, start, end = int(box.y1 * down) - top, int(box.x0 * across) - left, int(box.x1 * across) - left
        part[max(0, row) : max(0, row + 3), max(0, start) : max(0, end)] = (224, 0, 0)  # red
    return part


def page_image(paper: Paper, page: int) -> tuple[interfaces.Pixels, float, float]:
    """Return a page as it was read: RGB pixels (height x width x 3), and its size in points; else a ``UserError``."""
    try:
        return _page_image(paper.path, paper.path.stat().st_mtime_ns, paper.format, page, paper.turned.get(page, 0))
    except UnreadableDocument as error:
        raise UserError(f"{paper.document} page {page}: {error.detail}") from error
    except OSError as error:
        raise UserError(f"{paper.document} page {page}: cannot be shown: {error}") from error


@lru_cache(maxsize=2)
def _page_image(path: Path, stamp: int, kind: str, page: int, turned: int) -> tuple[interfaces.Pixels, float, float]:  # noqa: ARG001 -- a part of the cache's key
    renderer = reader(kind)
    assert isinstance(renderer, interfaces.VisualReader), "find_paper looked"
    image = renderer.image(path, page, params.OcrParams(dpi=DPI, max_pixels=MAX_PIXELS))
    size = (image.height, image.width) if turned % 180 else (image.width, image.height)
    return np.rot90(image.pixels, turned // 90), *size


def _sheet(paper: Paper, regions: Sequence[Region], doubted: Sequence[Region] = ()) -> Image.Image:
    """The strips of the regions below each other on white; grey where there is no colour."""
    if not regions:
        raise UserError(f"{paper.document}: nothing to cut out, no box is known")
    parts = [_cut(paper, strip, doubted) for strip in page_strips(regions)]
    widest = max(part.shape[1] for part in parts)
    margins = [((_GAP * (at > 0), 0), (0, widest - part.shape[1]), (0, 0)) for at, part in enumerate(parts)]
    filled = [np.pad(part, margin, constant_values=255) for part, margin in zip(parts, margins, strict=True)]
    picture = as_picture(np.concatenate(filled))
    scale = (MAX_PIXELS / (picture.width * picture.height)) ** 0.5
    size = max(1, int(picture.width * scale)), max(1, int(picture.height * scale))
    return picture.resize(size) if scale < 1 else picture


def as_picture(pixels: interfaces.Pixels) -> Image.Image:
    """RGB pixels as a picture, grey where there is no colour: a third of the bytes."""
    picture = Image.fromarray(pixels)
    colour = int((pixels.max(axis=2) - pixels.min(axis=2)).max()) >= 24  # JPEG leaves a little on grey pages
    return picture if colour else picture.convert("L")


def _png(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def jpeg(picture: Image.Image, most: int) -> bytes:
    """A picture as JPEG of at most ``most`` bytes, or the smallest there is."""
    content = b""
    for width, quality in _STEPS:
        size = (width, max(1, round(picture.height * width / picture.width)))
        shrunk = picture.resize(size, Image.Resampling.LANCZOS) if width < picture.width else picture
        buffer = io.BytesIO()
        shrunk.save(buffer, "JPEG", quality=quality, optimize=True)
        content = buffer.getvalue()
        if len(content) <= most:
            break
    return content
