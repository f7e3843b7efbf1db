"""Adding tasks, each once, whatever is lost on the way."""

from __future__ import annotations

import time
from collections.abc import Sequence

from annotation.label_studio.client import ReplyLostError, Studio
from annotation.label_studio.kinds import Kind
from annotation.label_studio.projects import SETTLE_PAUSE
from annotation.label_studio.tasks import QUESTION_ID, Task
from schemas.errors import UserError

_ATTEMPTS = 3


def add(studio: Studio, kind: Kind, project_id: int, tasks: Sequence[Task], settle_seconds: float) -> int:
    """Add tasks; after a lost reply, only what did not arrive is sent again.

    Returns:
        The number of lost replies.

    Raises:
        UserError: see ``Studio``; the server never confirms.
    """
    waiting = list(tasks)
    for lost in range(_ATTEMPTS):
        try:
            studio.import_tasks(project_id, [task.payload() for task in waiting])
        except ReplyLostError:
            there = _arrived(studio, project_id, {task.question_id for task in waiting}, settle_seconds)
            waiting = [task for task in waiting if task.question_id not in there]
            if not waiting:
                return lost + 1
        else:
            return lost
    raise UserError(
        f"Label Studio at {studio.url} did not confirm an import of {len(waiting)} questions in {_ATTEMPTS}"
        f" attempts: look at its log, then run `{kind.command}` again"
    )


def _arrived(studio: Studio, project_id: int, wanted: set[str], settle_seconds: float) -> set[str]:
    """Those of the questions that are there; waits a while, since the server may still be writing."""
    deadline = time.monotonic() + settle_seconds
    while True:
        there = wanted & {task["data"].get(QUESTION_ID) for task in studio.tasks(project_id)}
        if there == wanted or time.monotonic() >= deadline:
            return there
        time.sleep(SETTLE_PAUSE)
