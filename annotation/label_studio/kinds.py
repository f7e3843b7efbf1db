"""The kinds of projects: two experts review, a third adjudicates, one person verifies; experts score answers."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files
from urllib.parse import quote

from annotation.label_studio.screen import (
    adjudication_config,
    review_config,
    scoring_config,
    verification_config,
)


@dataclass(frozen=True)
class Owner:
    """The owner of a project: two folders may give their datasets one name."""

    dataset: str
    token: str
    """Of the folder, drawn once."""


@dataclass(frozen=True)
class Kind:
    """A kind of project."""

    name: str
    """``review``, ``adjudication``, ``verification``, ``scoring``."""
    zh: str
    purpose: str
    experts: int
    """People for each question."""
    config: Callable[[], str]
    """Its screen."""
    prune: bool
    """True where questions that nobody answered leave it when they no longer belong there."""
    nothing: str
    """Message for when there is nothing to send."""
    command: str
    """Sends its questions; for messages."""
    expert: str = ""
    """Its expert where each has a project; empty where all share one."""

    @property
    def key(self) -> str:
        """The name of its folder and in its marker: ``review``, ``review of zhang@example.org``."""
        return f"{self.name} of {quote(self.expert, safe='@+')}" if self.expert else self.name

    def marker(self, owner: Owner) -> str:
        """Return what identifies the project: it stands in its description, whatever people call it."""
        return f"[build-dataset {self.key}: {owner.dataset} #{owner.token}]"

    def old_marker(self, owner: Owner) -> str:
        """Return the marker of before folders had tokens: such a project goes to the first folder that asks."""
        return f"[build-dataset {self.key}: {owner.dataset}]"

    def title(self, dataset: str) -> str:
        """Return its title when it is made."""
        return f"{dataset} {self.zh} {self.key}"

    def description(self, owner: Owner) -> str:
        """Return its description, with the marker."""
        return f"{self.purpose} {self.marker(owner)}"


_SCREENS: dict[str, Callable[[], str]] = {
    "review": review_config,
    "adjudication": adjudication_config,
    "verification": verification_config,
    "scoring": scoring_config,
}
_KINDS = tomllib.loads((files("annotation.label_studio") / "kinds.toml").read_text(encoding="utf-8"))
REVIEW, ADJUDICATION, VERIFICATION, SCORING = (
    Kind(name=name, config=config, **_KINDS[name]) for name, config in _SCREENS.items()
)
KINDS = (REVIEW, ADJUDICATION, VERIFICATION)
"""The kinds of the review; what they bring back becomes labels and corrections."""


def of_expert(expert: str) -> Kind:
    """Return the review project of one expert. Questions that are assigned to somebody else leave it."""
    return replace(REVIEW, expert=expert, experts=1, prune=True)
