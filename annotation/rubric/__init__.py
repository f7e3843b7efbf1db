"""Free text as judges and experts score it: the aspects with their scales, and the answers as both see them. Pure."""

from dataclasses import dataclass, fields
from functools import cache

from pydantic import BaseModel

from build_dataset.schemas import data, identity

LEAST, MOST = 1, 5  # ends of every aspect's scale
Scale = tuple[str, str, str, str, str]  # worst first


class Aspect(BaseModel, extra="forbid", frozen=True):
    """An aspect that is scored from 1 to 5, by a model and by people alike (CMB, section 3.3)."""

    name: str
    zh: str
    en: str
    scale: Scale  # meanings of 1, 2, 3, 4 and 5, in Chinese
    scale_en: Scale


@cache
def aspects() -> tuple[Aspect, ...]:
    """Return the aspects, in the order of every table and screen."""
    rows = data.shipped_toml("build_dataset.annotation.rubric", "aspects.toml")["aspects"]
    return tuple(map(Aspect.model_validate, rows))


@dataclass(frozen=True)
class ShownAnswer:
    """Everything on the screen of a scorer; nothing names the author of the answer."""

    case: str  # the patient's case; of an exam question the question itself
    conversation: str  # earlier questions with their solutions; empty where there are none
    question: str
    answer: str
    reference: str

    @property
    def id(self) -> str:
        """A name of exactly what is shown, not of who wrote it: runs that answer alike share it, and their score."""
        return "ans-" + identity.sha256(*(str(getattr(self, each.name)) for each in fields(self)))[:16]
