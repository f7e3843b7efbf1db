"""Make the tables of characters that a recogniser takes for one another, from its own probabilities.

    python -m benchmarks.ocr.alike FONT.ttc … pipeline/ocr/language

Prints the common ideographs of both scripts in lines of random ones, small, blurred and noisy, in each font, and lets
the recognisers of the embedded engine read them. A line of the table has a character that is read and those that are
likeliest printed where it is read though it is not there, at most ``MOST`` of them with ``LEAST`` and more: 睡腫曄暉.
A line of the other has those that the quick model does not know, and reads so with ``BELIEVED`` at least once: 箱葙.
No text is in them.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from build_dataset.pipeline.ocr.engines.cascade import Recogniser, is_sure
from build_dataset.pipeline.ocr.engines.ctc import Glyph
from build_dataset.pipeline.ocr.engines.network import HEIGHT, STEP, narrow_line, values_of
from build_dataset.pipeline.ocr.engines.rapid import RapidEngine
from build_dataset.pipeline.ocr.glyphs import is_common
from build_dataset.pipeline.ocr.language.counts import ALIKE, BEYOND, Language, codes_of
from build_dataset.pipeline.ocr.language.letters import is_ideograph, plain
from build_dataset.pipeline.ocr.params import RapidOcrParams

MOST, LEAST, BELIEVED = 4, 2e-4, 0.9
LINE, PRINTED, EM = 20, 22, 34  # Characters of a line, pixels of one as scanned and as recognised
SQUEEZE, UNUSED = 0.8, -15.4248  # Use of a character that no text has, as a natural logarithm


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fonts", type=Path, nargs="+")
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    cascade = RapidEngine(RapidOcrParams())._lines
    chars = [char for char in map(chr, range(0x4E00, 0xA000)) if is_common(char)]
    taken: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    rng = np.random.default_rng(0)
    for font in options.fonts:
        letters = ImageFont.truetype(str(font), PRINTED)
        order = rng.permutation(len(chars))
        for start in range(0, len(order), LINE):
            line = "".join(chars[at] for at in order[start : start + LINE])
            image = _printed(line, letters, rng)
            for model, factor in ((cascade.quick, SQUEEZE), (cascade.good, 1.0)):
                values = model.network(values_of(narrow_line(image, factor)))[0]
                _note(line, values, factor, model.alphabet.characters, taken)
        print(font.name, flush=True)
    rows = {read: sorted(found, key=lambda char: -found[char])[:MOST] for read, found in taken.items()}
    least = LEAST * 2 * len(options.fonts)
    lines = (read + "".join(char for char in row if taken[read][char] >= least) for read, row in sorted(rows.items()))
    (options.folder / ALIKE).write_text("\n".join(line for line in lines if len(line) > 1) + "\n", encoding="utf-8")
    beyond = _beyond(cascade.quick, set(cascade.good.alphabet.characters), options.fonts)
    (options.folder / BEYOND).write_text("\n".join(beyond) + "\n", encoding="utf-8")


def _beyond(quick: Recogniser, known: set[str], fonts: list[Path]) -> list[str]:
    """Return what the quick model reads surely, each with those of the other's characters that stand there."""
    language, rng, taken = Language(), np.random.default_rng(0), defaultdict[str, dict[str, float]](dict)
    usual = [char for char in quick.alphabet.characters if char and is_common(char, "gb2312")]
    rare = [char for char in sorted(known.difference(quick.alphabet.characters)) if is_ideograph(char)]
    rare = [char for char, use in zip(rare, language.use(codes_of("".join(rare))), strict=True) if use > UNUSED]
    for letters in (ImageFont.truetype(str(font), PRINTED) for font in fonts * 6):
        order = rng.permutation(len(rare))
        for start in range(0, len(order), LINE // 2):
            line = "".join(str(rng.choice(usual)) + rare[at] for at in order[start : start + LINE // 2])
            for glyph in quick.read([narrow_line(_printed(line, letters, rng), SQUEEZE)])[0]:
                place = glyph.at * STEP / EM / SQUEEZE - 0.5
                char = line[min(len(line) - 1, round(place))]
                if char in rare and abs(place - round(place)) < 0.4 and plain(char) != plain(glyph.char):
                    taken[glyph.char][char] = max(glyph.confidence, taken[glyph.char].get(char, 0))
    rows = ((read, [char for char, sure in found.items() if sure >= BELIEVED]) for read, found in sorted(taken.items()))
    return [read + "".join(row) for read, row in rows if row and is_sure(Glyph(read, 1.0, 0))]


def _printed(line: str, font: ImageFont.FreeTypeFont, rng: np.random.Generator) -> np.ndarray:
    """Return a line as a poor scan has it, at the height that recognisers want."""
    high = round(PRINTED * HEIGHT / EM)
    picture = Image.new("L", (PRINTED * len(line), high), 255)
    ImageDraw.Draw(picture).text((0, high / 2), line, fill=20, font=font, anchor="lm")
    soft = cv2.GaussianBlur(np.asarray(picture, np.float32), (0, 0), rng.uniform(0.5, 1.0))
    noisy = np.clip(soft + rng.normal(0, 6, soft.shape), 0, 255).astype(np.uint8)
    return cv2.cvtColor(cv2.resize(noisy, (EM * len(line), HEIGHT)), cv2.COLOR_GRAY2BGR)


def _note(line: str, values: np.ndarray, factor: float, known: list[str], taken: dict[str, dict[str, float]]) -> None:
    for at, char in enumerate(line):
        middle = (at + 0.5) * EM * factor / STEP
        steps = values[max(0, round(middle - 1.5)) : round(middle + 1.5)]
        likely = steps[:, 1:].max(axis=0)
        best = np.argsort(likely)[-12:]
        for index, share in zip(best, likely[best] / likely.sum(), strict=True):
            read = known[index + 1]
            if is_ideograph(read) and plain(read) != plain(char):
                taken[read][char] += float(share)


if __name__ == "__main__":
    main()
