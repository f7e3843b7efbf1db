"""Makes the table of printed characters as the recogniser sees them (``engines/models/prints.npz``).

    python -m benchmarks.ocr.prints SCAN.pdf …

Every ideograph that the recogniser and GB 2312 or Big5 know is printed twice, with the font that MuPDF carries, and
read. What the reader's last layer is given there is its view. Views are computed back from the probabilities of
watched characters, so any backend serves. On the scans, characters that were read with certainty differ from their
prints by what other fonts and bad pages do: views are turned and stretched so that all such differences count alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import cv2
import numpy as np
import pymupdf
import typer
from numpy.typing import NDArray

from benchmarks.papers.poor import rendered
from build_dataset.pipeline.ocr.engines import prints
from build_dataset.pipeline.ocr.engines.cascade import Recogniser
from build_dataset.pipeline.ocr.engines.network import HEIGHT, STEP, Detector, cut_line, values_of
from build_dataset.pipeline.ocr.engines.rapid import model_file
from build_dataset.pipeline.ocr.interfaces import Pixels
from build_dataset.pipeline.ocr.language.letters import is_ideograph
from build_dataset.pipeline.ocr.params import RapidOcrParams

Floats = NDArray[np.float64]
WATCHED, FROM, UNTIL, AT_ONCE, ALONE = 384, 400, 1500, 6, 0.1
"""Characters whose probabilities are kept, those left out at both ends of the alphabet, characters printed in a line,
and the share of their variances alone in what differences of views are like."""
PRINTED = ((25, "中"), (33, "的"))  # Sizes in pixels, as on scans of 150 and 200 dpi, and what stands between
LINE, BLUR, NEAR = 1.36, 0.6, 2  # Height of a line in em, blur in pixels, steps from where a character was printed
DPI, SURE = 150, 0.995  # Of scans, and the confidence from which a character on them is taken
Font = pymupdf.Font("china-t")
TABLE = Path(prints.__file__).with_name("models") / prints.TABLE


def main(
    scans: Annotated[list[Path], typer.Argument(help="Scanned pages of other fonts.")],
    output: Annotated[Path, typer.Option(help="The table.")] = TABLE,
) -> None:
    """Write the table."""
    path = model_file("small", "rec")
    reader = Recogniser.load(path, "openvino")
    weights, bias = last_layer(path, len(reader.alphabet.characters))
    watched = np.linspace(FROM, len(bias) - UNTIL, WATCHED).astype(int)
    back = np.linalg.pinv(np.column_stack([weights[:, watched].T, np.ones(WATCHED)]))[: len(weights)]

    def views(values: Any) -> Floats:
        logs = np.log(np.maximum(values[:, watched], prints.LEAST)) - bias[watched]
        return np.asarray(logs @ back.T)

    chars = [one for one in reader.alphabet.characters if is_ideograph(one) and known(one)]
    sizes = [np.concatenate([*printed(reader, views, chars, *one)]) for one in PRINTED]
    middle = np.mean(sizes, axis=0)
    place = {char: at for at, char in enumerate(chars)}
    pages = [list(differences(reader, views, scan, middle, place)) for scan in scans]
    apart = [np.array(own) for own in pages if own]
    spread = np.cov(np.concatenate([own - own.mean(axis=0) for own in apart]).T)
    spread = (1 - ALONE) * spread + ALONE * np.diag(np.diag(spread))
    even = np.linalg.cholesky(np.linalg.inv(spread))
    turn = back.T @ even
    table = (middle + np.mean([own.mean(axis=0) for own in apart], axis=0)) @ even + bias[watched] @ turn
    scale = np.abs(table).max() / 127
    stored = {"watched": watched.astype(np.uint16), "turn": turn.astype(np.float32), "chars": np.array("".join(chars))}
    np.savez_compressed(output, prints=np.round(table / scale).astype(np.int8), scale=np.float32(scale), **stored)
    typer.echo(f"{len(chars)} characters, {sum(map(len, apart))} on scans, {output.stat().st_size:,} bytes")


def last_layer(path: Path, characters: int) -> tuple[Floats, Floats]:
    """Return the weights and the bias of the last layer of a model."""
    import openvino

    nodes = openvino.Core().read_model(path).get_ordered_ops()
    values = [node.data for node in nodes if node.get_type_name() == "Constant" and node.shape[-1:] == [characters]]
    weights, bias = sorted(values, key=lambda one: -one.ndim)
    return weights.astype(np.float64), bias.reshape(-1).astype(np.float64)


def known(char: str) -> bool:
    """Return whether the font and one of the two scripts have a character."""
    return bool(Font.has_glyph(ord(char))) and bool(char.encode("gb2312", "ignore") + char.encode("big5", "ignore"))


def printed(reader: Recogniser, views: Any, chars: Sequence[str], em: int, between: str) -> Iterator[Floats]:
    """Yield the views of printed characters, some at a time."""
    for start in range(0, len(chars), AT_ONCE):
        text = between + "".join(char + between for char in chars[start : start + AT_ONCE])
        page = pymupdf.open().new_page(width=em * (len(text) + 0.6), height=em * LINE)
        writer = pymupdf.TextWriter(page.rect)
        for at, char in enumerate(text):
            writer.append((em * (at + 0.315), em * LINE / 2 + em * 0.36), char, font=Font, fontsize=em * 0.97)
        writer.write_text(page)
        values = reader.network(values_of(line_of(rendered(page, 72))))[0]
        scale = HEIGHT / (em * LINE) / STEP
        middles = [(at + 0.8) * em * scale - 0.5 for at in range(1, len(text) - 1, 2)]
        yield views(np.array([values[peak(values, middle)] for middle in middles]))


def line_of(pixels: Pixels) -> Pixels:
    """Return the picture of a line as the recogniser takes it, somewhat blurred."""
    blurred = cv2.GaussianBlur(pixels, (0, 0), BLUR)
    return np.asarray(cv2.resize(blurred, (round(pixels.shape[1] * HEIGHT / pixels.shape[0]), HEIGHT)), np.uint8)


def peak(values: Any, middle: float) -> int:
    """Return the step near a place at which some character is likeliest."""
    steps = np.arange(max(0, round(middle) - NEAR), min(len(values), round(middle) + NEAR + 1))
    return int(steps[(values[steps, 0] + 0.02 * np.abs(steps - middle)).argmin()])


def differences(reader: Recogniser, views: Any, scan: Path, table: Floats, place: dict[str, int]) -> Iterator[Floats]:
    """Yield by how much the views of characters that were read with certainty on a scan differ from their prints."""
    detector = Detector(model_file("tiny", "det"), "openvino", RapidOcrParams().detection_side)
    for page in pymupdf.open(scan):
        pixels = cv2.cvtColor(rendered(page, DPI), cv2.COLOR_RGB2BGR)
        cut = (cut_line(np.asarray(pixels, np.uint8), box) for box in detector.find(np.asarray(pixels, np.uint8)))
        for image in (one for one in cut if one is not None):
            values = reader.network(values_of(image))[0].copy()
            for glyph in reader.alphabet.decode(values):
                if glyph.confidence >= SURE and glyph.char in place:
                    yield views(values[[peak(values, glyph.at - 0.5)]])[0] - table[place[glyph.char]]


if __name__ == "__main__":
    typer.run(main)
