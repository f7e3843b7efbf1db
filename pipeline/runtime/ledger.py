"""The ledger ``build/runs.jsonl``: when each stage ran, for how long, and how much it found already done.

Manifests say what a result is made of and are the same for the same result; what differs from run to run
stands here.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

LEDGER = "runs.jsonl"


@dataclass(frozen=True)
class Entry:
    """A run of a stage."""

    stage: str
    started: str
    """UTC, ISO 8601."""
    seconds: float
    outcome: str
    """``done``, ``incomplete``, ``failed``."""
    reused: int = 0
    """Slow or paid items that were already in the store."""
    added: int = 0
    """Slow or paid items done by this run."""


def append(build: Path, entry: Entry) -> None:
    """Add a line."""
    build.mkdir(parents=True, exist_ok=True)
    with (build / LEDGER).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(asdict(entry), ensure_ascii=False) + "\n")


def last(build: Path) -> dict[str, Entry]:
    """The newest entry of each stage; broken lines are passed over."""
    entries: dict[str, Entry] = {}
    path = build / LEDGER
    if not path.exists():
        return entries
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = Entry(**json.loads(line))
        except (ValueError, TypeError):
            continue
        entries[entry.stage] = entry
    return entries
