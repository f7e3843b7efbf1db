"""Saved web pages (HTML, MHTML), Markdown: as text, a line a block, pictures as figures, or as tables of questions."""

import email
import email.policy
import re
from collections.abc import Iterator
from itertools import chain, count, pairwise
from pathlib import Path
from typing import Any

from build_dataset.pipeline.ocr import glyphs
from build_dataset.pipeline.ocr.emphasis import HEADING, OFF, ON, shown_options
from build_dataset.pipeline.ocr.interfaces import OnePageReader, TableRow
from build_dataset.pipeline.ocr.model import PageLine
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.docx_numbering import format_number
from build_dataset.pipeline.ocr.readers.encoding import begins_as_html, decode, looks_like_text
from build_dataset.pipeline.ocr.readers.header import PICTURE, Grid, is_bank, tables_of_document
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import LineKind
from build_dataset.schemas.errors import UnreadableDocument, refused_as

_P = Patterns(__name__)
_SUFFIXES = (".html", ".htm", ".xhtml", ".mht", ".mhtml", ".md", ".markdown")
_SILENT = frozenset({"script", "style", "noscript", "template", "head", "nav", "button", "select", "svg", "rt", "rp"})
"""Elements whose text nobody reads on the page."""
_ASIDE = frozenset({"accesshide", "sr-only", "visually-hidden", "questionflag", "state", "grade"})
"""Classes of texts for screen readers alone, and of what Moodle says of an attempt (Correct, Flag question)."""
_INLINE = {"a", "abbr", "b", "bdi", "cite", "code", "em", "font", "i", "ins", "label"}
_INLINE |= {"mark", "q", "rb", "ruby", "s", "small", "span", "strong", "sub", "sup", "u", "var"}
"""Elements that do not begin a line."""
_APART = frozenset({"mark", "b", "strong", "u", "ins"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_STYLES = {"A": "upperLetter", "a": "lowerLetter", "I": "upperRoman", "i": "lowerRoman"}  # of the numbers of a list
_CELLS = frozenset({"td", "th"})
_SHIFTS = {"sup": glyphs.superscript, "sub": glyphs.subscript}  # 10<sup>9</sup>/L is 10⁹/L, never 109/L
_LINE = "\u2028"  # The end of a line in a program, which white space elsewhere is not
_FLAT = str.maketrans("\n\t", "  ")  # white space of the source, which a browser shows as a space
_RULES_OFF = ("list", "code", "lheading", "emphasis", "escape", "reference")
"""Rules that would change a paper: a list renumbers its items, a rule under an option would make it a heading,
``2*3*4`` would lose its signs, ``\\{`` in a formula its stroke."""
_OF_CODE = dict(zip(b"*_=", range(0xE2F3, 0xE2F6), strict=True))  # private characters for its signs
_MARKDOWN = (".md", ".txt")
_SPANS = 1000  # Rows or columns that a cell of a table may span; HTML's own limit for columns


class WebPageReader(OnePageReader):
    """Reads .html and .mhtml as a browser saves them, and .md as it would show them."""

    format = "html"
    engine = "lxml"
    version = "2"
    nothing = "there is no text on the page; perhaps a script loads it"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is text and is called so, or begins as HTML does; as a PDF it is a download that failed."""
        return (suffix in _SUFFIXES or (begins_as_html(head) and suffix != ".pdf")) and looks_like_text(head)

    def lines(self, path: Path) -> list[PageLine]:
        """Return its lines; a picture is a figure in its place."""
        data, suffix = path.read_bytes(), path.suffix.lower()
        if suffix in (".mht", ".mhtml"):  # a page and its pictures as one message: its first part that is HTML
            message = email.message_from_bytes(data, policy=email.policy.default)
            part = next((part for part in message.walk() if part.get_content_type() == "text/html"), None)
            content = part.get_payload(decode=True) if part is not None else None
            if not isinstance(content, bytes):
                raise UnreadableDocument("broken", "the MHTML file holds no HTML page")
            data = content
        page = html_of(decode(data)) if suffix in (".md", ".markdown") else decode(data)
        texts = shown_options([*element_lines(parse_page(page), apart=True)])
        kinds = {PICTURE: LineKind.FIGURE} | {text: LineKind.HEADING for text in texts if text[:1] == HEADING}
        bare = ((text, "" if text == PICTURE else text.removeprefix(HEADING)) for text in texts)
        return [PageLine(shown, None, kinds.get(text, LineKind.TEXT)) for text, shown in bare]


def parse_page(text: str) -> Any:
    """The root element of a page."""
    import lxml.etree
    import lxml.html

    bare = text.partition("?>")[2] if text.lstrip().startswith("<?xml") else text
    with refused_as("broken", "not a readable web page", (lxml.etree.LxmlError, ValueError)):
        return lxml.html.document_fromstring(bare)


def element_lines(root: Any, *, apart: bool = False) -> Iterator[str]:
    """The lines of an element; a picture is ``PICTURE``, cells of a row are apart by tabs; ``apart`` marks bold."""
    for element in root.iter("pre"):
        for inner in element.iter():
            inner.text = inner.text and inner.text.replace("\n", _LINE)
            if inner is not element:
                inner.tail = inner.tail and inner.tail.replace("\n", _LINE)
    text = ""
    for piece in chain(_pieces(root, apart=apart), "\n"):
        if piece not in ("\n", PICTURE):
            text += piece
            continue
        if line := "\t".join(" ".join(cell.split()) for cell in text.split("\t")).strip():
            yield line
        text = ""
        if piece == PICTURE:
            yield PICTURE


def _pieces(root: Any, *, apart: bool) -> Iterator[str]:
    """Texts in their order; a line break where a block begins or ends, ``PICTURE`` for one. Without recursion."""
    stack: list[Any] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            first, *further = item.split(_LINE)
            yield first
            yield from chain.from_iterable(("\n", part) for part in further)
            continue
        tail = [item.tail.translate(_FLAT)] if item.tail and item is not root else []
        if not isinstance(item.tag, str) or item.tag in _SILENT or _ASIDE & {*item.get("class", "").split()}:
            stack += tail
            continue
        edge = [] if item.tag in _INLINE else ["\t"] if item.tag in _CELLS else ["\n"]
        own = [_SHIFTS.get(item.tag, str)(item.text.translate(_FLAT))] if item.text and item.tag != "br" else []
        if item.tag == "summary":
            own = [_P.toggle.sub("", text) for text in own]
        inside = [PICTURE] if item.tag == "img" else [*own, *item]
        told = " ".join(value for name, value in item.items() if _P.told_in.fullmatch(name))
        if apart and _P.told.fullmatch(told):
            inside += ["(正确答案)"] if told == "true" else ["\n", f"答案：{told.upper()}", "\n"]
        if item.tag == "ol":
            _number(item)
        elif item.tag == "li" and item.get("value"):
            inside = [f"{item.get('value')}. ", *inside]
        elif apart and item.tag in _HEADINGS:
            inside = [HEADING, *inside]
        shown = _P.coloured.search(f"{item.get('style', '')};{item.get('color', '')}")
        if apart and (item.tag in _APART or shown or (item.tag == "li" and _P.right.search(item.get("class", "")))):
            inside = [ON, *inside, OFF]
        stack += reversed([*([] if item.tag in _CELLS else edge), *inside, *edge, *tail])


def _number(numbered: Any) -> None:
    """Write the numbers that a page shows before the items of a list into them, unless they have labels."""
    items = [*numbered.iterchildren("li")]
    start = numbered.get("start", "1")
    hidden = _P.no_numbers.search(numbered.get("style", ""))
    if hidden or not start.isdecimal() or any(_P.labelled.match("".join(item.itertext())) for item in items):
        return
    for value, item in enumerate(items, int(start)):
        item.set("value", format_number(value, _STYLES.get(numbered.get("type", ""), "decimal")))


def plain_html(text: str) -> str:
    """Return the text of a piece of HTML, a line a block; a text without markup as it is."""
    if not re.search(r"<[a-zA-Z/!]|&[#\w]{2,8};", text):
        return text.strip()
    return "\n".join(element_lines(parse_page(text))).strip()


def html_of(text: str) -> str:
    """Return Markdown as HTML, every line of a paragraph on a line of its own."""
    from markdown_it import MarkdownIt

    # The signs of a span of code are its own: `__init__`, `2**3`.
    text = _P.code.sub(lambda code: code[0].translate(_OF_CODE), _P.front_matter.sub("", text))
    if len(_P.asking.findall(text)) > 2:
        numbers = count(1)
        text = _P.asking.sub(lambda head: f"{head[0]}{next(numbers)}. ", text)
    for repair in _P.rows("repairs"):
        text = re.sub(repair["pattern"], repair["left"], text)
    parser = MarkdownIt("commonmark", {"html": True, "breaks": True}).enable("table").disable(_RULES_OFF)
    return str(parser.render(text)).translate({own: sign for sign, own in _OF_CODE.items()})


class PageTableReader:
    """Tables of questions in HTML (also what websites export as XLS) and in Markdown."""

    format = "table"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether the page is little else than tables, the first of which has the header of a bank."""
        if suffix not in (".html", ".htm", ".xls", *_MARKDOWN) or not looks_like_text(head):
            return False
        try:
            grids, outside = _grids(decode(head[: head.rfind(b"\n") + 1] or head), suffix)
        except UnreadableDocument:
            return False
        return is_bank(grids[:1], outside)

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:
        """The rows of every table of questions."""
        grids, outside = _grids(decode(path.read_bytes()), path.suffix.lower())
        yield from tables_of_document(grids, outside, frozenset(params.columns), told)


def _grids(text: str, suffix: str) -> tuple[list[Grid], int]:
    """The tables of a page, and how many characters stand outside of them."""
    if suffix in _MARKDOWN:
        return _pipe_tables(text)
    if "<table" not in text.lower():
        return [], 0
    root = parse_page(text)
    found = [table for table in root.iter("table") if table.find(".//table") is None]  # that hold no others
    grids = [grid for table in found if (grid := _grid(table))]
    inside = sum(len(line) for table in found for line in element_lines(table))
    return grids, sum(len(line) for line in element_lines(root)) - inside


def _grid(table: Any) -> Grid:
    """The cells of a table; one that spans rows has its text in each."""
    grid: Grid = []
    below: dict[int, tuple[int, str]] = {}  # by column: rows that a cell above goes on for, and its text
    for row in table.iter("tr"):
        record: list[str] = []
        for cell in (*row.iterchildren("td", "th"), None):  # None: the end of the row
            while len(record) in below:
                left, text = below.pop(len(record))
                below |= {len(record): (left - 1, text)} if left > 1 else {}
                record.append(text)
            if cell is None:
                break
            text = "\n".join(element_lines(cell))
            stated = (cell.get(name, "").strip() for name in ("colspan", "rowspan"))
            width, height = (min(int(span), _SPANS) if span.isdecimal() else 1 for span in stated)
            if height > 1:
                below[len(record)] = (height - 1, text)
            record += [text, *[""] * (width - 1)]
        grid.append(record)
    return grid


def _pipe_tables(text: str) -> tuple[list[Grid], int]:
    """Lines with pipes that follow a header with a rule under it."""
    grids: list[Grid] = []
    outside, inside = 0, False
    for line, following in pairwise([*text.splitlines(), ""]):
        if "|" in line and "|" in following and _P.rule.fullmatch(following):
            grids.append([])
            inside = True
        inside = inside and "|" in line
        if inside and not _P.rule.fullmatch(line):
            parts = (part.strip().replace("\\|", "|") for part in _P.pipe.split(line.strip().strip("|")))
            plain = (re.sub(r"(\*\*|__|`)(?=\S)(.{1,2000}?)(?<=\S)\1", r"\2", part) for part in parts)
            grids[-1].append([re.sub(r"<br\s{0,3}/?>", "\n", cell) for cell in plain])
        elif not inside:
            outside += len(line.strip())
    return grids, outside
