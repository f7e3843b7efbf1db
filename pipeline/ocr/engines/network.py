"""Models on OpenVINO or onnxruntime, and the images of lines that they read."""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import pairwise, zip_longest
from pathlib import Path
from statistics import median
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from build_dataset.pipeline.ocr.engines.ctc import Glyph
from build_dataset.pipeline.ocr.glyphs import is_cjk, superscript
from build_dataset.pipeline.ocr.interfaces import Pixels
from build_dataset.pipeline.ocr.language.letters import plain

Values = NDArray[np.float32]
Run = Callable[[Values], Values]  # Returns the output of a network for a batch; valid until the next call
_STEP = 32  # The network wants sides that are multiples of this many pixels
Box = NDArray[np.float32]  # Four corners in pixels, clockwise from the top left as the text runs
HEIGHT = 48  # Pixels, as PP-OCR's recognisers want it
STEP = 8  # Pixels of width for each of a recogniser's steps
_NARROWEST, _GROWTH, _EVEN = 48, 1.1, 16
"""Images are padded to one of these widths: each a tenth more than the one before, and a multiple of 16 pixels.
OpenVINO keeps 2 to 5 MB for every shape that it meets: multiples of 32 in batches of any number made 98 shapes of
2,800 lines, these make 31 with 1.5 % more padding. A line by itself takes as long as its share of a batch."""
_NEAR, _SPECK = 5, 8
"""Pixels around a character's middle within which its strokes stand (digits are about 16 wide), and of the smallest."""
_LIFTED, _SMALLER = 0.8, 0.8
"""Lowest end of a raised digit's ink from a neighbour's top, as a share of that one's height (lines may bend), and own
height: the 9 of 10⁹ ends at .5 to .7 and is .6 to .77 high, digits on the line end at .95 and more."""
_HALF_RAISED, _HALF = re.compile("(?<=[⁰¹²³⁴-⁹])[0-9]|[0-9]{2,}(?=[⁰¹²³⁴-⁹])(?<!10)"), 0.5
"""Digits on the line behind raised ones, or several before them, as 23¹ for 2³¹ (all but 10⁹); their confidence."""
_USUAL = 0.8
"""Least height of a neighbour, as a share of the line's median: the 2 of PaO₂53 says nothing of the 5."""
_MORE = 0.15  # Of a line's height, what is seen more of the page around it at a second look
_EM = 3.5  # Usual width of an ideograph in steps, where a line has too few to measure
_WIDE = frozenset("mwMWG@%&—①②③④⑤⑥⑦⑧⑨⑩×≥≤→ⅡⅢⅣ")
_CLAIMED, _CLAIMED_WIDE, _CLAIMED_NARROW = 0.62, 0.55, 0.36
"""Half the widths in em of what an ideograph, a wide letter or sign and another one claim around their middles."""
_WIDEST = 1.6  # Of its height, the width of a piece of ink that is one letter's or mark's: m, ④
_UNCLAIMED, _EDGE = 0.35, 0.2
"""Width in em of ink that no character claims from which one was lost, and share of the height at the top and bottom
where it belongs to other lines: of 2,253 lines read right .3 % have so much, of dropped ideographs 99 % leave it."""
_BELOW_LINE = frozenset("gjpqyQJ,;()[]{}/|_βγμρφψχηζξ§$@&")  # Letters and marks of which ink reaches below the line
_LOW = frozenset("acemnorsuvwxz")  # Letters with white above them
_TWICE = 0.7  # Distance in em of one ideograph read twice, as 為爲; equal ones stand 1 em apart, of 10,700 none less
Rows = tuple[int, int]  # First and last row of the ink of a character


def load_network(path: Path, backend: str) -> tuple[Run, list[str]]:
    """Return what runs an ONNX model on one thread, as processes read side by side, and the characters it lists."""
    run, characters = _on_openvino(path) if backend == "openvino" else _on_onnxruntime(path)
    return run, characters.split("\n") if characters else []


def _on_openvino(path: Path) -> tuple[Any, str]:
    # Hinted for latency OpenVINO computes in bfloat16: 1.7 times as fast, same errors. Pinned threads share one core.
    from openvino import Core, Tensor

    options = {"INFERENCE_NUM_THREADS": 1, "ENABLE_CPU_PINNING": False, "NUM_STREAMS": 1}
    core = Core()
    model = core.read_model(path)
    told = ["framework", "character"]
    characters = str(model.get_rt_info(told).value) if model.has_rt_info(told) else ""
    request = core.compile_model(model, "CPU", options).create_infer_request()

    def run(values: Values) -> Any:
        request.set_input_tensor(Tensor(values, shared_memory=True))
        request.start_async()  # infer() copies what comes out: 6 MB for a line
        request.wait()
        return request.get_output_tensor().data

    return run, characters


def _on_onnxruntime(path: Path) -> tuple[Any, str]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it keeps the most that any width of line ever took
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    known = session.get_modelmeta().custom_metadata_map.get("character", "")
    name = session.get_inputs()[0].name
    return lambda values: session.run(None, {name: values})[0], known


def in_package(package: str, *names: str) -> Path | None:
    """A file that ships inside an installed package, which is not imported; None when it is not there."""
    if (spec := find_spec(package)) is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]).joinpath(*names)
    return path if path.is_file() else None


class Detector:
    """Finds lines; rapidocr's post-processing makes boxes of the network's map."""

    def __init__(self, path: Path, backend: str, side: int) -> None:
        """Load the model at ``path``; ``side`` is the longer side of the image that it sees, in pixels."""
        from rapidocr.ch_ppocr_det.utils import DBPostProcess

        self._network, _ = load_network(path, backend)
        self._side = side
        self._post = DBPostProcess(thresh=0.3, box_thresh=0.5, max_candidates=3000, unclip_ratio=1.6, use_dilation=True)

    def find(self, page: Pixels) -> list[NDArray[np.float32]]:
        """Corners of lines in pixels, clockwise from the top left."""
        height, width = page.shape[:2]
        scale = min(1.0, self._side / max(height, width))
        size = [max(_STEP, round(side * scale / _STEP) * _STEP) for side in (width, height)]
        small = cv2.resize(page, size, interpolation=cv2.INTER_AREA if scale < 0.7 else cv2.INTER_LINEAR)
        values = np.multiply(small.transpose(2, 0, 1)[None], np.float32(1 / 127.5), dtype=np.float32, order="C")
        values -= 1
        boxes, _ = self._post(self._network(values), (height, width))
        return [np.asarray(box, dtype=np.float32) for box in boxes]


def cut_line(page: Pixels, box: Box) -> Pixels | None:
    """The image of a line, ``HEIGHT`` pixels high; None for a box without area.

    A box 1.5 times as high as wide stands on end and is laid down.
    """
    from rapidocr.utils.process_img import get_rotate_crop_image

    top, right, bottom, left = np.linalg.norm(box - np.roll(box, -1, axis=0), axis=1)
    if max(top, bottom) < 2 or max(left, right) < 2:  # pixels: no area
        return None
    # First at the line's own size, then to the recogniser's: one step blurs what is enlarged.
    level = get_rotate_crop_image(page, box)
    width = max(STEP, math.ceil(HEIGHT * level.shape[1] / level.shape[0]))
    return np.asarray(cv2.resize(level, (width, HEIGHT)), dtype=np.uint8)


def grown(box: Box) -> Box:
    """Return the box of a line, which is nearly level, with ``_MORE`` of its height more on every side."""
    more = _MORE * float(np.linalg.norm(box[3] - box[0]))
    return np.asarray(box + more * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]), np.float32)


def narrow_line(image: Pixels, factor: float) -> Pixels:
    """A line, narrower by ``factor``."""
    width = max(STEP, math.ceil(image.shape[1] * factor))
    return np.asarray(cv2.resize(image, (width, HEIGHT), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def values_of(image: Pixels) -> NDArray[np.float32]:
    """A line as a recogniser takes it: 1 x 3 x ``HEIGHT`` x padded width, -1..1."""
    width = image.shape[1]
    values = np.zeros((1, 3, HEIGHT, padded_width(width)), dtype=np.float32)
    values[0, :, :, :width] = image.transpose(2, 0, 1) / np.float32(127.5) - np.float32(1)
    return values


def padded_width(width: int) -> int:
    """The width in pixels to which an image of this width is padded."""
    found = _NARROWEST
    while found < width:
        found = math.ceil(found * _GROWTH / _EVEN) * _EVEN
    return found


def raise_digits(image: Pixels, glyphs: Sequence[Glyph]) -> None:
    """Make digits superscripts, in place, whose ink stands above the line: recognisers lower them (10⁹/L as 109/L)."""
    if not any(_may_be_raised(last, glyph) for last, glyph in pairwise(glyphs)):
        return
    strokes = _strokes(_ink(image))
    rows = [_rows(strokes, glyph) if glyph.char.isalnum() else None for glyph in glyphs]
    heights = [own[1] - own[0] for own, glyph in zip(rows, glyphs, strict=True) if own and glyph.char.isascii()]
    usual = _USUAL * float(np.median(heights or [0]))
    base: Rows | None = None
    for index in range(1, len(glyphs)):
        possible = glyphs[index].char != "0" or base is not None  # no exponent begins with 0
        base = base or rows[index - 1]
        around = [one for one in (base, _next(glyphs, rows, index, usual)) if one]
        own = rows[index] if possible and _may_be_raised(glyphs[index - 1], glyphs[index]) else None
        lifted = own and all(own[1] <= top + _LIFTED * (end - top) for top, end in around)
        small = own and all(own[1] - own[0] <= _SMALLER * (end - top) for top, end in around)
        if lifted and small and base and base[1] - base[0] >= usual:
            glyphs[index].char = superscript(glyphs[index].char)
        else:
            base = None
    for found in _HALF_RAISED.finditer("".join(glyph.char for glyph in glyphs)):
        for glyph in glyphs[slice(*found.span())]:
            glyph.confidence = min(glyph.confidence, _HALF)


def _next(glyphs: Sequence[Glyph], rows: Sequence[Rows | None], index: int, usual: float) -> Rows | None:
    """The ink of the next character of usual height behind the digits of a number; None where none is near."""
    while index + 1 < len(glyphs) and _may_be_raised(glyphs[index], glyphs[index + 1]):
        index += 1
    return next((one for one in rows[index + 1 : index + 4] if one and one[1] - one[0] >= usual), None)


def _may_be_raised(last: Glyph, glyph: Glyph) -> bool:
    digit = glyph.char.isascii() and glyph.char.isdigit()
    return digit and ((last.char.isalnum() and not is_cjk(last.char)) or last.char in ")）")


def mark_lost(image: Pixels, glyphs: Sequence[Glyph]) -> bool:
    """Set the gap of characters to 1, in place, behind which ink stands that none claims: 一 at the end, 口 of B.口服.

    Ink before the first one counts as behind it; PGE₁ and mm³ lose theirs too. Returns whether there is any.
    """
    ink, ideographs = _ink(image), [is_cjk(glyph.char) and glyph.char.isalnum() for glyph in glyphs]
    beside = [pair if all(both) else () for pair, both in zip(pairwise(glyphs), pairwise(ideographs), strict=True)]
    ems = [pair[1].at - pair[0].at for pair in beside if pair]
    em = STEP * (median(ems) if len(ems) >= 3 else _EM)  # the line's own, where it can be measured
    free = np.zeros(image.shape[1], bool)
    letters = [glyph.at * STEP for glyph, ideograph in zip(glyphs, ideographs, strict=True) if not ideograph]
    for left, top, right, bottom in _strokes(ink).tolist():
        letter = bisect(letters, right) - bisect(letters, left) == 1 and right - left < _WIDEST * (bottom - top)
        free[left:right] |= not letter and _EDGE < (top + bottom) / 2 / image.shape[0] < 1 - _EDGE
    for glyph in glyphs:
        wide = _CLAIMED if is_cjk(glyph.char) else _CLAIMED_WIDE if glyph.char in _WIDE else _CLAIMED_NARROW
        half = 0.0 if glyph.char.isspace() else em * wide
        free[max(0, round(glyph.at * STEP - half)) : max(0, round(glyph.at * STEP + half))] = False
    edges = [0, *(round(glyph.at * STEP) for glyph in glyphs), len(free)]
    lost = {max(0, at - 1) for at, (left, end) in enumerate(pairwise(edges)) if free[left:end].sum() > _UNCLAIMED * em}
    seen = [(at, glyph) for at, glyph in enumerate(glyphs) if not glyph.char.isspace()]
    for line, level in ((ink, _BELOW_LINE.isdisjoint), (ink[::-1], _LOW.issuperset)):
        pairs = (pair for pair in zip_longest(seen, seen[1:]) if level(pair[0][1].char))
        lost |= {at for (at, glyph), after in pairs if _leaves_line(line, em, glyph, after and after[1])}
    near = {at: pair for at, pair in enumerate(beside) if pair and (pair[1].at - pair[0].at) * STEP < _TWICE * em}
    lost |= {at for at, (one, other) in near.items() if plain(one.char) == plain(other.char)}
    for at in lost if glyphs else ():
        glyphs[at].gap = 1.0
    return bool(lost)


def _leaves_line(ink: Pixels, em: float, glyph: Glyph, after: Glyph | None) -> bool:
    """Return whether ink between a letter and what follows begins beside it and reaches below it; above, if turned."""
    middle, follows = glyph.at * STEP, after.char if after else ""
    rows = np.flatnonzero(ink[:, max(0, round(middle - 0.3 * em)) : round(middle + 0.1 * em)].any(axis=1))
    if is_cjk(glyph.char) or not glyph.char.isalpha() or not len(rows):
        return False
    wide = 0.8 if not is_cjk(follows) else 0.55 if follows.isalpha() else 0.4
    end = min(middle + 0.95 * em, after.at * STEP - wide * em if after else np.inf)
    high, part = rows[-1] - rows[0], ink[:, round(middle + 0.15 * em) : max(0, round(end))]
    line = rows[-1] + round(0.1 * high) + 1
    below, across = part[line:], part[max(0, line - round(0.25 * high)) : line].any(axis=0)
    return bool(below.sum() > 4 and (below.any(axis=0) & across).sum() > 1)


def _ink(image: Pixels) -> Pixels:
    """Return where a line is dark, 1 for ink."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.threshold(grey, 0, 1, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)[1], np.uint8)


def _strokes(ink: Pixels) -> NDArray[np.int32]:
    """Left, top, right and bottom of each connected piece of ink of a line."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(ink)
    left, top, width, height, area = stats[1:].T
    return np.asarray(np.column_stack([left, top, left + width, top + height])[area >= _SPECK], dtype=np.int32)


def _rows(strokes: NDArray[np.int32], glyph: Glyph) -> Rows | None:
    """First and last row of the ink at a character; None where there is none."""
    middle = glyph.at * STEP
    own = strokes[(strokes[:, 0] <= middle + _NEAR) & (strokes[:, 2] >= middle - _NEAR)]
    return (int(own[:, 1].min()), int(own[:, 3].max())) if len(own) else None
