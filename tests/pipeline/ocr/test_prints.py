"""A character as the reader sees it, beside the same characters in print."""

import numpy as np
import pymupdf
import pytest

from build_dataset.pipeline.ocr import engines
from build_dataset.pipeline.ocr.engines import network
from build_dataset.pipeline.ocr.engines.prints import Prints
from build_dataset.pipeline.ocr.interfaces import Doubt
from build_dataset.pipeline.ocr.params import OcrParams

LOW = np.log(0.01)
STORED = {"watched": [3, 5], "turn": np.eye(2), "prints": [[LOW, 0.0], [0.0, LOW]], "scale": 1.0, "chars": "痤痙"}
TABLE = Prints({name: np.array(value) for name, value in STORED.items()})
VIEW = np.array([0.5, 0.1], np.float32)


def test_a_character_whose_print_looks_like_what_was_seen_takes_the_place_of_one_that_does_not():
    doubt = Doubt(4, 0.6, 0.01, (("痙", 0.3), ("-", 0.05)))
    char, found = TABLE.weigh("痤", doubt, [VIEW])
    chances = dict(found.others)
    assert (char, found.at, found.gap, chances["-"]) == ("痙", 4, 0.01, 0.05)
    assert found.sure > 0.8 > 0.1 > chances["痤"]
    assert found.sure + chances["痤"] == pytest.approx(0.9, abs=1e-3), "what stands for neither stays"
    assert TABLE.weigh("痤", doubt._replace(others=(("痙", 0.0001),)), [VIEW])[0] == "痤", "the reader counts too"
    forms = Prints({name: np.array(value) for name, value in (STORED | {"chars": "为為"}).items()})
    assert forms.weigh("为", Doubt(0, 0.6, 0.0, (("為", 0.3),)), [VIEW])[0] == "为", "forms are the reader's"


@pytest.mark.parametrize(
    ("char", "others", "views"),
    [("痤", (("痙", 0.4),), []), ("口", (("痙", 0.4),), [VIEW]), ("痤", (("夔", 0.4),), [VIEW])],
    ids=["never seen by the better reader", "no print of what was read", "no print of another"],
)
def test_without_prints_to_compare_a_doubt_stays_as_it_was(char, others, views):
    doubt = Doubt(0, 0.6, 0.0, others)
    assert TABLE.weigh(char, doubt, views) == (char, doubt)


@pytest.mark.parametrize("char", "痙攣囟臌糞")
def test_the_shipped_prints_know_rare_characters_from_their_look_alikes(char, cjk):
    page = pymupdf.open().new_page(width=120, height=18)
    writer = pymupdf.TextWriter(page.rect)
    writer.append((6, 13.5), f"病{char}用", font=cjk, fontsize=12)
    writer.write_text(page)
    pixmap = page.get_pixmap(dpi=150)
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
    image = network.cut_line(pixels, np.array([[0, 0], [249, 0], [249, 37], [0, 37]], np.float32))
    good, prints = engines.load(OcrParams())._good, Prints.shipped()  # type: ignore[attr-defined]
    values = good.network(network.values_of(image))[0]
    step = int(values[:, good.alphabet.characters.index(char)].argmax())
    others = [one for one in "痤欒滷廔冀病" if one != char]
    far = prints.distances(values[step, prints.watched], [char, *others])
    assert far[0] < 0.5 * far[1:].min()
