"""What an OCR engine is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of a line that an engine found: mostly a whole line of one column."""

    text: str
    corners: tuple[tuple[float, float], ...]
    """Four points in pixels: top left, top right, bottom right, bottom left as the text runs."""
    confidence: float
    """0..1."""


class OcrEngine(Protocol):
    """Recognises text. Made with its own options class; imports what is heavy when it is made."""

    def recognise(self, pixels: NDArray[np.uint8]) -> list[Word]:
        """The text of an image (RGB, height x width x 3), in any order."""
