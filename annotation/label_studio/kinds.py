"""The kinds of projects: two experts review, a third adjudicates, one person verifies; experts score answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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
    command: str = "build-dataset review push"
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


REVIEW = Kind(
    "review",
    "双专家复核",
    "Two-expert review of exam questions · 试题双专家复核",
    experts=2,
    config=review_config,
    prune=False,
    nothing="there are no questions: run `build-dataset run`",
)
ADJUDICATION = Kind(
    "adjudication",
    "第三专家仲裁",
    "Adjudication of what two experts disagree on · 分歧仲裁",
    experts=1,
    config=adjudication_config,
    prune=True,
    nothing="experts disagree on nothing and flagged nothing, as of the last `build-dataset review pull`",
    command="build-dataset review adjudicate",
)
VERIFICATION = Kind(
    "verification",
    "识别与解析核对",
    "Verification of what was read from paper · 识别与解析核对",
    experts=1,
    config=verification_config,
    prune=True,
    nothing="nothing waits in parse, clean or dedup",
    command="build-dataset review verify",
)
KINDS = (REVIEW, ADJUDICATION, VERIFICATION)
"""The kinds of the review; what they bring back becomes labels and corrections."""

SCORING = Kind(
    "scoring",
    "模型回答评分",
    "Experts score models' answers in free text · 模型回答专家评分",
    experts=3,
    config=scoring_config,
    prune=True,
    nothing="there are no answers in free text",
    command="build-dataset score-answers push",
)


def of_expert(expert: str) -> Kind:
    """Return the review project of one expert. Questions that are assigned to somebody else leave it."""
    return replace(REVIEW, expert=expert, experts=1, prune=True)
