"""The interface of an OCR engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of a line that an engine found: mostly a whole line of one column."""

    text: str
    corners: tuple[tuple[float, float], ...]
    """Four points in pixels: top left, top right, bottom right, bottom left as the text runs."""
    confidence: float  # 0..1

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Return its left, top, right and bottom."""
        xs, ys = zip(*self.corners, strict=True)
        return min(xs), min(ys), max(xs), max(ys)


class EngineSetup(Protocol):
    """Tells whether an engine can start, and which models it has."""

    packages: ClassVar[tuple[str, ...]] = ()
    """Distributions whose versions can change what is recognised; the first one must be there."""
    requirement: ClassVar[str] = ""  # The first one as pip takes it
    calibrated: ClassVar[bool] = False
    """True if a share c of lines at confidence c is right, on photographs and scans alike."""

    @staticmethod
    def check(params: Any) -> None:
        """Make sure that it can start with these options, without starting it.

        Raises:
            UserError: a program, a language or a model folder is missing; the line says what to do.
        """

    @staticmethod
    def models(params: Any) -> list[str]:
        """Parts that can change its text beside package versions: ``name hash`` of models, a program's version."""


class OcrEngine(EngineSetup, Protocol):
    """Recognises the text of images. Made with its own options class; imports what is heavy when it is made."""

    def recognise(self, pixels: NDArray[np.uint8]) -> list[Word]:
        """The text of an image (RGB, height x width x 3), in any order."""
