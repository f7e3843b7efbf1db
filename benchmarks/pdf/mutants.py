"""Mutants of PDFs: what damage and malice make of them. The same seed gives the same bytes."""

from __future__ import annotations

import itertools
import random
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    """A hostile file."""

    number: int
    kind: str
    source: str
    content: bytes
    suffix: str = ".pdf"


_STREAM = re.compile(rb"stream\r?\n(.*?)endstream", flags=re.DOTALL)

Mutation = Callable[[random.Random, bytes], bytes]


def mutants(papers: Sequence[Path], count: int, seed: int) -> Iterator[Mutant]:
    """``count`` mutants: kinds and papers in turn, each with a generator of its own.

    Kinds that are there to be ended by a limit come in every fifth round: they take a hundred times as long.
    """
    sources = [(path.name, path.read_bytes()) for path in papers]
    rounds = ((turn, kind) for turn in itertools.count() for kind in MUTATIONS if turn % 5 == 0 or kind not in SLOW)
    for number, (turn, kind) in enumerate(itertools.islice(rounds, count)):
        name, content = sources[turn % len(sources)]
        yield Mutant(number, kind, name, MUTATIONS[kind](random.Random(f"{seed}-{number}"), content))


def flip_bytes(chance: random.Random, content: bytes) -> bytes:
    """Up to 200 bytes anywhere become others."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 200)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def flip_structure(chance: random.Random, content: bytes) -> bytes:
    """Digits and delimiters outside of streams become others: lengths, references, offsets."""
    changed = bytearray(content)
    streams = [found.span(1) for found in re.finditer(_STREAM, content)]
    places = [found.start() for found in re.finditer(rb"[0-9<>\[\]/]", content)]
    places = [place for place in places if not any(start <= place < end for start, end in streams)]
    for place in chance.sample(places, min(len(places), chance.randint(1, 60))):
        changed[place] = chance.choice(b"0123456789<>[]/-")
    return bytes(changed)


def truncate(chance: random.Random, content: bytes) -> bytes:
    """The end is missing."""
    return content[: chance.randrange(1, len(content))]


def cut_out(chance: random.Random, content: bytes) -> bytes:
    """A piece in the middle is missing."""
    start = chance.randrange(len(content))
    return content[:start] + content[start + chance.randint(1, max(2, len(content) // 3)) :]


def repeat_piece(chance: random.Random, content: bytes) -> bytes:
    """A piece stands there several times."""
    start = chance.randrange(len(content))
    piece = content[start : start + chance.randint(1, 5000)]
    return content[:start] + piece * chance.randint(2, 40) + content[start:]


def remove_objects(chance: random.Random, content: bytes) -> bytes:
    """Objects are gone."""
    pieces = _objects(content)
    gone = {found.span() for found in chance.sample(pieces, min(len(pieces), chance.randint(1, 6)))}
    kept, last = [], 0
    for start, end in sorted(gone):
        kept.append(content[last:start])
        last = end
    return b"".join([*kept, content[last:]])


def swap_objects(chance: random.Random, content: bytes) -> bytes:
    """References point to other objects, also to their own: cycles, pages that are fonts."""
    numbers = [int(found[1]) for found in _objects(content)] or [1]
    share = chance.choice((0.02, 0.1, 0.5))

    def other(found: re.Match[bytes]) -> bytes:
        return b"%d 0 R" % chance.choice(numbers) if chance.random() < share else found[0]

    return re.sub(rb"\b\d+ 0 R\b", other, content)


def _objects(content: bytes) -> list[re.Match[bytes]]:
    return list(re.finditer(rb"\b(\d+) 0 obj\b.*?\bendobj\b", content, flags=re.DOTALL))


def break_streams(chance: random.Random, content: bytes) -> bytes:
    """Bytes inside compressed streams become others, behind a good head."""
    changed = bytearray(content)
    for found in re.finditer(_STREAM, content):
        start, end = found.span(1)
        if chance.random() < 0.5 and end - start > 20:
            for _ in range(chance.randint(1, 30)):
                changed[chance.randrange(start + 2, end)] = chance.randrange(256)
    return bytes(changed)


def giant_page(chance: random.Random, content: bytes) -> bytes:
    """Pages of absurd size, also inverted, infinite, empty."""
    sizes = (
        b"0 0 1000000000 1000000000",
        b"0 0 0 0",
        b"595 842 0 0",
        b"-1e30 -1e30 1e30 1e30",
        b"0 0 14400 1",
        b"0 0 nan inf",
    )
    size = chance.choice(sizes)
    return re.sub(rb"/MediaBox\s*\[[^\]]*\]", b"/MediaBox [" + size + b"]", content)


def nest(chance: random.Random, content: bytes) -> bytes:  # noqa: ARG001
    """Arrays or dictionaries thousands deep."""
    depth = chance.choice((500, 20_000, 300_000))
    opened, closed = chance.choice(((b"[", b"]"), (b"<</A ", b">>")))
    return document([b"<</Type/Catalog/Pages 2 0 R/X 4 0 R>>", _PAGES, _PAGE, opened * depth + b"0" + closed * depth])


def deep_page_tree(chance: random.Random, content: bytes) -> bytes:  # noqa: ARG001
    """A tree of pages with one child a level."""
    depth = chance.choice((50, 1000, 20_000))
    nodes = [
        b"<</Type/Pages/Count 1/Kids[%d 0 R]/Parent %d 0 R>>" % (number + 1, number - 1)
        for number in range(2, depth + 2)
    ]
    return document([b"<</Type/Catalog/Pages 2 0 R>>", *nodes, b"<</Type/Page/MediaBox[0 0 595 842]>>"])


def cyclic_pages(chance: random.Random, content: bytes) -> bytes:  # noqa: ARG001
    """Pages whose children are their parents, and counts that lie."""
    count = chance.choice((1, 7, 100_000, 2_000_000_000, -5))
    kids = chance.choice((b"2 0 R", b"3 0 R 2 0 R", b"3 0 R 3 0 R 3 0 R"))
    form = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>"
    loop = _stream(b"/F Do " * 50, b"/Type/XObject/Subtype/Form/BBox[0 0 500 500]/Resources<</XObject<</F 5 0 R>>>>")
    pages = b"<</Type/Pages/Count %d/Kids[%s]>>" % (count, kids)
    return document([b"<</Type/Catalog/Pages 2 0 R>>", pages, form, _stream(b"/F Do"), loop])


def exploding_forms(chance: random.Random, content: bytes) -> bytes:  # noqa: ARG001
    """Forms that draw forms that draw forms: ten to the power of the levels."""
    levels, fan = chance.choice(((6, 10), (12, 12), (25, 4)))
    forms = []
    for level in range(levels):
        inside = b"/F Do " * fan if level < levels - 1 else b"BT /Helv 9 Tf (x) Tj ET 0 0 m 9 9 l S"
        resources = b"/Resources<</XObject<</F %d 0 R>>>>" % (6 + level)
        forms.append(_stream(inside, b"/Type/XObject/Subtype/Form/BBox[0 0 500 500]" + resources))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>"
    return document([b"<</Type/Catalog/Pages 2 0 R>>", _PAGES, page, _stream(b"/F Do"), *forms])


def stream_bomb(chance: random.Random, content: bytes) -> bytes:  # noqa: ARG001
    """Contents that unpack to a hundred times to a million times their size."""
    size = chance.choice((10, 200, 1000)) * 1_000_000
    unit = chance.choice((b" ", b"0 0 m 1 1 l S ", b"q ", b"BT /F 9 Tf (a) Tj ET "))
    packed = zlib.compressobj(9)
    block = unit * (1_000_000 // len(unit))
    data = b"".join([packed.compress(block) for _ in range(size // len(block))] + [packed.flush()])
    filters = b"/Filter/FlateDecode"
    if chance.random() < 0.4:
        data, filters = zlib.compress(data, 9), b"/Filter[/FlateDecode/FlateDecode]"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R>>"
    return document([b"<</Type/Catalog/Pages 2 0 R>>", _PAGES, page, _stream(data, filters)])


def image_bomb(chance: random.Random, content: bytes) -> bytes:  # noqa: ARG001
    """An image of enormous size over the page, in a few kilobytes."""
    side = chance.choice((9_000, 30_000, 65_000, 2_000_000))
    data = zlib.compress(b"\x00" * 5_000_000, 9)
    head = b"/Type/XObject/Subtype/Image/Width %d/Height %d/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/FlateDecode"
    image = _stream(data, head % (side, side))
    text = b"BT /F1 12 Tf 60 700 Td (%s) Tj ET" % (b"a line of sound text, " * 20)
    drawn = b"q 595 0 0 600 0 0 cm /I Do Q " + (text if chance.random() < 0.5 else b"")
    fonts = b"/Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"
    page = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<<"
        + fonts
        + b"/XObject<</I 5 0 R>>>>>>"
    )
    return document([b"<</Type/Catalog/Pages 2 0 R>>", _PAGES, page, _stream(drawn), image])


def many_pieces(chance: random.Random, content: bytes) -> bytes:  # noqa: ARG001
    """A page of a hundred thousand strokes or letters."""
    count = chance.choice((20_000, 200_000, 1_000_000))
    line = chance.choice((b"%d %d m %d %d l S\n", b"BT /F1 9 Tf %d %d Td (%d%d) Tj ET\n", b"%d %d %d %d re f\n"))
    drawn = b"".join(line % tuple(chance.randrange(600) for _ in range(4)) for _ in range(min(count, 20_000)))
    drawn = zlib.compress(drawn * max(1, count // 20_000))
    fonts = b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R" + fonts + b">>"
    return document([b"<</Type/Catalog/Pages 2 0 R>>", _PAGES, page, _stream(drawn, b"/Filter/FlateDecode")])


_PAGES = b"<</Type/Pages/Count 1/Kids[3 0 R]>>"
_PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>"


def _stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<</Length %d%s>>stream\n%s\nendstream" % (len(data), entries, data)


def document(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, the first one its catalogue."""
    content, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(content)
    content += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    content += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    content += b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(content)


MUTATIONS: dict[str, Mutation] = {
    mutation.__name__: mutation
    for mutation in (
        flip_bytes,
        flip_structure,
        truncate,
        cut_out,
        repeat_piece,
        remove_objects,
        swap_objects,
        break_streams,
        giant_page,
        nest,
        deep_page_tree,
        cyclic_pages,
        exploding_forms,
        stream_bomb,
        image_bomb,
        many_pieces,
    )
}
"""By name; what damages a paper first, what is built from nothing last."""

SLOW = ("exploding_forms", "stream_bomb", "many_pieces")
"""Kinds that are there to be ended by a limit."""
