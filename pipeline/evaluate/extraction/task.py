"""A text that is read for an answer, and the answer that a rule finds in it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

from build_dataset.pipeline.claims import Claim, Stance, Text
from build_dataset.pipeline.claims.lexicon import NAMES
from build_dataset.pipeline.patterns import Patterns

READ = Patterns("answers", files("build_dataset.pipeline.claims"), NAMES)


class FoundAnswer(NamedTuple):
    """An answer and where it stands."""

    labels: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True)
class ReadingTask(Text):
    """A text to be read for the answer to a question of one kind."""

    answer_first: bool | None = None

    def claimed(self, *kinds: str, stance: Stance = Stance.ASSERTED) -> list[Claim]:
        """Claims of one stance and some kinds."""
        return [claim for claim in self.claims if claim.kind in kinds and claim.stance is stance]

    def lists_options(self) -> bool:
        """Return whether a text opens with a list and so with no answer to a question that has one.

        It names each option once, in order, breaks off behind the second (A: …⏎B: …) or opens 正确答案是：⏎A. …⏎C. ….
        """
        every = [(label,) for label in self.options]
        named = [mention.labels for mention in self.mentions if not mention.text]
        breaks = named == every[:2] and not self.claims and not READ.ended.search(self.text)
        listed = READ.opens_list.match(self.codes) is not None
        return breaks or listed or (named == every and len(every) > 2 and not self.multiple)


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
