"""The ledger ``build/runs.jsonl``: when each stage ran, for how long, and how much it found already done.

Manifests say what a result is made of and are the same for the same result; what differs from run to run
stands here.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

LEDGER = "runs.jsonl"


@dataclass(frozen=True, config=ConfigDict(extra="forbid", strict=True, allow_inf_nan=False))
class LedgerEntry:
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


_ENTRY = TypeAdapter(LedgerEntry)


def append(build: Path, entry: LedgerEntry) -> None:
    """Add a line; one that a killed process left half-written stays apart from it."""
    build.mkdir(parents=True, exist_ok=True)
    line = json.dumps(asdict(entry), ensure_ascii=False) + "\n"
    with (build / LEDGER).open("ab+") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - 1, 0))
        torn = stream.read(1) not in (b"", b"\n")
        stream.write(b"\n" * torn + line.encode())


def last(build: Path) -> dict[str, LedgerEntry]:
    """The newest entry of each stage; broken lines are passed over."""
    entries: dict[str, LedgerEntry] = {}
    path = build / LEDGER
    if not path.exists():
        return entries
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = _ENTRY.validate_json(line)
        except ValidationError:
            continue
        entries[entry.stage] = entry
    return entries
