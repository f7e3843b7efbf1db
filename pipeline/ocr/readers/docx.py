"""Word documents: paragraphs with their automatic numbers, tables, pictures; one page, no layout."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import metadata
from itertools import groupby
from pathlib import Path
from typing import Any

from build_dataset.pipeline.archives import check_archive
from build_dataset.pipeline.ocr import glyphs
from build_dataset.pipeline.ocr.emphasis import set_apart, shown_options
from build_dataset.pipeline.ocr.glyphs import tabs_for_gaps
from build_dataset.pipeline.ocr.interfaces import NeedsOcr
from build_dataset.pipeline.ocr.model import PageLine, PageRead
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import omml
from build_dataset.pipeline.ocr.readers.docx_numbering import Numbering, W, integer, value_of
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import LineKind, ReadMethod
from build_dataset.schemas.errors import refused_as

_P = Patterns(__name__)
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_SKIPPED = {f"{W}del", f"{W}moveFrom", f"{W}instrText", f"{W}rPr", f"{W}pPr", f"{_MC}Fallback"}
_PICTURES = {f"{W}drawing", f"{W}pict", f"{W}object"}
_WRAPPERS = {f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}customXml", f"{W}smartTag"}
"""Elements around paragraphs, tables, rows or cells that print nothing of their own."""
_SIGNS = {f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
"""Elements that stand for a character."""
_MOVED = 4  # Half points by which a run is raised or lowered at least to be a script
_PLAIN = (None, "none", "auto", "000000", "black", "white")  # colours and lines of a run that is not apart
_DOT = 10.0
"""Points up to which, in both directions, a picture is a dot: sites put some into papers, to know them again."""
_OFF_PAGE = 800.0  # Points to the right at which a picture stands outside of the page: A4 is 595 wide


class DocxReader:
    """Reads DOCX with python-docx; the whole document is one page."""

    format = "docx"
    version = metadata.version("python-docx")

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is a ZIP archive with a Word document, or is called DOCX."""
        return head.startswith(b"PK\x03\x04") and (suffix == ".docx" or b"word/document" in head)

    def count_pages(self, path: Path, params: OcrParams) -> int:
        """One: where pages break is up to the program that shows the document."""
        opened(path, params)
        return 1

    def read(self, path: Path, pages: Sequence[int], params: OcrParams) -> list[PageRead | NeedsOcr]:
        """The one page."""
        document = opened(path, params)
        lines = list(Walker(document).blocks(document.element.body))
        for line, text in zip(lines, shown_options([line.text for line in lines]), strict=True):
            line.text = text
        size = document.element.body.find(f"{W}sectPr/{W}pgSz")
        width, height = ((integer(size, name) or 0) / 20 for name in ("w", "h"))
        method = ReadMethod.TEXT_LAYER if lines else ReadMethod.BLANK
        reason = None if lines else "no_content"
        return [PageRead(width, height, method, "python-docx", self.version, reason, lines) for _ in pages]


def opened(path: Path, params: OcrParams) -> Any:
    """Return a document of python-docx; ``UnreadableDocument`` where it is none."""
    import docx

    check_archive(path, params.max_file_mb)
    with refused_as("broken", "not a readable DOCX file"):
        return docx.Document(str(path))


class Walker:
    """Goes through a document in reading order."""

    def __init__(self, document: Any) -> None:
        inside = [relation for relation in document.part.rels.values() if not relation.is_external]
        parts = (one.target_part for one in inside if one.reltype.endswith("/numbering"))
        self._numbering = Numbering.read(getattr(next(parts, None), "element", None))
        styles = document.styles.element.findall(f"{W}style")
        named = ((str(style.get(f"{W}styleId")), *_list_of(style.find(f"{W}pPr/{W}numPr"))) for style in styles)
        # Paragraph styles that number: style id → numId and level.
        self._styles = {name: (list_id, depth or 0) for name, list_id, depth in named if list_id is not None}

    def blocks(self, parent: Any) -> Iterator[PageLine]:
        """Yield the lines of paragraphs and tables below an element, or in a list."""
        for block in _in_order(parent, _height):
            if block.tag == f"{W}p":
                yield from self._paragraph(block)
            elif block.tag == f"{W}tbl":
                yield from self._table(block)
            elif block.tag in _WRAPPERS:
                yield from self.blocks(block)

    def _paragraph(self, paragraph: Any) -> Iterator[PageLine]:
        for part in (self._label(paragraph) + "".join(_text(paragraph))).split("\n"):
            if stripped := tabs_for_gaps(part.strip(" \t\u3000\u00a0")):
                yield PageLine(stripped, None)
        # embedded objects are nearly always formulas; those with a control are buttons of a form
        formulas = sum(_is_seen(one) for one in paragraph.iter(f"{W}object") if one.find(f"{W}control") is None)
        formulas += sum(omml.linearise(one) is None for one in paragraph.iter(f"{omml.M}oMath") if len(one))
        yield from (PageLine("", None, LineKind.FORMULA) for _ in range(formulas))
        pictures = sum(map(_is_seen, _own(paragraph, f"{W}drawing", f"{W}pict")))
        yield from (PageLine("", None, LineKind.FIGURE) for _ in range(pictures))
        for box in _in_order(_own(paragraph, f"{W}txbxContent"), _anchored):
            yield from self.blocks(box)

    def _label(self, paragraph: Any) -> str:
        inherited = self._styles.get(value_of(paragraph, "pPr", "pStyle") or "")
        list_id, depth = _list_of(paragraph.find(f"{W}pPr/{W}numPr"))
        if list_id is None and inherited is not None:
            list_id, depth = inherited[0], depth if depth is not None else inherited[1]
        if list_id in (None, "0") or not "".join(_text(paragraph)).strip():
            return ""
        return self._numbering.label(str(list_id), depth or 0)

    def _table(self, table: Any) -> Iterator[PageLine]:
        """A region, then its rows with a tab between cells; tables that hold paragraphs of text, cell by cell."""
        yield PageLine("", None, LineKind.TABLE)
        rows = [list(below(row, f"{W}tc")) for row in below(table, f"{W}tr")]
        if any(len(cell.findall(f"{W}p")) > 2 for row in rows for cell in row):  # a layout, no table
            for row in rows:
                for cell in row:
                    yield from self.blocks(cell)
            return
        for row in rows:
            cells = [list(self.blocks(cell)) for cell in row]
            text = "\t".join(" ".join(line.text for line in cell if line.text) for cell in cells)
            if text.strip():
                yield PageLine(text.strip(), None)
            yield from (line for cell in cells for line in cell if line.kind is not LineKind.TEXT)


def _in_order(blocks: Iterable[Any], height: Callable[[Any], int | None]) -> Iterator[Any]:
    """Yield blocks as a page shows them: those with a height on it that follow each other, from top to bottom."""
    for _, found in groupby(((height(block), block) for block in blocks), key=lambda one: one[0] is None):
        yield from (block for _, block in sorted(found, key=lambda one: one[0] or 0))


def _height(paragraph: Any) -> int | None:
    """Return the height on its page of a paragraph that is nothing but text boxes; None of others."""
    boxes = _own(paragraph, f"{W}txbxContent") if paragraph.tag == f"{W}p" and not "".join(_text(paragraph)) else []
    return min((height for box in boxes if (height := _anchored(box)) is not None), default=None)


def _anchored(box: Any) -> int | None:
    """Return the distance of a text box from the top of its page; None where it moves with its paragraph."""
    place = next((one.find(f"{_WP}positionV") for one in box.iterancestors(f"{_WP}anchor")), None)
    if place is None or place.get("relativeFrom") not in ("page", "margin"):
        return None
    offset = place.find(f"{_WP}posOffset")
    return int(offset.text) if offset is not None and (offset.text or "").lstrip("-").isdecimal() else None


def below(parent: Any, tag: str) -> Iterator[Any]:
    """Elements of that tag directly below, or wrapped in content controls; not those of tables within."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in _WRAPPERS:
            yield from below(child, tag)


def _list_of(properties: Any | None) -> tuple[str | None, int | None]:
    if properties is None:
        return None, None
    return value_of(properties, "numId"), integer(properties.find(f"{W}ilvl"), "val")


def _text(element: Any) -> Iterator[str]:
    """The text inside an element, without deleted text, field codes, text boxes."""
    for child in element:
        tag = child.tag
        if tag in _SKIPPED or tag in _PICTURES:
            continue
        if tag == f"{W}t":
            yield child.text or ""
        elif tag == f"{omml.M}oMath":
            yield omml.linearise(child) or ""
        elif tag in _SIGNS:
            yield _SIGNS[tag]
        elif tag == f"{W}sym":
            yield glyphs.fold(chr(integer(child, "char", 16) or 0xFFFD), str(child.get(f"{W}font")))
        elif tag == f"{W}r":
            marks = {name: value_of(child, "rPr", name) for name in ("b", "u", "color", "highlight")}
            bold = child.find(f"{W}rPr/{W}b") is not None and marks["b"] not in ("0", "false")
            apart = bold or any(marks[name] not in _PLAIN for name in ("u", "color", "highlight"))
            yield set_apart(_scripted(child)) if apart else _scripted(child)
        else:
            yield from _text(child)


def _scripted(run: Any) -> str:
    """A run's text, raised or lowered where it is and every character can be."""
    text = "".join(_text(run))
    value, moved = value_of(run, "rPr", "vertAlign"), value_of(run, "rPr", "position") or "0"
    if value == "superscript" or (value is None and moved.isdigit() and int(moved) >= _MOVED):
        return glyphs.superscript(text)
    lower = value is None and moved.startswith("-") and moved[1:].isdigit() and int(moved[1:]) >= _MOVED
    return glyphs.subscript(text) if value == "subscript" or lower else text


def _own(paragraph: Any, *tags: str) -> list[Any]:
    """Elements of a paragraph without those in its text boxes, and without fallbacks for older programs."""
    found = [one for one in paragraph.iter(*tags) if next(one.iterancestors(f"{_MC}Fallback"), None) is None]
    around = len([*paragraph.iterancestors(f"{W}txbxContent")])
    return [one for one in found if len([*one.iterancestors(f"{W}txbxContent")]) == around]


def _is_seen(picture: Any) -> bool:
    """Return whether a drawing, picture or object shows something: no dot, nothing moved off the page."""
    places: dict[str, float] = {}
    shown = any(str(child.tag).endswith(("}imagedata", "}blip")) for child in picture.iter())
    if not shown and picture.find(f".//{W}txbxContent") is not None:  # a frame with text
        return False
    if picture.tag in (f"{W}pict", f"{W}object"):
        if picture.tag == f"{W}pict" and not any(child.tag.endswith("}imagedata") for child in picture.iter()):
            return False
        styles = [str(child.get("style")) for child in picture.iter() if child.get("style")]
        places = {name: float(value) for name, value in _P.length.findall(styles[0] if styles else "")}
    else:
        extent = next((child for child in picture.iter() if str(child.tag).endswith("}extent")), None)
        if extent is not None:
            sizes = {"width": extent.get("cx", ""), "height": extent.get("cy", "")}
            places = {name: int(size[:12]) / 12700 for name, size in sizes.items() if size.isdecimal()}
    dot = max(places.get("width", 99.0), places.get("height", 99.0)) <= _DOT
    return not dot and places.get("margin-left", 0.0) <= _OFF_PAGE
