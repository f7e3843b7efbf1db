"""Making a release: the export, checked and put among the releases, where no run changes it again."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.releases import parse_version
from pipeline.runtime.publish import MANIFEST, read_manifest
from schemas.dataset import DatasetParams
from schemas.errors import UserError
from schemas.identity import file_sha256


@dataclass(frozen=True)
class Released:
    """A release that was made: where it is, and ``Standing.facts`` of it."""

    folder: Path
    facts: dict[str, Any]


def freeze(dataset: DatasetParams, states: Mapping[str, str]) -> Released:
    """Copy the export into the folder of releases, under its version.

    The manifests of all stages go with it, so that a release tells how it was made when the build folder is gone.
    A release that is killed while it is copied leaves nothing among the releases.

    Args:
        dataset: the ``[dataset]`` section.
        states: of all stages up to the export, in order: ``done``, ``stale`` …

    Raises:
        UserError: something is not done, leaks, or the version does not fit what changed.
    """
    target = dataset.releases / dataset.version
    if target.exists():
        raise UserError(f"{dataset.version} is released already ({target}){_what_then(dataset)}")
    _require_done(states)
    manifest = _manifest(dataset.build / "export")
    facts: dict[str, Any] = manifest["facts"]["release"]
    _require_no_leaks(dataset.build)
    _require_version(dataset.version, facts)
    temporary = target.with_name(f".{target.name}.new")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        _copy(dataset.build, temporary, states)
        _check(temporary, manifest)
        temporary.rename(target)
    except OSError as error:
        reason = error.args[0][0][-1] if isinstance(error, shutil.Error) else error.strerror
        raise UserError(f"{target} cannot be written: {reason}; nothing was released") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return Released(target, facts)


def _copy(build: Path, folder: Path, stages: Iterable[str]) -> None:
    shutil.copytree(build / "export", folder)
    (folder / "manifests").mkdir()
    for stage in stages:
        shutil.copyfile(build / stage / MANIFEST, folder / "manifests" / f"{stage}.json")


def _what_then(dataset: DatasetParams) -> str:
    """What to do about a version that is taken, by what the export says of changes since."""
    made = read_manifest(dataset.build / "export")
    facts = made["facts"]["release"] if made else {}
    if facts.get("previous") != dataset.version:
        return ": set dataset.version to a higher one"
    if not any(facts["changes"].values()):
        return ", and the export has not changed since: there is nothing to release"
    return f": for what changed since, set dataset.version to {facts['suggested']}"


def _manifest(folder: Path) -> dict[str, Any]:
    manifest = read_manifest(folder)
    if manifest is None:
        raise UserError(f"no {MANIFEST} in {folder}: run `build-dataset run --to export` first")
    return manifest


def _require_done(states: Mapping[str, str]) -> None:
    for stage, state in states.items():
        if state == "incomplete":
            raise UserError(f"{stage} is not complete: run `build-dataset {stage}` again before a release")
        if state != "done":
            raise UserError(f"{stage} is {state}: run `build-dataset run --to export` before a release")


def _require_no_leaks(build: Path) -> None:
    across = _manifest(build / "leaks")["facts"]["across_splits"]
    if any(across.values()):
        raise UserError(
            f"{across['exact']} exact and {across['near']} near duplicates stand in two splits: see "
            f"{build / 'leaks' / 'leaks.parquet'}; merge them or take them out before a release"
        )


def _require_version(version: str, facts: Mapping[str, Any]) -> None:
    suggested = facts["suggested"]
    if suggested and parse_version(version) < parse_version(suggested):
        raise UserError(
            f"since {facts['previous']} there are {facts['level']} changes: set dataset.version to {suggested} or "
            "above, run `build-dataset export`, then release"
        )


def _check(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Hold the copies to the checksums of the manifest.

    Raises:
        UserError: a file was changed after it was made.
    """
    for name, entry in manifest["outputs"].items():
        if file_sha256(folder / name) != entry["sha256"]:
            raise UserError(
                f"{name} of the export was changed after it was made: run `build-dataset export --force`"
            )
