"""Pictures that are the pages of one paper: which of a folder belong together, in which order, what is told of it."""

import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from build_dataset.pipeline.archives import HOME
from build_dataset.pipeline.ocr.assemble import DocumentState, chinese_number
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.image import PAGES_SUFFIX
from build_dataset.pipeline.ocr.tasks import FileFacts
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import RawFile
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.identity import sha256

_P = Patterns(__name__)
_SHORTEST = 600
"""Least length in pixels of a page's shorter side: 72 dpi of A4. Figures taken out of documents are smaller."""
_SHAPE, _AREA = 1.3, 3.0
"""Factors by which shapes and areas of a paper's pages differ at most: pages are taken alike, figures of all shapes."""
_NAMED = 5  # Missing numbers and names that are told one by one


def join_pictures(
    readings: Sequence[DocumentState], broken: Sequence[DocumentState], params: OcrParams, build: Path
) -> tuple[list[DocumentState], list[str]]:
    """Return the documents, pictures of pages of one paper as one, and notes on what was joined or kept apart.

    Args:
        readings: documents by name.
        broken: files that cannot be read, with the reason as the failure of their page. One whose number stands among
            those of a paper is a page of it that is lost, so that nothing goes on over it unseen.
        params: options; ``joins`` says otherwise of folders and pictures.
        build: the build folder, which gets a list of each paper's pictures.
    """
    pictures = [one for one in readings if one.facts.picture and one.facts.picture.frames == 1]
    damaged = group_values((one.name.rpartition("/")[0], one) for one in broken)
    joined, inside = dict[str, DocumentState](), set[str]()
    notes, said = list[str](), dict(params.joins)
    for folder, own in sorted(group_values((one.name.rpartition("/")[0], one) for one in pictures).items()):
        # The settings of the folder, of one of its pictures or a folder around it, else of all.
        places = [folder, *(one.name for one in own), *(path.as_posix() for path in PurePosixPath(folder).parents)]
        wish = next((said[place] for place in places if place in said), params.join_images)
        for pages, why_not in _papers(own, damaged.get(folder, []), wish):
            first = next(one.name for one in pages if not one.failures)
            told, other = "were read as the pages of one paper", '"never" keeps them apart'
            if why_not:
                told, other = f"were kept apart: {why_not}", '"always" joins them'
            else:
                joined[first] = _joined(first, pages, build)
                inside.update(one.name for one in pages)
            notes.append(f'{first}: {_listed(pages)} {told}; [sources."{folder or first}"] join_images = {other}')
    return [joined.get(one.name, one) for one in readings if one.name not in inside or one.name in joined], notes


def _papers(
    pictures: list[DocumentState], broken: Sequence[DocumentState], wish: str
) -> Iterator[tuple[list[DocumentState], str]]:
    """Yield the pictures of a folder that look like one paper, each with why not, if so."""
    if wish == "never" or len(pictures) < 2:
        return
    if wish == "always":
        parts = {one.name: re.split(r"(\d+)", one.name) for one in pictures}  # every other one a number: 2 before 10
        yield sorted(pictures, key=lambda one: [int(at) if at.isdecimal() else at for at in parts[one.name]]), ""
        return
    series = group_values((_series(one.name), one) for one in pictures)
    alone = [one for named, own in series.items() for one in own if named is None or len(own) < 2]
    for named, own in series.items():
        if named is not None and len(own) > 1:
            pages = sorted([*own, *(one for one in broken if _series(one.name) == named)], key=_number)
            twice = len({_number(one) for one in pages}) < len(pages)
            yield pages, "two of them have one number" if twice else _unlike(own)
    if len(alone) == len(pictures) and not _unlike(alone):
        times = {one.name: (one.facts.picture and one.facts.picture.taken) or "" for one in alone}
        told = len({*times.values()} - {""}) == len(alone)
        alone.sort(key=lambda one: (times[one.name], one.name))
        yield alone, "" if told else "neither their names nor times of exposure tell their order"


def _unlike(pictures: Iterable[DocumentState]) -> str:
    """Return why pictures are not the pages of one paper by their sizes; "" where they may be."""
    sizes = [(one.facts.picture.width, one.facts.picture.height) for one in pictures if one.facts.picture]
    if min(map(min, sizes)) < _SHORTEST:
        return f"a side of less than {_SHORTEST} pixels is too small for a page"
    shapes, areas = [max(size) / min(size) for size in sizes], [wide * high for wide, high in sizes]
    alike = max(shapes) <= _SHAPE * min(shapes) and max(areas) <= _AREA * min(areas)
    return "" if alike else "they are of different sizes"


def _series(name: str) -> tuple[str, str] | None:
    """Return what a picture's name has before and after its running number; None where it has none."""
    stem = unicodedata.normalize("NFKC", PurePosixPath(name).stem).lower()
    found = [*_P.running.finditer(stem)]
    numbered = found and not _P.year.fullmatch(stem)
    return (stem[: found[-1].start()], stem[found[-1].end() :]) if numbered else None


def _number(picture: DocumentState) -> int:
    """Return the running number in a picture's name: 12 of IMG_0012 and of 第十二页."""
    stem = unicodedata.normalize("NFKC", PurePosixPath(picture.name).stem).lower()
    text = [*_P.running.finditer(stem)][-1][0]
    return int(re.sub(r"\D", "", text) or chinese_number(text))


def _listed(pages: Sequence[DocumentState]) -> str:
    """Return pictures as a note names them, with the numbers that are missing among them."""
    names = [PurePosixPath(one.name).name for one in pages]
    numbers = {_number(one) for one in pages} if all(map(_series, names)) else {0}
    missing = sorted(set(range(min(numbers), max(numbers))) - numbers)[: _NAMED + 1]
    told = ", ".join(names) if len(names) <= _NAMED else f"{names[0]}, {names[1]} … {names[-1]}"
    lacks = f", without number {', '.join(map(str, missing))}," if 0 < len(missing) <= _NAMED else ""
    return f"{len(pages)} pictures ({told}){lacks}"


def _joined(name: str, pages: Sequence[DocumentState], build: Path) -> DocumentState:
    """Return the document of a paper's pictures, whose pages are found by a list of them."""
    each = [(one, page) for one in pages for page in one.pages]
    path, digest = list_pages(build, [(one.path, one.file.sha256) for one, _ in each])
    file = RawFile(document=name, sha256=digest, bytes=sum(one.file.bytes for one in pages))
    made = DocumentState(file, path, FileFacts("image", len(each), None), parts=tuple(pages))
    for number, (one, page) in enumerate(each, 1):
        if why := one.failures.get(page):
            made.failures[number] = replace(why, detail=f"{one.name}: {why.detail}")
    return made


def list_pages(build: Path, pages: Sequence[tuple[Path, str]]) -> tuple[Path, str]:
    """Write, unless it is there, the list of a paper's pages: of each the picture and its hash.

    Return the list's path and the paper's hash. It can be deleted at any time: its name tells pictures and places.
    """
    digest = sha256("pages", *(found for _, found in pages))
    listed = json.dumps([str(path.resolve()) for path, _ in pages], ensure_ascii=False)
    home = build / HOME
    path = home / f"{sha256(digest, listed)}{PAGES_SUFFIX}"
    if not path.is_file():
        home.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(listed, encoding="utf-8")
        part.replace(path)
    return path, digest
