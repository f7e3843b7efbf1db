"""A text to be read for an answer, and the answer that a rule finds in it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from build_dataset.pipeline.claims import Claim, Stance, Text


class FoundAnswer(NamedTuple):
    """An answer and where it stands."""

    labels: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True)
class ReadingTask:
    """A text to be read for the answer to a question of one kind."""

    said: Text
    multiple: bool | None = None
    answer_first: bool | None = None

    def claims(self, *kinds: str, stance: Stance = Stance.ASSERTED) -> list[Claim]:
        """Claims of one stance and some kinds."""
        return [claim for claim in self.said.claims if claim.kind in kinds and claim.stance is stance]


Rule = Callable[[ReadingTask], FoundAnswer | None]
