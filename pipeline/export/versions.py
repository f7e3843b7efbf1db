"""The version of a release, the previous one, and the version that its changes ask for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.export.changes import Changes, Level, compare, nothing
from pipeline.releases import CHANGELOG, Version, parse_version, previous_release, read_release
from schemas.dataset import DatasetParams

_LONGEST = 1 << 20
"""Bytes of an earlier changelog that are carried on."""


@dataclass(frozen=True)
class Standing:
    """How a release stands to the previous one.

    Attributes:
        version: of this one.
        previous: version of the previous one, or its folder's name where it does not say; None before the first.
        changes: since then.
        suggested: the lowest version that the changes allow; None where the previous one has no version.
        history: the previous release's changelog, from its newest entry on.
    """

    version: str
    previous: str | None
    changes: Changes
    suggested: str | None
    history: str

    @property
    def level(self) -> Level | None:
        """Whether the changes make a major, minor or patch release; None for the first."""
        return self.changes.level() if self.previous is not None else None

    @property
    def is_draft(self) -> bool:
        """Whether the version is too low for what changed, or released already."""
        return self.suggested is not None and parse_version(self.version) < parse_version(self.suggested)

    def facts(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "version": self.version,
            "previous": self.previous,
            "level": self.level,
            "suggested": self.suggested,
            "changes": self.changes.counts() if self.previous is not None else None,
            "columns_added": list(self.changes.columns_added),
            "columns_removed": list(self.changes.columns_removed),
        }


def standing(
    dataset: DatasetParams, splits: Mapping[str, pl.DataFrame], merges: pl.DataFrame | None = None
) -> Standing:
    """Compare the rows of a release with the previous one, if there is one.

    Raises:
        UserError: the previous release cannot be read.
    """
    folder = previous_release(dataset)
    if folder is None:
        return Standing(dataset.version, None, nothing(), None, "")
    changes = compare(read_release(folder), splits, merges)
    version = _version(folder)
    suggested = _text(bumped(version, changes.level())) if version else None
    previous = _text(version) if version else folder.name
    return Standing(dataset.version, previous, changes, suggested, _history(folder))


def bumped(version: Version, level: Level) -> Version:
    """The next version. While the first number is 0, nothing is promised yet: each step counts one lower."""
    major, minor, patch = version
    if level == "major":
        return (major + 1, 0, 0) if major else (0, minor + 1, 0)
    if level == "minor" and major:
        return major, minor + 1, 0
    return major, minor, patch + 1


def _text(version: Version) -> str:
    return ".".join(map(str, version))


def _version(folder: Path) -> Version | None:
    """What the release says, else what its folder is called."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return parse_version(manifest["facts"]["release"]["version"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    try:
        return parse_version(folder.name)
    except ValueError:
        return None


def _history(folder: Path) -> str:
    try:
        with (folder / CHANGELOG).open("rb") as stream:
            text = stream.read(_LONGEST).decode("utf-8", "replace")
    except OSError:
        return ""
    start = text.find("\n## ")
    return text[start + 1 :].strip() if start >= 0 else ""
