"""The kinds of projects: two experts review, a third adjudicates, one person verifies; experts score answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from annotation.label_studio.scoring import scoring_config
from annotation.label_studio.screen import adjudication_config, review_config
from annotation.label_studio.verification import verification_config


@dataclass(frozen=True)
class Owner:
    """Whose a project is: two folders may give their datasets one name."""

    dataset: str
    """Its name."""
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
    """Whether questions that nobody answered leave it when they no longer belong there."""
    nothing: str
    """What it means when there is nothing to send."""
    command: str = "build-dataset review push"
    """What sends its questions, for messages."""

    def marker(self, owner: Owner) -> str:
        """What identifies the dataset's project: it stands in its description, whatever people call it."""
        return f"[build-dataset {self.name}: {owner.dataset} #{owner.token}]"

    def old_marker(self, owner: Owner) -> str:
        """The same before folders had tokens: such a project goes to the first folder that asks for it."""
        return f"[build-dataset {self.name}: {owner.dataset}]"

    def title(self, dataset: str) -> str:
        """Its title when it is made."""
        return f"{dataset} {self.zh} {self.name}"

    def description(self, owner: Owner) -> str:
        """Its description, with the marker."""
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
)
VERIFICATION = Kind(
    "verification",
    "识别与解析核对",
    "Verification of what was read from paper · 识别与解析核对",
    experts=1,
    config=verification_config,
    prune=True,
    nothing="nothing waits in parse, clean or dedup",
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
