"""The cards of a paper's page: what became of an item, and its texts with what is doubted marked."""

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from markupsafe import Markup

from build_dataset.pipeline.explain import StageEvent
from build_dataset.schemas import data, documents, grouping
from build_dataset.schemas.places import OPTION, Place, find_unsure, mark_places
from build_dataset.schemas.wording import doubts_key, findings, quoted


class Fate(StrEnum):
    """Fates of lines of a paper; the value is also the class of style."""

    WAITING = "waiting"
    UNUSED = "unused"
    DOUBTFUL = "doubtful"
    KEPT = "kept"
    MERGED = "merged"
    REJECTED = "rejected"
    KEY = "key"
    HEAD = "head"
    COVER = "cover"
    RUNNING = "running"


NAMES: dict[str, dict[str, Any]] = data.shipped_toml("build_dataset.pipeline.inspect", "names.toml")
"""English and Chinese names of ``fates`` and ``regions``, and the fates of lines by the ``steps`` of a paper."""

LOW_CONFIDENCE = 0.9  # of a question's least confident line: below it, it is shown among the uncertain ones


@dataclass
class ItemCard:
    """An item of the paper, or text that became none."""

    name: str  # its id; for unused text a name of its own
    fate: Fate
    events: list[StageEvent] = field(default_factory=list)
    question: dict[str, Any] | None = None
    """The newest row of table ``questions``; for others the record they would have been."""
    steps: list[documents.Step] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # the lines of unused text
    pages: list[int] = field(default_factory=list)

    @property
    def doubted(self) -> list[str]:
        """The places that its findings quote."""
        return [quotation for event in self.events for quotation in quoted(event.detail or "")]

    @cached_property
    def unsure(self) -> list[documents.UnsureCharacter]:
        """Characters that may be misread, of an item that a person has to look at."""
        signs = (self.question or {}).get("unsure") if self.fate in (Fate.WAITING, Fate.DOUBTFUL) else None
        return [documents.UnsureCharacter.model_validate(sign) for sign in signs or ()]

    @property
    def doubts_key(self) -> bool:
        """True where a reason for which it waits doubts its key."""
        reasons = (code for event in self.events for code, _ in findings(event.reason or "", event.detail or ""))
        return self.fate is Fate.WAITING and any(map(doubts_key, reasons))

    def marked(self, field: str) -> Markup:
        """Return a text of the question as HTML, what is doubted marked."""
        return mark_places(self._texts[field], self.doubted, self._places[field])

    @cached_property
    def _texts(self) -> dict[str, str]:
        question = self.question or {}
        texts = {name: question.get(name) or "" for name in ("shared_stem", "stem", "explanation")}
        return texts | {f"{OPTION}{option['label']}": option["text"] for option in question.get("options") or ()}

    @cached_property
    def _places(self) -> dict[str, list[Place]]:
        unsure = find_unsure(self._texts, self.unsure)
        return grouping.group_values((place.field, place) for _, places in unsure for place in places)

    @property
    def confidence(self) -> float | None:
        """The lowest confidence of its lines; None for text layers."""
        value: float | None = (self.question or {}).get("confidence")
        return value
