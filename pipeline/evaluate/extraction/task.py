"""A text to be read for an answer, and the answer that a rule finds in it."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from build_dataset.pipeline.claims import Claim, Stance, Text


class FoundAnswer(NamedTuple):
    """An answer and where it stands."""

    labels: tuple[str, ...]
    start: int
    end: int


class ReadingTask(NamedTuple):
    """A text to be read for the answer to a question of one kind."""

    output: Text
    multiple: bool | None = None
    answer_first: bool | None = None

    def claims(self, *kinds: str, stance: Stance = Stance.ASSERTED) -> list[Claim]:
        """Claims of one stance and some kinds."""
        return [claim for claim in self.output.claims if claim.kind in kinds and claim.stance is stance]


Rule = Callable[[ReadingTask], FoundAnswer | None]
_WORDS = re.compile(r"[A-Za-zÀ-ɏ]+|[가-힣]+|\d+(?:[.,]\d+)*")  # those that are told apart by blanks


def in_words(options: Mapping[str, str], text: str) -> list[str]:
    """Return the options of which a text has every word in some form."""
    words = [word.lower() for word in _WORDS.findall(text)]
    known = ((label, stems(body)) for label, body in options.items())
    return [label for label, parts in known if parts and all(any(w.startswith(part) for w in words) for part in parts)]


def stems(body: str) -> list[str]:
    """Return the beginnings of an option's words, but for those in brackets and short ones."""
    words = _WORDS.findall(re.sub(r"\([^()]*\)", "", body))
    known = [word.lower() for word in words if len(word) > (3 if word.isascii() and not word.isupper() else 1)]
    return [word[: max(4, len(word) * 2 // 3)] if word.isascii() else word for word in known]
