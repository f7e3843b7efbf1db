"""The kinds of projects (``kinds.toml``); finding a folder's own project, or making it exactly once."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import quote

from build_dataset.annotation.label_studio import screen
from build_dataset.annotation.label_studio.client import Project, ReplyLostError, Studio
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.errors import UserError

SETTLE_SECONDS = 10.0
"""Time after which a request whose reply was lost has reached the database: also an import of 5,000
questions, or a project for which the server waited for its locked database."""
SETTLE_PAUSE = 0.5  # seconds between two looks at the number of tasks
_TITLE_LENGTH = 50  # characters: what Label Studio allows


class NothingToSendError(UserError):
    """There is nothing to send, and nothing was sent before."""


class Owner(NamedTuple):
    """The owner of a project: two folders may give their datasets one name."""

    dataset: str
    token: str  # of the folder, drawn once


@dataclass(frozen=True)
class Kind:
    """A kind of project."""

    name: str  # `review`, `adjudication`, `verification`, `scoring`
    zh: str
    purpose: str
    experts: int  # people for each question
    config: Callable[[], str]  # its screen
    prune: bool  # True where questions that nobody answered leave it when they no longer belong there
    nothing: str  # message for when there is nothing to send
    command: str  # sends its questions; for messages
    expert: str = ""  # its expert where each has a project; empty where all share one

    @property
    def key(self) -> str:
        """The name of its folder and in its marker: ``review``, ``review of zhang@example.org``."""
        return f"{self.name} of {quote(self.expert, safe='@+')}" if self.expert else self.name

    def marker(self, owner: Owner) -> str:
        """Return what identifies the project: it stands in its description, whatever people call it."""
        return f"[build-dataset {self.key}: {owner.dataset} #{owner.token}]"

    def description(self, owner: Owner) -> str:
        """Return its description, with the marker."""
        return f"{self.purpose} {self.marker(owner)}"


def find(studio: Studio, kind: Kind, owner: Owner, *, listed: Sequence[Project] | None = None) -> Project | None:
    """Return the folder's project; of several the one with most answers, so that pushing and pulling choose alike.

    It is known by the folder's token, whatever the dataset is called. ``listed`` are projects of the server, where the
    caller has them. Raises ``UserError`` where the only project for that dataset is another folder's.
    """
    begin = f"[build-dataset {kind.key}: "
    listed = studio.projects(begin) if listed is None else listed
    everything = [each for each in listed if begin in each.description]
    if owned := [each for each in everything if f" #{owner.token}]" in each.description]:
        return max(owned, key=lambda each: (each.annotations, each.tasks, -each.id))
    if foreign := [each for each in everything if f"{begin}{owner.dataset} #" in each.description]:
        raise UserError(
            f"{kind.key} project {foreign[0].id} of dataset {owner.dataset} at {studio.url} belongs to another folder:"
            " choose another dataset.name, or, if that folder is gone, write its token, which stands behind # in the"
            " project's description, into build/reviews/token"
        )
    return None


def create(studio: Studio, kind: Kind, owner: Owner, *, wanted: bool, **settings: Any) -> Project:
    """Make the folder's project, of which there is none yet.

    The server runs a half-done request again when its database was locked, and leaves a project each time: those
    that came with ours, empty all, are deleted.
    Raises ``NothingToSendError`` where nothing is wanted.
    """
    if not wanted:
        raise NothingToSendError(f"nothing to send for {kind.key}: {kind.nothing}")
    made: int | None = None
    settings |= {"title": f"{owner.dataset} {kind.zh} {kind.key}"[:_TITLE_LENGTH], "enable_empty_annotation": False}
    try:
        made = studio.create_project(description=kind.description(owner), **settings)
    except ReplyLostError:
        if not wait_until(lambda: len(studio.projects(kind.marker(owner))), 1):
            raise
    made_projects = {each.id: each for each in studio.projects(kind.marker(owner))}
    # The last that was begun is the one that was finished.
    chosen = made_projects[made if made in made_projects else max(made_projects)]
    for each in made_projects.values():
        if each.id != chosen.id and not each.tasks:
            studio.delete_project(each.id)
    others = studio.projects(f"[build-dataset {kind.key}: {owner.dataset} #")
    if first := [each.id for each in others if each.id < min(made_projects)]:  # another folder's, made since we looked
        studio.delete_project(chosen.id)
        race = f"somebody else has just made {kind.key} project {first[0]} of dataset {owner.dataset} at {studio.url}"
        raise UserError(f"{race}, for another folder: agree on who sends the questions, or choose another dataset.name")
    return chosen


def wait_until(count: Callable[[], int], least: int) -> int:
    """Wait until the expected number is reached and stays the same, at most for the longest known delay."""
    deadline = time.monotonic() + SETTLE_SECONDS
    before = -1
    while ((number := count()) != before or number < least) and time.monotonic() < deadline:
        before = number
        pause()
    return number


def pause(times: float = 1) -> None:
    """Pause, so that the server can finish its work."""
    time.sleep(min(SETTLE_PAUSE * times, SETTLE_SECONDS))


_KINDS = shipped_toml("build_dataset.annotation.label_studio", "kinds.toml")
REVIEW, ADJUDICATION, VERIFICATION, SCORING = (
    Kind(name=name, config=getattr(screen, f"{name}_config"), **facts) for name, facts in _KINDS.items()
)
KINDS = (REVIEW, ADJUDICATION, VERIFICATION)  # what they bring back becomes labels and corrections


def of_expert(expert: str) -> Kind:
    """Return the review project of one expert. Questions that are assigned to somebody else leave it."""
    return replace(REVIEW, expert=expert, experts=1, prune=True)
