"""The worker that runs on each machine of a Ray cluster, and the check of that machine."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pipeline.runtime.executor import LocalExecutor
from pipeline.runtime.fingerprint import code_hash
from pipeline.stage import Failure

_PROBES = 8  # files of the shared folder that a machine is asked for: enough to tell another mount from ours

_READING = (
    "numpy",
    "onnxruntime",
    "opencv-python-headless",
    "openvino",
    "paddleocr",
    "paddlepaddle",
    "pillow",
    "pymupdf",
    "python-docx",
    "rapidocr",
)
"""Packages that can change what is read. The item store's keys name the versions of the machine that asks."""


@dataclass(frozen=True)
class Expected:
    """Versions, code and files that every machine must share, so that results are the same on all."""

    python: str
    packages: dict[str, str | None]
    code: str
    """Hash of the source that reads."""
    files: tuple[tuple[str, int], ...]
    """Path and bytes of some of the shared folder's files."""


def expected(shared: Path | None) -> Expected:
    """Return the versions, code and files of this machine; ``shared`` is the folder that all machines must see."""
    return Expected(
        python=".".join(platform.python_version_tuple()[:2]),
        packages={name: _version(name) for name in _READING},
        code=_code(),
        files=_some_files(shared) if shared else (),
    )


class RayWorker:
    """An actor: one process of ``LocalExecutor`` on whichever machine Ray put it.

    The process is a child of the actor, so that crashes, timeouts and limits are told as they are on one machine,
    and the death of the actor means the machine's, not the item's.
    """

    def __init__(self) -> None:
        self._local = LocalExecutor(1)
        self._stopped = False

    def lacks(self, wanted: Expected) -> str | None:
        """The machine's name and what it has not, or has otherwise; None when results will be the same."""
        problem = self._differs(wanted)
        return f"{platform.node()} {problem}" if problem else None

    def run(self, function: Callable[[Any], Any], item: Any, timeout: float | None) -> Any:
        """The function's result or a ``Failure``, as ``LocalExecutor`` gives it."""
        if self._stopped:  # it was under way when the crew was sent home
            return Failure("crashed", "stopped before it began")
        [(_, result)] = self._local.map(function, [item], timeout)
        return result

    def stop(self) -> None:
        """Stop the process, whatever it does."""
        self._stopped = True
        self._local.close()

    def _differs(self, wanted: Expected) -> str | None:
        here = expected(None)
        if here.python != wanted.python:
            return f"has Python {here.python}, this machine {wanted.python}: use the same"
        if here.code != wanted.code:
            return "has another version of build-dataset: install the same"
        for name, ours in wanted.packages.items():
            if here.packages[name] != ours:
                theirs = here.packages[name]
                return (
                    f"has {name} {theirs or 'not installed'}, this machine {ours or 'none'}: install the same"
                )
        return next((_unseen(path, size) for path, size in wanted.files if not _sees(path, size)), None)


def _unseen(path: str, size: int) -> str:
    return f"does not see {path} with {size} bytes: mount the raw folder at the same path on every machine"


def _sees(path: str, size: int) -> bool:
    try:
        return Path(path).stat().st_size == size
    except OSError:
        return False


def _some_files(folder: Path) -> tuple[tuple[str, int], ...]:
    found: list[tuple[str, int]] = []
    for path in folder.rglob("*"):
        if path.is_file():
            found.append((str(path), path.stat().st_size))
            if len(found) == _PROBES:
                break
    return tuple(found)


def _code() -> str:
    return code_hash("pipeline.ocr.tasks") + code_hash("pipeline.parse.stage")


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
