"""Turn exam papers into a benchmark you can trust: ``build`` a dataset, read a ``table`` of it.

``schemas``, ``annotation`` and ``pipeline`` are packages below this one. An installation has them in this folder; in
the repository they lie beside it, where a reader sees them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from build_dataset.pipeline.api import build, table

__all__ = ["build", "main", "table"]

_HERE = Path(__file__).resolve().parent
if not (_HERE / "pipeline").is_dir():  # a clone
    __path__.append(str(_HERE.parent))


def __getattr__(name: str) -> Any:
    """Import the Python interface when it is first asked for: the command line starts without it."""
    if name not in ("build", "table"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from build_dataset.pipeline import api

    return getattr(api, name)


def main() -> None:
    """Run the command line."""
    from build_dataset.pipeline.cli import main as run

    run()
