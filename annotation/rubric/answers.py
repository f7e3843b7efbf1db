"""An answer in free text as an expert sees it, and its name. Pure."""

from __future__ import annotations

from dataclasses import dataclass, fields

from schemas.identity import sha256


@dataclass(frozen=True)
class ShownAnswer:
    """Everything that stands on the screen; nothing says who wrote the answer."""

    case: str
    """The patient's case; of an exam question the question itself."""
    conversation: str
    """Earlier questions with their solutions; empty where there are none."""
    question: str
    answer: str
    reference: str

    @property
    def id(self) -> str:
        """Names exactly what is shown: another text is another answer, and who wrote it cannot be read from it.

        Two runs that answer alike share it, so that people score that answer once.
        """
        return "ans-" + sha256(*(str(getattr(self, each.name)) for each in fields(self)))[:16]
